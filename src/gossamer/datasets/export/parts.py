"""Writes rows to numbered files, and goes on where it was interrupted.

`_manifest.json` says what the export is of and which files are whole; it is written after each. A file that it
does not name does not count. The same export of the same tables goes on behind the last file; of tables that
have changed since, or in another form, it begins anew. Where a whole one lies it does so under other names, and takes
its place once it is whole itself.
"""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from gossamer.datasets.export.places import CountedFile, Place
from gossamer.datasets.export.rows import Source
from gossamer.model.errors import ConfigError

MANIFEST = "_manifest.json"
"""What begins so is no data to those that read a folder of Parquet as one table: pandas, Spark, Dask."""
_NEW = "_new-"
"""How the names begin of what takes the place of a whole export once it is whole itself."""
_VERSION = 1


class Writer(Protocol):
    """Writes rows to one file."""

    def write(self, batch: Any) -> None:
        """Write an Arrow record batch."""

    def close(self) -> None:
        """Write what is held, and the end."""


class Form(Protocol):
    """How rows become files.

    Attributes:
        name: `jsonl`, ...; with what else decides the bytes.
        suffix: of the files' names, with its dot.
    """

    name: str
    suffix: str

    def open(self, out: CountedFile) -> Writer:
        """Begin a file of such rows."""


class Piece(msgspec.Struct, frozen=True):
    """A whole file of an export: its name, its rows, its bytes."""

    file: str
    rows: int
    bytes: int


class Of(msgspec.Struct, frozen=True, kw_only=True):
    """What an export is of; if any of it is another, so is the export.

    Attributes:
        what: a table's name, or `text`.
        form: with what decides the bytes.
        columns: in their order.
        where: the condition.
        split: bytes of a file, roughly.
        tables: name, size and time of each Parquet file that was read.
    """

    what: str
    form: str
    columns: list[str]
    where: str
    split: int
    tables: list[list[str | int]]


class Manifest(msgspec.Struct, kw_only=True):
    """What is there of an export.

    Attributes:
        version: of this file.
        of: what it is of.
        whole: nothing is missing.
        unread: captures that the tables of documents did not tell of yet.
        rows: in all files.
        files: in their order.
    """

    version: int = _VERSION
    of: Of
    whole: bool = False
    unread: int = 0
    rows: int = 0
    files: list[Piece] = []


def write_parts(source: Source, form: Form, place: Place, split: int, unread: int) -> Manifest:
    """Export to numbered files; nothing is done if the same export is there whole.

    Args:
        source: the rows.
        form: how they are written.
        place: where to.
        split: bytes after which another file is begun; 0 for one file.
        unread: to be said in the manifest.

    Raises:
        ConfigError: something else lies there, or the condition is none.
        StorageError: it cannot be written; what is whole stays.
    """
    beside = _Beside(place)
    of = Of(
        what=source.what,
        form=form.name,
        columns=[column.name for column in source.table.columns],
        where=source.where,
        split=split,
        tables=source.made_of,
    )
    with place.alone():
        _publish(beside, place)  # for one that was killed at it
        held = _held(place)
        replaces = held is not None and held.whole and held.of != of
        if not replaces and (given_up := _held(beside)):
            _drop(beside, given_up.files)
        into = beside if replaces else place
        manifest = _begun(into, of)
        manifest.unread = unread
        if not manifest.whole:
            _write(source, form, into, split, manifest)
        _publish(beside, place)
    return manifest


def _begun(place: Place, of: Of) -> Manifest:
    """The manifest of the same export as far as its files are there; else a new one, and the old files go."""
    held = _held(place)
    if held is None:
        return Manifest(of=of)
    kept = 0
    if held.of == of:
        for piece in held.files:
            if place.size(piece.file) != piece.bytes:
                break
            kept += 1
        if kept == len(held.files):
            return held
    place.put(MANIFEST, _json(Manifest(of=of, files=held.files[:kept])))
    for piece in held.files[kept:]:
        place.remove(piece.file)
    files = held.files[:kept]
    return Manifest(of=of, rows=sum(piece.rows for piece in files), files=files)


class _Beside:
    """A place within another, for what is not to be seen there yet: its files have names that count for no data."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.address = place.address

    def read(self, name: str) -> bytes | None:
        return self._place.read(_NEW + name)

    def size(self, name: str) -> int | None:
        return self._place.size(_NEW + name)

    def put(self, name: str, data: bytes) -> None:
        self._place.put(_NEW + name, data)

    def create(self, name: str) -> contextlib.AbstractContextManager[CountedFile]:
        return self._place.create(_NEW + name)

    def rename(self, name: str, to: str) -> None:
        self._place.rename(_NEW + name, to)

    def remove(self, name: str) -> None:
        self._place.remove(_NEW + name)

    def is_empty(self) -> bool:
        return True

    def alone(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def _publish(beside: _Beside, place: Place) -> None:
    """Let what lies beside take the place of what is there, if it is whole; after a kill it goes on the next time."""
    made = _held(beside)
    if made is None or not made.whole:
        return
    files = {piece.file for piece in made.files}
    for name in sorted(files):
        beside.rename(name, name)
    before = _held(place)
    for piece in before.files if before else []:
        if piece.file not in files:
            place.remove(piece.file)
    place.put(MANIFEST, _json(made))
    beside.remove(MANIFEST)


def _drop(beside: _Beside, pieces: list[Piece]) -> None:
    for piece in pieces:
        beside.remove(piece.file)
    beside.remove(MANIFEST)


def _held(place: Place) -> Manifest | None:
    """What the manifest there says.

    Raises:
        ConfigError: something else lies there, or an export of another version.
    """
    data = place.read(MANIFEST)
    if data is None:
        if place.is_empty():
            return None
        raise ConfigError(f"{place.address}: holds other files. Choose an empty folder with --out.")
    try:
        held = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError:
        held = None
    if held is None or held.version != _VERSION:
        raise ConfigError(
            f"{place.address}/{MANIFEST}: is damaged or of another version. Delete the folder, or choose"
            " another with --out."
        )
    return held


def _json(manifest: Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest)) + b"\n"


def _write(source: Source, form: Form, place: Place, split: int, manifest: Manifest) -> None:
    place.put(MANIFEST, _json(manifest))  # what begins here is ours, also if nothing of it is whole
    batches = source.batches(manifest.rows)
    first = next(batches, None)
    while first is not None or not manifest.files:
        name = f"part-{len(manifest.files):05d}{form.suffix}"
        with place.create(name) as out:
            rows = _fill(
                form.open(out), out, itertools.chain([] if first is None else [first], batches), split
            )
        manifest.files.append(Piece(name, rows, out.count))
        manifest.rows += rows
        first = next(batches, None)
        manifest.whole = first is None
        place.put(MANIFEST, _json(manifest))
    if not manifest.whole:
        manifest.whole = True
        place.put(MANIFEST, _json(manifest))


def _fill(writer: Writer, out: CountedFile, batches: Iterator[Any], split: int) -> int:
    """Write until the file has its size; the rows that it got."""
    rows = 0
    for batch in batches:
        writer.write(batch)
        rows += batch.num_rows
        if split and out.count >= split:
            break
    writer.close()
    return rows
