"""The object store: whole objects or none, patience, and one clear error."""

import os
import time
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="fsspec is not installed (extra `store`)")

import fsspec
from cluster_world import HASTY, ONCE, Flaky, fail_from, flaky_store, memory_store
from fsspec.implementations.memory import MemoryFileSystem

from gossamer.model.errors import ConfigError, StorageError
from gossamer.state import object_store as store_module
from gossamer.state.object_store import MissingError, Patience, Store


class Renaming(MemoryFileSystem):
    """As a file server: what is written shows at once, but it can rename, though not over another name."""

    protocol = ("renaming",)
    store: dict = {}
    pseudo_dirs = [""]
    seen: list[tuple[str, str]] = []

    def mv(self, path1, path2, **kwargs):
        if self.exists(path2):
            raise FileExistsError(path2)
        Renaming.seen.append((path1.rsplit("/", 1)[-1], path2.rsplit("/", 1)[-1]))
        super().mv(path1, path2, **kwargs)


fsspec.register_implementation("renaming", Renaming, clobber=True)


@pytest.fixture(params=["folder", "memory", "renaming"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return Store(str(tmp_path / "store"), HASTY)
    return memory_store() if request.param == "memory" else Store(f"renaming://{tmp_path}", HASTY)


def test_objects_come_back_as_they_were_put(store, tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "CHUNK", 1_000)
    monkeypatch.setattr(store_module, "SLICE", 700)
    assert store.get("a/b") is None
    assert store.names("a") == []
    store.delete("a/b")
    store.put("a/b", b"one")
    store.put("a/b", b"two")
    assert store.get("a/b") == b"two"
    content = os.urandom(3_500)
    (tmp_path / "file").write_bytes(content)
    for start, length in ((0, 3_500), (500, 3_000), (1_000, 1_000), (3_500, 0)):
        store.put_file(f"a/c-{start}-{length}", tmp_path / "file", start, length)
        assert store.get(f"a/c-{start}-{length}") == content[start : start + length]
        assert b"".join(store.read(f"a/c-{start}-{length}", length)) == content[start : start + length]
    assert b"".join(store.read("a/c-0-3500", 9_000)) == content, "it ends where the object does"
    assert store.names("a") == ["b", "c-0-3500", "c-1000-1000", "c-3500-0", "c-500-3000"]
    assert store.names("") == ["a"]
    store.delete("a/b")
    assert store.get("a/b") is None
    for size in (0, 5):
        with pytest.raises(MissingError):
            list(store.read("a/b", size))


def test_a_file_that_is_too_short_is_no_object(store, tmp_path):
    (tmp_path / "file").write_bytes(b"short")
    with pytest.raises(StorageError, match="ends before what was committed"):
        store.put_file("a/x", tmp_path / "file", 0, 10)
    assert store.names("a") == []
    with pytest.raises(StorageError, match="cannot be read"):
        store.put_file("a/x", tmp_path / "nothing", 0, 10)


def test_where_names_change_objects_get_theirs_when_they_are_whole():
    store = Store("renaming://somewhere", ONCE)
    Renaming.seen.clear()
    store.put("a/b", b"1")
    store.put("a/b", b"2")
    assert [(old[:12], new) for old, new in Renaming.seen] == [(".unfinished-", "b")] * 2
    assert store.get("a/b") == b"2"
    assert store.names("a") == ["b"]


def test_what_was_left_unfinished_is_swept_up(tmp_path):
    store = Store(f"file://{tmp_path}/store", ONCE)
    store.put("a/b", b"1")
    old, new = (tmp_path / "store/a" / f".unfinished-{name}" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000, time.time() - 90_000))
    assert store.names("a") == ["b"]
    store.sweep("a")
    assert [path.name for path in sorted((tmp_path / "store/a").iterdir())] == [".unfinished-new", "b"]


def test_a_folder_that_refuses(tmp_path):
    (tmp_path / "store").write_text("a file")
    store = Store(str(tmp_path / "store"), HASTY)
    with pytest.raises(StorageError, match=r"a/b cannot be written \(Not a directory\), after 2 attempts"):
        store.put("a/b", b"1")


def test_it_asks_again_as_often_as_it_should(monkeypatch):
    rests: list[float] = []
    monkeypatch.setattr(store_module.time, "sleep", rests.append)
    monkeypatch.setattr(store_module.random, "uniform", lambda _, high: high)
    store = flaky_store(Patience(tries=5, first=1.0, longest=3.0))
    fail_from(1, 4)
    store.put("a/b", b"1")
    assert rests == [1.0, 2.0, 3.0, 3.0]
    fail_from(1, 5)
    with pytest.raises(StorageError, match=r"cannot be read \(the store is on fire\), after 5 attempts"):
        store.get("a/b")
    assert store.get("a/b") == b"1"
    calls = Flaky.calls
    assert store.get("a/c") is None
    assert Flaky.calls == calls + 1, "that there is none is an answer"


def test_addresses():
    with pytest.raises(ConfigError, match="Name a folder, or install fsspec's package"):
        Store("nonsense://somewhere")
    assert "secret" not in Store("memory://user:secret@host/path").address


def test_killed_while_it_is_written_an_object_is_as_before(tmp_path, monkeypatch):
    store = Store(str(tmp_path / "store"), ONCE)
    store.put("a/b", b"old")

    def killed(*_: object) -> None:
        raise OSError(5, "killed here")

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(StorageError, match="killed here"):
        store.put("a/b", b"new")
    assert store.get("a/b") == b"old"
    assert [path.name for path in (tmp_path / "store/a").iterdir()] == ["b"]
