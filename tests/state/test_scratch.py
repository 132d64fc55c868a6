"""What a killed process leaves in the temporary folder, the next one removes; all else stays."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gossamer.state import scratch
from gossamer.state.scratch import Scratch

KILLED = """
import os, signal
from gossamer.state.scratch import Scratch
folder = Scratch()
open(os.path.join(folder.name, "body"), "w").close()
print(folder.name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scratch._remove_left.cache_clear()
    return tmp_path


def aged(path: Path) -> Path:
    """As it was left an hour ago."""
    then = path.stat().st_mtime - 3_600
    os.utime(path, (then, then))
    return path


def test_what_a_killed_process_left_is_removed(temporary: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    ended = subprocess.run(
        [sys.executable, "-c", KILLED], env=environment, capture_output=True, text=True, check=False
    )
    left = aged(Path(ended.stdout.strip()))
    assert left.parent == temporary and (left / "body").exists()
    with Scratch() as own:
        assert list(temporary.iterdir()) == [Path(own)]
    assert not list(temporary.iterdir())


def test_what_is_left_in_another_folder_is_removed_there(tmp_path: Path) -> None:
    place = tmp_path / "place"
    left = place / "gossamer-scratch-left"
    left.mkdir(parents=True)
    aged(left)
    with Scratch(place) as own:
        assert list(place.iterdir()) == [Path(own)]
    assert not list(place.iterdir())


def test_what_is_in_use_or_just_made_or_none_of_ours_stays(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Scratch() as held:
        others = [
            temporary / name for name in ("gossamer-scratch", "gossamer-scratch-a b", "gossamer-crawl", "x")
        ]
        for path in (*others, temporary / "gossamer-scratch-new"):
            path.mkdir()
        (temporary / "gossamer-scratch-file").touch()
        (temporary / "gossamer-scratch-link").symlink_to(others[0])
        kept = {*map(aged, (*others, Path(held))), *temporary.glob("*[ekw]")}
        gone = temporary / "gossamer-scratch-left"
        gone.mkdir()
        aged(gone)
        monkeypatch.setattr(scratch.os, "geteuid", lambda: os.getuid() + 1)
        Scratch().cleanup()
        assert gone.exists(), "it may be somebody else's"
        monkeypatch.undo()
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        scratch._remove_left.cache_clear()
        Scratch().cleanup()
        assert set(temporary.iterdir()) == kept


def test_it_goes_with_all_that_is_in_it_and_once() -> None:
    made = Scratch()
    (Path(made.name) / "a").mkdir()
    made.cleanup()
    made.cleanup()
    assert not Path(made.name).exists()
