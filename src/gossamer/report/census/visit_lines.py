"""Reads the crawl log as a stream, also while it is being written."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from gossamer.engine.settlement.visit_log import LONGEST_LINE
from gossamer.model.errors import StorageError
from gossamer.model.link import LinkKind

_ROBOTS = LinkKind.ROBOTS.value
_CHUNK = 1 << 18
L = TypeVar("L")


class VisitLine(msgspec.Struct, frozen=True, gc=False):
    """One visit, as far as a report needs it.

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
            chunk = os.pread(descriptor, min(_CHUNK, end - at), at)
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
