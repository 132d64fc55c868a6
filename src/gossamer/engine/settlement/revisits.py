"""Learns from each visit when the next one is due, and says what the history of the page is now (decision 0026)."""

from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.engine.admission.identity import Identity
from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.signals.sources import is_list, source_of
from gossamer.engine.visiting.visit import Compared, Visit
from gossamer.frontier.frontier import Frontier
from gossamer.model.disposition import Again, Done, Dropped
from gossamer.model.exchange import Exchange, StatusAction
from gossamer.model.lease import Lease, Validators
from gossamer.model.outcome import Fetched, Refused
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.ordering.ordering import is_robots
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import activity_of
from gossamer.policy.revisit.gone import GONE_STATUSES, Presence, after
from gossamer.policy.revisit.history import UNREAD, History, unpack
from gossamer.policy.revisit.hubs import LIST_BRINGS, brings_after
from gossamer.policy.revisit.rates import Belief, Spread
from gossamer.policy.revisit.trust import heard, judged, trust_of, unannounced
from gossamer.policy.revisit.validity import CONDITION_REFUSED, after_change, is_asked
from gossamer.policy.revisit.weights import weight
from gossamer.policy.visits.retry import action_of
from gossamer.state.records import HostRecord, PageRecord

if TYPE_CHECKING:  # it brings all that compares texts, and few crawls visit a page twice
    from gossamer.engine.settlement.changed import Changes

SITES = 256
"""Hosts whose spreads are in memory, some 2 KB each; others are read from their records."""


class _Spot(NamedTuple):
    """A page, and its host."""

    fingerprint: bytes
    url: Url
    key: bytes
    record: HostRecord


class Revisits:
    """Histories of pages, and what hosts are known for; all of it is written with the visit it was learned from."""

    def __init__(
        self,
        frontier: Frontier,
        identity: Identity,
        memory: PageMemory,
        pace: RevisitPace,
        changes: "Callable[[], Changes] | None" = None,
    ) -> None:
        """`changes`: compares what pages say; without it another payload is a change."""
        self._frontier = frontier
        self._identity = identity
        self._memory = memory
        self.pace = pace
        self._changes = cache(changes) if changes is not None else None
        self._sites: OrderedDict[bytes, tuple[Spread, bytes]] = OrderedDict()

    # Before a visit …

    def prepared(self, lease: Lease) -> Lease:
        """The lease of a page that was visited, with what a conditional request sends back, if it may be one."""
        page = self._identity.fingerprint(lease.candidate.url)
        known = self._memory.get(page)
        if known is None or known.asked or not known.payload or not (known.etag or known.last_modified):
            return lease
        if not known.visits or known.visits[-1].status not in (200, 304):
            return lease
        if any(visit.status in CONDITION_REFUSED for visit in known.visits):
            return lease
        host = self._frontier.hosts.get(self._frontier.host_hash(lease.queue_key))
        if host is None or is_asked(host.validators, known.visits_made):
            return lease
        return Lease(
            lease.candidate, lease.queue_key, lease.ticket, Validators(known.etag, known.last_modified), page
        )

    # After it …

    async def compared(self, visit: Visit) -> Visit:
        """The same, compared with the last visit; before it waits for its turn to be settled."""
        if self._changes is None:
            return visit
        return await self._changes().look(visit, self._identity.fingerprint)

    def settle(
        self, visit: Visit, judgement: Judgement, fingerprint: bytes, before: PageRecord | None, new: int = 0
    ) -> Judgement:
        """The same, with how the page comes again; within the batch of the visit.

        `new`: URLs that it led to, and nobody knew.
        """
        disposition, candidate = judgement.disposition, visit.lease.candidate
        if not isinstance(disposition, Done | Dropped) or is_robots(candidate):
            return judgement
        if before is None or not before.history:
            if not self.pace.on or isinstance(visit.outcome, Refused):
                return judgement
            changed_, history = None, self._first(visit, before, self._spot(fingerprint, candidate.url))
            if candidate.is_guess and history.presence is Presence.NEVER:
                return judgement  # nobody has said that it is there
        else:
            spot = self._spot(fingerprint, candidate.url)
            changed_, history = self._next(visit, before, unpack(before.history), spot, new)
            # Visited out of its turn (a redirect may lead there by force), it still stands where it stood.
            with self._frontier.changes() as batch:
                self._frontier.again.take_out(spot.key, spot.record, fingerprint, before.history, batch)
        again = Again(history.pack(), fingerprint, changed_)
        disposition = msgspec.structs.replace(disposition, again=again)
        return msgspec.structs.replace(judgement, disposition=disposition)

    def _when(self, visit: Visit) -> float:
        """Wall time of what the visit saw."""
        wall = self._frontier.again.wall
        return wall.now() - visit.elapsed * wall.speed

    def _first(self, visit: Visit, before: PageRecord | None, spot: _Spot) -> History:
        at = int(self._when(visit))
        exchange = visit.outcome.exchange if isinstance(visit.outcome, Fetched) else None
        known = before.presence if before is not None else Presence.NEVER
        presence = after(known, exchange.status if exchange else None)
        brings = LIST_BRINGS if visit.page is not None and is_list(visit.page) else 1
        history = History(at, at, presence=presence, text=UNREAD, brings=brings)
        return self._placed(history, spot, self._site(spot).believe(history))

    def _next(
        self, visit: Visit, before: PageRecord, known: History, spot: _Spot, new: int
    ) -> tuple[bool | None, History]:
        """Whether it has changed, if that was seen, and its history now."""
        at, record, site = self._when(visit), spot.record, self._site(spot)
        news = max(
            new, _news(visit.page, self._frontier.again.wall.date_of(known.last), record)
        )  # what is new may be dated, too
        seen = self._seen(visit, before, known, record, news)
        if seen is None:
            # Nobody knows whether it has changed; it has had its turn all the same.
            history = msgspec.structs.replace(known, since=max(known.since, int(at)))
            return None, self._placed(history, spot, site.believe(history))
        is_changed, history = seen
        sums = self.pace.record
        sums.visits += 1
        sums.changed += is_changed
        activity = activity_of(record.activity)
        expected = sums.freshness.note(known, at, changed=is_changed, activity=activity)
        if expected is not None and not known.heard:
            record.activity = activity.seen(expected, changed=is_changed).pack()
        if is_changed and known.heard:
            sums.announced += 1
        passed = max(0.0, at - known.last)
        told = heard(record.trusts, known, classes.rate(known.place, passed)) if known.voices else 0.0
        record.trusts = judged(record.trusts, known, passed, changed=is_changed)
        history = history.visited(at, changed=is_changed, heard=told)
        belief = site.learn(history, passed / self._frontier.again.pace.fair)
        record.spread = site.pack()
        self._sites[spot.key] = site, record.spread
        self.pace.changed()
        if is_changed:
            history = msgspec.structs.replace(history, brings=brings_after(history.brings, news))
        return is_changed, self._placed(history, spot, belief)

    def _seen(
        self, visit: Visit, before: PageRecord, known: History, record: HostRecord, news: int
    ) -> tuple[bool, History] | None:
        """Whether it has changed, and its history with what it says and whether it is there; `None`: it was not
        seen."""
        if not isinstance(visit.outcome, Fetched):
            return None
        exchange, sums = visit.outcome.exchange, self.pace.record
        presence = after(known.presence, exchange.status)
        there = known if presence is known.presence else msgspec.structs.replace(known, presence=presence)
        if presence is not Presence.HERE:
            if exchange.status not in GONE_STATUSES:
                return None
            sums.gone += presence is Presence.GONE and known.presence is not Presence.GONE
            return known.presence is Presence.HERE, there
        if known.presence is not Presence.HERE:
            sums.returned += known.presence is Presence.GONE
            return True, msgspec.structs.replace(there, text=UNREAD)
        match action_of(exchange):
            case StatusAction.UNCHANGED:
                if visit.lease.validators is None:
                    return None  # it says so to whoever asks
                sums.not_modified += 1
                sums.saved += next((each.size for each in reversed(before.visits) if each.status == 200), 0)
                return False, there
            case StatusAction.PROCESS | StatusAction.REDIRECT | StatusAction.NOTHING:
                return self._compared(visit, exchange, before, there, record, news)
        return None

    def _compared(
        self,
        visit: Visit,
        exchange: Exchange,
        before: PageRecord,
        known: History,
        record: HostRecord,
        news: int,
    ) -> tuple[bool, History]:
        sums = self.pace.record
        if exchange.body.sha256 == before.payload:
            sums.same_payload += 1
            return False, known
        if visit.page is not None and is_list(visit.page):
            # Its text is dates and addresses: it has changed if it says something new.
            return news > 0, known
        compared = visit.compared or Compared(True, UNREAD)
        is_changed, text = compared.changed, compared.text
        if compared.volatile is not None:
            record.volatile = compared.volatile
        if not is_changed:
            sums.same_text += 1
        elif before.etag or before.last_modified:
            same = _validators(exchange) == Validators(before.etag, before.last_modified)
            record.validators = after_change(record.validators, same_validators=same)
        return is_changed, msgspec.structs.replace(known, text=text)

    # Where it stands …

    def enrol(self, fingerprint: bytes, page: PageRecord) -> PageRecord | None:
        """Let a page come again that does not, or by its interval of now; its record with that, `None` if it is
        where it belongs. In a batch of the caller's, that has moved nothing of the page."""
        spot = self._spot(fingerprint, _url(page))
        again = self._frontier.again
        if page.history:
            known = unpack(page.history)
        else:
            at = int(again.wall.of_date(page.visits[-1].at))
            known = History(at, at, presence=page.presence, text=UNREAD)
        history = self._placed(known, spot, self._site(spot).believe(known))
        with self._frontier.changes() as batch:
            if page.history:
                if classes.wanted(history.place) == classes.wanted(known.place):
                    return None
                if not again.take_out(spot.key, spot.record, fingerprint, page.history, batch):
                    return None  # its turn has come; the visit puts it where it belongs
            again.put(spot.key, spot.record, Again(history.pack(), fingerprint), batch)
        return msgspec.structs.replace(page, history=history.pack())

    def wake(self, page: PageRecord) -> None:
        """Have the host of a page looked at when something of it is due, also if it was given up."""
        key, name = self._frontier.host_key(_url(page))
        with self._frontier.changes() as batch:
            self._frontier.comes_again(key, self._frontier.hosts.change(key, name), batch)

    def _placed(self, history: History, spot: _Spot, belief: Belief) -> History:
        config, standings = self.pace.config, self._frontier.standings
        fixed = config.interval(spot.url)
        if fixed is not None:
            return msgspec.structs.replace(history, place=classes.fixed(fixed))
        importance = standings.importance(spot.fingerprint) if standings is not None else 1.0
        heavy = weight(history, config.wanted(spot.url), importance)
        place = classes.classify(belief, heavy, unannounced(spot.record.trusts, history))
        return msgspec.structs.replace(history, place=place)

    def _spot(self, fingerprint: bytes, url: Url) -> _Spot:
        key, name = self._frontier.host_key(url)
        return _Spot(fingerprint, url, key, self._frontier.hosts.change(key, name))

    def _site(self, spot: _Spot) -> Spread:
        """How rates are spread over the pages of a host."""
        key, record = spot.key, spot.record
        kept = self._sites.get(key)
        if kept is None or kept[1] != record.spread:  # the host may have been elsewhere meanwhile
            kept = self._sites[key] = Spread(self.pace.spread, record.spread or None), record.spread
            if len(self._sites) > SITES:
                _, (oldest, _) = self._sites.popitem(last=False)
                oldest.tell()
        self._sites.move_to_end(key)
        return kept[0]


def _url(page: PageRecord) -> Url:
    url = Url.from_serialised(page.url)
    assert url is not None, page.url
    return url


def _validators(exchange: Exchange) -> Validators:
    return Validators(exchange.headers.get("etag"), exchange.headers.get("last-modified"))


def _news(page: Page | None, since: float, record: HostRecord) -> int:
    """Pages that a list says have changed since then, as far as its dates are believed."""
    if page is None or not is_list(page) or trust_of(record.trusts, source_of(page)).lies:
        return 0
    return sum(link.lastmod > since for link in page.links)
