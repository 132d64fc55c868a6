"""Which file is whose: names that were given to URLs, kept in the folder of the files itself."""

import csv
import hashlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gossamer.datasets.export.csv_cells import csv_cell
from gossamer.datasets.export.file_names import folded, marked
from gossamer.model.errors import ConfigError, StorageError

FILE = ".names.sqlite"
MANIFEST = "manifest.csv"
_TABLES = """
create table if not exists made_by (rule text, form text);
create table if not exists files (
    url text primary key, file text not null, capture text not null, time text not null, type text not null,
    bytes integer not null);
create table if not exists taken (folded text primary key, is_folder integer not null) without rowid;
"""


class Registry:
    """Gives each URL a name that no other has, and the same again next time.

    The first URL to come gets the name that the rule gives; others with the same name get `~` and eight digits
    of the SHA-256 of their URL. Where a document is named as a folder is, it gets these, too; a folder that
    is named as a document is gets `~`.
    """

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
        folder, slash, last = wanted.rpartition("/")
        name = f"{self._usable(folder)}/{last}" if slash else last
        digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
        for digits in (0, 8, 16, 64):
            given = marked(name, digest[:digits]) if digits else name
            if self._taken(given) is None and given not in (FILE, MANIFEST):
                return given
        raise StorageError(f"{self._folder}: {url} has no name of its own left")

    def note(self, url: str, file: str, capture: str, about: tuple[str, str, int]) -> None:
        """Keep which capture a URL's file holds, with its time, type and size."""
        folders = file.split("/")[:-1]
        for depth in range(1, len(folders) + 1):
            self._take("/".join(folders[:depth]), is_folder=True)
        self._take(file, is_folder=False)
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
        path, count = self._folder / MANIFEST, 0
        partial = path.with_name(f"{MANIFEST}.partial")
        try:
            with partial.open("w", encoding="utf-8", newline="") as out:
                lines = csv.writer(out, lineterminator="\n")
                lines.writerow(("url", "file", "time", "type", "bytes"))
                for row in self.rows():
                    count += 1
                    lines.writerow([csv_cell(value) for value in row])
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise StorageError(f"{path}: cannot be written ({error.strerror}). Free some space.") from error
        return count

    def _usable(self, folder: str) -> str:
        """The folder's name, with `~` where a document has one of its parts."""
        found = ""
        for part in folder.split("/"):
            name = f"{found}/{part}" if found else part
            while self._taken(name) == 0 or name in (FILE, MANIFEST):
                name += "~"
            found = name
        return found

    def _taken(self, name: str) -> int | None:
        """Whether a folder has the name (1), or a document (0)."""
        found = self._base.execute("select is_folder from taken where folded = ?", (folded(name),)).fetchone()
        return found[0] if found else None

    def _take(self, name: str, *, is_folder: bool) -> None:
        self._base.execute("insert or ignore into taken values (?, ?)", (folded(name), is_folder))
