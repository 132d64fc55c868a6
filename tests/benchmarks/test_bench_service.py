"""The figures of `benchmarks.service`, and that what it runs can be run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.service import HOSTS, Plan, Point, Visits, figures, overhead, summed_up
from patience import SLOW_SECONDS


def run(crawl_ms: float, daemon_ms: float = 0.0) -> dict[str, float]:
    first = Point(visits=100, clock=10.0, crawl=1.0, daemon=2.0, viewer=3.0, updates=4)
    last = Point(
        visits=1_100,
        clock=20.0,
        crawl=1.0 + crawl_ms,
        daemon=2.0 + daemon_ms,
        viewer=3.5,
        updates=9,
    )
    return figures(first, last)


def test_figures_are_of_what_lies_between_two_points() -> None:
    found = run(2.0, 0.1)
    assert (found["pages"], found["seconds"], found["crawl_ms"], found["daemon_ms"]) == (
        1_000,
        10.0,
        2.0,
        0.1,
    )
    assert (found["daemon_cpu_share"], found["viewer_cpu_share"], found["updates"]) == (0.01, 0.05, 5)


def test_the_start_is_what_the_pages_before_the_first_point_do_not_explain() -> None:
    assert run(2.0)["start_cpu_seconds"] == 1.0 - 100 * 0.002


def test_the_overhead_is_what_is_lost_of_pages_per_second_of_cpu() -> None:
    assert overhead(run(1.9), run(1.9, 0.1)) == 0.05
    assert overhead(run(1.9), run(1.9, 0.1), daemon=False) == 0.0
    assert overhead(run(2.0), run(1.6, 0.0)) == -0.25, "noise is not hidden"


def test_medians_over_the_pairs() -> None:
    runs = {
        "alone": [run(1.9), run(1.8), run(1.9)],
        "daemon": [run(1.9, 0.1), run(1.8, 0.2), run(1.9)],
        "watched": [run(1.9, 0.1), run(1.8, 0.2), run(1.9)],
    }
    found = summed_up(runs)
    assert found["overheads"] == [0.05, 0.1, 0.0]
    assert (found["overhead"], found["overhead_in_crawl"]) == (0.05, 0.0)
    assert found["cpu_ms_per_page"] == {"without": 1.9, "with": 1.9, "daemon": 0.1}
    assert found["start_cpu_seconds"] == {"without": 0.81, "with": 0.81}
    assert found["parts"] == {"daemon": 0.05}


def test_visits_are_counted_as_they_come(tmp_path: Path) -> None:
    visits = Visits(tmp_path)
    assert visits.count() == 0
    with (tmp_path / "crawl.log").open("w") as log:
        log.write("one\ntwo\nhal")
        log.flush()
        assert visits.count() == 2
        log.write("f\n")
    assert visits.count() == 3


def test_rests_make_a_crawl_last() -> None:
    assert Plan(4_000, 60.0).rest == 60.0 * HOSTS / 4_000
    assert Plan(4_000, 0.0).rest == 0.0


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("viewer", ["stream"])
def test_a_small_run_of_all_of_it(viewer: str) -> None:
    line = [sys.executable, "-m", "benchmarks.service", "--quick", "--viewer", viewer, "--parts", "--json"]
    ran = subprocess.run(
        line, cwd=Path(__file__).parents[2], capture_output=True, timeout=SLOW_SECONDS, check=True
    )
    found = json.loads(ran.stdout)
    assert found["viewer"] == viewer
    assert set(found["runs"]) == {"alone", "shared", "daemon", "limited", "watched"}
    assert found["pages"] >= 200
    assert found["updates"] >= 2
    assert -1.0 < found["overhead"] < 0.8
    assert 0 < found["daemon_cpu_share"] < 0.5
