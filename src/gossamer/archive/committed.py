"""How far the archive is committed, as the state has it: the files with their lengths, and where it was cut.

The state's list is the truth and the folder follows it (`writer.py`). A kill takes away nothing that was
committed; going back to a checkpoint does, and so may a power failure. What was written since stands where
other records may stand now, so each such return is kept here for whoever reads on from a mark.
"""

import uuid

import msgspec

from gossamer.archive.placement import ArchiveFile
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import decode, encode

CUTS = b"cuts"
"""Key in `meta` of the list of `Cut`."""
MOST_CUTS = 100


class Cut(msgspec.Struct, frozen=True, array_like=True):
    """The archive went back to a place, and has another history from there on.

    Attributes:
        history: a name of the history that began then, used once.
        serial, length: the last file that was left, and how much of it.
    """

    history: str
    serial: int
    length: int


class Committed(msgspec.Struct, frozen=True):
    """The archive at one moment.

    Attributes:
        files: in the order of their serials.
        cuts: oldest first.
    """

    files: list[ArchiveFile]
    cuts: list[Cut]

    @property
    def name(self) -> str:
        """That of no other archive, moved or copied as it may be: of its first record; empty before that."""
        return self.files[0].warcinfo_id if self.files else ""

    @property
    def history(self) -> str:
        """The name of the history that goes on now; empty for that of an archive that was never cut."""
        return self.cuts[-1].history if self.cuts else ""


def archive_key(name: str) -> bytes:
    """Key in `meta` of an archive file."""
    return b"archive/" + name.encode()


def archive_files(environment: Environment) -> list[ArchiveFile]:
    """The archive files as last committed."""
    return [decode(data, ArchiveFile) for _, data in environment.scan(Family.META, prefix=b"archive/")]


def committed(environment: Environment) -> Committed:
    """How far the archive is committed; of a secondary instance as of its last look.

    Raises:
        StorageError: the state cannot be read.
    """
    files = sorted(archive_files(environment), key=lambda file: file.serial)
    return Committed(files, _cuts(environment))


def note_cut(environment: Environment, batch: Batch) -> None:
    """Put into `batch` that the archive has gone back to what the state has of it."""
    at = max(archive_files(environment), key=lambda file: file.serial, default=None)
    cuts = [*_cuts(environment), Cut(uuid.uuid4().hex, at.serial if at else 0, at.length if at else 0)]
    while len(cuts) > MOST_CUTS:
        one, other = cuts[:2]
        place = min((one.serial, one.length), (other.serial, other.length))
        cuts[:2] = [Cut(other.history, *place)]
    batch.put(Family.META, CUTS, encode(cuts))


def _cuts(environment: Environment) -> list[Cut]:
    data = environment.get(Family.META, CUTS)
    return decode(data, list[Cut]) if data else []
