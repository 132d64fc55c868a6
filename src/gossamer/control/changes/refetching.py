"""Has pages visited again that were asked for: at once in a crawl that runs, at the next start in one that does not."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.assembly.disks import prove_own
from gossamer.config.config import CrawlConfig
from gossamer.config.units import parse_duration
from gossamer.control.changes.refetch_requests import RefetchRequest, keep_requests, pending_requests
from gossamer.control.socket.protocol import invalid
from gossamer.control.views.context import ViewContext
from gossamer.frontier.frontier import Frontier
from gossamer.inspect.url_list import PageFilter, Wanted
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.inspect.why.story import url_of
from gossamer.model.disposition import SETTLED
from gossamer.model.link import ends_at_robots
from gossamer.model.reasons.codes import HoldCode, ProblemCode
from gossamer.model.reasons.reason import Reason, of, text
from gossamer.model.url import Url
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import PageRecord, decode_host, decode_page

MOST_URLS = 10_000
AT_ONCE = 200
"""Pages asked for in one batch."""
UNKNOWN_LISTED = 100


class Refetch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which pages: `urls` (as `why` takes them), or all that are wanted by the filters of `list`.

    `older_than` is a time span (`7d`): what was visited last before that. With `dry_run` they are only counted.
    """

    urls: Annotated[list[Annotated[str, Meta(max_length=8_192)]], Meta(max_length=MOST_URLS)] = []
    match: Annotated[str, Meta(max_length=2_000)] = ""
    status: Annotated[str, Meta(max_length=40)] = ""
    type: Annotated[str, Meta(max_length=200)] = ""
    host: Annotated[str, Meta(max_length=254)] = ""
    under: Annotated[str, Meta(max_length=20_000)] = ""
    older_than: Annotated[str, Meta(max_length=40)] = ""
    gone: bool = False
    dry_run: bool = False

    def wanted(self, now: float) -> Wanted | None:
        """What the filters ask for; `None` without any.

        Raises:
            LiveError: `invalid`, the time span is none.
        """
        try:
            before = now - parse_duration(self.older_than) if self.older_than else 0.0
        except ValueError as error:
            raise invalid((of("older_than", text(str(error))),)) from None
        wanted = Wanted(
            status=self.status, under=self.under, type=self.type, host=self.host, match=self.match,
            before=before, gone=self.gone,
        )  # fmt: skip
        return None if wanted == Wanted() else wanted


class Refetched(msgspec.Struct, frozen=True):
    """What becomes of pages that were asked for.

    Attributes:
        pages: that will be visited again.
        unknown: URLs that were never visited to an end, or are robots files; the first few.
        parked: hosts that an operator has parked, so that their pages wait until they are revived; the first few.
        running: they have their turn now, each after its host's rest; if not, with the next `resume`.
        dry_run: they were only counted.
    """

    pages: int
    unknown: list[str] = []
    parked: list[str] = []
    running: bool = False
    dry_run: bool = False


class Chosen(msgspec.Struct, frozen=True):
    """Pages that somebody wants again.

    Attributes:
        urls: known ones; `unknown`: the others.
        wanted: further ones.
        pages: how many there are in all.
        parked: hosts of theirs that an operator has parked.
    """

    urls: list[str]
    unknown: list[str]
    wanted: Wanted | None
    pages: int
    parked: list[str]

    def told(self, *, running: bool, dry_run: bool = False) -> Refetched:
        """The answer to whoever asked for them; `running`: they have their turn now."""
        return Refetched(self.pages, self.unknown, self.parked, running, dry_run)


def choose(look: ViewContext, params: Refetch) -> Chosen:
    """Go through the pages known and count those that are asked for; some 5 us for each page.

    Raises:
        LiveError: `invalid`, nothing is asked for; `conflict`: nothing was crawled yet.
        ConfigError: a URL or a filter is none.
    """
    wanted = params.wanted(time.time())
    if not params.urls and wanted is None:
        raise invalid((of("urls", Reason(ProblemCode.NOTHING_ASKED)),))
    inspection, places = look.inspection(), look.places()
    if wanted is not None and wanted.under.startswith("/"):
        wanted = msgspec.structs.replace(wanted, under=url_of(inspection, wanted.under).text)
    urls, unknown, prints, hosts = [], [], set(), _SetAside(look.environment)
    for given in dict.fromkeys(params.urls):
        url = places.where(url_of(inspection, given))
        fingerprint = places.fingerprint(url)
        record = places.record(fingerprint)
        if record is None or not _is_page(record):
            unknown.append(url.text)
        elif fingerprint not in prints:
            prints.add(fingerprint)
            urls.append(url.text)
            hosts.meet(fingerprint)
    pages = len(urls)
    if wanted is not None:
        is_wanted = PageFilter(wanted)
        for key, data in look.environment.scan(Family.PAGES):
            record = decode_page(data)
            if _is_page(record) and is_wanted(record) and key not in prints:
                pages += 1
                hosts.meet(key)
    return Chosen(urls, unknown[:UNKNOWN_LISTED], wanted, pages, list(hosts.names))


def ask_offline(look: ViewContext, params: Refetch, who: str) -> Refetched:
    """Write down what a stopped crawl is to visit again when it is resumed.

    Raises:
        LiveError, ConfigError: as in `choose`, or the folder is a copy that cannot be resumed.
        StorageError: it cannot be written down.
    """
    chosen = choose(look, params)
    if not params.dry_run and chosen.pages:
        folder = look.folder.path
        prove_own(folder)
        request = RefetchRequest(time.time(), who, chosen.urls, chosen.wanted, patterns=True)
        keep_requests(folder, [*pending_requests(folder), request])
    return chosen.told(running=False, dry_run=params.dry_run)


class _SetAside:
    """Finds the hosts that an operator has parked among those of pages, which come in the order of their keys."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._last = b""
        self.names: dict[str, None] = {}

    def meet(self, page: bytes) -> None:
        """Look at the host of a page."""
        key = page[:HASH_BYTES]
        if key == self._last or len(self.names) >= UNKNOWN_LISTED:
            return
        self._last = key
        data = self._environment.get(Family.HOSTS, key)
        record = decode_host(data) if data else None
        if record is not None and record.parked and record.parked.has(HoldCode.OPERATOR):
            self.names[record.name] = None


def _is_page(record: PageRecord) -> bool:
    """It was visited to the end. Robots files are asked for when what they said is no longer fresh."""
    return record.state in SETTLED and record.visits_made > 0 and not ends_at_robots(record.hops)


class Refetching:
    """Goes through requests, so many pages at a time; a crash begins the one that it was at again."""

    def __init__(
        self, folder: Path, environment: Environment, frontier: Frontier, config: Callable[[], CrawlConfig]
    ) -> None:
        self._folder = folder
        self._config = config
        self._environment = environment
        self._frontier = frontier
        self._requests: list[RefetchRequest] | None = None
        self._asked = 0  # of the single URLs of the first request
        self._cursor = b""

    @property
    def pending(self) -> bool:
        """There is something to go through."""
        return bool(self._left())

    def begin(self, request: RefetchRequest) -> None:
        """Go through it, too; it is written down before.

        Raises:
            StorageError: the disk refuses.
        """
        requests = [*self._left(), request]
        keep_requests(self._folder, requests)
        self._requests = requests

    def step(self, over: Callable[[], bool]) -> None:
        """Go on until `over()` says that it has taken long enough, or to the end of a request."""
        request = self._left()[0]
        if self._asked < len(request.urls):
            self._ask(request, over)
            if self._asked < len(request.urls):
                return
        if request.wanted is not None and not self._walk(request, PageFilter(request.wanted), over):
            return
        self._asked, self._cursor = 0, b""
        self._requests = self._left()[1:]
        keep_requests(self._folder, self._requests)

    def _left(self) -> list[RefetchRequest]:
        if self._requests is None:
            self._requests = pending_requests(self._folder)
        return self._requests

    def _walk(self, request: RefetchRequest, is_wanted: PageFilter, over: Callable[[], bool]) -> bool:
        """Whether the walk has come to its end."""
        found: list[bytes] = []
        for key, data in self._environment.scan(Family.PAGES, self._cursor + b"\0" if self._cursor else b""):
            record = decode_page(data)
            if _is_page(record) and is_wanted(record) and not _visited_since(record, request.when):
                found.append(key)
            self._cursor = key
            if over() or len(found) >= AT_ONCE:
                self._frontier.refetch(found)
                return False
        self._frontier.refetch(found)
        return True

    def _ask(self, request: RefetchRequest, over: Callable[[], bool]) -> None:
        """For some more of the single URLs of a request."""
        prints = fingerprints_of(self._environment)
        if prints is None:
            self._asked = len(request.urls)
            return
        places = UrlPlaces(self._environment, prints, self._config())
        wanted = []
        for text_ in request.urls[self._asked :]:
            self._asked += 1
            url = Url.from_serialised(text_)
            page = places.fingerprint(url) if url is not None else b""
            record = places.record(page)
            if record is not None and _is_page(record) and not _visited_since(record, request.when):
                wanted.append(page)
            if over() or len(wanted) >= AT_ONCE:
                break
        self._frontier.refetch(wanted)


def _visited_since(record: PageRecord, when: float) -> bool:
    """A visit whose date is yet to come was made before the machine's clock was set back: it may have been earlier."""
    return bool(record.visits) and when <= record.visits[-1].at <= time.time()
