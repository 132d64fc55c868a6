"""The trap gate: what it sets aside, what it only puts last, what it never touches, what it gives back."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trap_world import TrapWorld

from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Done
from gossamer.model.link import LinkKind
from gossamer.policy.trap_learner import SUSPECT

HOST = "http://www.example.test"


@pytest.fixture
def world(tmp_path):
    made = TrapWorld(tmp_path / "state")
    yield made
    made.close()


def calendar(number: int) -> str:
    return f"{HOST}/calendar/2024/{1 + number // 28 % 12:02}/{1 + number % 28:02}"


def test_a_calendar_without_end_is_set_aside_but_for_probes(world):
    world.learn(calendar(0), bred=2, times=40)
    for number in range(330):
        assert world.found(calendar(number))
    aside = world.aside()
    assert 310 <= len(aside) < 330
    visited = world.visit_all()
    assert sorted(visited + aside) == sorted(calendar(number) for number in range(330))
    assert world.counters.waiting == len(aside)


def test_what_was_queued_before_is_set_aside_when_its_turn_comes(world):
    for number in range(100):
        world.found(calendar(number))
    world.learn(calendar(0), bred=2, times=40)
    visited = world.visit_all()
    assert len(visited) < 8
    assert len(visited) + len(world.aside()) == 100


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(
        st.from_regex(r"[a-z_]{3,9}[0-9]{0,2}", fullmatch=True), min_size=40, max_size=90, unique=True
    ),
    siblings=st.integers(0, 400),
)
def test_short_pages_of_a_manual_are_never_lost(tmp_path_factory, names, siblings):
    """However little they say, whatever numbers are in their names: they lead to no more of their kind."""
    world = TrapWorld(tmp_path_factory.mktemp("manual"))
    try:
        urls = [f"{HOST}/core/arch/fn.{name}.html" for name in names]
        for number, url in enumerate(urls):
            world.learn(url, bred=siblings if number < 3 else 0)
        for url in urls:
            world.found(url)
        assert world.aside() == []
        assert sorted(world.visit_all()) == sorted(urls)
    finally:
        world.close()


def test_what_yields_little_comes_last_and_comes(world):
    for number in range(40):
        world.found(f"{HOST}/dull/{number}.html", depth=1)
        world.found(f"{HOST}/good/{number}.html", depth=9)
    world.learn(f"{HOST}/good/1.html", text=900, times=5)
    world.learn(f"{HOST}/dull/1.html", times=30)
    visited = world.visit_all()
    assert len(visited) == 80
    assert all("/good/" in url for url in visited[:40])


def test_suspects_wait_for_better_hosts_but_for_one_in_a_hundred(world):
    world.learn(f"{HOST}/dull/1.html", times=30)
    for number in range(30):
        world.found(f"{HOST}/dull/{number}.html")
    for number in range(300):
        world.found(f"http://other.example.test/page-{number}.html")
    visited = world.visit_all(300)
    assert sum("/dull/" in url for url in visited) <= 4


def test_whoever_is_cleared_need_not_wait_for_others(world):
    world.learn(f"{HOST}/list/1.html", times=30)
    for number in range(40):
        world.found(f"{HOST}/list/{number}.html")
    assert sum(handicap >= SUSPECT for handicap in world.handicaps().values()) > 20  # not while it is small
    before = len(world.visit_all(16))
    world.found("http://other.example.test/")
    under_way = world.frontier.lend()
    assert under_way.candidate.url.host == "other.example.test"
    assert world.frontier.lend() is None, "suspects wait while something better is under way"

    world.learn(f"{HOST}/list/1.html", text=900, times=60)
    assert before + len(world.visit_all(100)) == 40
    world.settle(under_way, Done(), Tally(pages=1))


def test_the_same_with_a_session_id_is_a_suspect_once_the_plain_one_is_known(world):
    token = "0000000B88E7E9A8376AC184EAB3830"
    world.learn(f"{HOST}/store/item-1.html;jsessionid={token}1", text=900, times=20)
    world.found(f"{HOST}/store/item-2.html;jsessionid={token}2")
    world.found(f"{HOST}/store/item-3.html")
    world.found(f"{HOST}/store/item-3.html;jsessionid={token}3")
    held = {url.rpartition("/")[2][:6]: handicap for url, handicap in world.handicaps().items() if ";" in url}
    assert held == {"item-2": 0, "item-3": SUSPECT + 1}


def test_seeds_requisites_and_forced_visits_are_exempt(world):
    world.learn(calendar(0), bred=2, times=40)
    world.admit(calendar(1))
    world.admit(calendar(2), 0, hops="R")
    world.admit(calendar(3), 1, hops="E", kind=LinkKind.REQUISITE)
    world.admit(calendar(4), 1, hops="L", forced=True)
    assert world.aside() == []
    assert set(world.handicaps().values()) == {0}


def test_what_was_set_aside_comes_back_when_probes_yield(world):
    world.learn(calendar(0), bred=2, times=40)
    for number in range(60):
        world.found(calendar(number))
    assert world.aside()
    world.learn(calendar(0), text=900, times=30)
    assert len(world.visit_all()) == 60
    assert world.aside() == []


def test_what_was_learned_survives_a_kill(world):
    world.learn(calendar(0), bred=2, times=40)
    world.found(calendar(1))
    world.reopen()
    for number in range(2, 60):
        world.found(calendar(number))
    assert len(world.aside()) > 50
