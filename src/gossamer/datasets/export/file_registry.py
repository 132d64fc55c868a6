"""Which file is whose: names that were given to URLs, kept in the folder of the files itself."""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from gossamer.datasets.export.csv_cells import csv_lines
from gossamer.datasets.export.given_names import GivenNames
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import write_pieces

FILE = ".names.sqlite"
MANIFEST = "manifest.csv"
_TABLES = """
create table if not exists made_by (rule text, form text);
create table if not exists files (
    url text primary key, file text not null, capture text not null, time text not null, type text not null,
    bytes integer not null);
"""


Row = tuple[str, str, str, str, int]
"""URL, file, time, media type, bytes."""


def manifest_lines(rows: Iterable[Row]) -> Iterator[bytes]:
    """`manifest.csv`, which names the files."""
    return (
        f"{line}\n".encode() for line in csv_lines(chain([("url", "file", "time", "type", "bytes")], rows))
    )


class Registry:
    """Gives each URL a name that no other has, and the same again next time; which, `given_names` says."""

    def __init__(self, folder: Path, rule: str, form: str) -> None:
        """Open it, made if it is not there.

        Raises:
            ConfigError: the folder has other files, or such by another rule.
            StorageError: it cannot be made.
        """
        self._folder = folder
        path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists() and any(folder.iterdir()):
                raise ConfigError(f"{folder}: holds other files. Choose an empty folder with --out.")
            self._base = sqlite3.connect(path, isolation_level=None, timeout=1.0)
            self._base.execute("pragma locking_mode = exclusive")
            self._base.execute("pragma journal_mode = wal")
            self._base.executescript(_TABLES)
            self._names = GivenNames(self._base, frozenset((FILE, MANIFEST)))
            held = self._base.execute("select rule, form from made_by").fetchone()
            if held is None:
                self._base.execute("insert into made_by values (?, ?)", (rule, form))
        except (OSError, sqlite3.Error) as error:
            if "locked" in str(error):
                raise ConfigError(f"{folder}: another export writes here now; wait for it.") from None
            raise StorageError(f"{path}: cannot be written ({error}). Free some space.") from error
        if held is not None and held != (rule, form):
            self._base.close()
            raise ConfigError(
                f"{folder}: holds files as {held[1]} by the rule {held[0]!r}. Choose another folder with --out."
            )

    def begin(self) -> None:
        """Begin what is kept together."""
        if not self._base.in_transaction:
            self._base.execute("begin")

    def commit(self) -> None:
        """Keep what was noted; files must be there first."""
        if self._base.in_transaction:
            self._base.execute("commit")

    def close(self) -> None:
        """Keep what was noted, and let others write."""
        try:
            self.commit()
        finally:
            self._base.close()

    def capture_of(self, url: str) -> tuple[str, str]:
        """(name, capture that it holds) of a URL; empty if it has none."""
        found = self._base.execute("select file, capture from files where url = ?", (url,)).fetchone()
        return found or ("", "")

    def name(self, url: str, wanted: str) -> str:
        """The name that a URL without one is to have."""
        given = self._names.name(url, wanted)
        if not given:
            raise StorageError(f"{self._folder}: {url} has no name of its own left")
        return given

    def note(self, url: str, file: str, capture: str, about: tuple[str, str, int]) -> None:
        """Keep which capture a URL's file holds, with its time, type and size."""
        self._names.take(file)
        self._base.execute(
            "insert or replace into files values (?, ?, ?, ?, ?, ?)", (url, file, capture, *about)
        )

    def rows(self) -> Iterator[tuple[str, str, str, str, int]]:
        """(URL, file, time, type, bytes) of all, by URL."""
        yield from self._base.execute("select url, file, time, type, bytes from files order by url")

    def write_manifest(self) -> int:
        """Write `manifest.csv`; how many files it names.

        Raises:
            StorageError: it cannot be written.
        """
        write_pieces(self._folder / MANIFEST, manifest_lines(self.rows()))
        return int(self._base.execute("select count(*) from files").fetchone()[0])
