"""A ZIP file of a mirror is whole whenever it has its name, whoever else writes it."""

import zipfile
from pathlib import Path

import pytest

from gossamer.mirror.places import ZipPlace
from gossamer.mirror.table import MANIFEST, START
from gossamer.model.errors import ConfigError


def _written(path: Path, said: bytes) -> ZipPlace:
    place = ZipPlace(path)
    for name in (START, MANIFEST):
        place.put(name, said, "", ours=True)
    return place


def test_one_mirror_at_a_time_writes_a_zip_file(tmp_path: Path) -> None:
    path = tmp_path / "m.zip"
    (tmp_path / "m.zip.partial").write_bytes(b"of one that was killed" * 100)
    for said in (b"first", b"second"):
        place = _written(path, said)
        with pytest.raises(ConfigError, match="another mirror is being written here"):
            ZipPlace(path)
        place.finish()
        place.close()
        with zipfile.ZipFile(path) as packed:
            assert (packed.testzip(), packed.read(START)) == (None, said)
        assert [*tmp_path.iterdir()] == [path]
    _written(path, b"given up").close()
    with zipfile.ZipFile(path) as packed:
        assert packed.read(START) == b"second"
    assert [*tmp_path.iterdir()] == [path]


def test_who_came_as_it_was_finished_writes_nothing_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = _written(tmp_path / "m.zip", b"whole")

    def finished(file: object, _: int) -> None:
        if not isinstance(file, int):  # a number is of a folder of scratch
            place.finish()

    monkeypatch.setattr("gossamer.mirror.places.fcntl.flock", finished)
    with pytest.raises(ConfigError, match="another mirror"):
        ZipPlace(tmp_path / "m.zip")
    place.close()
    with zipfile.ZipFile(tmp_path / "m.zip") as packed:
        assert packed.read(START) == b"whole"
