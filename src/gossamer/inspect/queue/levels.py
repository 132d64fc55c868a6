"""Estimates how many URLs are queued at which level, from a bounded number of keys."""

from collections.abc import Iterator

import msgspec

from gossamer.inspect.draws import Draws, by_hash
from gossamer.inspect.why.level_words import (
    again_clause,
    grade_words,
    level_clause,
    level_words,
    meaning_of,
    split_grade,
)
from gossamer.inspect.why.sentences import Told, in_english
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL
from gossamer.ports import LinkOrdering, OrderingPolicy
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES, TICKET_BYTES, arrival_of, split_ticket
from gossamer.state.records import HostRecord

ALL_READ = 250_000
"""A queue no longer than this is counted, some 2 us for each key."""
DRAWS = 2_000
"""Draws from a longer one: a share of a half is off by some 2% at worst in 19 of 20 cases."""
READ_PER_DRAW = 50
"""Entries read of a host for each draw that fell to it."""
TRIES = 50
"""URLs looked at for one that is still queued."""
BANDS = 12


class LevelLine(msgspec.Struct, frozen=True):
    """URLs queued at the levels `first` to `last` of the policy; `clauses` name it in any language."""

    name: str
    first: int
    last: int
    urls: int
    clauses: Told = ()


class GradeLine(msgspec.Struct, frozen=True):
    """URLs queued behind all others, and why."""

    name: str
    grade: int
    urls: int


class LevelSizes(msgspec.Struct, frozen=True):
    """Queued URLs by the policy's level, and by the frontier's grade if any is not 0.

    `keys_read` of `urls` were looked at; if these are equal, all is counted. `unread` URLs stand behind the
    first of their hosts, at levels that could not be sampled.
    """

    order: str
    urls: int
    keys_read: int
    unread: int
    levels: list[LevelLine]
    grades: list[GradeLine]


class _Drawn(msgspec.Struct, frozen=True):
    key: bytes
    head: bytes
    queued: int
    draws: int


class LevelCensus:
    """Is told of every host in the order of their keys, then reads keys of the hosts it has drawn.

    A host is drawn in proportion to the length of its queue. Of a short queue all is read; from a long one
    URLs are drawn by their hashes, for in the queue itself they stand in the order of levels.
    """

    def __init__(self, environment: Environment, ordering: OrderingPolicy | None, urls: int) -> None:
        """For a crawl with `urls` queued."""
        self._environment = environment
        self._ordering = ordering
        self._urls = urls
        self._step = urls / DRAWS if urls > ALL_READ else 0.0
        self._draws = Draws(self._step)
        self._drawn: list[_Drawn] = []
        self._weights: dict[int, float] = {}
        self._again = 0.0
        self._read = 0
        self._unread = 0.0

    def add(self, key: bytes, record: HostRecord) -> None:
        """Take a host into account."""
        if not self._step or not record.queued:
            return
        if draws := self._draws.of(record.queued):
            self._drawn.append(_Drawn(key, record.head, record.queued, draws))

    def sizes(self, order: str) -> LevelSizes:
        """The histogram of the hosts told of so far."""
        self._weights, self._again, self._read, self._unread = {}, 0.0, 0, 0.0
        if self._step:
            for host in self._drawn:
                self._read_host(host)
        else:
            self._count(self._places(b"", b""), 1.0)
        weights: dict[int, float] = {}
        grades: dict[int, float] = {}
        for level, weight in self._weights.items():
            grade, own = split_grade(level)
            weights[own] = weights.get(own, 0.0) + weight
            grades[grade] = grades.get(grade, 0.0) + weight
        if self._again:
            grades[0] = grades.get(0, 0.0) + self._again
        lines = []
        if any(grades):
            lines = [
                GradeLine(grade_words(grade) or "ordinary", grade, round(weight))
                for grade, weight in sorted(grades.items())
            ]
        urls = self._urls if self._step else self._read
        return LevelSizes(order, urls, self._read, round(self._unread), self._bands(weights), lines)

    @property
    def sampled(self) -> bool:
        """The queue is too long to be read as a whole."""
        return self._step > 0

    def by_depth(self, factor: float) -> dict[str, int]:
        """URLs at each depth times `factor`, once `sizes` was asked for; empty where levels tell no depth."""
        depths: dict[int, float] = {}
        for level, weight in self._weights.items():
            own = split_grade(level)[1]
            told = meaning_of(self._ordering, own) if own != ROBOTS_LEVEL else None
            if told is not None:
                depths[told.depth] = depths.get(told.depth, 0.0) + weight * factor
        return {str(depth): round(urls) for depth, urls in sorted(depths.items())}

    def _bands(self, weights: dict[int, float]) -> list[LevelLine]:
        """A line for each number in the policy's words; of many neighbours share one, about equally."""
        rows: list[tuple[str, int, int, float]] = []
        again = []
        if self._again:
            told: Told = (again_clause(),)
            again = [LevelLine(in_english(told), ROBOTS_LEVEL, ROBOTS_LEVEL, round(self._again), told)]
        for level in sorted(weights):
            name = level_words(self._ordering, level, level)
            if rows and rows[-1][0] == name:
                _, first, _, before = rows.pop()
                rows.append((name, first, level, before + weights[level]))
            else:
                rows.append((name, level, level, weights[level]))
        share = sum(weights.values()) / BANDS if len(rows) > BANDS else 0.0
        lines: list[LevelLine] = []
        start, urls = -1, 0.0
        for _, first, last, weight in rows:
            start = first if start < 0 else start
            urls += weight
            if urls >= share or last in (ROBOTS_LEVEL, rows[-1][2]):
                told = (level_clause(self._ordering, start, last),)
                lines.append(LevelLine(in_english(told), start, last, round(urls), told))
                start, urls = -1, 0.0
        # After the robots files, if there are any, and before all that the policy orders.
        first = bool(lines) and lines[0].last == ROBOTS_LEVEL
        return lines[:first] + again + lines[first:]

    def _read_host(self, host: _Drawn) -> None:
        weight = host.draws * self._step
        room = READ_PER_DRAW * host.draws
        if host.queued > room:
            drawn = list(self._by_hash(host))
            if drawn:
                self._count(iter(drawn), weight / len(drawn))
                return
        read = [place for place, _ in zip(self._places(host.key, host.head), range(room), strict=False)]
        if not read:
            self._unread += weight
        elif len(read) < host.queued:  # only the best of it is known
            self._count(iter(read), 1.0)
            self._unread += max(0.0, weight - len(read))
        else:
            self._count(iter(read), weight / len(read))

    def _places(self, host: bytes, head: bytes) -> Iterator[bytes]:
        for key, _ in self._environment.scan(Family.QUEUE, host + head, host):
            yield key[HASH_BYTES:]

    def _by_hash(self, host: _Drawn) -> Iterator[bytes]:
        """Places of some URLs of a host, drawn evenly over their hashes; none if no table knows places."""
        family = Family.STANDINGS if isinstance(self._ordering, LinkOrdering) else Family.SEEN

        def queued(value: bytes) -> bytes | None:
            place = value[:TICKET_BYTES]
            return None if self._environment.get(Family.QUEUE, host.key + place) is None else place

        return by_hash(self._environment, family, host.key, host.draws, queued, TRIES)

    def _count(self, places: Iterator[bytes], weight: float) -> None:
        weights = self._weights
        for place in places:
            self._read += 1
            if arrival_of(place)[1]:
                self._again += weight
                continue
            level = split_ticket(place)[0]
            weights[level] = weights.get(level, 0.0) + weight
