"""A file is replaced whole or stays as it was."""

from pathlib import Path

import pytest

from gossamer.model.errors import StorageError
from gossamer.state import whole_files
from gossamer.state.whole_files import exchange, replacing, version_of, write_whole


def test_what_ends_badly_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_whole(path, "\u65e5")
    with pytest.raises(ValueError), replacing(path) as out:
        out.write(b"half")
        raise ValueError
    with pytest.raises(StorageError, match=r"f: cannot be written \(No space left"), replacing(path) as out:
        raise OSError(28, "No space left on device")
    with pytest.raises(StorageError, match="cannot be written"):
        write_whole(tmp_path / "none" / "f", b"")
    assert path.read_text() == "\u65e5"
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_has_one_version_until_another_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "f"
    versions = [version_of(path)]
    for content in ("one", "one", "two"):
        write_whole(path, content)
        versions += [version_of(path)]
        assert version_of(path) == versions[-1]
    path.unlink()
    assert version_of(path) is versions[0] is None
    assert len({*versions}) == 4


@pytest.mark.parametrize("at_once", [True, False])
def test_two_folders_change_places(tmp_path: Path, at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not at_once:
        monkeypatch.setattr(whole_files.ctypes, "CDLL", lambda _: None)
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.mkdir()
        (path / path.name).touch()
    exchange(one, other)
    assert [path.name for path in (*one.iterdir(), *other.iterdir())] == ["other", "one"]
    assert {*tmp_path.iterdir()} == {one, other}
    with pytest.raises(OSError, match="none"):
        exchange(one, tmp_path / "none")
