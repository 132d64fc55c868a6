"""What is kept of watches, in `DIR/watch/state.sqlite`: what was seen, notices, to whom they are owed, the mark.

One process writes, many read. A commit is whole or not there at all, whatever is killed; the folder can be deleted,
then everything is seen anew and nothing is told of what changed meanwhile.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import zstandard

from gossamer.archive.follower import START, Mark
from gossamer.assembly.folder_lock import Busy, lock_folder
from gossamer.model.errors import ConfigError, StorageError
from gossamer.policy.watching.difference import Place

__all__ = [
    "FOLDER",
    "Notice",
    "SeenPage",
    "Store",
    "as_storage",
    "beside",
    "connect",
    "notice_of",
    "transaction",
]

FOLDER = "watch"
FILE = "state.sqlite"
VERSION = 1
BUSY_SECONDS = 30.0
_SCHEMA = """
create table meta (name text primary key, value blob not null) without rowid;
create table site (host text primary key, volatile blob not null, pairs integer not null) without rowid;
create table watch (name text primary key, looks_at text not null, begun real not null, fresh integer not null)
    without rowid;
create table page (
    watch text not null, url text not null, host text not null, title text not null, first real not null,
    visited real not null, changed real not null, status integer not null, gone integer not null,
    digest text not null, told blob not null, last blob, holds text not null, answers integer not null,
    primary key (watch, url)) without rowid;
create table moved (target text primary key, url text not null, source text not null) without rowid;
create index moved_from on moved (source);
create table notice (
    number integer primary key, id text not null unique, watch text not null, url text not null,
    at real not null, noted real not null, body blob not null);
create index notice_of_watch on notice (watch, number);
create table owed (
    notice integer not null, receiver text not null, watch text not null, message integer,
    primary key (notice, receiver)) without rowid;
create index owed_to on owed (message, watch, receiver);
create table message (
    number integer primary key, id text not null unique, watch text not null, receiver text not null,
    made real not null, test integer not null, attempts integer not null, due real not null,
    state text not null, problem text not null, ended real not null);
create index message_state on message (state, due);
"""


class SeenPage(msgspec.Struct):
    """What one watch has seen of one page.

    Attributes:
        watch, url, host, title: which.
        first, visited, changed: seconds since 1970: of the first and the last visit, and of the last change that was
            told; 0 for none.
        status: of the last visit.
        gone: how many visits in a row found it gone.
        digest: of the payload of the last visit that brought one, as the archive has it.
        told: pieces of text that later ones are compared with.
        last: of the last visit, if they are others.
        holds: conditions that held, by their words.
        answers: of a query: whether it did.
    """

    watch: str
    url: str
    host: str
    title: str = ""
    first: float = 0.0
    visited: float = 0.0
    changed: float = 0.0
    status: int = 0
    gone: int = 0
    digest: str = ""
    told: list[str] = []
    last: list[str] | None = None
    holds: dict[str, bool] = {}
    answers: bool = False


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is told.

    Attributes:
        id: stays the same however often it is sent.
        watch, url, title: what it is about.
        kind: `changed`, `condition`, `new`, `answers`, `gone`, `back`.
        condition: that began to hold, as written.
        at: of the visit that saw it, seconds since 1970.
        number: that was seen, of a condition on numbers.
        places: where the text differs.
        added, removed: words.
    """

    id: str
    watch: str
    url: str
    title: str = ""
    kind: str
    condition: str = ""
    at: float
    number: float | None = None
    places: tuple[Place, ...] = ()
    added: int = 0
    removed: int = 0


def connect(path: Path, *, writes: bool) -> sqlite3.Connection:
    """A connection to the file of a crawl's watches.

    Raises:
        sqlite3.Error: there is none.
    """
    mode = "rwc" if writes else "ro"
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=BUSY_SECONDS, isolation_level=None,
        check_same_thread=False,
    )  # fmt: skip


@contextlib.contextmanager
def as_storage(path: Path) -> Iterator[None]:
    """Errors of the database as ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        full = "full" in str(error)
        remedy = "Free some space." if full else f"If it is damaged, delete {path.parent}: all is seen anew."
        raise StorageError(f"{path}: cannot be used ({error}). {remedy}") from error


@contextlib.contextmanager
def transaction(database: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Everything within is written together, or nothing.

    Raises:
        StorageError: the disk refuses.
    """
    with as_storage(path):
        database.execute("begin immediate")
        try:
            yield database
        except BaseException:
            database.execute("rollback")
            raise
        database.execute("commit")


@contextlib.contextmanager
def beside(crawl: Path) -> Iterator[sqlite3.Connection]:
    """One transaction of somebody who does not follow, such as a command that has a test sent.

    Raises:
        StorageError: the disk refuses.
    """
    path = crawl / FOLDER / FILE
    if not path.is_file():
        with contextlib.suppress(Busy):  # it is being made
            Store(crawl).close()
    with as_storage(path):
        database = connect(path, writes=True)
    with contextlib.closing(database), transaction(database, path):
        yield database


class Store:
    """Writes what is kept. One process at a time."""

    def __init__(self, crawl: Path) -> None:
        """Open it, made if it is not there.

        Args:
            crawl: the folder of the crawl.

        Raises:
            ConfigError: another process does this, or the folder is somebody else's.
            StorageError: the disk refuses, or it is damaged.
        """
        folder = crawl / FOLDER
        self.path = folder / FILE
        self._lock = lock_folder(folder, "follows these watches")
        try:
            with as_storage(self.path):
                self.database = connect(self.path, writes=True)
                self.database.execute("pragma journal_mode = wal")
                self.database.execute("pragma synchronous = full")
                self._prepare()
        except BaseException:
            os.close(self._lock)
            raise

    def _prepare(self) -> None:
        (version,) = self.database.execute("pragma user_version").fetchone()
        self.is_new = not version
        """Nothing was kept before."""
        if version == VERSION:
            return
        if version:
            raise ConfigError(
                f"{self.path}: was written by another version of gossamer. Delete {self.path.parent}: all is seen anew."
            )
        self.database.executescript(f"begin immediate; {_SCHEMA} pragma user_version = {VERSION}; commit")

    def close(self) -> None:
        """Close the file, so that another process may follow."""
        self.database.close()
        os.close(self._lock)

    def commit(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """Everything within is written together, or nothing.

        Raises:
            StorageError: the disk refuses.
        """
        return transaction(self.database, self.path)

    # What is within a commit.

    @property
    def mark(self) -> Mark:
        """How far the archive was read."""
        return self._mark("mark")

    @mark.setter
    def mark(self, mark: Mark) -> None:
        self.put("mark", msgspec.json.encode(mark))

    @property
    def reached(self) -> Mark:
        """How far it had been read when it was begun anew for new watches: up to there the others know it."""
        return self._mark("reached")

    @reached.setter
    def reached(self, mark: Mark) -> None:
        self.put("reached", msgspec.json.encode(mark))

    def _mark(self, name: str) -> Mark:
        kept = self.get(name)
        return msgspec.json.decode(kept, type=Mark) if kept else START

    def get(self, name: str) -> bytes:
        """A value by its name; empty if it is not there."""
        row = self.database.execute("select value from meta where name = ?", (name,)).fetchone()
        return row[0] if row else b""

    def put(self, name: str, value: bytes) -> None:
        """Keep a value under its name, in place of what was there."""
        self.database.execute("insert or replace into meta values (?, ?)", (name, value))

    def page(self, watch: str, url: str) -> SeenPage | None:
        """What a watch has seen of a page; `None` for nothing yet."""
        row = self.database.execute("select * from page where watch = ? and url = ?", (watch, url)).fetchone()
        if row is None:
            return None
        told, last, holds, answers = row[-4:]
        page = SeenPage(*row[:-4])
        page.told = _unpacked(told)
        page.last = None if last is None else _unpacked(last)
        page.holds = msgspec.json.decode(holds, type=dict[str, bool])
        page.answers = bool(answers)
        return page

    def keep(self, page: SeenPage) -> None:
        """Keep what was seen of a page, in place of what was seen before."""
        self.database.execute(
            "insert or replace into page values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                page.watch, page.url, page.host, page.title, page.first, page.visited, page.changed, page.status,
                page.gone, page.digest, _packed(page.told), None if page.last is None else _packed(page.last),
                msgspec.json.encode(page.holds).decode(), page.answers,
            ),
        )  # fmt: skip

    def site(self, host: str) -> tuple[bytes, int]:
        """What is known of the volatile parts of a site, packed, and from how many pairs of visits."""
        row = self.database.execute("select volatile, pairs from site where host = ?", (host,)).fetchone()
        return row if row else (b"", 0)

    def keep_site(self, host: str, volatile: bytes, pairs: int) -> None:
        """Keep what is known of a site, as `site` gives it."""
        self.database.execute("insert or replace into site values (?, ?, ?)", (host, volatile, pairs))

    def note(self, notice: Notice, receivers: tuple[str, ...], now: float) -> None:
        """Keep a notice, and to whom it is owed; one of the same id is kept once."""
        added = self.database.execute(
            "insert or ignore into notice (id, watch, url, at, noted, body) values (?, ?, ?, ?, ?, ?)",
            (notice.id, notice.watch, notice.url, notice.at, now, _compressed(msgspec.json.encode(notice))),
        )
        if added.rowcount:
            number = added.lastrowid
            self.database.executemany(
                "insert into owed values (?, ?, ?, null)", [(number, one, notice.watch) for one in receivers]
            )


def notice_of(body: bytes) -> Notice:
    """A notice as it was kept."""
    return msgspec.json.decode(zstandard.ZstdDecompressor().decompress(body), type=Notice)


def _packed(pieces: list[str]) -> bytes:
    return _compressed("\n".join(pieces).encode("utf-8", "surrogatepass"))


def _compressed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(data)


def _unpacked(data: bytes) -> list[str]:
    text = zstandard.ZstdDecompressor().decompress(data).decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []
