"""Keeps, for all crawls of one machine, who visits a host, until when it rests and whose turn is next.

One LMDB file, made anew each time the machine is started (its name holds the boot's id): a power failure may
leave anything in a file that is not synced, and neither processes nor times of one boot mean anything in the
next. Times are `CLOCK_BOOTTIME`, which all processes share and which no change of date moves.

A crawl is known by a number that is given once only, and holds a lock on the byte of that number in the file
beside the table. The kernel drops the lock with the process, however it ends, so a dead crawl's visits lapse
at once; no process id is compared, which could be another's by now, or belong to another container.
"""

import fcntl
import os
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import lmdb
import msgspec

from gossamer.model.errors import ConfigError, StorageError
from gossamer.policy.shared_turns import NEVER, Asker, HostTurns, ask, bury, end

FORMAT = 1
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_NUMBER = b"\0"
"""Key of the last number given; shorter than a host's, it stands before them all."""
KEY_BYTES = 16
MAX_BYTES = 32 << 20
"""Of the file: some 250,000 hosts. All of it is allocated when it is made, because a mapped page for which
the disk has no room would kill the process; it is mapped, because writing takes three times as long."""
_ROOM = 7 / 8
"""Share of it that hosts may fill; the rest is for pages that are being rewritten."""
FULL_WAIT = 10_000_000
"""Microseconds after which a host for which there is no room asks again. It gets room, because a full table
forgets rests, however long, of hosts for which nobody has asked for `FORGET`: the crawl that was told to wait
remembers by itself."""
SWEEP_EVERY = 64
SWEPT = 128
"""Entries looked at each so many claims. A claim makes at most one, so no more than about twice as many are
kept as are needed."""
_READER_CHECK_SWEEPS = 256

_LOCK = struct.Struct("hhqqi4x")
"""`struct flock` of a 64-bit machine: type, whence, start, length, pid."""
_IDLE_FROM = struct.Struct(">Q")
_encoder = msgspec.msgpack.Encoder()
_decode = msgspec.msgpack.Decoder(HostTurns).decode


def boot_micros() -> int:
    """Microseconds since the machine was started, its sleep included."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000


class Return(msgspec.Struct, frozen=True, gc=False):
    """A visit that has ended: the host lies still for `wait` microseconds; `visited` if there was one."""

    name: str
    wait: int
    visited: bool


class SharedRests:
    """One crawl's hold on the table; not for several threads at once.

    Every change is one transaction without a sync. A process that is killed in the middle of one leaves the
    table as it was (pages are copied before they change, and the number that makes them count is written
    last), and its lock to the next (a robust mutex).
    """

    def __init__(self, folder: Path, now: Callable[[], int] = boot_micros) -> None:
        """Join the crawls that share `folder`, which is made if need be.

        Raises:
            ConfigError: the folder belongs to somebody else, or others may write into it.
            StorageError: it cannot be used.
        """
        self._folder = folder
        self._now = now
        self._claims = self._sweeps = 0
        self._hand = b""
        self._full = False
        self._locks = -1
        try:
            _make(folder)
            table = folder / f"rests-{FORMAT}-{_BOOT.read_text(encoding='ascii').strip()}.mdb"
            _remove_older(folder, table)
            self._environment = _share(table)
        except (OSError, lmdb.Error) as error:
            raise self._unusable(error) from None
        try:
            self._locks = os.open(
                table.with_suffix(".crawls"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
            )
            self.number = self._join()
        except (OSError, lmdb.Error) as error:
            self._let_go()
            raise self._unusable(error) from None

    def __repr__(self) -> str:
        return f"<SharedRests {self._folder} as {self.number}>"

    def __len__(self) -> int:
        """Hosts in the table."""
        return max(0, int(self._environment.stat()["entries"]) - 1)

    def close(self) -> None:
        """Leave: what is claimed lapses as if the process had ended."""
        self._let_go()

    # Visits …

    def claim(self, name: str, rest: int, owed: int, limit: int) -> int:
        """Begin a visit to the host `name`, if no other crawl has it, its rest is over, and it is our turn.

        Args:
            rest: microseconds that our crawl lets the host lie still after any visit, also of others.
            owed: the same after this visit, should we die before it is given back.
            limit: visits at once, of all crawls.

        Returns:
            0, or microseconds after which to ask again.

        Raises:
            StorageError: the table cannot be written.
        """
        self._claims += 1
        if self._claims % SWEEP_EVERY == 0:
            self.sweep(SWEPT)
        key, now = _key(name), self._now()
        with self._changes() as transaction:
            data = transaction.get(key)
            if data is not None or not self._full:
                turns = HostTurns() if data is None else _turns(data)
                until = ask(turns, Asker(self.number, rest, owed, limit), now, self._alive)
                transaction.put(key, _value(turns))
                return max(until - now, 1) if until else 0
        self.sweep(SWEPT)
        return FULL_WAIT

    def give_back(self, returns: Iterable[Return]) -> None:
        """End visits.

        Raises:
            StorageError: the table cannot be written.
        """
        with self._changes() as transaction:
            now = self._now()
            for each in returns:
                key = _key(each.name)
                data = transaction.get(key)
                turns = HostTurns() if data is None else _turns(data)
                end(turns, self.number, now + each.wait, now, visited=each.visited)
                transaction.put(key, _value(turns))

    def look(self, name: str) -> HostTurns | None:
        """What is known of a host, for whoever reports on it."""
        with self._environment.begin() as transaction:
            data = transaction.get(_key(name))
        return None if data is None else _turns(data)

    # Upkeep …

    def sweep(self, entries: int) -> None:
        """Look at a run of so many entries, and forget those that nobody needs."""
        with self._changes() as transaction, transaction.cursor() as cursor:
            run = list(islice(cursor.iternext(), entries)) if cursor.set_range(self._hand or b"\0\0") else []
            self._hand = run[-1][0] + b"\0" if len(run) == entries else b""
            now = self._now()
            for key, value in run:
                if self._is_idle(key, value, now, transaction):
                    transaction.delete(key)
            stat = transaction.stat()
            pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
            self._full = pages * stat["psize"] > MAX_BYTES * _ROOM
        self._sweeps += 1
        if self._sweeps % _READER_CHECK_SWEEPS == 0:
            self._environment.reader_check()  # one who was killed while reading would keep old pages alive

    def _is_idle(self, key: bytes, value: bytes, now: int, transaction: "lmdb.Transaction[bytes]") -> bool:
        (idle_from,) = _IDLE_FROM.unpack_from(value)
        if idle_from <= now:
            return True
        if idle_from != NEVER and not self._full:
            return False
        turns = _turns(value)
        bury(turns, now, self._alive)
        if idle_from == NEVER and not turns.visits:  # who visited it is dead: it rests from now on
            transaction.put(key, _value(turns))
            return False
        return not turns.parties

    @contextmanager
    def _changes(self) -> "Iterator[lmdb.Transaction[bytes]]":
        try:
            with self._environment.begin(write=True) as transaction:
                yield transaction
        except lmdb.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> StorageError:
        return StorageError(f"{self._folder}: politeness.shared: the table cannot be used: {error}")

    # Who is alive …

    def _join(self) -> int:
        self._environment.reader_check()
        while True:
            with self._environment.begin(write=True) as transaction:
                number = int.from_bytes(transaction.get(_NUMBER) or b"", "big") + 1
                transaction.put(_NUMBER, number.to_bytes(8, "big"))
            try:
                fcntl.fcntl(self._locks, fcntl.F_OFD_SETLK, _byte(number))
            except BlockingIOError:
                continue  # the table was removed under a crawl that goes on
            return number

    def _alive(self, crawl: int) -> bool:
        if crawl == self.number:
            return True
        answer = fcntl.fcntl(self._locks, fcntl.F_OFD_GETLK, _byte(crawl))
        return bool(_LOCK.unpack(answer)[0] != fcntl.F_UNLCK)

    def _let_go(self) -> None:
        if self._locks >= 0:
            os.close(self._locks)
        _release(self._environment)


def _byte(number: int) -> bytes:
    return _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0)


def _key(name: str) -> bytes:
    return blake2b(name.encode(), digest_size=KEY_BYTES, person=b"gossamer rests").digest()


def _value(turns: HostTurns) -> bytes:
    return _IDLE_FROM.pack(turns.idle_from) + _encoder.encode(turns)


def _turns(value: bytes) -> HostTurns:
    return _decode(memoryview(value)[_IDLE_FROM.size :])


# The folder …


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(
            f"{folder}: politeness.shared needs a folder of its own that only its user may write into; "
            "choose another, or chmod 700 it if it is yours"
        )


def _remove_older(folder: Path, table: Path) -> None:
    """Remove the tables of earlier boots."""
    for path in folder.glob("rests-*"):
        if not path.name.startswith(table.stem):
            path.unlink(missing_ok=True)


# Sharing within a process …

_open: dict[tuple[int, Path], tuple[lmdb.Environment, int]] = {}
"""Open tables and their users, by process and file: LMDB forbids to open a file twice in a process."""
_opening = threading.Lock()


def _share(table: Path) -> lmdb.Environment:
    place = (os.getpid(), table.resolve())
    with _opening:
        environment, users = _open.get(place, (None, 0))
        if environment is None:
            environment = lmdb.Environment(
                str(table),
                subdir=False,
                map_size=MAX_BYTES,
                mode=0o600,
                sync=False,
                metasync=False,
                readahead=False,
                writemap=True,
                max_spare_txns=1,
            )
            try:
                _allocate(table)
            except OSError:
                environment.close()
                raise
        _open[place] = environment, users + 1
        return environment


def _allocate(table: Path) -> None:
    file = os.open(table, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.posix_fallocate(file, 0, MAX_BYTES)
    finally:
        os.close(file)


def _release(environment: lmdb.Environment) -> None:
    with _opening:
        place = next(place for place, (candidate, _) in _open.items() if candidate is environment)
        _, users = _open.pop(place)
        if users > 1:
            _open[place] = environment, users - 1
        else:
            environment.close()
