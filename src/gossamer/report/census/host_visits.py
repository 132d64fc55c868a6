"""Follows the visits of each host: how long they took, how long it was left in peace between them."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable

import msgspec

from gossamer.inspect.crawl_log import VisitLine, is_error
from gossamer.model.link import LinkKind
from gossamer.policy.visits.politeness import PolitenessConfig, rest_after
from gossamer.report.census.tallies import Largest, Spread
from gossamer.report.figures import HostFigures, Politeness

HOSTS_KEPT = 65_536
"""Hosts followed at once, some 400 bytes each. Of more, those not visited for longest are put away."""
LISTED = 15
PRECISION = 0.05
"""Seconds by which a gap may seem shorter than it was: where the log does not tell when a request began, that
follows from when its visit was settled, and between two lines of settlement the process may lose its turn."""
_ROBOTS = LinkKind.ROBOTS.value
_FEW = 3
"""Responses from which on a host's mean time says something."""


class HostVisits(msgspec.Struct, gc=False):
    """What was seen of one host so far; `slack` is how much longer than due its tightest gap was."""

    name: str
    settings: PolitenessConfig
    visits: int = 0
    answered: int = 0
    errors: int = 0
    seconds: float = 0.0
    longest: float = 0.0
    last: float = -math.inf  # end of its last visit
    owed: float = 0.0  # rest that was due after it
    gaps: int = 0
    gap: float = math.inf  # the smallest
    short: int = 0
    slack: float = math.inf
    tight: float = math.inf  # the gap with the least slack,
    wanted: float = 0.0  # and the rest that was due before it ended
    after_robots: bool = False  # its last visit was for a robots file
    page_gap: float = math.inf  # the smallest that did not begin with one

    def figures(self) -> HostFigures:
        """What was counted, as the report has it."""
        return HostFigures(
            self.name,
            self.visits,
            self.errors,
            self.seconds / self.answered if self.answered else 0.0,
            self.longest,
            self.tight if self.gaps else None,
            self.wanted,
        )


class HostWatch:
    """Is told of every visit in the order of the log."""

    def __init__(self, politeness: Callable[[str], PolitenessConfig], kept: int = HOSTS_KEPT) -> None:
        """`politeness`: settings of a host queue by its name; `kept`: hosts followed at once."""
        self._politeness = politeness
        self._kept = kept
        self._hosts: OrderedDict[str, HostVisits] = OrderedDict()
        self._away = _Sums()
        self._unmeasured = 0
        self._unmeasured_above = math.inf

    def add(self, name: str, visit: VisitLine) -> None:
        """Take note of a visit to the host queue `name`; one that was refused was not made."""
        if visit.refused:
            return
        host = self._hosts.get(name)
        if host is None:
            host = self._enter(name, visit.at)
        else:
            self._hosts.move_to_end(name)
        seconds = visit.seconds
        host.visits += 1
        if is_error(visit):
            host.errors += 1
        if seconds >= 0:
            host.answered += 1
            host.seconds += seconds
            if seconds > host.longest:
                host.longest = seconds
        begin = visit.started or (visit.at - seconds if seconds >= 0 else 0.0)
        if begin and host.visits > 1:
            self._measure(host, begin - host.last)
        host.last = visit.started + seconds if visit.started and seconds >= 0 else visit.at
        host.after_robots = visit.kind == _ROBOTS
        host.owed = rest_after(host.settings, seconds, None)

    def _measure(self, host: HostVisits, gap: float) -> None:
        host.gaps += 1
        if gap < host.gap:
            host.gap = gap
        if gap < host.page_gap and not host.after_robots:
            host.page_gap = gap
        slack = gap - host.owed
        if slack < host.slack:
            host.slack, host.tight, host.wanted = slack, gap, host.owed
        if slack < -PRECISION and host.settings.visits_per_host == 1:
            host.short += 1

    def _enter(self, name: str, now: float) -> HostVisits:
        if len(self._hosts) >= self._kept:
            _, oldest = self._hosts.popitem(last=False)
            self._unmeasured += 1
            self._unmeasured_above = min(self._unmeasured_above, max(0.0, now - oldest.last))
            self._away.add(oldest)
        host = self._hosts[name] = HostVisits(name, self._politeness(name))
        return host

    def page_gap(self, name: str) -> float | None:
        """The smallest gap of a host that did not begin with its robots file, if it is followed still."""
        host = self._hosts.get(name)
        return host.page_gap if host is not None and host.page_gap < math.inf else None

    def sums(self) -> "HostSums":
        """What was seen so far; more visits may follow."""
        sums = self._away.copy()
        for host in self._hosts.values():
            sums.add(host)
        politeness = Politeness(
            hosts=sums.hosts,
            gaps=sums.gaps,
            short=sums.short,
            short_hosts=sums.short_hosts,
            unmeasured=self._unmeasured,
            unmeasured_above=self._unmeasured_above if self._unmeasured else 0.0,
            smallest=sums.smallest.histogram(),
            closest=_each_once(sums.closest),
        )
        return HostSums(politeness, _each_once(sums.slowest), _each_once(sums.errors))


class HostSums(msgspec.Struct, frozen=True):
    """Politeness, the slowest hosts, and those with the most errors."""

    politeness: Politeness
    slowest: list[HostFigures]
    most_errors: list[HostFigures]


class _Sums:
    """Sums over hosts that are finished with."""

    def __init__(self) -> None:
        self.hosts = self.gaps = self.short = self.short_hosts = 0
        self.smallest = Spread(0.001)
        # Twice as many as shown: a host that was put away may come back, and is in a list twice.
        self.closest: Largest[HostFigures] = Largest(2 * LISTED)
        self.slowest: Largest[HostFigures] = Largest(2 * LISTED)
        self.errors: Largest[HostFigures] = Largest(2 * LISTED)

    def add(self, host: HostVisits) -> None:
        if host.gaps:
            self.hosts += 1
            self.gaps += host.gaps
            self.short += host.short
            self.short_hosts += bool(host.short)
            self.smallest.add(host.gap)
            if -host.slack > self.closest.least:
                self.closest.offer(-host.slack, host.figures())
        if host.answered:
            rank = host.seconds / host.answered
            if host.answered < _FEW:
                rank -= 1e6  # behind all hosts with enough responses
            if rank > self.slowest.least:
                self.slowest.offer(rank, host.figures())
        if host.errors > max(0, self.errors.least):
            self.errors.offer(host.errors, host.figures())

    def copy(self) -> "_Sums":
        """Of its own: the original stays as it is."""
        other = _Sums()
        other.hosts, other.gaps = self.hosts, self.gaps
        other.short, other.short_hosts = self.short, self.short_hosts
        other.smallest = self.smallest.copy()
        other.closest, other.slowest, other.errors = (
            self.closest.copy(),
            self.slowest.copy(),
            self.errors.copy(),
        )
        return other


def _each_once(hosts: Iterable[HostFigures]) -> list[HostFigures]:
    names: dict[str, HostFigures] = {}
    for host in hosts:
        names.setdefault(host.name, host)
    return list(names.values())[:LISTED]
