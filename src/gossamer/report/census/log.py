"""Counts what the crawl log tells, in one pass and in bounded memory."""

from collections.abc import Callable
from heapq import merge
from itertools import chain
from pathlib import Path

from gossamer.inspect.crawl_log import VisitLine, VisitLines, is_error
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import Reason, text
from gossamer.policy.urls.queue_key import QueueKind
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.report.census.host_visits import HostWatch
from gossamer.report.census.tallies import Frequent, Largest, Spread, add_bounded
from gossamer.report.census.timeline import (
    BYTES,
    CLIENT,
    DUPLICATES,
    ERRORS,
    FAILED,
    MOVED,
    OK,
    PAGES,
    REFUSED,
    SERVER,
    TimeSums,
)
from gossamer.report.figures import (
    Amount,
    Duplicates,
    FailureLine,
    LogFigures,
    PageLine,
    Repeated,
)

MOST_TYPES = 200
"""Media types told apart; a hostile site could invent any number."""
MOST_FAILURES = 300
DEEPEST = 40
LISTED = 10
_LONGEST_DETAIL = 300
_ROBOTS = LinkKind.ROBOTS.value

Politeness = Callable[[str], PolitenessConfig]


class LogCensus:
    """Reads a log, and what was added to it since, as often as it is asked to; some 8 us for each visit.

    Memory: some 400 bytes for each host, at most some 40 MB, for any number of visits.
    """

    def __init__(self, path: Path, queue_kind: QueueKind, politeness: Politeness, *others: Path) -> None:
        """`politeness`: settings of a host queue by its name; `others`: logs of the same time."""
        self._paths = path, *others
        self._queue_kind = queue_kind
        self._politeness = politeness
        self._logs = [VisitLines(path, VisitLine) for path in self._paths]
        self._begin()

    def _begin(self) -> None:
        self._visits = 0
        self._first = self._last = 0.0
        self._endings: dict[str, int] = {}
        self._kinds: dict[str, int] = {}
        self._depth = [0] * (DEEPEST + 1)
        self._types: dict[str, list[int]] = {}
        self._failures: dict[str, FailureLine] = {}
        self._failed: dict[str, int] = {}
        self._sizes, self._seconds = Spread(1.0), Spread(0.001)
        self._time = TimeSums()
        self._hosts = HostWatch(self._politeness)
        self._twins = Frequent()
        self._twin_visits = self._twin_bytes = 0
        self._largest: Largest[PageLine] = Largest(LISTED)
        self._slowest: Largest[PageLine] = Largest(LISTED)

    def read(self) -> None:
        """Go on to the end of the log.

        Raises:
            StorageError: it cannot be read.
        """
        if any(lines.cut for lines in self._logs):
            self._logs = [VisitLines(path, VisitLine) for path in self._paths]
            self._begin()
        visits = map(chain.from_iterable, self._logs)
        # The timeline wants visits in the order of time, as each log has them.
        for visit in next(visits) if len(self._logs) == 1 else merge(*visits, key=lambda visit: visit.at):
            self._add(visit)

    def _add(self, visit: VisitLine) -> None:
        if not self._visits:
            self._first = visit.at
        self._visits += 1
        self._last = visit.at
        self._endings[visit.became] = self._endings.get(visit.became, 0) + 1
        sums = self._time.at(visit.at)
        status = visit.status
        if status or (visit.result and not is_error(visit)):
            self._answered(visit, sums)
        elif visit.refused:
            sums[REFUSED] += 1
            self._fail(f"refused: {visit.refused}", visit)
        else:
            sums[FAILED] += 1
            sums[ERRORS] += 1
            self._fail(visit.result or visit.fault, visit)
        self._hosts.add(self._queue(visit.url), visit)

    def _answered(self, visit: VisitLine, sums: list[int]) -> None:
        status, size, seconds = visit.status, visit.size, visit.seconds
        sums[BYTES] += size
        if status < 300:
            sums[OK] += 1
        elif status < 400:
            sums[MOVED] += 1
        else:
            sums[CLIENT if status < 500 else SERVER] += 1
            if is_error(visit):
                sums[ERRORS] += 1
                self._fail(f"status {status}", visit)
        if visit.kind != _ROBOTS:
            self._sizes.add(size)
            if size > self._largest.least:
                self._largest.offer(size, _page(visit))
        self._seconds.add(seconds)
        if seconds > self._slowest.least:
            self._slowest.offer(seconds, _page(visit))
        if status == 200 and visit.became == "done" and visit.kind != _ROBOTS:
            self._page(visit, sums)
        if visit.twin:
            sums[DUPLICATES] += 1
            self._twin_visits += 1
            self._twin_bytes += size
            self._twins.add(visit.twin)

    def _page(self, visit: VisitLine, sums: list[int]) -> None:
        sums[PAGES] += 1
        self._kinds[visit.kind] = self._kinds.get(visit.kind, 0) + 1
        self._depth[min(max(visit.depth, 0), DEEPEST)] += 1
        amounts = self._types.get(visit.type)
        if amounts is None:
            name = visit.type if len(self._types) < MOST_TYPES else "other"
            amounts = self._types.setdefault(name, [0, 0])
        amounts[0] += 1
        amounts[1] += visit.size

    def _fail(self, kind: str, visit: VisitLine) -> None:
        kind = add_bounded(self._failed, kind, MOST_FAILURES)
        if kind not in self._failures:
            self._failures[kind] = FailureLine(kind, 0, visit.url, _detail(visit))

    def _queue(self, url: str) -> str:
        """Name of the queue in which `url` waited."""
        parts = url.split("/", 3)
        authority = parts[2] if len(parts) > 2 else ""
        host = authority if ":" not in authority else _without_port(authority)
        return host if self._queue_kind == "host" else registrable_domain(host)

    def page_gap(self, name: str) -> float | None:
        """Of a host queue, in seconds; see `HostWatch.page_gap`."""
        return self._hosts.page_gap(name)

    def figures(self) -> LogFigures:
        """What was read so far."""
        hosts = self._hosts.sums()
        return LogFigures(
            visits=self._visits,
            damaged=sum(lines.damaged for lines in self._logs),
            first=self._first,
            last=self._last,
            endings=dict(self._endings),
            kinds=dict(sorted(self._kinds.items(), key=lambda item: -item[1])),
            depth=_without_end(self._depth),
            types=_amounts(self._types),
            sizes=self._sizes.histogram(),
            seconds=self._seconds.histogram(),
            timeline=self._time.timeline(),
            failures=sorted(
                (
                    FailureLine(kind, self._failed[kind], line.url, line.detail)
                    for kind, line in self._failures.items()
                ),
                key=lambda line: (-line.visits, line.kind),
            ),
            duplicates=Duplicates(
                self._twin_visits,
                self._twin_bytes,
                [Repeated(url, copies) for url, copies in self._twins.most(LISTED)],
            ),
            largest=list(self._largest),
            slowest=list(self._slowest),
            most_errors=hosts.most_errors,
            slowest_hosts=hosts.slowest,
            politeness=hosts.politeness,
        )


def _without_port(authority: str) -> str:
    """The host; an IPv6 address in brackets has colons of its own."""
    colon = authority.rfind(":")
    return authority[:colon] if colon > authority.rfind("]") else authority


def _page(visit: VisitLine) -> PageLine:
    return PageLine(visit.url, visit.status, visit.size, visit.seconds, visit.type)


def _amounts(types: dict[str, list[int]]) -> list[Amount]:
    rows = sorted(types.items(), key=lambda item: (-item[1][0], item[0]))
    return [Amount(name, pages, size) for name, (pages, size) in rows]


def _without_end(counts: list[int]) -> list[int]:
    """Up to the last that is not 0."""
    last = max((place for place, count in enumerate(counts) if count), default=-1)
    return counts[: last + 1]


def _detail(visit: VisitLine) -> Reason | None:
    """What is said of a failure beyond its kind."""
    if visit.why is not None and not visit.fault and not visit.refused:
        return visit.why
    said = visit.detail or visit.reason
    return text(said[:_LONGEST_DETAIL]) if said else None
