"""What is committed of an index of near-duplicates; to be read without its libraries."""

from pathlib import Path

import msgspec

from gossamer.archive.follower import KEPT, START, Mark

__all__ = ["FOLDER", "PAGE_BYTES", "PAIR_BYTES", "VERSION", "Part", "State", "state_of"]

FOLDER = "similar"
VERSION = 1
PAGE_BYTES = 88
PAIR_BYTES = 12
_POSTING = 8


class Part(msgspec.Struct, frozen=True):
    """One part: its number, how much it holds of each kind, and the checksum of its file (XXH3)."""

    number: int
    bands: int
    urls: int
    fingerprints: int
    pages: int
    pairs: int
    checksum: str

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each kind, in their order in the file."""
        counts = (self.bands, self.urls, self.fingerprints)
        return (*(_POSTING * count for count in counts), PAGE_BYTES * self.pages, PAIR_BYTES * self.pairs)


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What is committed.

    Attributes:
        version: of the format; others are made anew.
        made_of: by what its tables are told from others (`State.source`); what was made of those is made anew.
        mark: place in the archive up to which the parts tell.
        parts: in the order of their pages.
        next: number of the next part.
    """

    version: int = VERSION
    made_of: str = ""
    mark: Mark = START
    parts: tuple[Part, ...] = ()
    next: int = 0

    @property
    def pages(self) -> int:
        """Captures in the index, older ones of a URL too."""
        return sum(part.pages for part in self.parts)

    @property
    def bytes(self) -> tuple[int, int]:
        """On disk: (what near-duplicates need, fingerprints for copies)."""
        copies = sum(_POSTING * part.fingerprints for part in self.parts)
        return sum(sum(part.sizes) for part in self.parts) - copies, copies


def state_of(folder: Path, name: str = KEPT) -> State | None:
    """What is committed in `similar/` of a crawl; `None` if nothing is, or it is damaged or of another version."""
    try:
        state = msgspec.json.decode((folder / name).read_bytes(), type=State)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return state if state.version == VERSION else None
