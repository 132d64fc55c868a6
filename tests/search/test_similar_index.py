"""The index of near-duplicates: the same whatever is killed, merged, taken back or damaged."""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

pytest.importorskip("pyarrow", reason="the extra `documents` is not installed")

from tests.search.similar_world import Remembered, after, documents, edited, held, text_of, write_tables

from gossamer.model.errors import ConfigError, StorageError
from gossamer.search.similar.clusters import clusters_of
from gossamer.search.similar.following import SimilarFollower
from gossamer.search.similar.indexing import THRESHOLD, Document, Indexing
from gossamer.search.similar.shingles import distinct, resemblance
from gossamer.search.similar.state import FOLDER, State
from gossamer.search.similar.store import DamagedError, Store, opened
from gossamer.search.similar.words import words


def _alike(count: int, seed: int) -> list[tuple[str, str]]:
    """URLs and texts: originals, edits of them, the same text again, the same URL again, texts of few words."""
    chance = random.Random(seed)
    made: list[tuple[str, str]] = []
    for number in range(count):
        url = f"http://h/{number}"
        match chance.randrange(8) if made else 0:
            case 0 | 1:
                made.append((url, text_of(seed * 1000 + number, chance.randrange(20, 300))))
            case 2 | 3 | 4:
                made.append(
                    (url, edited(chance.choice(made)[1], chance.choice([0.01, 0.04, 0.07, 0.2]), number))
                )
            case 5:
                made.append((url, chance.choice(made)[1]))
            case 6:
                again = chance.choice(made)
                made.append((again[0], edited(again[1], 0.02, number) if number % 2 else text_of(number)))
            case _:
                made.append((url, chance.choice(["", "not found", "...", "403 forbidden"])))
    return made


def _indexed(folder: Path, some: list[Document], batches: Callable[[], int]) -> dict[str, object]:
    """What an index holds that was made of these documents in such batches."""
    tables, at = Remembered(), 0
    tables.keep(some)
    store = Store(folder, "")
    indexing = Indexing(store, tables)
    while at < len(some):
        part = some[at : at + batches()]
        indexing.add(part, after(part))
        at += len(part)
    store.close()
    return held(store.known)


def test_pairs_and_clusters_are_those_of_the_texts(tmp_path: Path) -> None:
    some = documents(_alike(150, 3))
    _indexed(tmp_path / "s", some, lambda: 16)
    index = opened(tmp_path / "s")
    assert index is not None
    known = index[1]
    sets = [distinct(words(one.text).hashes) for one in some]
    for pair in np.concatenate(known.pairs):
        assert pair["other"] < pair["page"]
        assert resemblance(sets[pair["page"]], sets[pair["other"]]) >= THRESHOLD
    last = {one.url: number for number, one in enumerate(some)}
    clusters = [set(pages.tolist()) for _, pages, _ in clusters_of(known)]
    assert all(last[some[page].url] == page for pages in clusters for page in pages), (
        "older captures are in none"
    )
    missed = [
        (one, other)
        for one in last.values()
        for other in last.values()
        if one < other
        and resemblance(sets[one], sets[other]) >= THRESHOLD
        and not any({one, other} <= pages for pages in clusters)
    ]
    assert missed == []


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_the_index_does_not_depend_on_how_documents_are_batched(seed: int, sizes: list[int]) -> None:
    some = documents(_alike(80, seed))
    batches = iter(sizes * 80)
    with tempfile.TemporaryDirectory() as folder:
        whole = _indexed(Path(folder) / "whole", some, lambda: 80)
        assert _indexed(Path(folder) / "parts", some, lambda: next(batches)) == whole


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6), st.lists(st.tuples(st.integers(0, 5), st.integers(1, 30)), min_size=1, max_size=12)
)
def test_after_kills_and_rewinds_it_is_what_a_new_one_would_be(
    seed: int, steps: list[tuple[int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, tables = Path(folder) / "s", Remembered()
        texts: list[tuple[str, str]] = []
        store = Store(path, "")
        indexing = Indexing(store, tables)
        for number, (kind, size) in enumerate(steps):
            if kind == 0 and texts:  # the archive went back, and has others there now
                texts = texts[: len(texts) - min(size, len(texts))]
                there = documents(texts)
                indexing.rewind(after(there))
            elif kind == 1:  # killed in the middle of a commit
                store.close()
                (path / "part-999999.partial").write_bytes(b"half")
                (path / f"part-{store.state.next:06d}.bin").write_bytes(b"whole, and not in the mark")
                store = Store(path, "")
                assert not store.remade
                indexing = Indexing(store, tables)
            else:
                new = _alike(size, seed + number)
                fresh = documents(new, len(texts))
                texts += new
                tables.keep(fresh)
                indexing.add(fresh, after(fresh))
                indexing.add(fresh, after(fresh))  # what comes again is not twice
        store.close()
        assert held(store.known) == _indexed(Path(folder) / "anew", documents(texts), lambda: 1000)
        assert {one.name for one in path.glob("*.bin")} == {
            f"part-{one.number:06d}.bin" for one in store.state.parts
        }


def test_a_follower_takes_in_what_the_tables_tell_and_no_more_the_next_time(tmp_path: Path) -> None:
    some = documents(_alike(130, 5))
    write_tables(tmp_path / "c", some[:70])
    for end in (70, 130):
        write_tables(tmp_path / "c", some[:end], begin=min(70, end))
        follower = SimilarFollower(tmp_path / "c")
        with pytest.raises(ConfigError, match="another process"):
            SimilarFollower(tmp_path / "c")
        follower.catch_up(lambda: False)
        assert follower.pages == end
        before = (tmp_path / "c" / FOLDER / "mark.json").read_bytes()
        follower.catch_up(lambda: False)
        assert (tmp_path / "c" / FOLDER / "mark.json").read_bytes() == before
        follower.close()
    index = opened(tmp_path / "c" / FOLDER)
    assert index is not None
    assert held(index[1]) == _indexed(tmp_path / "anew", some, lambda: 1000)


_KILLED = """
import os, signal, sys
from pathlib import Path
from gossamer.search.similar import following
following.ROWS = 16
left, sync = int(sys.argv[2]), os.fsync
def fsync(descriptor):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    sync(descriptor)
os.fsync = fsync
follower = following.SimilarFollower(Path(sys.argv[1]))
follower.catch_up(lambda: False)
"""


@pytest.mark.slow
def test_killed_again_and_again_it_goes_on(tmp_path: Path) -> None:
    some = documents(_alike(120, 9))
    write_tables(tmp_path / "c", some)
    ends = []
    for left in (0, 1, 2, 3, 5, 8, 13, 21, 1000):
        ran = subprocess.run(
            [sys.executable, "-c", _KILLED, str(tmp_path / "c"), str(left)], timeout=PATIENCE, check=False
        )
        ends.append(ran.returncode)
    assert ends[:4] == [-signal.SIGKILL] * 4
    assert ends[-1] == 0
    index = opened(tmp_path / "c" / FOLDER)
    assert index is not None
    assert held(index[1]) == _indexed(tmp_path / "anew", some, lambda: 1000)


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [
        _flipped,
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.unlink(),
        lambda path: (path.parent / "mark.json").write_text("{"),
        lambda path: (path.parent / "mark.json").write_text(
            (path.parent / "mark.json").read_text().replace('"version":1', '"version":0')
        ),
    ],
    ids=["flipped", "cut", "gone", "mark", "version"],
)
def test_what_is_damaged_is_noticed_and_made_anew(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    some = documents(_alike(60, 11))
    write_tables(tmp_path / "c", some)
    follower = SimilarFollower(tmp_path / "c")
    follower.catch_up(lambda: False)
    follower.close()
    folder = tmp_path / "c" / FOLDER
    index = opened(folder)
    assert index is not None
    before = held(index[1])
    damage(next(folder.glob("*.bin")))
    told: list[str] = []
    follower = SimilarFollower(tmp_path / "c", told.append)
    assert str(folder) in told[0]
    follower.catch_up(lambda: False)
    follower.close()
    index = opened(folder)
    assert index is not None
    assert held(index[1]) == before


def test_who_reads_a_cut_part_is_told_so(tmp_path: Path) -> None:
    _indexed(tmp_path / "s", documents(_alike(20, 2)), lambda: 20)
    next((tmp_path / "s").glob("*.bin")).write_bytes(b"")
    with pytest.raises(DamagedError, match="not as long"):
        opened(tmp_path / "s")
    assert opened(tmp_path / "nothing") is None


def _marked(folder: Path) -> tuple[State, dict[str, object]]:
    index = opened(folder)
    assert index is not None
    return index[0], held(index[1])


def test_texts_read_by_other_settings_make_another_index(tmp_path: Path) -> None:
    write_tables(tmp_path / "c", documents(_alike(20, 2)))
    told: list[str] = []
    follower = SimilarFollower(tmp_path / "c", told.append)
    follower.catch_up(lambda: False)
    mark = tmp_path / "c" / "documents" / "mark.json"
    mark.write_text(json.dumps({**json.loads(mark.read_text()), "made_of": "others"}))
    assert told == []
    folder = tmp_path / "c" / FOLDER
    before = _marked(folder)
    follower.catch_up(lambda: True)  # until it is whole, what was there can be asked
    assert "the tables of documents are others now" in told[0]
    assert (follower.pages, _marked(folder)) == (0, before)
    follower.close()
    follower = SimilarFollower(tmp_path / "c", told.append)
    assert (follower.pages, _marked(folder)) == (0, before)
    follower.catch_up(lambda: False)
    assert (follower.pages, len(told)) == (20, 1)
    assert _marked(folder) != before
    follower.close()
    assert sorted(path.suffix for path in folder.iterdir()) == [".bin", ".json"]


def test_a_full_disk_is_told_and_costs_nothing_that_was_committed(tmp_path: Path) -> None:
    some = documents(_alike(60, 4))
    tables = Remembered()
    tables.keep(some)
    store = Store(tmp_path / "s", "")
    indexing = Indexing(store, tables)
    indexing.add(some[:20], after(some[:20]))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(StorageError, match="Free some space"):
            indexing.add(some[20:], after(some[20:]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert store.state.pages == 20
    indexing.add(some[20:], after(some[20:]))
    store.close()
    assert held(store.known) == _indexed(tmp_path / "anew", some, lambda: 1000)


@pytest.mark.slow
def test_very_many_equal_pages_are_one_cluster_and_cost_no_more_each(tmp_path: Path) -> None:
    text = text_of(1, 60)
    some = documents([(f"http://h/{number}", text) for number in range(3_000)])
    tables = Remembered()  # empty: equal texts need not be read again
    store = Store(tmp_path / "s", "")
    indexing = Indexing(store, tables)
    for at in range(0, len(some), 512):
        indexing.add(some[at : at + 512], after(some[at : at + 512]))
    store.close()
    clusters = clusters_of(store.known)
    assert (clusters.count, len(clusters.pages)) == (1, 3_000)
    assert len(np.concatenate(store.known.pairs)) <= 4 * 3_000
    assert len(np.concatenate(store.known.bands)) < 12 * 10 * 3_000 / 10, "of each key the first pages only"


def test_a_new_capture_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    text = text_of(7)
    texts = [("http://h/a", text), ("http://h/b", edited(text, 0.01, 1)), ("http://h/a", text_of(8))]
    tables, some = Remembered(), documents(texts)
    tables.keep(some)
    store = Store(tmp_path / "s", "")
    indexing = Indexing(store, tables)
    indexing.add(some[:2], after(some[:2]))
    assert clusters_of(store.known).count == 1
    indexing.add(some[2:], after(some[2:]))
    assert clusters_of(store.known).count == 0
    again = documents([("http://h/a", edited(text, 0.02, 3))], 3)
    indexing.add(again, after(again))
    store.close()
    assert [pages.tolist() for _, pages, _ in clusters_of(store.known)] == [[1, 3]]


def test_nothing_is_written_where_others_may_look(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        Store(tmp_path / "s", "").close()
    finally:
        os.umask(old)
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0
    shutil.rmtree(tmp_path / "s")
