"""A sample of every kind of torture, of crawls that visit their pages again all the time.

All of it: `GOSSAMER_TORTURE_REVISIT=1 pytest -m slow tests/torture`.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torture_lives import REVISIT

SAMPLE = (
    "test_torture_kill.py::test_killed_before_a_commit_what_was_appended_is_cut_and_fetched_again[archive.append:25]",
    "test_torture_kill.py::test_killed_after_a_commit_nothing_is_cut[checkpoint.copied:1]",
    "test_torture_kill.py::test_killed_at_the_end_nothing_is_fetched_again[end.committed]",
    "test_torture_kill.py::test_killed_at_four_random_moments[0]",
    "test_torture_damage.py::test_a_damaged_state_goes_back_to_its_checkpoint[tables cut]",
    "test_torture_disk.py::test_the_disk_of_one_part_is_full[state-12000]",
)  # None of the signals: those tests wait until nothing comes back for a while, and here something always does.


@pytest.mark.slow
@pytest.mark.parametrize("which", SAMPLE)
def test_crawls_that_visit_again_survive_it_too(which: str, tmp_path: Path) -> None:
    here = Path(__file__).parent
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-m", "slow", "--basetemp", str(tmp_path), str(here / which)],
        cwd=here.parents[1], env={**os.environ, REVISIT: "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout[-8_000:]
