"""A frontier without a network: it drives `gossamer.policy.revisit` as the crawler's does.

One first-in-first-out queue for each class of each host, histories of 24 bytes a page, one threshold, an allowance of
visits; who is worth most goes first; a host's sources are judged by what its pages show, and how active it is.
"""

import heapq
import math
from collections.abc import Iterable

import msgspec

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import Activity
from gossamer.policy.revisit.freshness import Freshness
from gossamer.policy.revisit.history import History, Voice, standing, unpack
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.threshold import Threshold, lateness, starting_level
from gossamer.policy.revisit.trust import Trust

_SAVED = 0.02
_LEAST_SAVED = 4.0
_AT_ONCE = 8
_SINKING = 6
"""Minutes at once: a step of the threshold each."""
_SITEMAP = 1
_VOICES = (), (Voice(_SITEMAP),)


class Leaving(msgspec.Struct, frozen=True):
    """A host on its way to another road: what is kept of its pages, and of it."""

    pages: dict[int, bytes]
    heard: dict[int, float]
    spread: bytes
    trust: Trust
    activity: Activity


class Road:
    """Pages of hosts, and when each is visited again. Times are seconds."""

    def __init__(
        self,
        hosts: list[int],
        weights: list[float],
        listed: list[bool],
        rate: float,
        now: int,
        ours: Iterable[int] | None = None,
    ) -> None:
        """Pages that were visited at `now`.

        Args:
            hosts: of each page.
            weights: of each page.
            listed: whether the source of its host speaks of it.
            rate: visits a second.
            ours: the pages on this road, if there are others.
        """
        self.hosts, self.weights = hosts, weights
        pages = range(len(hosts)) if ours is None else list(ours)
        self.size = len(pages)
        self.stored = [b""] * len(hosts)
        self.rate = rate
        self.fair = self.size / rate
        self.crawl = Spread()
        number = max(hosts) + 1
        self.sites = [Spread(self.crawl) for _ in range(number)]
        self.trusts = [Trust() for _ in range(number)]
        self.activities = [Activity() for _ in range(number)]
        self.freshness = Freshness()
        self._factors = [1.0] * number
        self._power = self.freshness.activity_power
        self._stirred: set[int] = set()
        self._queues: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._schedule: list[tuple[float, int, int]] = []
        self._heard: dict[int, float] = {}
        self._allowance = 0.0
        self._late, self._asked, self._lent = 0.0, 0.0, 0
        start = classes.classify(self.crawl.believe(History(now, now)))
        self.threshold = Threshold(starting_level(classes.worth_after(start, self.fair / 8)), now)
        self._step = self.threshold.step
        for page in pages:
            place = self._place(page, self.sites[hosts[page]].believe(History(now, now)), listed[page])
            self._keep(page, History(now, now, place=place, voices=_VOICES[listed[page]]))
        self._reschedule()

    def history(self, page: int) -> History:
        """What is kept of it."""
        return unpack(self.stored[page])

    def hear(self, page: int, now: float) -> None:
        """Its source says that it has changed."""
        history = self.history(page)
        trust = self.trusts[self.hosts[page]]
        precision = trust.precision(classes.rate(history.place, now - history.last))
        after = classes.told(history, now, _SITEMAP, precision, classes.LONGEST * self.fair)
        self.stored[page] = after.pack()
        if after.since < history.since:
            self._heard.setdefault(page, now)
            self._queue(page, after)

    def lend(self, now: float) -> list[int]:
        """The pages that are visited now; to be followed by `settle` for each of them, and then `correct`."""
        if self._stirred:
            for host, place in [each for each in self._queues if each[0] in self._stirred]:
                self._post(host, place)
            self._stirred.clear()
        pages = self._lend(now)
        most = max(_LEAST_SAVED, _SAVED * self.size)
        while self._allowance >= most and len(pages) < self.size:
            for _ in range(_SINKING):
                self.threshold.sink()
            self._reschedule()
            pages += self._lend(now)
        return pages

    def _lend(self, now: float) -> list[int]:
        """What is due, as far as it may be visited, who is worth most first."""
        due: list[tuple[float, int, int]] = []
        longest = classes.LONGEST * self.fair

        def post(host: int, place: int) -> None:
            """Among what is due now, or for when it will be."""
            at, since = self._first(host, place)
            if at <= now:
                worth = classes.worth_now(place, now - since, longest, self._factors[host])
                heapq.heappush(due, (-worth, host, place))
            elif at < math.inf:
                heapq.heappush(self._schedule, (at, host, place))

        while self._schedule and self._schedule[0][0] <= now:
            post(*heapq.heappop(self._schedule)[1:])
        pages: list[int] = []
        while due and self._allowance >= 1:
            _, host, place = heapq.heappop(due)
            room = len(pages) + _AT_ONCE
            while self._allowance >= 1 and len(pages) < room and (at := self._first(host, place)[0]) <= now:
                page = heapq.heappop(self._queues[host, place])[1]
                pages.append(page)
                self._late += lateness(now - at, self.fair)
                self._asked += max(
                    0.0, at - int.from_bytes(self.stored[page][:4], "little")
                )  # its last visit
                self._lent += 1
                self._allowance -= 1
            post(host, place)
        self._schedule += [(now, host, place) for _, host, place in due]
        heapq.heapify(self._schedule)
        return pages

    def settle(self, page: int, now: float, *, changed: bool) -> None:
        """A visit has seen whether it changed."""
        history = self.history(page)
        host = self.hosts[page]
        if history.voices:
            self.trusts[host] = self.trusts[host].judged(
                said=history.heard > 0, changed=changed, seconds=now - history.last
            )
        activity = self.activities[host]
        probability = self.freshness.note(history, now, changed=changed, activity=activity)
        if probability is not None and not history.heard:
            self.activities[host] = activity.seen(probability, changed=changed)
            self._stir(host)
        after = history.visited(now, changed=changed)
        belief = self.sites[host].learn(after, (now - history.last) / self.fair)
        place = self._place(page, belief, bool(history.voices))
        self._heard.pop(page, None)
        self._keep(page, msgspec.structs.replace(after, place=place))

    @property
    def spent(self) -> tuple[int, float, float]:
        """Visits since the last correction, the sums of the intervals that they asked for, and of their lateness."""
        return self._lent, self._asked, self._late

    def leave(self, host: int) -> Leaving:
        """Give a host away."""
        pages = {}
        for place in [place for where, place in self._queues if where == host]:
            for since, page in self._queues.pop((host, place)):
                if page not in pages and standing(self.stored[page]) == (since, place):
                    pages[page] = self.stored[page]
        self.size -= len(pages)
        heard = {page: self._heard.pop(page) for page in list(self._heard) if page in pages}
        return Leaving(pages, heard, self.sites[host].pack(), self.trusts[host], self.activities[host])

    def arrive(self, host: int, leaving: Leaving) -> None:
        """Take a host that another road gave away, or lost."""
        self.sites[host] = Spread(self.crawl, leaving.spread)
        self.trusts[host] = leaving.trust
        self.activities[host] = leaving.activity
        self._stir(host)
        self._heard |= leaving.heard
        self.size += len(leaving.pages)
        for page, stored in leaving.pages.items():
            self._keep(page, unpack(stored))

    def earn(self, seconds: float) -> None:
        """Time has passed, in which some visits may be made."""
        self._allowance = min(
            self._allowance + self.rate * seconds,
            max(_LEAST_SAVED, _SAVED * self.size, 2 * self.rate * seconds),
        )

    def correct(self, now: float) -> None:
        """Lead the threshold."""
        left = self._allowance / max(self.size, 1) if self._allowance >= 1 else 0.0
        self.threshold.correct(now, self.fair, self._late / self._lent if self._lent else 0.0, left)
        self._late, self._asked, self._lent = 0.0, 0.0, 0
        if self.threshold.step != self._step or self._power != self.freshness.activity_power:
            self._power = self.freshness.activity_power
            for host in range(len(self._factors)):
                self._stir(host)
            self._reschedule()

    def _stir(self, host: int) -> None:
        factor = self.activities[host].factor(self._power)
        if factor != self._factors[host]:
            self._factors[host] = factor
            self._stirred.add(host)

    def _place(self, page: int, belief, listed: bool) -> int:  # type: ignore[no-untyped-def]
        unannounced = self.trusts[self.hosts[page]].unannounced if listed else 1.0
        return classes.classify(belief, self.weights[page], unannounced)

    def _keep(self, page: int, history: History) -> None:
        self.stored[page] = history.pack()
        self._queue(page, history)

    def _queue(self, page: int, history: History) -> None:
        host, place = self.hosts[page], history.place
        queue = self._queues.get((host, place))
        if queue is None:
            queue = self._queues[host, place] = []
        heapq.heappush(queue, (history.since, page))
        if queue[0][1] == page:
            self._post(host, place)

    def _first(self, host: int, place: int) -> tuple[float, int]:
        """When the first page of a queue is due, and since when it waits; who stands elsewhere now is taken out."""
        queue = self._queues.get((host, place))
        while queue:
            since, page = queue[0]
            if standing(self.stored[page]) == (since, place):
                longest = classes.LONGEST * self.fair
                due = classes.due(place, since, self._step, longest, self._factors[host])
                return max(due, self._heard.get(page, 0.0)), since
            heapq.heappop(queue)
        self._queues.pop((host, place), None)
        return math.inf, 0

    def _post(self, host: int, place: int) -> None:
        due, _ = self._first(host, place)
        if due < math.inf:
            heapq.heappush(self._schedule, (due, host, place))

    def _reschedule(self) -> None:
        self._step = self.threshold.step
        self._schedule = []
        for host, place in list(self._queues):
            self._post(host, place)
