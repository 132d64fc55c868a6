"""Decoders of content codings (RFC 9110 8.4.1) that never hold more than a bounded piece of output.

Each decoder turns an iterator of pieces into an iterator of pieces of at most `PIECE` bytes, raises
`UndecodableError` where the input makes no sense, and `EndedEarlyError` where it stops before its end.
"""

import itertools
import struct
from collections.abc import Callable, Generator, Iterator
from typing import BinaryIO, cast

import brotli
from isal import igzip_lib

PIECE = 1 << 18
_MAX_GZIP_HEADER = 1 << 16
_MAX_MEMBERS = 10_000
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_TRAILER = 8
_DEFLATE = 8
_WINDOW = 8 << 20  # RFC 9659 3: no zstd window beyond 8 MB on the web

Pieces = Iterator[bytes]


class UndecodableError(Exception):
    """The input is not in its coding."""


class EndedEarlyError(Exception):
    """The input stops before its coding says that it ends."""


def gzip(pieces: Pieces) -> Pieces:
    """Undo gzip (RFC 1952): all members, checksums not looked at, what follows them ignored.

    Input without gzip's magic passes unchanged: servers label what they forgot to compress.
    """
    held = _take(pieces, len(_GZIP_MAGIC))
    if not held.startswith(_GZIP_MAGIC):
        yield from _unchanged(held, pieces)
        return
    for _ in range(_MAX_MEMBERS):
        held = _skip_gzip_header(held, pieces)
        held = yield from _inflate(held, pieces)
        while len(held) < _GZIP_TRAILER + len(_GZIP_MAGIC) and (piece := next(pieces, b"")):
            held += piece
        held = held[_GZIP_TRAILER:]
        if not held.startswith(_GZIP_MAGIC):
            return
    raise UndecodableError(f"more than {_MAX_MEMBERS} gzip members")


def deflate(pieces: Pieces) -> Pieces:
    """Undo deflate: with the zlib wrapper of the standard (RFC 1950), without, or gzip by mistake."""
    held = _take(pieces, 2)
    if held.startswith(_GZIP_MAGIC):
        yield from gzip(_unchanged(held, pieces))
        return
    if len(held) >= 2 and held[0] & 15 == _DEFLATE and int.from_bytes(held[:2], "big") % 31 == 0:
        held = held[2:]
    yield from _inflate(held, pieces)


def br(pieces: Pieces) -> Pieces:
    """Undo Brotli (RFC 7932); what follows the stream is ignored."""

    def gently(first: bytes) -> Pieces:
        return _brotli(first[index : index + 1] for index in range(len(first)))

    return _second_try(pieces, _brotli, gently)


def zstd(pieces: Pieces) -> Pieces:
    """Undo Zstandard (RFC 8878), all frames; what follows them is ignored."""
    return _second_try(pieces, _zstandard, lambda first: _zstandard(iter((first,)), all_frames=False))


DECODERS: dict[str, Callable[[Pieces], Pieces]] = {
    "gzip": gzip,
    "x-gzip": gzip,
    "deflate": deflate,
    "br": br,
    "zstd": zstd,
}
"""By the names in Content-Encoding, in lower case."""


class _Source:
    """A reader over pieces, as zstandard wants one."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._held = b""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; nothing at the end."""
        if not self._held:
            self._held = next(self._pieces, b"")
        piece, self._held = self._held[:size], self._held[size:]
        return piece


def _brotli(pieces: Pieces) -> Pieces:
    decoder = brotli.Decompressor()
    try:
        for piece in pieces:
            yield decoder.process(piece, output_buffer_limit=PIECE)
            while not decoder.can_accept_more_data():
                yield decoder.process(b"", output_buffer_limit=PIECE)
            if decoder.is_finished():
                return
    except brotli.error as error:
        raise UndecodableError(str(error)) from None
    raise EndedEarlyError


def _zstandard(pieces: Pieces, *, all_frames: bool = True) -> Pieces:
    # Loading it takes 15 ms, a good part of a small crawl's start; few servers send it.
    import zstandard

    decoder = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    source = cast("BinaryIO", _Source(pieces))
    with decoder.stream_reader(source, read_across_frames=all_frames) as reader:
        try:
            while piece := reader.read(PIECE):
                yield piece
        except zstandard.ZstdError as error:
            raise UndecodableError(str(error)) from None


def _second_try(
    pieces: Pieces, decode: Callable[[Pieces], Pieces], gently: Callable[[bytes], Pieces]
) -> Pieces:
    """Decode; if that fails within the first piece of input, decode that piece once more, gently.

    These decoders lose the output of the call that meets an error, for a page of ordinary size all
    of it, even if it only met a line end after the stream.
    """
    first = next(pieces, b"")
    beyond = False
    given = 0

    def rest() -> Pieces:
        nonlocal beyond
        for piece in pieces:
            beyond = True
            yield piece

    try:
        for output in decode(itertools.chain((first,), rest())):
            given += len(output)
            yield output
        return
    except UndecodableError:
        if beyond:
            raise
    for output in gently(first):
        if given >= len(output):
            given -= len(output)
        else:
            yield output[given:]
            given = 0


def _inflate(held: bytes, pieces: Pieces) -> Generator[bytes, None, bytes]:
    """Yield the output of one raw deflate stream (RFC 1951); returns the input that follows it."""
    decoder = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_DEFLATE)
    while True:
        try:
            piece = decoder.decompress(held, PIECE)
        except igzip_lib.IsalError as error:  # type: ignore[misc]
            raise UndecodableError(str(error)) from None
        if piece:
            yield piece
        if decoder.eof:
            return decoder.unused_data
        held = b""
        if decoder.needs_input:
            held = next(pieces, b"")
            if not held:
                raise EndedEarlyError


def _skip_gzip_header(held: bytes, pieces: Pieces) -> bytes:
    """The input after a gzip member's header (RFC 1952 2.3), which `held` begins."""
    while (end := _gzip_header_end(held)) < 0:
        if len(held) > _MAX_GZIP_HEADER:
            raise UndecodableError("gzip header too long")
        piece = next(pieces, b"")
        if not piece:
            raise EndedEarlyError
        held += piece
    return held[end:]


def _gzip_header_end(data: bytes) -> int:
    """Length of the gzip header at the start of `data`; -1 if more is needed."""
    if len(data) < 10:
        return -1
    method, flags = data[2], data[3]
    if method != _DEFLATE:
        raise UndecodableError(f"gzip method {method}")
    end = 10
    if flags & 4:  # extra field
        if len(data) < end + 2:
            return -1
        end += 2 + struct.unpack_from("<H", data, end)[0]
    for flag in (8, 16):  # name, comment
        if flags & flag:
            end = data.find(b"\0", end) + 1
            if end == 0:
                return -1
    if flags & 2:  # checksum
        end += 2
    return end if end <= len(data) else -1


def _take(pieces: Pieces, size: int) -> bytes:
    """At least `size` bytes from the front of `pieces`, fewer only at their end."""
    held = next(pieces, b"")
    while len(held) < size and (piece := next(pieces, b"")):
        held += piece
    return held


def _unchanged(held: bytes, pieces: Pieces) -> Pieces:
    if held:
        yield held
    yield from pieces
