"""An export that is made anew takes the place of the one before when it is whole."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")

from exported import visits

from gossamer.datasets.export.forms import LinesForm
from gossamer.datasets.export.parts import MANIFEST, Manifest, write_parts
from gossamer.datasets.export.places import Folder, Remote
from gossamer.datasets.export.rows import source_of
from gossamer.model.errors import StorageError


class _Ending(Folder):
    """Fails at a call of a method with a name as its last argument."""

    def __init__(self, path: Path, method: str, name: str) -> None:
        super().__init__(path)
        usual = getattr(self, method)

        def ending(*names: str) -> Any:
            if names[-1] == name:
                raise StorageError("no more")
            return usual(*names)

        setattr(self, method, ending)


def test_a_whole_export_is_there_until_the_next_is_whole(tmp_path: Path) -> None:
    files, out = visits(tmp_path, 3_000), tmp_path / "out"

    def export(columns: str, method: str = "create", name: str = "") -> Manifest:
        source = source_of("visits", columns, "", files)
        form = LinesForm("jsonl", source.table, packed=False)
        return write_parts(source, form, _Ending(out, method, name), 20_000, 0)

    def seen() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in out.iterdir() if not path.name.startswith("_new-")}

    assert len(export("url,time").files) > 4
    first, begun = seen(), []
    for name in ("_new-part-00001.jsonl", "_new-part-00003.jsonl"):
        with pytest.raises(StorageError):
            export("url", "create", name)
        assert seen() == first
        begun.append((out / "_new-part-00000.jsonl").stat().st_ino)
    for method, name in (("rename", "part-00001.jsonl"), ("remove", "part-00004.jsonl")):
        with pytest.raises(StorageError):
            export("url", method, name)
    whole = export("url")
    begun.append((out / "part-00000.jsonl").stat().st_ino)
    assert len({*begun}) == 1, "it went on with what was whole"
    assert (whole.whole, whole.rows, whole.of.columns) == (True, 3_000, ["url"])
    assert json.loads((out / MANIFEST).read_bytes())["files"] == [
        {"file": piece.file, "rows": piece.rows, "bytes": (out / piece.file).stat().st_size}
        for piece in whole.files
    ]
    assert {path.name for path in out.iterdir()} == {MANIFEST, *(piece.file for piece in whole.files)}
    with pytest.raises(StorageError):
        export("time", "create", "_new-part-00002.jsonl")
    assert export("url") == whole
    assert {path.name for path in out.iterdir()} == {MANIFEST, *(piece.file for piece in whole.files)}, (
        "what was given up is gone"
    )


def test_so_it_is_in_a_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra `export` is not installed")
    files, store = visits(tmp_path, 300), fsspec.filesystem("memory")
    for columns, count in (("url,time", 1_000), ("url", 4_000)):
        source = source_of("visits", columns, "", files)
        form = LinesForm("jsonl", source.table, packed=False)
        whole = write_parts(source, form, Remote("memory://anew"), count, 0)
        assert {path.rpartition("/")[2]: store.size(path) for path in store.ls("/anew", detail=False)} == {
            MANIFEST: store.size(f"/anew/{MANIFEST}"),
            **{piece.file: piece.bytes for piece in whole.files},
        }
    store.rm("/anew", recursive=True)
