"""Rests, `Retry-After` and robots holds as the servers see them, across kills and jumps of the clock."""

import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from torture_lives import (
    RETRY_AFTER,
    THROTTLED,
    THROTTLING_MANNERS,
    Life,
    Manners,
    assert_complete,
    rude_visits,
    small_world,
    throttling_world,
    wait_until_logged,
    wait_until_throttled,
    waits,
)

from gossamer.simweb import SimulatedWeb, WorldSpec


@pytest.fixture
def throttled(tmp_path: Path) -> Iterator[Life]:
    with SimulatedWeb(throttling_world(*THROTTLED)) as web:
        yield Life(web, tmp_path / "crawl", {"politeness.min_delay": "100ms", "engine.give_up_after": "8s"})


@pytest.mark.slow
@pytest.mark.parametrize("order", ["bfs", "dfs", "best", "opic"])
def test_a_long_crawl_is_polite_to_every_host(tmp_path: Path, order: str) -> None:
    spec = small_world(misbehaviours=("slow-host", "slow-body", "throttle-503", "robots-delay"))
    with SimulatedWeb(spec) as web:
        # A slow host rests five times as long as its answers take.
        settings = {
            "politeness.min_delay": "100ms",
            "engine.give_up_after": "8s",
            "engine.order": order,
        }
        life = Life(web, tmp_path / "crawl", settings)
        assert life.crawl().status == 0
        assert_complete(life)
        assert not rude_visits(life, Manners(min_delay=0.1, retry_after={503: 1.0}))
        slow = [visit for visit in web.log() if visit.ended - visit.started > 0.5]
        assert slow, "nothing was slow, so the factor was not tried"


@pytest.mark.slow
def test_retry_after_holds_over_a_kill(throttled: Life) -> None:
    process = throttled.begin_crawl()
    wait_until_throttled(throttled)
    killed = throttled.kill_after(process, 0.7)  # long enough for the visits to be settled
    assert killed.killed
    assert throttled.resume().status == 0
    assert_complete(throttled)
    assert not rude_visits(throttled, THROTTLING_MANNERS)
    for case in THROTTLED:
        status = 503 if "503" in case else 429
        held = waits(throttled, f"{case}.sim.test", status)
        assert len(held) == 2 and min(held) >= RETRY_AFTER - 0.01, (case, held)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["robots-500-first", "robots-drop-first"])
def test_a_robots_hold_is_kept_over_a_kill(tmp_path: Path, case: str) -> None:
    with SimulatedWeb(throttling_world(case)) as web:
        settings = {"robots.hold_first": "2s", "politeness.min_delay": "100ms", "engine.give_up_after": "8s"}
        life = Life(web, tmp_path / "crawl", settings)
        host = f"{case}.sim.test"
        process = life.begin_crawl()
        wait_until_logged(life, lambda lines: any(f"//{host}:" in line["url"] for line in lines))
        assert life.kill_after(process, 0.7).killed
        assert life.resume().status == 0
        assert_complete(life)
        visits = [visit for visit in web.log() if visit.host == host]
        asked = [visit for visit in visits if visit.target == "/robots.txt"]
        assert [visit.target for visit in visits[: len(asked)]] == ["/robots.txt"] * 3
        gaps = [b.started - a.ended for a, b in pairwise(asked)]
        # The hold doubles with each failure, so it must be known which one this is.
        assert gaps[0] >= 2.0 - 0.01 and gaps[1] >= 4.0 - 0.01, gaps


@pytest.mark.slow
def test_after_a_kill_every_host_rests_first(tmp_path: Path) -> None:
    spec = WorldSpec(hosts=4, pages=24, exponent=0.0, seeds=4, page_bytes=1_500, links=6, robots=("allow",))
    with SimulatedWeb(spec) as web:
        life = Life(web, tmp_path / "crawl", {"politeness.min_delay": "1500ms"})
        # The disk does not know of the visits that are being settled when it dies.
        assert life.crawl("settlement.appended:6").killed
        known = {visit.host for visit in web.log()}
        count = len(web.log())
        begun = time.monotonic()
        assert life.resume().status == 0  # to its end: what was settled before the kill is some pages or many
        first = {visit.host: visit.started for visit in reversed(web.log()[count:])}
        assert known & first.keys()
        for host in known & first.keys():
            assert first[host] - begun >= 1.5, host
        assert not rude_visits(life, Manners(min_delay=1.5))
