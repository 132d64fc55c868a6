"""The small parts on which surviving depends, each made to fail by itself."""

import asyncio
import os
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gossamer.engine.in_thread import in_thread
from gossamer.engine.settlement.visit_log import VisitLog
from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.frontier.config import FrontierConfig, HostPolicy, Session
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Headers
from gossamer.model.lease import Lease
from gossamer.model.reasons.ends import FAILED
from gossamer.model.url import Url
from gossamer.policy.ordering.ordering import BreadthFirst
from gossamer.policy.visits.politeness import retry_after
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints
from gossamer.state.records import COUNTERS, Counters, decode

# The crawl log …


@pytest.mark.parametrize(
    ("text", "committed", "left"),
    [
        (b"", 0, b""),
        (b'{"a":1}\n{"b":2}\n', 16, b'{"a":1}\n{"b":2}\n'),
        (b'{"a":1}\n{"b":2}\n', 8, b'{"a":1}\n'),
        (b'{"a":1}\n{"b":2}\n', 0, b""),
        (b'{"a":1}\n{"b', 16, b'{"a":1}\n'),
        (b'{"a', 16, b""),
    ],
)
def test_the_log_is_cut_to_what_is_committed(
    tmp_path: Path, text: bytes, committed: int, left: bytes
) -> None:
    path = tmp_path / "crawl.log"
    path.write_bytes(text)
    log = VisitLog(path, committed)
    log.close()
    assert path.read_bytes() == left
    assert log.length == len(left)


def test_a_log_that_cannot_be_opened_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="resume"):
        VisitLog(tmp_path, 0)


# Retry-After …


@pytest.mark.parametrize("error", [-3600, 0, 3600])
def test_a_date_counts_from_the_date_of_the_response(error: float) -> None:
    sent, wanted = "Thu, 01 Jan 2026 12:00:00 GMT", "Thu, 01 Jan 2026 12:00:07 GMT"
    our_clock = 1_767_268_800 + error
    assert retry_after(Headers((("Date", sent), ("Retry-After", wanted))), our_clock) == 7.0


def test_without_a_date_our_clock_must_do() -> None:
    headers = Headers((("Retry-After", "Thu, 01 Jan 2026 12:00:07 GMT"),))
    assert retry_after(headers, 1_767_268_800.0) == 7.0
    assert retry_after(Headers((("Retry-After", "12"),)), 0.0) == 12.0
    assert retry_after(Headers(()), 0.0) is None


# Work in threads …


def test_a_cancelled_caller_waits_for_its_thread() -> None:
    release, done = threading.Event(), threading.Event()

    def work() -> None:
        release.wait(10)
        done.set()

    async def scenario() -> None:
        task = asyncio.create_task(in_thread(work))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.01)
        assert not task.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done.is_set()

    asyncio.run(scenario())


# The state …


def filled(path: Path) -> None:
    """A state with some tables of many blocks."""
    environment = Environment.open(path, StateConfig())
    batch = environment.batch()
    for number in range(20_000):
        batch.put(Family.PAGES, number.to_bytes(8, "big"), os.urandom(20))
    environment.commit(batch)
    environment.checkpoint(path.with_name("copy"))  # which flushes
    environment.close()


def test_a_damaged_table_is_never_taken_for_its_end(tmp_path: Path) -> None:
    filled(tmp_path / "state")
    table = max((tmp_path / "state").glob("*.sst"), key=lambda path: path.stat().st_size)
    content = bytearray(table.read_bytes())
    content[len(content) // 2] ^= 1
    table.write_bytes(content)
    environment = Environment.open(tmp_path / "state", StateConfig())
    try:
        with pytest.raises(StorageError, match="--from-checkpoint"):
            for _ in environment.scan(Family.PAGES):
                pass
        with pytest.raises(StorageError, match="--from-checkpoint"):
            for number in range(20_000):
                environment.get(Family.PAGES, number.to_bytes(8, "big"))
    finally:
        environment.close()


def test_a_state_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="--from-checkpoint"):
        Environment.open(tmp_path / "state", StateConfig(), create=False)


# The frontier …


class World:
    """A frontier over a state whose commits can be made to fail."""

    def __init__(self, path: Path) -> None:
        self.environment = Environment.open(path, StateConfig())
        self.counters = Counters()
        self.clock = count(1_000_000)
        policy = HostPolicy(
            queue_key=lambda url: url.host,
            visits_at_once=lambda _: 1,
            rest=lambda _: 0.0,
            budget_spent=lambda *_: "",
        )
        session = Session(Fingerprints(b"secret"), lambda: next(self.clock))
        self.frontier = Frontier(
            self.environment, FrontierConfig(), policy, BreadthFirst(), self.counters, session
        )

    def admit(self, text: str) -> None:
        url = Url.parse(text)
        assert url is not None
        key, _ = self.frontier.host_key(url)
        self.frontier.admit(Candidate(url), self.frontier.fingerprint(key, text))

    def break_disk(self) -> None:
        def refuse(_: object) -> None:
            raise StorageError("the disk is full")

        self.environment.commit = refuse  # type: ignore[method-assign]

    def mend_disk(self) -> None:
        del self.environment.commit  # type: ignore[attr-defined]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "state")
    yield made
    made.environment.close()


def test_every_commit_holds_the_sums(world: World) -> None:
    world.admit("http://a.test/")
    lease = world.frontier.lend()  # asks for the robots file first, which is a commit of its own
    assert lease is not None
    data = world.environment.get(Family.META, COUNTERS)
    assert data is not None
    kept = decode(data, Counters)
    assert (kept.sequence, kept.queued) == (world.counters.sequence, world.counters.queued) == (2, 2)


def test_after_a_failed_commit_nothing_is_committed_any_more(world: World) -> None:
    world.admit("http://a.test/")
    world.break_disk()
    with pytest.raises(StorageError, match="full"):
        world.admit("http://b.test/")
    world.mend_disk()
    with pytest.raises(StorageError, match="full"):
        world.admit("http://c.test/")
    assert sum(1 for _ in world.environment.scan(Family.QUEUE)) == 1


def test_what_a_timer_meets_is_raised_in_a_worker(world: World) -> None:
    dispatch = Dispatch(world.frontier, lambda: next(world.clock), 10**12, lambda _: "")

    async def work() -> list[Lease]:
        return [lease async for lease in dispatch.leases()]

    async def scenario() -> None:
        dispatch.pump = lambda: None  # type: ignore[method-assign]
        workers = [asyncio.create_task(work()) for _ in range(3)]
        await asyncio.sleep(0)

        def fails() -> None:
            raise StorageError("the disk is full")

        dispatch.pump = fails  # type: ignore[method-assign]
        dispatch.pump_or_fail()
        ends = await asyncio.gather(*workers, return_exceptions=True)
        assert [type(end) for end in ends] == [StorageError, list, list]
        assert dispatch.ended == FAILED

    asyncio.run(scenario())
