"""Reads the crawl log, also while it is being written: as a stream, forwards, and backwards."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from gossamer.engine.settlement.visit_log import LONGEST_LINE
from gossamer.model.errors import StorageError
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import Reason

_ROBOTS = LinkKind.ROBOTS.value
PIECE = 256 << 10
"""Bytes read at once, longer than any line of a browser's URL; a longer line is read in several."""
L = TypeVar("L")


class VisitLine(msgspec.Struct, frozen=True, gc=False):
    """One visit, as far as those who look need it.

    By a protocol without HTTP statuses there is a `result` in place of a `status`. Where the log does not
    tell, `seconds` is negative and `started`, the moment of the request, 0.
    """

    at: float
    url: str
    started: float = 0.0
    kind: str = ""
    depth: int = 0
    became: str = ""
    reason: str = ""
    status: int = 0
    size: int = 0
    seconds: float = -1.0
    type: str = ""
    fault: str = ""
    detail: str = ""
    why: Reason | None = None
    refused: str = ""
    twin: str = ""
    result: str = ""


def is_error(visit: VisitLine) -> bool:
    """There was no response, or one that says that something is wrong. (To have no robots file is not.)"""
    if visit.status:
        return visit.status >= (500 if visit.kind == _ROBOTS else 400)
    if visit.result:
        return visit.became != "done" and visit.kind != _ROBOTS
    return not visit.refused


class VisitLines(Generic[L]):
    """The lines of a log from where the last reading ended.

    At most 256 KiB and one line are in memory. Of a log that was cut (`resume --from-checkpoint`, a power
    failure) what came behind the cut was read already: `cut` tells, and the figures begin anew.
    """

    def __init__(self, path: Path, line: type[L]) -> None:
        """Args:
        path: of the log.
        line: a struct with those fields of a line that are wanted; `VisitLine`, or another.
        """
        self._path = path
        self._decoder = msgspec.json.Decoder(line)
        self.offset = 0
        """Of the first line not read yet."""
        self.damaged = 0

    @property
    def cut(self) -> bool:
        """The log is shorter than what was read of it."""
        try:
            return self._path.stat().st_size < self.offset
        except OSError:
            return self.offset > 0

    def __iter__(self) -> Iterator[list[L]]:
        """Groups of visits up to the end of the log as it is when reading begins.

        A last line without its end is left for the next reading.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            with self._path.open("rb", buffering=0) as log:
                end = os.fstat(log.fileno()).st_size
                yield from self._groups(log.fileno(), end)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(f"{self._path}: cannot be read ({error.strerror}).") from None

    def _groups(self, descriptor: int, end: int) -> Iterator[list[L]]:
        rest = b""
        at = self.offset
        while at < end:
            chunk = os.pread(descriptor, min(PIECE, end - at), at)
            if not chunk:
                return
            at += len(chunk)
            whole, newline, tail = chunk.rpartition(b"\n")
            if not newline:
                rest += chunk
                if len(rest) > LONGEST_LINE:  # no line of ours
                    self.damaged += 1
                    self.offset, rest = at, b""
                continue
            lines, rest = rest + whole + newline, tail
            self.offset = at - len(tail)
            yield self._decode(lines)

    def _decode(self, lines: bytes) -> list[L]:
        try:
            return self._decoder.decode_lines(lines)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            visits = []
            for line in lines.splitlines():
                try:
                    visits.append(self._decoder.decode(line))
                except (msgspec.MsgspecError, UnicodeDecodeError):
                    self.damaged += 1
            return visits


_decode = msgspec.json.Decoder(VisitLine).decode


def visit_of(line: bytes) -> VisitLine | None:
    """A line of the log; `None` for half a one, after a power failure."""
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def forwards(path: Path, start: int) -> Iterator[tuple[int, bytes]]:
    """(offset behind it, line) of every whole line from `start`."""
    if not path.exists():
        return
    with path.open("rb") as file:
        file.seek(start)
        for line in file:
            if not line.endswith(b"\n"):
                return
            start += len(line)
            yield start, line


def backwards(path: Path, end: int) -> Iterator[tuple[int, bytes]]:
    """(offset of its beginning, line) of every whole line before `end`, the last first."""
    if not end:
        return
    with path.open("rb") as file:
        tail = b""  # of a line that begins earlier
        while end > 0:
            start = max(0, end - PIECE)
            file.seek(start)
            piece = file.read(end - start) + tail
            end = start
            first = piece.find(b"\n") + 1 if start else 0
            if start and not first:
                tail = piece if len(piece) <= LONGEST_LINE else b""  # no line of ours is longer
                continue
            tail = piece[:first]
            *lines, unfinished = piece[first:].split(b"\n")
            place = start + len(piece) - len(unfinished)
            for line in reversed(lines):
                place -= len(line) + 1
                yield place, line
