"""Keeps what a crawl was doing when: a line every ten seconds in `history.jsonl`."""

from pathlib import Path

import msgspec

from gossamer.model.errors import StorageError
from gossamer.state.whole_files import write_pieces

HISTORY = "history.jsonl"
EVERY = 10.0
"""Seconds between two lines."""
LONGEST = 8 << 20
"""Bytes beyond which every second of the older lines is left out: some ten days of lines."""

COLUMNS = (
    "time", "pages", "bytes", "errors", "queued", "waiting", "resting", "parked", "workers", "memory"
)  # fmt: skip
"""Sums so far, but `queued` to `memory` as at that time; `errors` are visits without a response; `resting`
are hosts as `hosts_by_state` counts them."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[float]).decode


def write_line(folder: Path, values: list[float]) -> None:
    """Add a line; a disk that refuses it is none of the crawl's worries."""
    path = folder / HISTORY
    try:
        with path.open("ab") as out:
            out.write(_encode(values) + b"\n")
            long = out.tell() > LONGEST
        if long:
            _thin_out(path)
    except (OSError, StorageError):
        return


def _thin_out(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    write_pieces(path, [*lines[:half:2], *lines[half:]])


def read_history(folder: Path, since: float, points: int) -> list[list[float]]:
    """At most `points` lines since then, evenly over time, the last one among them."""
    try:
        lines = (folder / HISTORY).read_bytes().splitlines()
    except OSError:
        return []
    rows = [row for row in map(_parsed, lines) if row is not None and row[0] >= since]
    if len(rows) <= points:
        return rows
    first, last = rows[0][0], rows[-1][0]
    step = (last - first) / (points - 1) or 1.0
    chosen: dict[int, list[float]] = {}
    for row in rows:
        chosen[round((row[0] - first) / step)] = row  # the last of each interval
    return list(chosen.values())


def _parsed(line: bytes) -> list[float] | None:
    try:
        row = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return row if len(row) == len(COLUMNS) else None
