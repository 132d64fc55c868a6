"""Every extension point, on one page. The smallest are plain callables.

Implementations are chosen in `assembly/build.py`, orderings in `policy/ordering/orders.py`, extractors in
`extract/registry.py`, name caches in `assembly/name_resolution.py`. A port is used by composition;
subclassing our classes is not an interface. Every one can be handed to `gossamer.crawl` by its name in
`assembly/extensions.py`. Installed packages bring them too (`assembly/plugins.py`): an ordering is named by
`engine.order`, extractors need no naming, all others are named in `config/plugin_config.py`.
"""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from gossamer.model.candidate import Candidate
from gossamer.model.document import Document, Findings
from gossamer.model.events import Event, Visited
from gossamer.model.lease import Lease
from gossamer.model.link import Link
from gossamer.model.name import Answer, CacheCensus
from gossamer.model.outcome import Outcome
from gossamer.model.page import Page
from gossamer.model.reasons.reason import Reason

W = TypeVar("W")
G = TypeVar("G")

ScopeRule = Callable[[Candidate], bool | None]
"""`True` admits, `False` rejects, `None` has no opinion; of an ordered list the last opinion wins.
One that raises says no; a warning names it once, the report counts how often."""

Observer = Callable[[Event], None]
"""Hears every event in order, on the event loop; must return at once. One that raises is removed, named."""

Sink = Callable[[Visited], Awaitable[None]]
"""Takes every settled visit, its body still readable; settlement waits for it, so a slow one slows it.

It is called after the commit, and so misses what is committed at the moment of a kill. What must miss nothing
follows the archive instead (`archive/follower.py`), with its mark in the same transaction as its rows.
"""

AddressRule = Callable[[str, str], bool]
"""(host, numeric address) -> may we connect there? Those handed in forbid only. One that raises says no."""


@runtime_checkable
class BulkSink(Protocol):
    """A `Sink` that gathers visits and sends them together.

    `Visited.record_id` is a stable name for rows and documents, so that sending them twice does no harm.
    """

    async def __call__(self, visit: Visited) -> None:
        """Take a visit; its body is readable until `flush` has returned."""

    async def flush(self) -> None:
        """The visits of one commit have been given, 64 at most: send what was gathered, or gather on."""

    async def close(self) -> None:
        """The crawl has ended, well or not: send the rest. Nothing is given afterwards."""


class ProtocolModule(Protocol):
    """Fetches URLs of schemes that `model.url` knows (W2). The web's failures are answers; only our own bugs raise.

    Modules share the places for connections and the limits of speed: what wraps them sees to that.
    """

    @property
    def schemes(self) -> frozenset[str]:
        """Schemes served, e.g. `{"http", "https"}`."""

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once. Follows no redirect, retries nothing."""

    async def close(self) -> None:
        """Give up what is open; nothing is asked afterwards."""


class Extractor(Protocol):
    """Reads documents of some media types (W9). Pure, bounded in time and memory by the content's length.

    One that cannot promise this, because a library does the reading, has an attribute `isolated = True`. It
    is pickled, and called in a worker process that is killed after 10 s, has 1 GiB of memory, and answers
    with 64 MiB at most (`extract/isolation`); what it finds has plain values, and a document that it fails
    on is marked in the page's `problems`. One that is isolated and says `whole = True` reads nothing of a
    part: where the document is longer than `extract.max_content`, it is given the file that holds all of it.
    """

    @property
    def name(self) -> str:
        """Its name, for logs and configuration."""

    @property
    def media_types(self) -> frozenset[str]:
        """Essences served, lower case, e.g. `{"text/html"}`."""

    def extract(self, document: Document) -> Findings:
        """Say what the document holds. If it raises, the page is kept; warned of and counted as a rule."""


class OrderingPolicy(Protocol):
    """Decides the order within a host's queue and, by the same number, among ready hosts."""

    @property
    def name(self) -> str:
        """Its name, for logs and configuration."""

    def level(self, candidate: Candidate) -> int:
        """0 (first, robots files only) to `ordering.LAST_LEVEL`; equal levels go by arrival."""


@runtime_checkable
class RetunableOrdering(Protocol):
    """An ordering whose settings may change while the crawl runs."""

    def retune(self, config: Any) -> None:
        """Go by other settings from now on: a struct like the one that it was made of."""


class LevelMeaning(NamedTuple):
    """What a level counts (`depth`, `step`), its number, levels of one number following each other; the depth."""

    what: str
    number: int
    depth: int


@runtime_checkable
class OrderingWithMeanings(Protocol):
    """An ordering that can say what its levels mean; of others the bare number is shown."""

    def meaning(self, level: int) -> LevelMeaning:
        """Of a level that `level` gave, robots files' excepted."""


@runtime_checkable
class LinkOrdering(OrderingPolicy, Protocol[W, G]):
    """An ordering by what links say of a URL (K5, W16): what it is worth changes while it waits.

    The frontier keeps a worth `W` (a msgspec struct) for each admitted URL on disk. A page that is settled
    makes one and the same gift `G` to each of its links; gifts to URLs known before are merged in a bounded
    buffer and given in sorted batches. What the policy holds beside is `state()`, committed with every batch.
    """

    @property
    def worth(self) -> type[W]:
        """What is kept of a URL."""

    def restore(self, state: bytes) -> None:
        """Go on from `state`; gifts that were under way then are lost to their receivers."""

    def state(self) -> bytes:
        """What else must survive a restart, a few bytes."""

    def admitted(self, candidate: Candidate, gift: G | None) -> W:
        """The worth of a URL that has just become known; seeds come without a gift."""

    def waiting_level(self, candidate: Candidate, worth: W) -> int:
        """Its place while it waits; as `level`, which is for what has no worth (robots files)."""

    def spread(self, finder: Candidate, worth: W, targets: int, links: int) -> tuple[W, G]:
        """The gift of a fetched page to each of `targets` links; `links` (`>= targets`) are still to come."""

    def closed(self, worth: W) -> W:
        """The page is settled for good: what it still holds no longer belongs to it."""

    def merge(self, one: G, other: G) -> G:
        """Two gifts to one URL as one."""

    def give(self, worth: W, gift: G) -> W:
        """The worth after the gift has arrived."""

    def lose(self, gift: G) -> None:
        """Nobody is there to receive it."""

    def explain(self, candidate: Candidate, worth: W) -> dict[str, Reason | str]:
        """The parts of the worth by name, for `why`."""


@runtime_checkable
class MentionOrdering(LinkOrdering[W, G], Protocol[W, G]):
    """A `LinkOrdering` whose gifts differ from link to link (K18: the text of a link, its address).

    `spread` is then asked only where nothing was read (redirects).
    """

    def appraise(self, finder: Candidate, worth: W, page: Page) -> Callable[[Link], G]:
        """Called once for each page that is settled with links or without; says the gift for each link.

        The page's worth stays as it is. What is returned is asked for links of that page only, at once.
        """

    def figures(self) -> dict[str, float]:
        """For report and status: what the policy counts, by name."""


@runtime_checkable
class TravellingOrdering(LinkOrdering[W, G], Protocol[W, G]):
    """A `LinkOrdering` whose gifts reach pages of other agents of a cluster; others' are lost on the way."""

    def pack(self, gift: G) -> bytes:
        """The gift leaves for another agent."""

    def unpack(self, data: bytes) -> G:
        """A gift of another agent has arrived here, and is on its way to its page."""


@runtime_checkable
class ImportanceOrdering(LinkOrdering[W, G], Protocol[W, G]):
    """A `LinkOrdering` that also says how much the freshness of a page is worth, where pages are visited again."""

    def importance(self, worth: W) -> float:
        """What a page is worth, as a multiple of the mean page."""


class RevisitPolicy(Protocol):
    """Says when a URL that was visited is due again; without one nothing is.

    Asked once for each visit that ended well or with a definite no, robots files left out. What it says is
    settled with the visit, so neither a kill nor an end of the crawl forgets it. A crawl goes on as long as
    something falls due within `give_up_after`; what is due later is not left over. One that raises says no.
    """

    def again(self, lease: Lease, outcome: Outcome, page: Page | None, visits: int) -> float | None:
        """Seconds from now until it is due again, `None` for never; `visits`: of it, this one included."""


class Resolver(Protocol):
    """Answers names. Never raises for a failing network."""

    async def resolve(self, name: str) -> Answer:
        """Addresses of `name`: a host name, or an IPv4 or bracketed IPv6 literal."""

    async def close(self) -> None:
        """Give up what is open; nothing is asked afterwards."""


class NameCache(Protocol):
    """Keeps answers for their time to live (W12). `now` is wall time in seconds.

    Never answers with the addresses of another name. What is full or damaged forgets, it does not raise. An answer
    that comes back without its `aliases` is asked for again by a crawl that goes by them.
    """

    def get(self, name: str, now: float) -> Answer | None:
        """The answer, if one is kept that has not expired."""

    def stale(self, name: str, now: float) -> Answer | None:
        """An answer with addresses that has expired but is still kept, for when nobody answers (RFC 8767)."""

    def put(self, answer: Answer, now: float) -> None:
        """Keep the answer until `now + answer.ttl`."""

    def census(self) -> CacheCensus:
        """What is held now; may walk over everything."""

    def close(self) -> None:
        """Let go of files; nothing may be asked afterwards."""
