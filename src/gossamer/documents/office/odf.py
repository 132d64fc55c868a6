"""ODT, ODP, ODS (OASIS OpenDocument 1.3): text, links, metadata; also of encrypted ones the mark."""

import msgspec

from gossamer.documents.gathered import Gathered
from gossamer.documents.office.ooxml import attributes_by_local, local, read_part, simple_values
from gossamer.documents.office.package import Package
from gossamer.documents.said import Mark

__all__ = ["read_odf"]

_MOST_BLANKS = 1_000
_MOST_REPEATED = 100
_OUTSIDE = frozenset({"tracked-changes", "binary-data", "styles", "automatic-styles", "scripts", "settings"})
_MANIFEST = 1 << 20


def read_odf(package: Package, gathered: Gathered) -> None:
    """Take in everything a document of this family says."""
    if b"encryption-data" in package.read("META-INF/manifest.xml", _MANIFEST):
        gathered.mark(Mark.ENCRYPTED)
        return
    values = simple_values(package, "meta.xml", gathered)
    authors = dict.fromkeys(filter(None, [values.get("initial-creator", ""), values.get("creator", "")]))
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=values.get("title", ""),
        authors=tuple(authors),
        published=values.get("creation-date", ""),
        modified=values.get("date", ""),
        language=values.get("language", "").lower(),
        description=values.get("description", "") or values.get("subject", ""),
        keywords=tuple(filter(None, [values.get("keyword", "")])),
        generator=values.get("generator", ""),
    )
    flow = _Flow(gathered)
    read_part(package.pieces("content.xml"), gathered, flow.start, flow.end, flow.text)


class _Flow:
    """Takes in `content.xml`: paragraphs, headings, lists, tables, links."""

    def __init__(self, gathered: Gathered) -> None:
        self._gathered = gathered
        self._skipped = 0
        self._paragraphs = 0
        self._line: list[str] = []
        self._heading = 0
        self._lists = 0
        self._links: list[tuple[str, int]] = []
        self._tables: list[list[list[str]]] = []
        self._cell: list[list[str]] = []
        self._repeated: list[int] = []
        self._rows = 0
        self._sheets = False

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Take in a start tag."""
        name = local(element)
        if self._skipped or name in _OUTSIDE:
            self._skipped += 1
            return
        if name in ("p", "h"):
            self._paragraphs += 1
            if name == "h":
                level = attributes_by_local(attributes).get("outline-level", "1")
                self._heading = int(level) if level.isdigit() and len(level) < 3 else 1
        elif name == "s":
            count = attributes_by_local(attributes).get("c", "1")
            self._line.append(
                " " * min(int(count) if count.isdigit() and len(count) < 6 else 1, _MOST_BLANKS)
            )
        elif name in ("tab", "line-break"):
            self._line.append("\t" if name == "tab" else "\n")
        elif name == "a":
            self._links.append((attributes_by_local(attributes).get("href", ""), len(self._line)))
        elif name == "list":
            self._lists += 1
        elif name == "page":
            title = attributes_by_local(attributes).get("name", "")
            self._gathered.heading(title, 2)
        elif name == "table":
            if self._sheets and not self._tables:
                self._gathered.heading(attributes_by_local(attributes).get("name", ""), 2)
            self._tables.append([])
        elif name == "spreadsheet":
            self._sheets = True
        elif name == "table-row" and self._tables:
            self._tables[-1].append([])
        elif name in ("table-cell", "covered-table-cell"):
            count = attributes_by_local(attributes).get("number-columns-repeated", "1")
            self._repeated.append(
                min(int(count) if count.isdigit() and len(count) < 6 else 1, _MOST_REPEATED)
            )
            self._cell.append([])

    def end(self, element: str) -> None:
        """Take in an end tag."""
        if self._skipped:
            self._skipped -= 1
            return
        name = local(element)
        if name in ("p", "h"):
            self._paragraphs -= 1
            self._paragraph()
        elif name == "a" and self._links:
            address, since = self._links.pop()
            self._gathered.link(address.removeprefix("../"), "".join(self._line[since:]))
        elif name == "list":
            self._lists -= 1
        elif name in ("table-cell", "covered-table-cell") and self._cell:
            text, times = " ".join(self._cell.pop()), self._repeated.pop()
            if self._tables and self._tables[-1]:
                self._tables[-1][-1] += [text] * (times if text else 1)
        elif name == "table-row" and self._tables and self._tables[-1]:
            self._rows += 1
            if not any(self._tables[-1][-1]):
                self._tables[-1].pop()
            elif self._rows > self._gathered.budget.limits.max_rows or self._gathered.full:
                self._gathered.budget.cut = True
                self._tables[-1].pop()
        elif name == "table" and self._tables:
            rows = self._tables.pop()
            if self._cell:
                self._cell[-1] += [" ".join(row) for row in rows]
            else:
                self._gathered.rows(rows)

    def text(self, data: str) -> None:
        """Take in characters."""
        if not self._skipped and self._paragraphs:
            self._line.append(data)

    def _paragraph(self) -> None:
        text = "".join(self._line)
        self._line.clear()
        self._links = [(address, 0) for address, _ in self._links]
        if self._cell:
            if text.strip():
                self._cell[-1].append(text.strip())
        elif self._heading:
            self._gathered.heading(text, self._heading)
        elif self._lists:
            self._gathered.item(text, self._lists - 1)
        else:
            self._gathered.add(text)
        self._heading = 0
