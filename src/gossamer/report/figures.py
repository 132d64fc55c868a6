"""The figures of a report, for any form of it: page, console, API.

Sizes are bytes, times seconds, moments seconds since 1970. Names, URLs and titles are as they came from the
network: who shows them escapes them. All lists are bounded, however large the crawl is.
"""

import msgspec

from gossamer.assembly.report import Summary
from gossamer.assembly.twins import TwinSites
from gossamer.inspect.freshness import CrawlFreshness
from gossamer.inspect.gone import GonePage, LeftHost
from gossamer.inspect.hosts import HostItem
from gossamer.inspect.traps import BranchLine
from gossamer.model.reasons.reason import Reason


class Quantiles(msgspec.Struct, frozen=True):
    """How amounts are spread: the middle one, what nine of ten and 99 of 100 stay below, the largest.

    All but `largest` are read from a histogram and may be 5% off.
    """

    median: float = 0.0
    nine_tenths: float = 0.0
    hundredth: float = 0.0
    largest: float = 0.0


class Histogram(msgspec.Struct, frozen=True):
    """Counts of amounts from one edge up to the next; the last is of the last edge and above.

    `zero` counts what is 0, which no edge is below.
    """

    edges: list[float] = []
    counts: list[int] = []
    zero: int = 0
    quantiles: Quantiles = Quantiles()


class Amount(msgspec.Struct, frozen=True):
    """Pages of one kind, and their bytes."""

    name: str
    pages: int
    bytes: int = 0


class Timeline(msgspec.Struct, frozen=True):
    """Sums over intervals of `width` seconds from `start` on, a number for each in every list.

    Visits are told apart by how they ended: `ok` (2xx), `moved` (3xx), `client_errors` (4xx),
    `server_errors` (5xx), `failed` (no response), `refused` (by a rule of ours or of the host, so not made).
    `errors` are the last but this, robots files that do not exist left out.
    """

    start: float = 0.0
    width: float = 1.0
    pages: list[int] = []
    bytes: list[int] = []
    duplicates: list[int] = []
    ok: list[int] = []
    moved: list[int] = []
    client_errors: list[int] = []
    server_errors: list[int] = []
    failed: list[int] = []
    refused: list[int] = []
    errors: list[int] = []


class PageLine(msgspec.Struct, frozen=True):
    """One visit that is worth showing."""

    url: str
    status: int
    size: int
    seconds: float
    media_type: str
    title: str = ""


class FailureLine(msgspec.Struct, frozen=True):
    """What failed in one way: `status 404`, a fault, `refused: robots`; with the first example."""

    kind: str
    visits: int
    url: str
    detail: Reason | None


class HostFigures(msgspec.Struct, frozen=True):
    """One host; `name` is its queue's.

    Attributes:
        gap: the tightest time from the end of a visit to the beginning of the next, negative if they
            overlapped; `None` if no two visits can be compared.
        wanted: the rest that was due before that gap ended, by the settings as they are now.
        crawl_delay: what its robots files ask for; 0 if nothing.
    """

    name: str
    visits: int
    errors: int = 0
    mean_seconds: float = 0.0
    longest_seconds: float = 0.0
    gap: float | None = None
    wanted: float = 0.0
    crawl_delay: float = 0.0


class Hosts(msgspec.Struct, frozen=True):
    """The hosts of the crawl, from its state.

    Attributes:
        by_state: hosts that are ready, resting, waiting, parked or empty.
        most_pages: the largest.
        parked: some of those that are left alone, with the reason.
        pages: how many pages hosts have.
        crawl_delays: hosts whose robots files ask for a delay.
        robots: origins by what is known of their robots files.
        twins: names that show one site.
    """

    by_state: dict[str, int] = {}
    most_pages: list[HostItem] = []
    parked: list[HostItem] = []
    pages: Histogram = Histogram()
    crawl_delays: int = 0
    robots: dict[str, int] = {}
    twins: list[TwinSites] = []


class Politeness(msgspec.Struct, frozen=True):
    """Whether hosts were left in peace.

    Gaps go from the end of a visit to the beginning of the next one of that host. They are compared
    with the rest that follows from the settings as they are now: minimum delay, and the factor times the
    response time.

    Attributes:
        hosts: that were visited at least twice in a row, so that there is a gap.
        gaps: measured.
        short: gaps shorter than the rest that was due, by more than the log's precision.
        short_hosts: hosts with any.
        unmeasured: hosts whose last visit was forgotten because so many others followed.
        unmeasured_above: gaps may be missing that are longer than this; 0 if none is missing.
        smallest: how the smallest gaps of the hosts are spread.
        closest: the hosts whose gap was closest to the rest that was due, or below it.
        below_crawl_delay: hosts with a gap between pages below what their robots files ask for now.
        hurried: the worst of these; their `wanted` is what was asked for.
    """

    hosts: int = 0
    gaps: int = 0
    short: int = 0
    short_hosts: int = 0
    unmeasured: int = 0
    unmeasured_above: float = 0.0
    smallest: Histogram = Histogram()
    closest: list[HostFigures] = []
    below_crawl_delay: int = 0
    hurried: list[HostFigures] = []


class Repeated(msgspec.Struct, frozen=True):
    """A page that was met again at other addresses, at least `copies` times."""

    url: str
    copies: int


class Duplicates(msgspec.Struct, frozen=True):
    """Responses whose payload was archived before."""

    visits: int = 0
    bytes: int = 0
    most: list[Repeated] = []


class NearDuplicates(msgspec.Struct, frozen=True):
    """Pages whose main text is nearly that of others, as the index of near-duplicates has them.

    Attributes:
        captures: in the index; 0 without one.
        pages: that resemble another.
        clusters: groups of them.
        largest: the first page of the largest clusters, and how many pages each has.
    """

    captures: int = 0
    pages: int = 0
    clusters: int = 0
    largest: list[Repeated] = []


class Languages(msgspec.Struct, frozen=True):
    """Languages that pages say they are written in; `unknown` say nothing.

    If `read` is less than `pages`, the amounts are estimates from so many pages drawn evenly.
    """

    pages: int = 0
    read: int = 0
    unknown: int = 0
    most: list[Amount] = []


class Gone(msgspec.Struct, frozen=True):
    """What is not there any more: the first hosts that have left, and the first pages of other hosts."""

    hosts: list[LeftHost] = []
    pages: list[GonePage] = []


class Traps(msgspec.Struct, frozen=True):
    """Branches by state (`aside`, `released`, `open`), URLs set aside, and those that were."""

    by_state: dict[str, int] = {}
    urls: int = 0
    worst: list[BranchLine] = []


class Names(msgspec.Struct, frozen=True):
    """What became of questions for names; `slowest` in seconds, `failing` with how often at least."""

    sums: dict[str, int] = {}
    failures: dict[str, int] = {}
    latencies: Histogram = Histogram()
    slowest: list[tuple[str, float]] = []
    failing: list[tuple[str, int]] = []


class LogFigures(msgspec.Struct, frozen=True):
    """What the crawl log tells.

    Attributes:
        visits: lines read.
        damaged: lines that could not be read.
        first, last: moments of the first and of the last visit.
        endings: visits by what became of the URL: done, retry, dropped, parked.
        kinds: pages by how their URLs were found.
        depth: pages by links from a seed; the last counts all that are deeper, too.
        types: pages by media type, with their bytes.
        sizes: of responses.
        seconds: of responses.
        failures: the most frequent first; robots files that do not exist are none.
        most_errors: hosts with the most failed visits and error statuses.
        slowest_hosts: by the mean time of their responses.
    """

    visits: int = 0
    damaged: int = 0
    first: float = 0.0
    last: float = 0.0
    endings: dict[str, int] = {}
    kinds: dict[str, int] = {}
    depth: list[int] = []
    types: list[Amount] = []
    sizes: Histogram = Histogram()
    seconds: Histogram = Histogram()
    timeline: Timeline = Timeline()
    failures: list[FailureLine] = []
    duplicates: Duplicates = Duplicates()
    largest: list[PageLine] = []
    slowest: list[PageLine] = []
    most_errors: list[HostFigures] = []
    slowest_hosts: list[HostFigures] = []
    politeness: Politeness = Politeness()


class Settings(msgspec.Struct, frozen=True):
    """The settings that say most about a crawl; none of them is secret."""

    order: str
    scope: str
    workers: int
    min_delay: float
    factor: float
    max_delay: float
    obey_robots: bool
    visits_per_host: int
    queue_key: str


class Figures(msgspec.Struct, frozen=True):
    """All of a report.

    Attributes:
        made: when.
        name: of the crawl's folder.
        seeds: the first few.
        ended: why the last session ended; `None` if the crawl is running, or ended without a word.
        sums: as `gossamer status` tells them; visits may have been made since the log was read.
        near_duplicates: from the index that `gossamer index` makes.
        freshness, gone: of a crawl that visits pages again.
    """

    made: float
    name: str
    seeds: list[str]
    seed_count: int
    ended: Reason | None
    settings: Settings
    sums: Summary
    log: LogFigures
    hosts: Hosts
    languages: Languages
    traps: Traps
    names: Names
    near_duplicates: NearDuplicates = NearDuplicates()
    freshness: CrawlFreshness = CrawlFreshness()
    gone: Gone = Gone()
