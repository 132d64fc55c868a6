"""Notices that two names show one site, and keeps the crawl from fetching it twice (K7, decision 0040).

What is seen anyway begins it: a page whose content was met before at the same path of another name. When that has
happened often enough, what is remembered of both is compared, contradictions included. Only then may URLs of the
name that goes be left out; what the other turns out not to show has its turn after all, so that nothing is lost.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import msgspec

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.admission.reclaim import as_found
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.steering import Steering
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import SETTLED, PageState
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Refused, Rule
from gossamer.model.reasons.codes import TwinCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.twins import (
    CHECKED,
    LEAST,
    LEAST_BYTES,
    PAGES,
    Likeness,
    Shown,
    TwinPair,
    at,
    compare,
    evidence,
    shown,
)
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import PageRecord, decode, encode

FOUND = b"twins/"
"""Begins the keys in `meta` of the pairs that show one site; a hash of both names follows."""
_MET = b"twins-met/"
"""The same of those that may."""
MOST_MET = 1_024
"""Pairs of names that may turn out to be twins; the one that was met least lately makes room."""
MOST_FOUND = 1_024
"""Pairs that are twins; with more than so many no further one is looked for."""
LOOKED_AT = 256
"""Pages of a name that are looked at beside its first, in the order of their keyed hashes: nobody outside knows it."""
_AT_ONCE = 500
_WANTED = frozenset({LinkKind.ROBOTS, LinkKind.SEED, LinkKind.DEMAND})
"""What is visited in any case: an operator has named it, or its host goes by it."""
_RULES = frozenset(Rule)
_GUESSED = frozenset({LinkKind.SPECULATIVE, LinkKind.FOLDER, LinkKind.DEMAND})


class Twins:
    """What is known of names that show one site, in memory and, as of the last commit, on disk."""

    def __init__(
        self, frontier: Frontier, identity: Identity, admission: Admission, memory: PageMemory, *, skip: bool
    ) -> None:
        """`skip`: what the name that stays shows is not fetched from the other."""
        self._frontier = frontier
        self._identity = identity
        self._admission = admission
        self._memory = memory
        self._steering = Steering(frontier)
        self._skip = skip
        self._met: OrderedDict[frozenset[str], TwinPair] = OrderedDict()
        self._found: dict[frozenset[str], TwinPair] = {}
        self._of: dict[str, list[TwinPair]] = {}
        self._stays: dict[str, str] = {}
        self._due: list[TwinPair] = []
        self._group: dict[bytes, PageRecord] = {}
        for pair in pairs_in(frontier.environment):
            self._enter(pair)
        for pair in pairs_in(frontier.environment, _MET):
            self._met[_key(pair)] = pair
            if pair.withdrawn or pair.due:
                self._due.append(pair)

    # Before a visit …

    def refusal(self, lease: Lease) -> Refused | None:
        """Why a URL need not be fetched: the other name of its site shows it, or is about to be asked."""
        candidate = lease.candidate
        if not self._skip or not self._stays or candidate.again or candidate.forced:
            return None
        stays = self._stays.get(candidate.url.origin)
        if stays is None or candidate.kind in _WANTED:
            return None
        other, fingerprint = at(stays, candidate.url.target), self._identity.fingerprint(candidate.url)
        if int.from_bytes(fingerprint[-4:], "big") % CHECKED == 0:
            return None
        if not self._shows(other, fingerprint, page=candidate.kind is LinkKind.SITEMAP):
            return None
        pair = self._found[frozenset((candidate.url.origin, stays))]
        told = because(TwinCode.SHOWN, other.text, pair.alike, pair.alike + pair.unlike)
        return Refused(Rule.TWIN, told)

    def _shows(self, url: Url, counterpart_of: bytes, *, page: bool = False) -> bool:
        """Whether a URL on the name that stays was fetched well, or has its turn yet.

        `page`: it must have been, and be a page. A sitemap lists the pages of its own name.
        """
        fingerprint = self._identity.fingerprint(url)
        if fingerprint == counterpart_of:
            return False
        record = self._known(fingerprint)
        if record is not None and record.state in SETTLED:
            return _left_out(record) or (_last(record) == 200 and (not page or record.media_type in PAGES))
        waits = record is None or record.state == PageState.RETRY
        if page or not waits or fingerprint not in self._frontier.seen:
            return False
        host = self._frontier.hosts.get(self._frontier.host_key(url)[0])
        return host is not None and not host.parked

    # After it …

    def settled(self, candidate: Candidate, fingerprint: bytes, record: PageRecord, first_seen: str) -> None:
        """Learn from a visit, within the open batch.

        Args:
            candidate: that was visited, or refused.
            fingerprint: of its URL.
            record: what is known of it now.
            first_seen: the URL at which its content was met before, or empty.
        """
        if not first_seen and not self._of and not _left_out(record):
            return
        if candidate.kind is LinkKind.ROBOTS or record.state not in SETTLED:
            return
        url = candidate.url
        pairs = self._of.get(url.origin, ())
        if pairs:
            self._group[fingerprint] = record
        if _left_out(record):
            stays = self._stays.get(url.origin)  # it may have turned out otherwise since
            if stays is None or not self._shows(at(stays, url.target), fingerprint):
                self._bring_back(fingerprint, record)
        if first_seen and not candidate.again:
            self._meet(url, record, first_seen)
        for pair in () if _left_out(record) else tuple(pairs):
            self._compare(pair, candidate, record, at(_other(pair, url.origin), url.target))

    def _meet(self, url: Url, record: PageRecord, first_seen: str) -> None:
        """A page shows what another URL has shown before: that of its path on another name?"""
        first = Url.from_serialised(first_seen)
        if (
            first is None
            or first.target != url.target
            or first.host == url.host
            or not _shown(record).content
        ):
            return
        pair = self._found.get(frozenset((url.origin, first.origin)))
        if pair is not None:
            pair.alike += 1
            self._keep(pair)
            return
        one, other = self._root(first.origin), self._root(url.origin)
        if one == other:
            return
        key = frozenset((one, other))
        pair = self._met.pop(key, None) or TwinPair(other, one)
        self._met[key] = pair
        pair.met += 1
        self._keep(pair)
        if pair.due:
            self._due.append(pair)
        if len(self._met) > MOST_MET:
            _, oldest = self._met.popitem(last=False)
            with self._frontier.changes() as batch:
                batch.delete(Family.META, self._place(oldest))

    def _compare(self, pair: TwinPair, candidate: Candidate, record: PageRecord, other: Url) -> None:
        """Hold what one of two names shows against what the other did."""
        fingerprint = self._identity.fingerprint(other)
        theirs = self._known(fingerprint)
        if theirs is not None and _left_out(theirs):
            if pair.goes == other.origin and not self._shows(candidate.url, fingerprint):
                self._bring_back(fingerprint, theirs)
        elif theirs is not None and theirs.state in SETTLED:
            if compare(_shown(record), _shown(theirs)) is not Likeness.UNLIKE:
                return
            if candidate.again:
                self._doubt(pair)
            else:
                pair.unlike += 1
                self._keep(pair)
                if pair.contradicted:
                    self._withdraw(pair)
        elif theirs is None and pair.goes == other.origin and not candidate.again:
            self._ask_instead(candidate, record, other)

    def _doubt(self, pair: TwinPair) -> None:
        """A page that was visited again differs. It may have changed on both names, so all are looked at."""
        pair.doubts += 1
        if pair.doubts == LEAST:
            pair.doubts = 0
            self._due.append(pair)
        self._keep(pair)

    def _ask_instead(self, candidate: Candidate, record: PageRecord, other: Url) -> None:
        """What the name that stays does not have, the other may: its pages that would mention it were left out."""
        if self._skip and _failed(record) and candidate.kind not in _GUESSED:
            self._admission.admit(msgspec.structs.replace(candidate, url=other, attempts=0, forced=False))

    async def committed(self) -> None:
        """Do what takes longer, in batches of its own: compare what may be twins, bring back what is no twin's."""
        self._group.clear()
        while self._due:
            pair = self._due[-1]
            if pair.withdrawn:
                await self._let_back(pair)
            elif pair.found:
                self._look_again(pair)
            elif pair.due and len(self._found) < MOST_FOUND:
                self._look(pair)
            self._due.pop()

    def _look(self, pair: TwinPair) -> None:
        """Compare what is known of two names at the same paths."""
        names = pair.goes, pair.stays
        pages = {name: dict(self._pages(name)) for name in names}
        stays, goes = sorted(names, key=lambda name: _rank(name, pages[name].values()))
        pair.goes, pair.stays, pair.looked = goes, stays, pair.met
        found = evidence(self._both(pages, goes, stays))
        pair.alike, pair.unlike = found.alike, found.unlike
        self._keep(pair)
        if found.one_site and goes not in self._stays and self._root(stays) != goes:
            self._met.pop(_key(pair), None)
            self._move(pair, found=True)
            self._enter(pair)

    def _look_again(self, pair: TwinPair) -> None:
        """Compare what two names of one site show by now; only other content speaks against it."""
        pages = {name: dict(self._pages(name)) for name in (pair.goes, pair.stays)}
        both = self._both(pages, pair.goes, pair.stays)
        said = [compare(one, other) for one, other in both if other is not None]
        pair.alike, pair.unlike = said.count(Likeness.ALIKE), said.count(Likeness.UNLIKE)
        self._keep(pair)
        if pair.contradicted:
            self._withdraw(pair)

    def _both(
        self, pages: dict[str, dict[str, PageRecord]], goes: str, stays: str
    ) -> Iterable[tuple[Shown, Shown | None]]:
        """What two names show at the same paths.

        Of the pages that are looked at, those of the name that stays only where the other is known to show something:
        what it has not been asked for says nothing.
        """
        both: dict[str, tuple[Shown, Shown | None]] = {}
        for name, other in ((goes, stays), (stays, goes)):
            for target, record in pages[name].items():
                if target in both:
                    continue
                theirs = self._known(self._identity.fingerprint(at(other, target)))
                if theirs is not None and (theirs.state not in SETTLED or _left_out(theirs)):
                    theirs = None
                if theirs is not None or name == goes:
                    both[target] = _shown(record), None if theirs is None else _shown(theirs)
        return both.values()

    def _pages(self, origin: str) -> Iterator[tuple[str, PageRecord]]:
        """(path, what is known) of some of the pages of a name that were visited."""
        root = at(origin, "/")
        fingerprint = self._identity.fingerprint(root)
        first = self._known(fingerprint)
        some = (record for _, record in islice(self._memory.of_host(fingerprint[:HASH_BYTES]), LOOKED_AT))
        for record in chain([first] if first is not None else (), some):
            if record.state in SETTLED and not _left_out(record) and record.url.startswith(root.text):
                yield record.url[len(origin) :], record

    def _enter(self, pair: TwinPair) -> None:
        self._found[_key(pair)] = pair
        self._stays[pair.goes] = pair.stays
        for name in (pair.goes, pair.stays):
            self._of.setdefault(name, []).append(pair)

    def _withdraw(self, pair: TwinPair) -> None:
        """Take two names for two sites again."""
        pair.looked, pair.withdrawn = pair.met, self._skip
        del self._found[_key(pair)], self._stays[pair.goes]
        for name in (pair.goes, pair.stays):
            self._of[name].remove(pair)
            if not self._of[name]:
                del self._of[name]
        self._met[_key(pair)] = pair
        if pair.withdrawn:
            self._due.append(pair)
        self._move(pair, found=False)

    async def _let_back(self, pair: TwinPair) -> None:
        """Bring back all that was left out on a name, a few at a time; a crash begins anew."""
        root = at(pair.goes, "/")
        host = self._identity.fingerprint(root)[:HASH_BYTES]
        start: bytes | None = b""
        while start is not None:
            known = list(islice(self._memory.of_host(host, start), _AT_ONCE))
            start = known[-1][0] + b"\0" if len(known) == _AT_ONCE else None
            with self._frontier.changes():
                for fingerprint, record in known:
                    if _left_out(record) and record.url.startswith(root.text):
                        self._bring_back(fingerprint, record)
            await asyncio.sleep(0)
        pair.withdrawn = False
        self._keep(pair)

    def _bring_back(self, fingerprint: bytes, record: PageRecord) -> None:
        candidate = as_found(record)
        if candidate is not None and self._admission.is_in_scope(candidate):
            self._group[fingerprint] = msgspec.structs.replace(record, state=PageState.RETRY)
            self._steering.bring_back(candidate, fingerprint, record, Reason(TwinCode.BACK))

    # What is known …

    def _root(self, origin: str) -> str:
        """The name that stays of all that show the same site; there is no circle, see `_look`."""
        while (stays := self._stays.get(origin)) is not None:
            origin = stays
        return origin

    def _known(self, fingerprint: bytes) -> PageRecord | None:
        """What is known of a URL, with what was settled in the open batch."""
        return self._group.get(fingerprint) or self._memory.get(fingerprint)

    def _keep(self, pair: TwinPair) -> None:
        with self._frontier.changes() as batch:
            batch.put(Family.META, self._place(pair), encode(pair))

    def _move(self, pair: TwinPair, *, found: bool) -> None:
        """Keep a pair among those that were found, or no longer."""
        with self._frontier.changes() as batch:
            batch.delete(Family.META, self._place(pair))
            pair.found = found
            self._keep(pair)

    def _place(self, pair: TwinPair) -> bytes:
        return (FOUND if pair.found else _MET) + self._frontier.host_hash(
            " ".join(sorted((pair.goes, pair.stays)))
        )


def pairs_in(environment: Environment, which: bytes = FOUND) -> Iterator[TwinPair]:
    """The pairs that are kept."""
    for _, data in environment.scan(Family.META, prefix=which):
        yield decode(data, TwinPair)


def _key(pair: TwinPair) -> frozenset[str]:
    return frozenset((pair.goes, pair.stays))


def _other(pair: TwinPair, origin: str) -> str:
    """The other name of a pair."""
    return pair.stays if pair.goes == origin else pair.goes


def _left_out(record: PageRecord) -> bool:
    """Whether a URL was not fetched because the other name shows it."""
    return record.state == PageState.DROPPED and record.reason is not None and record.reason.code == Rule.TWIN


def _failed(record: PageRecord) -> bool:
    """Whether a URL was asked for and is given up."""
    return (
        record.state == PageState.DROPPED and record.reason is not None and record.reason.code not in _RULES
    )


def _last(record: PageRecord) -> int:
    """Status of the last visit, if that was a 304 of what it has left as it was; 0 without one."""
    status = record.visits[-1].status if record.visits else 0
    return 200 if status == 304 and record.payload else status


def _shown(record: PageRecord) -> Shown:
    size = next((visit.size for visit in reversed(record.visits) if visit.status == 200), LEAST_BYTES)
    return shown(_last(record), record.content, record.media_type, size)


def _rank(name: str, pages: Iterable[PageRecord]) -> tuple[bool, int, str]:
    """The less, the more it is to stay: a seed's before others, then who was seen first."""
    return min(
        ((page.kind is not LinkKind.SEED, page.number, name) for page in pages), default=(True, 0, name)
    )
