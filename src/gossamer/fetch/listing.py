"""Names of files: out of URLs, out of the listings of folders, and into pages with a link for each entry.

What a listing says is a stranger's word: a name that is none (a slash, a dot segment, control characters) is
left out, because the command that asks for it would be another one.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from html import escape
from mimetypes import MimeTypes
from urllib.parse import quote_from_bytes, unquote_to_bytes

import msgspec

from gossamer.fetch.body import BodyWriter
from gossamer.model.url import Url

PAGE_TYPE = "text/html; charset=utf-8"
"""Media type of the page of a folder."""

_NO_NAME = re.compile(rb"[\x00-\x1f\x7f/]")
_TRANSFER_MODE = re.compile(r";type=[aidAID]\Z")  # RFC 1738, 3.2.2; ours is always binary
_MLST_TIME = re.compile(r"(\d{14})(?:\.\d+)?\Z", re.ASCII)  # RFC 3659, 2.3: always UTC
_FOLDERS = frozenset({"dir"})
_OURSELVES = frozenset({"cdir", "pdir"})
_UNIX = re.compile(
    rb"([-dl])[-rwxsStTlL]{9}\S?\s+\d+\s+\S+\s+(?:\S+\s+)?(\d+)\s+"  # some leave the group out
    rb"(?:[^\s\d]{3,12}\s+\d{1,2}\s+(?:\d{1,2}:\d\d|\d{4})|\d{4}-\d\d-\d\d\s+\d\d:\d\d(?::[\d.]+)?(?:\s[-+]\d{4})?)"
    rb" (.+)",
    re.DOTALL,
)
_DOS = re.compile(rb"\d\d-\d\d-\d{2,4}\s+\d\d:\d\d(?:[AaPp][Mm])?\s+(<DIR>|\d+)\s+(.+)", re.DOTALL)


class Entry(msgspec.Struct, frozen=True, gc=False):
    """What a folder holds under one name.

    Attributes:
        name: its bytes, as they are sent back.
        folder: whether it is known to be one.
        size: bytes, if told.
        modified: seconds since 1970, if told with its time zone.
    """

    name: bytes
    folder: bool
    size: int | None = None
    modified: float | None = None


def name_of_file(target: str) -> bytes | None:
    """The name of the file or folder that a URL's path asks a server for; `None` if it can be none.

    A slash that is hidden in a segment, and dots that are, would lead out of the folder that the URL shows.
    A path that begins with two slashes is one from the root of the server (RFC 1738, 3.2.2, writes `/%2F`).
    """
    segments = [unquote_to_bytes(part) for part in _TRANSFER_MODE.sub("", target).split("/")[1:]]
    inner = segments[1:-1] if segments[:1] == [b""] and len(segments) > 1 else segments[:-1]
    if not all(map(is_name, inner)) or not (segments[-1] == b"" or is_name(segments[-1])):
        return None
    return b"/" + b"/".join(segments)


def is_name(name: bytes) -> bool:
    """Whether something in a folder can be called so."""
    return name not in (b"", b".", b"..") and _NO_NAME.search(name) is None


def quoted(name: bytes) -> str:
    """A name, or a path, in a URL."""
    return quote_from_bytes(name, safe="/")


@cache
def _types() -> MimeTypes:
    """Python's own table, so that no machine's files change it."""
    return MimeTypes(filenames=())


def type_by_name(name: bytes) -> str:
    """The media type that the end of a name stands for; empty if for none that is read as it is stored."""
    kind, coding = _types().guess_type(quoted(name))
    return kind or "" if coding is None else ""


def read_facts(listing: bytes) -> Iterator[Entry]:
    """The entries of a listing by MLSD (RFC 3659, 7)."""
    for line in listing.split(b"\n"):
        facts, space, name = line.rstrip(b"\r").partition(b" ")
        if not space or not is_name(name):
            continue
        said = {
            key.lower(): value for key, _, value in (fact.partition("=") for fact in _text(facts).split(";"))
        }
        kind = said.get("type", "").lower()
        if kind not in _OURSELVES:
            yield Entry(name, kind in _FOLDERS, _size(said.get("size", "")), _time(said.get("modify", "")))


def read_lines(listing: bytes) -> Iterator[Entry]:
    """The entries of a listing as `ls -l` or DOS writes it; its times have no zone, and are left out."""
    for raw in listing.split(b"\n"):
        line = raw.rstrip(b"\r")
        if (unix := _UNIX.match(line)) is not None:
            kind, size, name = unix.groups()
            # Where a link leads to is not said in a way that can be told from its name.
            name = name.partition(b" -> ")[0] if kind == b"l" else name
            entry = Entry(name, kind == b"d", _size(_text(size)) if kind == b"-" else None)
        elif (dos := _DOS.match(line)) is not None:
            size, name = dos.groups()
            entry = Entry(name, size == b"<DIR>", _size(_text(size)))
        else:
            continue
        if is_name(entry.name):
            yield entry


def read_names(listing: bytes, known: bytes) -> Iterator[Entry]:
    """The entries of a listing of bare names; which are folders is taken from the lines that are known."""
    told = {entry.name: entry for entry in read_lines(known)}
    for raw in listing.split(b"\n"):
        name = raw.rstrip(b"\r")
        if is_name(name):
            yield told.get(name) or Entry(name, folder=False)


def write_page(writer: BodyWriter, url: Url, entries: Iterable[Entry], most: int) -> bool:
    """Write the page of a folder, of `most` bytes at most; whether entries were left out for that.

    Raises:
        StorageError: our disk cannot take it.
    """
    title = escape(_text(unquote_to_bytes(url.path)))
    writer.write(
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body><h1>{title}</h1>\n<table>\n".encode()
    )
    for entry in entries:
        slash = "/" if entry.folder else ""
        row = (
            f'<tr><td><a href="{quoted(entry.name)}{slash}">{escape(_text(entry.name))}{slash}</a></td>'
            f"<td>{'' if entry.size is None else entry.size}</td><td>{_shown(entry.modified)}</td></tr>\n"
        ).encode()
        if writer.size + len(row) > most:
            return True
        writer.write(row)
    writer.write(b"</table></body></html>\n")
    return False


def folder_of(name: bytes) -> list[Entry]:
    """What the page of a folder holds that was asked for without its slash: the folder."""
    return [Entry(name.rpartition(b"/")[2], folder=True)]


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _size(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _time(text: str) -> float | None:
    match = _MLST_TIME.match(text)
    try:
        return None if match is None else datetime.strptime(match[1] + "+0000", "%Y%m%d%H%M%S%z").timestamp()
    except ValueError:
        return None


def _shown(seconds: float | None) -> str:
    if seconds is None:
        return ""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # disks hold years of more than four digits
        return ""
    return f'<time datetime="{moment:%Y-%m-%dT%H:%M:%SZ}">{moment:%Y-%m-%d %H:%M:%S}</time>'
