"""Agents whose frontiers visit again, each its own hosts: one threshold and allowance; what moves keeps its turn."""

import numpy as np
import pytest
from benchmarks.revisit import Account, by_policy
from benchmarks.revisit_worlds import DAY, World
from test_moves import depart, move
from test_revisit_road import Crawler

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.agreement import Told
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Family
from gossamer.state.records import REVISIT, RevisitRecord, decode, encode

HOSTS = 18


class Board:
    """Where agents read what others tell; the last one to come is heard of last."""

    def __init__(self, board: list[Told | None], number: int) -> None:
        self.board, self.number = board, number

    def tell(self, told: Told) -> None:
        self.board[self.number] = told

    def heard(self, own: Told) -> list[Told]:
        return [own, *(told or own for number, told in enumerate(self.board) if number != self.number)]


def uneven(size: int = 180, days: float = 150.0) -> World:
    """The first hosts change often, the last ones hardly."""
    generator = np.random.default_rng(3)
    hosts = np.arange(size) % HOSTS
    rates = np.exp(generator.normal(np.linspace(-2, -5, HOSTS)[hosts], 1.0))
    pages = np.repeat(np.arange(size), generator.poisson(rates * days))
    return World("uneven", hosts, days, pages, generator.random(len(pages)) * days)


def test_agents_are_as_fresh_as_a_single_crawl_and_have_one_threshold(tmp_path):
    world, budget, agents, ticks = uneven(), 10, 3, 4
    board: list[Told | None] = [None] * agents
    config = RevisitConfig(enabled=True, visits=world.size / budget)
    crawlers = [
        Crawler(tmp_path / str(each), config, others=Board(board, each), max_hosts=HOSTS)
        for each in range(agents)
    ]
    urls = {f"http://h{world.sites[page]}/{page}": page for page in range(world.size)}
    for url, page in urls.items():
        # One has what changes often, and two thirds of the visits are asked for by it.
        crawlers[world.sites[page] * agents // HOSTS].world.admit(url)
    versions = np.zeros(world.size, dtype=np.int64)
    account = Account(world)
    start, spent, levels = crawlers[0].world.micros, np.zeros(agents), []
    for tick in range(int(world.days) * ticks):
        day = tick / ticks
        for number, crawler in enumerate(crawlers):
            crawler.world.micros = start + int(day * DAY * 1e6)
            crawler.pace.correct()
            while (lease := crawler.world.frontier.lend()) is not None:
                page = urls[lease.candidate.url.text]
                if tick:
                    versions[page] += account.visit(np.array([page]), day)[0]
                    spent[number] += 1
                crawler.visit(lease, b"%d of %d" % (versions[page], page))
        levels.append([crawler.pace.record.level for crawler in crawlers])
    for crawler in crawlers:
        crawler.world.close()
    allowed = world.size / budget * world.days
    single = by_policy(world, budget).stale
    found = account.result(allowed).stale
    print(found, single, spent / allowed)
    assert found < single + 2
    assert 0.9 < spent.sum() / allowed <= 1.05
    assert np.ptp(levels[len(levels) // 4 :], axis=1).mean() < 0.2, "of a doubling"
    assert spent[0] > 1.5 * spent[2], "visits go where they are worth most"


def test_what_moves_keeps_its_history_and_its_turn(tmp_path):
    config = RevisitConfig(enabled=True, visits=2)
    board: list[Told | None] = [None, None]
    source, target = (
        Crawler(tmp_path / name, config, others=Board(board, at)) for at, name in enumerate("ab")
    )
    for number in range(4):
        source.world.admit(f"http://h/{number}")
    target.world.admit("http://other/")
    for day in range(30):
        for crawler in (source, target):
            crawler.world.micros += int(DAY * 1e6)
            crawler.pace.correct()
            while (lease := crawler.world.frontier.lend()) is not None:
                crawler.visit(lease, b"%d" % (day if lease.candidate.url.text.endswith("0") else 0))
    page = source.world.fingerprint("http://h/0")
    before = source.memory.get(page)
    known = unpack(before.history)
    assert known.changed
    assert source.pace.record.level == pytest.approx(target.pace.record.level, abs=0.2)
    key = source.world.frontier.host_hash("h")
    host = source.world.frontier.hosts.get(key)
    kept = host.spread, host.trusts, host.heads, host.enrolled
    source.pace.record.cursor = target.pace.record.cursor = None
    source.pace.changed()
    with source.world.frontier.changes() as batch:
        source.pace.enter(batch)
    move(source.world, target.world, name="h")
    with target.world.frontier.changes() as batch:
        target.pace.took_in(source.world.environment, 0, batch)
    depart(source.world, name="h")
    assert target.pace.record.cursor is None, "its pages came again there, too"
    assert target.memory.get(page).history == before.history
    host = target.world.frontier.hosts.get(key)
    assert (host.spread, host.trusts, host.heads, host.enrolled) == kept
    assert (source.world.counters.enrolled, target.world.counters.enrolled) == (0, 5)
    target.pace.correct()
    pace = target.world.frontier.again.pace
    due = classes.due(known.place, known.since, pace.step, pace.longest)
    assert target.world.frontier.lend() is None or due <= target.now
    target.world.micros += int(max(0.0, due - target.now + 40 * DAY) * 1e6)
    target.pace.correct()
    visited = set()
    while (lease := target.world.frontier.lend()) is not None:
        visited.add(lease.candidate.url.text)
        target.visit(lease, b"x")
    assert "http://h/0" in visited
    assert unpack(target.memory.get(page).history).changed == known.changed + 1
    for crawler in (source, target):
        crawler.world.close()


@pytest.mark.parametrize("change", [{"on": False}, {"cursor": b"x"}, {"every": b"other"}])
def test_pages_of_an_agent_that_had_not_enrolled_them_are_walked_through(tmp_path, change):
    crawler = Crawler(tmp_path / "a", RevisitConfig(enabled=True))
    crawler.pace.record.cursor = None
    other = Crawler(tmp_path / "b", RevisitConfig(enabled=True))
    for key, value in change.items():
        setattr(other.pace.record, key, value)
    batch = other.world.environment.batch()
    batch.put(Family.META, REVISIT, encode(other.pace.record))
    other.world.environment.commit(batch)
    with crawler.world.frontier.changes() as batch:
        crawler.pace.took_in(other.world.environment, 0, batch)
    assert crawler.pace.record.cursor == b""
    assert decode(crawler.world.environment.get(Family.META, REVISIT), RevisitRecord).cursor == b""
    for each in (crawler, other):
        each.world.close()
