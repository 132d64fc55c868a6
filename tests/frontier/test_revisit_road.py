"""The frontier, led by the engine, over worlds that change: as fresh as the simulation of the policy says."""

from hashlib import sha256

import numpy as np
import pytest
from benchmarks.revisit import Account, by_policy, by_rule
from benchmarks.revisit_rules import OldestFirst
from benchmarks.revisit_worlds import DAY, World
from frontier_world import FrontierWorld

from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.revisits import Revisits
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Done, PageState
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.outcome import Fetched
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, VisitRecord

EPOCH = 1_700_000_000
VISITED = Tally(host_failed=False)


class Wall:
    speed = 1.0

    def __init__(self, world):
        self.world = world

    def now(self):
        return EPOCH + (self.world.micros - 1_000_000_000) / 1e6

    def of_date(self, date):
        return date


class Body:
    def __init__(self, content):
        self.sha256 = sha256(content).digest()
        self.size = len(content)


class Crawler:
    """What settlement does of visits again, and no network."""

    def __init__(self, path, config, *, max_hosts=64):
        self.world = FrontierWorld(path, rest=0.0, max_hosts=max_hosts)
        self.config = config
        self.begin()

    def begin(self):
        world = self.world
        world.frontier.again.wall = Wall(world)
        self.memory = PageMemory(world.environment)
        self.pace = RevisitPace(world.environment, world.frontier, self.config)
        self.revisits = Revisits(world.frontier, None, self.memory, self.pace)

    @property
    def now(self):
        return self.world.frontier.again.wall.now()

    def visit(self, lease, content, status=200):
        """Settle a lease with a response; what is known of its page."""
        world, url = self.world, lease.candidate.url
        page = world.fingerprint(url.text)
        exchange = Exchange(url, self.now, b"", status, b"", Headers([]), Body(content))
        visit = Visit(lease, Fetched(exchange))
        with world.frontier.changes() as batch:
            before = self.memory.get(page)
            judged = self.revisits.settle(visit, Judgement(Done(), VISITED), page, before)
            again = judged.disposition.again
            record = PageRecord(
                url.text,
                PageState.DONE,
                payload=exchange.body.sha256,
                history=again.history if again is not None else b"",
                visits_made=(before.visits_made if before else 0) + 1,
                visits=(VisitRecord(self.now, 0.0, status),),
            )
            self.memory.put(page, record, batch)
            world.frontier.settle(lease, judged.disposition, VISITED)
            self.pace.enter(batch)
        return record


def stale(path, world: World, budget: float, ticks: int = 4):
    """Percent of the time that pages are stale, and the share of the allowance that was spent."""
    crawler = Crawler(path, RevisitConfig(enabled=True, visits=world.size / budget))
    frontier = crawler.world
    urls = {f"http://h{world.sites[page]}/{page}": page for page in range(world.size)}
    for url in urls:
        frontier.admit(url)
    versions = np.zeros(world.size, dtype=np.int64)
    account = Account(world)
    while (lease := frontier.frontier.lend()) is not None:
        crawler.visit(lease, b"0 of %d" % urls[lease.candidate.url.text])
    start, visits = frontier.micros, 0
    for tick in range(1, int(world.days) * ticks):
        day = tick / ticks
        frontier.micros = start + int(day * DAY * 1e6)
        crawler.pace.correct()
        while (lease := frontier.frontier.lend()) is not None:
            page = urls[lease.candidate.url.text]
            versions[page] += account.visit(np.array([page]), day)[0]
            crawler.visit(lease, b"%d of %d" % (versions[page], page))
            visits += 1
    crawler.world.close()
    return account.result(world.size / budget * world.days).stale, visits / (world.size / budget * world.days)


def small(seed: int, size: int = 120, days: float = 400.0) -> World:
    generator = np.random.default_rng(seed)
    rates = np.exp(generator.normal(-np.log(40.0), 1.6, size))
    pages = np.repeat(np.arange(size), generator.poisson(rates * days))
    world = World("small", np.arange(size) // 20, days, pages, generator.random(len(pages)) * days)
    world.rates = rates
    return world


@pytest.mark.parametrize("budget", [10, 30])
def test_it_is_as_fresh_as_the_simulation(tmp_path, budget):
    world = small(7)
    found, spent = stale(tmp_path / "state", world, budget)
    simulated = by_policy(world, budget).stale
    oldest = by_rule(world, OldestFirst(world), budget).stale
    print(budget, found, simulated, oldest, spent)
    assert abs(found - simulated) < 2
    assert found < oldest + 0.5
    assert 0.9 < spent <= 1.05


def test_a_visit_out_of_turn_takes_the_place_of_the_other(tmp_path):
    crawler = Crawler(tmp_path / "state", RevisitConfig(enabled=True, visits=1))
    world = crawler.world
    world.admit("http://a/")
    crawler.visit(world.frontier.lend(), b"1")
    world.micros += 60_000_000
    world.admit("http://a/", forced=True)
    lease = world.frontier.lend()
    assert not lease.candidate.again
    record = crawler.visit(lease, b"2")
    assert len(list(world.environment.scan(Family.AGAIN))) == 1
    assert world.counters.enrolled == 1
    assert unpack(record.history).changed == 1
    world.close()


def test_what_was_learned_survives_a_restart(tmp_path):
    crawler = Crawler(tmp_path / "state", RevisitConfig(enabled=True, visits=1000))
    world = crawler.world
    for number in range(5):
        world.admit(f"http://a/{number}")
    for day in range(40):
        world.micros += int(DAY * 1e6)
        crawler.pace.correct()
        while (lease := world.frontier.lend()) is not None:
            number = int(lease.candidate.url.text[-1])
            crawler.visit(lease, b"%d" % (day if number == 0 else 0))
    before = crawler.pace.record
    hosts = world.frontier.hosts.get(world.frontier.host_hash("a"))
    spread = hosts.spread
    assert spread
    assert before.changed >= 2
    world.reopen()
    crawler.begin()
    assert crawler.pace.record == before
    assert world.frontier.hosts.get(world.frontier.host_hash("a")).spread == spread
    history = unpack(crawler.memory.get(world.fingerprint("http://a/0")).history)
    assert history.changed >= 2
    assert list(world.environment.scan(Family.AGAIN))
    world.close()
