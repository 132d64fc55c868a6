"""EPUB 2 and 3: the chapters in reading order as pages of their own, links out of the book, metadata."""

import re
from urllib.parse import unquote

import msgspec

from gossamer.documents.gathered import Gathered
from gossamer.documents.office.ooxml import local, read_part
from gossamer.documents.office.package import Package
from gossamer.documents.said import Mark
from gossamer.extract.encodings.charset import charset_of, decode

__all__ = ["read_epub"]

_LONGEST_CHAPTER = 8 << 20
_OUTSIDE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_MANY = 10_000


class _Book(msgspec.Struct):
    """What the package document lists.

    Attributes:
        facts: Dublin Core elements by name.
        items: address and media type by identifier.
        spine: identifiers in reading order.
    """

    facts: dict[str, list[str]] = {}
    items: dict[str, tuple[str, str]] = {}
    spine: list[str] = []


def read_epub(package: Package, gathered: Gathered) -> None:
    """Take in the whole book."""
    root = _root(package, gathered)
    if not root or not package.has(root):
        gathered.mark(Mark.BROKEN)
        return
    book = _book(package, root, gathered)
    first = {name: values[0] for name, values in book.facts.items()}
    gathered.metadata = msgspec.structs.replace(
        gathered.metadata,
        title=first.get("title", ""),
        authors=tuple(book.facts.get("creator", [])),
        published=first.get("date", ""),
        language=first.get("language", "").lower(),
        description=first.get("description", ""),
        keywords=tuple(book.facts.get("subject", [])),
    )
    locked = _locked(package)
    for name in _chapters(book, root, package):
        if gathered.budget.late or (gathered.full and gathered.wants_text):
            gathered.budget.cut = True
            break
        if name in locked:
            gathered.mark(Mark.ENCRYPTED)
        else:
            _chapter(package.read(name, _LONGEST_CHAPTER), gathered)


def _chapters(book: _Book, root: str, package: Package) -> list[str]:
    """Parts in reading order, each once: some books list every section of a part."""
    addresses = [book.items[identity][0] for identity in book.spine if identity in book.items]
    names = (package.resolve(root, unquote(address.partition("#")[0])) for address in addresses if address)
    return list(dict.fromkeys(names))


def _root(package: Package, gathered: Gathered) -> str:
    found: list[str] = []

    def start(element: str, attributes: dict[str, str]) -> None:
        if local(element) == "rootfile":
            found.append(attributes.get("full-path", ""))

    read_part(package.pieces("META-INF/container.xml"), gathered, start, _ignore, _ignore)
    return found[0] if found else ""


def _ignore(_: str) -> None:
    pass


def _book(package: Package, root: str, gathered: Gathered) -> _Book:
    book = _Book()
    value: list[str] = []

    def start(element: str, attributes: dict[str, str]) -> None:
        value.clear()
        name = local(element)
        if name == "item" and len(book.items) < _MANY:
            book.items[attributes.get("id", "")] = (
                attributes.get("href", ""),
                attributes.get("media-type", ""),
            )
        elif name == "itemref" and len(book.spine) < _MANY:
            book.spine.append(attributes.get("idref", ""))

    def end(element: str) -> None:
        text = " ".join("".join(value).split())
        if "purl.org/dc/" in element and text and len(book.facts) < _MANY:
            book.facts.setdefault(local(element), []).append(text[:10_000])
        value.clear()

    read_part(package.pieces(root), gathered, start, end, value.append)
    return book


def _locked(package: Package) -> frozenset[str]:
    """Parts under rights management; fonts are often scrambled, which is none."""
    source = package.read("META-INF/encryption.xml", 1 << 20).decode("utf-8", "replace")
    return frozenset(
        unquote(each) for each in re.findall(r'CipherReference[^>]{0,200}URI="([^"]{1,500})"', source)
    )


def _chapter(content: bytes, gathered: Gathered) -> None:
    if not content:
        return
    html = decode(content, charset_of(content, "", "application/xhtml+xml"))
    try:
        from gossamer.documents.markup.chapter import read_chapter

        read_chapter(html, gathered, leads_out)
    except ImportError:
        gathered.mark(Mark.MISSING_LIBRARY)


def leads_out(address: str) -> bool:
    """Whether a link of a chapter leads out of the book."""
    return _OUTSIDE.match(address) is not None
