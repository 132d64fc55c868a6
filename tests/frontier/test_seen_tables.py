"""The tables of what was seen, at their edges."""

from hashlib import blake2b

import pytest
from frontier_world import SMALL

from gossamer.frontier.seen import bloom
from gossamer.frontier.seen import filter as filter_module
from gossamer.frontier.seen.bloom import BloomTable
from gossamer.frontier.seen.bloom_file import Saved
from gossamer.frontier.seen.bloom_size import bits_needed, bloom_filter, expected_rate, false_positive_rate
from gossamer.frontier.seen.exact import SeenSet
from gossamer.frontier.seen.filter import SeenFilter
from gossamer.model.errors import ConfigError
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import ticket
from gossamer.state.records import COUNTERS, VISITED, Counters, VisitedRecord, decode, encode


@pytest.fixture
def environment(tmp_path):
    made = Environment.open(tmp_path / "state", SMALL)
    yield made
    made.close()


def fingerprint(number):
    return b"hosthost" + blake2b(number.to_bytes(8, "big"), digest_size=8).digest()


def total(*numbers):
    """Sum of the hashes as the log has it."""
    return sum(int.from_bytes(fingerprint(number)[8:], "little") for number in numbers) & (1 << 64) - 1


def commit(environment, table, *numbers):
    batch = environment.batch()
    for number in numbers:
        table.add(fingerprint(number), ticket(1, number), batch)
    table.flush(batch)
    environment.commit(batch)


# Exact …


def test_what_is_added_is_seen_before_and_after_the_commit(environment):
    table = SeenSet(environment, 8)
    assert fingerprint(1) not in table
    batch = environment.batch()
    table.add(fingerprint(1), ticket(1, 1), batch)
    assert fingerprint(1) in table and fingerprint(2) not in table
    table.flush(batch)
    environment.commit(batch)
    assert fingerprint(1) in table and not table._uncommitted
    assert fingerprint(1) in SeenSet(environment, 8)
    assert table.figures() == VisitedRecord()


def test_what_was_found_on_disk_is_kept_in_front(environment, monkeypatch):
    commit(environment, SeenSet(environment, 8), 1, 2)
    table, asked = SeenSet(environment, 8), []
    get = environment.get
    monkeypatch.setattr(environment, "get", lambda family, key: asked.append(key) or get(family, key))
    for _ in range(3):
        assert fingerprint(1) in table
    assert len(asked) == 1
    for _ in range(3):
        assert fingerprint(9) not in table
    assert len(asked) == 2, "what is not there is asked for again at once"
    assert fingerprint(8) not in table and fingerprint(9) not in table and len(asked) == 4


# A filter in front …


def test_a_filter_rules_out_what_was_never_added(environment):
    commit(environment, SeenSet(environment, 8), *range(20))
    made = SeenFilter(environment, 1 << 12)
    assert not any(made.rules_out(fingerprint(number)) for number in range(20))
    assert sum(made.rules_out(fingerprint(number)) for number in range(1_000, 1_200)) == 200
    made.update([fingerprint(1_000)])
    assert not made.rules_out(fingerprint(1_000))


@pytest.mark.parametrize(("entries", "commits"), [(4, 1), (5, 1), (9, 2), (10, 2), (11, 2)])
def test_it_is_made_a_piece_at_a_time(environment, monkeypatch, entries, commits):
    monkeypatch.setattr(filter_module, "READ_AT_ONCE", 5)
    commit(environment, SeenSet(environment, 8), *range(entries))
    made, read = SeenFilter(environment, 1 << 12), 0
    while not made.rules_out(fingerprint(5_000)):
        made.read_on()
        read += 1
        assert read < 9
    assert read == entries // 5
    assert not any(made.rules_out(fingerprint(number)) for number in range(entries))


@pytest.mark.parametrize(("sequence", "admitted", "taken"), [(7, 5, True), (8, 5, False), (7, 6, False)])
def test_a_saved_filter_is_taken_if_nothing_was_admitted_since(environment, sequence, admitted, taken):
    def note(**sums):
        batch = environment.batch()
        batch.put(Family.META, COUNTERS, encode(Counters(**sums)))
        environment.commit(batch)

    note(sequence=7, admitted=5)
    made = SeenFilter(environment, 1 << 12)
    made.update([fingerprint(77)])
    made.save()
    note(sequence=sequence, admitted=admitted)
    again = SeenFilter(environment, 1 << 12)
    assert again.rules_out(fingerprint(77)) is not taken


# A Bloom filter instead …


@pytest.mark.parametrize(("urls", "warned"), [(99, 0), (100, 0), (101, 1), (150, 1)])
def test_beyond_its_capacity_it_says_so_once(environment, urls, warned):
    heard = []
    table = BloomTable(environment, 100, 1e-6, heard.append)
    for start in range(0, urls, 50):
        commit(environment, table, *range(start, min(start + 50, urls)))
    commit(environment, table, *([5_000] if urls > 100 else []))
    assert len(heard) == warned
    figures = table.figures()
    assert (figures.urls, figures.capacity) == (urls + (urls > 100), 100)


def test_what_is_added_twice_counts_once(environment):
    table = BloomTable(environment, 100, 1e-9, print)
    assert fingerprint(1) not in table
    batch = environment.batch()
    for _ in range(2):
        table.add(fingerprint(1), ticket(1, 5), batch)
    table.add(fingerprint(2), ticket(1, 6), batch)
    assert fingerprint(1) in table and fingerprint(2) in table
    table.flush(batch)
    environment.commit(batch)
    ((key, value),) = environment.scan(Family.SEEN)
    assert int.from_bytes(key, "big") == 5 and len(value) == 16
    empty = environment.batch()
    table.flush(empty)
    assert len(empty) == 0 and table.figures().urls == 2
    assert table.admitted(fingerprint(1)) and not table.admitted(fingerprint(3))
    stored = decode(environment.get(Family.META, VISITED), VisitedRecord)
    assert (stored.urls, stored.total, stored.table) == (2, total(1, 2), "bloom")


@pytest.mark.parametrize(("urls", "probes"), [(3, 0), (4, 1), (7, 1), (8, 2), (40, 10)])
def test_one_probe_for_every_fourth_url(environment, urls, probes):
    table = BloomTable(environment, 1_000, 1e-6, print)
    for number in range(urls):
        commit(environment, table, number)
    assert table.figures().probes == probes
    assert table.figures().false_positives == 0
    again = BloomTable(environment, 1_000, 1e-6, print)
    assert again.figures().probes == probes


def test_false_positives_are_found_by_probes(environment):
    table = BloomTable(environment, 60, 0.5, lambda _: None)
    for number in range(0, 1_000, 50):
        commit(environment, table, *range(number, number + 50))
    figures = table.figures()
    assert figures.probes == figures.urls // bloom.URLS_PER_PROBE > 20
    assert 0 < figures.false_positives <= figures.probes
    assert expected_rate(figures) > 0.5
    assert expected_rate(VisitedRecord()) == 0.0


@pytest.mark.parametrize(("saved", "worth"), [(2, True), (3, True), (4, False)])
def test_it_is_saved_when_that_saves_a_start_time(environment, monkeypatch, saved, worth):
    monkeypatch.setattr(bloom, "WORTH_SAVING", saved)
    table = BloomTable(environment, 100, 1e-6, print)
    commit(environment, table, 1, 2, 3)
    table.save()
    files = sorted(environment.path.parent.glob("*.bloom"))
    assert len(files) == worth
    if worth:
        commit(environment, table, 4)
        table.save()
        assert sorted(environment.path.parent.glob("*.bloom")) == files, "one more is not worth it"
        again = BloomTable(environment, 100, 1e-6, print)
        assert all(fingerprint(number) in again for number in (1, 2, 3, 4)) and again.figures().urls == 4
        assert (again.figures().total, again._saved) == (total(1, 2, 3, 4), 3)


def test_the_log_of_an_exact_table_goes_in(environment):
    commit(environment, SeenSet(environment, 8), 1, 2)
    table = BloomTable(environment, 100, 1e-9, print)
    assert fingerprint(1) in table and fingerprint(3) not in table
    assert table.figures().urls == 2


# Sizes …


@pytest.mark.parametrize(("bits", "hashes", "rate"), [(8.0, 5, 0.0217), (10.0, 7, 0.0082), (1.0, 1, 0.632)])
def test_rates(bits, hashes, rate):
    assert false_positive_rate(bits, hashes) == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize(
    ("urls", "error", "bits", "hashes"),
    [(1_000, 0.5, 1_443, 1), (1_000, 0.01, 9_592, 7), (10, 1e-6, 288, 20)],
)
def test_sizes(urls, error, bits, hashes):
    found = bits_needed(urls, error)
    assert found[0] == pytest.approx(bits, rel=0.01) and found[1] == hashes
    assert false_positive_rate(found[0] / urls, hashes) <= error * 1.001


@pytest.mark.parametrize(("bits", "hashes"), [(1 << 16, 5), (9_592, 7), (1 << 20, 20)])
def test_a_filter_has_the_size_that_was_asked_for(bits, hashes):
    made = bloom_filter(bits, hashes)
    assert made.size_in_bits == pytest.approx(bits, rel=0.01)
    with pytest.raises(ConfigError, match="does not fit"):
        bloom_filter(1 << 62, 5)


def test_the_name_of_a_file_says_what_is_in_it():
    assert Saved(1, 2, 3, 255, 5, 16).name("seen") == "seen-1-2-3-ff-5-10.bloom"
