"""Values of the compact name cache: what goes in comes out, and nothing lives longer than it may."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.compact.entry import CHECK_BYTES, expiry, pack_entry, unpack_entry

CHECK = b"checks"
ADDRESSES = st.lists(
    st.one_of(
        st.integers(0, (1 << 32) - 1).map(lambda number: str(ipaddress.IPv4Address(number))),
        st.integers(1 << 64, (1 << 128) - 1).map(lambda number: str(ipaddress.IPv6Address(number))),
    ),
    min_size=1,
    max_size=20,
).map(tuple)


@given(ADDRESSES, st.floats(0, 1 << 31), st.floats(0, 1 << 33))
def test_what_goes_in_comes_out(addresses, now, ttl):
    entry = unpack_entry(pack_entry(now, ttl, CHECK, addresses))
    assert entry.addresses == addresses
    assert entry.check == CHECK
    assert entry.expires <= now + ttl
    assert entry.expires > now + min(ttl, 65_535 * 60) - 1
    assert entry.ttl <= ttl
    assert entry.ttl > ttl - 60 or entry.minutes == 65_535


def test_an_ipv4_address_takes_32_bits_and_an_ipv6_address_128():
    head = 4 + 2 + CHECK_BYTES
    assert len(pack_entry(1.0, 1.0, CHECK, ("192.0.2.1",))) == head + 4
    assert len(pack_entry(1.0, 1.0, CHECK, ("2001:db8::1",))) == head + 16
    assert len(pack_entry(1.0, 1.0, CHECK, ("192.0.2.1", "2001:db8::1"))) == head + 5 + 17


NAMES = st.lists(st.text("abc.-_0", min_size=1, max_size=20), max_size=4).map(tuple)


@given(ADDRESSES, NAMES)
def test_aliases_come_out_as_they_went_in(addresses, aliases):
    entry = unpack_entry(pack_entry(0.0, 60.0, CHECK, addresses, aliases))
    assert (entry.addresses, entry.aliases) == (addresses, aliases)
    assert unpack_entry(pack_entry(0.0, 60.0, CHECK, addresses)).aliases is None


@pytest.mark.parametrize("length", range(1, 20))
def test_no_length_of_a_name_makes_another_address(length):
    entry = unpack_entry(pack_entry(0.0, 60.0, CHECK, ("192.0.2.1",), ("a" * length,)))
    assert (entry.addresses, entry.aliases) == (("192.0.2.1",), ("a" * length,))


@given(st.binary(max_size=60))
def test_no_value_makes_it_raise(value):
    entry = unpack_entry(value)
    assert entry is None or entry.addresses
    assert expiry(value) >= 0


def test_what_is_no_address_is_not_packed():
    assert pack_entry(1.0, 1.0, CHECK, ()) is None
    assert pack_entry(1.0, 1.0, CHECK, ("192.0.2.1", "example.com")) is None


def test_a_clock_that_went_back_makes_an_entry_incredible():
    entry = unpack_entry(pack_entry(400.0, 600.0, CHECK, ("192.0.2.1",)))
    assert entry.credible(400.0)
    assert not entry.credible(300.0)
