"""Two crawls of one machine at the same hosts, one killed again and again: the servers notice no haste."""

from collections import Counter
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from torture_lives import (
    THROTTLED,
    THROTTLING_MANNERS,
    Life,
    Manners,
    assert_complete,
    dice,
    rude_visits,
    small_world,
    throttling_world,
    wait_for,
)

from gossamer.simweb import SimulatedWeb

REST = 0.15


def hasty_visits(life: Life) -> list[str]:
    """Visits at once, or too early: exactly by their starts, and by the ends as far as those are known.

    On a busy machine the server notes an end late, by more than the usual slack, but a start never.
    """
    hasty = rude_visits(life, Manners(min_delay=REST - 0.05, factor=0, retry_after={503: 1.0}))
    visits = sorted(life.web.log(), key=lambda visit: (visit.host, visit.started))
    for before, after in pairwise(visits):
        if before.host == after.host and after.started - before.started < REST:
            hasty.append(f"{before.host}: {after.started - before.started:.3f} s from start to start")
    return hasty


def pair(web: SimulatedWeb, path: Path, rest: float = REST) -> tuple[Life, Life]:
    one, other = (
        Life(
            web,
            path / agent,
            {
                "politeness.min_delay": f"{rest:.3f}s",
                "politeness.shared": str(path / "shared"),
                "fetch.user_agent": f"{agent}/1",
                "engine.give_up_after": "6s",
            },
        )
        for agent in ("one", "other")
    )
    return one, other


@pytest.mark.slow
def test_two_crawls_one_killed_and_resumed(tmp_path: Path) -> None:
    spec = small_world(hosts=4, pages=44, misbehaviours=("slow-host", "throttle-503", "robots-delay"))
    chance = dice("shared rests")
    with SimulatedWeb(spec) as web:
        one, other = pair(web, tmp_path)
        first, second = one.begin_crawl(), other.begin_crawl()
        wait_for(one, lambda log: len(log) > 20)
        killed = 0
        while killed < 6:
            ended = one.kill_after(first, chance.uniform(0.8, 1.4))
            if not ended.killed:
                break
            killed += 1
            first = one.begin_resume()
        else:
            assert one.end(first).status == 0
        assert killed >= 3, "it was through too soon"
        assert other.end(second).status == 0
        log = web.log()
        assert not hasty_visits(one)
    agents = Counter(visit.fields["user-agent"] for visit in log)
    assert len(agents) == 2 and min(agents.values()) > 30, agents


@pytest.mark.slow
def test_two_crawls_end_complete_and_take_turns(tmp_path: Path) -> None:
    spec = small_world(hosts=3, pages=45, misbehaviours=("500-first",))
    with SimulatedWeb(spec) as web:
        lives = pair(web, tmp_path)
        processes = [life.begin_crawl() for life in lives]
        ends = [life.end(process) for life, process in zip(lives, processes, strict=True)]
        assert [end.status for end in ends] == [0, 0]
        visits = sorted(web.log(), key=lambda visit: (visit.host, visit.started))
        assert not hasty_visits(lives[0])
        for _, group in groupby(visits, key=lambda visit: visit.host):
            by = [visit.fields["user-agent"] for visit in group]
            first = max(by.index(agent) for agent in set(by))
            both_ask = by[max(0, first - 1) : min(len(by) - by[::-1].index(agent) for agent in set(by))]
            turns = sum(before != after for before, after in pairwise(both_ask))
            assert len(set(by)) == 2 and turns >= 0.5 * (len(both_ask) - 1), by


@pytest.mark.slow
def test_a_back_off_of_one_crawl_holds_for_the_other(tmp_path: Path) -> None:
    spec = throttling_world(*THROTTLED)
    with SimulatedWeb(spec) as web:
        lives = pair(web, tmp_path)
        processes = [life.begin_crawl() for life in lives]
        ends = [life.end(process) for life, process in zip(lives, processes, strict=True)]
        assert [end.status for end in ends] == [0, 0]
        assert not rude_visits(lives[0], THROTTLING_MANNERS)
        refused = [visit for visit in web.log() if visit.status in (429, 503)]
    assert len(refused) >= 2 * len(THROTTLED)


@pytest.mark.slow
def test_a_crawl_alone_loses_nothing_by_sharing(tmp_path: Path) -> None:
    with SimulatedWeb(small_world()) as web:
        life, _ = pair(web, tmp_path, rest=0.03)
        assert life.crawl().status == 0
        assert_complete(life)
