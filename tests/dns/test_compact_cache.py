"""The compact cache: never another name's address, its expiry, its limit, its folder, its prefixes."""

import os
import tempfile
from pathlib import Path

import pytest
from benchmarks.collisions import crafted
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.dns.compact.cache import DEFERRED, CompactCache
from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.compact.key import Keys
from gossamer.dns.compact.table import make_table
from gossamer.model.errors import ConfigError
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

NOW = 1_800_000_000.0
SMALL = CompactConfig(max_bytes=1 << 20, negative_names=1_000, failures=100)


def answer(name: str, address: str = "192.0.2.1", ttl: float = 600.0) -> Answer:
    return Answer(name, (address,), ttl, asked=NOW)


def missing(name: str, detail: str = "NXDOMAIN") -> Answer:
    return Answer(name, (), 300.0, Fault.NAME_NOT_FOUND, detail, asked=NOW)


@pytest.fixture
def cache(tmp_path):
    made = CompactCache(tmp_path / "names", SMALL)
    yield made
    made.close()


def reopened(cache: CompactCache, folder: Path) -> CompactCache:
    cache.close()
    return CompactCache(folder, SMALL)


# Answers …


def test_an_answer_comes_back_whole(cache):
    given_ = Answer("www.example.co.uk", ("192.0.2.1", "2001:db8::1", "192.0.2.2"), 600.0, asked=NOW)
    cache.put(given_, NOW)
    assert cache.get("www.example.co.uk", NOW + 1) == given_
    assert cache.get("example.co.uk", NOW + 1) is None
    assert cache.problems == []


@pytest.mark.parametrize("ttl", [0.5, 1.0, 59.0, 60.0, 61.0, 90.5, 86_400.0])
def test_an_answer_lives_no_longer_than_told(cache, ttl):
    cache.put(answer("a.example.com", ttl=ttl), NOW)
    assert cache.get("a.example.com", NOW + ttl) is None
    if ttl >= 1:
        found = cache.get("a.example.com", NOW + int(ttl) - 0.5)
        assert found.asked + found.ttl <= NOW + ttl
        assert found.ttl <= ttl


def test_absurd_times_to_live_are_cut(cache):
    cache.put(answer("a.example.com", ttl=1e12), NOW)
    assert cache.get("a.example.com", NOW).ttl == 65_535 * 60


def test_what_may_not_be_kept_is_not_kept_and_ends_what_was(cache):
    cache.put(answer("a.example.com"), NOW)
    cache.put(answer("a.example.com", ttl=0.0), NOW)
    assert cache.get("a.example.com", NOW) is None
    assert cache.stale("a.example.com", NOW + 1_000) is None


def test_an_expired_answer_is_stale_until_another_comes(cache):
    cache.put(answer("a.example.com"), NOW)
    assert cache.stale("a.example.com", NOW + 599) is None
    old = cache.stale("a.example.com", NOW + 86_400)
    assert old.addresses == ("192.0.2.1",)
    assert old.asked + old.ttl == NOW + 600
    cache.put(answer("a.example.com", "192.0.2.2"), NOW + 86_400)
    assert cache.stale("a.example.com", NOW + 86_401) is None
    assert cache.get("a.example.com", NOW + 86_401).addresses == ("192.0.2.2",)


def test_a_clock_that_went_back_makes_answers_unknown(cache):
    cache.put(answer("a.example.com"), NOW)
    assert cache.get("a.example.com", NOW - 3_600) is None
    assert cache.stale("a.example.com", NOW - 3_600) is None


def test_an_address_that_is_none_is_kept_in_memory_only(cache):
    cache.put(answer("a.example.com", "not an address"), NOW)
    assert cache.count() == 0


# Other names …


def test_names_crafted_to_share_a_key_never_get_each_others_address(cache):
    victim = "www.bank.com"
    names = [victim, *crafted(victim, 200)]
    keys = Keys()
    assert len({keys.key(name) for name in names}) == 1
    assert len(set(names)) == len(names)
    addresses = {name: f"192.0.2.{at % 250}" for at, name in enumerate(names)}
    for name in names:
        cache.put(answer(name, addresses[name]), NOW)
        for other in (victim, *names[:20], name):
            found = cache.get(other, NOW)
            assert found is None or found.addresses == (addresses[other],)
            old = cache.stale(other, NOW + 1_000)
            assert old is None or old.addresses == (addresses[other],)
        assert cache.get(name, NOW).addresses == (addresses[name],)


def test_what_became_of_a_crafted_name_does_not_touch_its_victim(cache):
    [other] = crafted("www.bank.com", 1)
    cache.put(answer("www.bank.com"), NOW)
    cache.put(missing(other), NOW)
    cache.put(answer(other, ttl=0.0), NOW)
    assert cache.get("www.bank.com", NOW).addresses == ("192.0.2.1",)


NAMES = st.sampled_from(
    ["www.bank.com", "bank.com", *crafted("www.bank.com", 6), "a.unheard", "com", "a.co.uk"]
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), NAMES, st.integers(0, 300)),
        st.tuples(st.sampled_from(("NXDOMAIN", "no address", "SERVFAIL", "get", "stale")), NAMES, st.just(0)),
        st.tuples(st.sampled_from(("wait", "reopen")), st.just(""), st.integers(0, 200)),
    ),
    max_size=40,
)


@settings(max_examples=examples(60), deadline=None)
@given(STEPS)
def test_like_a_dictionary_that_may_forget(steps):
    """Whatever comes back is the last that was said of this very name, and not over, or not yet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "names")
        cache = CompactCache(path, SMALL)
        said: dict[str, tuple[str, float]] = {}
        now, serial = NOW, 0
        for step, name, number in steps:
            if step == "wait":
                now += number
            elif step == "reopen":
                cache = reopened(cache, path)
            elif step == "put":
                serial += 1
                said[name] = (f"192.0.2.{serial}", now + number)
                cache.put(answer(name, said[name][0], number), now)
            elif step == "SERVFAIL":
                cache.put(Answer(name, (), 60.0, Fault.NAME_FAILED, step), now)
            elif step in ("NXDOMAIN", "no address"):
                said.pop(name, None)
                cache.put(missing(name, step), now)
            else:
                found = cache.get(name, now) if step == "get" else cache.stale(name, now)
                if found is not None and found.addresses:
                    address, until = said[name]
                    assert found.addresses == (address,)
                    assert (now < until) == (step == "get")
        cache.close()


# Failures …


def test_a_name_that_does_not_exist_is_deferred(cache):
    cache.put(missing("gone.example.com"), NOW)
    found = cache.get("gone.example.com", NOW + 100)
    assert (found.fault, found.detail, found.asked) == (Fault.NAME_DEFERRED, DEFERRED, NOW + 100)
    assert found.ttl == SMALL.negative_seconds - 100
    assert cache.get("gone.example.com", NOW + SMALL.negative_seconds) is None
    assert cache.get("other.example.com", NOW) is None


def test_an_entry_in_the_store_wins_over_the_filter_also_when_it_has_expired(cache):
    cache.put(missing("a.example.com"), NOW)
    cache.put(answer("a.example.com"), NOW + 1)
    assert cache.get("a.example.com", NOW + 2).addresses
    assert cache.get("a.example.com", NOW + 700) is None
    assert cache.stale("a.example.com", NOW + 700).addresses


def test_a_name_that_ceased_to_exist_is_not_served_stale(cache):
    cache.put(answer("a.example.com"), NOW)
    cache.put(missing("a.example.com"), NOW + 1)
    assert cache.get("a.example.com", NOW + 2).fault is Fault.NAME_DEFERRED
    assert cache.stale("a.example.com", NOW + 700) is None


def test_other_failures_are_kept_for_their_time_and_apart(cache):
    cache.put(Answer("a.example.com", (), 60.0, Fault.NAME_FAILED, "SERVFAIL"), NOW)
    cache.put(missing("b.example.com", "no address"), NOW)
    assert cache.get("a.example.com", NOW + 59).detail == "SERVFAIL"
    assert cache.get("b.example.com", NOW + 299).fault is Fault.NAME_NOT_FOUND
    assert cache.get("a.example.com", NOW + 60) is None
    cache.put(answer("a.example.com"), NOW + 1)
    assert cache.get("a.example.com", NOW + 2).addresses


def test_a_failure_leaves_the_old_answer_to_be_served_stale(cache):
    cache.put(answer("a.example.com"), NOW)
    cache.put(Answer("a.example.com", (), 60.0, Fault.NAME_FAILED, "time-out"), NOW + 700)
    assert cache.get("a.example.com", NOW + 701).fault is Fault.NAME_FAILED
    assert cache.stale("a.example.com", NOW + 701).addresses


def test_what_the_filter_does_not_take_is_kept_with_the_failures(tmp_path):
    cache = CompactCache(tmp_path / "names", CompactConfig(max_bytes=1 << 20, negative_names=0))
    cache.put(missing("a.example.com"), NOW)
    assert cache.get("a.example.com", NOW).fault is Fault.NAME_NOT_FOUND
    cache.close()


def test_a_deferral_is_not_an_answer_to_keep(cache):
    cache.put(Answer("a.example.com", (), 60.0, Fault.NAME_DEFERRED, DEFERRED), NOW)
    assert cache.get("a.example.com", NOW) is None


# Prefixes …


def test_names_are_counted_and_listed_by_prefix(cache):
    names = ["example.com", "www.example.com", "a.b.example.com", "other.com", "example.co.uk", "x.unheard"]
    for at, name in enumerate(names):
        cache.put(answer(name, f"192.0.2.{at}"), NOW)
    assert cache.count() == 6
    assert cache.count("com") == 4
    assert cache.count("example.com") == 3
    assert cache.count("www.example.com") == 1
    assert cache.count("uk") == cache.count("example.co.uk") == 1
    assert cache.count("org") == cache.count("co.uk") == 0
    assert cache.counts_by_tld() == {"com": 4, "uk": 1, "": 1}
    entries = list(cache.under("example.com"))
    assert {entry.addresses[0] for entry in entries} == {"192.0.2.0", "192.0.2.1", "192.0.2.2"}
    assert {(entry.tld, entry.ttl, entry.expires) for entry in entries} == {("com", 600, int(NOW) + 600)}
    assert [entry.key for entry in entries] == sorted(entry.key for entry in entries)


def test_long_lists_come_in_parts(cache):
    for number in range(5_000):
        cache.put(answer(f"h{number}.example.com"), NOW)
    assert sum(1 for _ in cache.under("example.com")) == 5_000
    assert cache.counts_by_tld() == {"com": 5_000}


def test_the_census_counts_everything(cache):
    cache.put(answer("a.example.com"), NOW)
    cache.put(missing("b.example.com"), NOW)
    cache.put(Answer("c.example.com", (), 60.0, Fault.NAME_FAILED, "SERVFAIL"), NOW)
    census = cache.census()
    assert (census.entries, census.negative) == (2, 2)
    assert census.negative_bytes == 1_000 * 28.76 // 8
    assert census.bytes > census.negative_bytes + 4_096


# The limit …


@pytest.mark.slow
def test_the_file_never_grows_beyond_its_limit_and_new_names_are_kept(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    for number in range(30_000):
        cache.put(answer(f"h{number}.example{number % 977}.com", ttl=3_600 + number), NOW)
        if number % 100 == 0:
            assert cache.get(f"h{number}.example{number % 977}.com", NOW) is not None
    assert (folder / "names.mdb").stat().st_size <= SMALL.max_bytes
    # At most half of the room is lost to pages that are not full.
    assert cache.count() > SMALL.max_bytes * 7 // 8 / 36 / 2
    assert cache.problems == []
    cache.close()


def test_what_has_expired_goes_first(tmp_path):
    cache = CompactCache(tmp_path / "names", SMALL)
    for number in range(6_000):
        cache.put(answer(f"old{number}.com", ttl=60), NOW)
    lasting = [f"new{number}.com" for number in range(6_000)]
    for name in lasting:
        cache.put(answer(name, ttl=86_400), NOW + 100)
    for number in range(6_000):
        cache.put(answer(f"newer{number}.com", ttl=86_400), NOW + 100)
    kept = sum(cache.get(name, NOW + 101) is not None for name in lasting)
    assert kept > 5_900
    assert sum(cache.stale(f"old{number}.com", NOW + 101) is not None for number in range(6_000)) < 4_000
    cache.close()


@pytest.mark.slow
def test_long_answers_do_not_break_the_limit(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    addresses = tuple(f"2001:db8::{number:x}" for number in range(1, 257))
    for number in range(2_000):
        cache.put(Answer(f"h{number}.com", addresses, 600.0, asked=NOW), NOW)
        assert cache.get(f"h{number}.com", NOW).addresses == addresses
    assert (folder / "names.mdb").stat().st_size <= SMALL.max_bytes
    cache.close()


# The folder …


def test_answers_outlast_the_process_and_the_folder_is_private(tmp_path):
    folder = tmp_path / "above" / "names"
    cache = CompactCache(folder, SMALL)
    cache.put(answer("a.example.com"), NOW)
    cache.put(missing("b.example.com"), NOW)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    cache = reopened(cache, folder)
    assert cache.get("a.example.com", NOW).addresses
    assert cache.get("b.example.com", NOW) is None  # the filter is the process's own
    cache.close()


def test_two_caches_of_a_process_share_one_file(tmp_path):
    one, other = (CompactCache(tmp_path / "names", SMALL) for _ in range(2))
    one.put(answer("a.example.com"), NOW)
    assert other.get("a.example.com", NOW).addresses
    one.close()
    assert other.get("a.example.com", NOW).addresses
    other.put(answer("b.example.com"), NOW)
    other = reopened(other, tmp_path / "names")
    assert other.count() == 2
    other.close()


def test_another_table_starts_the_file_anew(tmp_path, monkeypatch):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    cache.put(answer("a.example.com"), NOW)
    cache.close()
    monkeypatch.setattr("gossamer.dns.compact.key.tld_table", lambda: make_table(["com", "org"]))
    cache = CompactCache(folder, SMALL)
    assert cache.count() == 0
    cache.put(answer("a.example.com"), NOW)
    cache = reopened(cache, folder)
    assert cache.count() == 1
    assert cache.problems == []
    cache.close()


def test_a_lower_limit_starts_the_file_anew(tmp_path):
    folder = tmp_path / "names"
    cache = CompactCache(folder, CompactConfig(max_bytes=4 << 20))
    for number in range(30_000):
        cache.put(answer(f"h{number}.com"), NOW)
    cache.close()
    assert (folder / "names.mdb").stat().st_size > SMALL.max_bytes
    cache = CompactCache(folder, SMALL)
    assert cache.count() == 0
    cache.put(answer("a.com"), NOW)
    assert cache.get("a.com", NOW)
    cache.close()


def test_after_another_boot_only_a_sealed_file_is_used(tmp_path, monkeypatch):
    folder = tmp_path / "names"
    cache = CompactCache(folder, SMALL)
    cache.put(answer("a.example.com"), NOW)
    unsealed = (folder / "seal.json").read_bytes()
    cache.close()
    monkeypatch.setattr("gossamer.dns.compact.folder.boot_id", lambda: "another")
    cache = CompactCache(folder, SMALL)
    assert cache.get("a.example.com", NOW)
    cache.close()
    (folder / "seal.json").write_bytes(unsealed)
    cache = CompactCache(folder, SMALL)
    assert cache.count() == 0
    assert cache.problems == []
    cache.close()


def test_a_folder_that_others_may_write_into_is_refused(tmp_path):
    folder = tmp_path / "names"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(ConfigError, match="folder of its own"):
        CompactCache(folder, SMALL)


def test_a_folder_of_somebody_else_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "names"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(ConfigError, match="folder of its own"):
        CompactCache(folder, SMALL)


def test_where_there_can_be_no_folder_answers_are_kept_in_memory(tmp_path):
    (tmp_path / "file").write_text("", encoding="ascii")
    cache = CompactCache(tmp_path / "file" / "names", SMALL)
    [problem] = cache.problems
    assert "the name cache is not used" in problem
    cache.put(answer("a.example.com"), NOW)
    assert cache.get("a.example.com", NOW).addresses
    assert cache.stale("a.example.com", NOW + 600).addresses
    cache.put(missing("a.example.com"), NOW)
    assert cache.get("a.example.com", NOW).fault is Fault.NAME_DEFERRED
    assert (cache.count(), list(cache.under("com")), cache.counts_by_tld()) == (0, [], {})
    cache.close()
