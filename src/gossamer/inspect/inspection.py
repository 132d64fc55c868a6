"""Looks into a crawl's folder, also while it is being crawled, and changes nothing."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from gossamer.assembly.disks import prove_there
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.hold import read_hold
from gossamer.assembly.report import Summary, summary
from gossamer.assembly.twins import TwinSites, twin_sites
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.dns.statistics import NameStatistics
from gossamer.frontier.standings import ORDER, is_of_another
from gossamer.inspect.clocks import crawl_clock
from gossamer.inspect.clusters.cluster_folder import Absent
from gossamer.inspect.why.level_words import ordering_of
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.ports import MentionOrdering
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import (
    COUNTERS,
    ENDED,
    NAMES,
    VISITED,
    Counters,
    HostRecord,
    VisitedRecord,
    decode,
    decode_host,
    decode_reason,
)
from gossamer.state.scratch import Scratch

if TYPE_CHECKING:  # few who open a crawl ask for either
    from gossamer.inspect.freshness import CrawlFreshness
    from gossamer.inspect.lag import Lag


class Inspection:
    """A crawl's folder, opened for reading beside whoever writes it."""

    absent: Sequence[Absent] = ()
    """Agents of the cluster, if it is one, whose crawls cannot be read here."""

    def __init__(self, folder: CrawlFolder, config: CrawlConfig, environment: Environment) -> None:
        self.folder = folder
        self.config = config
        self.environment = environment
        self.together: Sequence[Inspection] = (self,)
        """The crawls whose archives refer to each other: this one, or all of a cluster."""
        self.links = folder.path / "links"
        """Where the link graph is written if nobody says otherwise."""
        self.clock = crawl_clock(environment)
        sums = environment.get(Family.META, COUNTERS)
        self.counters = decode(sums, Counters) if sums else Counters()
        names = environment.get(Family.META, NAMES)
        self.names = decode(names, NameStatistics) if names else NameStatistics()

    @property
    def ended(self) -> Reason | None:
        """Why the last session ended; `None` if it runs, or has not ended well."""
        return decode_reason(self.environment.get(Family.META, ENDED) or b"")

    @property
    def state(self) -> Literal["running", "paused", "ended", "broken off"]:
        """What the crawl does now; `broken off` if it does nothing and did not end by itself."""
        if self.folder.in_use():
            return "paused" if read_hold(self.folder.path).paused_by else "running"
        return "ended" if self.ended else "broken off"

    @property
    def last(self) -> float:
        """Wall time of the last change to the log; 0 if there is none."""
        return self.folder.log.stat().st_mtime if self.folder.log.exists() else 0.0

    @property
    def each(self) -> "dict[str, Inspection]":
        """The crawls in it, by the agent's name if it is a cluster's."""
        return {"": self}

    @property
    def logs(self) -> list[Path]:
        """The log of each of them."""
        return [self.folder.log]

    @property
    def visited(self) -> VisitedRecord:
        """The visited table in figures, as of the last commit."""
        figures = self.environment.get(Family.META, VISITED)
        return decode(figures, VisitedRecord) if figures else VisitedRecord(self.config.frontier.visited)

    def hosts(self) -> Iterator[HostRecord]:
        """The records of every host."""
        for _, data in self.environment.scan(Family.HOSTS):
            yield decode_host(data)

    def _order(self) -> dict[str, str | float]:
        """The ordering with what it counts itself, as last committed."""
        name = self.config.engine.order
        ordering = ordering_of(name, self.config.order)
        state = self.environment.get(Family.META, ORDER)
        if state is None or not isinstance(ordering, MentionOrdering):
            return {"name": name}
        if is_of_another(self.environment, ordering):
            return {"name": name}
        try:
            ordering.restore(state)
        except msgspec.MsgspecError:  # kept by another order, in a folder of an older version
            return {"name": name}
        return {"name": name, **ordering.figures()}

    def sums(self) -> Summary:
        """The crawl's sums as last committed."""
        return summary(self.counters, self.names, self.visited, self._order())

    def freshness(self) -> "CrawlFreshness":
        """How fresh it is; nothing of a crawl that visits no page again. Up to half a second."""
        from gossamer.inspect.freshness import freshness

        return freshness([part.environment for part in self.each.values()])

    def twins(self) -> list[TwinSites]:
        """Names that show one site."""
        return twin_sites(self.config.engine.twins, (part.environment for part in self.each.values()))

    def followers(self) -> "list[Lag]":
        """How far what is made of its archive is behind, as of now; some milliseconds.

        Raises:
            StorageError: a state cannot be read.
        """
        from gossamer.inspect.lag import lags

        return lags([(part.folder, part.environment) for part in self.each.values()])


def crawl_in(path: Path) -> CrawlFolder:
    """The folder of a crawl that has begun; nothing of it is opened.

    Raises:
        ConfigError: no crawl lives in `path`.
        StorageError: its state is gone, or a disk that it lies on is not mounted.
    """
    folder = CrawlFolder(path)
    if not folder.config.exists():
        raise ConfigError(f"{path}: holds no crawl. Give the folder of one (the --dir of 'gossamer crawl').")
    prove_there(path)
    if not folder.state.is_dir() and folder.has_results:
        raise StorageError(
            f"{folder.state}: is not there, though something was crawled. "
            f"'{command_line('resume', path, '--from-checkpoint')}' goes back to the last checkpoint;"
            " the archive is whole without it."
        )
    if not folder.state.is_dir():
        raise ConfigError(because(ProblemCode.BEGIN_FIRST, str(path), command_line("resume", path)))
    return folder


@contextlib.contextmanager
def state_of(folder: CrawlFolder, config: StateConfig) -> Iterator[Environment]:
    """Its state, opened for reading. Who asks it for little needs no settings, which take as long to read.

    Raises:
        StorageError: it is damaged.
    """
    with Scratch() as scratch:
        environment = Environment.open_secondary(folder.state, Path(scratch), config)
        try:
            yield environment
        finally:
            environment.close()


@contextlib.contextmanager
def inspect(path: Path) -> Iterator[Inspection]:
    """Open the crawl in `path` for reading.

    Raises:
        ConfigError: no crawl lives there.
        StorageError: its state is damaged.
    """
    folder = crawl_in(path)
    config = load(CrawlConfig, read_toml(folder.config))
    with state_of(folder, config.state) as environment:
        yield Inspection(folder, config, environment)
