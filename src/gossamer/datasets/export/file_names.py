"""Names of files for documents, by a rule, that every file system takes.

What is told apart here only by case or by how an accent is written is one name on some file systems, so such
names are never both given. Sources: Microsoft, "Naming Files, Paths, and Namespaces"; POSIX.1-2017, 3.170 and
`NAME_MAX`; Unicode Standard Annex 15 for NFC.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import unquote_to_bytes, urlsplit

from gossamer.model.errors import ConfigError

FIELDS = ("host", "path", "folder", "name", "ext", "query", "title", "date", "digest")
"""What a rule can name."""
_PATHS = frozenset(("path", "folder"))
USUAL = "{host}/{path}/{title}.{ext}"
_FIELD = re.compile(r"\{([^{}]*)\}")
_NOT_IN_NAME = re.compile(
    r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]'
)
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])", re.IGNORECASE
)
_LONGEST = 200
"""Bytes of one name; the file systems' 255 less what tells equal ones apart."""
_LONGEST_PATH = 900
"""Bytes of a whole name, with folders; systems take 1,024 and more."""
EXTENSIONS = {
    "text/html": "html", "application/xhtml+xml": "html", "text/plain": "txt", "text/css": "css",
    "text/csv": "csv", "text/markdown": "md", "application/json": "json", "application/ld+json": "json",
    "application/xml": "xml", "text/xml": "xml", "application/rss+xml": "xml", "application/atom+xml": "xml",
    "application/javascript": "js", "text/javascript": "js", "application/pdf": "pdf",
    "application/rtf": "rtf", "application/epub+zip": "epub", "application/zip": "zip",
    "application/gzip": "gz", "application/msword": "doc", "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt", "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp", "image/jpeg": "jpg", "image/png": "png",
    "image/gif": "gif", "image/webp": "webp", "image/avif": "avif", "image/svg+xml": "svg",
    "image/x-icon": "ico", "image/vnd.microsoft.icon": "ico", "image/bmp": "bmp", "image/tiff": "tiff",
    "audio/mpeg": "mp3", "audio/ogg": "ogg", "audio/wav": "wav", "audio/flac": "flac", "audio/mp4": "m4a",
    "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov", "font/woff": "woff",
    "font/woff2": "woff2", "application/wasm": "wasm",
}  # fmt: skip
"""By media type, from IANA's registry; a table of our own, because those of systems differ."""


def prove_rule(rule: str, known: Sequence[str] = FIELDS) -> None:
    """Refuse a rule that cannot be followed.

    Args:
        rule: text with names of fields in braces.
        known: the fields there are.

    Raises:
        ConfigError: it names no field, or one that there is not.
    """
    named = _FIELD.findall(rule)
    unknown = [name for name in named if name not in known]
    if unknown or not named or "{" in _FIELD.sub("", rule) or "}" in _FIELD.sub("", rule):
        what = f"there is no {{{unknown[0]}}}" if unknown else "it names no part in braces"
        raise ConfigError(f"--names {rule!r}: {what}; there are {', '.join(f'{{{one}}}' for one in known)}")


def fields_of(url: str, time: datetime | None, media_type: str, title: str, extension: str) -> dict[str, str]:
    """The fields of one document.

    Args:
        url: as requested.
        time: of the capture.
        media_type: essence.
        title: of the document; the last part of the path stands for none.
        extension: without its dot; empty for that of the media type, else of the URL, else `bin`.
    """
    parts = urlsplit(url)
    segments = [unquoted(segment) for segment in parts.path.split("/")]
    segments = [segment for segment in segments if segment]
    stem, dot, own = (segments[-1] if segments else "").rpartition(".")
    if not (dot and stem and own.isascii() and own.isalnum() and len(own) <= 8):
        stem, own = (segments[-1] if segments else "index"), ""
    return {
        "host": parts.netloc.rpartition("@")[2].replace(":", "_"),
        "path": "/".join(map(component, segments)),
        "folder": "/".join(map(component, segments[:-1])),
        "name": stem,
        "ext": extension or EXTENSIONS.get(media_type) or own.lower() or "bin",
        "query": parts.query,
        "title": " ".join(title.split()) or stem,
        "date": time.strftime("%Y-%m-%d") if time is not None else "",
        "digest": hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:16],
    }


def unquoted(segment: str) -> str:
    """Without percent-encoding, where that is UTF-8."""
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        return segment


def name_of(rule: str, fields: Mapping[str, str], most: int = _LONGEST_PATH) -> str:
    """The name, with slashes between folders, as `rule` says; two documents may get the same.

    One of more than `most` bytes lies in its first folder by a name that is made of its digest.
    """
    # Only fields that are paths bring folders of their own.
    filled = _FIELD.sub(
        lambda found: fields[found[1]] if found[1] in _PATHS else fields[found[1]].replace("/", "_"), rule
    )
    components = [component(part) for part in filled.split("/") if part]
    name = "/".join(components) or "index"
    if len(name.encode()) <= most:
        return name
    _, dot, extension = components[-1].rpartition(".")
    short = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{_cut(components[0], 100)}/~{short}{dot}{_cut(extension, 20) if dot else ''}"


def component(text: str) -> str:
    """One name that every file system takes."""
    text = unicodedata.normalize("NFC", _NOT_IN_NAME.sub("_", text)).strip(" ").rstrip(". ")
    if text.startswith("."):
        text = "_" + text[1:]
    if _RESERVED.fullmatch(text.partition(".")[0].rstrip(" ")):
        text = f"_{text}"
    return _shorter(text, _LONGEST) or "_"


def _shorter(text: str, most: int) -> str:
    """At most so many bytes of UTF-8, with the extension."""
    if len(text.encode()) <= most:
        return text
    stem, dot, extension = text.rpartition(".")
    if not dot or len(extension.encode()) > 20:
        stem, extension = text, ""
    end = f".{extension}" if extension else ""
    return _cut(stem, most - len(end.encode())).rstrip(". ") + end


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore")


def marked(name: str, mark: str) -> str:
    """The name with `~mark` before its extension."""
    folder, slash, last = name.rpartition("/")
    stem, dot, extension = last.rpartition(".")
    if not dot or not stem:
        stem, dot, extension = last, "", ""
    return f"{folder}{slash}{stem}~{mark}{dot}{extension}"


def folded(name: str) -> str:
    """What is equal for names that some file system takes for one: case, accents, letters that are not seen."""
    if name.isascii():
        return name.casefold()
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", seen).casefold())
