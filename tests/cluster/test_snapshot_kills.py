"""Processes that take, prune and fetch snapshots die by `kill -9`: what is in the store stays whole."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_world import ONCE, checkpoint_of, crawl, done, page, problems_but_index
from small_site import small_site

from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.snapshots.manifest import manifest_key
from gossamer.cluster.snapshots.snapshots import fetch, ids, latest, prune, read, take, verify
from gossamer.state.object_store import Store

WORK = """
import sys
from pathlib import Path
from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.snapshots import snapshots
from gossamer.state.object_store import Store

what, path, address = sys.argv[1:]
folder, store = CrawlFolder(Path(path)), Store(address)
if what == "take":
    names = [entry.name for entry in folder.checkpoints.iterdir()]
    snapshots.take(folder, max(names), store, "a-1", 1)
elif what == "prune":
    snapshots.prune(store, "a-1", 1)
else:
    snapshots.fetch(store, snapshots.latest(store, "a-1"), Path(path + "-restored"))
"""


def died(what: str, folder: Path, store: Path, die_at: str) -> bool:
    """Do `what` in a process; whether it was killed on the way."""
    process = subprocess.run(
        [sys.executable, "-c", WORK, what, str(folder), str(store)],
        env={**os.environ, "GOSSAMER_DIE_AT": die_at},
        check=False,
    )
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode != 0


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crawls") / "crawl"
    with small_site(page) as site:
        crawl(path, site, budget__max_pages=25)
    return path


@pytest.mark.slow
def test_killed_by_the_system(crawled, tmp_path):
    path, place = tmp_path / "crawl", tmp_path / "store"
    shutil.copytree(crawled, path)
    folder, store = CrawlFolder(path), Store(str(place), ONCE)
    for point in ("snapshot.pinned", "snapshot.uploading:4", "snapshot.uploaded"):
        assert died("take", path, place, point)
        assert latest(store, "a-1") is None
    assert died("take", path, place, "snapshot.listed")
    (first,) = ids(store, "a-1")
    assert verify(store, read(store, "a-1", first)) == []
    take(folder, checkpoint_of(folder), store, "a-1", 1)
    # An older one with an object of its own, so that there is something to prune.
    (place / "snapshots/a-1/objects/stray").write_bytes(b"left by somebody")
    assert died("prune", path, place, "snapshot.pruning")
    assert verify(store, read(store, "a-1", 2)) == []
    assert prune(store, "a-1", 1) == 1
    assert store.get(manifest_key("a-1", 1)) is None
    assert died("fetch", path, place, "snapshot.fetching:5")
    target = path.with_name("crawl-restored")
    assert not target.exists()
    fetch(store, read(store, "a-1", 2), target)
    assert problems_but_index(target) == []
    assert done(target) == done(path)
