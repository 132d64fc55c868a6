"""What a document was found to say, as plain values that travel between processes."""

from enum import StrEnum

import msgspec

__all__ = [
    "Alternate",
    "Derived",
    "Dimensions",
    "DocumentText",
    "Mark",
    "Medium",
    "Metadata",
    "Picture",
    "Reference",
]


class Mark(StrEnum):
    """Why a reading is less than the whole document; a closed list."""

    CUT = "cut"
    """A limit of size, number or time was reached: what follows it is missing."""
    PART = "part"
    """The archive holds a part of the document: the answer was one, broke off, or met a limit of the crawl."""
    FALLBACK = "fallback"
    """The proper extractor was not used or gave up; a simpler one read the document."""
    TOO_COMPLEX = "too-complex"
    """Markup nested deeper or wider than a parser reads in linear time."""
    ENCRYPTED = "encrypted"
    """It cannot be read without a password."""
    BROKEN = "broken"
    """Its structure is damaged: what could be read may be less than was written."""
    ENTITIES = "entities"
    """XML that declares entities; they are not expanded and reading stopped there."""
    EXPANDS = "expands"
    """A packed part is far larger than its packing and was left unread beyond a limit."""
    WRONG_TYPE = "wrong-type"
    """It is not what its Content-Type says."""
    NOT_TEXT = "not-text"
    """Declared to be text, but its bytes are none, or not in the encoding that it declares."""
    NO_TEXT = "no-text"
    """A format that holds text, but none was found (a scan, an application that needs scripts)."""
    UNSUPPORTED = "unsupported"
    """Nothing here reads this format."""
    MISSING_LIBRARY = "missing-library"
    """A library of the extra `documents` is not installed."""


class Derived(msgspec.Struct, frozen=True, kw_only=True):
    """A text made from the document.

    Attributes:
        text: what was found; empty if nothing.
        extractor: what made it, e.g. `blocks`, `pypdfium2`, `visible-text`.
        version: of the extractor: of the library, or of our own rule.
        confidence: 0 to 1, how likely it is what a reader would call the document's text.
        cut: it ends at a limit.
        fallback: the proper extractor did not make it.
    """

    text: str = ""
    extractor: str = ""
    version: str = ""
    confidence: float = 0.0
    cut: bool = False
    fallback: bool = False


class Dimensions(msgspec.Struct, frozen=True):
    """Width and height in pixels, 0 if unknown."""

    width: int = 0
    height: int = 0


class Picture(msgspec.Struct, frozen=True):
    """An image that the document shows.

    Attributes:
        url: absolute.
        alt: the text that stands for it.
        declared: as the document says, not as the file is.
    """

    url: str
    alt: str = ""
    declared: Dimensions = Dimensions()


class Medium(msgspec.Struct, frozen=True):
    """Audio or video that the document plays.

    Attributes:
        url: absolute.
        kind: `audio` or `video`.
        media_type: as declared, may be empty.
        title: its label, may be empty.
    """

    url: str
    kind: str
    media_type: str = ""
    title: str = ""


class Reference(msgspec.Struct, frozen=True):
    """A link out of the document.

    Attributes:
        url: absolute, WHATWG-normalised, with its fragment.
        text: what is clicked on, or where the address stood.
        relation: `rel` of HTML in lower case, else empty.
    """

    url: str
    text: str = ""
    relation: str = ""


class Alternate(msgspec.Struct, frozen=True):
    """The same content elsewhere: in another language (`hreflang`) or another format."""

    url: str
    language: str = ""
    media_type: str = ""


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """What the document says about itself; empty where it does not.

    Attributes:
        published, modified: ISO 8601, a date or a date with time, of the precision that was found.
        language: BCP 47 tag as declared, in lower case.
        canonical: absolute URL.
        keywords: as listed.
        generator: the program that made it.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    modified: str = ""
    language: str = ""
    description: str = ""
    canonical: str = ""
    keywords: tuple[str, ...] = ()
    generator: str = ""


class DocumentText(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was found in one document.

    Attributes:
        media_type: what it is by its content, else by its header; essence in lower case.
        charset: WHATWG name, of text formats only.
        size: bytes of the content.
        text: main text, of a whole document where it has no other parts.
        markdown: the same with headings, lists, tables and links.
        metadata: what it says about itself.
        language: BCP 47 tag, declared or guessed.
        language_confidence: 0 to 1; of a declared language, whether the text agrees.
        alternates: in other languages and formats.
        json_ld: every block, parsed; lists are flattened.
        microdata, microformats: items as `{"type": [...], "properties": {name: [values]}}`.
        properties: OpenGraph, Twitter and further `meta` by lower-case name, in order.
        emails: addresses in text and links, each once, in lower case.
        files: links to documents and archives that are no pages, by their suffix.
        images, media, links: each URL once, in order; addresses absolute.
        dimensions: of an image or video file, from its header.
        duration: seconds, of an audio or video file, from its header; 0 if unknown.
        marks: what kept the reading from being whole, each once.
    """

    media_type: str
    charset: str = ""
    size: int = 0
    text: Derived = Derived()
    markdown: Derived = Derived()
    metadata: Metadata = Metadata()
    language: str = ""
    language_confidence: float = 0.0
    alternates: tuple[Alternate, ...] = ()
    json_ld: tuple[object, ...] = ()
    microdata: tuple[object, ...] = ()
    microformats: tuple[object, ...] = ()
    properties: dict[str, list[str]] = {}
    emails: tuple[str, ...] = ()
    files: tuple[Reference, ...] = ()
    images: tuple[Picture, ...] = ()
    media: tuple[Medium, ...] = ()
    links: tuple[Reference, ...] = ()
    dimensions: Dimensions = Dimensions()
    duration: float = 0.0
    marks: tuple[Mark, ...] = ()
