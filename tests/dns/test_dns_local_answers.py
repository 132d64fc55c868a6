"""Answers without a name server: literals, the hosts file."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.hosts import is_question, literal_address, local_addresses, read_hosts


@given(st.ip_addresses())
def test_every_address_is_a_literal(address):
    text = f"[{address}]" if address.version == 6 else str(address)
    found = literal_address(text)
    assert found is not None
    assert ipaddress.ip_address(found) == address


@given(st.text(max_size=20))
def test_anything_else_is_none_and_raises_nothing(text):
    found = literal_address(text)
    assert found is None or str(ipaddress.ip_address(found))
    assert is_question(text) in (True, False)


@pytest.mark.parametrize("text", ["[::", "::]", "[[::]]", "[]", "[192.0.2.1]", "[::1%1]"])
def test_brackets_come_in_pairs_around_ipv6(text):
    assert literal_address(text) is None


def test_odd_spellings_are_no_literals():
    for text in (
        "127.1",
        "0x7f.0.0.1",
        "017700000001",
        "2130706433",
        "fe80::1%eth0",
        "1.2.3.4\0",
        "",
        "[",
        "[]",
    ):
        assert literal_address(text) is None, text


def test_a_number_at_the_end_is_never_asked_for():
    """Other resolvers take such names for addresses; asking would be a way round the address guard."""
    assert not any(map(is_question, ("127.1", "2130706433", "a.7")))
    assert is_question("a.7th")


def test_hosts_lines(tmp_path):
    path = tmp_path / "hosts"
    path.write_bytes(
        b"\xef\xbb\xbf# broken first line\n127.0.0.1 localhost one\n127.0.0.1\n\n::1 One. two # three\n"
        b"127.0.0.1 one\n300.1.1.1 bad\n\xff\xfe nonsense\n10.0.0.1\tlast"
    )
    assert read_hosts(path) == {
        "localhost": ("127.0.0.1",),
        "one": ("127.0.0.1", "::1"),
        "two": ("::1",),
        "last": ("10.0.0.1",),
    }
    assert read_hosts(tmp_path / "none") == {}
    assert read_hosts(tmp_path) == {}


def test_localhost_by_the_file_or_by_rule():
    assert local_addresses("localhost", {"localhost": ("127.0.0.2",)}) == ("127.0.0.2",)
    assert local_addresses("localhost", {}) == ("127.0.0.1", "::1")
    assert local_addresses("x.localhost", {}) == ("127.0.0.1", "::1")
    assert local_addresses("notlocalhost", {}) == ()
