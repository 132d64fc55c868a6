"""Names that were given to URLs, so that no two get one that any file system takes for the same."""

import hashlib
import sqlite3

from gossamer.datasets.export.file_names import folded, marked

_TABLE = """
create table if not exists taken (folded text primary key, is_folder integer not null) without rowid;
"""


class GivenNames:
    """Keeps in a database which names are taken.

    The first URL to come gets the name that it is to have; others with the same name get `~` and eight digits
    of the SHA-256 of their URL. Where a document is named as a folder is, it gets these, too; a folder that
    is named as a document is gets `~`.
    """

    def __init__(self, base: sqlite3.Connection, reserved: frozenset[str]) -> None:
        """Args:
        base: gets a table.
        reserved: names that no URL gets.
        """
        self._base = base
        self._reserved = frozenset(map(folded, reserved))
        base.executescript(_TABLE)

    def name(self, url: str, wanted: str) -> str:
        """The name that a URL without one is to have; empty if there is none left. It is not taken yet."""
        folder, slash, last = wanted.rpartition("/")
        name = f"{self._usable(folder)}/{last}" if slash else last
        digest = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
        for digits in (0, 8, 16, 64):
            given = marked(name, digest[:digits]) if digits else name
            key = folded(given)
            if self._taken(key) is None and key not in self._reserved:
                return given
        return ""

    def take(self, file: str) -> None:
        """Nobody else is to have the name of this file, or of a folder above it."""
        at = file.find("/")
        while at >= 0:
            self._take(folded(file[:at]), is_folder=True)
            at = file.find("/", at + 1)
        self._take(folded(file), is_folder=False)

    def free(self, file: str) -> None:
        """Others may have the name of this file again."""
        self._base.execute("delete from taken where folded = ? and not is_folder", (folded(file),))

    def _usable(self, folder: str) -> str:
        """The folder's name, with `~` where a document has one of its parts."""
        found = ""
        for part in folder.split("/"):
            name = f"{found}/{part}" if found else part
            while self._taken(key := folded(name)) == 0 or key in self._reserved:
                name += "~"
            found = name
        return found

    def _taken(self, key: str) -> int | None:
        """Whether a folder has the name (1), or a document (0)."""
        found = self._base.execute("select is_folder from taken where folded = ?", (key,)).fetchone()
        return found[0] if found else None

    def _take(self, key: str, *, is_folder: bool) -> None:
        self._base.execute("insert or ignore into taken values (?, ?)", (key, is_folder))
