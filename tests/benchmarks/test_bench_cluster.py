"""The figures of `benchmarks.cluster`, and that what it runs can be run."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.cluster import exchange, spread, summed_up
from benchmarks.cluster_memory import Watch, compared
from benchmarks.cluster_runs import AGENT, ClusterRun
from benchmarks.cluster_timed import Clocks
from patience import SLOW_SECONDS
from ray_there import needs_ray, never_two_at_once

from benchmarks import cluster_digests, cluster_names
from gossamer.cluster.agent import digest_exchange
from gossamer.simweb.servers.visits import Question


def run(cpu: float, start: float = 0.0, pages: int = 1_000, **more) -> ClusterRun:
    known = {
        "seconds": 10.0,
        "cpu": {AGENT: cpu, "raylet": 1.0},
        "start": start,
        "threads": {},
        "pages": {"a-1": pages // 2, "a-2": pages - pages // 2},
        "hosts": {"a-1": 40, "a-2": 60},
        "captures": [f"http://h/{number}" for number in range(pages)],
        "report": {},
        "clocks": [],
    }
    return ClusterRun(**(known | more))


def test_ratios_are_of_pairs():
    spent = {"plain": [1.0, 1.1], "one": [1.0, 2.0], "two": [1.1, 2.0]}
    runs = {"one": [run(1.0), run(2.0)], "two": [run(2.0, 0.9), run(3.0, 0.8)]}
    found = summed_up(spent, runs)
    assert found["ratios"] == [1.1, 1.0]
    assert found["cpu_ratio"] == 1.05
    assert found["cpu_ratio_without_start"] == 1.1
    assert found["balance"] == {"pages": 0.0, "hosts": 0.2}
    assert found["ray_cpu_seconds"]["two"] == {"raylet": 1.0}


def test_the_exchange_is_what_clocks_and_rays_threads_say():
    clocks = [
        {"cpu": 5.0, "seconds": {"exchange": 0.2, "checks": 0.1, "admission": 4.0}, "calls": {"admission": 3}}
    ]
    two = run(10.0, 2.0, clocks=clocks * 2, threads={"worker.io": 2.5, "ray::gossamer-1": 7.0})
    one = run(5.0, 1.0, threads={"worker.io": 1.2})
    found = exchange(two, one)
    assert found["exchange_clocks_share"] == 0.06
    assert found["exchange_ray_share"] == 0.03
    assert found["exchange_share"] == 0.09
    assert found["exchange_messages"] == 6


def test_spread_is_the_largest_above_the_mean():
    assert spread({"a-1": 50, "a-2": 50}) == 0
    assert spread({"a-1": 55, "a-2": 45}) == pytest.approx(0.1)


def test_of_a_clock_within_another_only_the_inner_counts():
    clocks = Clocks()

    def busy(seconds: float) -> None:
        ends = time.thread_time() + seconds
        while time.thread_time() < ends:
            pass

    inner = clocks.around("inner", busy)
    outer = clocks.around("outer", lambda: (busy(0.01), inner(0.05)))
    outer()
    # Less what the clocks themselves take, which is estimated.
    assert 0.009 <= clocks.seconds["outer"] < 0.049 <= clocks.seconds["inner"]


def test_every_part_that_has_a_clock_is_there():
    installed = "from benchmarks.cluster_timed import Clocks; Clocks().install()"
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", installed], cwd=root, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert ran.returncode == 0


def test_growth_is_of_the_last_tenth_on_that_before_the_first_fifth():
    watch = Watch()
    watch.samples["a-1"] = [(float(n), n, 100.0 if n < 500 else 108.0) for n in range(1_000)]
    watch.samples["a-2"] = [(0.0, 1, 300.0)]
    assert watch.growth() == {"a-1": 0.08}
    assert watch.peak() == {"a-1": 108.0, "a-2": 300.0}


def test_differences_of_a_collection():
    collected = run(1.0, captures=["a", "b", "b", "d"])
    assert compared(collected, ["a", "b", "c"]) == {"missing": 1, "extra": 1, "doubles": 1}


@pytest.mark.slow
@needs_ray
@never_two_at_once
def test_a_small_run_of_all_of_it():
    line = [sys.executable, "-m", "benchmarks.cluster", "--quick", "--json"]
    ran = subprocess.run(
        line, cwd=Path(__file__).parents[2], capture_output=True, timeout=SLOW_SECONDS, check=False
    )
    found = json.loads(ran.stdout)
    assert found["all_the_same"]
    assert set(found["cpu_ms_per_page"]) == {"plain", "one", "two", "strangers"}
    assert 0 < found["exchange_share"] < 1
    assert found["exchange_messages"] > 0


def test_shared_digests_are_compared_pair_by_pair_without_start_up():
    own = [run(3.0, start=1.0, captures=["a", "b"]), run(5.0, start=1.0, captures=["a", "b"])]
    shared = [run(5.0, start=1.0, captures=["b", "a"]), run(5.0, start=1.0, captures=["a"])]
    found = cluster_digests.compared(own, shared)
    assert found["runs"] == {"own": [1000.0, 2000.0], "shared": [2000.0, 4000.0]}
    assert found["ratios"] == [2.0, 2.0]
    assert not found["all_the_same"]


def test_messages_are_counted_by_the_page():
    clocks = [{"calls": {"questions": 2}, "seconds": {"digests": 0.002}}, {"calls": {}, "seconds": {}}]
    found = cluster_digests.asked(run(1.0, captures=["a", "b", "c", "d"], clocks=clocks))
    assert (found["messages_per_page"], found["clocks_ms_per_page"]) == (0.5, 0.5)


def test_of_each_content_that_is_new_half_is_asked_of_the_other_agent_together(monkeypatch):
    monkeypatch.setattr(digest_exchange, "PATIENCE_SECONDS", 0.0)
    found = cluster_digests.exchange_costs(400)
    assert found["exchange_us"] > 0
    assert found["messages_per_content"] == (400 / 40 + 400 / 40 / 5) / 400


def test_names_that_are_asked_for_again_are_counted():
    asked = [("a", "A"), ("a", "AAAA"), ("b", "A"), ("b", "A")]
    questions = [Question(name, kind, 0.0, "udp", answered=True) for name, kind in asked]
    assert cluster_names.counted(questions) == {"queries": 4, "different": 3, "names_again": 1}
