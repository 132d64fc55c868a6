"""What an agent does of its duties, in which order, and what it keeps for others."""

import asyncio
import contextlib
from types import SimpleNamespace

import pytest
from patience import PATIENCE

from gossamer.cluster.agent import move_executor as module
from gossamer.cluster.agent.move_executor import MoveExecutor
from gossamer.cluster.protocol import Freeze, Grant, Inherit, Registered, Take, pack
from gossamer.cluster.snapshots import snapshooter
from gossamer.cluster.snapshots.snapshooter import Snapshooter
from gossamer.state.object_store import RefusedError


class States:
    """What agents left, that of `a-7` at a place which cannot be read; see `PeerStates`."""

    def keep_only(self, agents) -> None: ...

    def is_ours(self, error) -> bool:
        return False

    def open(self, agent, snapshot, ranges):
        if agent == "a-7":
            raise RefusedError("the store refuses")
        return SimpleNamespace(close=lambda: None, scan=lambda *_, **__: iter(()))


def grant(**move_executor) -> Grant:
    return Grant(number=1, term=1, epoch=1, lease=10.0, end=15.0, **move_executor)


@pytest.fixture
def taken(monkeypatch) -> list[set[int]]:
    """What was spared by the prune after each snapshot; numbers count up from 11."""
    spared: list[set[int]] = []
    fakes = {
        "pin": lambda *_: None,
        "take": lambda *_, **__: SimpleNamespace(id=11 + len(spared), inbox=()),
        "prune": lambda _, agent, keep, spare: spared.append(set(spare)),
    }
    monkeypatch.setattr(snapshooter, "snapshots", SimpleNamespace(**fakes))
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    return spared


def snapshooting() -> Snapshooter:
    async def checkpoint(*, index: bool) -> str:
        return "1"

    counters = SimpleNamespace(pages=0, bytes=0)
    crawl = SimpleNamespace(
        parts=SimpleNamespace(ledger=SimpleNamespace(counters=counters)), checkpoint=checkpoint
    )
    return Snapshooter(None, crawl, SimpleNamespace(), Registered("a-1", 2, 1), 3)


def duties_of(snapshots: Snapshooter) -> MoveExecutor:
    """Of a process that was started again and has nothing lent."""
    frontier = SimpleNamespace(serving=SimpleNamespace(visited_now=lambda: ()))
    parts = SimpleNamespace(
        frontier=frontier,
        settlement=SimpleNamespace(held=asyncio.Lock()),
        pace=SimpleNamespace(took_in=None),
    )
    built = SimpleNamespace(
        crawl=SimpleNamespace(parts=parts),
        environment=SimpleNamespace(path="ours"),
        identity=SimpleNamespace(canonical=str),
        rejudging=SimpleNamespace(doubt=None),
    )
    exchange = SimpleNamespace(
        built=built, leases_held=SimpleNamespace(), inbox=SimpleNamespace(forget=lambda shards: None)
    )
    return MoveExecutor(exchange, snapshots, States(), 4, new=False)


async def at_work(move_executor: MoveExecutor, done) -> None:
    """Let it work until `done()`."""
    working = asyncio.create_task(move_executor.run())
    try:
        async with asyncio.timeout(PATIENCE):
            while not done():  # noqa: ASYNC110
                await asyncio.sleep(0.001)
    finally:
        working.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await working


def test_a_move_that_cannot_be_read_holds_up_no_other(taken, monkeypatch):
    async def run() -> None:
        move_executor = duties_of(snapshooting())

        async def take_in(source, take) -> None: ...

        monkeypatch.setattr(move_executor._transfer, "take_in", take_in)
        takes = (Take(1, pack([1]), "a-7", 3), Take(2, pack([2]), "a-8", 3))
        inherits = (Inherit(3, "a-7", 3), Inherit(4, "a-8", 3))
        move_executor.give(grant(takes=takes, inherits=inherits), set(), set())
        await at_work(move_executor, lambda: len(move_executor.imported) == 2)
        assert {covered.move for covered in move_executor.imported} == {2, 4}

    asyncio.run(run())


def test_a_process_that_comes_back_keeps_what_others_read(taken):
    async def run() -> None:
        snapshots = snapshooting()
        move_executor = duties_of(snapshots)
        freezes = (Freeze(1, pack([1]), 5), Freeze(2, pack([2]), 0))
        move_executor.give(grant(freezes=freezes, snapshot=7), set(), set())
        await at_work(move_executor, lambda: move_executor.frozen)
        assert [covered.move for covered in move_executor.frozen] == [2], (
            "what has its snapshot needs no other"
        )
        await snapshots.take()

    asyncio.run(run())
    assert len(taken) == 2
    assert all({5, 7} <= spared for spared in taken)


def test_a_snapshot_counts_though_older_ones_cannot_be_removed(taken, monkeypatch):
    def refused(*_) -> None:
        taken.append(set())
        raise RefusedError("a-1/00000001.manifest cannot be deleted")

    monkeypatch.setattr(snapshooter.snapshots, "prune", refused)
    monkeypatch.setattr(snapshooter, "AGAIN_SECONDS", 0.0)
    snapshots = snapshooting()

    async def run() -> int:
        async with asyncio.timeout(PATIENCE):
            return await snapshots.take()

    assert asyncio.run(run()) == snapshots.latest == 11
    assert "cannot be deleted" in snapshots.problem
