"""Checkpoints: whole or not at all, the latest few, and the way back to them."""

import asyncio
import shutil

import pytest
from engine_world import SITE, SMALL, fetched, page, visit

from gossamer.engine import checkpoints as checkpoints_module
from gossamer.engine.checkpoints import INVENTORY, RESTORED, Checkpoints, names, restore, sign_of_loss
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.events import Checkpointed
from gossamer.state.environment import Environment, Family
from gossamer.state.records import decode


@pytest.fixture
def spare():
    """Copies of a state are what this is about."""


@pytest.fixture
def saved(world):
    """A world with something in it, and its checkpoints."""
    world.settle(visit(world.lease(), fetched(), page()))
    world.checkpoints = Checkpoints(world.path / "checkpoints", world.environment, world.writer, 2)
    world.folder = world.path / "checkpoints"
    return world


def take(world, held=None):
    async def work():
        return await world.checkpoints.take(held or asyncio.Lock())

    return asyncio.run(work())


def known(path):
    """URLs in a state."""
    environment = Environment.open(path, SMALL, create=False)
    try:
        pages = [decode(data, list)[0] for _, data in environment.scan(Family.PAGES)]
        return pages, environment.get(Family.META, RESTORED)
    finally:
        environment.close()


def test_they_are_numbered_and_the_latest_few_are_kept(saved):
    assert names(saved.folder) == []
    taken = [take(saved) for _ in range(4)]
    assert [one.name for one in taken] == ["00000001", "00000002", "00000003", "00000004"]
    assert all(isinstance(one, Checkpointed) and 0 <= one.seconds < 60 for one in taken)
    assert names(saved.folder) == ["00000003", "00000004"]
    shutil.rmtree(saved.folder / "00000004")
    assert take(saved).name == "00000004"


def test_it_waits_until_settlement_holds_still(saved):
    async def work():
        held = asyncio.Lock()
        await held.acquire()
        taking = asyncio.ensure_future(saved.checkpoints.take(held))
        for _ in range(3):
            await asyncio.sleep(0)
        assert names(saved.folder) == [] and not taking.done()
        held.release()
        await taking
        assert names(saved.folder) == ["00000001"]

    asyncio.run(work())


def test_what_a_kill_left_is_cleared_away(saved):
    saved.folder.mkdir()
    for left in ("00000009.partial", "00000009.partial.tmp"):
        (saved.folder / left).mkdir()
    assert take(saved).name == "00000001"
    assert [entry.name for entry in saved.folder.iterdir()] == ["00000001"]


def test_the_archive_and_the_log_are_synced_before(saved, monkeypatch):
    order = []
    monkeypatch.setattr(saved.writer, "sync", lambda: order.append("archive"))
    sync = saved.environment.sync
    monkeypatch.setattr(saved.environment, "sync", lambda: (order.append("state"), sync()))
    monkeypatch.setattr(checkpoints_module, "sync_directory", lambda path: order.append(path.name))
    take(saved)
    assert order == ["archive", "state", "00000001.partial", "checkpoints"]


def test_a_disk_that_refuses_keeps_the_earlier_ones(saved, monkeypatch):
    take(saved)

    def full():
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved.writer, "sync", full)
    with pytest.raises(StorageError, match="No space left"):
        take(saved)
    assert names(saved.folder) == ["00000001"]


def test_each_file_is_listed(saved):
    place = saved.folder / take(saved).name
    listed = decode((place / INVENTORY).read_bytes(), dict[str, tuple[int, bytes]])
    assert set(listed) == {path.name for path in place.iterdir()} - {INVENTORY}
    for name, (size, digest) in listed.items():
        assert size == (place / name).stat().st_size
        assert bool(digest) is not name.endswith(".sst")


def test_a_state_that_has_lost_commits(saved):
    state = saved.path / "state"
    assert sign_of_loss(saved.folder, state) == ""
    place = saved.folder / take(saved).name
    assert sign_of_loss(saved.folder, state) == ""
    (manifest,) = place.glob("MANIFEST-*")
    whole = (state / manifest.name).read_bytes()
    try:
        (state / manifest.name).write_bytes(whole[: manifest.stat().st_size - 1])
        assert manifest.name in sign_of_loss(saved.folder, state)
        (state / manifest.name).unlink()
        assert sign_of_loss(saved.folder, state) == "", "another one has taken its place since"
    finally:
        (state / manifest.name).write_bytes(whole)


# Going back …


@pytest.fixture
def closed(saved):
    """Two checkpoints: the second knows one page more. The state knows a third."""
    take(saved)
    for path in ("/second", "/third"):
        saved.settle(visit(saved.lease(SITE + path), fetched(SITE + path), page(SITE + path)))
        if path == "/second":
            take(saved)
    saved.environment.close()
    saved.environment = Environment.open(saved.path / "elsewhere", SMALL)  # for whoever closes it
    return saved


def test_the_latest_takes_the_place_of_the_state(closed):
    state = closed.path / "state"
    back = restore(closed.folder, state, SMALL)
    assert (back.name, back.kept) == ("00000002", closed.path / "state.replaced-1")
    pages, restored = known(state)
    assert sorted(pages) == [f"{SITE}/", f"{SITE}/second"] and restored == b""
    assert len(known(back.kept)[0]) == 3
    again = restore(closed.folder, state, SMALL)
    assert again.kept == closed.path / "state.replaced-2"
    assert not (closed.path / "state.restored").exists()


def test_where_there_is_no_state_it_is_made(closed):
    state = closed.path / "new"
    assert restore(closed.folder, state, SMALL).kept is None
    assert len(known(state)[0]) == 2


def test_what_is_restored_shares_no_file(closed):
    state = closed.path / "state"
    restore(closed.folder, state, SMALL)
    place = closed.folder / "00000002"
    assert all(
        (state / path.name).stat().st_ino != path.stat().st_ino
        for path in place.iterdir()
        if (state / path.name).exists()
    )
    assert (place / INVENTORY).exists() and not (state / INVENTORY).exists()


def damage(place, pattern, how):
    path = next(path for path in sorted(place.glob(pattern)) if path.stat().st_size)
    match how:
        case "gone":
            path.unlink()
        case "shorter":
            path.write_bytes(path.read_bytes()[:-1])
        case "other":
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 0xFF
            path.unlink()  # the others share it
            path.write_bytes(data)


@pytest.mark.parametrize(
    ("pattern", "how"),
    [
        (INVENTORY, "gone"),
        (INVENTORY, "shorter"),
        ("MANIFEST-*", "other"),
        ("MANIFEST-*", "shorter"),
        ("CURRENT", "gone"),
        ("*.sst", "other"),
        ("*.sst", "gone"),
    ],
)
def test_a_damaged_one_is_passed_over(closed, pattern, how):
    damage(closed.folder / "00000002", pattern, how)
    back = restore(closed.folder, closed.path / "state", SMALL)
    assert back.name == "00000001"
    assert known(closed.path / "state")[0] == [f"{SITE}/"]


def test_a_file_more_is_damage_too(closed):
    (closed.folder / "00000002" / "more").write_bytes(b"x")
    assert restore(closed.folder, closed.path / "state", SMALL).name == "00000001"


def test_without_any_that_is_whole_the_state_stays(closed):
    for name in names(closed.folder):
        damage(closed.folder / name, "MANIFEST-*", "other")
    with pytest.raises(StorageError, match="no checkpoint can be read"):
        restore(closed.folder, closed.path / "state", SMALL)
    assert len(known(closed.path / "state")[0]) == 3
    assert not (closed.path / "state.restored").exists()


def test_without_any_there_is_no_way_back(world):
    with pytest.raises(ConfigError, match="no checkpoint"):
        restore(world.path / "checkpoints", world.path / "state", SMALL)


def test_a_disk_that_refuses_the_copy(closed, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints_module.shutil, "copytree", full)
    with pytest.raises(StorageError, match="cannot be copied"):
        restore(closed.folder, closed.path / "state", SMALL)
    assert len(known(closed.path / "state")[0]) == 3
