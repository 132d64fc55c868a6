"""Digests of all agents: found if they can be, true whatever moves or is lost, never waited for too long."""

import asyncio
import contextlib
import random
from types import SimpleNamespace

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.cluster.agent import digest_exchange
from gossamer.cluster.agent.between import Inquiry, question_in
from gossamer.cluster.agent.digest_exchange import DigestExchange
from gossamer.cluster.agent.digest_table import Announcements, DigestTable, Marks
from gossamer.cluster.protocol import Registered, agent_name
from gossamer.cluster.ranges import shard_of
from gossamer.cluster.snapshots import snapshooter
from gossamer.cluster.snapshots.snapshooter import Snapshooter
from gossamer.model.errors import GossamerError
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import SharedDigestRecord

BITS = 3
SHARDS = 1 << BITS
SECRET = b"k" * 16
SMALL = StateConfig(block_cache=1 << 20, write_buffers=1 << 20)
MARKS = Marks(SECRET)


def key(number: int) -> bytes:
    return b"c" + number.to_bytes(8, "big")


def record(number: int, agent: str = "a-1") -> SharedDigestRecord:
    return SharedDigestRecord(f"http://{agent}.test/{number}", bytes([number]) * 32, "2026", f"urn:{number}")


def shard(number: int) -> int:
    return shard_of(MARKS.of(key(number)), BITS)


class Memory:
    """A state as far as the table needs one; a change counts once it is committed."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Family, bytes], bytes] = {}

    def get(self, family: Family, key: bytes) -> bytes | None:
        return self._rows.get((family, key))

    def batch(self) -> "MemoryBatch":
        return MemoryBatch()

    def commit(self, batch: "MemoryBatch") -> None:
        self._rows |= batch.rows

    def close(self) -> None:
        """Nothing is open."""


class MemoryBatch:
    def __init__(self) -> None:
        self.rows: dict[tuple[Family, bytes], bytes] = {}

    def put(self, family: Family, key: bytes, value: bytes) -> None:
        self.rows[family, key] = value


class ShardLeases:
    """Who owns what, as one agent sees it."""

    def __init__(self, number: int, owners: list[int], peers: dict[str, int]) -> None:
        self._number = number
        self._owners = owners
        self.peers = peers

    def owner(self, shard: int) -> int:
        return self._owners[shard]

    def owns_shard(self, shard: int) -> bool:
        return self._owners[shard] == self._number


class Cluster:
    """Agents that reach each other by plain calls; all see the same owners unless told otherwise."""

    def __init__(self, path=None, agents: int = 2) -> None:
        """`path`: where their states are; in memory without."""
        self.owners = [1 + number % agents for number in range(SHARDS)]
        self.peers = {agent_name(number): 1 for number in range(1, agents + 1)}
        self.silent: set[str] = set()
        self.calls: list[str] = []
        self.hang = False
        self.agents: dict[str, DigestExchange] = {}
        self.tables: dict[str, DigestTable] = {}
        self.environments: dict[str, Environment] = {}
        for number in range(1, agents + 1):
            name = agent_name(number)
            self.open(number, Memory() if path is None else Environment.open(path / name, SMALL))

    def open(self, number: int, environment) -> None:
        name = agent_name(number)
        self.environments[name] = environment
        self.tables[name] = DigestTable(environment)
        leases_held = ShardLeases(number, self.owners, self.peers)
        self.agents[name] = DigestExchange(name, BITS, SECRET, leases_held, self.tables[name], self.consult)

    async def consult(self, name: str, data: bytes) -> bytes:
        self.calls.append(name)
        if self.hang:
            await asyncio.Event().wait()
        if name in self.silent:
            raise ConnectionError(name)
        question = question_in(data)
        assert isinstance(question, Inquiry)
        return await self.agents[name].receive(question)

    def close(self) -> None:
        for environment in self.environments.values():
            environment.close()

    async def tell(self, name: str) -> None:
        """One round of telling."""
        await self.agents[name].tell()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.close()


@pytest.fixture(autouse=True)
def _hurried(monkeypatch):
    monkeypatch.setattr(digest_exchange, "PATIENCE_SECONDS", 0.01)


def of_agent(number: int, how_many: int) -> list[int]:
    """Contents whose shards agent 1 or 2 owns."""
    return [content for content in range(200) if 1 + shard(content) % 2 == number][:how_many]


def met(cluster: Cluster, name: str, contents: list[int]) -> None:
    """An agent captured them, and a snapshot on record has them."""
    exchange = cluster.agents[name]
    for content in contents:
        exchange.learnt(key(content), record(content, name))
    exchange.announcements.cover(exchange.announcements.committed)


def test_what_one_has_met_the_other_hears_whoever_owns_it(cluster):
    contents = of_agent(1, 5) + of_agent(2, 5)

    async def ask() -> None:
        met(cluster, "a-1", contents)
        await cluster.tell("a-1")
        cluster.calls.clear()
        told = await asyncio.gather(*(cluster.agents["a-2"].look_up(key(each)) for each in contents))
        assert told == [record(each) for each in contents]
        assert cluster.calls == ["a-1"], "one message for all, and none for shards of its own"

    asyncio.run(ask())


def test_nothing_is_told_before_a_snapshot_on_record_has_it(cluster):
    content = of_agent(2, 1)[0]

    async def ask() -> None:
        cluster.agents["a-1"].learnt(key(content), record(content))
        await cluster.tell("a-1")
        assert await cluster.agents["a-2"].look_up(key(content)) is None

    asyncio.run(ask())


def test_the_first_that_was_told_stays(cluster):
    content = of_agent(1, 1)[0]

    async def ask() -> None:
        for name in ("a-2", "a-1"):
            met(cluster, name, [content])
            await cluster.tell(name)
        assert await cluster.agents["a-1"].look_up(key(content)) == record(content, "a-2")

    asyncio.run(ask())


def test_who_does_not_own_a_shard_refuses_and_the_next_owner_hears_of_it(cluster):
    content = of_agent(2, 1)[0]

    async def ask() -> None:
        sender = ShardLeases(1, list(cluster.owners), cluster.peers)
        cluster.agents["a-1"]._leases_held = sender
        cluster.owners[shard(content)] = 0  # it is being moved, and the sender has not heard
        met(cluster, "a-1", [content])
        await cluster.tell("a-1")
        assert cluster.tables["a-2"].get(MARKS.of(key(content))) is None
        assert len(cluster.agents["a-1"].announcements) == 1
        sender._owners[shard(content)] = 0
        calls = len(cluster.calls)
        await cluster.tell("a-1")
        assert len(cluster.calls) == calls, "nobody owns it now"
        assert await cluster.agents["a-1"].look_up(key(content)) is None
        sender._owners[shard(content)] = cluster.owners[shard(content)] = 2
        await cluster.tell("a-1")
        assert cluster.tables["a-2"].get(MARKS.of(key(content))) == record(content)
        assert len(cluster.agents["a-1"].announcements) == 0

    asyncio.run(ask())


@pytest.mark.parametrize("how", ["unreachable", "hanging"])
def test_who_does_not_answer_is_not_waited_for_and_left_alone_for_a_time(cluster, monkeypatch, how):
    monkeypatch.setattr(digest_exchange, "ANSWER_SECONDS", 0.05)
    monkeypatch.setattr(digest_exchange, "SILENCE_SECONDS", 3600.0)
    cluster.hang = how == "hanging"
    cluster.silent = {"a-1"}
    contents = of_agent(1, 3)

    async def ask() -> None:
        other = cluster.agents["a-2"]
        told = await asyncio.gather(*(other.look_up(key(each)) for each in contents))
        assert told == [None] * len(contents)
        assert await other.look_up(key(contents[0])) is None
        assert cluster.calls == ["a-1"]
        monkeypatch.setattr(digest_exchange, "SILENCE_SECONDS", 0.0)
        other._silent.clear()
        cluster.hang, cluster.silent = False, set()
        cluster.tables["a-1"].enter([(MARKS.of(key(contents[0])), record(contents[0]))])
        assert await other.look_up(key(contents[0])) == record(contents[0])

    asyncio.run(ask())


def test_a_worker_that_is_cancelled_does_not_take_the_answer_from_others(cluster):
    content = of_agent(1, 1)[0]

    async def ask() -> None:
        cluster.tables["a-1"].enter([(MARKS.of(key(content)), record(content))])
        other = cluster.agents["a-2"]
        asking = [asyncio.create_task(other.look_up(key(content))) for _ in range(2)]
        await asyncio.sleep(0)
        asking[0].cancel()
        assert await asking[1] == record(content)
        assert asking[0].cancelled()

    asyncio.run(ask())


def test_a_mistake_of_ours_is_heard_by_those_who_wait(cluster):
    content = of_agent(1, 1)[0]

    async def consult(name: str, data: bytes) -> bytes:
        raise AssertionError("a mistake")

    async def ask() -> None:
        cluster.agents["a-2"]._consult = consult
        with pytest.raises(AssertionError, match="a mistake"):
            await cluster.agents["a-2"].look_up(key(content))

    asyncio.run(ask())


def test_whoever_waits_at_the_end_has_no_answer_and_nobody_gets_one(cluster):
    content = of_agent(1, 1)[0]

    async def ask() -> None:
        other = cluster.agents["a-2"]
        cluster.hang = True
        asking = asyncio.create_task(other.look_up(key(content)))
        await asyncio.sleep(0.05)
        await other.close()
        assert await asking is None
        assert await other.look_up(key(content)) is None
        with pytest.raises(ConnectionError):
            await other.receive(Inquiry())

    asyncio.run(ask())


@pytest.mark.parametrize("data", [b"\xc1", b"\x90", b""])
def test_what_is_no_question_is_said_to_be_none(data):
    with pytest.raises(GossamerError, match="cannot be read"):
        question_in(data)


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 2**32))
def test_whatever_moves_or_is_lost_only_what_stands_is_ever_told(seed):
    """A model: captures that a snapshot on record has stand for ever, all others may be taken back."""
    dice = random.Random(seed)
    cluster = Cluster(agents=3)
    lasting: set[SharedDigestRecord] = set()
    fleeting: dict[str, list[SharedDigestRecord]] = {name: [] for name in cluster.agents}
    numbers = iter(range(10_000))

    async def capture() -> None:
        name, content = dice.choice(sorted(cluster.agents)), dice.randrange(20)
        made = SharedDigestRecord(f"http://{name}.test/{content}/{next(numbers)}", bytes([content]) * 32)
        cluster.agents[name].learnt(key(content), made)
        fleeting[name].append(made)

    async def cover() -> None:
        name = dice.choice(sorted(cluster.agents))
        announcements = cluster.agents[name].announcements
        lasting.update(fleeting[name])
        fleeting[name].clear()
        announcements.cover(announcements.committed)

    async def move() -> None:
        """A shard goes to another agent; what is known of it comes too, or was lost on the way."""
        moved, target = dice.randrange(SHARDS), dice.randrange(1, 4)
        source = cluster.owners[moved]
        if dice.random() < 0.7:
            marks = [MARKS.of(key(each)) for each in range(20) if shard(each) == moved]
            rows = [(mark, cluster.tables[agent_name(source)].get(mark)) for mark in marks]
            cluster.tables[agent_name(target)].enter([row for row in rows if row[1] is not None])
        cluster.owners[moved] = target

    async def lose() -> None:
        """A process ends, and what it captured since its last snapshot is fetched again by others."""
        number = dice.randrange(1, 4)
        name = agent_name(number)
        fleeting[name].clear()
        cluster.open(number, cluster.environments[name] if dice.random() < 0.5 else Memory())

    async def cut() -> None:
        cluster.silent = set(dice.sample(sorted(cluster.agents), dice.randrange(3)))

    async def tell() -> None:
        await dice.choice(list(cluster.agents.values())).tell()

    async def ask() -> None:
        content = dice.randrange(20)
        exchange = dice.choice(list(cluster.agents.values()))
        exchange._silent.clear()
        told = await exchange.look_up(key(content))
        assert told is None or (told in lasting and told.payload == bytes([content]) * 32)

    async def history() -> None:
        for _ in range(60):
            await dice.choice([capture, capture, cover, move, lose, cut, tell, tell, ask, ask])()
        for exchange in cluster.agents.values():
            await exchange.close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digest_exchange, "PATIENCE_SECONDS", 0.0)
        patch.setattr(digest_exchange, "TOLD_AT_ONCE", 3)
        asyncio.run(history())


# What may be told …


@given(st.lists(st.sampled_from(["note", "cover", "take"]), max_size=60), st.integers(1, 8))
def test_announcements_are_bounded_and_each_is_made_once_and_not_too_early(steps, most):
    announcements = Announcements(BITS, most)
    made: list[bytes] = []
    covered = 0
    for number, step in enumerate(steps):
        if step == "note":
            announcements.note(number.to_bytes(8, "little"), record(1))
            made.append(number.to_bytes(8, "little"))
        elif step == "cover":
            announcements.cover(announcements.committed)
            covered = len(made)
        else:
            taken = announcements.take(lambda _: "a-1", 3).get("a-1", [])
            assert len(taken) <= 3
            for mark, _ in taken:
                assert made.index(mark) < covered
                made[made.index(mark)] = b"told"
        assert len(announcements) <= most


def test_what_nobody_can_be_told_now_stays_within_its_bounds():
    announcements = Announcements(BITS, 2)
    for number in range(3):
        announcements.note(bytes([number]) * 8, record(number))
    announcements.cover(3)
    assert announcements.take(lambda _: "", 9) == {}
    taken = announcements.take(lambda _: "a-2", 9)["a-2"]
    assert [mark[0] for mark, _ in taken] == [1, 2], "the oldest was given up"
    announcements.again(taken)
    assert len(announcements) == 2


def test_a_snapshot_covers_what_was_committed_before_it_began_once_it_is_on_record(monkeypatch):
    told: list[int] = []
    announcements = SimpleNamespace(committed=0, cover=told.append)

    class Crawl:
        parts = SimpleNamespace(ledger=SimpleNamespace(counters=SimpleNamespace(pages=0, bytes=0)))

        async def checkpoint(self, *, index: bool) -> str:
            announcements.committed += 100  # while it is taken more is captured
            return "1"

    taken = iter(range(5, 9))
    manifest = lambda *_, **__: SimpleNamespace(id=next(taken), inbox=())  # noqa: E731
    fakes = {"pin": lambda *_: None, "take": manifest, "prune": lambda *_: None}
    monkeypatch.setattr(snapshooter, "snapshots", SimpleNamespace(**fakes))
    taking = Snapshooter(None, Crawl(), SimpleNamespace(), Registered("a-1", 1, 1), 3, announcements)
    inbox = SimpleNamespace(cover=list)

    async def crawl() -> None:
        announcements.committed = 7
        await taking.take()  # number 5
        await taking.take()  # number 6
        taking.on_record(4, inbox)
        assert told == []
        taking.on_record(5, inbox)
        taking.on_record(6, inbox)
        taking.on_record(6, inbox)

    with contextlib.suppress(StopIteration):
        asyncio.run(crawl())
    assert told == [7, 107, 107]
