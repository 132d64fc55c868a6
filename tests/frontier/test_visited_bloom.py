"""The visited table as a Bloom filter: the table of K9, crashes, capacity, and going over from exact."""

import math
import operator
import random
import struct
import zlib

import pytest
from frontier_world import FrontierWorld
from hypothesis import given, settings
from hypothesis import strategies as st
from rbloom import Bloom

from gossamer.frontier.seen import bloom as seen_bloom
from gossamer.frontier.seen.bloom import BloomTable
from gossamer.frontier.seen.bloom_size import bits_needed, bloom_filter, expected_rate, false_positive_rate
from gossamer.model.errors import ConfigError
from gossamer.state.environment import Family

K9 = {1: 0.632, 2: 0.400, 4: 0.147, 8: 0.0216, 16: 4.66e-4, 32: 2.12e-7}
"""Bits per URL -> rate of false positives."""
URLS = 40_000
PROBES = 200_000


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch):
    """Filters are kept beside the state."""
    monkeypatch.setattr(FrontierWorld, "home", None)


def best_hashes(bits_per_url):
    """Bits * ln 2, upwards as in the table: the number of hashes that makes false positives fewest."""
    return max(1, math.ceil(bits_per_url * math.log(2)))


@pytest.mark.parametrize("bits", K9)
def test_the_table_of_k9_follows_from_the_formula(bits):
    assert float(f"{false_positive_rate(bits, best_hashes(bits)):.3g}") == K9[bits]


@pytest.mark.parametrize("bits", K9)
def test_the_table_of_k9_is_what_a_filter_does(bits):
    dice = random.Random(bits)
    table = bloom_filter(bits * URLS, best_hashes(bits))
    table.update([dice.getrandbits(64) for _ in range(URLS)])
    positives = sum(dice.getrandbits(64) in table for _ in range(PROBES))
    expected = K9[bits] * PROBES
    # Five standard deviations of the probes, and the filter's own chance.
    assert abs(positives - expected) <= 5 * math.sqrt(expected) + 0.01 * expected + 1


def test_fifty_million_urls_fit_into_200_mb():
    bits, hashes = bits_needed(50_000_000, K9[32])
    assert bits / 8 <= 200e6 * 1.0001
    assert hashes == 23


@given(urls=st.integers(1_000, 100_000), error=st.floats(1e-12, 0.5))
def test_the_sizes_keep_the_error_and_rbloom_keeps_the_sizes(urls, error):
    bits, hashes = bits_needed(urls, error)
    assert false_positive_rate(bits / urls, hashes) <= error * 1.000001
    made = bloom_filter(bits, hashes)
    assert isinstance(made, Bloom)
    assert struct.unpack_from("<Q", made.save_bytes())[0] == hashes
    assert abs(made.size_in_bits - bits) <= bits * 0.002 + 64


def bloom_world(path, **settings):
    return FrontierWorld(path / "state", visited="bloom", **settings)


@pytest.mark.parametrize("kill_in", ["block", "commit"])
def test_what_a_crash_forgets_of_the_queue_the_table_forgets(tmp_path, monkeypatch, kill_in):
    world = bloom_world(tmp_path)
    assert world.admit("http://a/kept")

    def killed(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), world.frontier.changes() as batch:
        assert world.admit("http://a/lost")
        assert not world.admit("http://a/lost"), "known within its own batch"
        if kill_in == "block":
            raise KeyboardInterrupt
        monkeypatch.setattr(world.environment, "commit", killed)
        assert batch
    world.reopen()
    assert not world.admit("http://a/kept")
    assert world.admit("http://a/lost")
    assert world.counters.queued == 2
    world.close()


def test_one_commit_puts_one_record_of_eight_bytes_for_each_url(tmp_path):
    world = bloom_world(tmp_path)
    with world.frontier.changes():
        for number in range(100):
            world.admit(f"http://a/{number}")
    with world.frontier.changes():
        world.admit("http://a/0")
        world.admit("http://a/0", forced=True)
    assert [len(value) for _, value in world.environment.scan(Family.SEEN)] == [800]
    world.close()


def test_probes_measure_the_rate_and_a_restart_keeps_them(tmp_path):
    world = bloom_world(tmp_path, bloom_urls=3_000, bloom_error=0.1)
    while world.counters.admitted < 3_000 * 0.9:
        with world.frontier.changes():
            start = world.frontier.seen.figures().urls
            for number in range(300):
                world.admit(f"http://a/{start}/{number}")
    before = world.frontier.seen.figures()
    assert before.urls == world.counters.admitted
    assert before.probes == before.urls // 4
    # The filter fills on the way, so that less than the stated rate is lost in the end.
    assert 0 < before.false_positives / before.probes < before.stated
    assert 0.04 < expected_rate(before) < before.stated
    world.reopen()
    after = world.frontier.seen.figures()
    assert (after.urls, after.probes, after.false_positives) == (
        before.urls,
        before.probes,
        before.false_positives,
    )
    assert not world.warnings
    world.close()


def test_beyond_capacity_it_warns_once_and_goes_on(tmp_path):
    world = bloom_world(tmp_path, bloom_urls=1_000, bloom_error=0.01)
    for hundred in range(14):
        with world.frontier.changes():
            admitted = sum(world.admit(f"http://a/{hundred}/{number}") for number in range(100))
        assert admitted > 80
        # In the batch that goes past it, whenever false positives let that be.
        assert bool(world.warnings) == (world.frontier.seen.figures().urls > 1_000)
    [warning] = world.warnings
    assert "1,000 URLs" in warning and "frontier.bloom_urls" in warning
    assert expected_rate(world.frontier.seen.figures()) > 0.01
    world.close()
    # A larger one is made anew of the same log.
    world = bloom_world(tmp_path, bloom_urls=100_000, bloom_error=1e-9)
    figures = world.frontier.seen.figures()
    assert figures.urls == world.counters.admitted
    assert expected_rate(figures) < 1e-9
    assert not any(world.admit(f"http://a/0/{number}") for number in range(50) if number < 1)
    world.close()


def test_exact_can_go_on_as_bloom_and_not_back(tmp_path):
    world = FrontierWorld(tmp_path / "state")
    world.admit("http://a/1")
    world.close()
    world = bloom_world(tmp_path)
    assert not world.admit("http://a/1")
    assert world.admit("http://a/2")
    world.close()
    with pytest.raises(ConfigError, match="cannot become 'exact' again"):
        FrontierWorld(tmp_path / "state")
    world = bloom_world(tmp_path)
    assert not world.admit("http://a/1")
    assert not world.admit("http://a/2")
    world.close()


def test_the_log_knows_what_was_admitted(tmp_path):
    world = bloom_world(tmp_path)
    world.admit("http://a/1")
    table = BloomTable(world.environment, 1_000, 0.5, world.warnings.append)
    host = world.frontier.host_hash("a")
    known, other = (world.frontier.fingerprint(host, url) for url in ("http://a/1", "http://a/2"))
    assert known in table
    assert table.admitted(known)
    assert not table.admitted(other)
    assert operator.index(table.figures().urls) == 1
    world.close()


@pytest.fixture(autouse=True)
def _always_save(monkeypatch):
    monkeypatch.setattr(seen_bloom, "WORTH_SAVING", 0)


def test_a_filter_that_is_made_anew_in_no_time_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(seen_bloom, "WORTH_SAVING", 31)
    world = filled(tmp_path, 3)
    world.frontier.seen.save()
    assert not list(tmp_path.glob("*.bloom"))
    world.admit("http://b/")
    world.frontier.seen.save()
    assert list(tmp_path.glob("*.bloom"))
    world.close()


def logged_scans(world, monkeypatch):
    """Keys of the log that are read from now on."""
    read = []
    scan = world.environment.scan

    def noting(family, *bounds):
        for key, value in scan(family, *bounds):
            if family is Family.SEEN:
                read.append(key)
            yield key, value

    monkeypatch.setattr(world.environment, "scan", noting)
    return read


def opened(world):
    return BloomTable(world.environment, world.config.bloom_urls, world.config.bloom_error, lambda _: None)


def filled(tmp_path, commits, **settings):
    world = bloom_world(tmp_path, **settings)
    for commit in range(commits):
        with world.frontier.changes():
            for number in range(10):
                world.admit(f"http://a/{commit}/{number}")
    return world


def same_tables(one, other):
    return one._filter == other._filter and one.figures() == other.figures() and one._last == other._last


@pytest.mark.parametrize("later", [0, 3])
def test_a_start_reads_of_the_log_what_came_after_the_saved_filter(tmp_path, monkeypatch, later):
    world = filled(tmp_path, 20)
    world.frontier.seen.save()
    for commit in range(later):
        world.admit(f"http://b/{commit}")
    read = logged_scans(world, monkeypatch)
    assert same_tables(opened(world), world.frontier.seen)
    assert len(read) == later
    [file] = tmp_path.glob("*.bloom")
    assert file.stem.endswith(f"-{zlib.crc32(file.read_bytes()):x}"), "other versions read it too"
    world.close()


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(["admit", "save", "reopen"]), max_size=12))
@pytest.mark.slow
def test_a_saved_filter_changes_nothing(tmp_path_factory, steps):
    tmp_path = tmp_path_factory.mktemp("bloom")
    world = FrontierWorld(tmp_path / "state")
    world.admit("http://a/exact")
    world.close()
    world = bloom_world(tmp_path)
    for number, step in enumerate(steps):
        if step == "admit":
            world.admit(f"http://a/{number}")
        elif step == "save":
            world.frontier.seen.save()
        elif step == "reopen":
            world.reopen()
    saved = opened(world)
    for file in tmp_path.glob("*.bloom"):
        file.unlink()
    anew = opened(world)
    assert saved._filter == anew._filter
    assert saved.figures() == anew.figures()
    assert not world.admit("http://a/exact")
    world.close()


def test_a_filter_that_knows_more_than_the_disk_is_made_anew(tmp_path, monkeypatch):
    world = filled(tmp_path, 3)
    world.environment.checkpoint(tmp_path / "checkpoint")
    with world.frontier.changes():
        world.admit("http://a/lost")
    world.frontier.seen.save()
    world.close()
    world.path = tmp_path / "checkpoint"
    world.open()
    assert world.admit("http://a/lost"), "as after a power failure that took the last commit"
    world.frontier.seen.save()
    world.close()
    # As many URLs with the same arrival numbers, but others: back to a checkpoint, and on otherwise.
    world.path = tmp_path / "state"
    other = FrontierWorld(tmp_path / "other" / "state", visited="bloom")
    for commit in range(3):
        with other.frontier.changes():
            for number in range(10):
                other.admit(f"http://a/{commit}/{number}")
    other.admit("http://a/otherwise")
    for file in tmp_path.glob("*.bloom"):
        file.rename(tmp_path / "other" / file.name)
    other.reopen()
    assert other.admit("http://a/lost")
    other.close()


@pytest.mark.parametrize("damage", ["cut", "empty", "other sizes", "nonsense name"])
def test_a_file_that_is_of_no_use_is_passed_over(tmp_path, damage):
    world = filled(tmp_path, 5)
    world.frontier.seen.save()
    [file] = tmp_path.glob("*.bloom")
    sizes = {}
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:100])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "other sizes":
        sizes = {"bloom_urls": 5_000}
    else:
        file.rename(tmp_path / "visited-x-1.bloom")
    world.close()
    world = bloom_world(tmp_path, **sizes)
    assert world.frontier.seen.figures().urls == 50
    assert not world.admit("http://a/4/9")
    assert world.admit("http://a/new")
    world.frontier.seen.save()
    [file] = tmp_path.glob("*.bloom")
    world.close()


def test_a_disk_that_refuses_the_filter_keeps_the_one_before(tmp_path, monkeypatch):
    world = filled(tmp_path, 2)
    world.frontier.seen.save()
    [before] = tmp_path.glob("*.bloom")
    world.admit("http://a/new")

    def refuse(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    world.frontier.seen.save()
    assert list(tmp_path.glob("visited-*")) == [before]
    world.reopen()
    assert not world.admit("http://a/new")
    world.close()
