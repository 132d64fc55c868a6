"""The index of captures in blocks (ZipNum): gzip members of so many lines, and a line of where each begins.

A player looks into the second, which is small, and reads the one block that has its URL. Source: WACZ 1.1.1,
"indexes"; the form of the lines is `cdxj-gzip-1.0` of cdxj-indexer (Webrecorder).
"""

import gzip
import hashlib
import tempfile
from collections.abc import Iterable
from itertools import islice

import msgspec

from gossamer.datasets.export.wacz.container import Container

BLOCKS = "index.cdx.gz"
_LINES = 1_024
"""Of a block; as ArchiveWeb.page has it: some 20 KiB packed, which is what a player fetches for a page."""
_LEVEL = 6


def write_index(into: Container, lines: Iterable[bytes]) -> int:
    """Write `indexes/index.cdx.gz` and `indexes/index.idx`; one block is in memory.

    Args:
        into: takes both.
        lines: of CDXJ, in order, without line ends.

    Returns:
        The number of lines.
    """
    lines = iter(lines)
    count = offset = 0
    about = msgspec.json.encode({"format": "cdxj-gzip-1.0", "filename": BLOCKS})
    with tempfile.TemporaryFile() as places:
        places.write(b"!meta 0 " + about + b"\n")
        with into.member(f"indexes/{BLOCKS}") as blocks:
            while block := list(islice(lines, _LINES)):
                packed = gzip.compress(b"\n".join(block) + b"\n", _LEVEL, mtime=0)
                place = {
                    "offset": offset,
                    "length": len(packed),
                    "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}",
                    "filename": BLOCKS,
                }
                key = block[0][: block[0].index(b" {")]
                places.write(key + b" " + msgspec.json.encode(place) + b"\n")
                blocks.write(packed)
                count += len(block)
                offset += len(packed)
        size = places.tell()
        places.seek(0)
        with into.member("indexes/index.idx", size) as idx:
            while piece := places.read(1 << 20):
                idx.write(piece)
    return count
