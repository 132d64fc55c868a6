"""Puts a crawl into a WACZ file."""

import heapq
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import in_order, moved_capture, read_capture
from gossamer.archive.committed import archive_files
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.reader import open_archive_file
from gossamer.datasets import derived
from gossamer.datasets.export.wacz.container import Container, container
from gossamer.datasets.export.wacz.index import write_index
from gossamer.datasets.export.wacz.pages import Listed, write_pages
from gossamer.datasets.parquet import needed
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError
from gossamer.state.environment import Family
from gossamer.state.scratch import Scratch

_PIECE = 1 << 20
_ROWS = 500


class Wacz(msgspec.Struct, frozen=True):
    """A WACZ file that was written.

    Attributes:
        file: its path.
        bytes: of it.
        archives: archive files in it.
        captures: in its index.
        pages, texts: in its lists of pages, and how many of these have their text.
        texts_left_out: documents have texts, and together they are longer than was asked for.
        problems: archive files that are not in it, a line each; nor are their captures in its index.
    """

    file: str
    bytes: int
    archives: int
    captures: int
    pages: int
    texts: int
    texts_left_out: bool
    problems: list[str]


def write_wacz(inspection: Inspection, path: Path, most_text: int) -> Wacz:
    """Write a WACZ of all that is committed, whole or not at all; an earlier one is replaced.

    Args:
        inspection: of the crawl, which may be running.
        path: of the file, ending with `.wacz`.
        most_text: bytes of the documents' texts that go with the pages, if there are no more; they are held in
            memory meanwhile.

    Raises:
        ConfigError: `path` is no name for it, or texts are there and pyarrow is not installed.
        StorageError: the disk refuses, or an archive file ends too early.
    """
    problems: list[str] = []
    parts = [_Part(part, agent, problems) for agent, part in inspection.each.items()]
    with container(path) as into, Scratch() as scratch:
        _prove_room(path, sum(part.size for part in parts))
        for part in parts:
            part.copy(into)
        # In a cluster each agent has an index of its own.
        captures = write_index(into, heapq.merge(*(part.captures() for part in parts)))
        texts = _texts(inspection, most_text)
        listed = write_pages(into, inspection.environment, texts or {}, Path(scratch))
        into.finish(_about(inspection, listed))
    return Wacz(
        str(path),
        path.stat().st_size,
        sum(len(part.files) for part in parts),
        captures,
        listed.pages,
        listed.texts,
        texts is None,
        problems,
    )


def _about(inspection: Inspection, listed: Listed) -> dict[str, str]:
    url, at = listed.main
    about = {
        "software": f"gossamer {version('gossamer')}",
        "title": url or inspection.folder.path.resolve().name,
    }
    return about | ({"mainPageUrl": url, "mainPageDate": at} if url else {})


def _prove_room(path: Path, size: int) -> None:
    """Before an hour was spent on copying."""
    free = shutil.disk_usage(path.parent).free
    if free < size:
        raise StorageError(
            f"{path}: needs {size:,} bytes, and {free:,} are free. Free some space or choose another place by --out."
        )


class _Part:
    """What a crawl, or one agent of a cluster, puts in."""

    def __init__(self, inspection: Inspection, agent: str, problems: list[str]) -> None:
        self._inspection = inspection
        self._before = f"{agent}-" if agent else ""  # agents name their files as they like
        self.files: list[ArchiveFile] = []
        for file in sorted(archive_files(inspection.environment), key=lambda file: file.serial):
            try:
                open_archive_file(inspection.folder.archive, file.name).close()
                self.files.append(file)
            except OSError as error:
                problems.append(f"archive {file.name}: is not in the WACZ ({error.strerror})")

    @property
    def size(self) -> int:
        """Of all of its files, as far as they are committed."""
        return sum(file.length for file in self.files)

    def copy(self, into: Container) -> None:
        """Put in the archive files; each ends where it is committed, which is the end of a record."""
        for file in self.files:
            with (
                open_archive_file(self._inspection.folder.archive, file.name) as stream,
                into.member(f"archive/{self._before}{file.name}", file.length) as member,
            ):
                while left := file.length - member.size:
                    piece = stream.read(min(left, _PIECE))
                    if not piece:
                        raise StorageError(
                            f"archive {file.name}: {left:,} bytes are missing at its end. Run 'gossamer check'."
                        )
                    member.write(piece)

    def captures(self) -> Iterator[bytes]:
        """Lines of the index, of those files, in order."""
        names = {file.name for file in self.files}
        lines = (line for _, line in self._inspection.environment.scan(Family.CAPTURES))
        if len(names) < len(archive_files(self._inspection.environment)):
            lines = (line for line in lines if read_capture(line).filename in names)
        if self._before:
            lines = (moved_capture(line, self._before + read_capture(line).filename) for line in lines)
        return in_order(lines)


def _texts(inspection: Inspection, most: int) -> dict[str, str] | None:
    """The last text of each document by its URL; `None` if all together are longer than `most`."""
    texts: dict[str, str] = {}
    size = 0
    with derived.being_read(part.folder.path / derived.FOLDER for part in inspection.each.values()):
        for part in inspection.each.values():
            files = derived.files_of(part.folder.path / derived.FOLDER).get("documents", [])
            for path in files if most else ():
                needed()
                from pyarrow import parquet

                rows = parquet.ParquetFile(path)
                for batch in rows.iter_batches(_ROWS, columns=["url", "text"], use_threads=False):
                    for row in batch.to_pylist():
                        url, text = row["url"], row["text"] or ""
                        size += len(text.encode()) - len(texts.get(url, "").encode())
                        if size > most:
                            return None
                        texts[url] = text
    return texts
