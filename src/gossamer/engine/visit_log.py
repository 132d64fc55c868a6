"""The crawl log: one JSON line for each visit, in settlement order."""

from pathlib import Path

import msgspec

from gossamer.model.events import Visited
from gossamer.model.outcome import Failed, Fetched, Refused

_encode = msgspec.json.Encoder().encode


class VisitLog:
    """Appends to `crawl.log`. JSON escapes control characters, so a line is always one line."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=1 << 16)

    def write(self, visit: Visited) -> None:
        """Add one line; `flush` makes it visible."""
        candidate = visit.lease.candidate
        line: dict[str, object] = {
            "at": round(visit.at, 3),
            "url": candidate.url.text,
            "kind": candidate.kind,
            "depth": candidate.depth,
            "hops": candidate.hops,
            "via": candidate.via,
            "attempt": candidate.attempts + 1,
            "became": type(visit.disposition).__name__.lower(),
        }
        reason = getattr(visit.disposition, "reason", "")
        if reason:
            line["reason"] = reason
        match visit.outcome:
            case Fetched(exchange=exchange):
                line["status"] = exchange.status
                line["size"] = exchange.body.size
                line["seconds"] = round(exchange.timing.total, 4)
                line["type"] = visit.page.media_type if visit.page else ""
                line["address"] = exchange.address
                if exchange.truncated:
                    line["truncated"] = exchange.truncated
            case Failed(fault=fault, detail=detail):
                line["fault"] = fault
                line["detail"] = detail
            case Refused(rule=rule, detail=detail):
                line["refused"] = rule
                line["detail"] = detail
        if visit.page and visit.page.problems:
            line["problems"] = visit.page.problems
        if visit.twin:
            line["twin"] = visit.twin
        if visit.place:
            line["file"], line["offset"] = visit.place[0], visit.place[1]
        self._file.write(_encode(line) + b"\n")

    def flush(self) -> None:
        """Hand the lines to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
