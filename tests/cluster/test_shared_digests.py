"""Crawls in which agents tell each other what content they have met: copies are archived once, soundly."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from agents_here import World, agents_on, folders_of
from click.testing import CliRunner
from cluster_world import crawl, problems, reading
from mirrors import HOSTS, PAGES, Archive, Mirrors, front, mirrors, referred_elsewhere, sound, text
from small_site import small_site

from gossamer.assembly.extensions import Extensions, Membership
from gossamer.cluster.snapshots.collection import Part, collect
from gossamer.engine.admission.other_agents import Peers
from gossamer.state.environment import Environment, Family
from gossamer.state.records import SharedDigestRecord

FIRST = (
    "http://elsewhere.example/first",
    "2026-01-02T03:04:05Z",
    "urn:uuid:1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed",
)


def crawled(
    path: Path, event: Callable[[World], Awaitable[None]] | None = None, *, shared: bool
) -> list[Path]:
    """The crawl folders of a crawl of mirrors by two agents."""

    async def run(web: Mirrors) -> World:
        changes = {"politeness.min_delay": 0.25}
        async with agents_on(path, web, 2, changes, shared_digests=shared) as world:
            if event is not None:
                await event(world)
            await world.until_over()
            return world

    with mirrors() as web:
        world = asyncio.run(run(web))
    return folders_of(world)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_copies_that_another_agent_has_are_referred_to_it_only_if_asked_for(tmp_path, shared):
    folders = crawled(tmp_path, shared=shared)
    assert len(folders) == 2
    for folder in folders:
        sound(folder)
    assert bool(referred_elsewhere(folders)) == shared
    collected = collect([Part(folder.name, folder=folder) for folder in folders], tmp_path)
    assert collected.doubled == 0
    assert collected.pages == HOSTS * (PAGES + 2), "robots files among them"


@pytest.mark.slow
def test_nothing_refers_to_what_was_lost_with_an_agent(tmp_path):
    async def lost(world: World) -> None:
        while sum(agent.pages for agent in world.core.overview(0.0).agents) < HOSTS * 2:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        # From now on no snapshot has what it captures, and its heir captures it again.
        await world.agents[2]._life.snapshooter._taking.acquire()
        await asyncio.sleep(5.0)
        await world.kill(2)

    folders = crawled(tmp_path, lost, shared=True)
    assert {folder.parent.name for folder in folders} == {"node-1", "lost"}
    before = {stored for folder in folders for stored in Archive(folder).responses}
    after = Archive(tmp_path / "node-2" / "a-2").responses
    assert len(set(after) - before) > HOSTS, "much of what it captured is lost"
    referred_elsewhere(folders)
    collected = collect([Part(folder.name, folder=folder) for folder in folders], tmp_path)
    assert collected.doubled == 0


@pytest.mark.parametrize(("option", "wanted"), [((), False), (("--shared-digests",), True)])
def test_agents_are_told_what_the_command_line_says(tmp_path, monkeypatch, option, wanted):
    pytest.importorskip("ray", reason="the extra 'cluster' is not installed")
    from gossamer.cli import cluster as driver
    from gossamer.cli.options.cluster_commands import cluster
    from gossamer.cluster import launch, ray_settings
    from gossamer.cluster.orders import order_of

    plans = []
    monkeypatch.setattr(ray_settings, "settle", lambda address: None)
    monkeypatch.setattr(driver, "_conduct", lambda plan, *_, **__: plans.append(plan))
    folder = tmp_path / "c"
    words = ["crawl", "http://a.example/", "--contact", "me@example.org", "--dir", str(folder), *option]
    assert CliRunner().invoke(cluster, words, catch_exceptions=False).exit_code == 0
    assert [plan.shared_digests for plan in plans] == [wanted]
    assert order_of(launch.plan_of(folder), 1).shared_digests == wanted


# One agent …


class Others:
    """What other agents have met, by the digest's key; hears what this one has met."""

    def __init__(self, known: dict[bytes, SharedDigestRecord]) -> None:
        self._known = known
        self.asked: list[bytes] = []
        self.heard: dict[bytes, SharedDigestRecord] = {}
        self.environment = None

    async def look_up(self, key: bytes) -> SharedDigestRecord | None:
        self.asked.append(key)
        await asyncio.sleep(0)
        return self._known.get(key)

    def learnt(self, key: bytes, record: SharedDigestRecord) -> None:
        assert self.environment.get(Family.DIGESTS, key), "committed before anybody hears of it"
        self.heard[key] = record


COPIES = {"": front([1, 2, 3]), "1": text(1), "2": text(2), "3": text(1)}


def crawled_beside(path: Path, others: Others) -> Archive:
    def join(environment: Environment, *_: object) -> Peers:
        others.environment = environment
        return Peers(digests=others)

    membership = Membership(b"k" * 16, lambda _: True, join, lambda _: None)
    with small_site(COPIES.get) as site:
        folder = crawl(path, site, extensions=Extensions(membership=membership))
    assert problems(folder.path) == []
    return Archive(folder.path)


def keys_of(path: Path) -> dict[str, bytes]:
    """Key of its content's digest, by the path of a page."""
    with reading(path) as environment:
        rows = environment.scan(Family.DIGESTS, prefix=b"c")
        return {value.decode().rpartition("/")[2]: key for key, value in rows}


def test_each_new_content_is_asked_for_once_and_told_once_it_is_committed(tmp_path):
    others = Others({})
    archive = crawled_beside(tmp_path / "crawl", others)
    keys = keys_of(tmp_path / "crawl")
    assert Counter(others.asked)[keys["2"]] == 1
    assert set(keys.values()) == set(others.heard) == set(others.asked)
    responses = {stored.url: stored for stored in archive.responses}
    for record in others.heard.values():
        if "not here" not in record.url and record.payload:
            stored = responses[record.url]
            assert (record.date, f"<{record.record_id}>") == (stored.date, stored.id)
            assert stored.digest == f"sha256:{record.payload.hex()}"
    assert sum(bool(record.payload) for record in others.heard.values()) == len(COPIES) - 1


def test_content_that_another_agent_has_met_is_referred_to_its_record(tmp_path):
    first = Others({})
    plain = crawled_beside(tmp_path / "first", first)
    key = keys_of(tmp_path / "first")["2"]
    url, date, record_id = FIRST
    met = SharedDigestRecord(url, first.heard[key].payload, date, record_id)
    others = Others({key: met})
    archive = crawled_beside(tmp_path / "second", others)
    assert [referred for _, referred in plain.revisits if referred.url == url] == []
    [(copy, referred)] = [each for each in archive.revisits if each[1].url == url]
    assert copy.endswith("/2")
    assert (referred.date, referred.id) == (date, f"<{record_id}>")
    assert key not in others.heard, "it is no news"


def test_the_same_content_in_another_payload_is_archived_in_full(tmp_path):
    first = Others({})
    crawled_beside(tmp_path / "first", first)
    key = keys_of(tmp_path / "first")["2"]
    url, date, record_id = FIRST
    others = Others({key: SharedDigestRecord(url, bytes(32), date, record_id)})
    archive = crawled_beside(tmp_path / "second", others)
    assert [referred for _, referred in archive.revisits if referred.url == url] == []
    with reading(tmp_path / "second") as environment:
        assert environment.get(Family.DIGESTS, key) == url.encode(), "but it was met before"
    assert key not in others.heard
