"""A crawl split in two by shards, each half gone on with on its own: every page once, in one index."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from cluster_world import HASTY, captured, checkpoint_of, config_of, problems, reading
from fastwarc.warc import ArchiveIterator

from gossamer.assembly.build import Built, build
from gossamer.assembly.extensions import Extensions, Membership
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.storage import opened
from gossamer.cluster.agent.transfer import ShardImport, Transfer
from gossamer.cluster.ranges import shard_of
from gossamer.cluster.snapshots import snapshots
from gossamer.cluster.snapshots.collection import INDEX, Part, collect
from gossamer.cluster.snapshots.manifest import Manifest, manifest_key, object_key
from gossamer.crawling.run import reopen, run, start
from gossamer.engine.admission.other_agents import Peers
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate
from gossamer.model.errors import ConfigError
from gossamer.policy.urls.canonical import Canonicaliser
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.object_store import Store
from gossamer.state.records import SECRET

BITS = 5
WORLD = WorldSpec(seed=7, hosts=8, pages=60, exponent=0.3, page_bytes=2_000, cross_links=0.4)
SETTINGS = {
    "scope__mode": "any",
    "politeness__factor": 0.0,
    "engine__give_up_after": 0.5,
    "engine__guess_sitemap": False,
    "fetch__forbidden_networks": [],
}


class Agent:
    """One half: owns some shards; links to the others' hosts are kept for them."""

    def __init__(self, name: str, path: Path, shards: set[int], secret: bytes) -> None:
        self.name, self.path, self.shards = name, path, shards
        self.inbox: list[Candidate] = []
        self.other: Agent
        self.built: Built
        peers = Peers(self)
        self.extensions = Extensions(
            membership=Membership(secret, self.owns, lambda *_: peers, self.was_built)
        )

    def owns(self, host: bytes) -> bool:
        return shard_of(host, BITS) in self.shards

    def was_built(self, built: Built) -> None:
        self.built = built

    def takes(self, host: bytes, candidate: Candidate, gift: object) -> bool:
        if self.owns(host):
            return False
        self.other.inbox.append(candidate)
        return True

    def takes_robots(self, host: bytes, origin: str, entry: RobotsEntry) -> bool:
        return not self.owns(host)

    def session(self) -> None:
        """Let in what was found elsewhere, and crawl until nothing is left."""
        letters, self.inbox = self.inbox, []

        def let_in(_: object) -> None:
            parts = self.built.crawl.parts
            with parts.frontier.changes():
                for candidate in letters:
                    parts.admission.receive(candidate, None)

        folder = CrawlFolder(self.path)
        asyncio.run(run(folder, reopen(folder), self.extensions, resumed=True, on_start=let_in))


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(WORLD) as web:
        yield web


def begin(path: Path, web: SimulatedWeb, seeds: list[str], **changes: object):
    folder = CrawlFolder(path)
    config = config_of("", **SETTINGS, dns__nameservers=[web.nameserver], **changes)
    config = msgspec.structs.replace(config, seeds=tuple(seeds))
    return folder, start(folder, config)


def whole(path: Path, web: SimulatedWeb, **changes: object) -> CrawlFolder:
    folder, config = begin(path, web, list(web.seeds), **changes)
    asyncio.run(run(folder, config, Extensions(), resumed=False))
    return folder


def split(tmp_path: Path, web: SimulatedWeb, store: Store, manifest: Manifest) -> list[Agent]:
    """Two fresh agents, each with half of the shards of a snapshot."""
    state = tmp_path / "first-state"
    snapshots.fetch_state(store, manifest, state)
    source = Environment.open_read_only(state, StateConfig())
    secret = source.get(Family.META, SECRET)
    assert secret
    agents = []
    for number, shards in enumerate((range(0, 1 << BITS, 2), range(1, 1 << BITS, 2)), 2):
        agent = Agent(f"a-{number}", tmp_path / f"a-{number}", set(shards), secret)
        folder, config = begin(agent.path, web, list(web.seeds))
        with opened(folder, config) as storage:
            built = build(storage, config, agent.extensions, resumed=False)
            asyncio.run(
                take_in(built, Canonicaliser(config.canonical), source, ShardImport("a-1", 1, tuple(shards)))
            )
        folder.release()
        agents.append(agent)
    source.close()
    agents[0].other, agents[1].other = agents[1], agents[0]
    return agents


async def take_in(built: Built, canonical: Canonicaliser, source: Environment, take: ShardImport) -> None:
    parts = built.crawl.parts
    held = parts.settlement.held
    transfer = Transfer(parts.frontier, built.environment, held, bits=BITS, canonical=canonical)
    await transfer.take_in(source, take)
    await transfer.wake_up(take.shards)
    await built.aclose()


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line[line.index("{") :]) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_two_halves_are_the_whole(web, tmp_path):
    reference = captured(whole(tmp_path / "reference", web).path)
    assert len(reference) > 40
    store = Store(str(tmp_path / "store"), HASTY)
    first = whole(tmp_path / "first", web, budget__max_pages=20)
    manifest = snapshots.take(first, checkpoint_of(first), store, "a-1", 1)
    early = captured(first.path)
    shutil.rmtree(first.path)  # its machine is lost
    agents = split(tmp_path, web, store, manifest)
    for _ in range(20):
        for agent in agents:
            agent.session()
        if not any(agent.inbox for agent in agents):
            break
    parts = [Part("a-1", snapshot=manifest.id), *(Part(agent.name, agent.path) for agent in agents)]
    assert all(captured(agent.path) for agent in agents)
    sums = early + captured(agents[0].path) + captured(agents[1].path)
    assert sums == reference
    for agent in agents:
        assert problems(agent.path) == []
        with reading(agent.path) as environment:
            assert all(shard_of(key, BITS) in agent.shards for key, _ in environment.scan(Family.HOSTS))

    # One index over all of it, that leads to every record.
    target = tmp_path / "collection"
    collected = collect(parts, target, store)
    assert (collected.doubled, collected.doubles) == (0, ())
    found = lines(target / INDEX)
    assert collected.captures == len(found)
    assert (target / INDEX).read_bytes().splitlines() == sorted((target / INDEX).read_bytes().splitlines())
    assert {line["filename"].rpartition("/")[0] for line in found} == {
        "archive/a-1", "../a-2/archive", "../a-3/archive",
    }  # fmt: skip
    for line in found:
        with (target / line["filename"]).open("rb") as file:
            file.seek(int(line["offset"]))
            record = next(iter(ArchiveIterator(file)))
            assert record.headers["WARC-Target-URI"] == line["url"]
    assert collect(parts, target, store) == collected
    assert not list((target / "tmp").iterdir())


def test_a_page_that_two_agents_have_is_told(web, tmp_path):
    """What a lost agent fetched after its last snapshot counts only if its folder is collected instead."""
    first = whole(tmp_path / "first", web, budget__max_pages=15)
    second = tmp_path / "second"
    shutil.copytree(first.path, second)
    collected = collect([Part("a-1", first.path), Part("a-2", second)], tmp_path / "both")
    assert collected.doubled == collected.pages > 15
    assert collected.captures == 2 * collected.pages
    assert collected.doubles
    assert set(collected.doubles) <= {line["url"] for line in lines(tmp_path / "both" / INDEX)}
    alone = collect([Part("a-1", first.path)], tmp_path / "one")
    assert (alone.doubled, alone.captures) == (0, collected.pages)


def test_a_snapshot_that_is_damaged_is_told_and_the_one_before_it_collected(web, tmp_path):
    store = Store(str(tmp_path / "store"), HASTY)
    first = whole(tmp_path / "first", web, budget__max_pages=15)
    for _ in range(2):
        manifest = snapshots.take(first, checkpoint_of(first), store, "a-1", 1)
    sound = collect([Part("a-1", snapshot=2)], tmp_path / "sound", store)
    assert (sound.problems, sound.pages > 15) == ((), True)
    store.put(manifest_key("a-1", 2), b"nonsense")
    collected = collect([Part("a-1", snapshot=2)], tmp_path / "one", store)
    [problem] = collected.problems
    assert problem.startswith("snapshot 2 of a-1, which is lost, cannot be collected (")
    assert msgspec.structs.replace(collected, problems=()) == sound
    [archive, *_] = [file for file in manifest.files if file.name.startswith("archive/")]
    store.delete(object_key("a-1", archive.pieces[0].object))
    collected = collect([Part("a-1", snapshot=2)], tmp_path / "none", store)
    assert (collected.captures, len(collected.problems)) == (0, 2)


def test_what_cannot_be_collected(tmp_path):
    with pytest.raises(ConfigError, match="Name the snapshot store"):
        collect([Part("a-1", snapshot=1)], tmp_path / "x")
    with pytest.raises(ConfigError, match="neither a folder nor a snapshot"):
        collect([Part("a-1")], tmp_path / "x")
    assert collect([], tmp_path / "x").captures == 0
