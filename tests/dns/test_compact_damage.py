"""The compact cache's file, shared and hurt: other processes, killed writers, damage of every kind."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest
from benchmarks.name_caches import NOW, TTL, address_of, name_of

from benchmarks import name_sharing
from gossamer.dns.compact.cache import CompactCache
from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.compact.folder import CacheFolder
from gossamer.model.name import Answer

ROOT = Path(__file__).parents[2]
SMALL = CompactConfig(max_bytes=1 << 20)
NAMES = 500


def put(cache: CompactCache, first: int = 0, names: int = NAMES) -> None:
    for number in range(first, first + names):
        cache.put(Answer(name_of(number), (address_of(number),), TTL, asked=NOW), NOW)


def found(cache: CompactCache, first: int = 0, names: int = NAMES) -> int:
    """How many are known; asserts that none is wrong."""
    answers = [cache.get(name_of(number), NOW) for number in range(first, first + names)]
    for number, answer in enumerate(answers, first):
        assert answer is None or answer.addresses == (address_of(number),)
    return sum(answer is not None for answer in answers)


def killed_while_open(folder: Path, names: int = NAMES) -> None:
    """Leave a folder behind as a process that put so many names and was killed."""
    command = [sys.executable, "-m", "benchmarks.name_sharing", "put", str(folder), str(names)]
    done = subprocess.run(command, cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL


# Processes …


def test_what_a_killed_process_put_is_there(tmp_path):
    folder = tmp_path / "names"
    killed_while_open(folder)
    cache = CompactCache(folder, SMALL)
    assert found(cache) == NAMES
    assert cache.problems == []
    cache.close()


def test_names_put_by_one_process_are_known_to_another_at_work(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache, NAMES)
    killed_while_open(folder)
    assert found(cache, 0, 2 * NAMES) == 2 * NAMES
    put(cache, 2 * NAMES)
    assert found(cache, 0, 3 * NAMES) == 3 * NAMES
    assert cache.problems == []
    cache.close()


@pytest.mark.slow
def test_workers_killed_at_random_moments_give_no_wrong_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    tally = name_sharing.kill_and_go_on(tmp_path / "names", 6)
    assert tally.kills == 6
    assert tally.asked > 0
    assert (tally.wrong, tally.crashes, tally.hangs, tally.problems) == (0, 0, 0, 0)


@pytest.mark.slow
def test_fifty_workers_killed_at_random_moments_give_no_wrong_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    tally = name_sharing.kill_and_go_on(tmp_path / "names", 50, seed=2)
    assert tally.asked > 10_000
    assert (tally.wrong, tally.crashes, tally.hangs, tally.problems) == (0, 0, 0, 0)


def test_readers_that_were_killed_leave_no_slots(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    code = (
        "import os, sys, lmdb; env = lmdb.open(sys.argv[1], subdir=False, map_size=1 << 20, max_readers=510);"
        "held = [env.begin() for _ in range(100)]; os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(folder / "names.mdb")], check=False)
    put(cache, 0, 4_200)  # the file's pages are looked after every 4,096
    store = cache._store
    assert store._env.info()["num_readers"] <= 101
    assert store._env.readers().count("\n") <= 2
    assert found(cache, 4_000, 200) == 200
    cache.close()


def test_an_old_reader_makes_the_cache_forget_and_not_raise(tmp_path):
    """Pages that a stuck reader still sees fill the file; what cannot be kept there is kept in memory."""
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    with cache._store._env.begin():
        put(cache, NAMES, 5_000)
        assert found(cache, NAMES + 4_900, 100) == 100
    put(cache, 6_000, 5_000)
    assert found(cache, 10_900, 100) == 100
    assert cache.problems == []
    assert (folder / "names.mdb").stat().st_size <= SMALL.max_bytes
    cache.close()


def test_a_process_with_a_lower_limit_goes_along_with_a_larger_file(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    killed_while_open(folder, 20_000)  # with the default limit
    assert found(cache, 19_000, 1_000) == 1_000
    put(cache, 20_000, 10)
    # Above its own limit it makes room at random for what it puts, so one of these may have had to go.
    assert found(cache, 20_000, 10) >= 7
    assert cache.problems == []
    cache.close()


# Damage …


def in_every_page(data: bytes, at: int, garbage: int) -> bytes:
    """The file with garbage in the same place of every page but the first two, which say what is where."""
    dice = random.Random(at)
    pages = [bytearray(data[start : start + PAGE]) for start in range(0, len(data), PAGE)]
    for page in pages[2:]:
        page[at : at + garbage] = dice.randbytes(garbage)
    return b"".join(pages)


PAGE = 4_096
DAMAGE = {
    "empty": lambda data: b"",
    "zeroes": lambda data: b"\0" * len(data),
    "garbage": lambda data: random.Random(3).randbytes(len(data)),
    "text": lambda data: b"not a database at all\n" * 1_000,
    "hundred bytes": lambda data: data[:100],
    "one page": lambda data: data[:PAGE],
    "half": lambda data: data[: len(data) // 2],
    "heads": lambda data: in_every_page(data, 0, 16),
    "pointers": lambda data: in_every_page(data, 16, 30),
    "nodes": lambda data: in_every_page(data, 3_000, 1_000),
    "pages": lambda data: in_every_page(data, 0, PAGE),
    "meta": lambda data: data[:16] + random.Random(4).randbytes(200) + data[216:],
}
"""Ways to hurt a file so that no reader may trust it."""


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("sealed", [True, False])
def test_a_damaged_file_is_started_anew_with_one_line(tmp_path, kind, sealed):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    seal = (folder / "seal.json").read_bytes()
    cache.close()
    data = folder / "names.mdb"
    data.write_bytes(DAMAGE[kind](data.read_bytes()))
    if not sealed:
        (folder / "seal.json").write_bytes(seal)
    cache = CompactCache(folder, SMALL)
    [problem] = cache.problems
    assert "started anew" in problem
    assert "\n" not in problem
    assert found(cache) == 0
    put(cache)
    assert found(cache) == NAMES
    cache.close()
    cache = CompactCache(folder, SMALL)
    assert (found(cache), cache.problems) == (NAMES, [])
    cache.close()


@pytest.mark.parametrize("seed", range(30))
def test_garbage_anywhere_is_found_or_harmless(tmp_path, seed):
    """A page that is free may hold anything; any other makes the file start anew."""
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    seal = (folder / "seal.json").read_bytes()
    cache.close()
    dice = random.Random(seed)
    data = bytearray((folder / "names.mdb").read_bytes())
    size = dice.choice((1, 2, 8, 100, 5_000))
    at = dice.randrange(len(data) - size)
    data[at : at + size] = dice.randbytes(size)
    (folder / "names.mdb").write_bytes(data[: dice.choice((len(data), at + size))])
    (folder / "seal.json").write_bytes(seal)
    cache = CompactCache(folder, SMALL)
    known = found(cache)
    put(cache)
    assert found(cache) == NAMES
    assert len(cache.problems) <= 1
    assert known == 0 if cache.problems else known > 0
    cache.close()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"boot": 1}'])
def test_a_damaged_seal_is_no_seal(tmp_path, content):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    cache.close()
    (folder / "seal.json").write_bytes(content)
    cache = CompactCache(folder, SMALL)
    assert len(cache.problems) == 1
    assert found(cache) == 0
    cache.close()


def test_a_lock_file_full_of_garbage_does_no_harm(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    cache.close()
    (folder / "names.mdb-lock").write_bytes(os.urandom(8_192))
    cache = CompactCache(folder, SMALL)
    assert found(cache) == NAMES
    cache.close()


def test_an_error_of_the_file_at_work_is_told_and_answers_go_on_in_memory(tmp_path, monkeypatch):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)

    class Broken:
        def begin(self, **_):
            raise lmdb.CorruptedError("mdb_get", -30796)

        def close(self):
            pass

    store = cache._store
    environment = store._env
    store._env = Broken()
    assert found(cache) == 0
    [problem] = cache.problems
    assert "the name cache is not used" in problem
    put(cache)
    assert found(cache) == NAMES
    assert cache.census().entries == NAMES
    store._env = environment
    cache.close()


def test_one_who_finds_the_gate_shut_goes_without(tmp_path, monkeypatch):
    folder = tmp_path / "names"
    monkeypatch.setattr("gossamer.dns.compact.folder.GATE_SECONDS", 0.02)
    with CacheFolder(folder).gate():
        cache = CompactCache(folder, SMALL)
    assert "does not get on" in cache.problems[0]
    put(cache, 0, 1)
    assert found(cache, 0, 1) == 1
    cache.close()


def test_an_unfinished_close_leaves_a_file_that_is_read_through(tmp_path, monkeypatch):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    put(cache)
    monkeypatch.setattr("gossamer.dns.compact.folder.GATE_SECONDS", 0.02)
    with CacheFolder(folder).gate():
        cache.close()
    cache = CompactCache(folder, SMALL)
    assert (found(cache), cache.problems) == (NAMES, [])
    cache.close()
