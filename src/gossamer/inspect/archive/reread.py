"""Reads one archived page again as the crawl read it, for people: its text, fields, and links both ways."""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from gossamer.assembly.plugins import load_extractors
from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.fields.extractor import FieldsExtractor, read_groups
from gossamer.extract.media_type import declared_type, media_type
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.inspect.archive.big_sort import read_lines
from gossamer.inspect.archive.captures import Capture
from gossamer.inspect.archive.lookup import Indexed, read_back
from gossamer.inspect.archive.reference_counts import references
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Exchange
from gossamer.model.link import LinkKind, listed
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.robots.file import PRODUCT_TOKEN
from gossamer.policy.visits.retry import redirect_location
from gossamer.state.whole_files import version_of

LONGEST_TEXT = 100_000
"""Characters of a text that are given; it says if there was more."""
LONGEST_FIELD = 2_000
MOST_LINKS = 500
MOST_REFERRERS = 200
REFERRER_SECONDS = 3.0
_TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "image/svg+xml")


class ReadText(msgspec.Struct, frozen=True):
    """A document in words, with what derived them.

    Attributes:
        text: at most `LONGEST_TEXT` characters; empty of what is no text.
        made_by: `source`: the document itself, decoded; otherwise the extractor and its version.
        cut: there was more.
        marks: why it is less than the whole document, a word each.
        markdown: the same with headings, lists and links; empty if nothing derived it.
        metadata: what the document says about itself, by name.
    """

    text: str = ""
    made_by: str = "source"
    cut: bool = False
    marks: Sequence[str] = ()
    markdown: str = ""
    metadata: dict[str, str] = {}


class LinkOut(msgspec.Struct, frozen=True):
    """A link of the page; `state` is what became of the URL, empty if it was not visited nor turned away."""

    url: str
    kind: str
    nofollow: bool
    text: str
    state: str
    status: int


class Referrer(msgspec.Struct, frozen=True):
    """A page that mentions this one."""

    url: str
    kind: str
    nofollow: bool


class Referrers(msgspec.Struct, frozen=True):
    """Pages that refer to one, from the link graph in the crawl's folder.

    Attributes:
        pages: how many others; `None` before the graph was made (`gossamer export links`).
        as_of: when the graph was made, wall time.
        listed: the first of them.
        whole: all of the graph was looked through, and `listed` holds all.
        cut: why it is not whole: `number` (more than are listed), `time` (looking for them took too long), `damaged`
            (the graph cannot be read); empty if it is.
        seconds: looked for, where it was cut by `time`.
    """

    pages: int | None = None
    as_of: float = 0.0
    listed: Sequence[Referrer] = ()
    whole: bool = False
    cut: str = ""
    seconds: float = 0.0


class ReadAgain(msgspec.Struct, frozen=True):
    """One capture of a page, read again.

    Attributes:
        capture: by the index.
        unmodified: the server said that nothing had changed, so there is no content.
        redirect: where it leads, if it does.
        type, charset: as the crawl decides them.
        head: the response's head as it came, or the fields of another protocol's record.
        size: bytes of the content, content codings undone.
        truncated: the archive does not hold all of it.
        document: its text.
        fields: what extractors added, by name; values in words.
        links: the first of them, in the page's order.
        links_found: how many there are.
        referrers: the other way.
        problems: what could not be read, one line each.
    """

    capture: Indexed
    unmodified: bool
    redirect: str
    type: str
    charset: str
    head: str
    size: int
    truncated: bool
    document: ReadText
    fields: dict[str, str]
    links: Sequence[LinkOut]
    links_found: int
    referrers: Referrers
    problems: Sequence[str]


TextOf = Callable[[Exchange, Decoded], ReadText]
"""The text of a document, from its response and its content."""


def read_again(inspection: Inspection, one: Indexed, text_of: TextOf | None = None) -> ReadAgain:
    """Read a capture again; its body, as archived and decoded, is in memory.

    Args:
        inspection: of the crawl.
        one: which capture.
        text_of: what gives the text of a document; without it the source is its text.

    Raises:
        StorageError: the archive is damaged there.
    """
    capture = read_back(inspection, one)
    exchange = capture.exchange
    decoded = decode_content(exchange.body, exchange.headers, inspection.config.fetch)
    problems: list[str] = []
    if not isinstance(decoded, Decoded):
        problems.append(str(decoded.detail))
        decoded = Decoded(b"")
    elif exchange.is_part:
        decoded = msgspec.structs.replace(decoded, truncated=True)
    content, declared = decoded.content, declared_type(exchange.headers)
    page = _read(inspection, capture, content)
    kind = page.media_type or media_type(declared, content)
    charset = page.charset or charset_of(content, declared, kind, exchange.url.host.rpartition(".")[2])
    links = list(_links(inspection, capture, page))
    return ReadAgain(
        capture=one,
        unmodified=capture.unmodified,
        redirect=redirect_location(one.status, exchange.headers) or "",
        type=kind,
        charset=charset if _is_text(kind) else "",
        head=_head(capture),
        size=len(content),
        truncated=decoded.truncated,
        document=_text(text_of, exchange, decoded, (kind, charset)),
        fields={name: _in_words(value) for name, value in page.fields.items()},
        links=links[:MOST_LINKS],
        links_found=len(page.links) or len(links),
        referrers=referrers(inspection, exchange.url),
        problems=[*problems, *map(str, page.problems)],
    )


def _text(
    text_of: TextOf | None, exchange: Exchange, decoded: Decoded, encoding: tuple[str, str]
) -> ReadText:
    """What a document says; where nothing is found, its source."""
    found = text_of(exchange, decoded) if text_of is not None and decoded.content else ReadText()
    if found.text:
        return found
    source = source_text(decoded.content, *encoding)
    return msgspec.structs.replace(source, marks=found.marks, metadata=found.metadata)


def source_text(content: bytes, kind: str, charset: str) -> ReadText:
    """The source of a document as text, if it is some."""
    if not _is_text(kind):
        return ReadText()
    # A character has up to four bytes, and a page may begin with blanks.
    part = content[: 4 * LONGEST_TEXT]
    text = decode(part, charset)
    return ReadText(text[:LONGEST_TEXT], cut=len(part) < len(content) or len(text) > LONGEST_TEXT)


def referrers(inspection: Inspection, url: Url) -> Referrers:
    """Who refers to a URL, as far as that is found within `REFERRER_SECONDS`."""
    canonical = inspection.config.document_name(url)
    count = references(inspection.links, canonical)
    if count is None:
        return Referrers()
    if not count.pages:
        return Referrers(0, count.at, whole=True)
    since = time.monotonic()
    while True:
        graph = version_of(inspection.links)
        try:
            found, cut = _found(inspection, canonical.encode(), since)
        except (StorageError, ValueError):
            found, cut = [], "damaged"
        if graph == version_of(inspection.links):  # else another took its place, with other numbers
            break
    seconds = round(time.monotonic() - since, 1) if cut == "time" else 0.0
    return Referrers(count.pages, count.at, found, not cut, cut, seconds)


def _found(inspection: Inspection, canonical: bytes, since: float) -> tuple[list[Referrer], str]:
    """Pages of the graph that mention a URL: its number, the edges to it, the names of their pages; and why there
    may be more."""
    until = since + REFERRER_SECONDS
    own = b""
    for line in _until(read_lines(inspection.links / "urls.tsv.gz"), until):
        number, url, _ = line.split(b"\t")
        if url == canonical:
            own = number
            break
    edges: dict[bytes, tuple[str, bool]] = {}
    full = late = False
    if own:
        for line in _until(read_lines(inspection.links / "page_edges.tsv.gz"), until):
            page, target, kind, nofollow = line.split(b"\t")
            if target == own and page != own:
                full = len(edges) >= MOST_REFERRERS
                if full:
                    break
                edges.setdefault(page, (kind.decode(), bool(nofollow)))
        late = time.monotonic() >= until
    found = []
    # The names get some time of their own: without them the edges are worth nothing.
    for line in _until(read_lines(inspection.links / "pages.tsv.gz"), until + REFERRER_SECONDS):
        number, url, _ = line.split(b"\t", 2)
        if number in edges:
            found.append(Referrer(url.decode(), *edges.pop(number)))
            if not edges:
                break
    if full:
        return found, "number"
    return found, "" if own and not late and not edges else "time"


def _until(lines: Iterator[bytes], until: float) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        yield line
        if not number % 4096 and time.monotonic() >= until:
            return


def _read(inspection: Inspection, capture: Capture, content: bytes) -> Page:
    """The page as the crawl read it, with the words of its links; an error's page is not read."""
    exchange = capture.exchange
    if not exchange.is_readable:
        return Page(exchange.url)
    config = inspection.config
    fields = [FieldsExtractor(read_groups(config.fields))] if config.fields else []
    extract = msgspec.structs.replace(config.extract, anchor_text=True)
    reader = Reader(extract, PRODUCT_TOKEN, [*builtin_extractors(extract), *fields, *load_extractors()])
    try:
        return reader.read(exchange, content, listed=listed(capture.hops))
    finally:
        reader.close()


def _links(inspection: Inspection, capture: Capture, page: Page) -> Iterator[LinkOut]:
    """Links with what became of each; the first `MOST_LINKS`."""
    prints = fingerprints_of(inspection.environment)
    places = UrlPlaces(inspection.environment, prints, inspection.config) if prints is not None else None
    exchange = capture.exchange
    location = redirect_location(exchange.status, exchange.headers)
    target = Url.parse(location, exchange.url.text) if location is not None else None
    all_links = [(target, LinkKind.REDIRECT, False, "")] if target is not None else []
    all_links += [(one.url, one.kind, one.nofollow, one.text) for one in page.links[:MOST_LINKS]]
    for url, kind, nofollow, text in all_links:
        record = places.record(places.fingerprint(url)) if places is not None else None
        last = record.visits[-1] if record is not None and record.visits else None
        state = record.state if record is not None else ""
        yield LinkOut(url.text, kind.value, nofollow, text[:300], state, last.status if last else 0)


def _head(capture: Capture) -> str:
    exchange = capture.exchange
    if exchange.response_head:
        return exchange.response_head.decode("latin-1").replace("\r\n", "\n").strip()[:LONGEST_TEXT]
    return "\n".join(f"{name}: {value}" for name, value in exchange.headers.fields)[:LONGEST_TEXT]


def _is_text(kind: str) -> bool:
    return kind.startswith(_TEXTS) or kind.endswith(("+xml", "+json"))


def _in_words(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(_in_words, value))[:LONGEST_FIELD]
    if isinstance(value, dict):
        return msgspec.json.encode(value, enc_hook=str).decode()[:LONGEST_FIELD]
    return str(value)[:LONGEST_FIELD]
