"""A crawl of fifty names on one address that is killed again and again: the server is left alone all the same."""

from itertools import pairwise
from pathlib import Path

import pytest
from torture_lives import Life, assert_complete, dice, wait_for

from gossamer.simweb import SimulatedWeb, WorldSpec

REST = 0.1


@pytest.mark.slow
def test_fifty_names_on_one_address_under_kill(tmp_path: Path) -> None:
    chance = dice("address rests")
    with SimulatedWeb(WorldSpec(hosts=50, pages=60, seeds=50, page_bytes=500)) as web:
        settings = {"politeness.address_delay": f"{REST:.3f}s", "engine.give_up_after": "6s"}
        life = Life(web, tmp_path / "crawl", settings)
        process = life.begin_crawl()
        wait_for(life, lambda log: len(log) > 10)
        for _ in range(5):
            assert life.kill_after(process, chance.uniform(0.8, 1.4)).killed
            process = life.begin_resume()
        assert life.end(process).status == 0
        assert_complete(life)
        visits = sorted(web.log(), key=lambda visit: visit.started)
    assert len({visit.host for visit in visits}) == 50 and len({visit.address for visit in visits}) == 1
    gaps = [after.started - before.started for before, after in pairwise(visits)]
    print(f"{len(visits)} visits, shortest gap {min(gaps):.4f} s")
    assert min(gaps) >= REST
