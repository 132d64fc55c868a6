"""The lists of pages: what a player shows to choose from, and searches.

A player reads all of `pages.jsonl` before it shows anything (ReplayWeb.page puts each of its lines into the browser's
database), and of `extraPages.jsonl` as much as it likes. So the first has the pages nearest to the seeds, some
thousands of them, and the second all others. Source: WACZ 1.1.1, "pages".
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path

import msgspec

from gossamer.datasets.export.wacz.container import Container
from gossamer.inspect.archive.big_sort import BigSort
from gossamer.model.disposition import PageState
from gossamer.model.link import HOP_LETTERS, LinkKind, ends_at_robots
from gossamer.state.environment import Environment, Family
from gossamer.state.records import PageRecord, decode_page

FIRST = 10_000
"""Pages of the first list: some 2 MB of lines."""
_SHOWN = frozenset({"text/html", "application/xhtml+xml", "application/pdf", "text/plain"})
"""Media types that a browser shows as a page of its own."""
_UNMODIFIED = 304
_SORTED_AT_ONCE = 16 << 20


class _Line(msgspec.Struct, omit_defaults=True):
    """One page, as the format has it; `seed` is Browsertrix's addition."""

    id: str
    url: str
    ts: str
    title: str
    seed: bool = False
    text: str = ""


class Listed(msgspec.Struct, frozen=True):
    """What was listed.

    Attributes:
        pages: of both lists.
        texts: of them that have one.
        main: (URL, time) of the first; empty if there is none.
    """

    pages: int = 0
    texts: int = 0
    main: tuple[str, str] = ("", "")


def write_pages(into: Container, environment: Environment, texts: Mapping[str, str], scratch: Path) -> Listed:
    """Write `pages/pages.jsonl`, and `pages/extraPages.jsonl` if there are more than `FIRST`.

    Args:
        into: takes both, packed: nobody reads them from the middle.
        environment: of the crawl.
        texts: by URL; what is there goes with its page.
        scratch: folder for what does not fit into memory.
    """
    nearest = BigSort(scratch, "pages", _SORTED_AT_ONCE)
    for _, data in environment.scan(Family.PAGES):
        page = decode_page(data)
        if is_page(page):
            nearest.add(b"%06d %015d " % (min(page.depth, 999_999), page.number) + _line(page))
    lines = (line.split(b" ", 2)[2] for line in nearest)
    begun = list(islice(lines, 1))
    first = msgspec.json.decode(begun[0], type=_Line) if begun else None
    lists = _Lists(into, texts)
    lists.write("pages", "Pages", chain(begun, islice(lines, FIRST - 1)))
    if (more := next(lines, None)) is not None:
        lists.write("extraPages", "More pages", chain([more], lines))
    return Listed(lists.pages, lists.texts, (first.url, first.ts) if first else ("", ""))


def is_page(page: PageRecord) -> bool:
    """Whether it is archived, and something that people open by its address."""
    status = page.visits[-1].status if page.visits else 0
    return (
        page.state is PageState.DONE
        and bool(page.captured)
        and page.media_type in _SHOWN
        and (status in (0, _UNMODIFIED) or 200 <= status < 300)  # 0: of another protocol
        and not ends_at_robots(page.hops)
        and page.hops.rstrip("R")[-1:] != HOP_LETTERS[LinkKind.REQUISITE]
    )


def _line(page: PageRecord) -> bytes:
    number = hashlib.sha256(f"{page.url} {page.captured}".encode()).hexdigest()[:32]
    seed = page.depth == 0 and not page.hops.strip("R")
    title = " ".join(page.title.split()) or page.url
    return msgspec.json.encode(_Line(number, page.url, page.captured, title, seed))


class _Lists:
    def __init__(self, into: Container, texts: Mapping[str, str]) -> None:
        self._into = into
        self._given = texts
        self.pages = 0
        self.texts = 0

    def write(self, name: str, title: str, lines: Iterator[bytes]) -> None:
        """One list: a line of what it is, and one for each page."""
        about: dict[str, str | bool] = {"format": "json-pages-1.0", "id": name, "title": title}
        if self._given:
            about["hasText"] = True
        with self._into.member(f"pages/{name}.jsonl", packed=True) as out:
            out.write(msgspec.json.encode(about) + b"\n")
            for line in lines:
                out.write(self._with_text(line) + b"\n")
                self.pages += 1

    def _with_text(self, line: bytes) -> bytes:
        if not self._given:
            return line
        page = msgspec.json.decode(line, type=_Line)
        page.text = self._given.get(page.url, "")
        self.texts += bool(page.text)
        return msgspec.json.encode(page)
