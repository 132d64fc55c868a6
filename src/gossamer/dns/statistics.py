"""Counts what becomes of questions for names, in bounded room."""

from bisect import bisect_left
from itertools import accumulate
from operator import itemgetter

import msgspec

from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

LATENCY_BOUNDS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0
)  # fmt: skip
"""Upper bounds of the latency histogram's buckets in seconds; what took longer is in one more bucket."""

NAMES = 20
"""Slowest names kept, and failing names shown."""

WATCHED = 128
"""Failing names watched: whichever makes up more than one failure in so many is among them."""

KINDS = 64
"""Kinds of failure told apart; further ones count as `OTHER`."""

OTHER = "other"


class NameStatistics(msgspec.Struct, array_like=True):
    """What became of the questions for names; can be encoded, loaded and counted on with.

    Who calls what, all on the event loop:

    | when | call |
    |---|---|
    | a name was looked up in the name cache (no literal, none of the hosts file) | `asked(answer or None)` |
    | a query went out to a name server, a repetition included | `sent()` |
    | a flight landed, successful or not | `resolved(answer)` |
    | expired addresses were given to somebody, as no name server answered | `served_stale()` |

    So a name that many wait for counts as many misses and one resolution; one resolved beforehand counts
    as a resolution, and as a miss only if the cache was asked for it.

    Everything is bounded, however many names there are and whoever chose them.

    Attributes:
        hits: addresses from the cache.
        negative: failures from the cache: not found, or failed a little while ago.
        deferred: names that the cache takes for ones that do not exist (D5).
        misses: the cache had nothing.
        stale: expired addresses served (RFC 8767).
        queries: sent to name servers; two types and repetitions count each.
        resolutions: flights that landed.
        failures: of these, failed ones by kind (`NXDOMAIN`, `SERVFAIL`, `time-out`, ...).
        latencies: flights by duration, a count for each bound of `LATENCY_BOUNDS` and one for the rest.
        longest: duration of the longest flight in seconds.
        slowest: the names that took longest, with their longest time in seconds; at most `NAMES`.
        failing: names that failed often, each with its count and by how much it may be too high.
    """

    hits: int = 0
    negative: int = 0
    deferred: int = 0
    misses: int = 0
    stale: int = 0
    queries: int = 0
    resolutions: int = 0
    failures: dict[str, int] = {}
    latencies: list[int] = msgspec.field(default_factory=lambda: [0] * (len(LATENCY_BOUNDS) + 1))
    longest: float = 0.0
    slowest: dict[str, float] = {}
    failing: dict[str, tuple[int, int]] = {}

    def asked(self, answer: Answer | None) -> None:
        """Count what the name cache said."""
        if answer is None:
            self.misses += 1
        elif answer.fault is None:
            self.hits += 1
        elif answer.fault is Fault.NAME_DEFERRED:
            self.deferred += 1
        else:
            self.negative += 1

    def served_stale(self) -> None:
        """Count expired addresses that were served."""
        self.stale += 1

    def sent(self, queries: int = 1) -> None:
        """Count queries that were sent."""
        self.queries += queries

    def resolved(self, answer: Answer) -> None:
        """Count a flight; `answer` is what the name servers said, `answer.seconds` how long it took."""
        self.resolutions += 1
        self.latencies[bisect_left(LATENCY_BOUNDS, answer.seconds)] += 1
        self.longest = max(self.longest, answer.seconds)
        self._note_slow(answer.name, answer.seconds)
        if answer.fault is not None:
            kind = answer.detail or answer.fault.value
            if kind not in self.failures and len(self.failures) >= KINDS:
                kind = OTHER
            self.failures[kind] = self.failures.get(kind, 0) + 1
            self._note_failing(answer.name)

    @property
    def questions(self) -> int:
        """Look-ups in the name cache."""
        return self.hits + self.negative + self.deferred + self.misses

    def share(self, count: int) -> float:
        """A counter as a share of all look-ups, from 0 to 1."""
        return count / self.questions if self.questions else 0.0

    def latency(self, share: float) -> float:
        """Seconds within which this share (0 to 1) of the flights landed, by the bounds of the histogram."""
        wanted = share * self.resolutions
        for bound, landed in zip(LATENCY_BOUNDS, accumulate(self.latencies), strict=False):
            if landed >= wanted:
                return min(bound, self.longest)
        return self.longest

    def slowest_names(self) -> list[tuple[str, float]]:
        """Names with their longest resolution in seconds, the slowest first; at most `NAMES`."""
        return sorted(self.slowest.items(), key=itemgetter(1), reverse=True)

    def failing_names(self) -> list[tuple[str, int]]:
        """Names with how often they failed at least, the most often first; at most `NAMES`."""
        certain = [(name, count - excess) for name, (count, excess) in self.failing.items()]
        return sorted(certain, key=itemgetter(1), reverse=True)[:NAMES]

    def _note_slow(self, name: str, seconds: float) -> None:
        if name in self.slowest:
            self.slowest[name] = max(self.slowest[name], seconds)
            return
        if len(self.slowest) >= NAMES:
            fastest = min(self.slowest, key=self.slowest.__getitem__)
            if seconds <= self.slowest[fastest]:
                return
            del self.slowest[fastest]
        self.slowest[name] = seconds

    def _note_failing(self, name: str) -> None:
        """Count in bounded room: a new name takes the place of the one with the least count, and the count.

        (The Space-Saving algorithm: Metwally, Agrawal and El Abbadi 2005.)
        """
        count, excess = self.failing.get(name, (0, 0))
        if not count and len(self.failing) >= WATCHED:
            least = min(self.failing, key=self.failing.__getitem__)
            count = excess = self.failing.pop(least)[0]
        self.failing[name] = (count + 1, excess)
