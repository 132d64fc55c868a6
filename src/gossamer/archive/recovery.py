"""Brings archive files back to what was committed, after any kind of end."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gossamer.archive.file import OPEN_SUFFIX, SUFFIX, FaultPoint, give_final_name, no_fault
from gossamer.archive.placement import ArchiveFile
from gossamer.model.errors import StorageError
from gossamer.state.whole_files import sync_directory


class Recovery(msgspec.Struct, frozen=True):
    """What `recover` left and what it did.

    Attributes:
        files: the files as they are now, in the order of their serials.
        changed: those of them that differ from what the state knew.
        repairs: one line for each thing that was done.
    """

    files: list[ArchiveFile]
    changed: list[ArchiveFile]
    repairs: list[str]


def recover(directory: Path, files: Iterable[ArchiveFile], fault_point: FaultPoint = no_fault) -> Recovery:
    """Make `directory` agree with `files`, the state's list; running it twice does no more than once.

    Bytes behind a committed length are cut off, archive files that the state does not know are removed, a
    rename that was not finished is finished. Of names, only `*.warc.gz` and `*.warc.gz.open` are touched.

    Raises:
        StorageError: bytes that were committed are missing, or the folder cannot be changed.
    """
    known = sorted(files, key=lambda entry: entry.serial)
    repairs: list[str] = []
    try:
        result = []
        for entry in known:
            result.append(_recover_file(directory, entry, repairs))
            fault_point("archive.recover")
        expected = {entry.name + (OPEN_SUFFIX if entry.state == "open" else "") for entry in result}
        _remove_unknown(directory, expected, repairs)
        fault_point("archive.recover.after_removal")
        if repairs:
            sync_directory(directory)
    except OSError as error:
        raise StorageError(
            f"cannot repair the archive in {directory}: {error}. See that it is writable, then resume"
        ) from error
    changed = [after for before, after in zip(known, result, strict=True) if before != after]
    return Recovery(result, changed, repairs)


def _recover_file(directory: Path, entry: ArchiveFile, repairs: list[str]) -> ArchiveFile:
    final, opened = directory / entry.name, directory / (entry.name + OPEN_SUFFIX)
    if entry.state == "open":
        path = opened if opened.exists() or not final.exists() else final
    else:
        path = final if final.exists() or not opened.exists() else opened
    if not path.exists():
        if entry.state == "closed":
            repairs.append(f"{entry.name}: not in the folder; moved away since it was closed")
            return entry
        raise _lost(path, entry.length, 0)
    _cut(path, entry.length, repairs)
    if path == opened and entry.state == "closed":
        give_final_name(directory, entry.name)
        repairs.append(f"{entry.name}: closed before, now has its final name")
    if path == final and entry.state == "open":
        repairs.append(f"{entry.name}: had its final name already, now closed")
        return ArchiveFile(entry.name, entry.length, "closed", entry.serial, entry.warcinfo_id)
    return entry


def _cut(path: Path, length: int, repairs: list[str]) -> None:
    """Cut `path` to `length` bytes."""
    size = path.stat().st_size
    if size < length:
        raise _lost(path, length, size)
    if size > length:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.ftruncate(descriptor, length)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        repairs.append(f"{path.name}: cut {size - length} bytes that were never committed")


def _remove_unknown(directory: Path, expected: set[str], repairs: list[str]) -> None:
    with os.scandir(directory) as entries:
        unknown = [
            item.name
            for item in entries
            if item.name.endswith((SUFFIX, SUFFIX + OPEN_SUFFIX))
            and item.name not in expected
            and item.is_file(follow_symlinks=False)
        ]
    for name in sorted(unknown):
        size = (directory / name).stat().st_size
        (directory / name).unlink()
        repairs.append(f"{name}: removed, nothing in it was ever committed ({size} bytes)")


def _lost(path: Path, length: int, size: int) -> StorageError:
    return StorageError(
        f"{path} has {size} of the {length} bytes that were committed (a power failure, or the file was "
        "changed). Put the file back, or go back to the last checkpoint with resume --from-checkpoint"
    )
