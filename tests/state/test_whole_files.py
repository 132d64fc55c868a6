"""A file is replaced whole or stays as it was."""

from pathlib import Path

import pytest

from gossamer.model.errors import StorageError
from gossamer.state.whole_files import replacing, write_whole


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
