"""Values of the column families, as msgpack arrays: new fields go at the end, with a default."""

from functools import lru_cache, reduce
from typing import TypeVar

import msgspec

from gossamer.model.candidate import Candidate
from gossamer.model.disposition import PageState
from gossamer.model.link import LinkKind
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason, text
from gossamer.model.url import Url
from gossamer.policy.revisit.freshness import Freshness
from gossamer.policy.revisit.gone import Presence, after
from gossamer.policy.revisit.history import presence_of

T = TypeVar("T")
Octets = bytes
"""For records with a field `bytes`, which hides the type where annotations are read late (Python 3.14)."""


class QueueRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A candidate on disk; the URL as text only, because its parts can be split off again."""

    url: str
    kind: LinkKind
    depth: int
    hops: str
    via: str
    attempts: int = 0
    forced: bool = False
    origin: str = ""
    old_reason: str = ""  # of an older version
    ticket: bytes = b""  # in `later`: its place in the queue, to which it returns
    again: bool = False  # in `later`: it was visited, and is due again then
    reason: Reason | None = None  # in `later`: what it waits for
    revisit: bool = False  # it was visited, and has its turn again: `Candidate.again`
    element: str = ""  # `Candidate.element`

    def candidate(self) -> Candidate:
        """The candidate, its URL split again."""
        url = Url.from_serialised(self.url)
        assert url is not None, self.url
        return Candidate(
            url,
            self.kind,
            self.depth,
            self.hops,
            self.via,
            self.attempts,
            self.forced,
            self.origin,
            self.revisit,
            self.element,
        )

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        reason: Reason | None = None,
        ticket: bytes = b"",
        *,
        again: bool = False,
    ) -> "QueueRecord":
        """The record that is stored of `candidate`."""
        return cls(
            candidate.url.text,
            candidate.kind,
            candidate.depth,
            candidate.hops,
            candidate.via,
            candidate.attempts,
            candidate.forced,
            candidate.origin,
            "",
            ticket,
            again,
            reason,
            candidate.again,
            candidate.element,
        )


class HostRecord(msgspec.Struct, array_like=True):
    """What is known of one host queue. Times are microseconds of the crawl clock.

    Invariant: `wake` is the due time in its single `wake` entry, 0 if it has none; it has one if and
    only if `queued + waiting + again + enrolled > 0` and it is not parked; `wake <= max(due, next work)`.
    """

    name: str
    due: int = 0  # not to be visited before
    rest: int = 0  # the rest after its last visit
    old_reason: str = ""  # as `old_parked`: of an older version
    queued: int = 0  # entries in `queue`
    waiting: int = 0  # entries in `later`, those left out that are due again
    later_due: int = 0  # no entry of `later` falls due before; 0 if there is none
    head: Octets = b""  # no entry of `queue` stands before this ticket
    wake: int = 0
    pages: int = 0  # visits that counted as pages
    bytes: int = 0
    visits: int = 0
    failures: int = 0  # host faults in a row
    failing_since: float = 0.0  # crawl-clock seconds of the first of them
    old_parked: str = ""
    crawl_delay: float = -1.0  # the largest of its origins' rules; negative if there is none
    last_visit: int = 0
    branched: bool = False  # its site is seen as branches
    aside: int = 0  # entries in `queue` that stand in branches that are set aside
    again: int = 0  # entries in `later` that were visited and are due again: no work that is left over
    reason: Reason | None = None  # why it rests, beyond politeness
    parked: Reason | None = None  # why it is left alone, if it is
    enrolled: int = 0  # entries in `again`
    heads: Octets = b""  # 6 bytes for each class in `again`: no entry of it stands before (`keys.pack_heads`)
    spread: Octets = (
        b""  # how rates are spread over its pages (`policy.revisit.rates`); none before the first
    )
    trusts: Octets = b""  # 24 bytes for each source that speaks of its pages (`policy.revisit.trust`)
    validators: int = 0  # whether its 304s are believed, a `Validity` of `policy.revisit.validity`
    volatile: Octets = (
        b""  # what of its pages differs at each visit (`policy.change.volatile`), at most 1 KiB
    )
    speculation: Octets = b""  # what came of speculative links (`policy.speculation.belief`), at most 4 KiB
    servers: tuple[Reason, ...] = ()  # with whom it rested for its last visit, each as `reason` would say it
    activity: Octets = b""  # whether it changes more than usual now (`policy.revisit.activity`), 8 bytes

    @property
    def delayed(self) -> int:
        """How many of its entries wait in `later`, for whatever reason."""
        return self.waiting + self.again


class DomainRecord(msgspec.Struct, array_like=True):
    """What is known of one registrable domain; kept only where budgets go by domain."""

    name: str
    admitted: int = 0  # URLs, robots files left out
    linkers: Octets = b""  # other registrable domains that link to it, as `policy.distinct` counts them
    seeded: bool = False  # a seed lies in it, or where one redirects to
    pages: int = 0  # visits that counted as pages
    bytes: int = 0


class VisitRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One visit in the life of a URL."""

    at: float  # wall time
    elapsed: float
    status: int = 0
    fault: str = ""
    detail: str = ""  # what a server or a library said, and older versions
    size: int = 0
    address: str = ""
    said: str = ""  # how it ended by a protocol that has no HTTP status: `ftp 550`
    notes: tuple[Reason, ...] = ()  # what we noticed
    changed: bool | None = None  # it found another text than the visit before; `None` if it could not tell

    @property
    def remarks(self) -> tuple[Reason, ...]:
        """All that is said of it."""
        return (*self.notes, text(self.detail)) if self.detail else self.notes


class PlaceRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a record stands in the archive."""

    file: str
    offset: int
    length: int


class PageRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The life of one URL, as far as `why` and revisits need it (K7)."""

    url: str
    state: PageState
    old_reason: str = ""  # of an older version
    kind: LinkKind = LinkKind.SEED
    depth: int = 0  # K7 layer
    hops: str = ""
    via: str = ""
    number: int = 0  # K7 number: order of admission
    visits_made: int = 0  # how often other pages refer to it (K7) is in `inspect.archive.reference_counts`
    visits: tuple[VisitRecord, ...] = ()  # the last five
    etag: str = ""
    last_modified: str = ""
    expires: float = 0.0  # K7 time to live: fresh until, wall time; 0 if the server did not say
    payload: bytes = b""  # SHA-256
    content: int = 0  # 64-bit digest of the decoded content
    twin: str = ""  # first URL with the same payload
    media_type: str = ""
    charset: str = ""
    title: str = ""
    description: str = ""
    author: str = ""
    language: str = ""
    text_length: int = 0
    references: int = 0  # K7 outgoing references, their number
    weight: int = 0  # K7 weight: the level it was queued at, lower is better
    place: PlaceRecord | None = None
    captured: str = ""  # WARC-Date of the last archived response
    canonical: str = ""  # the URL that the page says is its own, if that is another (RFC 6596)
    reason: Reason | None = None
    history: bytes = b""  # `policy.revisit.history`, packed: it comes again; empty: it does not
    asked: bytes = b""  # ticket under which it was asked for again by hand, until that visit is settled
    gone: int = 0  # wall time of the first of two or more 404 or 410 in a row; 0: it is not gone
    changed: int = 0  # wall time of the visit that last found another text
    element: str = ""  # where a speculative link stood

    @property
    def presence(self) -> Presence:
        """Whether it is there, by all visits; what does not come again by itself may have been asked for again."""
        if self.history:
            return presence_of(self.history)
        before = Presence.GONE if self.gone else Presence.NEVER
        return reduce(after, (visit.status for visit in self.visits), before)


class DigestRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first page that had some payload: what a revisit record refers to."""

    url: str
    date: str  # WARC-Date
    record_id: str


class SharedDigestRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first page of a whole cluster that had some content.

    Attributes:
        url: of the page.
        payload: SHA-256 of its archived payload; `date` and `record_id` as in `DigestRecord`. All three are
            empty if a revisit may not refer to it.
    """

    url: str
    payload: bytes = b""
    date: str = ""
    record_id: str = ""


class RobotsRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of one origin's robots file.

    `state` is `rules`, `open` (no robots file: everything is allowed), `hold` (unreachable: nothing is
    allowed before `until`), `pending` (redirected to another host, whose turn must come), `closed` (its
    address is forbidden, so nothing of the origin can be visited), or `down` (a mirror that fails: until `until` what
    waits there is asked of others).
    """

    state: str
    until: int  # expiry, or end of the hold; microseconds of the crawl clock
    rules: bytes = b""  # policy's rules, msgpack
    failures: int = 0
    old_detail: str = ""  # of an older version
    source: str = ""  # URL the rules came from, at the end of redirects
    etag: str = ""
    last_modified: str = ""
    reason: Reason | None = None


VISITED = b"visited"
"""Key in `meta` of the `VisitedRecord`; there is none while the table is exact."""


class VisitedRecord(msgspec.Struct, array_like=True):
    """The visited table in figures; all are 0 for an exact one."""

    table: str = "exact"
    urls: int = 0  # in it
    capacity: int = 0  # URLs that it was made for
    stated: float = 0.0  # share of false positives at capacity
    bits: int = 0
    hashes: int = 0
    probes: int = 0  # hashes never admitted that were asked for
    false_positives: int = 0  # those that seemed admitted
    total: int = 0  # sum of the hashes in it modulo 2^64


REVISIT = b"revisit"
"""Key in `meta` of the `RevisitRecord`; there is none while nothing was ever visited again."""


class RevisitRecord(msgspec.Struct, array_like=True):
    """How visits again fare, committed with every group that has one."""

    on: bool = False  # when the last session began, or it was changed
    every: bytes = (
        b""  # digest of the fixed intervals and weights that all pages were put in their classes by
    )
    cursor: bytes | None = None  # behind which page the walk goes on that enrols all that is there
    level: float = 0.0  # `policy.revisit.threshold`
    corrected: float = 0.0  # wall time; 0: there is no threshold yet
    fair: float = 0.0  # seconds in which the visits of then would reach each page once; the level is for that
    spread: bytes = b""  # over the pages of the crawl, `policy.revisit.rates`
    visits: int = 0  # that said whether a page had changed, and those below
    not_modified: int = 0  # 304
    same_payload: int = 0  # 200, with the payload of the last capture
    same_text: int = 0  # another payload that says the same
    changed: int = 0
    announced: int = 0  # of those changed, somebody had said so
    gone: int = 0  # pages found gone
    returned: int = 0  # that were gone, and are there again
    saved: int = 0  # bytes of bodies that a 304 made unnecessary
    freshness: Freshness = msgspec.field(default_factory=Freshness)  # what was predicted, and seen
    rate: float = 0.0  # visits a second that may be made here; of a cluster, this agent's part


COUNTERS = b"counters"
"""Key in `meta` of the `Counters`."""
CLOCK = b"clock"
"""Key in `meta` of the crawl's clock."""
ENDED = b"ended"
"""Key in `meta` of why the last session ended, if it ended well."""
NAMES = b"names"
"""Key in `meta` of the `NameStatistics`."""
SCOPE_HOSTS = b"scope-hosts"
"""Key in `meta` of the places that joined the scope on the way."""
SHARED_OUT = b"shared-out"
"""Key in `meta` of the mirrors among which URLs are shared out, as JSON; there is none without them."""
SECRET = b"secret"
"""Key in `meta` of what fingerprints are keyed with."""


class Counters(msgspec.Struct, array_like=True):
    """Sums over the whole crawl, committed with every batch that the frontier makes."""

    sequence: int = 0  # next arrival number
    admitted: int = 0
    rejected: int = 0
    queued: int = 0
    waiting: int = 0  # entries in `later`, those left out that are due again
    pages: int = 0
    duplicates: int = 0
    visits: int = 0
    failed: int = 0
    dropped: int = 0
    refused: int = 0
    bytes: int = 0  # body bytes received
    archived: int = 0  # bytes of archive written
    hosts: int = 0
    hosts_parked: int = 0
    seconds: float = 0.0  # time spent crawling, over all sessions
    statuses: dict[str, int] = {}
    faults: dict[str, int] = {}
    media_types: dict[str, int] = {}
    aside: int = 0  # entries in `queue`, counted in `queued`, that are set aside
    turned_away: dict[str, int] = {}  # `rejected` by the rule that said so
    canonicals: int = 0  # pages that say that their own URL is another
    broken: int = 0  # URLs that somebody links to and that were given up: status 4xx or 5xx, or no answer
    raised: dict[str, int] = {}  # failures of code that was handed in, by its port and name
    again: int = 0  # entries in `later` that were visited and are due again
    enrolled: int = 0  # pages in `again`, that come again by what a visit is worth
    speculative: dict[str, tuple[int, int]] = {}  # visits to such links that brought something, and did not
    fields: dict[str, int] = {}  # pages on which extractors found each of them


class ClockRecord(msgspec.Struct, frozen=True, array_like=True):
    """What the crawl clock said when the last group was committed, to carry it over a restart."""

    crawl: float
    boot_id: str
    boottime: float


_PAGES = 512
"""Records of pages that are remembered, some 2 KB each."""

_encoder = msgspec.msgpack.Encoder()
encode = _encoder.encode
"""msgpack of any record."""

_queue = msgspec.msgpack.Decoder(QueueRecord).decode
_host = msgspec.msgpack.Decoder(HostRecord).decode
_page = msgspec.msgpack.Decoder(PageRecord).decode
_robots = msgspec.msgpack.Decoder(RobotsRecord).decode
_reason = msgspec.msgpack.Decoder(Reason).decode
decode_domain = msgspec.msgpack.Decoder(DomainRecord).decode
decode_digest = msgspec.msgpack.Decoder(DigestRecord).decode
decode_shared_digest = msgspec.msgpack.Decoder(SharedDigestRecord).decode


_Told = TypeVar("_Told", QueueRecord, PageRecord)


def _told(record: _Told) -> _Told:
    """With the reason as a value that an older version wrote as a sentence."""
    if not record.old_reason:
        return record
    return msgspec.structs.replace(record, old_reason="", reason=told_before(record.old_reason))


def decode_queue(data: bytes) -> QueueRecord:
    """A candidate in `queue` or `later`."""
    return _told(_queue(data))


def decode_host(data: bytes) -> HostRecord:
    """What is known of a host queue."""
    record = _host(data)
    if record.old_reason:
        record.reason, record.old_reason = told_before(record.old_reason), ""
    if record.old_parked:
        record.parked, record.old_parked = told_before(record.old_parked), ""
    return record


def decode_page(data: bytes) -> PageRecord:
    """The life of a URL."""
    return _told(_page(data))


recent_page = lru_cache(maxsize=_PAGES)(decode_page)
"""The same, of a page whose turn has come: it is asked for when it is lent, made ready and settled, as it stood."""


def decode_robots(data: bytes) -> RobotsRecord:
    """What is known of a robots file."""
    record = _robots(data)
    if not record.old_detail:
        return record
    return msgspec.structs.replace(record, old_detail="", reason=told_before(record.old_detail))


def decode_reason(data: bytes) -> Reason | None:
    """A reason that stands alone, `None` if there is none; an older version wrote a sentence."""
    if not data:
        return None
    return _reason(data) if data[0] & 0x80 else told_before(data.decode())


def decode(data: bytes, record: type[T]) -> T:
    """A record of any type, for the ones that are read rarely."""
    return msgspec.msgpack.decode(data, type=record)
