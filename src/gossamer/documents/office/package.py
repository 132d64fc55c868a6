"""A ZIP of parts, each read up to a limit while it is unpacked: nothing is ever unpacked whole or to disk."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from gossamer.documents.kinds import FORMATS, Format
from gossamer.documents.limits import Budget
from gossamer.documents.said import Mark

__all__ = ["Package", "PackageError"]

_PIECE = 64 << 10
_ENCRYPTED_FLAG = 0x1
_LONG = 8 << 20
_RATIO = 200
"""Unpacked bytes a packed byte, above which a large part is called a bomb; office XML has up to 30."""
_MAIN_PARTS = (("word/", Format.WORD), ("ppt/", Format.SLIDES), ("xl/", Format.SHEET))


class PackageError(Exception):
    """The file cannot be read as a package.

    Attributes:
        mark: why.
    """

    def __init__(self, mark: Mark) -> None:
        super().__init__(str(mark))
        self.mark = mark


class Package:
    """The parts of an office file or EPUB by name.

    Attributes:
        marks: what kept parts from being read whole.
    """

    def __init__(self, content: bytes | Path, budget: Budget) -> None:
        """Open the file.

        Raises:
            PackageError: it is no ZIP, or its directory is damaged.
        """
        self.marks: list[Mark] = []
        self._budget = budget
        try:
            self._zip = zipfile.ZipFile(content if isinstance(content, Path) else BytesIO(content))
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
            raise PackageError(Mark.BROKEN) from error
        if len(entries) > budget.limits.max_members:
            budget.cut = True
        self._entries = {each.filename: each for each in entries[: budget.limits.max_members]}
        # Some books were packed with the folder that they were in.
        folder = entries[0].filename.partition("/")[0] + "/" if entries else ""
        if f"{folder}META-INF/container.xml" in self._entries:
            self._entries = {name.removeprefix(folder): each for name, each in self._entries.items()}

    @property
    def names(self) -> list[str]:
        """Names of the parts, in the order of the directory."""
        return list(self._entries)

    def media_type(self) -> str:
        """Which packed format it is; `application/zip` if none that is read here."""
        first = b"".join(self.pieces("mimetype"))[:200].strip().decode("ascii", "replace")
        if first in FORMATS[Format.ODF] or first in FORMATS[Format.EPUB]:
            return first
        if "[Content_Types].xml" in self._entries:
            for folder, kind in _MAIN_PARTS:
                if any(name.startswith(folder) for name in self._entries):
                    return FORMATS[kind][0]
        if "META-INF/container.xml" in self._entries:
            return FORMATS[Format.EPUB][0]
        return "application/zip"

    def has(self, name: str) -> bool:
        """Whether there is such a part."""
        return name in self._entries

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a part, unpacked as it is asked for; it ends early at a limit or damage."""
        entry = self._entries.get(name)
        if entry is None:
            return
        if entry.flag_bits & _ENCRYPTED_FLAG:
            self.add(Mark.ENCRYPTED)
            return
        unpacked = 0
        try:
            with self._zip.open(entry) as part:
                while piece := part.read(_PIECE):
                    unpacked += len(piece)
                    if unpacked > _LONG and unpacked > _RATIO * max(entry.compress_size, 1):
                        self.add(Mark.EXPANDS)
                        self._budget.cut = True
                        return
                    if not self._budget.unpack(len(piece)) or self._budget.late:
                        return
                    yield piece
        except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError):
            self.add(Mark.BROKEN)

    def read(self, name: str, most: int) -> bytes:
        """The first `most` bytes of a part; empty if there is none."""
        found: list[bytes] = []
        size = 0
        for piece in self.pieces(name):
            found.append(piece)
            size += len(piece)
            if size >= most:
                self._budget.cut = self._budget.cut or size > most
                break
        return b"".join(found)[:most]

    def add(self, mark: Mark) -> None:
        """Note why a part was not read whole."""
        if mark not in self.marks:
            self.marks.append(mark)

    @staticmethod
    def resolve(part: str, target: str) -> str:
        """The name of a part that `target` in `part` stands for."""
        if target.startswith("/"):
            return posixpath.normpath(target).lstrip("/")
        return posixpath.normpath(posixpath.join(posixpath.dirname(part), target)).lstrip("/")
