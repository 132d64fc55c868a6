"""The figures of `benchmarks.slow_names`, and that what it runs can be run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.crawlers import Work
from benchmarks.slow_names import OURS, PLAIN, Plan, command, count, ratio
from patience import SLOW_SECONDS

from gossamer.simweb import Question, WorldSpec


def question(name: str, kind: str, *, answered: bool = True) -> Question:
    return Question(name, kind, 0.0, "udp", answered)


def test_what_is_necessary_includes_what_was_lost():
    asked = [
        question("a.test", "A"),
        question("a.test", "AAAA", answered=False),
        question("a.test", "AAAA"),
        question("b.test", "A"),
        question("b.test", "AAAA"),
    ]
    figures = count(asked)
    assert (figures["names"], figures["questions"], figures["lost_questions"]) == (2, 5, 1)
    assert (figures["resolutions_per_name"], figures["queries_by_necessary"]) == (1.0, 1.0)
    again = count([*asked, question("b.test", "A"), question("b.test", "AAAA")])
    assert again["resolutions_per_name"] == 1.5
    assert again["queries_by_necessary"] == 1.4


def test_ratios_are_medians_of_pairs():
    times = [{"seconds": 11.0}, {"seconds": 30.0}, {"seconds": 12.0}]
    assert ratio(times, [{"seconds": 10.0}] * 3) == 1.2


def test_both_ways_to_keep_names_are_written_down(tmp_path):
    plan = Plan(WorldSpec.plain(hosts=2, pages=2), 8, 0.5, ["dns.attempts=3"])
    work = Work(["http://h0.sim.test/"], tmp_path, workers=8, nameserver="127.0.0.1:5353")
    for names, written in ((OURS, ("compact", "true")), (PLAIN, ("plain", "false"))):
        line = command(plan, work, names)
        assert line[-2:] == ["--set", "dns.attempts=3"]
        config = (tmp_path / "gossamer.toml").read_text()
        assert f'cache = "{written[0]}"' in config
        assert f"prefetch = {written[1]}" in config
        assert "min_delay = 0.5" in config


@pytest.mark.slow
def test_a_small_run_of_all_of_it():
    line = [sys.executable, "-m", "benchmarks.slow_names", "--hosts", "40", "--pages-per-host", "2", "--json"]
    ran = subprocess.run(
        # A wait that no stalled machine outlasts, for then it would rightly ask again.
        [*line, "--rest", "0.1", "--set", "dns.first_wait=3"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=SLOW_SECONDS,
        check=True,
    )
    result = json.loads(ran.stdout)
    assert result["urls_lost"] == 0
    assert result["resolutions_per_name"] <= 1.05
    assert result["queries_by_necessary"] <= 1.05
    assert {"wall_ratio", "wall_ratio_plain", "queries_per_name", "workers", "rest_seconds"} <= set(result)
