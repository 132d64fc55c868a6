"""Plain text, Markdown, JSON, XML and CSV: what they say, and the addresses that stand in them."""

import csv
import json
import re
from collections.abc import Iterator
from html import unescape
from io import StringIO

import msgspec

from gossamer.documents.gathered import Gathered, addresses_in
from gossamer.documents.kinds import Format
from gossamer.documents.office.xml_stream import DamagedXmlError, EntitiesError, parse
from gossamer.documents.said import Mark

__all__ = ["read_plain"]

_MARKDOWN_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\))?)>?(?:\s+\"[^\"\n]{0,300}\")?\s*\)"
)
_MARKDOWN_REFERENCE = re.compile(r"^ {0,3}\[([^\[\]\n]{1,300})\]:\s*<?([^\s<>]{1,2000})>?", re.MULTILINE)
_MARKDOWN_HEADING = re.compile(r"^#{1,2}\s+(.{1,500}?)\s*#*$", re.MULTILINE)
_FRONT = re.compile(r"\A---\r?\n(.{0,20000}?)\r?\n---\r?\n", re.DOTALL)
_FRONT_LINE = re.compile(
    r"^(title|author|date|description|lang)\s*:\s*[\"']?(.{1,1000}?)[\"']?\s*$", re.MULTILINE
)
_SAMPLE = 16 << 10
_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 20
_MOST_JSON = 200_000
_DEEPEST = 200
_LINK_NAMES = frozenset({"href", "src", "url", "link", "loc", "guid"})
_FEEDS = frozenset({"rss", "feed", "rdf"})
_HTML_NAMES = frozenset({"description", "encoded", "summary", "content", "subtitle"})
"""Elements of feeds whose text may be HTML (RSS 2.0; RFC 4287, 3.1)."""
_TAG = re.compile(r"</?[a-zA-Z!][^<>]{0,5000}>")
_BLOCK = re.compile(
    r"</?(?:p|br|div|li|ul|ol|tr|td|h[1-6]|table|blockquote|pre|hr)\b[^<>]{0,5000}>", re.IGNORECASE
)
_TEXT_NAMES = frozenset({"title", "name", "headline"})


def read_plain(text: str, kind: Format, gathered: Gathered) -> None:
    """Take in a document of one of these formats, decoded."""
    {
        Format.MARKDOWN: _markdown,
        Format.JSON: _json,
        Format.XML: _xml,
        Format.CSV: _csv,
    }.get(kind, _text)(text, gathered)


def _text(text: str, gathered: Gathered) -> None:
    _mentions(text, gathered)
    gathered.add(text)


def _mentions(text: str, gathered: Gathered) -> None:
    for address in addresses_in(text[: gathered.budget.limits.max_text]):
        gathered.link(address, address)


def _markdown(text: str, gathered: Gathered) -> None:
    facts: dict[str, str] = {}
    if front := _FRONT.match(text):
        facts = dict(_FRONT_LINE.findall(front[1]))
        text = text[front.end() :]
    heading = _MARKDOWN_HEADING.search(text[:_SAMPLE])
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=facts.get("title", "") or (heading[1] if heading else ""),
        authors=(facts["author"],) if "author" in facts else (),
        published=facts.get("date", ""),
        description=facts.get("description", ""),
        language=facts.get("lang", "").lower(),
    )
    part = text[: gathered.budget.limits.max_text]
    for label, address in _MARKDOWN_LINK.findall(part):
        gathered.link(address, label)
    for label, address in _MARKDOWN_REFERENCE.findall(part):
        gathered.link(address, label)
    _mentions(part, gathered)
    gathered.add(text)


def _json(text: str, gathered: Gathered) -> None:
    """Its strings, a line each; what is no JSON (JSON lines among it) is read line by line, then as text."""
    try:
        values: list[object] = [json.loads(text)]
    except (ValueError, RecursionError):
        values = []
        for line in text.splitlines()[: gathered.budget.limits.max_rows]:
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError):
                gathered.mark(Mark.BROKEN)
                _text(text, gathered)
                return
    whole = values[0] if len(values) == 1 else None
    if isinstance(whole, dict):
        title = next((v for name in _TEXT_NAMES if isinstance(v := whole.get(name), str)), "")
        gathered.metadata = msgspec.structs.replace(gathered.metadata, title=title[:1_000])
    for name, value in _strings(values, gathered):
        if name.lower() in _LINK_NAMES and value.startswith(("/", "./", "../", "http")):
            gathered.link(value)
        else:
            _mentions(value, gathered)
        gathered.add(value)


def _strings(value: object, gathered: Gathered) -> Iterator[tuple[str, str]]:
    """Strings with the names that they stand under, in document order."""
    stack: list[tuple[str, object]] = [("", value)]
    for _ in range(_MOST_JSON):
        if not stack:
            return
        name, here = stack.pop()
        if isinstance(here, str):
            yield name, here
        elif isinstance(here, dict):
            stack += [(str(key), inner) for key, inner in reversed(here.items())]
        elif isinstance(here, list):
            stack += [(name, inner) for inner in reversed(here)]
    gathered.budget.cut = True


def _xml(text: str, gathered: Gathered) -> None:
    """Its text, a line for each element that holds some; feeds give title, dates and links."""
    line: list[str] = []
    inside: list[str] = []
    facts: dict[str, str] = {}

    def settle() -> None:
        content = "".join(line).strip()
        line.clear()
        if not content or not inside:
            return
        written = content
        if inside[0] in _FEEDS and inside[-1] in _HTML_NAMES:
            content = _without_tags(content)
        if len(inside) <= 3:
            facts.setdefault(inside[-1], content[:1_000])
        if inside[-1] in _LINK_NAMES and content.startswith(("http://", "https://", "/")):
            gathered.link(content)
        else:
            _mentions(written, gathered)
            gathered.add(content)

    def start(name: str, attributes: dict[str, str]) -> None:
        settle()
        inside.append(name.rpartition(" ")[2].lower())
        for attribute, value in attributes.items():
            if attribute.rpartition(" ")[2].lower() in _LINK_NAMES:
                gathered.link(value)

    def end(_: str) -> None:
        settle()
        inside.pop()

    try:
        parse(_pieces(text), start, end, line.append)
    except EntitiesError:
        gathered.mark(Mark.ENTITIES)
    except DamagedXmlError:
        gathered.mark(Mark.BROKEN)
        if not gathered.text:
            _text(re.sub(r"<[^<>]{0,5000}>", " ", text), gathered)
            gathered.mark(Mark.FALLBACK)
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=facts.get("title", ""),
        authors=tuple(filter(None, [facts.get("creator", "") or facts.get("author", "")])),
        published=facts.get("pubdate", "") or facts.get("published", ""),
        modified=facts.get("updated", "") or facts.get("lastbuilddate", ""),
        description=facts.get("description", "") or facts.get("subtitle", ""),
        language=facts.get("language", "").lower(),
    )


def _without_tags(markup: str) -> str:
    """What HTML says that a feed has as text; a text without tags as it is."""
    if not _TAG.search(markup):
        return markup
    return unescape(_TAG.sub("", _BLOCK.sub("\n", markup))).strip()


_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


def _pieces(text: str) -> Iterator[bytes]:
    """In UTF-8, without a declaration that says otherwise."""
    body = _DECLARATION.sub("", text, count=1).lstrip("\ufeff \t\r\n")
    for at in range(0, len(body), 64 << 10):
        yield body[at : at + (64 << 10)].encode("utf-8", "replace")


def _csv(text: str, gathered: Gathered) -> None:
    sample = text[:_SAMPLE]
    counts = {each: sum(line.count(each) > 0 for line in sample.splitlines()[:50]) for each in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda each: (counts[each], sample.count(each)))
    limit = csv.field_size_limit(_LONGEST_FIELD)
    rows: list[list[str]] = []
    room = gathered.budget.limits.max_text
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter):
            room -= sum(map(len, row)) + len(row)
            if len(rows) >= gathered.budget.limits.max_rows or room < 0:
                gathered.budget.cut = True
                break
            rows.append(row)
    except csv.Error:
        gathered.mark(Mark.BROKEN)
    finally:
        csv.field_size_limit(limit)
    _mentions(text, gathered)
    gathered.rows(rows)
