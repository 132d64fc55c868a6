"""Keys of the compact name cache: their 76 bits, their order, the table and the suffixes behind them."""

import functools

import mmh3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from gossamer.dns.compact.key import KEY_BITS, KEY_BYTES, Keys
from gossamer.dns.compact.suffixes import installed_rules, public_suffix, read_rules, rule_lines, suffix_list
from gossamer.dns.compact.table import (
    ESCAPE,
    MAX_NAMES,
    last_labels,
    make_table,
    table_text,
    tld_table,
)

LABELS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=12)
ENDS = st.sampled_from(
    ("com", "co.uk", "org.uk", "github.io", "ck", "www.ck", "kawasaki.jp", "city.kawasaki.jp", "unheard")
)
NAMES = st.builds(lambda labels, end: ".".join([*labels, end]), st.lists(LABELS, max_size=4), ENDS)


@pytest.fixture(scope="module")
def keys():
    return Keys()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("www.example.co.uk", ("uk", "example.co", "www")),
        ("example.co.uk", ("uk", "example.co", "")),
        ("example.org.uk", ("uk", "example.org", "")),
        ("co.uk", ("uk", "co", "")),
        ("a.b.example.com", ("com", "example", "a.b")),
        ("com", ("com", "", "")),
        ("someone.github.io", ("io", "someone.github", "")),
        ("a.www.ck", ("ck", "www", "a")),
        ("a.b.other.ck", ("ck", "b.other", "a")),
        ("x.city.kawasaki.jp", ("jp", "city.kawasaki", "x")),
        ("printer.office.unheard", ("unheard", "office", "printer")),
    ],
)
def test_a_name_falls_into_three_parts(keys, name, parts):
    found = keys.parts(name)
    assert (found.tld, found.registrable, found.rest) == parts


def test_the_key_is_that_of_the_requirement(keys):
    number = int.from_bytes(keys.key("www.example.co.uk"), "big")
    expected = tld_table().codes["uk"] << 64 | mmh3.hash("example.co", 0, False) << 32
    assert number >> 4 == expected | mmh3.hash("www", 0, False)
    assert number & 0xF == 0
    assert KEY_BITS == 12 + 32 + 32 == 8 * KEY_BYTES - 4


def test_an_unknown_top_level_domain_goes_into_the_hash_of_the_rest(keys):
    number = int.from_bytes(keys.key("printer.office.unheard"), "big") >> 4
    assert number >> 64 == ESCAPE
    assert number & 0xFFFF_FFFF == mmh3.hash("printer.unheard", 0, False)
    assert keys.key("printer.office.unheard") != keys.key("printer.office.unknown")


@given(NAMES)
def test_every_key_lies_in_the_ranges_that_its_name_is_under(name):
    keys = Keys()
    key = keys.key(name)
    assert len(key) == KEY_BYTES
    parts = keys.parts(name)
    above = ["", parts.tld, name]
    if public_suffix(name, installed_rules()) != name:
        above.append(f"{parts.registrable}.{parts.tld}")
    for domain in above:
        found = keys.range(domain)
        assert found.low <= key < found.high, domain
    assert keys.tld(key) == (parts.tld if parts.tld in tld_table().codes else "")


@given(NAMES, NAMES)
def test_other_registrable_domains_have_other_ranges(one, other):
    keys = Keys()
    first, second = keys.parts(one), keys.parts(other)
    domain = f"{first.registrable}.{first.tld}"
    if (first.tld, first.registrable) == (second.tld, second.registrable) or not first.registrable:
        return
    if first.tld == "unheard" and second.tld == "unheard":
        return
    found = keys.range(domain)
    assert not found.low <= keys.key(other) < found.high


def test_the_last_range_of_all_ends_behind_the_last_key():
    table = make_table([f"t{number:04}" for number in range(MAX_NAMES)])
    keys = Keys(table)
    last = keys.range("t4094")
    assert last.low[:2] == b"\xff\xf0"
    assert last.high > b"\xff" * KEY_BYTES
    assert keys.tld(b"\xff" * KEY_BYTES) == "t4094"


# The table …


def test_the_table_holds_the_last_labels_of_the_list():
    known = set(last_labels(suffix_list()))
    table = set(tld_table().codes)
    assert {"com", "uk", "arpa", "xn--p1ai", "ck"} <= table
    # The list goes on growing with its package; what is new meanwhile goes by the escape code.
    assert len(known - table) <= len(known) // 20


def test_the_table_is_made_again_alike(tmp_path):
    suffixes = tmp_path / "list.dat"
    suffixes.write_text(
        "// a comment\n\ncom\nco.uk\n*.ck\n!www.ck\n\u0440\u0444\nuk not a rule\n", encoding="utf-8"
    )
    names = last_labels(suffixes, "# Version 1\nCOM\nXN--J1AMH\n\n")
    assert names == ["ck", "com", "uk", "xn--j1amh", "xn--p1ai"]
    assert table_text(names) == "ck\ncom\nuk\nxn--j1amh\nxn--p1ai\n"
    assert make_table(names).codes["ck"] == 1


def test_another_table_has_another_digest():
    assert make_table(["a", "b"]).digest != make_table(["b", "a"]).digest


@pytest.mark.parametrize("names", [["a", "a"], [f"t{number}" for number in range(MAX_NAMES + 1)]])
def test_a_table_that_does_not_fit_is_refused(names):
    with pytest.raises(ValueError, match=r"twice|suffice"):
        make_table(names)


# The suffixes …


def test_suffixes_are_those_of_the_package():
    """Every rule of the list, with up to three labels in front, against the package's own reading."""
    theirs, ours = PublicSuffixList(), installed_rules()
    for rule in list(rule_lines(suffix_list()))[::7]:
        plain = rule.lstrip("!").replace("*", "any")
        for name in (plain, plain.partition(".")[2] or plain, "a." + plain, "c.b.a." + plain):
            assert public_suffix(name, ours) == theirs.publicsuffix(name)


@given(NAMES)
def test_suffixes_of_any_name_are_those_of_the_package(name):
    assert public_suffix(name, installed_rules()) == package().publicsuffix(name)


package = functools.cache(PublicSuffixList)  # a tenth of a second for who reads it


def test_the_longest_suffix_wins_and_an_exception_beats_it(tmp_path):
    path = tmp_path / "list.dat"
    path.write_text("com\nb.com\na.b.com\n*.c.com\n!no.c.com\n", encoding="utf-8")
    rules = read_rules(path)
    cases = {
        "x.a.b.com": "a.b.com",
        "x.b.com": "b.com",
        "x.y.c.com": "y.c.com",
        "x.no.c.com": "c.com",
        "c.com": "c.com",
        "other": "other",
        "x.other": "other",
    }
    assert {name: public_suffix(name, rules) for name in cases} == cases
