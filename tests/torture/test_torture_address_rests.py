"""Crawls of many names on one server that are killed again and again: the server is left alone all the same."""

from itertools import pairwise
from pathlib import Path

import pytest
from one_certificate import OneCertificate
from torture_lives import Life, assert_complete, assert_sound, dice, wait_for

from gossamer.simweb import SimulatedWeb, WorldSpec

REST = 0.1
_COMMITTED = 0.5
"""Seconds before a kill from which on nobody knows what of a visit was kept."""


def killed_again_and_again(life: Life, chance) -> None:
    """The whole of a crawl, over five kills."""
    process = life.begin_crawl()
    wait_for(life, lambda log: len(log) > 10)
    for _ in range(5):
        assert life.kill_after(process, chance.uniform(0.8, 1.4)).killed
        process = life.begin_resume()
    assert life.end(process).status == 0


def told(visits: list) -> list[tuple[float, float]]:
    """(start to start, end to start) of each two that follow one another."""
    gaps = [
        (after.started - before.started, after.started - before.ended) for before, after in pairwise(visits)
    ]
    shortest = min(start for start, _ in gaps), min(end for _, end in gaps)
    print(f"{len(visits)} visits, shortest gaps {shortest[0]:.4f} s, {shortest[1]:.4f} s")
    return gaps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "by"),
    [({}, []), ({"addresses": 21, "backends": 1, "name_ttl": 1}, ["cname"])],
    ids=["one address", "changing addresses by CNAME"],
)
def test_fifty_names_on_one_server_under_kill(tmp_path: Path, world, by) -> None:
    with SimulatedWeb(WorldSpec(hosts=50, pages=60, seeds=50, page_bytes=500, **world)) as web:
        settings = {
            "politeness.address_delay": f"{REST:.3f}s",
            "politeness.server_by": by,
            "dns.min_ttl": "1s",
            "engine.give_up_after": "6s",
        }
        life = Life(web, tmp_path / "crawl", settings)
        killed_again_and_again(life, dice("address rests"))
        assert_complete(life)
        visits = sorted(web.log(), key=lambda visit: visit.started)
    assert len({visit.host for visit in visits}) == 50
    assert len({visit.address for visit in visits}) == (21 if by else 1)
    assert max(visit.open for visit in visits) == 1
    assert min(start for start, _ in told(visits)) >= REST


@pytest.mark.slow
def test_twenty_hosts_with_one_certificate_under_kill(tmp_path: Path) -> None:
    with OneCertificate(tmp_path, hosts=20, pages=3) as web:
        settings = {
            "politeness.address_delay": f"{REST:.3f}s",
            "politeness.server_by": ["certificate"],
            "fetch.ca_file": str(web.ca_file),
            "engine.give_up_after": "6s",
        }
        life = Life(web, tmp_path / "crawl", settings)
        killed_again_and_again(life, dice("certificates"))
        assert_sound(life)
        visits = web.log()
    shown: set[str] = set()
    claimed = [visit for visit in visits if visit.host in shown or _is_shown(visit, life, shown)]
    assert len(shown) == 20 and len(claimed) >= 20 * 3
    assert {visit.path for visit in visits} == {"/robots.txt", "/", "/0", "/1", "/2"}
    for start, rest in told(claimed):
        assert start >= REST and rest >= 0


def _is_shown(visit, life: Life, shown: set[str]) -> bool:
    """Notes whose certificate the crawl knows from this visit on; always false."""
    if not any(0 <= death - visit.started < _COMMITTED for death in life.ends):
        shown.add(visit.host)
    return False
