"""The figures of `benchmarks.fairness`, and that what it runs can be run."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from benchmarks.fairness import HUGE_HOST, Plan, Ran, capacity, command, figures
from patience import SLOW_SECONDS

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.simweb import Visit
from gossamer.simweb.world.world import World

PLAN = Plan(hosts=2, pages=2, huge=30, workers=8, settings=["dns.attempts=3"])


def visit(host: str, started: float, ended: float) -> Visit:
    return Visit(host, "/", started, ended, 200, 1, True, "", "", 1, "GET", {})


def ran(**ends: list[float]) -> Ran:
    visits = {name: [visit(name, end - 0.1, end) for end in moments] for name, moments in ends.items()}
    visits[HUGE_HOST] = [visit(HUGE_HOST, 10.0, 10.1)] * 4
    return Ran(10.0, visits, 0.1, 1.0)


def test_a_ratio_counts_from_the_start_of_the_crawl():
    result = figures(PLAN, ran(quick=[10.1, 11.1, 12.0], slow=[13.1, 14.1, 15.0]), alone=2.0)
    assert (result["worst_ratio"], result["median_ratio"]) == (2.5, 1.75)
    assert result["worst_span_ratio"] == 1.0, "from its own first request"
    assert result["hosts_beyond_2"] == 1
    assert result["distribution"]["50%"] == 1.0
    assert result["huge_pages_fetched"] == 3


def test_a_host_that_was_not_finished_is_no_figure():
    with pytest.raises(RuntimeError, match="1 small hosts"):
        figures(PLAN, ran(quick=[10.1, 11.1, 12.0], cut=[10.1, 11.1]), alone=2.0)
    with pytest.raises(RuntimeError, match="1 small hosts"):
        figures(PLAN, ran(quick=[10.1, 11.1, 12.0]), alone=2.0)


def test_capacity_leaves_out_the_ends():
    steady = [10.0 + number / 100 for number in range(1_000)]
    visits = {"h": [visit("h", end, end) for end in [5.0, *steady, 90.0]]}
    assert capacity(Ran(5.0, visits, 0.0, 0.0)) == pytest.approx(100.0)


def test_the_command_rests_and_ends_the_huge_host(tmp_path):
    line = command(PLAN, tmp_path, "127.0.0.1:5353", 1.5, 40, alone=False)
    assert line[-2:] == ["--set", "dns.attempts=3"]
    tree = tomllib.loads((tmp_path / "gossamer.toml").read_text())
    config = load(CrawlConfig, {**tree, "seeds": ["http://h0.sim.test/"]})
    assert (config.politeness.min_delay, config.politeness.factor, config.scope.mode) == (1.5, 0.0, "any")
    assert config.place[HUGE_HOST].said("budget") == {"pages_per_host": 40}


def test_the_huge_host_has_its_pages():
    world = World(PLAN.spec, 8080)
    urls = list(PLAN.huge_urls(8080))
    assert len(set(urls)) == 30
    for url in urls:
        place = world.atlas.place(url)
        assert place.host == HUGE_HOST
        assert world.find(place.host, place.target).status == 200


@pytest.mark.slow
@pytest.mark.alone
def test_a_small_run_of_all_of_it():
    line = [sys.executable, "-m", "benchmarks.fairness", "--quick", "--hosts", "40", "--pages-per-host", "3"]
    ran = subprocess.run(
        [*line, "--rest", "1", "--json"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=SLOW_SECONDS,
        check=True,
    )
    result = json.loads(ran.stdout)
    assert result["worst_ratio"] <= 2.0
    assert result["huge_pages_fetched"] >= 6
    assert result["alone_measured_seconds"][0] == pytest.approx(result["alone_seconds"], rel=0.25)
    assert result["offered_per_s"] <= 0.55 * result["capacity_per_s"]
