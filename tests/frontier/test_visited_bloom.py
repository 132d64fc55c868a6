"""The visited table as a Bloom filter: the table of K9, crashes, capacity, and going over from exact."""

import math
import operator
import random
import struct

import pytest
from frontier_world import FrontierWorld
from hypothesis import given
from hypothesis import strategies as st
from rbloom import Bloom

from gossamer.frontier.bloom_size import best_hashes, bits_needed, false_positive_rate
from gossamer.frontier.seen_bloom import BloomTable, bloom_filter, expected_rate
from gossamer.model.errors import ConfigError
from gossamer.state.environment import Family

K9 = {1: 0.632, 2: 0.400, 4: 0.147, 8: 0.0216, 16: 4.66e-4, 32: 2.12e-7}
"""Bits per URL -> rate of false positives."""
URLS = 40_000
PROBES = 200_000


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
    host = world.frontier._host_hash("a")
    known, other = (world.frontier.fingerprint(host, url) for url in ("http://a/1", "http://a/2"))
    assert known in table
    assert table.admitted(known)
    assert not table.admitted(other)
    assert operator.index(table.figures().urls) == 1
    world.close()
