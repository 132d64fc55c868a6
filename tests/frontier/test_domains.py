"""Budgets by registrable domain: rounds, limits, who links in; in the frontier and in a whole crawl."""

import os
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest
from examples import examples
from frontier_world import FrontierWorld
from hypothesis import given, settings
from hypothesis import strategies as st
from test_frontier import VISITED, drain
from whole_crawl import crawl

from gossamer.frontier import domains
from gossamer.frontier.domains import DomainTable
from gossamer.frontier.queues.host_schedule import NEVER
from gossamer.frontier.steering import Steering
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done, Dropped
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.model.url import Url
from gossamer.policy import distinct
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.simweb.world.world import World
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints
from gossamer.state.records import DomainRecord, decode_domain

STAR = BudgetConfig(star=True)
AT_ONCE = Tally(pages=1, bytes=10, host_failed=False)
FAILED = Tally(host_failed=True)


class DomainWorld(FrontierWorld):
    """A frontier with budgets by domain."""

    def __init__(self, path: Path, budget: BudgetConfig, **settings):
        self.budget = budget
        super().__init__(path, max_hosts=100, buffer=32, **settings)

    def open(self) -> None:
        self.policy = msgspec.structs.replace(self.policy, domain_budget=self.budget)
        super().open()

    def link(self, url: str, **fields) -> bool:
        return self.admit(url, 1, kind=LinkKind.NAVIGATION, hops="L", **fields)


@pytest.fixture
def make(tmp_path):
    worlds = []

    def make(budget, **settings):
        worlds.append(DomainWorld(tmp_path / f"state{len(worlds)}", budget, **settings))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


def test_each_domain_goes_ahead_by_its_own_budget_and_nothing_is_lost(make):
    world = make(STAR)
    farm = [f"http://h{n % 3}.farm.test/{n}" for n in range(45)]
    small = [f"http://small.test/{n}" for n in range(12)]
    for url in farm + small:  # the farm has all the better places by arrival
        world.link(url)
    lent = drain(world, AT_ONCE)
    rounds = farm[:10] + small[:10], farm[10:30] + small[10:], farm[30:]
    assert [set(lent[at : at + len(some)]) for at, some in zip((0, 20, 42), rounds, strict=True)] == [
        set(some) for some in rounds
    ]


def test_without_star_nothing_is_kept_by_domain(make):
    world = make(None)
    world.link("http://farm.test/")
    assert world.frontier.domains is None
    assert not world.frontier.counts_linkers
    assert not list(world.environment.scan(Family.DOMAINS))


def test_limits_alone_hold_nobody_back(make):
    world = make(BudgetConfig(pages_per_domain=50))
    world.link("http://a.test/")
    world.budget = None
    world.reopen()
    world.link("http://b.test/")
    assert drain(world) == ["http://a.test/", "http://b.test/"], "in the order in which they were found"


def test_what_is_queued_again_goes_by_the_budget_as_well(make):
    world = make(STAR)
    for number in range(10):
        world.link(f"http://farm.test/{number}")
    again = Candidate(Url.parse("http://farm.test/0"), LinkKind.NAVIGATION, 1, "L")
    assert drain(world, AT_ONCE)[0] == again.url.text
    Steering(world.frontier).readmit(again, world.fingerprint(again.url.text))
    world.link("http://small.test/")
    assert drain(world, AT_ONCE) == ["http://small.test/", again.url.text], "it is the eleventh of its domain"


def test_the_domains_that_link_in_raise_the_budget_of_urls_to_come(make):
    world = make(STAR)
    world.link("http://www.popular.test/")
    table = world.frontier.domains
    popular = table.get("popular.test")
    assert table.budget_of(popular) == 10
    for finder in ("a.test", "x.a.test", "b.test", "b.test", "blog.popular.test", "www.popular.test"):
        world.frontier.linked(["www.popular.test", "unknown.test", finder], finder)
    assert distinct.count(popular.linkers) == 2, "a.test and b.test; its own hosts do not count"
    assert table.budget_of(popular) == 30
    assert table.get("unknown.test") is None
    for number in range(29):
        world.link(f"http://www.popular.test/{number}")
    assert table.round_of(popular) == 1, "the 31st URL"


def test_seeds_and_where_they_redirect_are_not_held_back(make):
    world = make(STAR)
    world.admit("http://own.test/")
    world.admit("http://moved.test/", kind=LinkKind.REDIRECT, hops="R")
    world.admit("http://linked.test/", kind=LinkKind.REDIRECT, hops="LR")
    table = world.frontier.domains
    budgets = [table.budget_of(table.get(name)) for name in ("own.test", "moved.test", "linked.test")]
    assert budgets == [10_000, 10_000, 10]


def test_robots_files_take_nothing_of_a_budget(make):
    world = make(STAR)
    world.policy = msgspec.structs.replace(world.policy, obey_robots=True)
    world.reopen()
    world.link("http://a.test/")
    world.micros += 1_000_000
    assert world.frontier.lend().candidate.kind is LinkKind.ROBOTS
    assert world.frontier.domains.get("a.test").admitted == 1


def test_records_are_committed_with_the_queue(make):
    world = make(STAR)
    world.link("http://www.a.test/")
    world.frontier.linked(["www.a.test"], "b.test")
    lease = world.frontier.lend()
    world.settle(lease, Done(), VISITED)
    with pytest.raises(RuntimeError), world.frontier.changes():
        world.link("http://www.a.test/lost")
        raise RuntimeError
    world.reopen()
    record = world.frontier.domains.get("a.test")
    assert (record.admitted, record.pages, record.bytes) == (1, 1, 10)
    assert distinct.count(record.linkers) == 1
    assert not record.seeded


@pytest.mark.parametrize("limit", [{"pages_per_domain": 5}, {"bytes_per_domain": 50}], ids=str)
def test_a_domain_that_has_had_its_share_is_parked_with_all_its_hosts(make, limit):
    world = make(BudgetConfig(**limit))
    large = [f"http://h{n % 4}.large.test/{n}" for n in range(20)]
    other = [f"http://other.test/{n}" for n in range(7)]
    for url in large + other:
        world.link(url)
    assert drain(world, VISITED) == [*large[:4], other[0], large[4], *other[1:5]]
    (name,) = limit
    parked = {record.name: str(record.parked) for _, record in world.frontier.hosts.scan()}
    assert parked == dict.fromkeys(
        ["h0.large.test", "h1.large.test", "h2.large.test", "h3.large.test", "other.test"],
        f"{name} {limit[name]}",
    )
    assert world.counters.queued == 17, "the rest waits for another session"


def test_what_is_out_counts_but_one_that_brings_no_page_leaves_its_turn_to_another_host(make):
    world = make(BudgetConfig(pages_per_domain=2))
    for number in range(4):
        world.link(f"http://h{number}.a.test/")
    leases = [world.frontier.lend(), world.frontier.lend()]
    assert world.frontier.lend() is None, "both pages of the budget may come"
    assert world.frontier.lend() is None
    assert world.frontier.next_due() > world.micros, "and nobody is asked in a circle"
    world.settle(leases[0], Done(), VISITED)
    world.settle(leases[1], Dropped(text("gone")), FAILED)
    world.micros += 1_000_000
    third = world.frontier.lend()
    assert third is not None
    world.settle(third, Done(), VISITED)
    assert drain(world) == []
    assert world.frontier.domains.get("a.test").pages == 2


def test_a_raised_limit_takes_up_what_was_left(make):
    world = make(BudgetConfig(pages_per_domain=1))
    world.link("http://a.test/1")
    world.link("http://b.a.test/2")
    assert drain(world) == ["http://a.test/1"]
    world.budget = BudgetConfig(pages_per_domain=2)
    world.reopen()
    world.frontier.take_up()
    assert drain(world) == ["http://b.a.test/2"]
    assert world.frontier.next_due() == NEVER


NAMES = [f"d{number}.test" for number in range(9)]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("admit"), st.sampled_from(NAMES)),
        st.tuples(st.just("link"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("flush")),
    ),
    max_size=60,
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    environment = Environment.open(
        tmp_path_factory.mktemp("domains"), StateConfig(block_cache=1 << 20, write_buffers=1 << 20)
    )
    yield environment
    environment.close()


@settings(max_examples=examples(100), deadline=None)
@given(STEPS)
def test_a_small_memory_forgets_nothing(environment, steps):
    admitted, linkers = defaultdict(int), defaultdict(set)
    hashed = Fingerprints(os.urandom(16)).host  # another key each time, so that the tables do not meet
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(domains, "KEPT", 4)
        table = DomainTable(environment, hashed, STAR)
        for step in [*steps, ("flush",)]:
            if step[0] == "admit":
                table.admitted(Candidate(Url.parse(f"http://{step[1]}/")))
                admitted[step[1]] += 1
            elif step[0] == "link":
                table.linked([f"www.{step[1]}"], step[2])
                if admitted[step[1]] and step[1] != step[2]:
                    linkers[step[1]].add(step[2])
            else:
                batch = environment.batch()
                table.flush(batch)
                environment.commit(batch)
            assert len(table._young) + len(table._old) <= 4
        for name in NAMES:
            for record in (table.get(name), DomainTable(environment, hashed, STAR).get(name)):
                assert (record or DomainRecord(name)).admitted == admitted[name]
                assert distinct.count((record or DomainRecord(name)).linkers) == len(linkers[name])


@pytest.mark.parametrize("order", ["bfs", "best"])
def test_a_whole_crawl_counts_each_domain_that_links_in(tmp_path, order):
    spec = WorldSpec(hosts=24, pages=120, domains=8, exponent=0.0, cross_links=0.1, page_bytes=1_500, seeds=2)
    with SimulatedWeb(spec) as web:
        done = crawl(web, tmp_path / "crawl", budget__star=True, engine__order=order)
        world = World(spec, web.http_port)
    assert len(done.final) == spec.pages
    expected = defaultdict(set)
    for index in range(spec.hosts):
        own = registrable_domain(world.atlas.name(index))
        for number in range(world.atlas.pages(index)):
            place = world.atlas.page(index, number)
            for link in world.find(place.host, place.target).links:
                other = registrable_domain(link.to.host)
                if other != own:
                    expected[other].add(own)
    environment = Environment.open(done.folder.state, StateConfig(), create=False)
    records = [decode_domain(value) for _, value in environment.scan(Family.DOMAINS)]
    environment.close()
    assert {record.name: distinct.count(record.linkers) for record in records} == {
        name: len(finders) for name, finders in expected.items()
    }
    assert sum(record.admitted for record in records) == spec.pages
    assert sum(record.pages for record in records) == spec.pages
    assert sum(record.seeded for record in records) == 2


def test_what_is_demanded_counts_for_its_domain(make):
    world = make(STAR)
    for url in ("http://farm.test/1", "http://www.farm.test/2"):
        world.demand(url)
    found = world.frontier.domains.get("farm.test")
    assert (found.admitted, found.seeded) == (2, False)
