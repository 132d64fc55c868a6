"""Brings back URLs that an earlier scope turned away or dropped, and the scope of now would have."""

from collections.abc import Callable, Iterable

import msgspec

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.rejudging import RULES
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.steering import Steering
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import PageState
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.state.environment import Environment, Family
from gossamer.state.records import PageRecord, decode, decode_page, encode

RECLAIM = b"scope-reclaim"
"""Key in `meta`: how far the walk is."""
MOST_HOSTS = 1_000
"""More than so many are not walked through one by one."""


class Walk(msgspec.Struct, frozen=True, array_like=True):
    """A walk through `pages` that is under way.

    Attributes:
        cursor: it goes on behind this key.
        found: URLs brought back.
        hosts: hashes of the hosts still to be walked through, the first of them now; empty for all hosts.
    """

    cursor: bytes = b""
    found: int = 0
    hosts: tuple[bytes, ...] = ()


class Reclaim:
    """Walks through all pages known, so many at a time; a crash goes on where the walk was.

    Turned-away URLs are known only where `engine.record_rejected` is on.
    """

    def __init__(
        self, environment: Environment, frontier: Frontier, admission: Admission, steering: Steering
    ) -> None:
        self._environment = environment
        self._frontier = frontier
        self._admission = admission
        self._steering = steering
        data = environment.get(Family.META, RECLAIM)
        self._walk = decode(data, Walk) if data else None

    @property
    def pending(self) -> bool:
        """There is something to walk through."""
        return self._walk is not None

    @property
    def found(self) -> int:
        """URLs brought back by the walk that is under way."""
        return self._walk.found if self._walk else 0

    def begin(self, hosts: Iterable[bytes] | None = None) -> None:
        """Walk through all pages, or those of some hosts, from the beginning."""
        walk = self._walk
        if hosts is None or (walk is not None and not walk.hosts):
            self._note(Walk())
            return
        wanted = dict.fromkeys((*hosts, *(walk.hosts if walk is not None else ())))
        if len(wanted) > MOST_HOSTS:
            self._note(Walk())
        elif wanted:
            self._note(Walk(hosts=tuple(wanted)))

    def step(self, over: Callable[[], bool]) -> None:
        """Go on until `over()` says that it has taken long enough, or to the end.

        Not within a batch: what is brought back by one step must be on disk before the next.
        """
        walk = self._walk
        assert walk is not None
        found, start = walk.found, walk.cursor + b"\0" if walk.cursor else b""
        prefix = walk.hosts[0] if walk.hosts else b""
        with self._frontier.changes():
            for key, data in self._environment.scan(Family.PAGES, start, prefix):
                record = decode_page(data)
                if kept_out(record):
                    found += self._bring_back(key, record)
                if over():
                    self._note(Walk(key, found, walk.hosts))
                    return
            self._note(Walk(b"", found, walk.hosts[1:]) if len(walk.hosts) > 1 else None)

    def _note(self, walk: Walk | None) -> None:
        self._walk = walk
        with self._frontier.changes() as batch:
            if walk is None:
                batch.delete(Family.META, RECLAIM)
            else:
                batch.put(Family.META, RECLAIM, encode(walk))

    def _bring_back(self, key: bytes, record: PageRecord) -> bool:
        candidate = turned_away(record)
        if candidate is not None:
            return self._admission.reconsider(candidate)
        candidate = as_found(record)
        if candidate is None or not self._admission.is_in_scope(candidate):
            return False
        self._steering.bring_back(candidate, key, record, Reason(HoldCode.IN_SCOPE_AGAIN))
        return True


def turned_away(record: PageRecord) -> Candidate | None:
    """The candidate of a URL that the scope has not let in; `None` if something else is true of it."""
    return as_found(record) if record.state == PageState.REJECTED and kept_out(record) else None


def kept_out(record: PageRecord) -> bool:
    """Whether it was the scope that has kept a URL out, or another name of its site."""
    ended = record.state in (PageState.REJECTED, PageState.DROPPED)
    return ended and record.reason is not None and record.reason.code in RULES


def as_found(record: PageRecord) -> Candidate | None:
    """The candidate that a URL was when it was found."""
    url = Url.from_serialised(record.url)
    if url is None:
        return None
    return Candidate(url, record.kind, record.depth, record.hops, record.via, element=record.element)
