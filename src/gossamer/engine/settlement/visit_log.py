"""The crawl log: one JSON line for each visit, in settlement order."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gossamer.model.disposition import Done, page_state
from gossamer.model.errors import StorageError
from gossamer.model.events import Visited
from gossamer.model.outcome import Failed, Fetched, Refused
from gossamer.policy.visits.retry import redirect_location

LOG = b"log"
"""Key in `meta` of the log's committed length."""
LONGEST_LINE = 1 << 20
LONGEST_LOCATION = 4_096

_encode = msgspec.json.Encoder().encode


class VisitLog:
    """Appends to `crawl.log`. JSON escapes control characters, so a line is always one line.

    The state keeps the committed length, so that after a kill the log has one line for each visit that was
    settled, and no more: what stands behind it is cut off.
    """

    def __init__(self, path: Path, committed: int) -> None:
        """Open the log, cut to `committed` bytes.

        Raises:
            StorageError: it cannot be opened or cut.
        """
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            length = min(os.fstat(self._descriptor).st_size, committed)
            # After a power failure it may be shorter than it should be, and end in a part of a line.
            start = max(0, length - LONGEST_LINE)
            self.length = start + os.pread(self._descriptor, length - start, start).rfind(b"\n") + 1
            os.ftruncate(self._descriptor, self.length)
        except OSError as error:
            raise self._failure("opened", error) from None

    def write(self, visits: Iterable[Visited]) -> int:
        """Add one line for each visit; the length now, to be committed with them.

        Raises:
            StorageError: the disk refuses.
        """
        lines = memoryview(b"".join([_line(visit) for visit in visits]))
        try:
            while lines:
                written = os.write(self._descriptor, lines)
                self.length += written
                lines = lines[written:]
        except OSError as error:
            raise self._failure("written", error) from None
        return self.length

    def close(self) -> None:
        """Write out and close the log's file."""
        os.close(self._descriptor)

    def _failure(self, verb: str, error: OSError) -> StorageError:
        return StorageError(
            f"{self._path}: cannot be {verb} ({error.strerror}). Free some space, or see that the file is "
            "writable, then resume."
        )


def _line(visit: Visited) -> bytes:
    candidate = visit.lease.candidate
    line: dict[str, object] = {
        "at": round(visit.at, 3),
        "url": candidate.url.text,
        "kind": candidate.kind,
        "depth": candidate.depth,
        "hops": candidate.hops,
        "via": candidate.via,
        "attempt": candidate.attempts + 1,
        "became": page_state(visit.disposition),
    }
    if not isinstance(visit.disposition, Done):
        line["reason"] = str(visit.disposition.reason)
        line["why"] = visit.disposition.reason
    elif isinstance(visit.disposition.again, float):
        line["again"] = round(visit.disposition.again, 3)
    match visit.outcome:
        case Fetched(exchange=exchange):
            if exchange.result is None:
                line["status"] = exchange.status
            else:
                line["result"] = exchange.said
            line["size"] = exchange.body.size
            line["started"] = round(exchange.latest.started, 4)
            line["seconds"] = round(exchange.timing.total, 4)
            line["type"] = visit.page.media_type if visit.page else ""
            line["address"] = exchange.latest.address
            location = redirect_location(exchange.status, exchange.headers)
            if location is not None:
                line["location"] = location[:LONGEST_LOCATION]
            if exchange.truncated:
                line["truncated"] = exchange.truncated
        case Failed(fault=fault, detail=detail):
            line["fault"] = fault
            line["detail"] = str(detail)
        case Refused(rule=rule, detail=detail):
            line["refused"] = rule
            line["detail"] = str(detail)
    if visit.page and visit.page.problems:
        line["problems"] = list(map(str, visit.page.problems))
    if visit.twin:
        line["twin"] = visit.twin
    if visit.place:
        line["file"], line["offset"] = visit.place[0], visit.place[1]
    return _encode(line) + b"\n"
