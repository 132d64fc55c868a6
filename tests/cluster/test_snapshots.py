"""Snapshots of real crawls: taken, verified, restored and gone on with."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_world import (
    HASTY,
    PAGES,
    Flaky,
    checkpoint_of,
    crawl,
    done,
    fail_from,
    flaky_store,
    memory_store,
    page,
    problems,
    problems_but_index,
    resume,
)
from small_site import small_site

from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.snapshots import catalogue, pieces, restoring, snapshots
from gossamer.cluster.snapshots.manifest import manifest_key, object_key
from gossamer.cluster.snapshots.snapshots import (
    fetch,
    ids,
    latest,
    pin,
    prune,
    read,
    restore,
    take,
    verify,
)
from gossamer.engine.crawl import Crawl
from gossamer.engine.in_thread import in_thread
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.events import Event, Stopped
from gossamer.state.object_store import Store

EACH_ONCE = {str(number or ""): 1 for number in range(PAGES)}


class KilledError(Exception):
    """As a kill would end it."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with small_site(page) as address:
        yield address


@pytest.fixture(scope="module")
def two_thirds(site: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A crawl that stopped after a third of its pages, and as it was after the second third."""
    first, second = (tmp_path_factory.mktemp("crawls") / name for name in ("first", "second"))
    crawl(first, site, budget__max_pages=PAGES // 3)
    shutil.copytree(first, second)
    resume(second, 2 * PAGES // 3)
    return first, second


@pytest.fixture
def thirds(two_thirds: tuple[Path, Path], tmp_path: Path) -> tuple[CrawlFolder, CrawlFolder]:
    """The same for a test to change; inode and times are others, as on another machine."""
    folders = []
    for path in two_thirds:
        shutil.copytree(path, tmp_path / path.name)
        folders.append(CrawlFolder(tmp_path / path.name))
    return folders[0], folders[1]


def snapshot(folder: CrawlFolder, store: Store, agent: str = "a-1"):
    return take(folder, checkpoint_of(folder), store, agent, 1)


@pytest.fixture(params=["folder", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(str(tmp_path / "store"), HASTY) if request.param == "folder" else memory_store()


@pytest.mark.slow
def test_a_crawl_goes_on_from_its_snapshot(thirds, store, tmp_path):
    first, second = thirds
    made = snapshot(first, store)
    assert (made.id, made.agent, made.checkpoint) == (1, "a-1", checkpoint_of(first))
    assert made.uploaded >= made.size * 0.9
    later = snapshot(second, store)
    assert latest(store, "a-1") == later
    assert ids(store, "a-1") == [1, 2]
    assert verify(store, later) == verify(store, read(store, "a-1", 1)) == []
    for number, third in ((1, first), (2, second)):
        target = tmp_path / f"restored-{number}"
        fetch(store, read(store, "a-1", number), target)
        assert problems_but_index(target) == []
        assert done(target) == done(third.path)
        assert (target / "crawl.log").read_bytes() == third.log.read_bytes()
        assert (target / "crawl.toml").read_bytes() == third.config.read_bytes()
        resume(target)
        assert done(target) == EACH_ONCE
        assert problems_but_index(target) == []


def test_only_what_is_new_travels(thirds, tmp_path):
    first, second = thirds
    store = flaky_store()
    snapshot(first, store)
    before = set(Flaky.written)
    Flaky.written.clear()
    again = snapshot(first, store)
    assert Flaky.written == ["00000002.manifest"]
    assert again.uploaded == 0
    Flaky.written.clear()
    snapshot(second, store)
    assert len(Flaky.written) == len(set(Flaky.written))
    assert not set(Flaky.written) & before
    # What was a finished archive file in the first snapshot did not travel again.
    archives = {file.name: file for file in read(store, "a-1", 1).files if file.name.startswith("archive/")}
    assert len(archives) > 1
    for file in read(store, "a-1", 3).files:
        if file.name in archives:
            assert file == archives[file.name]


def test_nothing_is_read_again_that_has_not_changed(thirds, monkeypatch):
    first, _ = thirds
    store = memory_store()
    made = snapshot(first, store)
    read_again = []
    digest = pieces._digest

    def counted(descriptor, start, size, path):
        read_again.append(size)
        return digest(descriptor, start, size, path)

    monkeypatch.setattr(pieces, "_digest", counted)
    assert snapshot(first, store).files == made.files
    small = [file.size for file in made.files if file.name.startswith("state/") and ".sst" not in file.name]
    assert sorted(read_again) == sorted(size for size in small if size)
    (first.path / snapshots.KNOWN).write_bytes(b"nonsense")
    assert snapshot(first, store).files == made.files
    assert sum(read_again) >= made.size * 0.5


@pytest.mark.parametrize("patience", ["none", "some"])
def test_a_store_that_fails_at_any_call_costs_that_snapshot_only(thirds, patience, tmp_path):
    first, second = thirds
    store = flaky_store()
    snapshot(first, store)
    snapshot(first, store, "a-2")
    calls = Flaky.calls
    snapshot(second, store, "a-2")
    calls = Flaky.calls - calls
    assert calls > 10
    if patience == "some":
        store._patience = HASTY
    for call in range(1, calls + 1, 1 if patience == "none" else 5):
        fail_from(call, 1)
        if patience == "none":
            with pytest.raises(StorageError, match=r"on fire.*See that the store can be reached"):
                snapshot(second, store)
        else:
            snapshot(second, store)
        fail_from(1, 0)
        newest = latest(store, "a-1")
        assert newest is not None
        assert newest.id == 1 or patience == "some"
        assert verify(store, newest) == []
    snapshot(second, store)
    assert restore(store, "a-1", tmp_path / "restored").id == max(ids(store, "a-1"))
    assert done(tmp_path / "restored") == done(second.path)


@pytest.mark.parametrize("harm", ["changed", "short", "missing"])
def test_damage_in_any_object_is_found(thirds, harm, tmp_path):
    first, second = thirds
    store = memory_store()
    old, new = snapshot(first, store), snapshot(second, store)
    harmless = 0
    for file in new.files:
        for piece in file.pieces:
            key = object_key("a-1", piece.object)
            whole = store.get(key)
            assert whole is not None
            if harm == "missing":
                store.delete(key)
            else:
                store.put(key, whole[:-1] if harm == "short" else whole[:-1] + bytes((whole[-1] ^ 1,)))
            (problem,) = verify(store, new)
            assert file.name in problem
            shared = piece.object in old.objects
            harmless += shared
            assert bool(verify(store, old)) == shared
            store.put(key, whole)
    assert harmless
    assert verify(store, new) == []


def test_a_damaged_snapshot_gives_way_to_the_one_before(thirds, tmp_path):
    first, second = thirds
    store = memory_store()
    old, new = snapshot(first, store), snapshot(second, store)
    third = snapshot(second, store)
    (victim, *_) = sorted(new.objects - old.objects)
    store.put(object_key("a-1", victim), b"other")
    key = manifest_key("a-1", third.id)
    data = store.get(key)
    assert data is not None
    store.put(key, data.replace(b'"incarnation":1', b'"incarnation":2'))
    heard: list[str] = []
    assert restore(store, "a-1", tmp_path / "restored", heard.append) == old
    assert [line[:20] for line in heard] == ["snapshot 3 of a-1 ca", "snapshot 2 of a-1 ca"]
    assert "its digest is another" in heard[0]
    assert "has 5 of" in heard[1]
    assert done(tmp_path / "restored") == done(first.path)
    assert not (tmp_path / "restored.partial").exists()
    # The next snapshot leaves the damaged one alone, and is whole.
    again = take(second, checkpoint_of(second), store, "a-1", 2)
    assert again.id == 4
    store.put(manifest_key("a-1", 1), b"nothing")
    store.put(manifest_key("a-1", 2), b"nothing")
    store.put(manifest_key("a-1", 4), b"nothing")
    with pytest.raises(StorageError, match="none of 4 snapshots of a-1 can be used"):
        restore(store, "a-1", tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_used_folder_is_not_restored_to(thirds, store):
    first, second = thirds
    made = snapshot(first, store)
    with pytest.raises(ConfigError, match="is not empty"):
        fetch(store, made, second.path)
    assert problems(second.path) == []


def test_pruning_keeps_what_kept_snapshots_name(thirds, store):
    first, second = thirds
    for folder in (first, first, second, second):
        snapshot(folder, store)
    assert prune(store, "a-1", 2, [1]) == 0, "the first names all that the second did"
    assert ids(store, "a-1") == [1, 3, 4]
    gone = prune(store, "a-1", 1)
    assert gone > 0
    assert ids(store, "a-1") == [4]
    newest = read(store, "a-1", 4)
    assert verify(store, newest) == []
    assert set(store.names("snapshots/a-1/objects")) == newest.objects
    assert snapshot(first, store).id == 5


@pytest.mark.parametrize(
    "point", ["snapshot.pinned", "snapshot.uploading", "snapshot.uploaded", "snapshot.listed"]
)
def test_killed_at_any_point_the_next_snapshot_is_whole(thirds, point, monkeypatch):
    first, second = thirds
    store = memory_store()
    snapshot(first, store)
    for nth in (1, 3, 9):
        kill_at(monkeypatch, point, nth)
        try:
            snapshot(second, store)
        except KilledError:
            assert point != "snapshot.listed" or max(ids(store, "a-1")) > 1
        monkeypatch.undo()
        newest = latest(store, "a-1")
        assert newest is not None
        assert verify(store, newest) == []
    newest = snapshot(second, store)
    prune(store, "a-1", 1)
    assert verify(store, newest) == []
    assert set(store.names("snapshots/a-1/objects")) == newest.objects


def kill_at(monkeypatch: pytest.MonkeyPatch, point: str, nth: int) -> None:
    left = [nth]

    def die(name: str) -> None:
        if name == point:
            left[0] -= 1
            if not left[0]:
                raise KilledError

    for module in (snapshots, catalogue, restoring):
        monkeypatch.setattr(module, "fault_point", die)


def test_killed_while_pruning_or_fetching_nothing_is_lost(thirds, store, tmp_path, monkeypatch):
    first, second = thirds
    for folder in (first, first, second):
        snapshot(folder, store)
    kill_at(monkeypatch, "snapshot.pruning", 1)
    with pytest.raises(KilledError):
        prune(store, "a-1", 1)
    monkeypatch.undo()
    for number in ids(store, "a-1"):
        assert verify(store, read(store, "a-1", number)) == []
    prune(store, "a-1", 1)
    newest = read(store, "a-1", 3)
    kill_at(monkeypatch, "snapshot.fetching", 3)
    with pytest.raises(KilledError):
        fetch(store, newest, tmp_path / "restored")
    monkeypatch.undo()
    assert not (tmp_path / "restored").exists()
    fetch(store, newest, tmp_path / "restored")
    assert problems_but_index(tmp_path / "restored") == []


def test_a_pinned_checkpoint_outlives_its_pruning(thirds, store):
    _, second = thirds
    name = checkpoint_of(second)
    pinned = pin(second, name)
    shutil.rmtree(second.checkpoints / name)
    made = take(second, pinned, store, "a-1", 1)
    assert verify(store, made) == []
    assert not list(second.tmp.iterdir())
    with pytest.raises(StorageError, match="Keep more checkpoints"):
        take(second, name, store, "a-1", 1)
    assert not list(second.tmp.iterdir())


@pytest.mark.slow
def test_beside_a_running_crawl(site, tmp_path):
    """Every snapshot taken meanwhile is that of its checkpoint; the crawl notices nothing."""
    store, folder = memory_store(), CrawlFolder(tmp_path / "crawl")
    tasks: list[asyncio.Task[None]] = []

    async def keep_taking(running: Crawl) -> None:
        while True:
            name = await running.checkpoint()
            await in_thread(take, folder, name, store, "a-1", 1)
            await asyncio.sleep(0.05)

    def begin(running: Crawl) -> None:
        tasks.append(asyncio.get_running_loop().create_task(keep_taking(running)))

        def end(event: Event) -> None:
            if isinstance(event, Stopped):
                tasks[0].cancel()

        running.parts.observers.add(end)

    crawl(
        folder.path, site, begin,
        politeness__min_delay=0.005, politeness__factor=0.0, engine__keep_checkpoints=1,
    )  # fmt: skip
    assert tasks[0].cancelled()
    numbers = ids(store, "a-1")
    assert len(numbers) > 1
    for number in numbers[:: max(1, len(numbers) // 2)]:
        target = tmp_path / f"restored-{number}"
        fetch(store, read(store, "a-1", number), target)
        assert problems_but_index(target) == []
        before = done(target)
        assert before.keys() <= EACH_ONCE.keys()
        resume(target)
        assert done(target) == EACH_ONCE
