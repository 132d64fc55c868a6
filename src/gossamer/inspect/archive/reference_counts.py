"""Keeps how often other pages refer to each URL (K7's hit count), so that one URL is found at once.

A count for each link as it is found would cost 1.3 us a link for its write alone, so the numbers come from
the archive, with the link graph. They are exact as of then: what is archived is committed once.
"""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

import msgspec

from gossamer.model.errors import StorageError
from gossamer.words.amounts import moment

FILE = "references.tsv"
_LINE = 16 + 1 + 10 + 1
"""Bytes: hash, tab, count, line end. All lines are as long, so that places can be reckoned."""


class References(msgspec.Struct, frozen=True):
    """How many other pages referred to a URL, as of wall time `at`."""

    pages: int
    at: float

    @property
    def when(self) -> str:
        """When the counts were made, in words."""
        return f"{moment(self.at)} UTC"


def line_of(canonical: bytes, pages: int) -> bytes:
    """What `write` takes, without line end; to be sorted."""
    return b"%b\t%010d" % (_hash(canonical), pages)


def write(lines: Iterable[bytes], folder: Path) -> None:
    """Write lines that are in order.

    Raises:
        StorageError: the disk refuses.
    """
    path = folder / FILE
    try:
        with path.open("wb") as out:
            out.writelines(line + b"\n" for line in lines)
    except OSError as error:
        raise StorageError(f"{path}: cannot be written ({error.strerror}). Free some space.") from None


def references(folder: Path, canonical: str) -> References | None:
    """How often pages of the graph in `folder` refer to a URL; `None` if there is none, or it is damaged."""
    wanted = _hash(canonical.encode())
    try:
        with (folder / FILE).open("rb") as lines:
            at = (folder / FILE).stat()
            low, high = 0, at.st_size // _LINE
            while low < high:
                middle = (low + high) // 2
                lines.seek(middle * _LINE)
                line = lines.read(_LINE)
                if line[:16] == wanted:
                    return References(int(line[17:]), at.st_mtime)
                low, high = (middle + 1, high) if line[:16] < wanted else (low, middle)
    except (OSError, ValueError):
        return None
    return References(0, at.st_mtime)


def _hash(canonical: bytes) -> bytes:
    return blake2b(canonical, digest_size=8).hexdigest().encode()
