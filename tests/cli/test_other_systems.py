"""What is said and what works where it is not Linux (K16); `other_systems.py` says how far that can be told here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

HERE = str(Path(__file__).parent)
ON_WINDOWS = "from other_systems import like_windows; like_windows()\n"
ON_MACOS = "from other_systems import like_macos; like_macos()\n"
COMMAND = "from gossamer.cli import main; main()"
NO_PROC = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]


def run(code: str, *arguments: str, before: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join((HERE, *filter(None, sys.path)))
    return subprocess.run(
        [*(before or []), sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
        timeout=PATIENCE,
        check=False,
    )


def hides_proc() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*NO_PROC, "true"], capture_output=True, check=False).returncode == 0


def test_windows_is_told_what_to_do_instead_in_one_line() -> None:
    command = run(ON_WINDOWS + COMMAND, "crawl", "http://example.org/")
    assert command.returncode == 2
    assert command.stdout == ""
    assert command.stderr.startswith("gossamer: Gossamer does not run on Windows")
    assert command.stderr.count("\n") == 1
    assert "WSL 2" in command.stderr
    program = run(ON_WINDOWS + "from gossamer import crawl")
    assert program.stderr.strip().split("\n")[-1].startswith("ImportError: Gossamer does not run on Windows")


@pytest.mark.slow
def test_with_only_the_names_of_macos_a_site_is_crawled_checked_and_explained(tmp_path: Path) -> None:
    if not hides_proc():
        pytest.skip("/proc cannot be hidden here")
    command = run(ON_MACOS + COMMAND, "demo", "--dir", str(tmp_path / "demo"), before=NO_PROC)
    assert command.returncode == 0, command.stderr
    assert "all is well" in command.stdout
    daemon = run(ON_MACOS + COMMAND, "serve", "--dir", str(tmp_path / "jobs"), before=NO_PROC)
    assert (daemon.returncode, daemon.stderr.count("\n")) == (2, 1)
    assert "gossamer serve needs Linux" in daemon.stderr
    assert not (tmp_path / "jobs").exists()
