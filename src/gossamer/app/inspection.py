"""Looks into a crawl's folder, also while it is being crawled, and changes nothing."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.app.config import CrawlConfig
from gossamer.app.folder import CrawlFolder
from gossamer.app.report import Summary, summary
from gossamer.app.settings import load, read_toml
from gossamer.dns.statistics import NameStatistics
from gossamer.engine.ledger import CLOCK, NAMES
from gossamer.model.errors import ConfigError
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment, Family
from gossamer.state.records import (
    COUNTERS,
    VISITED,
    ClockRecord,
    Counters,
    HostRecord,
    VisitedRecord,
    decode,
    decode_host,
)

HOSTS_LISTED = 20


class HostLine(msgspec.Struct, frozen=True):
    """One host as `status` shows it."""

    name: str
    state: str  # ready, resting, waiting, parked, empty
    seconds: float  # until it may be visited; 0 if it may be now
    reason: str
    queued: int
    waiting: int
    pages: int
    failures: int


class Status(msgspec.Struct, frozen=True):
    """What is known of a crawl from its state."""

    folder: str
    sums: Summary
    hosts_by_state: dict[str, int]
    hosts: list[HostLine]


class Inspection:
    """A crawl's folder, opened for reading beside whoever writes it."""

    def __init__(self, folder: CrawlFolder, config: CrawlConfig, environment: Environment) -> None:
        self.folder = folder
        self.config = config
        self.environment = environment
        last = environment.get(Family.META, CLOCK)
        self.clock = CrawlClock(decode(last, ClockRecord) if last else None)
        sums = environment.get(Family.META, COUNTERS)
        self.counters = decode(sums, Counters) if sums else Counters()
        names = environment.get(Family.META, NAMES)
        self.names = decode(names, NameStatistics) if names else NameStatistics()

    @property
    def visited(self) -> VisitedRecord:
        """The visited table in figures, as of the last commit."""
        figures = self.environment.get(Family.META, VISITED)
        return decode(figures, VisitedRecord) if figures else VisitedRecord(self.config.frontier.visited)

    def hosts(self) -> Iterator[HostRecord]:
        """Every host record."""
        for _, data in self.environment.scan(Family.HOSTS):
            yield decode_host(data)

    def host_line(self, record: HostRecord) -> HostLine:
        """What a host is doing now."""
        now = self.clock.micros()
        due = record.due if record.queued else max(record.due, record.later_due)
        seconds = max(0.0, (due - now) / 1e6)
        if record.parked:
            state, reason = "parked", record.parked
        elif not record.queued and not record.waiting:
            state, reason, seconds = "empty", "", 0.0
        elif seconds and not record.queued:
            state, reason = "waiting", record.reason or "its URLs wait for times of their own"
        elif seconds:
            state, reason = "resting", record.reason or "politeness"
        else:
            state, reason = "ready", ""
        return HostLine(
            record.name,
            state,
            round(seconds, 1),
            reason,
            record.queued,
            record.waiting,
            record.pages,
            record.failures,
        )

    def status(self) -> Status:
        """Sums, and the hosts with the most work left."""
        by_state: dict[str, int] = {}
        largest: list[HostLine] = []
        for record in self.hosts():
            line = self.host_line(record)
            by_state[line.state] = by_state.get(line.state, 0) + 1
            largest.append(line)
            if len(largest) > 50 * HOSTS_LISTED:
                largest = _largest(largest)
        return Status(
            str(self.folder.path),
            summary(self.counters, self.names, self.visited),
            by_state,
            _largest(largest),
        )


def _largest(lines: list[HostLine]) -> list[HostLine]:
    return sorted(lines, key=lambda line: (-line.queued - line.waiting, -line.pages, line.name))[
        :HOSTS_LISTED
    ]


@contextlib.contextmanager
def inspect(path: Path) -> Iterator[Inspection]:
    """Open the crawl in `path` for reading.

    Raises:
        ConfigError: no crawl lives there.
        StorageError: its state is damaged.
    """
    folder = CrawlFolder(path)
    if not folder.config.exists():
        raise ConfigError(f"{path}: holds no crawl. Give the folder of one (the --dir of 'gossamer crawl').")
    if not folder.state.is_dir():
        raise ConfigError(f"{path}: the crawl has not begun. Begin it with 'gossamer resume {path}'.")
    config = load(CrawlConfig, read_toml(folder.config))
    with tempfile.TemporaryDirectory(prefix="gossamer-") as scratch:
        environment = Environment.open_secondary(folder.state, Path(scratch), config.state)
        try:
            yield Inspection(folder, config, environment)
        finally:
            environment.close()
