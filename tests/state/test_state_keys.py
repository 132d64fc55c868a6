"""Keys order as the values they stand for; fingerprints are keyed."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.state.keys import (
    FOREVER,
    Fingerprints,
    after_prefix,
    at_level,
    branch_of,
    branch_range,
    later_key,
    order_of,
    split_later,
    split_ticket,
    split_wake,
    ticket,
    wake_key,
)

levels = st.integers(0, 2**28 - 1)
sequences = st.integers(0, 2**40 - 1)
dues = st.integers(0, FOREVER)
hosts = st.binary(min_size=8, max_size=8)


@given(st.lists(st.tuples(levels, sequences), min_size=2, max_size=8))
def test_tickets_order_by_level_then_arrival(places):
    assert [split_ticket(key) for key in sorted(ticket(*place) for place in places)] == sorted(places)
    branched = [ticket(*place, branch=place[1] % 4_096) for place in places]
    assert sorted(branched, key=order_of) == sorted(branched, key=split_ticket)
    for key, (level, sequence) in zip(branched, places, strict=True):
        first, last = branch_range(branch_of(key)) if branch_of(key) < 4_095 else (key, key + b"\0")
        assert first <= key < last and branch_of(key) == sequence % 4_096
        assert at_level(key, 7) == ticket(7, sequence, branch_of(key)) and split_ticket(key) == (
            level,
            sequence,
        )


@given(st.lists(st.tuples(dues, sequences), min_size=2, max_size=8), hosts)
def test_waiting_entries_order_by_due_time(entries, host):
    keys = sorted(later_key(host, *entry) for entry in entries)
    assert [split_later(key) for key in keys] == sorted(entries)


@given(st.lists(st.tuples(dues, hosts), min_size=2, max_size=8))
def test_hosts_wake_in_order(entries):
    assert [split_wake(key) for key in sorted(wake_key(*entry) for entry in entries)] == sorted(entries)


@given(st.binary(min_size=1, max_size=9), st.binary(max_size=4))
def test_after_prefix_bounds_exactly_the_prefix(prefix, rest):
    end = after_prefix(prefix)
    assert prefix + rest < end
    if set(prefix) != {255}:
        assert not end.startswith(prefix)


def test_another_secret_makes_other_fingerprints():
    one, other = Fingerprints(b"a" * 16), Fingerprints(b"b" * 16)
    assert one.url("http://a/") != other.url("http://a/")
    assert one.host("a") != other.host("a")
    assert len(one.url("http://a/")) == len(one.host("a")) == 8
    assert one.url("http://a/") == Fingerprints(b"a" * 16).url("http://a/")
