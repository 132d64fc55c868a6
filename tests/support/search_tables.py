"""Tables of documents as `gossamer index` makes them, without a crawl, and the index of them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from gossamer.archive.follower import Mark
from gossamer.datasets.derived import FOLDER, Store
from gossamer.datasets.deriving import DocumentRow
from gossamer.documents.said import Derived, DocumentText, Metadata
from gossamer.search.query.parser import read_query
from gossamer.search.text.reader import Reader
from gossamer.search.text.store import TextIndex


class Page(msgspec.Struct, frozen=True):
    """A captured page."""

    url: str
    text: str = ""
    title: str = ""
    language: str = "en"
    type: str = "text/html"
    published: str = ""
    markdown: str = ""


def row(page: Page, offset: int, serial: int = 0) -> DocumentRow:
    """The row of a page at a place of the archive."""
    said = DocumentText(
        media_type=page.type, size=len(page.text), text=Derived(text=page.text), language=page.language,
        markdown=Derived(text=page.markdown), metadata=Metadata(title=page.title, published=page.published),
    )  # fmt: skip
    return DocumentRow(page.url, 1_750_000_000.0 + offset, serial, offset, 200, said, ())


class Tables:
    """The tables of one crawl, which grow by commits."""

    def __init__(self, crawl: Path, made_of: str = "") -> None:
        self.crawl = crawl
        self.store = Store(crawl / FOLDER, made_of)
        self.at = 0

    def add(self, pages: Iterable[Page]) -> None:
        """Commit pages, each ten bytes behind the last."""
        rows = []
        for page in pages:
            rows.append(row(page, self.at))
            self.at += 10
        self.store.commit({"documents": rows, "links": [], "fields": []}, Mark(0, self.at), 0.0, ())


def indexed(crawl: Path, pages: Sequence[Page]) -> Reader:
    """The index of some pages."""
    tables = Tables(crawl)
    tables.add(pages)
    tables.store.close()
    bring(crawl)
    return Reader(crawl)


def bring(crawl: Path) -> list[str]:
    """Bring the index up to date; what was said meanwhile."""
    told: list[str] = []
    index = TextIndex(crawl, tell=told.append)
    index.catch_up()
    index.close()
    return told


def found(reader: Reader, query: str, most: int = 100) -> list[str]:
    """URLs that answer, best first."""
    return [one.document.url for one in reader.find(read_query(query), most)[1]]


def everything(reader: Reader) -> list[object]:
    """All that is stored, in the order of URLs."""
    return sorted(
        (msgspec.structs.astuple(one.document) for one in reader.find(read_query(""), 10_000)[1]),
        key=lambda stored: stored[0],
    )
