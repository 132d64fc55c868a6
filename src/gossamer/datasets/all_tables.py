"""The files of all tables of a crawl, or of all agents of a cluster."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from gossamer.datasets import derived, snapshot
from gossamer.datasets.parquet import write_table
from gossamer.datasets.tables import DERIVED
from gossamer.inspect.inspection import Inspection


@contextlib.contextmanager
def being_read(inspection: Inspection) -> Iterator[None]:
    """While the files of documents that `tables_of` names stay, whoever goes on with them."""
    with derived.being_read(part.folder.path / derived.FOLDER for part in inspection.each.values()):
        yield


def tables_of(inspection: Inspection, *, keep: bool = False) -> dict[str, list[Path]]:
    """Files of each table by its name, brought up to date as far as that needs no reading of documents.

    Tables of documents that were not made yet are empty. `keep`: as `snapshot.refresh` has it.

    Raises:
        ConfigError: the extra 'sql' is not installed.
        StorageError: the disk refuses.
    """
    folder = inspection.folder.path / snapshot.FOLDER
    files = snapshot.refresh(inspection, folder, keep=keep)
    for part in inspection.each.values():
        for name, paths in derived.files_of(part.folder.path / derived.FOLDER).items():
            files.setdefault(name, []).extend(paths)
    for table in DERIVED:
        if table.name not in files:
            empty = folder / f"no-{table.name}.parquet"
            if not empty.exists():
                write_table(table, (), empty)
            files[table.name] = [empty]
    return files
