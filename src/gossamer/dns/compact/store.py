"""Keys and values in an LMDB file that several processes read and write."""

import os
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import lmdb
import msgspec

from gossamer.dns.compact.entry import expiry
from gossamer.dns.compact.folder import DATA, CacheFolder
from gossamer.dns.compact.key import KEY_BYTES, KeyRange

FORMAT = 1
_META = b"\0"
"""Key of the file's own record; shorter than the keys of names, it stands before them all."""
_FIRST = b"\0\0"
"""Not after any key of a name, but after that of the record."""
SECRET_BYTES = 32
_MAX_READERS = 510
_READER_CHECK_PUTS = 4_096
RUN = 256
"""Neighbouring names looked at when one batch has to go: under a millisecond of holding the write lock."""
_RUN_KEPT = 3 * RUN // 4
_CHUNK = 2_048
_ROOM = 7 / 8
"""Share of the file that names may fill; the rest is for pages that readers of an older state still see."""

_PASSING = (lmdb.MapFullError, lmdb.DiskError, lmdb.MemoryError, lmdb.ReadersFullError, lmdb.TxnFullError)


class _Meta(msgspec.Struct, frozen=True):
    format: int
    table: str
    secret: bytes


class Unusable(Exception):  # noqa: N818  it never leaves the package
    """The folder's file cannot be used now; the text says why."""


class NameStore:
    """The file, open. Made by `open_store`, once in a process for each folder.

    A commit is a few writes to the page cache and no sync (`folder` says why that is enough). Nothing here
    raises for a full or damaged file: a value is not found, or not kept, and `problem` says why.
    """

    def __init__(self, folder: CacheFolder, max_bytes: int, table: str) -> None:
        """Open the folder's file, or begin it.

        Raises:
            Unusable: it is in use in another form, or cannot be written.
        """
        self._folder = folder
        self._limit = int(max_bytes * _ROOM)
        self._hand = os.urandom(KEY_BYTES)
        self._puts = 0
        self.started_anew = ""
        self.problem = ""
        self._env, meta = self._open(max_bytes, table)
        self.secret = meta.secret

    def __repr__(self) -> str:
        return f"<NameStore {self._folder.path}>"

    # Opening …

    def _open(self, max_bytes: int, table: str) -> tuple[lmdb.Environment, _Meta]:
        folder = self._folder
        try:
            with folder.gate():
                alone = folder.enter()
                try:
                    if alone:
                        self._make_sure(max_bytes)
                    opened = self._open_file(max_bytes, table, alone=alone)
                    folder.share()
                except BaseException:
                    folder.leave()
                    raise
        except (OSError, lmdb.Error) as error:
            raise Unusable(str(error)) from None
        return opened

    def _make_sure(self, max_bytes: int) -> None:
        trouble = self._folder.trouble()
        if trouble is None and self._folder.data.stat().st_size > max_bytes:
            trouble = ""
        if trouble is not None:
            self.started_anew = trouble
            self._folder.clear()
        self._folder.unseal()

    def _open_file(self, max_bytes: int, table: str, *, alone: bool) -> tuple[lmdb.Environment, _Meta]:
        env = _environment(self._folder.path, max_bytes)
        if alone and not env.stat()["entries"]:
            _write_meta(env, _Meta(FORMAT, table, os.urandom(SECRET_BYTES)))
        meta = _read_meta(env)
        if meta is not None and (meta.format, meta.table) == (FORMAT, table):
            env.reader_check()
            return env, meta
        env.close()
        if not alone:
            raise Unusable("another version of the program is using it")
        self._folder.clear()
        self._folder.unseal()
        return self._open_file(max_bytes, table, alone=alone)

    def close(self) -> None:
        """Let go of the file; the last user of all sees to it that it outlasts a power failure."""
        try:
            with self._folder.gate():
                if self._folder.last() and not self.problem:
                    self._env.sync(True)
                    self._env.close()
                    self._folder.seal()
        except (OSError, lmdb.Error):
            pass  # unsealed, it is read through before it is used again
        finally:
            self._env.close()
            self._folder.leave()

    # One name …

    def get(self, key: bytes) -> bytes | None:
        """The value kept under `key`."""
        if self.problem:
            return None
        try:
            with self._env.begin() as transaction:
                return transaction.get(key)
        except lmdb.Error as error:
            return self.get(key) if self._mended(error) else None

    def put(self, key: bytes, value: bytes, now: float) -> bool:
        """Keep a value, if need be instead of others; whether it is kept. `now` is wall time in seconds."""
        if self.problem:
            return False
        self._puts += 1
        try:
            if self._puts % _READER_CHECK_PUTS == 0:
                self._env.reader_check()  # one who was killed while reading would keep old pages alive
            with self._env.begin(write=True) as transaction:
                if _pages_in_use(transaction) > self._limit:
                    self._evict(transaction, now)
                return transaction.put(key, value)
        except lmdb.Error as error:
            return self._mended(error) and self.put(key, value, now)

    def delete(self, key: bytes) -> None:
        """Keep nothing under `key` any more."""
        if self.problem:
            return
        try:
            with self._env.begin(write=True) as transaction:
                transaction.delete(key)
        except lmdb.Error as error:
            if self._mended(error):
                self.delete(key)

    # Many names …

    def entries(self, between: KeyRange) -> Iterator[tuple[bytes, bytes]]:
        """Keys and values in order. What others change meanwhile may be in it or not."""
        low = between.low
        while not self.problem:
            try:
                with self._env.begin() as transaction, transaction.cursor() as cursor:
                    # In parts: as long as one reads, no page may be used again that it sees.
                    chunk = list(islice(cursor.iternext(), _CHUNK)) if cursor.set_range(low) else []
            except lmdb.Error as error:
                if self._mended(error):
                    continue
                return
            for key, value in chunk:
                if key >= between.high:
                    return
                if len(key) == KEY_BYTES:
                    yield key, value
            if len(chunk) < _CHUNK:
                return
            low = chunk[-1][0] + b"\0"

    def __len__(self) -> int:
        """Names kept, expired ones included."""
        if self.problem:
            return 0
        try:
            return max(0, self._env.stat()["entries"] - 1)
        except lmdb.Error as error:
            return len(self) if self._mended(error) else 0

    @property
    def room(self) -> int:
        """Bytes that the file takes on disk and, as far as it is used, in the page cache."""
        try:
            return self._folder.data.stat().st_blocks * 512
        except OSError:
            return 0

    def _evict(self, transaction: "lmdb.Transaction[bytes]", now: float) -> None:
        """Thin out a run of neighbours: what has expired goes, else the quarter that expires first.

        The run is taken out and what stays is put back in order, so that its pages are full again: LMDB
        joins pages only when less than a quarter is left, and would give back none.
        """
        with transaction.cursor() as cursor:
            run = list(islice(cursor.iternext(), RUN)) if cursor.set_range(self._hand) else []
            self._hand = run[-1][0] + b"\0" if len(run) == RUN else _FIRST
            kept = sorted(
                (item for item in run if expiry(item[1]) > now),
                key=lambda item: expiry(item[1]),
                reverse=True,
            )[:_RUN_KEPT]
            for key, _ in run:
                transaction.delete(key)
            cursor.putmulti(sorted(kept))

    def _mended(self, error: lmdb.Error) -> bool:
        """Whether to try again now. After anything that does not pass by itself the file is left alone."""
        try:
            if isinstance(error, lmdb.MapResizedError):
                self._env.set_mapsize(0)  # another process, with a higher limit, has made the file larger
                return True
            if isinstance(error, _PASSING):
                self._env.reader_check()
            else:
                self.problem = str(error)
        except lmdb.Error as further:
            self.problem = str(further)
        return False


def _environment(path: Path, max_bytes: int) -> lmdb.Environment:
    return lmdb.Environment(
        str(path / DATA),
        subdir=False,
        map_size=max_bytes,
        mode=0o600,
        sync=False,
        metasync=False,
        readahead=False,
        max_readers=_MAX_READERS,
        max_spare_txns=1,
    )


def _write_meta(env: lmdb.Environment, meta: _Meta) -> None:
    with env.begin(write=True) as transaction:
        transaction.put(_META, msgspec.json.encode(meta))


def _read_meta(env: lmdb.Environment) -> _Meta | None:
    with env.begin() as transaction:
        value = transaction.get(_META)
    try:
        return msgspec.json.decode(value, type=_Meta) if value is not None else None
    except msgspec.DecodeError:
        return None


def _pages_in_use(transaction: "lmdb.Transaction[bytes]") -> int:
    """Bytes of the pages that hold names; pages that wait to be used again are not counted."""
    stat = transaction.stat()
    pages = stat["branch_pages"] + stat["leaf_pages"] + stat["overflow_pages"]
    return pages * stat["psize"]


# Sharing within a process …

_open_stores: dict[tuple[int, Path], tuple[NameStore, int]] = {}
"""Open stores and their users, by process and folder: LMDB forbids to open a file twice in a process."""
_opening = threading.Lock()


def open_store(folder: CacheFolder, max_bytes: int, table: str) -> NameStore:
    """The folder's store; the one already open in this process, if there is one. Give it to `close_store`.

    Args:
        folder: taken over by the store.
        max_bytes: size of the file, names and all.
        table: digest of the table of top-level domains; a file made with another is started anew.

    Raises:
        Unusable: another process uses it in another form, or it cannot be written.
    """
    place = (os.getpid(), folder.path.resolve())
    with _opening:
        store, users = _open_stores.get(place, (None, 0))
        if store is None:
            store = NameStore(folder, max_bytes, table)
        _open_stores[place] = (store, users + 1)
        return store


def close_store(store: NameStore) -> None:
    """Let go of a store; closed with its last user."""
    with _opening:
        place = next(place for place, (candidate, _) in _open_stores.items() if candidate is store)
        _, users = _open_stores.pop(place)
        if users > 1:
            _open_stores[place] = (store, users - 1)
        else:
            store.close()
