"""Media types of documents: the formats read here, their names, right and wrong, and how their bytes begin.

Source: IANA's registry of media types, with the names that servers send in their place. Magic bytes win over
the header, because a wrong Content-Type is common and a wrong `%PDF-` is not.
"""

import re
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from gossamer.extract.media_type import media_type

__all__ = ["FILE_SUFFIXES", "FORMATS", "LINKED_TYPES", "Format", "format_of", "found_type", "wide_text"]


class Format(StrEnum):
    """How a document is read."""

    HTML = "html"
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    XML = "xml"
    CSV = "csv"
    PDF = "pdf"
    WORD = "word"
    SLIDES = "slides"
    SHEET = "sheet"
    ODF = "odf"
    EPUB = "epub"
    RTF = "rtf"
    IMAGE = "image"
    AUDIO_VIDEO = "audio-video"
    OTHER = "other"


_OOXML = "application/vnd.openxmlformats-officedocument."
_MACRO = "application/vnd.ms-{}.macroenabled.12"
_OASIS = "application/vnd.oasis.opendocument."

FORMATS: dict[Format, tuple[str, ...]] = {
    Format.HTML: ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "text/x-html"),
    Format.TEXT: (
        "text/plain",
        "text/x-log",
        "text/x-readme",
        "application/text",
        "text/x-rst",
        "text/troff",
    ),
    Format.MARKDOWN: ("text/markdown", "text/x-markdown", "text/x-web-markdown", "application/markdown"),
    Format.JSON: (
        *("application/json", "text/json", "application/ld+json", "application/feed+json"),
        *("application/x-json", "application/x-ndjson", "application/geo+json", "application/manifest+json"),
    ),
    Format.XML: (
        *(
            "application/xml",
            "text/xml",
            "application/rss+xml",
            "application/atom+xml",
            "application/x-rss+xml",
        ),
        *("application/rdf+xml", "application/docbook+xml", "application/x-dtbook+xml", "text/rss"),
    ),
    Format.CSV: (
        "text/csv",
        "text/x-csv",
        "application/csv",
        "text/tab-separated-values",
        "text/x-comma-separated-values",
    ),
    Format.PDF: ("application/pdf", "application/x-pdf", "application/acrobat", "text/pdf", "image/pdf"),
    Format.WORD: (
        *(_OOXML + "wordprocessingml.document", _OOXML + "wordprocessingml.template"),
        *(_MACRO.format("word.document"), _MACRO.format("word.template")),
    ),
    Format.SLIDES: (
        *(_OOXML + "presentationml.presentation", _OOXML + "presentationml.slideshow"),
        *(_OOXML + "presentationml.template", _MACRO.format("powerpoint.presentation")),
        _MACRO.format("powerpoint.slideshow"),
    ),
    Format.SHEET: (
        *(_OOXML + "spreadsheetml.sheet", _OOXML + "spreadsheetml.template"),
        _MACRO.format("excel.sheet"),
    ),
    Format.ODF: (
        *(_OASIS + name for name in ("text", "presentation", "spreadsheet", "graphics", "formula", "chart")),
        *(_OASIS + f"{name}-template" for name in ("text", "presentation", "spreadsheet", "graphics")),
        *(_OASIS + "text-master", _OASIS + "text-web"),
    ),
    Format.EPUB: ("application/epub+zip", "application/epub", "application/x-epub+zip"),
    Format.RTF: ("application/rtf", "text/rtf", "text/richtext", "application/x-rtf"),
    Format.IMAGE: (
        *("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/heic", "image/svg+xml"),
        *("image/jpg", "image/pjpeg", "image/x-png", "image/heif", "image/bmp", "image/x-icon", "image/tiff"),
    ),
    Format.AUDIO_VIDEO: (
        *("audio/mpeg", "audio/mp3", "audio/wav", "audio/wave", "audio/x-wav", "audio/flac", "audio/x-flac"),
        *("audio/ogg", "application/ogg", "video/ogg", "audio/mp4", "audio/x-m4a", "audio/aac", "video/mp4"),
        *("video/quicktime", "video/webm", "audio/webm", "video/x-matroska", "video/avi", "video/x-msvideo"),
    ),
}
"""Names of each format; the first is the one that is reported where a header used a wrong one."""

_BY_TYPE = {name: kind for kind, names in FORMATS.items() for name in names}
_OLD_OFFICE = "application/x-ole-storage"
LINKED_TYPES = frozenset(
    name
    for kind in (Format.PDF, Format.WORD, Format.SLIDES, Format.SHEET, Format.ODF, Format.EPUB, Format.RTF)
    for name in FORMATS[kind]
)
"""Types whose links nobody else on the road reads."""

_SUFFIXES = {
    "pdf": "application/pdf",
    "docx": _OOXML + "wordprocessingml.document",
    "pptx": _OOXML + "presentationml.presentation",
    "xlsx": _OOXML + "spreadsheetml.sheet",
    "odt": _OASIS + "text",
    "odp": _OASIS + "presentation",
    "ods": _OASIS + "spreadsheet",
    "epub": "application/epub+zip",
    "rtf": "application/rtf",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "xml": "text/xml",
}
FILE_SUFFIXES = frozenset(_SUFFIXES) - {"md", "markdown", "xml"} | frozenset(
    "doc xls ppt odg ps djvu mobi azw3 tex zip gz tgz bz2 xz zst 7z rar tar dmg exe msi deb rpm apk iso jar "
    "whl ics vcf kml gpx sql sqlite parquet".split()
)
"""Ends of addresses that lead to a file rather than to a page."""

_VAGUE = frozenset(
    {"", "text/plain", "application/octet-stream", "application/zip", "application/x-zip-compressed"}
    | {"binary/octet-stream", "application/download", "application/force-download", "application/x-download"}
    | {_OLD_OFFICE}
)
"""What servers call files that they do not know."""
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _OLD_OFFICE),
    (b"fLaC", "audio/flac"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
_BRANDS = {
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"M4A ": "audio/mp4",
    b"qt  ": "video/quicktime",
}
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?:[^-]++|-(?!->))*+-->\s*+)*+"
    rb"(?:<!DOCTYPE svg[^>\[]*+(?:\[[^\]]*+\]\s*+)?>\s*+)?<svg[\s>]"
)
_PDF_WITHIN = 1_024
_HEAD = 4_096
_SAMPLE = 8_192
_WIDE = 0.4


def format_of(kind: str) -> Format:
    """How a document of this media type is read."""
    known = _BY_TYPE.get(kind)
    if known is not None:
        return known
    if kind.endswith("+json"):
        return Format.JSON
    if kind.endswith("+xml"):
        return Format.XML
    main = kind.partition("/")[0]
    return {
        "text": Format.TEXT,
        "image": Format.IMAGE,
        "audio": Format.AUDIO_VIDEO,
        "video": Format.AUDIO_VIDEO,
    }.get(main, Format.OTHER)


def found_type(content: bytes, declared: str, url: str = "") -> str:
    """Media type of a document by its first bytes, then its header, then the end of its address.

    Args:
        content: at least the start.
        declared: Content-Type as it stood, may be empty or nonsense.
        url: where it was found.

    `application/zip` stands for every packed format: which one, only its members say (`package`).
    """
    head = content[:_HEAD]
    magic = _magic(head)
    if magic:
        return magic
    said_page = format_of(declared.partition(";")[0].strip().lower()) is Format.HTML
    if not said_page and _SVG.match(head):  # a page may begin with a drawing
        return "image/svg+xml"
    wide = wide_text(head)
    sample = head.decode(wide, "replace").encode() if wide else head
    kind = media_type(declared, sample)
    if kind in _VAGUE:
        by_name = _SUFFIXES.get(_suffix(url), "")
        textual = by_name and _is_textual(format_of(by_name))
        if textual and (kind == "text/plain" or not _binary(sample)):
            return by_name
        return kind if kind and kind != "application/octet-stream" else media_type("", sample)
    if not _is_textual(format_of(kind)) and format_of(kind) is not Format.OTHER:
        # It would have had its magic bytes: it is an error page, or something else.
        seen = media_type("", sample)
        if seen in ("text/html", "application/xhtml+xml") or (seen == "text/plain" and kind not in _NO_MAGIC):
            return seen
    names = FORMATS.get(format_of(kind), ())
    return names[0] if kind in names and format_of(kind) is Format.PDF else kind


_NO_MAGIC = frozenset({"image/svg+xml"})


def _is_textual(kind: Format) -> bool:
    return kind in (Format.HTML, Format.TEXT, Format.MARKDOWN, Format.JSON, Format.XML, Format.CSV)


def _magic(head: bytes) -> str:
    for mark, kind in _MAGIC:
        if head.startswith(mark):
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "application/zip"
    if b"%PDF-" in head[:_PDF_WITHIN] and head.lstrip()[:1] != b"<":
        return "application/pdf"
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "video/mp4")
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/x-matroska" if b"matroska" in head[:64] else "video/webm"
    if len(head) > 3 and head[0] == 0xFF and head[1] in (0xFB, 0xF3, 0xF2, 0xFA):
        return "audio/mpeg"
    return ""


def wide_text(content: bytes) -> str:
    """The codec of UTF-16 without a byte-order mark, by its zero bytes; empty for anything else."""
    sample = content[:_SAMPLE]
    half = len(sample) // 2
    if half < 8 or content.startswith((b"\xfe\xff", b"\xff\xfe")):
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > _WIDE * half and even * 20 < odd:
        return "utf-16-le"
    return "utf-16-be" if even > _WIDE * half and odd * 20 < even else ""


def _binary(sample: bytes) -> bool:
    return b"\x00" in sample


def _suffix(url: str) -> str:
    try:
        path = unquote(urlsplit(url).path[-100:])
    except ValueError:
        return ""
    return path.rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
