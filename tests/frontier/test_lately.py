"""The table of fingerprints met lately: bounded, never wrong, and what is pushed out."""

import struct
from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from gossamer.frontier.seen.fingerprint_cache import FingerprintCache

PLACES = 8
prints = st.builds(struct.Struct("=QQ").pack, st.integers(0, 7), st.integers(1, 20))


@given(st.lists(prints, max_size=200))
def test_each_pair_of_places_keeps_the_two_met_last(asked):
    table = FingerprintCache(PLACES + 3)
    pairs: dict[int, list[bytes]] = {}
    for fingerprint in asked:
        host, url = struct.unpack("=QQ", fingerprint)
        # What falls on the same pair and has the same hash of the URL is the one thing that is confused: a
        # host differs in its upper bits only.
        pair = pairs.setdefault((host ^ url) // 2 % (PLACES // 2), [])
        kept = next((one for one in pair if one[8:] == fingerprint[8:]), None)
        assert (fingerprint in table) == (kept is not None)
        if kept is None:
            table.add(fingerprint)
            pair.insert(0, fingerprint)
            del pair[2:]
        else:
            pair.remove(kept)
            pair.insert(0, kept)
    assert len(table) == sum(map(len, pairs.values()))


def test_it_never_holds_more_than_it_is_told():
    table = FingerprintCache(1_000)
    for number in range(1, 5_000):
        table.add(blake2b(number.to_bytes(8, "big"), digest_size=16).digest())
    assert len(table) == 512


def test_the_same_page_on_another_host_is_another():
    table = FingerprintCache(1 << 16)
    one, other = struct.pack("=QQ", 2, 99), struct.pack("=QQ", 4, 99)
    table.add(one)
    assert one in table
    assert other not in table


def test_a_large_table_takes_memory_only_where_it_is_used():
    table = FingerprintCache(1 << 30)
    fingerprint = struct.pack("=QQ", 5, 2**63 + 1)
    assert fingerprint not in table
    table.add(fingerprint)
    assert fingerprint in table
