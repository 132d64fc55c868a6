"""The frontier, led by the engine, over worlds that change: as fresh as the simulation of the policy says."""

import asyncio
from hashlib import sha256

import numpy as np
import pytest
from benchmarks.revisit import Account, by_policy, by_rule
from benchmarks.revisit_rules import OldestFirst
from benchmarks.revisit_worlds import DAY, World
from frontier_world import FrontierWorld
from msgspec.structs import replace

from gossamer.archive.stored_body import ArchivedBody
from gossamer.engine.enrolling import Enrolling
from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement import changed
from gossamer.engine.settlement.changed import Changes
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.revisits import Revisits
from gossamer.engine.visiting.visit import Visit
from gossamer.fetch.config import FetchConfig
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Done, PageState
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.link import Link, LinkKind
from gossamer.model.outcome import Fetched
from gossamer.model.page import Page
from gossamer.model.reasons.codes import HoldCode, RetryCode
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.change.volatile import Volatile
from gossamer.policy.revisit.activity import activity_of
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, PlaceRecord, VisitRecord

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

    date_of = of_date


class Body:
    def __init__(self, content):
        self.sha256 = sha256(content).digest()
        self.size = len(content)


class Crawler:
    """What settlement does of visits again, and no network."""

    def __init__(self, path, config, *, max_hosts=64, others=None):
        self.world = FrontierWorld(path, rest=0.0, max_hosts=max_hosts)
        self.config = config
        self.others = others
        self.begin()

    def begin(self):
        world = self.world
        world.frontier.again.wall = Wall(world)
        self.memory = PageMemory(world.environment)
        self.pace = RevisitPace(world.environment, world.frontier, self.config, self.others)
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


def small(seed: int, size: int = 120, days: float = 200.0) -> World:
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
    # All five were taken for pages like any other, and one of them changed each day.
    activity = hosts.activity
    assert activity_of(activity).found > 1
    assert before.changed >= 2
    world.reopen()
    crawler.begin()
    assert crawler.pace.record == before
    assert world.frontier.hosts.get(world.frontier.host_hash("a")).spread == spread
    assert world.frontier.hosts.get(world.frontier.host_hash("a")).activity == activity
    history = unpack(crawler.memory.get(world.fingerprint("http://a/0")).history)
    assert history.changed >= 2
    assert list(world.environment.scan(Family.AGAIN))
    world.close()


def visit_again(crawler, changes, url, content, page=None):
    """Visit a page out of its turn, `page` being what was found in it; how it compares with the last visit."""
    world = crawler.world
    world.micros += 60_000_000
    fingerprint = world.fingerprint(url)
    world.admit(url, forced=crawler.memory.get(fingerprint) is not None)
    lease = world.frontier.lend()
    head = Headers([("content-type", "text/html")])
    exchange = Exchange(lease.candidate.url, crawler.now, b"", 200, b"", head, ArchivedBody(content))
    visit = asyncio.run(changes.look(Visit(lease, Fetched(exchange), page=page), lambda _: fingerprint))
    record = replace(crawler.visit(lease, content), place=PlaceRecord("nowhere", 0, 1))
    if visit.compared is not None:
        history = replace(unpack(record.history), text=visit.compared.text)
        record = replace(record, history=history.pack())
    with world.frontier.changes() as batch:
        crawler.memory.put(fingerprint, record, batch)
    return visit.compared


def test_a_visit_out_of_turn_is_compared_as_any_other(tmp_path):
    crawler = Crawler(tmp_path / "state", RevisitConfig(enabled=True, visits=1))
    changes = Changes(tmp_path / "archive", crawler.world.frontier, crawler.memory, FetchConfig())
    found = []
    for number in range(3):
        content = b"<title>A page</title><script>let n = %d</script><p>It says the same." % number
        compared = visit_again(crawler, changes, "http://a/", content)
        found.append(compared and compared.changed)
    assert found == [None, True, False]
    listed = Link(Url.parse("http://a/1"), LinkKind.NAVIGATION, "link", lastmod=1.0)
    feed = Page(Url.parse("http://a/"), links=(listed,))
    said = visit_again(crawler, changes, "http://a/", b"<title>A feed</title>", feed)
    assert said is None, "a list is judged by its dates, and is not read for nothing"
    crawler.world.close()


def test_hosts_that_take_turns_in_memory_are_read_back_as_seldom_as_others(tmp_path, monkeypatch):
    readings = []

    def read(*place):
        readings.append(place)
        raise StorageError("not here")

    monkeypatch.setattr(changed, "SITES", 2)
    monkeypatch.setattr(changed, "read_record", read)
    crawler = Crawler(tmp_path / "state", RevisitConfig(enabled=True, visits=1))
    world = crawler.world
    changes = Changes(tmp_path / "archive", world.frontier, crawler.memory, FetchConfig())
    known = Volatile()
    known.learn(["one", "this is said", "end"], ["one", "something else is", "end"])
    assert known.pack() and not known
    for number in range(22):
        for name in "abc":
            visit_again(crawler, changes, f"http://{name}/", b"<p>It says %d words" % number)
            if number == 0:
                with world.frontier.changes():
                    host = world.frontier.host_hash(name)
                    world.frontier.hosts.change(host, name).volatile = known.pack()
            if number == 1:
                readings.clear()  # nobody had looked at the text of the first
    assert len(readings) == 3 * 2  # a tenth
    world.close()


def enrol(crawler):
    enrolling = Enrolling(crawler.world.frontier, crawler.memory, crawler.pace, crawler.revisits)
    while enrolling.pending:
        enrolling.step(lambda: False)


def test_hosts_that_sleep_on_disk_hear_of_it_when_more_visits_may_be_made(tmp_path):
    crawler = Crawler(tmp_path / "state", RevisitConfig(enabled=True, visits=1), max_hosts=8)
    world = crawler.world
    for number in range(40):
        world.admit(f"http://h{number}/")
        crawler.visit(world.frontier.lend(), b"")
    enrol(crawler)  # what is there when visits again are switched on
    for _ in range(24):
        crawler.pace.correct()
        world.micros += int(DAY / 24 * 1e6)
        while (lease := world.frontier.lend()) is not None:
            crawler.visit(lease, b"")
    world.reopen()
    crawler.config = RevisitConfig(enabled=True, visits=4000)
    crawler.begin()
    enrol(crawler)
    visited = set()
    for _ in range(48):
        world.micros += int(DAY / 48 * 1e6)
        crawler.pace.correct()
        while (lease := world.frontier.lend()) is not None:
            visited.add(lease.queue_key)
            crawler.visit(lease, b"")
    assert len(visited) == 40
    world.close()


def test_hosts_that_were_given_up_are_asked_again_when_visits_again_are_switched_on(tmp_path):
    crawler = Crawler(tmp_path / "state", RevisitConfig())
    world = crawler.world
    for name in ("down", "mine", "well"):
        world.admit(f"http://{name}/")
        crawler.visit(world.frontier.lend(), b"")
    world.frontier.park("down", Reason(RetryCode.IN_A_ROW))
    world.frontier.park("mine", Reason(HoldCode.OPERATOR))
    crawler.pace.go_by(RevisitConfig(enabled=True, visits=100))
    enrol(crawler)
    assert world.counters.hosts_parked == 1
    visited = set()
    for _ in range(48):
        world.micros += int(DAY / 24 * 1e6)
        crawler.pace.correct()
        while (lease := world.frontier.lend()) is not None:
            visited.add(lease.queue_key)
            crawler.visit(lease, b"")
    assert visited == {"down", "well"}
    world.close()


def test_the_threshold_is_kept_with_the_interval_that_it_is_for(tmp_path):
    crawler = Crawler(tmp_path / "state", RevisitConfig(enabled=True, visits=1000))
    world = crawler.world
    for number in range(100):
        world.admit(f"http://a/{number}")
        crawler.visit(world.frontier.lend(), b"")
        world.micros += 600_000_000
        crawler.pace.correct()
    crawler.pace.go_by(RevisitConfig(enabled=True, visits=10))
    step = world.frontier.again.pace.step
    crawler.pace.changed()
    with world.frontier.changes() as batch:
        crawler.pace.enter(batch)
    world.reopen()
    crawler.config = RevisitConfig(enabled=True, visits=10)
    crawler.begin()
    assert abs(world.frontier.again.pace.step - step) <= 1
    world.close()
