"""States of other agents: what is read of them travels, once, and what is damaged is told from what waits."""

import random
import shutil
from pathlib import Path

import pytest
from cluster_world import memory_store
from frontier_world import SMALL

from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.agent import peer_states
from gossamer.cluster.agent.peer_states import PeerStates
from gossamer.cluster.ranges import spans
from gossamer.cluster.snapshots import restoring, snapshots
from gossamer.cluster.snapshots.manifest import DamagedError, Manifest, manifest_key, object_key
from gossamer.cluster.snapshots.pieces import Local
from gossamer.cluster.snapshots.pinned import Pinned
from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment, Family
from gossamer.state.object_store import MissingError, RefusedError, Store

BITS = 4
FEW = [(Family.SEEN, *span) for span in spans([5], BITS)]
ALL = [(family, b"", b"") for family in Family]


class Giver:
    """An agent with some thousand keys in several tables, and its snapshots."""

    def __init__(self, path: Path, store: Store, name: str = "a-7") -> None:
        self.store, self.name = store, name
        self.folder = CrawlFolder(path)
        self.folder.state.mkdir(parents=True)
        self.environment = Environment.open(self.folder.state, SMALL)
        self.random = random.Random(1)
        self.checkpoints = 0

    def write(self, keys: int, first: int = 0, last: int = 255) -> None:
        for family in (Family.SEEN, Family.DIGESTS):
            batch = self.environment.batch()
            for _ in range(keys):
                key = bytes([self.random.randint(first, last)]) + self.random.randbytes(15)
                batch.put(family, key, self.random.randbytes(40))
            self.environment.commit(batch)

    def merge(self) -> None:
        """All tables into the last level, each of them a range of keys."""
        for table in self.environment._tables.values():
            table.compact_range(None, None)

    def snapshot(self) -> Manifest:
        self.checkpoints += 1
        place = self.folder.path / f"checkpoint-{self.checkpoints}"
        self.environment.checkpoint(place)
        files = [Local(f"state/{file.name}", file, file.stat().st_size) for file in sorted(place.iterdir())]
        pinned = Pinned(str(self.checkpoints), self.folder.path / "links", files, ())
        return snapshots.take(self.folder, pinned, self.store, self.name, 1)

    def rows(self, ranges=ALL) -> dict:
        return rows(self.environment, ranges)


def rows(environment: Environment, ranges) -> dict:
    return {
        (family, key): value
        for family, start, end in ranges
        for key, value in environment.scan(family, start, end=end)
    }


@pytest.fixture
def store() -> Store:
    return memory_store()


@pytest.fixture
def giver(tmp_path, store):
    giver = Giver(tmp_path / "giver", store)
    yield giver
    giver.environment.close()


@pytest.fixture
def states(tmp_path, store) -> PeerStates:
    return PeerStates(store, tmp_path / "peers", "a-1")


@pytest.fixture
def fetched(monkeypatch) -> list[str]:
    """Tables, as they travel."""
    names: list[str] = []
    write = restoring._write

    def written(store, manifest, file, path):
        names.append(file.name.removeprefix("state/"))
        write(store, manifest, file, path)

    monkeypatch.setattr(restoring, "_write", written)
    return names


def read(states: PeerStates, manifest: Manifest, ranges) -> dict:
    environment = states.open(manifest.agent, manifest.id, ranges)
    try:
        return rows(environment, ranges)
    finally:
        environment.close()


def tables(names) -> set[str]:
    return {name for name in names if name.endswith(".sst")}


def test_only_the_tables_with_the_ranges_travel_and_each_once(giver, states, fetched):
    for first in range(0, 256, 32):
        giver.write(800, first, first + 31)
        giver.merge()  # a table of each: their keys do not overlap
    one = giver.snapshot()
    every = tables(file.name.removeprefix("state/") for file in one.files)
    known = {family: tables(t.name for t in giver.environment.tables(family)) for family in Family}
    assert set().union(*known.values()) == every
    assert len(known[Family.SEEN]) > 2
    assert read(states, one, FEW) == giver.rows(FEW) != {}
    few = tables(fetched)
    assert few < known[Family.SEEN], "no digests, and of what was seen only the range"
    more = [(Family.SEEN, *span) for span in spans(range(8), BITS)]
    assert read(states, one, more) == giver.rows(more)
    assert few < tables(fetched) < known[Family.SEEN]
    assert read(states, one, more) == giver.rows(more)
    before = tables(fetched)
    giver.write(50)
    assert read(states, giver.snapshot(), ALL) == giver.rows()
    assert len(tables(fetched)) > len(before)
    sst = [name for name in fetched if name.endswith(".sst")]
    assert len(sst) == len(set(sst)), "also those that an earlier snapshot had"


def test_ranges_that_lie_between_two_tables_are_read(giver, states):
    """RocksDB opens the table behind where a cursor begins before it sees that its keys are past the end."""
    giver.write(800, 0, 31)
    giver.merge()
    giver.write(800, 128, 255)
    giver.merge()
    assert len([table for table in giver.environment.tables(Family.SEEN) if table.level]) > 1
    one = giver.snapshot()
    for shards in ([2], [3, 5], [7], [4, 8], [0], [15]):
        ranges = [(Family.SEEN, *span) for span in spans(shards, BITS)]
        environment = states.open("a-7", one.id, ranges)
        found = rows(environment, ranges)
        assert found == giver.rows(ranges)
        for family, start, end in ranges:  # where a slice begins that finds no more
            last = max((key for _, key in found if start <= key and (not end or key < end)), default=start)
            assert not list(environment.scan(family, last + b"\0", end=end))
        environment.close()
        states.keep_only(())


def test_what_could_not_be_read_of_a_state_is_fetched_whole(giver, states, fetched):
    for first in (0, 128):
        giver.write(800, first, first + 31)
        giver.merge()
    one = giver.snapshot()
    environment = states.open("a-7", one.id, FEW)
    with pytest.raises(StorageError) as failed:
        rows(environment, ALL)
    environment.close()
    assert states.is_ours(failed.value)
    assert not states.is_ours(StorageError("/somewhere/else: cannot be read"))
    states.fetch_anew("a-7", one.id)
    environment = states.open("a-7", one.id, FEW)
    assert rows(environment, ALL) == giver.rows(), "whoever reads more than was asked for finds it, too"
    environment.close()


def test_a_table_that_nobody_asked_for_is_not_taken_for_empty(giver, states):
    for first in range(0, 256, 32):
        giver.write(800, first, first + 31)
        giver.merge()
    environment = states.open("a-7", giver.snapshot().id, FEW)
    with pytest.raises(StorageError, match="No such file"):
        rows(environment, [(Family.SEEN, b"", b"")])
    environment.close()


def test_disk_holds_the_states_that_are_wanted_only(giver, states, tmp_path, store, monkeypatch):
    other = Giver(tmp_path / "other", store, "a-8")
    for each in (giver, other):
        each.write(100)
        read(states, each.snapshot(), ALL)
    giver.write(100)
    read(states, giver.snapshot(), ALL)
    peers = tmp_path / "peers"
    assert sorted(path.name for path in peers.iterdir()) == ["a-7-2", "a-8-1"]
    states.keep_only({"a-8", "a-80"})
    assert [path.name for path in peers.iterdir()] == ["a-8-1"]
    monkeypatch.setattr(peer_states, "MOST_STATES", 1)
    read(states, giver.snapshot(), ALL)
    read(states, other.snapshot(), ALL)
    states.keep_only({"a-7", "a-8"})
    assert [path.name for path in peers.iterdir()] == ["a-8-2"]
    other.environment.close()


def damage(store: Store, manifest: Manifest, ends: str, harm: str, spare: set[str] = frozenset()) -> str:
    """Harm one object of a file; its name."""
    for file in manifest.files:
        if file.name.endswith(ends) and file.size and not {piece.object for piece in file.pieces} & spare:
            key = object_key(manifest.agent, file.pieces[0].object)
            data = store.get(key)
            if harm == "gone":
                store.delete(key)
            else:
                store.put(key, data[:-1] + bytes([data[-1] ^ 1]))
            return file.name
    raise AssertionError


@pytest.mark.parametrize("harm", ["gone", "changed"])
@pytest.mark.parametrize("ends", [".sst", "CURRENT"])
def test_damage_is_told_and_the_snapshot_before_it_named(giver, states, store, harm, ends, tmp_path):
    ours = Giver(tmp_path / "ours", store, "a-1").snapshot().id
    giver.write(100)
    one = giver.snapshot()
    giver.write(100)
    two = giver.snapshot()
    name = damage(store, two, ends, harm, one.objects if ends == ".sst" else set())
    with pytest.raises(DamagedError, match=name):
        read(states, two, ALL)
    assert states.older("a-7", two.id, ours) == (1 if ends == ".sst" else 0 if harm == "gone" else 1)
    if ends == ".sst":
        assert len(read(states, one, ALL)) == len(rows(giver.environment, ALL)) - 200
    store.put(manifest_key("a-7", 1), b"nonsense")
    assert states.older("a-7", two.id, ours) == 0
    store.delete(manifest_key("a-7", 1))
    assert states.older("a-7", two.id, ours) == 0
    states.fetch_anew("a-7", 1)
    with pytest.raises(MissingError):
        read(states, one, ALL)


def test_a_store_that_lost_everything_says_nothing_of_one_snapshot(giver, states, tmp_path):
    giver.write(10)
    giver.snapshot()
    with pytest.raises(StorageError, match=r"our own latest is not there either.*mounted"):
        states.older("a-7", 1, 3)


def test_what_is_refused_is_waited_for_but_not_for_ever(giver, states, store, monkeypatch):
    giver.write(100)
    manifest = giver.snapshot()
    times = iter([0.0, 0.0, 599.0, 599.0, 700.0, 1200.0, 1400.0, 1400.0])
    monkeypatch.setattr(peer_states.time, "monotonic", lambda: next(times))
    get, down = store.get, []

    def refuse(key, size):
        raise RefusedError("no")

    monkeypatch.setattr(store, "read", refuse)
    for _ in range(2):
        with pytest.raises(RefusedError):
            read(states, manifest, ALL)
    monkeypatch.setattr(store, "get", lambda key: down.append(key) or refuse(key, 0))
    with pytest.raises(RefusedError):
        read(states, manifest, ALL)
    assert down, "nothing can be read there: that says nothing of one snapshot"
    monkeypatch.setattr(store, "get", get)
    with pytest.raises(DamagedError, match="snapshot 1 of a-7: no"):
        read(states, manifest, ALL)


def test_bytes_that_rocksdb_does_not_understand_are_damage(giver, states, store):
    giver.write(100)
    files = dict.fromkeys(giver.snapshot().files)
    place = giver.folder.path / "checkpoint-1"
    manifest = next(path for path in place.iterdir() if path.name.startswith("MANIFEST"))
    manifest.write_bytes(b"\0" * 50 + manifest.read_bytes()[50:])
    locals_ = [
        Local(file.name, place / file.name[6:], (place / file.name[6:]).stat().st_size) for file in files
    ]
    shutil.rmtree(giver.folder.path / "links", ignore_errors=True)
    broken = snapshots.take(
        giver.folder, Pinned("1", giver.folder.path / "links", locals_, ()), store, "a-7", 1
    )
    with pytest.raises(DamagedError, match="Corruption"):
        read(states, broken, ALL)


def test_a_doubted_snapshot_is_put_there_anew_where_it_is_damaged(giver, states, store):
    giver.write(100)
    one = giver.snapshot()
    name = damage(store, one, ".sst", "changed")
    pinned = Pinned("1", giver.folder.path / "links", [
        Local(file.name, giver.folder.path / "checkpoint-1" / file.name[6:], file.size) for file in one.files
    ], ())  # fmt: skip
    with pytest.raises(DamagedError):
        read(states, snapshots.take(giver.folder, pinned, store, "a-7", 1), ALL)
    mended = snapshots.take(giver.folder, pinned, store, "a-7", 1, doubted=True)
    assert mended.uploaded == next(file.size for file in one.files if file.name == name)
    assert read(states, mended, ALL) == giver.rows()
