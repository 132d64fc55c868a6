"""Takes one WARC record apart while it streams by, in bounded memory, and checks its digests."""

import contextlib
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec
from isal import igzip_lib

from gossamer.archive.records import RECORD_END
from gossamer.model.errors import StorageError
from gossamer.model.exchange import FIELD_BLANKS, Headers

_READ_SIZE = 1 << 15
_PIECE_SIZE = 1 << 18
_MAX_HEAD = 1 << 16  # of WARC fields, and of an HTTP head; ours have at most half of that
_HEAD_END = b"\r\n\r\n"
_MEMBER = b"\x1f\x8b\x08"
_RECORD = b"WARC/"
_STEP = 1 << 20
_BEGINNING = 512
"""Bytes of a member that suffice to know what it begins with."""
_GzipError: type[Exception] = igzip_lib.error  # type: ignore[assignment]  # isal's stub calls it an instance


class Scanned(msgspec.Struct, frozen=True):
    """What one record holds.

    Attributes:
        fields: the WARC fields.
        http_head: of `application/http` blocks, with its empty line.
        payload: the first bytes of what follows the HTTP head, or of the block if there is none.
        payload_size: bytes of the whole payload.
        problems: one line each; empty if the record is sound.
    """

    fields: Headers
    http_head: bytes
    payload: bytes
    payload_size: int
    problems: list[str]


class Member:
    """One gzip member of a file, decompressed in pieces of at most 256 KiB; `length` is known at its end."""

    __slots__ = ("_end", "_start", "_stream", "length")

    def __init__(self, stream: BinaryIO, start: int, end: int) -> None:
        self._stream = stream
        self._start = start
        self._end = end
        self.length = 0

    def __iter__(self) -> Iterator[bytes]:
        """The member's content.

        Raises:
            StorageError: it is no gzip member, is damaged, or does not end before `end`.
        """
        decompressor = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        self._stream.seek(self._start)
        position = self._start
        try:
            while not decompressor.eof:
                data = b""
                if decompressor.needs_input:
                    data = self._stream.read(max(0, min(_READ_SIZE, self._end - position)))
                    if not data:
                        raise StorageError("the gzip member has no end")
                    position += len(data)
                piece = decompressor.decompress(data, _PIECE_SIZE)
                if piece:
                    yield piece
        except _GzipError as error:
            raise StorageError(f"not a whole gzip member: {error}") from error
        self.length = position - len(decompressor.unused_data) - self._start


class ReadHead:
    """What the head of a record says, of whoever has its `fields` (WARC's) and its `http_head`."""

    __slots__ = ()
    fields: Headers
    http_head: bytes

    @property
    def kind(self) -> str:
        """Its `WARC-Type`: `response`, `revisit`, `request`, `metadata`, `resource` or `warcinfo`."""
        return self.fields.get("warc-type")

    @property
    def record_id(self) -> str:
        """Its `WARC-Record-ID` without the brackets: `urn:uuid:...`."""
        return self.fields.get("warc-record-id").strip("<>")

    @property
    def url(self) -> str:
        """What the record is about, `WARC-Target-URI`; empty for `warcinfo`."""
        return self.fields.get("warc-target-uri")

    @property
    def date(self) -> str:
        """`WARC-Date`, as the record has it."""
        return self.fields.get("warc-date")

    @property
    def headers(self) -> Headers:
        """The fields of the stored HTTP head."""
        lines = self.http_head.decode("latin-1").split("\r\n")[1:]
        pairs = [line.partition(":") for line in lines if line]
        return Headers([(name, value.strip(FIELD_BLANKS)) for name, _, value in pairs])


class OpenedRecord:
    """A record of which the WARC fields and the HTTP head are read, and the payload streams by once.

    Attributes:
        fields: the WARC fields.
        http_head: of `application/http` blocks, with its empty line.
        length: bytes of the block by its `Content-Length`.
        problems: one line each; what `rest` finds is added.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        """Read as far as the payload.

        Raises:
            StorageError: it is no WARC record, or `pieces` raised it.
        """
        self._source = _Source(pieces)
        head = self._source.until(_HEAD_END, _MAX_HEAD)
        version, _, rest = head.partition(b"\r\n")
        if version != b"WARC/1.1":
            raise StorageError(f"not a WARC 1.1 record: it begins with {head[:40]!r}")
        self.fields = _parse_fields(rest)
        self.problems: list[str] = []
        self.length = _length(self.fields, self.problems)
        self.http_head = b""
        if self.fields.get("content-type").startswith("application/http"):
            self.http_head = self._source.until(_HEAD_END, min(_MAX_HEAD, self.length))
            if not self.http_head.endswith(_HEAD_END):
                self.problems.append("the HTTP head has no end")
        self._payload = self._source.take(self.length - len(self.http_head))
        self._size = 0

    def payload(self) -> Iterator[bytes]:
        """What is left of it, in pieces of at most 256 KiB.

        Raises:
            StorageError: it cannot be read.
        """
        for piece in self._payload:
            self._size += len(piece)
            yield piece

    def rest(self) -> None:
        """Pass over what was not asked for, to the end of the record.

        Raises:
            StorageError: it cannot be read.
        """
        for _ in self.payload():
            pass
        size = self._size + len(self.http_head)
        if size != self.length:
            self.problems.append(f"the block has {size} bytes, Content-Length says {self.length}")
        if self._source.remainder(len(RECORD_END)) != RECORD_END:
            self.problems.append("the record does not end with two line ends and nothing else")


def scan(pieces: Iterable[bytes], keep: int) -> Scanned:
    """Read a whole record from `pieces` and keep the first `keep` bytes of its payload.

    Raises:
        StorageError: it is no WARC record, or `pieces` raised it.
    """
    record = OpenedRecord(pieces)
    fields, http_head, problems = record.fields, record.http_head, record.problems
    block_digest = hashlib.sha256(http_head)
    payload_digest = hashlib.sha256()
    kept = bytearray()
    size = 0
    for piece in record.payload():
        block_digest.update(piece)
        payload_digest.update(piece)
        kept += piece[: max(0, keep - size)]
        size += len(piece)
    record.rest()
    _compare("WARC-Block-Digest", fields, block_digest.hexdigest(), problems)
    if fields.get("warc-type") != "revisit":  # its payload stands elsewhere
        _compare("WARC-Payload-Digest", fields, payload_digest.hexdigest(), problems)
    return Scanned(fields, http_head, bytes(kept), size, problems)


def next_record(stream: BinaryIO, start: int, end: int) -> int:
    """Where the next gzip member that holds a WARC record begins, from `start` on; `end` if none does."""
    at = start
    while at < end:
        stream.seek(at)
        data = stream.read(min(_STEP, end - at))
        found = data.find(_MEMBER)
        while found >= 0:
            beginning = data[found : found + _BEGINNING]
            if len(beginning) < _BEGINNING:
                stream.seek(at + found)
                beginning = stream.read(min(_BEGINNING, end - at - found))
            with contextlib.suppress(zlib.error):
                if zlib.decompressobj(wbits=31).decompress(beginning, len(_RECORD)) == _RECORD:
                    return at + found
            found = data.find(_MEMBER, found + 1)
        at += max(len(data) - len(_MEMBER) + 1, 1) if at + len(data) < end else len(data)
        if not data:
            break
    return end


def _parse_fields(text: bytes) -> Headers:
    lines = text.decode("utf-8", "replace").split("\r\n")
    pairs = [line.partition(":") for line in lines if line]
    return Headers([(name.strip(), value.strip()) for name, _, value in pairs])


def _length(fields: Headers, problems: list[str]) -> int:
    text = fields.get("content-length")
    if text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    problems.append(f"Content-Length is {text!r}")
    return 0


def _compare(name: str, fields: Headers, actual: str, problems: list[str]) -> None:
    """Digests are optional, but one that is there must be right."""
    written = fields.get(name.lower())
    if written and written.lower() != f"sha256:{actual}":
        problems.append(f"{name} is {written}, the bytes have sha256:{actual}")


class _Source:
    """Bytes from pieces, taken by mark or by number."""

    __slots__ = ("_buffer", "_pieces")

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._buffer = b""

    def until(self, mark: bytes, limit: int) -> bytes:
        """The bytes up to and with `mark`; if it is not in the first `limit` bytes, those."""
        while True:
            end = self._buffer.find(mark, 0, limit)
            piece = b"" if end >= 0 or len(self._buffer) >= limit else next(self._pieces, b"")
            if not piece:
                end = end + len(mark) if end >= 0 else limit
                taken, self._buffer = self._buffer[:end], self._buffer[end:]
                return taken
            self._buffer += piece

    def take(self, count: int) -> Iterator[bytes]:
        """The next `count` bytes, or as many as there are."""
        while count > 0:
            piece = self._buffer or next(self._pieces, b"")
            if not piece:
                return
            self._buffer = piece[count:]
            piece = piece[:count]
            count -= len(piece)
            yield piece

    def remainder(self, expected: int) -> bytes:
        """What is left, cut after `expected` + 1 bytes; reads to the end."""
        left = self._buffer[: expected + 1]
        for piece in self._pieces:
            left = (left + piece)[: expected + 1]
        self._buffer = b""
        return left
