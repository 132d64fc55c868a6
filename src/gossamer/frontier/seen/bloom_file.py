"""Keeps a Bloom filter in a file between sessions, so that a start need not make it anew."""

import contextlib
import operator
import os
import zlib
from pathlib import Path
from typing import IO

import msgspec
from rbloom import Bloom


class Saved(msgspec.Struct, frozen=True):
    """What a filter in a file stands for; all of it is in the file's name, which appears with the whole file.

    Attributes:
        last: arrival number of the last record of the log that is in it.
        urls: hashes in it.
        total: their sum modulo 2^64.
        bits: its size as asked for.
        hashes: bits that each URL sets.
        checksum: CRC-32 of the file.
    """

    last: int
    urls: int
    total: int
    bits: int
    hashes: int
    checksum: int = 0

    def name(self, table: str) -> str:
        """Name of the file of a filter."""
        fields = (format(field, "x") for field in msgspec.structs.astuple(self))
        return "-".join((table, *fields)) + SUFFIX


SUFFIX = ".bloom"


def files(folder: Path, table: str) -> list[Path]:
    """What was saved of a table."""
    return list(folder.glob(f"{table}-*{SUFFIX}"))


def save(bloom: Bloom, saved: Saved, folder: Path, table: str) -> None:
    """Write the filter of a table to the disk, then remove older ones.

    Raises:
        OSError: the disk refuses; the older ones are still there.
    """
    partial = folder / f"{table}{SUFFIX}.partial"
    try:
        bloom.save(partial)
        with partial.open("rb") as file:
            target = folder / msgspec.structs.replace(saved, checksum=_checksum(file)).name(table)
            os.fsync(file.fileno())
        partial.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()
    for older in files(folder, table):
        if older != target:
            older.unlink()


def load(folder: Path, table: str, bits: int, hashes: int) -> tuple[Bloom, Saved] | None:
    """The filter of a table, of these sizes, that was saved last; `None` if none can be read."""
    found = [saved for file in files(folder, table) if (saved := _parsed(file))]
    fitting = [saved for saved in found if (saved.bits, saved.hashes) == (bits, hashes)]
    if not fitting:
        return None
    saved = max(fitting, key=lambda one: one.last)
    try:
        with (folder / saved.name(table)).open("rb") as file:
            if _checksum(file) != saved.checksum:
                return None
    except OSError:
        return None
    return Bloom.load(folder / saved.name(table), operator.index), saved


def _checksum(file: IO[bytes]) -> int:
    checksum = 0
    while some := file.read(1 << 20):
        checksum = zlib.crc32(some, checksum)
    return checksum


def _parsed(file: Path) -> Saved | None:
    try:
        return Saved(*(int(part, 16) for part in file.stem.split("-")[1:]))
    except (ValueError, TypeError):
        return None
