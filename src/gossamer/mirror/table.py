"""Which document lies in which file: a database in the mirror's own folder.

The names stay from run to run; what there is to write is planned anew by each run, on disk as well.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.archive.surt import surt
from gossamer.datasets.export.given_names import GivenNames
from gossamer.mirror.names import wanted_name
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.url import Url
from gossamer.policy.urls.canonical import Canonicaliser

__all__ = ["MANIFEST", "NOTE", "PARTIAL", "START", "TABLE", "Document", "Known", "Planned", "Table"]

TABLE = ".mirror.sqlite"
MANIFEST = "manifest.csv"
START = "index.html"
NOTE = "not-in-this-mirror.html"
PARTIAL = ".mirror.partial"
_RESERVED = frozenset(
    {TABLE, f"{TABLE}-wal", f"{TABLE}-shm", MANIFEST, f"{MANIFEST}.partial", START, NOTE, PARTIAL}
)
_VERSION = 1
_MOST_HOPS = 20
_TABLES = """
create table if not exists made_by (version integer, rule text);
create table if not exists files (key text primary key, file text not null, written integer not null) without rowid;
create table if not exists left_over (file text primary key) without rowid;
create temp table documents (
    key text primary key, sort text not null, host text not null, url text not null, type text not null,
    time text not null, archive text not null, place integer not null, target text not null, wanted integer not null,
    bytes integer not null default 0, done integer not null default 0) without rowid;
"""
_KNOWN = "select key, coalesce(file, ''), target, wanted from documents left join files using (key) where "
_BY_KEY = f"{_KNOWN} key = ?"
_BY_SORT = f"{_KNOWN} sort = ?1 and substr(url, -length(?2)) = ?2 order by key limit 1"
"""Sort keys leave out `www.`, but the case of paths as well."""


class Planned(msgspec.Struct, frozen=True):
    """What the index says of a URL.

    Attributes:
        url: as requested.
        type: essence of the media type.
        time: of the capture, as the index has it.
        archive, place: file of the archive and offset of the record.
        target: where it redirects to, empty of a document.
        wanted: false: only if a page needs it.
    """

    url: Url
    type: str
    time: str
    archive: str
    place: int
    target: str
    wanted: bool


class Document(msgspec.Struct, frozen=True):
    """One document to be written.

    Attributes:
        key: canonical URL.
        url, type, time, archive, place: as planned.
        file: its name in the mirror.
        ours: the file, if it is there, was written by us.
    """

    key: str
    url: str
    type: str
    time: str
    archive: str
    place: int
    file: str
    ours: bool


class Known(msgspec.Struct, frozen=True, gc=False):
    """What a link may lead to: a document, or a redirect to `target`."""

    key: str
    file: str
    target: str
    wanted: bool


class Table:
    """Names and plan of one mirror."""

    def __init__(self, folder: Path, rule: str, canonical: Canonicaliser) -> None:
        """Open it in a folder, made if it is not there.

        Args:
            folder: of the mirror, or any other that keeps the table of one without.
            rule: for names.
            canonical: makes of URLs what the crawl tells them apart by.

        Raises:
            ConfigError: another run has it open, or it is by another rule.
            StorageError: it cannot be made.
        """
        self._canonical = canonical
        self._rule = rule
        path = folder / TABLE
        try:
            self._base = sqlite3.connect(path, isolation_level=None, timeout=1.0)
        except sqlite3.Error as error:
            raise _unusable(folder, error) from error
        try:
            self._base.execute("pragma locking_mode = exclusive")
            self._base.execute("pragma journal_mode = wal")
            self._base.executescript(_TABLES)
            self._names = GivenNames(self._base, _RESERVED)
            held = self._base.execute("select version, rule from made_by").fetchone()
            if held is None:
                self._base.execute("insert into made_by values (?, ?)", (_VERSION, rule))
        except sqlite3.Error as error:
            self.close()
            raise _unusable(folder, error) from error
        if held is not None and held != (_VERSION, rule):
            self.close()
            raise ConfigError(
                f"{folder}: its files are named by the rule {held[1]!r}; names once given stay. Give that rule, or"
                " choose another folder."
            )

    def close(self) -> None:
        """Let other runs open it."""
        with contextlib.suppress(sqlite3.Error):  # of a full disk; what was committed is there
            self._base.close()

    def begin(self) -> None:
        """Begin what is kept together."""
        self._base.execute("begin")

    def commit(self) -> None:
        """Keep what was done since."""
        self._base.execute("commit")

    # The plan …

    def plan(self, planned: Planned) -> None:
        """Take in a URL; of several with one canonical form the first stays."""
        key, target = self._canonical(planned.url), self._key_of(planned.target)
        if key == target:
            return  # from one address of a site to another
        row = (
            key, surt(planned.url), planned.url.host, planned.url.text, planned.type, planned.time, planned.archive,
            planned.place, target, planned.wanted,
        )  # fmt: skip
        self._base.execute(
            "insert or ignore into documents (key, sort, host, url, type, time, archive, place, target, wanted)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )

    def _key_of(self, address: str) -> str:
        url = Url.parse(address) if address else None
        return self._canonical(url) if url is not None else ""

    def planned(self) -> None:
        """All URLs are taken in: name those that have no name, or one that no longer says what they are.

        In the order of their canonical forms, so that names do not depend on the order of a crawl.

        Raises:
            StorageError: a name cannot be given.
        """
        self._base.execute("create index temp.by_sort on documents (sort)")
        self._base.execute("create index temp.by_host on documents (host)")
        self._base.execute("create index temp.by_place on documents (done, archive, place)")
        unnamed = self._base.execute(
            "select key, url, type, file from documents left join files using (key) where target = '' order by key"
        )
        given = self._base.cursor()
        for key, text, media_type, file in unnamed:
            url = Url.from_serialised(text)
            assert url is not None, text
            wanted = wanted_name(self._rule, url, media_type)
            if file is not None and file.rpartition(".")[2] == wanted.rpartition(".")[2]:
                continue
            name = self._names.name(key, wanted)
            if not name:
                raise StorageError(f"{text}: has no name of its own left")
            self._names.take(name)
            if file is not None:
                self._leave([(key,)])
            given.execute("insert into files values (?, ?, 0)", (key, name))

    # Links …

    def find(self, url: Url) -> Known | None:
        """The document that a link to a URL leads to, redirects followed; `None` if there is none here.

        One with or without `www.`, or by the other of http and https, if only such is here.
        """
        found = self._known(_BY_KEY, self._canonical(url)) or self._known(_BY_SORT, surt(url), url.target)
        for _ in range(_MOST_HOPS):
            if found is None or not found.target:
                return found
            found = self._known(_BY_KEY, found.target)
        return None

    def _known(self, query: str, *values: str) -> Known | None:
        row = self._base.execute(query, values).fetchone()
        return Known(*row) if row is not None else None

    def want(self, key: str) -> None:
        """A page needs this document."""
        self._base.execute("update documents set wanted = 1 where key = ?", (key,))

    def has_host(self, host: str) -> bool:
        """Whether anything of the host is here."""
        return (
            self._base.execute("select 1 from documents where host = ? limit 1", (host,)).fetchone()
            is not None
        )

    # Writing …

    def due(self, most: int) -> list[Document]:
        """Documents that are wanted and not written yet, in the order of the archive."""
        rows = self._base.execute(
            "select key, url, type, time, archive, place, file, written from documents join files using (key)"
            " where wanted and not done and target = '' order by archive, place limit ?",
            (most,),
        ).fetchall()
        return [Document(*row) for row in rows]

    def will_write(self, documents: list[Document]) -> None:
        """From now on their files are ours, should they be there."""
        self._base.executemany(
            "update files set written = 1 where key = ?", [(one.key,) for one in documents]
        )

    def wrote(self, key: str, size: int) -> None:
        """A document is in its file, which has `size` bytes."""
        self._base.execute("update documents set done = 1, bytes = ? where key = ?", (size, key))

    def drop(self, key: str) -> None:
        """A document cannot be read, and so is not here."""
        self._base.execute("delete from documents where key = ?", (key,))

    def begin_again(self) -> None:
        """All is to be written once more."""
        self._base.execute("update documents set done = 0")

    def gone(self) -> list[str]:
        """Files that an earlier run wrote and this one did not; to be `forgotten` when they are removed."""
        query = "select key from files where key not in (select key from documents where done)"
        self._leave(self._base.execute(query).fetchall())
        return [file for (file,) in self._base.execute("select file from left_over")]

    def forgotten(self) -> None:
        """All that is gone was removed: its names may be given again."""
        for (file,) in self._base.execute("select file from left_over").fetchall():
            self._names.free(file)
        self._base.execute("delete from left_over")

    def _leave(self, keys: list[tuple[str]]) -> None:
        """These URLs have their files no longer."""
        self._base.executemany(
            "insert or ignore into left_over select file from files where key = ? and written", keys
        )
        self._base.executemany("delete from files where key = ?", keys)

    def rows(self) -> Iterator[tuple[str, str, str, str, int]]:
        """(URL, file, time, type, bytes) of what was written, by file."""
        yield from self._base.execute(
            "select url, file, time, type, bytes from documents join files using (key) where done order by file"
        )

    def first_pages(self, most: int) -> list[tuple[str, str]]:
        """The page of each host with the shortest address, (URL, file)."""
        return self._base.execute(
            "select url, file from (select url, file, row_number() over (partition by host order by length(url), url)"
            " as number from documents join files using (key) where done and type like '%html%')"
            " where number = 1 order by url limit ?",
            (most,),
        ).fetchall()

    def newest(self) -> str:
        """Time of the newest capture that was written; empty if nothing was."""
        found = self._base.execute("select max(time) from documents where done").fetchone()
        return found[0] or ""


def _unusable(folder: Path, error: sqlite3.Error) -> ConfigError | StorageError:
    if "locked" in str(error):
        return ConfigError(f"{folder}: another mirror is being written here; wait for it.")
    return StorageError(f"{folder / TABLE}: cannot be written ({error}). Free some space.")
