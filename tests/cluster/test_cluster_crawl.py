"""Whole crawls by several agents: every page once, whoever owns its host, whatever happens to them."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from agents_here import Links, World, agents_on, final, folders_of

from gossamer.cluster.agent import link_exchange, move_executor
from gossamer.cluster.agent.link_exchange import unpacked
from gossamer.cluster.agent.move_executor import MoveExecutor
from gossamer.cluster.snapshots import snapshots
from gossamer.cluster.snapshots.manifest import object_key
from gossamer.model.reasons.reason import text
from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth
from gossamer.state.object_store import Store

RULES = CrawlRules(scope="any", sitemaps=True)
SMALL = WorldSpec.friendly(hosts=12, pages=20, page_bytes=1_000)
LONG = WorldSpec.friendly(hosts=24, pages=40, page_bytes=1_000)
REST = 0.1
SLOW = {"politeness.min_delay": REST}

Event = Callable[[World], Awaitable[None]]


async def pages(world: World, wanted: int) -> None:
    """Until the agents together have so many pages."""
    while sum(agent.pages for agent in world.core.overview(0.0).agents) < wanted:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def killed_and_started_again(world: World) -> None:
    await pages(world, 150)
    await world.kill(2)
    world.start(2)


async def killed_and_taken_over(world: World) -> None:
    await pages(world, 150)
    await world.kill(2)


async def wiped_and_started_again(world: World) -> None:
    await pages(world, 150)
    await world.kill(2)
    shutil.rmtree(world.path / "node-2")
    world.start(2)


async def joined(world: World) -> None:
    await pages(world, 100)
    world.core.scale_to(3)
    world.start(3)


async def drained(world: World) -> None:
    await pages(world, 100)
    world.core.drain("a-2")


EVENTS = [killed_and_started_again, killed_and_taken_over, wiped_and_started_again, joined, drained]


def crawled(path, spec, event: Event | None = None, **changes):
    """A crawl of `spec` by two agents, the truth, and the visits that its servers saw."""

    async def run(web) -> World:
        async with agents_on(path, web, 2, changes) as world:
            if event is not None:
                await event(world)
            await world.until_over()
            return world

    with SimulatedWeb(spec) as web:
        world = asyncio.run(run(web))
        true = truth(spec, web.seeds, RULES)
        visits = web.log()
    return world, true, visits


@pytest.mark.slow
def test_two_agents_fetch_what_one_would(tmp_path):
    _, true, _ = crawled(tmp_path, SMALL)
    folders = [tmp_path / "node-1" / "a-1", tmp_path / "node-2" / "a-2"]
    statuses, ends = final(folders)
    differences = true.compare(statuses)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    assert {url for url, times in ends.items() if times > 1} == set()
    assert all((path / "crawl.log").stat().st_size for path in folders), "both have work"


@pytest.mark.slow
def test_agents_with_nothing_but_an_allowance_to_wait_for_are_not_idle(tmp_path):
    async def run(web) -> World:
        async with agents_on(tmp_path, web, 2, max_pages=40) as world:
            await world.until_over()
            return world

    with SimulatedWeb(SMALL) as web:
        seen = asyncio.run(run(web)).core.overview(0.0)
    assert (seen.pages, seen.stop) == (40, "max_pages 40")


async def busiest_host_parked(world: World, slot: int) -> None:
    """Of one agent, once it has some URLs that thereby wait for an operator."""
    await pages(world, 1)
    frontier = world.agents[slot]._life.parts.built.crawl.parts.frontier
    while True:
        served = [queue.record for queue in frontier.serving.schedule.served.values()]
        busiest = max(served, key=lambda record: record.queued, default=None)
        if busiest is not None and busiest.queued >= 3:
            return frontier.park(busiest.name, text("seen enough"))
        await asyncio.sleep(0.01)


@pytest.mark.slow
def test_hosts_left_alone_keep_no_crawl_with_an_allowance_from_its_end(tmp_path):
    async def run(web) -> World:
        async with agents_on(tmp_path, web, 2, SLOW, max_pages=10_000) as world:
            await asyncio.gather(*(busiest_host_parked(world, slot) for slot in (1, 2)))
            await world.until_over()
            return world

    with SimulatedWeb(SMALL) as web:
        seen = asyncio.run(run(web)).core.overview(0.0)
    assert seen.stop == "finished"
    assert all(agent.queued for agent in seen.agents), "what waits for an operator stays queued"


@pytest.mark.slow
def test_links_leave_an_idle_agent_as_soon_as_they_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(link_exchange, "TRIM_SECONDS", 3600.0)
    _, true, _ = crawled(tmp_path, SMALL, **SLOW)
    statuses, _ = final([tmp_path / "node-1" / "a-1", tmp_path / "node-2" / "a-2"])
    assert not true.compare(statuses).missing


@pytest.mark.slow
def test_a_new_agent_looks_for_nothing_where_nothing_can_be(tmp_path, monkeypatch):
    give, had, taken = MoveExecutor.give, {}, set()

    def given(move_executor, grant, gained, given_away):
        had.setdefault(move_executor, set()).update(gained)
        taken.update(move_executor for take in grant.takes if take.agent)
        give(move_executor, grant, gained, given_away)
        assert move_executor._dropped <= had[move_executor], "it deletes only of shards that were its own"
        assert move_executor in taken or not move_executor._asleep, "it wakes only what it took from another"

    monkeypatch.setattr(MoveExecutor, "give", given)
    crawled(tmp_path, SMALL)
    assert len(had) == 2


@pytest.mark.slow
def test_a_place_that_joins_the_scope_is_told_once(tmp_path, monkeypatch):
    told, reported, known = [], [], set()
    deliver, renew = Links.deliver, Links.renew

    async def delivered(links, agent, data):
        batch = unpacked(data)
        told.extend((batch.sender, agent) for place in batch.scope_hosts if place == "late.example")
        return await deliver(links, agent, data)

    async def renewed(links, report):
        answer = await renew(links, report)
        reported.extend(report.agent for place in report.scope_hosts if report.agent in known)
        if "late.example" in getattr(answer, "scope_hosts", ()):
            known.add(report.agent)
        return answer

    monkeypatch.setattr(Links, "deliver", delivered)
    monkeypatch.setattr(Links, "renew", renewed)

    async def place_joins(world: World) -> None:
        await pages(world, 20)
        world.agents[1]._life.parts.built.crawl.parts.admission.add_places(["late.example"])

    crawled(tmp_path, SMALL, place_joins, **SLOW)
    assert told.count(("a-1", "a-2")) == 1, "with the next batch, and never again"
    assert known == {"a-1", "a-2"}
    assert reported == [], "what the coordinator is known to have is not told it again"


@pytest.mark.slow
@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_nothing_is_lost_and_no_host_is_hurried(tmp_path, event):
    world, true, visits = crawled(tmp_path, LONG, event, **SLOW)
    statuses, ends = final(folders_of(world))
    differences = true.compare(statuses)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    assert {url for url, times in ends.items() if times > 1} == set()
    by_host: dict[str, list] = {}
    for visit in visits:
        by_host.setdefault(visit.host, []).append(visit)
    for host, seen in by_host.items():
        for one, other in pairwise(sorted(seen, key=lambda visit: visit.started)):
            # The server writes down the end of a visit some time after we have seen it.
            assert other.started - one.ended >= REST - 0.03, host


async def killed_with_its_newest_snapshot_damaged(world: World) -> None:
    await pages(world, 150)
    while (newest := recorded(world)) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    await world.kill(2)
    spoil(world, max(newest, recorded(world)))


async def killed_with_all_its_snapshots_damaged(world: World) -> None:
    await killed_and_taken_over(world)
    spoil(world, 1)


def recorded(world: World) -> int:
    """The snapshot of `a-2` that others would go on from; a later one may be in the store."""
    return next(agent.snapshot for agent in world.core.overview(0.0).agents if agent.name == "a-2")


def spoil(world: World, first: int) -> None:
    """Change a byte in a file of each snapshot of `a-2` from `first` on, none that the ones before share."""
    store = Store(str(world.path / "store"))
    objects = {number: snapshots.read(store, "a-2", number) for number in snapshots.ids(store, "a-2")}
    spare = set[str]().union(*(made.objects for number, made in objects.items() if number < first))
    for number, made in objects.items():
        files = [file for file in made.files if number >= first and file.name.startswith("state/")]
        spoilt = {piece.object for file in files for piece in file.pieces} - spare
        assert spoilt or number < first
        for each in spoilt:
            store.put(object_key("a-2", each), b"damaged")


@pytest.mark.slow
def test_a_damaged_snapshot_costs_a_visit_more_not_a_page(tmp_path):
    world, true, _ = crawled(tmp_path, LONG, killed_with_its_newest_snapshot_damaged, **SLOW)
    [loss] = world.core.overview(0.0).losses
    assert 0 < loss.used < loss.snapshot
    assert "in snapshot" in loss.reason
    statuses, _ = final(folders_of(world))
    # Links that one agent had sent the other between the two snapshots may be gone, and are told to be.
    differences = true.compare(statuses)
    assert not (differences.forbidden or differences.wrong)
    assert len(differences.missing) < 0.5 * len(true.fetched)


@pytest.mark.slow
def test_a_crawl_ends_though_all_snapshots_of_a_lost_agent_are_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(move_executor, "AGAIN_SECONDS", 0.5)
    world, true, _ = crawled(tmp_path, LONG, killed_with_all_its_snapshots_damaged, **SLOW)
    overview = world.core.overview(0.0)
    assert overview.losses[-1].used == 0
    assert overview.losses[-1].shards > 0
    assert [agent.state for agent in overview.agents] == ["live", "lost"]
    statuses, _ = final([tmp_path / "node-1" / "a-1"])
    differences = true.compare(statuses)
    assert not (differences.forbidden or differences.wrong)
    seeds = set((tmp_path / "seeds.txt").read_text().split())
    assert seeds & true.fetched.keys() <= statuses.keys(), "also those of the shards that began anew"
