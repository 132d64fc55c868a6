"""Looks into a crawl's folder, whether one process crawled into it or a cluster's agents did."""

import contextlib
import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from gossamer.assembly.disks import prove_there
from gossamer.assembly.folder import CrawlFolder
from gossamer.dns.statistics import NameStatistics
from gossamer.inspect.clusters.cluster_folder import (
    Absent,
    Last,
    absent_agents,
    agents_of,
    holds_cluster,
    last_of,
    present_agents,
)
from gossamer.inspect.inspection import Inspection, crawl_in, inspect
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason, together
from gossamer.state.environment import Environment, Family
from gossamer.state.records import Counters, VisitedRecord, decode_page


class Joined(Environment):
    """The states of several agents as one, for reading; each host is in one of them."""

    def __init__(self, parts: Sequence[Environment]) -> None:
        self._parts = parts
        self.path = parts[0].path
        self.config = parts[0].config

    def get(self, family: Family, key: bytes) -> bytes | None:
        """The value of the agent that knows most."""
        values = [value for part in self._parts if (value := part.get(family, key)) is not None]
        return _best(family, values) if values else None

    def scan(
        self, family: Family, start: bytes = b"", prefix: bytes = b"", end: bytes = b""
    ) -> Iterator[tuple[bytes, bytes]]:
        """As of one state. Records of one URL by several agents are one."""
        merged = heapq.merge(
            *(part.scan(family, start, prefix, end) for part in self._parts), key=itemgetter(0)
        )
        if family is not Family.PAGES:
            yield from merged
            return
        for key, rows in groupby(merged, key=itemgetter(0)):
            yield key, _best(family, [value for _, value in rows])

    def estimate(self, family: Family) -> int:
        """The sum of all agents' estimates."""
        return sum(part.estimate(family) for part in self._parts)

    def close(self) -> None:
        """Who opened the parts closes them."""


def _best(family: Family, values: list[bytes]) -> bytes:
    """Of what several agents say of one key; of a URL one may have turned it away, and another visited it."""
    if len(values) == 1 or family is not Family.PAGES:
        return values[0]
    return max(values, key=_last_visit)


def _last_visit(data: bytes) -> float:
    visits = decode_page(data).visits
    return visits[-1].at if visits else 0.0


class JoinedInspection(Inspection):
    """All agents of a cluster whose folders are here, opened for reading."""

    def __init__(
        self, path: Path, parts: dict[str, Inspection], absent: list[Absent], last: Last | None
    ) -> None:
        first = next(iter(parts.values()))
        self.folder = CrawlFolder(path)
        self.links = self.folder.path / "links"
        self.together = list(parts.values())
        for part in parts.values():
            part.links = self.links  # one graph is of all
            part.together = self.together
        self.config = first.config
        self.clock = first.clock
        self.environment = Joined([part.environment for part in parts.values()])
        self.counters = _counters([part.counters for part in parts.values()])
        self.names = _names([part.names for part in parts.values()])
        self.parts = parts
        self.absent = absent
        self._last = last

    @property
    def each(self) -> dict[str, Inspection]:
        """The agents' crawls by name."""
        return self.parts

    @property
    def ended(self) -> Reason | None:
        """Why all have ended; `None` if one has not."""
        if any(part.folder.in_use() for part in self.parts.values()):
            return None
        if self._last is not None and self._last.overview.over:
            return self._last.overview.why or told_before(self._last.overview.stop)
        reasons = [part.ended for part in self.parts.values()]
        told = dict.fromkeys(reason for reason in reasons if reason is not None)
        return together(told) if all(reasons) else None

    @property
    def state(self) -> Literal["running", "paused", "ended", "broken off"]:
        """What the cluster does now, as its agents on this machine show it."""
        states = {part.state for part in self.parts.values()}
        if "running" in states:
            return "running"
        if "paused" in states:
            return "paused"
        return "ended" if self.ended else "broken off"

    @property
    def last(self) -> float:
        """Wall time of the last change to a log, or of the end."""
        over = self._last.at if self._last is not None and self._last.overview.over else 0.0
        return max(over, *(part.last for part in self.parts.values()))

    @property
    def logs(self) -> list[Path]:
        """The crawl logs of all agents."""
        return [part.folder.log for part in self.parts.values()]

    @property
    def visited(self) -> VisitedRecord:
        """Clusters have exact tables only."""
        return VisitedRecord(self.config.frontier.visited)

    def _order(self) -> dict[str, str | float]:
        """What orderings count is each agent's own, and some of it are no sums."""
        return {"name": self.config.engine.order}


def _counters(parts: Sequence[Counters]) -> Counters:
    """The sums; all crawled at the same time."""
    names = Counters.__struct_fields__
    summed = Counters(**{name: _sum([getattr(part, name) for part in parts]) for name in names})
    summed.seconds = max(part.seconds for part in parts)
    return summed


def _names(parts: Sequence[NameStatistics]) -> NameStatistics:
    """The sums. A name is nearly always resolved by one agent, so of its times any will do."""
    plain = set(NameStatistics.__struct_fields__) - {"longest", "slowest", "failing"}
    summed = NameStatistics(**{name: _sum([getattr(part, name) for part in parts]) for name in plain})
    summed.longest = max(part.longest for part in parts)
    for part in parts:
        summed.slowest |= part.slowest
        summed.failing |= part.failing
    return summed


def _sum(values: list[Any]) -> Any:
    """Of numbers, of lists place by place, of tables name by name."""
    match values[0]:
        case dict():
            tables: Counter[str] = Counter()
            for value in values:
                tables.update(value)
            return dict(tables)
        case list():
            return [sum(numbers) for numbers in zip(*values, strict=True)]
        case _:
            return sum(values)


@contextlib.contextmanager
def inspect_whole(path: Path) -> Iterator[Inspection]:
    """As `inspect`, also the folder of a cluster; Ray is not needed, nor asked.

    Raises:
        ConfigError: no crawl lives in `path`, or nothing of the cluster's is on this machine.
        StorageError: a state is damaged.
    """
    if not holds_cluster(path):
        with inspect(path) as inspection:
            yield inspection
        return
    last = last_of(path)
    folders = _agents_here(path, last)
    with contextlib.ExitStack() as stack:
        parts = {folder.name: stack.enter_context(inspect(folder)) for folder in folders}
        yield JoinedInspection(path, parts, absent_agents(path, list(parts), last), last)


def crawls_in(path: Path) -> list[CrawlFolder]:
    """The crawls that `inspect_whole` would open: the one in `path`, or those of a cluster's agents on this machine.

    Raises:
        ConfigError: no crawl lives in `path`, or nothing of the cluster's is on this machine.
        StorageError: a state is gone.
    """
    return [
        crawl_in(folder) for folder in (_agents_here(path, last_of(path)) if holds_cluster(path) else [path])
    ]


def _agents_here(path: Path, last: Last | None) -> list[Path]:
    """The folders of a cluster's agents that can be read here, in the order of their numbers."""
    names, place = present_agents(path, last), agents_of(path)
    absent = absent_agents(path, names, last)
    for one in absent:
        prove_there(place / one.agent)  # it is here, but its state's disk is not
    if not names:
        told = " ".join(f"{one.text}." for one in absent)
        raise ConfigError(
            f"{path}: no agent of this cluster has a crawl in {place}. {told} If nothing was crawled yet,"
            f" '{command_line('cluster', 'resume', path)}' goes on."
        )
    return [place / name for name in names]
