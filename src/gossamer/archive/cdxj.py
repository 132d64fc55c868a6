"""The index of captures: CDXJ lines, sorted bytewise."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from gossamer.archive.placement import Placed, digest_label
from gossamer.archive.stamps import timestamp14
from gossamer.archive.surt import surt
from gossamer.model.errors import InternalError
from gossamer.model.url import Url
from gossamer.state.whole_files import replacing

_MEDIA_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,80}/[!#$%&'*+.^_`|~0-9A-Za-z-]{1,80}")
_REVISIT = "warc/revisit"
_NO_STATUS = "-"
"""As pywb writes it of records that are no response."""
_FLUSH_AT = 1 << 20


class Capture(msgspec.Struct, frozen=True, gc=False):
    """The JSON part of a line; every value is text, as pywb writes and reads it."""

    url: str
    mime: str
    status: str
    digest: str
    length: str
    offset: str
    filename: str

    @property
    def is_revisit(self) -> bool:
        """Whether the payload stands in another record."""
        return self.mime == _REVISIT

    @property
    def media_type(self) -> str:
        """Of the payload; empty if another record has it."""
        return "" if self.is_revisit else self.mime

    @property
    def code(self) -> int:
        """The status; 0 if the record has none."""
        return int(self.status) if self.status.isdecimal() else 0


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Capture).decode


def capture_prefix(url: Url) -> bytes:
    """What the keys of all captures under `url`'s sort key begin with."""
    return surt(url).encode("ascii") + b" "


def index_entry(url: Url, started: float, placed: Placed, status: int, mime: str) -> tuple[bytes, bytes]:
    """One CDXJ line without its line end, after the key under which the state keeps it.

    Keys sort as their lines do, but for those of one second. `surt YYYYMMDDHHMMSS serial:offset`: the record's place
    tells captures of the same second apart, so that none replaces another, without showing in the line.

    Args:
        url: what was requested.
        started: wall time of the request, seconds since 1970, as in the record's date.
        placed: where the record stands.
        status: of the response; 0 for a record that has none.
        mime: essence of the media type; what is no media type is written `unk`.
    """
    if placed.is_revisit:
        mime = _REVISIT
    elif not _MEDIA_TYPE.fullmatch(mime):
        mime = "unk"
    entry = Capture(
        url.text,
        mime.lower(),
        f"{status:03d}" if status else _NO_STATUS,
        digest_label(placed.sha256),
        str(placed.length),
        str(placed.offset),
        placed.file,
    )
    front = f"{surt(url)} {timestamp14(started)} ".encode("ascii")
    return front + b"%05d:%012d" % (placed.serial, placed.offset), front + _encode(entry)


def read_capture(line: bytes) -> Capture:
    """What a line tells, of an index or as the state keeps it.

    Raises:
        ValueError, msgspec.DecodeError: it is none.
    """
    return _decode(line[_entry(line) :])


def _entry(line: bytes) -> int:
    """Where the entry begins: a key may hold braces, but no blanks."""
    return line.index(b" {") + 1


def moved_capture(line: bytes, file: str) -> bytes:
    """The same line, of a record in another file."""
    at = _entry(line)
    return line[:at] + _encode(msgspec.structs.replace(read_capture(line), filename=file))


def write_index(lines: Iterable[bytes], path: Path) -> int:
    """Write `lines` (in the order of their keys, without line ends) to `path`, whole or not at all.

    Captures of the same sort key and second are put into the order of their lines here; only those of one
    second are held in memory.

    Returns:
        The number of lines.

    Raises:
        StorageError: the file cannot be written.
        InternalError: the lines are not in order, or one holds a line end.
    """
    count = 0
    with replacing(path) as out:
        buffer = bytearray()
        for line in in_order(lines):
            buffer += line
            buffer += b"\n"
            count += 1
            if len(buffer) >= _FLUSH_AT:
                out.write(buffer)
                buffer.clear()
        out.write(buffer)
    return count


def in_order(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Captures, given in the order of their keys, in that of their lines.

    Raises:
        InternalError: they are not in order, or one holds a line end.
    """
    last = b""
    for _, group in groupby(lines, key=_sort_and_second):
        for line in sorted(group):
            if line < last or b"\n" in line:
                raise InternalError(f"index lines out of order: {line[:200]!r} after {last[:200]!r}")
            last = line
            yield line


def _sort_and_second(line: bytes) -> bytes:
    return line[: line.find(b" {")]
