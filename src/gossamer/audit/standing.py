"""What a crawl knows of an address: how its last visit went, and where its redirects led."""

from collections.abc import Callable

from gossamer.audit.store import AuditStore, Kept
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.exchange import StatusAction
from gossamer.model.outcome import Rule as Refusal
from gossamer.model.reasons.codes import BudgetCode, EndCode, ScopeCode, TrapCode
from gossamer.model.url import Url
from gossamer.policy.linkcheck.verdicts import Code, Judged, LinkVerdict, of_status
from gossamer.policy.visits.retry import status_action
from gossamer.state.records import PageRecord

__all__ = ["Standing"]

_PERMANENT = frozenset({301, 308})
_MOST_HOPS = 15
_LIMITS = frozenset({EndCode.MAX_PAGES, EndCode.MAX_BYTES, EndCode.MAX_TIME, EndCode.INTERRUPTED})
"""Ends by which somebody said how much of the site is wanted: what waits then is not asked for behind their back. A
crawl that gave up a host that asks for long rests leaves links behind that are asked singly."""
_NOT_WANTED = frozenset(
    {*TrapCode, *BudgetCode, ScopeCode.EXCLUDE, ScopeCode.BLOCKED, Refusal.TRAP, Refusal.BUDGET}
)
"""What the operator, or care, keeps us from asking at all."""


class Standing:
    """Looks addresses up in what was crawled."""

    def __init__(self, inspection: Inspection, store: AuditStore, is_own: Callable[[str], bool]) -> None:
        self._store = store
        self._is_own = is_own
        ended = inspection.ended
        self._stopped = ended is None or ended.code in _LIMITS
        self._places = []
        for crawl in inspection.each.values():
            prints = fingerprints_of(crawl.environment)
            if prints is not None:
                self._places.append(UrlPlaces(crawl.environment, prints, crawl.config))

    def record(self, address: str) -> PageRecord | None:
        """What is remembered of an address, by its canonical form."""
        url = Url.parse(address)
        if url is None:
            return None
        for places in self._places:
            record = places.record(places.fingerprint(places.where(url)))
            if record is not None:
                return record
        return None

    def is_seed(self, address: str) -> bool:
        """Whether the operator gave the address: it is an entrance, linked or not."""
        record = self.record(address)
        return record is not None and not record.via

    def of(self, address: str) -> Kept | None:
        """What the crawl says of an address; `None` if it has to be asked."""
        hops, target, permanent = [address], "", True
        while True:
            record = self.record(hops[-1])
            judged = self._judge(hops[-1], record)
            if judged is None or record is None:
                return None if judged is None else _kept(judged, hops, target)
            if status_action(judged.status) is not StatusAction.REDIRECT:
                if target and judged.verdict is LinkVerdict.WELL:
                    judged = Judged(LinkVerdict.MOVED, Code.MOVED, judged.status)
                return _kept(judged, hops, target)
            row = self._store.do("select location from visited where url=?", (record.url,)).fetchone()
            location = row[0] if row is not None else ""
            if not location or location in hops or len(hops) > _MOST_HOPS:
                return None  # who asks finds out whether it is a circle for all
            permanent = permanent and judged.status in _PERMANENT
            target = location if permanent else target
            hops.append(location)

    def _judge(self, address: str, record: PageRecord | None) -> Judged | None:
        """By one record; of a redirect its status alone counts."""
        if record is None:
            url = Url.parse(address)
            if self._stopped and url is not None and self._is_own(url.host):
                return Judged(LinkVerdict.UNKNOWN, Code.NOT_ASKED)
            return None
        if not record.visits:
            return _turned_away(record)
        last = record.visits[-1]
        if last.fault or not last.status:
            return None
        if last.status == 304:
            return Judged(LinkVerdict.WELL, Code.OK, 304)
        if last.status >= 500 and last.status != 503 and record.visits_made < 2:
            return None
        if 300 <= last.status < 400:
            return Judged(LinkVerdict.WELL, Code.OK, last.status)
        if last.status < 300 and self._is_soft(record.url):
            return Judged(LinkVerdict.UNKNOWN, Code.SOFT_404, last.status)
        return of_status(last.status, twice=record.visits_made >= 2)

    def _is_soft(self, url: str) -> bool:
        row = self._store.do("select 1 from findings where rule='soft-404' and url=?", (url,)).fetchone()
        return row is not None


def _turned_away(record: PageRecord) -> Judged | None:
    reason = record.reason
    if reason is None:
        return None
    codes = {part.code for part in reason.parts()}
    if Refusal.ROBOTS in codes:
        return Judged(LinkVerdict.REFUSED, Code.ROBOTS)
    if codes & _NOT_WANTED:
        return Judged(LinkVerdict.UNKNOWN, Code.NOT_ASKED)
    return None


def _kept(judged: Judged, hops: list[str], target: str) -> Kept:
    told = tuple(hops) if len(hops) > 1 else ()
    return Kept(0.0, judged.verdict, judged.code, judged.status, target, told)
