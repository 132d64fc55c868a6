"""What watches look at of a document: its text in pieces, the parts that selectors find, what a query is asked of.

Read in a process of its own, under limits: a page may be made to hold a parser up.
"""

from collections.abc import Iterable

import msgspec

from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.fields.selector import Parsed, Selector, read_ignored, read_selector, without
from gossamer.extract.isolation.processes import GuardedProcesses, Limits, Unanswered
from gossamer.extract.media_type import media_type
from gossamer.model.document import HTML_TYPES
from gossamer.model.url import Url
from gossamer.policy.change.pieces import LONGEST, pieces_of, plain_pieces

__all__ = ["Document", "Part", "Reader", "Seen"]

MOST_PIECES = 20_000
MOST_PARTS = 1_000
"""Elements that a selector finds, at most."""
_SECONDS = 10.0
_MEMORY = 1 << 30
_TEXTUAL = ("text/", "application/json", "application/xml", "application/rss", "application/atom")
_TITLE = 300


class Part(msgspec.Struct, frozen=True):
    """A part of a page.

    Attributes:
        select: by this selector; empty: all of it.
        ignore: without what these find, by CSS.
    """

    select: str = ""
    ignore: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """How this part is told from the others of its watch."""
        return msgspec.json.encode(self).decode()


class Document(msgspec.Struct, frozen=True):
    """What is to be read.

    Attributes:
        url, content_type, content: of a document, its content codings undone.
        parts: that are looked at.
        whole: read it as 'gossamer index' does, for a query.
    """

    url: str
    content_type: str
    content: bytes
    parts: tuple[Part, ...] = ()
    whole: bool = False


class Seen(msgspec.Struct, frozen=True):
    """What was seen of it.

    Attributes:
        title: of the page; may be empty.
        pieces: its text; `None` if it has none that can be read.
        parts: the pieces of each part, by its name.
        language, media_type, text, description, published, modified, size: for a query; empty if not asked for.
    """

    title: str = ""
    pieces: list[str] | None = None
    parts: dict[str, list[str]] = {}
    language: str = ""
    media_type: str = ""
    text: str = ""
    description: str = ""
    published: str = ""
    modified: str = ""
    size: int = 0


class Reader:
    """Reads documents for watches: in this process where that is safe, else in a guarded one."""

    def __init__(self) -> None:
        self._processes: GuardedProcesses[Document, Seen] | None = None

    def read(self, document: Document) -> Seen | None:
        """What is seen of it; `None` if it could not be read within the limits."""
        if not document.parts and not document.whole:
            kind = media_type(document.content_type, document.content)
            if kind in HTML_TYPES or kind.startswith(_TEXTUAL):
                return look(document)  # in linear time, whatever it is
        if self._processes is None:
            limits = Limits(processes=1, seconds=_SECONDS, memory=_MEMORY, nice=5, patience=6.0)
            self._processes = GuardedProcesses(look, Document, Seen, limits)
        answer = self._processes.ask(document)
        return None if isinstance(answer, Unanswered) else answer

    def close(self) -> None:
        """End the guarded process, if one was started."""
        if self._processes is not None:
            self._processes.close()


def look(document: Document) -> Seen:
    """Read a document; called where it may take as long as it wants."""
    kind = media_type(document.content_type, document.content)
    if kind not in HTML_TYPES and not kind.startswith(_TEXTUAL):
        return _of_file(document)
    text = decode(document.content, charset_of(document.content, document.content_type, kind))
    seen = Seen(_title(text), _pieces(text, kind), _parts(document, kind))
    return _whole(document, seen) if document.whole else seen


def _of_file(document: Document) -> Seen:
    """Of PDF, office files and the like, the text as 'gossamer index' has it."""
    try:
        from gossamer.documents.reading import read
    except ImportError:  # the extra 'documents'
        return Seen()
    said = read(document.content, document.url, document.content_type)
    pieces = plain_pieces(said.text.text)[:MOST_PIECES] if said.text.text else None
    seen = Seen(said.metadata.title[:_TITLE], pieces)
    return _whole(document, seen) if document.whole else seen


def _whole(document: Document, seen: Seen) -> Seen:
    from gossamer.documents.reading import read

    said = read(document.content, document.url, document.content_type)
    return msgspec.structs.replace(
        seen,
        title=seen.title or said.metadata.title[:_TITLE],
        language=said.language,
        media_type=said.media_type,
        text=said.text.text,
        description=said.metadata.description,
        published=said.metadata.published,
        modified=said.metadata.modified,
        size=said.size,
    )


def _parts(document: Document, kind: str) -> dict[str, list[str]]:
    if not document.parts:
        return {}
    text = decode(document.content, charset_of(document.content, document.content_type, kind))
    url, found = Url.from_serialised(document.url), {}
    for part in document.parts:
        left = without(text, read_ignored(part.ignore)) if kind in HTML_TYPES else text
        if part.select:
            page = Parsed(left.encode("utf-8", "surrogatepass"), "utf-8", url)
            found[part.name] = list(_lines(page, read_selector(part.select)))
        else:
            found[part.name] = _pieces(left, kind)
    return found


def _pieces(text: str, kind: str) -> list[str]:
    plain = kind not in HTML_TYPES and "<" not in text[:1_000]
    return (plain_pieces(text[:LONGEST]) if plain else pieces_of(text))[:MOST_PIECES]


def _lines(page: Parsed, selector: Selector) -> Iterable[str]:
    """What a selector finds, all of it: a line for each element."""
    every = msgspec.structs.replace(selector, all=True)
    for value in page.values(every)[:MOST_PARTS]:
        yield " ".join(str(value).split())


def _title(text: str) -> str:
    low = text[:100_000].lower()
    begin = low.find("<title")
    if begin < 0 or (start := low.find(">", begin)) < 0:
        return ""
    end = low.find("</title", start)
    if end < 0:
        return ""
    from html import unescape

    return " ".join(unescape(text[start + 1 : end][:2_000]).split())[:_TITLE]
