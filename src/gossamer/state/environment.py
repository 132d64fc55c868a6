"""The RocksDB environment of one crawl: opens it, reads it, commits atomic batches, takes checkpoints."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple

import rocksdict

from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.families import Family, StateConfig, rocksdb_options
from gossamer.state.keys import after_prefix

__all__ = ["RECORD", "Batch", "Environment", "Family", "StateConfig", "Table"]

RECORD = "rocksdict-config.json"
"""What rocksdict keeps of its own in the folder, and writes anew whenever it opens one, for reading too."""
LOOKS = 3
"""Attempts to read a state that another user's crawl is changing."""


class Table(NamedTuple):
    """A file of a family, with its first and last key. Those of level 0 are all read by whoever scans."""

    name: str
    level: int
    first: bytes
    last: bytes


_LEVEL = re.compile(r"--- level ([0-9]+) ---")
_TABLE = re.compile(r" ([0-9]+):[^'\n]*'([0-9A-F]*)' seq:[^'\n]*'([0-9A-F]*)' seq:")


class Batch:
    """Changes to any families that become real together, or not at all."""

    __slots__ = ("_families", "raw")

    def __init__(self, families: dict[Family, rocksdict.ColumnFamily]) -> None:
        self._families = families
        self.raw = rocksdict.WriteBatch(raw_mode=True)
        """As `Environment.commit` gives it to RocksDB."""

    def put(self, family: Family, key: bytes, value: bytes) -> None:
        """Set the value of `key` in `family`."""
        self.raw.put(key, value, self._families[family])

    def delete(self, family: Family, key: bytes) -> None:
        """Remove `key` from `family`, if it is there."""
        self.raw.delete(key, self._families[family])

    def delete_all(self, family: Family) -> None:
        """Remove every key of `family`, however many there are; all are below 64 bytes of 255."""
        self.raw.delete_range(b"", b"\xff" * 64, self._families[family])

    def __len__(self) -> int:
        return self.raw.len()


_NO_FAMILY = "Column family not found"


class Environment:
    """RocksDB with our families.

    Invariant: writing environments hold RocksDB's lock, so there is one per folder.
    """

    _empty: ClassVar[dict[str, bytes] | None] = None
    """Files of a state with all families and nothing in them: `CURRENT` and the manifest that it names; all else
    RocksDB makes when it opens it. The same for each new state, so a process has them made once."""

    def __init__(
        self,
        path: Path,
        config: StateConfig,
        access: rocksdict.AccessType,
        *,
        create: bool = False,
        through: Path | None = None,
        partial: bool = False,
    ) -> None:
        options, families = rocksdb_options(config, create=create)
        if partial:
            options.set_paranoid_checks(False)
        place = str(through or path)
        try:
            try:
                self._db = rocksdict.Rdict(place, options, column_families=families, access_type=access)
            except Exception as error:  # rocksdict raises bare Exception, told apart by text
                if _NO_FAMILY not in str(error):
                    raise
                # Of an older version, and only read: nothing is in the families that it does not have.
                listed = set(rocksdict.Rdict.list_cf(place))
                families = {name: made for name, made in families.items() if name in listed}
                self._db = rocksdict.Rdict(place, options, column_families=families, access_type=access)
        except Exception as error:  # noqa: BLE001 - as above
            raise _opening_error(path, str(error)) from None
        self.path = path
        self.config = config
        there = [family for family in Family if family.value in families]
        self._tables = {family: self._db.get_column_family(family.value) for family in there}
        self._handles = {family: self._db.get_column_family_handle(family.value) for family in there}

    @classmethod
    def open(cls, path: Path, config: StateConfig, *, create: bool = True) -> "Environment":
        """Open for writing. Without `create`, a state that is gone is an error, not a new beginning.

        Raises:
            ConfigError: another process has it open.
            StorageError: it is damaged or cannot be written.
        """
        if create and not path.exists():
            cls._make(path, config)
        return cls(path, config, rocksdict.AccessType.read_write(), create=create)

    @classmethod
    def _make(cls, path: Path, config: StateConfig) -> None:
        """Make an empty state, with all of its families or not at all: readers come at any moment."""
        whole = path.resolve()  # what is renamed must lie on the disk that a link leads to
        fresh = whole.with_name(f"{whole.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            if cls._empty is None:
                cls(path, config, rocksdict.AccessType.read_write(), create=True, through=fresh).close()
                cls._empty = {file.name: file.read_bytes() for file in fresh.glob("[CM]*")}
            else:
                fresh.mkdir(parents=True)
                for name, content in cls._empty.items():
                    with (fresh / name).open("wb") as file:
                        file.write(content)
                        os.fsync(file.fileno())
            fresh.rename(whole)
        except OSError as error:
            raise _failure(path, "made", str(error)) from None

    @classmethod
    def open_secondary(cls, path: Path, scratch: Path, config: StateConfig) -> "Environment":
        """Open for reading beside a writer, as of now. `scratch` receives RocksDB's own log.

        Where nothing may be written it is opened through links in `scratch`, because rocksdict writes its own
        settings beside what it reads.

        Raises:
            StorageError: it is damaged or cannot be read.
        """
        access = rocksdict.AccessType.secondary(str(scratch))
        if not _only_readable(path):
            environment = cls(path, config, access)
            environment._db.try_catch_up_with_primary()
            return environment
        for attempt in range(1, LOOKS + 1):
            try:
                return cls(path, config, access, through=_linked(path, scratch / f"links-{attempt}"))
            except StorageError:
                if attempt == LOOKS:  # else its writer may have removed a file meanwhile
                    raise
        raise AssertionError

    @classmethod
    def open_read_only(cls, path: Path, config: StateConfig, scratch: Path | None = None) -> "Environment":
        """Open for reading a state that nobody writes to, such as a snapshot's; nothing in it changes.

        Of damage it says more than `open_secondary`, which takes a table that cannot be opened for one that
        the writer has removed.

        Args:
            path: of the state.
            config: bounds of memory.
            scratch: an empty folder; it is opened through links in there, as with `open_secondary`.

        Raises:
            StorageError: it is damaged, or there is none.
        """
        through = None if scratch is None else _linked(path, scratch / "links")
        return cls(path, config, rocksdict.AccessType.read_only(False), through=through)

    @classmethod
    def open_partial(cls, path: Path, config: StateConfig) -> "Environment":
        """As `open_read_only`, for a state of which tables are missing; who reads one of those gets an error.

        Raises:
            StorageError: it is damaged, or there is none.
        """
        return cls(path, config, rocksdict.AccessType.read_only(False), partial=True)

    def tables(self, family: Family) -> list[Table]:
        """The files that hold a family, whether they are there or not."""
        if family not in self._tables:
            return []
        told: str = self._tables[family].property_value("rocksdb.sstables") or ""
        found = []
        level = 0
        for line in told.splitlines():
            if begins := _LEVEL.match(line):
                level = int(begins[1])
            elif file := _TABLE.match(line):
                keys = (bytes.fromhex(key) for key in file.group(2, 3))
                found.append(Table(f"{int(file[1]):06d}.sst", level, *keys))
        return found

    def get(self, family: Family, key: bytes) -> bytes | None:
        """The value, or `None`.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            value: bytes | None = self._tables[family].get(key)
        except Exception as error:  # noqa: BLE001 - rocksdict raises bare Exception
            if family not in self._tables:
                return None
            raise _failure(self.path, "read", str(error)) from None
        return value

    def batch(self) -> Batch:
        """A new batch without any changes."""
        return Batch(self._handles)

    def commit(self, batch: Batch) -> None:
        """Make `batch` real. It survives a kill of the process; a power failure only after `sync`.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            self._db.write(batch.raw)
        except Exception as error:  # noqa: BLE001 - rocksdict raises bare Exception
            raise _failure(self.path, "written", str(error)) from None

    def scan(
        self, family: Family, start: bytes = b"", prefix: bytes = b"", end: bytes = b""
    ) -> Iterator[tuple[bytes, bytes]]:
        """(key, value) in key order from `start` (at least `prefix`) to the end of `prefix`, or before `end`.

        Raises:
            StorageError: it cannot be read to its end.
        """
        if family not in self._tables:
            return
        stop = end or (after_prefix(prefix) if prefix else None)
        # An upper bound keeps RocksDB from stepping over the tombstones of the next host. Blocks that are
        # passed once do not enter the cache: it is for what is looked up.
        read = rocksdict.ReadOptions()
        read.fill_cache(False)  # type: ignore[call-arg]  # the stub forgets it
        if stop is not None:
            read.set_iterate_upper_bound(stop)
        cursor = self._tables[family].iter(read)
        cursor.seek(max(start, prefix))
        while cursor.valid():
            yield cursor.key(), cursor.value()
            cursor.next()
        # A damaged block ends a cursor just as the last key does.
        try:
            cursor.status()
        except Exception as error:  # noqa: BLE001 - rocksdict raises bare Exception
            raise _failure(self.path, "read", str(error)) from None

    def sync(self) -> None:
        """Make every commit so far survive a power failure."""
        try:
            self._db.flush_wal(True)
        except Exception as error:  # noqa: BLE001 - rocksdict raises bare Exception
            raise _failure(self.path, "synced", str(error)) from None

    def checkpoint(self, target: Path) -> None:
        """A consistent copy in `target` (which must not exist), by hard links where possible."""
        try:
            rocksdict.Checkpoint(self._db).create_checkpoint(str(target))
        except Exception as error:  # noqa: BLE001 - rocksdict raises bare Exception
            for left in (target, target.with_name(target.name + ".tmp")):
                shutil.rmtree(left, ignore_errors=True)
            raise _failure(self.path, "copied to a checkpoint", str(error)) from None

    def estimate(self, family: Family) -> int:
        """About how many keys a family holds; cheap."""
        if family not in self._tables:
            return 0
        value: int | None = self._tables[family].property_int_value("rocksdb.estimate-num-keys")
        return value or 0

    def disk_bytes(self, family: Family) -> int:
        """Bytes of the files that hold a family, what is obsolete in them counted."""
        if family not in self._tables:
            return 0
        value: int | None = self._tables[family].property_int_value("rocksdb.live-sst-files-size")
        return value or 0

    def close(self) -> None:
        """Flush and let go of the lock.

        A disk that refuses the flush does no harm: every commit stands in the log.
        """
        self._handles.clear()
        closing = [table.close for table in self._tables.values()]
        self._tables.clear()
        for close in (*closing, self._db.close):
            with contextlib.suppress(Exception):  # rocksdict raises bare Exception
                close()


def _only_readable(path: Path) -> bool:
    """Whether rocksdict could not write its record: a read-only disk, a folder of somebody else."""
    record = path / RECORD
    return record.exists() and not os.access(record, os.W_OK)


def _linked(path: Path, place: Path) -> Path:
    """A new folder `place` of links to the files in `path`, with a record of its own."""
    place.mkdir(parents=True)
    for file in path.iterdir():
        if file.name == RECORD:
            shutil.copyfile(file, place / RECORD)
        else:
            (place / file.name).symlink_to(file.absolute())
    return place


def _opening_error(path: Path, text: str) -> Exception:
    if f"{path / 'LOCK'}: " in text and ("unavailable" in text or "lock hold" in text):
        return ConfigError(
            f"{path.parent}: another process is crawling into this folder. "
            "Wait for it, stop it, or choose another --dir."
        )
    return _failure(path, "opened", text)


_REFUSALS = ("No space left", "quota exceeded", "Read-only file system", "Permission denied", "Too many open")


def _failure(path: Path, verb: str, text: str) -> StorageError:
    """What RocksDB says, with the remedy: the disk may refuse, or what is on it may be damaged."""
    if any(refusal in text for refusal in _REFUSALS):
        remedy = f"Free some space, or see that the folder is writable; then '{command_line('resume', path.parent)}'."
    else:
        back = command_line("resume", path.parent, "--from-checkpoint")
        remedy = f"If it is damaged, go back to a checkpoint: '{back}'."
    return StorageError(f"{path}: the state cannot be {verb} ({' '.join(text.split())}). {remedy}")
