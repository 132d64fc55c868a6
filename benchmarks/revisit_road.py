"""A frontier without a network: it drives `gossamer.policy.revisit` as the crawler's does.

One first-in-first-out queue for each class of each host, histories of 24 bytes a page, one threshold, an allowance of
visits; a host's sources are judged by what its pages show.
"""

import heapq
from collections.abc import Iterable

import msgspec

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import History, Voice, standing, unpack
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.threshold import Threshold, lateness, starting_level
from gossamer.policy.revisit.trust import Trust

_SAVED = 0.02
_LEAST_SAVED = 4.0
_SITEMAP = 1
_VOICES = (), (Voice(_SITEMAP),)


class Leaving(msgspec.Struct, frozen=True):
    """A host on its way to another road: what is kept of its pages, and of it."""

    pages: dict[int, bytes]
    heard: dict[int, float]
    spread: bytes
    trust: Trust


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
        pages: list[int] = []
        schedule, queues = self._schedule, self._queues
        while self._allowance >= 1 and schedule and schedule[0][0] <= now:
            due, host, place = heapq.heappop(schedule)
            queue = queues.get((host, place))
            if queue is None:
                continue
            if not self._front(queue, place) or self._due(queue, place) > due:
                self._post(host, place)
                continue
            page = heapq.heappop(queue)[1]
            pages.append(page)
            self._late += lateness(now - due, self.fair)
            self._asked += max(0.0, due - int.from_bytes(self.stored[page][:4], "little"))  # its last visit
            self._lent += 1
            self._allowance -= 1
            self._post(host, place)
        return pages

    def settle(self, page: int, now: float, *, changed: bool) -> None:
        """A visit has seen whether it changed."""
        history = self.history(page)
        host = self.hosts[page]
        if history.voices:
            self.trusts[host] = self.trusts[host].judged(
                said=history.heard > 0, changed=changed, seconds=now - history.last
            )
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
        return Leaving(pages, heard, self.sites[host].pack(), self.trusts[host])

    def arrive(self, host: int, leaving: Leaving) -> None:
        """Take a host that another road gave away, or lost."""
        self.sites[host] = Spread(self.crawl, leaving.spread)
        self.trusts[host] = leaving.trust
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
        if self.threshold.step != self._step:
            self._step = self.threshold.step
            self._reschedule()

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

    def _front(self, queue: list[tuple[int, int]], place: int) -> bool:
        """Whether a queue has a first page, after those are taken out that stand elsewhere now."""
        while queue:
            since, page = queue[0]
            if standing(self.stored[page]) == (since, place):
                return True
            heapq.heappop(queue)
        return False

    def _due(self, queue: list[tuple[int, int]], place: int) -> float:
        since, page = queue[0]
        due = classes.due(place, since, self._step, classes.LONGEST * self.fair)
        return max(due, self._heard[page]) if page in self._heard else due

    def _post(self, host: int, place: int) -> None:
        queue = self._queues.get((host, place))
        if queue is None:
            return
        if self._front(queue, place):
            heapq.heappush(self._schedule, (self._due(queue, place), host, place))
        else:
            del self._queues[host, place]

    def _reschedule(self) -> None:
        self._schedule = []
        for host, place in list(self._queues):
            self._post(host, place)
