"""DOCX, PPTX and XLSX (ECMA-376): text, links, metadata.

Text that was deleted under track changes, and the fall-back copies of drawings, are left out.
"""

import re
from collections.abc import Callable, Iterator, Set

import msgspec

from gossamer.documents.gathered import Gathered
from gossamer.documents.kinds import Format
from gossamer.documents.office.package import Package
from gossamer.documents.office.sheet_dates import Styles, written
from gossamer.documents.office.xml_stream import DamagedXmlError, EntitiesError, parse
from gossamer.documents.said import Mark

__all__ = ["read_ooxml", "read_part"]

_FIELD = re.compile(r"""HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)\"""", re.IGNORECASE)
_CALL = re.compile(r"""HYPERLINK\(\s*"([^"]+)\"""", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+)\.xml\Z")
_HEADING = re.compile(r"(?:heading|titre|berschrift|encabezado|rubrik|título)\D{0,3}(\d)", re.IGNORECASE)
_COLUMN = re.compile(r"[A-Z]{1,3}")
_WIDEST = 1_000
"""Columns of a sheet that are told apart; cells further right follow each other."""
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_OUTSIDE = frozenset({"del", "moveFrom", "Fallback", "rPrChange"})


def read_part(
    pieces: Iterator[bytes],
    gathered: Gathered,
    start: Callable[[str, dict[str, str]], None],
    end: Callable[[str], None],
    text: Callable[[str], None],
) -> None:
    """Parse a part; what is wrong with it becomes a mark."""
    try:
        parse(pieces, start, end, text)
    except EntitiesError:
        gathered.mark(Mark.ENTITIES)
    except DamagedXmlError:
        if not gathered.budget.cut:
            gathered.mark(Mark.BROKEN)


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition(" ")[2]


def attributes_by_local(attributes: dict[str, str]) -> dict[str, str]:
    """Attributes by their names without namespaces."""
    return {local(name): value for name, value in attributes.items()}


def read_ooxml(package: Package, kind: Format, gathered: Gathered) -> None:
    """Take in everything a document, presentation or workbook says."""
    _core(package, gathered)
    if kind is Format.WORD:
        main = _main_part(package, gathered) or "word/document.xml"
        folder = main.rpartition("/")[0]
        for name in (main, f"{folder}/footnotes.xml", f"{folder}/endnotes.xml", f"{folder}/comments.xml"):
            _Flow(package, name, gathered).read()
    elif kind is Format.SLIDES:
        for name in _slides(package, gathered):
            _Flow(package, name, gathered).read()
            for relation in _relations(package, name, gathered).values():
                if relation.kind.endswith("/notesSlide"):
                    _Flow(package, package.resolve(name, relation.target), gathered).read()
    else:
        _Workbook(package, gathered).read()


def _identity(attributes: dict[str, str]) -> str:
    """The relationship that an element names."""
    return next((value for name, value in attributes.items() if name.endswith("relationships id")), "")


class _Relation(msgspec.Struct, frozen=True):
    """Where a relationship leads, and of what kind it is."""

    target: str
    kind: str
    outside: bool


def _relations(package: Package, part: str, gathered: Gathered) -> dict[str, _Relation]:
    folder, _, name = part.rpartition("/")
    found: dict[str, _Relation] = {}

    def start(element: str, attributes: dict[str, str]) -> None:
        if local(element) == "Relationship":
            found[attributes.get("Id", "")] = _Relation(
                attributes.get("Target", ""),
                attributes.get("Type", ""),
                attributes.get("TargetMode") == "External",
            )

    prefix = f"{folder}/" if folder else ""
    read_part(package.pieces(f"{prefix}_rels/{name}.rels"), gathered, start, _ignore, _ignore) if package.has(
        f"{prefix}_rels/{name}.rels"
    ) else None
    return found


def _ignore(_: str) -> None:
    pass


def _main_part(package: Package, gathered: Gathered) -> str:
    for relation in _relations(package, "", gathered).values():
        if relation.kind.endswith("/officeDocument"):
            return package.resolve("", relation.target)
    return ""


def _core(package: Package, gathered: Gathered) -> None:
    values = simple_values(package, "docProps/core.xml", gathered)
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=values.get("title", ""),
        authors=tuple(filter(None, [values.get("creator", "").strip()])),
        published=values.get("created", ""),
        modified=values.get("modified", ""),
        language=values.get("language", "").lower(),
        description=values.get("description", "") or values.get("subject", ""),
        keywords=tuple(filter(None, [word.strip() for word in values.get("keywords", "").split(",")])),
        generator=simple_values(package, "docProps/app.xml", gathered).get("Application", ""),
    )


def simple_values(package: Package, name: str, gathered: Gathered) -> dict[str, str]:
    """The text of each element of a small part, the first of each local name."""
    if not package.has(name):
        return {}
    found: dict[str, str] = {}
    open_: list[str] = []

    def start(element: str, _: dict[str, str]) -> None:
        open_.append(local(element))

    def end(_: str) -> None:
        found.setdefault(open_.pop() + "\0", "")

    def text(data: str) -> None:
        key = open_[-1]
        if key + "\0" not in found and len(found.get(key, "")) < 10_000:
            found[key] = found.get(key, "") + data

    read_part(package.pieces(name), gathered, start, end, text)
    return {key: value.strip() for key, value in found.items() if not key.endswith("\0")}


def _slides(package: Package, gathered: Gathered) -> list[str]:
    main = _main_part(package, gathered) or "ppt/presentation.xml"
    order: list[str] = []

    def start(element: str, attributes: dict[str, str]) -> None:
        if local(element) == "sldId":
            order.extend(value for name, value in attributes.items() if name.endswith("relationships id"))

    read_part(package.pieces(main), gathered, start, _ignore, _ignore)
    relations = _relations(package, main, gathered)
    listed = [package.resolve(main, relations[each].target) for each in order if each in relations]
    if listed:
        return listed
    loose = [name for name in package.names if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    return sorted(loose, key=_number)


def _number(name: str) -> int:
    match = _NUMBER.search(name)
    return int(match[1][:9]) if match else 0


class _Flow:
    """Reads a part of paragraphs: of WordprocessingML (`w:p`) or DrawingML (`a:p`), which are alike."""

    def __init__(self, package: Package, name: str, gathered: Gathered) -> None:
        self._package = package
        self._name = name
        self._gathered = gathered
        self._relations = _relations(package, name, gathered) if package.has(name) else {}
        self._line: list[str] = []
        self._heading = 0
        self._item = -1
        self._skipped = 0
        self._in_text = False
        self._in_code = False
        self._code: list[str] = []
        self._links: list[tuple[str, int]] = []
        self._run_link = ""
        self._tables: list[list[list[str]]] = []
        self._cell: list[list[str]] = []

    def read(self) -> None:
        """Take in the part, if there is one."""
        if self._package.has(self._name):
            read_part(self._package.pieces(self._name), self._gathered, self._start, self._end, self._text)
            self._paragraph()

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = local(element)
        if name in _OUTSIDE or self._skipped:
            self._skipped += 1
            return
        if name == "t":
            self._in_text = True
        elif name in _SIGNS:
            self._line.append(_SIGNS[name])
        elif name == "hyperlink" or name == "hlinkClick":
            self._open_link(name, attributes)
        elif name == "instrText":
            self._in_code = True
        elif name == "fldSimple":
            self._field(attributes_by_local(attributes).get("instr", ""))
        elif name in ("pStyle", "numPr", "ilvl", "ph"):
            self._look(name, attributes_by_local(attributes))
        elif name == "tbl":
            self._paragraph()
            self._tables.append([])
        elif name == "tr" and self._tables:
            self._tables[-1].append([])
        elif name == "tc" and self._tables:
            self._cell.append([])

    def _end(self, element: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        name = local(element)
        if name == "t":
            self._in_text = False
        elif name == "p":
            self._paragraph()
        elif name == "r" and self._run_link:
            self._gathered.link(self._run_link, "".join(self._line[-1:]))
            self._run_link = ""
        elif name == "hyperlink" and self._links:
            address, since = self._links.pop()
            self._gathered.link(address, "".join(self._line[since:]))
        elif name == "instrText":
            self._in_code = False
        elif name == "sp":
            self._heading = 0
        elif name == "tc" and self._cell:
            if self._tables and self._tables[-1]:
                self._tables[-1][-1].append(" ".join(self._cell[-1]))
            self._cell.pop()
        elif name == "tbl" and self._tables:
            self._table(self._tables.pop())

    def _text(self, data: str) -> None:
        if self._skipped:
            return
        if self._in_text:
            self._line.append(data)
        elif self._in_code and len(self._code) < 100:
            self._code.append(data)
            self._field("".join(self._code))

    def _field(self, code: str) -> None:
        if match := _FIELD.search(code[:10_000]):
            self._gathered.link(match[1])

    def _look(self, name: str, attributes: dict[str, str]) -> None:
        """Whether the paragraph is a heading or an item of a list, and of what level."""
        value = attributes.get("val", "")
        if name == "pStyle":
            self._style(value)
        elif name == "numPr":
            self._item = max(self._item, 0)
        elif name == "ilvl" and self._item >= 0:
            self._item = int(value) if value.isdigit() and len(value) < 3 else 0
        elif name == "ph" and attributes.get("type") in ("title", "ctrTitle"):
            self._heading = 2

    def _style(self, style: str) -> None:
        if match := _HEADING.search(style):
            self._heading = int(match[1])
        elif style.lower() == "title":
            self._heading = 1
        elif style.lower().startswith("list"):
            self._item = max(self._item, 0)

    def _open_link(self, name: str, attributes: dict[str, str]) -> None:
        identity = _identity(attributes)
        relation = self._relations.get(identity)
        address = relation.target if relation and relation.outside else ""
        if name == "hyperlink":
            self._links.append((address, len(self._line)))
        elif address:
            self._run_link = address

    def _paragraph(self) -> None:
        text = "".join(self._line)
        self._code.clear()
        self._line.clear()
        self._links = [(address, 0) for address, _ in self._links]
        if self._cell:
            if text.strip():
                self._cell[-1].append(text.strip())
            return
        if self._heading:
            self._gathered.heading(text, self._heading)
        elif self._item >= 0:
            self._gathered.item(text, self._item)
        else:
            self._gathered.add(text)
        if self._name.startswith("word/"):
            self._heading = 0
        self._item = -1

    def _table(self, rows: list[list[str]]) -> None:
        if self._cell:  # a table in a cell of another
            self._cell[-1] += [" ".join(row) for row in rows]
        else:
            self._gathered.rows(rows)


class _Workbook:
    """Reads the sheets of a workbook, row by row."""

    def __init__(self, package: Package, gathered: Gathered) -> None:
        self._package = package
        self._gathered = gathered
        self._shared: list[str] = []
        self._rows = 0
        self._styles = Styles()
        self._since_1904 = False

    def read(self) -> None:
        """Take in all sheets in the order of their tabs."""
        main = _main_part(self._package, self._gathered) or "xl/workbook.xml"
        relations = _relations(self._package, main, self._gathered)
        if self._gathered.wants_text:
            strings = self._package.resolve(main, "sharedStrings.xml")
            self._strings(strings)
            styles = self._package.resolve(main, "styles.xml")
            if self._package.has(styles):
                pieces = self._package.pieces(styles)
                read_part(pieces, self._gathered, self._styles.start, self._styles.end, _ignore)
        for title, identity in self._sheets(main):
            if identity in relations and not self._gathered.budget.late:
                self._gathered.heading(title, 2)
                self._sheet(self._package.resolve(main, relations[identity].target))

    def _sheets(self, main: str) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []

        def start(element: str, attributes: dict[str, str]) -> None:
            if local(element) == "sheet":
                identity = _identity(attributes)
                found.append((attributes.get("name", ""), identity))
            elif local(element) == "workbookPr":
                self._since_1904 = attributes.get("date1904", "") in ("1", "true")

        read_part(self._package.pieces(main), self._gathered, start, _ignore, _ignore)
        return found

    def _strings(self, name: str) -> None:
        parts: list[str] = []
        inside = skipped = False
        room = 4 * self._gathered.budget.limits.max_text

        def start(element: str, _: dict[str, str]) -> None:
            nonlocal inside, skipped
            what = local(element)
            inside = what == "t"
            skipped = skipped or what == "rPh"

        def end(element: str) -> None:
            nonlocal inside, skipped
            what = local(element)
            inside = False
            if what == "rPh":
                skipped = False
            elif what == "si":
                self._shared.append("".join(parts))
                parts.clear()

        def text(data: str) -> None:
            nonlocal room
            if inside and not skipped and room > 0:
                room -= len(data)
                parts.append(data)

        if self._package.has(name):
            read_part(self._package.pieces(name), self._gathered, start, end, text)

    def _sheet(self, name: str) -> None:
        relations = _relations(self._package, name, self._gathered)
        sheet = _Sheet(self._gathered, self._shared, relations, self._rows)
        sheet.dates, sheet.since_1904 = self._styles.dates, self._since_1904

        def pieces() -> Iterator[bytes]:
            for piece in self._package.pieces(name):
                if sheet.seen > self._gathered.budget.limits.max_rows:
                    return
                yield piece

        read_part(pieces(), self._gathered, sheet.start, sheet.end, sheet.text)
        self._rows = sheet.seen
        self._gathered.rows(sheet.rows)


class _Sheet:
    """Takes in the rows of one sheet.

    Attributes:
        rows: cells as text, those left out as empty.
        seen: rows of the workbook so far.
        dates: formats of cells whose numbers are dates, and since when these count days.
        since_1904: see there.
    """

    dates: Set[str] = frozenset()
    since_1904 = False

    def __init__(
        self, gathered: Gathered, shared: list[str], relations: dict[str, _Relation], seen: int
    ) -> None:
        self.rows: list[list[str]] = []
        self.seen = seen
        self._gathered = gathered
        self._shared = shared
        self._relations = relations
        self._row: list[str] = []
        self._pieces: list[str] = []
        self._kind = self._inside = ""
        self._is_date = False

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Take in a start tag."""
        name = local(element)
        if name == "c":
            self._kind = attributes.get("t", "n")
            self._is_date = self._kind == "n" and attributes.get("s", "") in self.dates
            self._pieces.clear()
            column = _column(attributes.get("r", ""))
            if len(self._row) < column <= _WIDEST:
                self._row.extend([""] * (column - len(self._row)))
        elif name in ("v", "t", "f"):
            self._inside = name
        elif name == "hyperlink":
            relation = self._relations.get(_identity(attributes))
            if relation and relation.outside:
                self._gathered.link(relation.target, attributes.get("display", ""))

    def end(self, element: str) -> None:
        """Take in an end tag."""
        name = local(element)
        self._inside = ""
        if name == "c":
            self._row.append(self._value("".join(self._pieces)))
        elif name == "row":
            self.seen += 1
            if self.seen > self._gathered.budget.limits.max_rows:
                self._gathered.budget.cut = True
            elif any(self._row):
                self.rows.append(self._row[:])
            self._row.clear()

    def text(self, data: str) -> None:
        """Take in characters: of a value, or of a formula that may link."""
        if self._inside == "f":
            for address in _CALL.findall(data[:10_000]):
                self._gathered.link(address)
        elif self._inside and self._gathered.wants_text:
            self._pieces.append(data)

    def _value(self, value: str) -> str:
        if self._kind == "s":
            number = int(value) if value.isdigit() and len(value) < 9 else -1
            return self._shared[number] if 0 <= number < len(self._shared) else ""
        if self._is_date:
            return written(value, since_1904=self.since_1904)
        return {"1": "TRUE", "0": "FALSE"}.get(value, value) if self._kind == "b" else value


def _column(reference: str) -> int:
    match = _COLUMN.match(reference)
    number = 0
    for letter in match[0] if match else "":
        number = number * 26 + ord(letter) - 64
    return number - 1
