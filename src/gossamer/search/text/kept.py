"""The mark of an index: how far it has come, and what its files were when they were written.

tantivy commits by replacing its `meta.json`, which bears the number of the commit. `mark.json` names the mark of that
number, and before a commit the mark that it will bring; so whichever of the two a kill leaves behind, it is known
which rows the index holds, and none is added twice.
"""

import hashlib
from pathlib import Path
from typing import Literal

import msgspec
import xxhash

from gossamer.archive.follower import KEPT, START, Mark
from gossamer.state.whole_files import Version, version_of, write_whole

__all__ = [
    "FOLDER",
    "INDEX",
    "OTHER",
    "Damage",
    "FileNote",
    "Kept",
    "damage",
    "noted",
    "read_kept",
    "versions_of",
    "write_kept",
]

FOLDER = "search"
"""In a crawl's folder."""
INDEX = "index"
OTHER = "index-2"
"""Folders of the index: one that is made anew takes the other, until the mark names it."""
_META = "meta.json"


class FileNote(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was written: bytes, wall time in nanoseconds, hash of the content."""

    size: int
    modified: int
    digest: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What `mark.json` says.

    Attributes:
        version: of fields and words.
        made_of: by what its tables are told from others (`State.source`).
        commit: tantivy's number of the last commit that is known to be done.
        mark: what it brought the index to.
        next: what the following commit brings it to; the mark, if `commit` is no longer the last.
        files: the index's files by name.
        index: the folder that it is in.
    """

    version: int
    made_of: str
    commit: int = -1
    mark: Mark = START
    next: Mark = START
    files: dict[str, FileNote] = {}
    index: Literal["index", "index-2"] = "index"


class _Deletes(msgspec.Struct):
    opstamp: int


class _Segment(msgspec.Struct):
    segment_id: str
    deletes: _Deletes | None = None

    def holds(self, name: str) -> bool:
        """Whether a file is one of its."""
        of, _, rest = name.partition(".")
        if of != self.segment_id.replace("-", ""):
            return False
        return not rest.endswith("del") or (
            self.deletes is not None and rest == f"{self.deletes.opstamp}.del"
        )


class _Meta(msgspec.Struct):
    opstamp: int
    segments: list[_Segment]


class Damage(Exception):  # noqa: N818 (never leaves the room)
    """Why an index is to be made anew: a sentence without its place."""


def versions_of(folder: Path, index: str) -> tuple[Version, Version]:
    """Which files `read_kept` would read now; `index`: what it last said."""
    return version_of(folder / KEPT), version_of(folder / index / _META)


def read_kept(folder: Path, name: str = KEPT) -> Kept | None:
    """The mark as it stands now; `None` if no index was begun. `name`: `KEPT_ANEW` for that of one that is made anew.

    Raises:
        Damage: it cannot be read.
    """
    try:
        content, _, digest = (folder / name).read_bytes().partition(b"\n")
        kept = msgspec.json.decode(content, type=Kept)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Damage(f"{name} cannot be read ({error})") from None
    if digest.decode("latin-1") != xxhash.xxh3_64_hexdigest(content):
        raise Damage(f"the content of {name} has changed")
    last = _meta(folder / kept.index).opstamp
    return kept if last == kept.commit else msgspec.structs.replace(kept, commit=last, mark=kept.next)


def write_kept(folder: Path, kept: Kept, name: str = KEPT) -> None:
    """Replace the mark, durably.

    Raises:
        StorageError: the disk refuses.
    """
    content = msgspec.json.encode(kept)
    write_whole(folder / name, content + b"\n" + xxhash.xxh3_64_hexdigest(content).encode())


def noted(index: Path, known: dict[str, FileNote]) -> dict[str, FileNote]:
    """What the files of the last commit are; those that are `known` are not read again."""
    notes = {}
    for path in _files(index):
        try:
            found = path.stat()
            note = known.get(path.name)
            if note is None or (note.size, note.modified) != (found.st_size, found.st_mtime_ns):
                note = FileNote(found.st_size, found.st_mtime_ns, _digest(path))
        except FileNotFoundError:  # merged into another meanwhile
            continue
        notes[path.name] = note
    return notes


def damage(folder: Path, kept: Kept, *, thorough: bool) -> str:
    """What is wrong with the files; empty if nothing is.

    Args:
        folder: of the index.
        kept: the mark.
        thorough: read every file, not only those with another time than they were written at.
    """
    index = folder / kept.index
    for name, note in kept.files.items():
        path = index / name
        try:
            found = path.stat()
            if found.st_size != note.size:
                wrong = f"{name} has {found.st_size:,} bytes instead of {note.size:,}"
            elif (thorough or found.st_mtime_ns != note.modified) and _digest(path) != note.digest:
                wrong = f"the content of {name} has changed"
            else:
                continue
        except FileNotFoundError:
            wrong = f"{name} is not there"
        except OSError as error:
            wrong = f"{name} cannot be read ({error.strerror})"
        if _is_held(index, name):  # not merged into another by now
            return wrong
    return ""


def _is_held(index: Path, name: str) -> bool:
    return any(segment.holds(name) for segment in _meta(index).segments)


def _files(index: Path) -> list[Path]:
    """The files of the last commit that are there."""
    segments = _meta(index).segments
    return sorted(path for path in index.iterdir() if any(segment.holds(path.name) for segment in segments))


def _meta(index: Path) -> _Meta:
    try:
        return msgspec.json.decode((index / _META).read_bytes(), type=_Meta)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Damage(f"{_META} cannot be read ({error})") from None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, xxhash.xxh3_64).hexdigest()
