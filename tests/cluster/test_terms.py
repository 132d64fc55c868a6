"""Two coordinators with one store: the later one counts, and nobody acts on what it has not read."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from cluster_world import HASTY, fail_from, flaky_store, memory_store
from patience import PATIENCE

from gossamer.cluster.coordination.terms import BEFORE, FOLDER, DeposedError, Terms
from gossamer.model.errors import StorageError
from gossamer.state.object_store import Store


class Interrupted(Store):
    """A store in which something happens right before its call number `at`."""

    def __init__(self, address: str, at: int, happens: Callable[[], None]) -> None:
        super().__init__(address, HASTY)
        self._calls, self._at, self._happens = 0, at, happens

    def _try(self, *arguments, **options):
        self._calls += 1
        if self._calls == self._at:
            self._happens()
        return super()._try(*arguments, **options)


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"), HASTY) if request.param == "folder" else memory_store()


def test_each_coordinator_goes_on_from_the_one_before(store):
    first = Terms(store)
    assert first.begin() == (1, None)
    first.save(b"one")
    first.save(b"two")
    first.check()
    second = Terms(store)
    assert second.begin() == (2, b"two")
    third = Terms(store)
    assert third.begin() == (3, b"two"), "the second died before it decided anything"
    third.save(b"three")
    assert [name[:8] for name in store.names(FOLDER)] == ["00000003"] * 2, "what is done with is gone"


def test_an_old_one_neither_acts_nor_overwrites(store):
    old, new = Terms(store), Terms(store)
    old.begin()
    old.save(b"old")
    new.begin()
    new.save(b"new")
    for _ in range(2):
        with pytest.raises(DeposedError, match=r"term 2, this is 1.*End this Ray cluster"):
            old.save(b"older")
        with pytest.raises(DeposedError):
            old.check()
        new.check()
    assert Terms(store).begin() == (3, b"new")


def test_of_two_at_the_same_moment_one_goes_on(store):
    for _ in range(8):
        one, other = Terms(store), Terms(store)
        listed = store.names(FOLDER)
        store.names = lambda _, listed=listed: listed  # both see what was there before
        terms = one.begin()[0], other.begin()[0]
        del store.names
        assert terms[0] == terms[1]
        saved = []
        for name, one_of_both in (("one", one), ("other", other)):
            with contextlib.suppress(DeposedError):
                one_of_both.save(name.encode())
                saved.append(name.encode())
        assert len(saved) == 1
        assert Terms(store).begin() == (terms[0] + 1, saved[0])


def test_whatever_comes_first_nothing_is_acted_on_that_the_later_one_has_not_read(tmp_path):
    numbers = itertools.count()

    def both(at: int, *, interrupted: str) -> tuple[bytes, bytes | None, int]:
        """What the old one acted on last, what the new one read; one does it all in a pause of the other."""
        address = str(tmp_path / f"store-{next(numbers)}")
        plain = Store(address, HASTY)
        acted, read = [b"first"], []

        def saves() -> None:
            with contextlib.suppress(DeposedError):
                old.save(b"second")
                acted.append(b"second")

        def begins() -> None:
            read.append(new.begin().data)

        old, new = Terms(plain), Terms(plain)
        old.begin()
        old.save(b"first")
        pausing = Interrupted(address, at, begins if interrupted == "old" else saves)
        if interrupted == "old":
            old._store = pausing
            saves()
        else:
            new._store = pausing
            begins()
        return acted[-1], read[0] if read else None, pausing._calls

    seen = set()
    for interrupted in ("old", "new"):
        for at in range(1, 5):
            acted, read, calls = both(at, interrupted=interrupted)
            if at <= calls:
                assert acted == read or (acted, read) == (b"first", b"second")
                seen.add((acted, read))
    assert (b"first", b"first") in seen
    assert (b"second", b"second") in seen


def test_a_record_of_before_there_were_terms_is_gone_on_from(store):
    store.put(BEFORE, b"ancient")
    assert Terms(store).begin() == (1, b"ancient")


def test_a_store_that_refuses_is_no_other_coordinator():
    store = flaky_store()
    terms = Terms(store)
    terms.begin()
    fail_from(1)
    for ask in (terms.check, lambda: terms.save(b"x"), Terms(store).begin):
        with pytest.raises(StorageError):
            ask()
    fail_from(1, 0)
    terms.check()


# The process that coordinates …


def actor(store: Store, monkeypatch: pytest.MonkeyPatch):
    """A coordinator as Ray would make it, but for the agents, which are not started."""
    pytest.importorskip("ray", reason="the extra 'cluster' is not installed")
    from gossamer.cluster import actors
    from gossamer.cluster.coordination.record import CoordinationConfig
    from gossamer.cluster.orders import Plan

    plan = Plan(
        cluster="c",
        config="",
        seeds="",
        folder="",
        store="",
        secret=b"",
        coordination=CoordinationConfig(bits=2, agents=1),
    )
    monkeypatch.setattr(actors, "kept_plan", lambda _: plan)
    monkeypatch.setattr(actors, "Store", lambda _: store)
    monkeypatch.setattr(actors.CoordinatorActor, "_staff", lambda _: None)
    monkeypatch.setattr(actors, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(actors, "CHECK_SECONDS", 0.01)
    return actors.CoordinatorActor("", resumed=False)


def packed(**fields: object) -> bytes:
    from gossamer.cluster.protocol import Host

    return msgspec.msgpack.encode(Host("node", "b", **fields))


async def overview_of(coordinator):
    from gossamer.cluster.actors import decode_overview

    return decode_overview(await coordinator.overview())


async def ended(coordinator) -> None:
    for task in coordinator._working:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def test_a_deposed_coordinator_grants_nothing_any_more(store, monkeypatch):
    from gossamer.cluster.protocol import Registered, Report

    async def run() -> None:
        old = actor(store, monkeypatch)
        told = msgspec.msgpack.decode(await old.register(packed(process="p"), "", 1), type=Registered)
        report = msgspec.msgpack.encode(Report(agent=told.name, incarnation=1, term=told.term, number=1))
        await old.renew(report, 1)
        new = actor(store, monkeypatch)
        assert [agent.name for agent in (await overview_of(new)).agents] == ["a-1"]
        await asyncio.wait_for(
            asyncio.gather(*old._working), PATIENCE
        )  # it finds out without anything to save
        for ask in (old.renew(report, 1), old.register(packed(), "", 2), old.scale_to(3), old.stop("x")):
            with pytest.raises(DeposedError, match="has begun"):
                await ask
        assert "term 2, this is 1" in (await overview_of(old)).problem
        assert (await overview_of(new)).wanted_agents == 1
        await ended(new)

    asyncio.run(run())


def test_a_store_that_fails_leaves_no_agents_behind_that_nobody_is(monkeypatch):
    store = flaky_store()

    async def run() -> None:
        coordinator = actor(store, monkeypatch)
        fail_from(1)
        for _ in range(5):
            with pytest.raises(StorageError):
                await coordinator.register(packed(process="p"), "", 1)
        fail_from(1, 0)
        await coordinator.register(packed(process="p"), "", 1)
        assert [agent.name for agent in (await overview_of(coordinator)).agents] == ["a-1"]
        await ended(coordinator)

    asyncio.run(run())
