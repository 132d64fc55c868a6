"""Writes the link graph of a crawl, between pages and between hosts, from its archive.

URLs are told apart as the crawl tells them apart, by canonical form. They are numbered in the order of host,
then URL, which is the order of a merge sort on disk: memory does not grow with the crawl. Three sorts: by
the URL mentioned, which gives it its number; by the page that mentions it, which gives that its number and
the edge; by pair of hosts.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.assembly.plugins import load_extractors
from gossamer.documents.extractor import link_extractors
from gossamer.extract.link_header import has_links
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.decoding import Decoded, content_codings, decode_content
from gossamer.inspect.archive import reference_counts
from gossamer.inspect.archive.big_sort import BigSort, LineFile, read_lines
from gossamer.inspect.archive.captures import Capture, captures
from gossamer.inspect.archive.latest import Latest
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.link import LinkKind, ends_at_robots, listed
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.robots.file import PRODUCT_TOKEN
from gossamer.policy.visits.retry import redirect_location
from gossamer.state.scratch import Scratch
from gossamer.state.whole_files import exchange

__all__ = ["LinkGraph", "export_links"]

LEAST_MEMORY = 1 << 20
SORT_MEMORY = 64 << 20
"""Bytes of lines that are sorted at once."""
PAIRS_HELD = 100_000
"""Pairs of hosts that are counted in memory before they are sorted."""
_CANONICAL_KEPT = 50_000
_LEVEL = 3
_PAGE, _EDGE = b"0", b"1"


class LinkGraph(msgspec.Struct, frozen=True):
    """How much was written, and where.

    Attributes:
        folder: holds the files.
        captures: records read.
        pages: URLs that were visited and archived.
        urls: URLs that were visited or mentioned.
        page_edges: links between URLs, each pair, kind and `nofollow` once.
        hosts: of those URLs.
        host_edges: pairs of hosts, one of which links to the other.
        problems: what of the archive could not be read, one line each.
    """

    folder: str
    captures: int
    pages: int
    urls: int
    page_edges: int
    hosts: int
    host_edges: int
    problems: list[str]


class _Sums(msgspec.Struct):
    captures: int = 0
    pages: int = 0
    urls: int = 0
    page_edges: int = 0
    hosts: int = 0
    host_edges: int = 0


def export_links(inspection: Inspection, target: Path | None = None, memory: int = SORT_MEMORY) -> LinkGraph:
    """Write the link graph of a crawl, whole or not at all; an earlier one in the same place is replaced.

    Files, each of lines in the order of their numbers, columns separated by tabs, packed by gzip:
    `urls.tsv.gz` (number, URL in canonical form, number of its host), `pages.tsv.gz` (number, URL as it was
    requested last, status then), `page_edges.tsv.gz` (number of the page, number of the URL that its last capture
    mentions, kind of link, `nofollow` or nothing), `hosts.tsv.gz` (number, name, URLs, pages), `host_edges.tsv.gz`
    (number, number, page edges between them, within a host too). Numbers begin with 1. Robots files and where
    they redirect are left out; so is what was queued but never mentioned by an archived page, such as seeds
    not yet visited.

    Args:
        inspection: of the crawl, which may be running.
        target: folder to be made; if not given, `links` in the crawl's folder.
        memory: bytes of lines sorted at once, at least 1 MiB; some 30 MiB more are needed for merging.

    Raises:
        ConfigError: something else is in the way.
        StorageError: the disk refuses.
    """
    target = target or inspection.links
    _refuse_others(target)
    problems: list[str] = []
    try:
        scratch = Scratch(target.parent)
    except OSError as error:
        raise StorageError(
            f"{target.parent}: cannot be written ({error.strerror}). Choose another place by --out."
        ) from None
    with scratch:
        made = Path(scratch.name) / target.name
        made.mkdir()
        sums = _Export(inspection, made, max(memory, LEAST_MEMORY) // 2).run(problems)
        _replace(made, target)
    return LinkGraph(folder=str(target), problems=problems, **msgspec.structs.asdict(sums))


def _refuse_others(target: Path) -> None:
    """Only an earlier export may be replaced."""
    if target.exists() and not (target / "urls.tsv.gz").exists():
        raise ConfigError(f"{target}: exists, but holds no link graph. Choose another place by --out.")


def _replace(made: Path, target: Path) -> None:
    try:
        made.chmod(0o755)
        if target.exists():
            exchange(made, target)
        else:
            made.rename(target)
    except OSError as error:
        raise StorageError(f"{target}: cannot be written ({error.strerror}).") from None


class _Export:
    def __init__(self, inspection: Inspection, folder: Path, memory: int) -> None:
        self._inspection = inspection
        self._folder = folder
        self._memory = memory
        self._sums = _Sums()

    def run(self, problems: list[str]) -> _Sums:
        """Write all files of the graph."""
        mentions = BigSort(self._folder, "mentions", self._memory)
        with closing(_Source(self._inspection)) as source:
            for crawl in self._inspection.each.values():
                is_latest = Latest(crawl)
                for capture in captures(crawl, problems):
                    self._sums.captures += 1
                    for line in source.lines(capture, self._sums.captures, links=is_latest(capture)):
                        mentions.add(line)
        edges = BigSort(self._folder, "edges", self._memory)
        referred = BigSort(self._folder, "referred", self._memory // 4)
        self._number(mentions, edges, referred)
        reference_counts.write(referred, self._folder)
        pairs = BigSort(self._folder, "pairs", self._memory)
        self._join(edges, pairs)
        self._count(pairs)
        return self._sums

    def _file(self, name: str) -> LineFile:
        return LineFile(self._folder / f"{name}.tsv.gz", _LEVEL)

    def _number(self, mentions: Iterable[bytes], edges: BigSort, referred: BigSort) -> None:
        """Give every URL its number, and every host; pass its mentions on, by the page they stand on.

        `referred` takes how many other pages mention each.
        """
        sums = self._sums
        with self._file("urls") as urls, self._file("pages") as visited, self._file("hosts") as hosts:
            for host, of_host in groupby(map(_split, mentions), key=lambda line: line.host):
                sums.hosts += 1
                before = sums.urls, sums.pages
                for url, lines in groupby(of_host, key=lambda line: line.url):
                    sums.urls += 1
                    urls.write(b"%d\t%b\t%d" % (sums.urls, url, sums.hosts))
                    visit = last = b""
                    own, pages = b"%b\t%b" % (host, url), 0
                    for line in lines:
                        if line.what == _PAGE:
                            visit = line.rest[1 + line.rest.index(b"\t") :]  # the last is the latest
                        else:
                            page, kind = line.rest.split(b"\t\t", 1)
                            # One page may mention it in several ways, which stand side by side.
                            pages += page not in (own, last)
                            last = page
                            edges.add(b"%b\t%012d\t%012d\t%b" % (page, sums.urls, sums.hosts, kind))
                    if pages:
                        referred.add(reference_counts.line_of(url, pages))
                    if visit:
                        sums.pages += 1
                        visited.write(b"%d\t%b" % (sums.urls, visit))
                hosts.write(
                    b"%d\t%b\t%d\t%d" % (sums.hosts, host, sums.urls - before[0], sums.pages - before[1])
                )

    def _join(self, edges: Iterable[bytes], pairs: BigSort) -> None:
        """Give each edge the number of its page; both come in the order of host and URL."""
        counts: dict[tuple[int, int], int] = {}
        numbered = _numbered(read_lines(self._folder / "urls.tsv.gz"))
        number, address, own = next(numbered, (0, b"", 0))
        spilled = 0
        with self._file("page_edges") as out:
            for line in edges:
                _, page, target, host, kind = line.split(b"\t", 4)
                while address != page:
                    number, address, own = next(numbered)
                out.write(b"%d\t%d\t%b" % (number, int(target), kind))
                pair = own, int(host)
                counts[pair] = counts.get(pair, 0) + 1
                if len(counts) >= PAIRS_HELD:
                    spilled += 1
                    _spill(counts, spilled, pairs)
            self._sums.page_edges = out.lines
        _spill(counts, spilled + 1, pairs)

    def _count(self, pairs: Iterable[bytes]) -> None:
        with self._file("host_edges") as out:
            for pair, lines in groupby(pairs, key=lambda line: line[:25]):
                count = sum(int(line[-12:]) for line in lines)
                one, other = pair.split(b"\t")
                out.write(b"%d\t%d\t%d" % (int(one), int(other), count))
            self._sums.host_edges = out.lines


class _Line(NamedTuple):
    """A URL that was visited or mentioned, with what is said of it."""

    host: bytes
    url: bytes
    what: bytes
    rest: bytes


def _split(line: bytes) -> _Line:
    return _Line(*line.split(b"\t", 3))


def _numbered(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes, int]]:
    for line in lines:
        number, url, host = line.split(b"\t")
        yield int(number), url, int(host)


def _spill(counts: dict[tuple[int, int], int], serial: int, pairs: BigSort) -> None:
    """Hand counts over to be sorted; the serial keeps equal ones of different times apart."""
    for (one, other), count in counts.items():
        pairs.add(b"%012d\t%012d\t%012d\t%012d" % (one, other, serial, count))
    counts.clear()


class _Source:
    """Reads captures as the crawl did, and says what they mention."""

    def __init__(self, inspection: Inspection) -> None:
        config = inspection.config
        documents = link_extractors(config.documents, config.extract)
        extractors = [*builtin_extractors(config.extract), *documents, *load_extractors()]
        self._reader = Reader(config.extract, PRODUCT_TOKEN, extractors)
        self._fetch = config.fetch
        self._max_content = config.extract.max_content
        self._canonical = config.document_name
        self._kept: dict[str, bytes] = {}

    def close(self) -> None:
        """End the processes that read for us."""
        self._reader.close()

    def lines(self, capture: Capture, serial: int, *, links: bool = True) -> Iterator[bytes]:
        """`host url 0 serial requested status` of the page, `host url 1 host url "" kind nofollow` of links.

        Separated by tabs, which no URL holds. The first two are of the URL mentioned. Without `links` there are
        none.
        """
        if ends_at_robots(capture.hops):
            return  # a robots file
        exchange = capture.exchange
        page = self._key(exchange.url)
        yield b"%b\t%b\t%012d\t%b\t%d" % (page, _PAGE, serial, exchange.url.text.encode(), exchange.status)
        for url, kind, nofollow in self._targets(capture) if links else ():
            mark = b"nofollow" if nofollow else b""
            yield b"%b\t%b\t%b\t\t%b\t%b" % (self._key(url), _EDGE, page, kind.value.encode(), mark)

    def _key(self, url: Url) -> bytes:
        """Host and canonical form; the links of a site are much the same on each of its pages."""
        key = self._kept.get(url.text)
        if key is None:
            canonical = self._canonical(url)
            same = url if canonical == url.text else Url.from_serialised(canonical) or url
            key = f"{same.host}\t{canonical}".encode()
            if len(self._kept) >= _CANONICAL_KEPT:
                self._kept.clear()
            self._kept[url.text] = key
        return key

    def _targets(self, capture: Capture) -> Iterator[tuple[Url, LinkKind, bool]]:
        exchange = capture.exchange
        location = redirect_location(exchange.status, exchange.headers)
        if location is not None:
            target = Url.parse(location, exchange.url.text)
            if target is not None:
                yield target, LinkKind.REDIRECT, False
        elif exchange.is_readable and (exchange.body.size or has_links(exchange.headers)):
            decoded = decode_content(exchange.body, exchange.headers, self._fetch, self._max_content)
            if isinstance(decoded, Decoded):
                page = self._page(capture, decoded)
                for link in page.links:
                    yield link.url, link.kind, link.nofollow or page.directives.nofollow

    def _page(self, capture: Capture, decoded: Decoded) -> Page:
        exchange, content = capture.exchange, decoded.content
        read = partial(
            self._reader.read, exchange, content, listed=listed(capture.hops), cut=decoded.truncated
        )
        if not decoded.truncated or content_codings(exchange.headers):
            return read()
        with tempfile.NamedTemporaryFile() as file:  # the crawl had such a body in one
            for piece in exchange.body.chunks():
                file.write(piece)
            file.flush()
            return read(file=Path(file.name))
