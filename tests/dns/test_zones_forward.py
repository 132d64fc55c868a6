"""The forward zone: its trees and tables agree, the median rule, and hostile names."""

import sys

from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.zones.forward import ForwardZone
from gossamer.dns.zones.kept import Kept
from gossamer.dns.zones.tree import walk
from gossamer.model.name import Answer
from gossamer.policy.urls.registrable import registrable_domain

NAMES = [
    f"{below}{domain}"
    for domain in ("a.com", "b.co.uk", "c.github.io", "localhost", "uk")
    for below in ("", "www.", "m.", "x.www.", "y.www.", "z.y.www.", "x.m.", "x.bare.", "_s.x.bare.")
]


def kept(name: str, now: float = 0.0, ttl: float = 60.0) -> Kept:
    return Kept(Answer(name, ("192.0.2.1",), ttl), now, now + ttl)


def filled(zone: ForwardZone, *names: str) -> ForwardZone:
    for number, name in enumerate(names):
        zone.put(kept(name, number), number)
    return zone


def check(zone: ForwardZone) -> None:
    """Every invariant that the class names."""
    found = {}
    for domain, root in zone._domains.items():
        assert root.name == domain and root.above is None
        nodes = list(walk(root))
        assert any(node.kept for node in nodes)
        for node in nodes:
            assert registrable_domain(node.name) == domain
            assert node.kept is not None or node.left is not None
            assert node.name not in found
            found[node.name] = node
            if node.above is not None:
                assert node.name.endswith("." + node.above.name)
                depth = 1 if node.above is root else 2
                assert (depth == 2) == (node.name in zone._third)
    holding = {name for name, node in found.items() if node.kept}
    assert holding == set(zone._upper) | set(zone._third)
    assert not set(zone._upper) & set(zone._third)
    bare = {name for name, node in found.items() if node.kept is None and node.above is not None}
    assert bare == set(zone._bare)
    assert all(found[name] is node for name, node in {**zone._upper, **zone._third, **zone._bare}.items())
    assert len(zone._upper) <= zone._limit and len(zone._third) <= zone._third_limit


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.lists(st.tuples(st.sampled_from(["put", "get", "remove"]), st.sampled_from(NAMES)), max_size=60),
)
def test_tables_and_trees_agree(names, thirds, steps):
    zone = ForwardZone(names, thirds)
    for now, (step, name) in enumerate(steps):
        if step == "put":
            zone.put(kept(name, now), now)
            assert zone.get(name, now) is not None
        elif step == "get":
            zone.get(name, now)
        else:
            zone.remove(name)
            assert zone.get(name, now) is None
        check(zone)


LABELS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=10)


@given(st.lists(st.lists(LABELS, min_size=1, max_size=9).map(".".join), max_size=20))
def test_any_name_has_a_place(names):
    zone = filled(ForwardZone(50, 50), *names)
    check(zone)
    for name in names:
        zone.remove(name)
    assert len(zone) == 0 and not zone._domains and not zone._bare


def test_names_of_a_domain_stand_together():
    zone = filled(
        ForwardZone(9, 9),
        "www.a.co.uk",
        "x.m.a.co.uk",
        "z.b.www.a.co.uk",
        "www.b.co.uk",
        "m.a.co.uk",
        "a.co.uk",
    )
    assert zone.names("a.co.uk") == ["a.co.uk", "www.a.co.uk", "z.b.www.a.co.uk", "m.a.co.uk", "x.m.a.co.uk"]
    assert zone.names("b.co.uk") == ["www.b.co.uk"]
    assert zone.names("c.co.uk") == []
    assert repr(zone) == "<ForwardZone 6 names in 2 trees>"


def test_third_level_names_older_than_the_median_leave():
    zone = ForwardZone(9, 6)
    filled(zone, *(f"{number}.www.a.com" for number in range(6)), "www.a.com")
    zone.get("0.www.a.com", 10.0)
    zone.get("3.www.a.com", 11.0)
    zone.put(kept("6.www.a.com", 12.0), 12.0)  # accessed at 10, 1, 2, 11, 4, 5, 12: the median is 5
    assert zone.names("a.com") == ["www.a.com", *(f"{number}.www.a.com" for number in (0, 3, 6))]
    check(zone)


def test_a_clock_that_stands_still_does_not_keep_everything():
    zone = ForwardZone(9, 4)
    for number in range(100):
        zone.put(kept(f"{number}.www.a.com"), 0.0)
        check(zone)
    assert "99.www.a.com" in zone.names("a.com")


def test_of_domains_and_hosts_the_least_recently_used_leaves():
    zone = filled(ForwardZone(3, 9), "a.com", "www.a.com", "b.com")
    zone.get("a.com", 5.0)
    zone.put(kept("c.com", 6.0), 6.0)
    assert zone.names("a.com") == ["a.com"]
    assert [each.answer.name for each in zone.kept()] == ["b.com", "a.com", "c.com"]


def test_a_host_that_left_still_holds_the_names_below_it():
    zone = filled(ForwardZone(1, 9), "x.www.a.com", "www.a.com", "b.com")
    assert zone.names("a.com") == ["x.www.a.com"]
    check(zone)
    zone.put(kept("www.a.com", 4.0), 4.0)
    assert zone.names("a.com") == ["www.a.com", "x.www.a.com"]
    check(zone)


def lines_run(pattern: str, count: int) -> int:
    """Lines of our code that run when `count` names come and go: a cost that no busy machine disturbs."""
    zone = ForwardZone(count, count)
    entries = [kept(pattern.format(number)) for number in range(count)]
    for entry in entries:
        registrable_domain(entry.answer.name)
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for entry in entries:
            zone.put(entry, 0.0)
        for entry in reversed(entries):
            zone.remove(entry.answer.name)
    finally:
        sys.settrace(before)
    assert not zone._domains
    return lines


def test_many_siblings_cost_no_more_than_many_domains():
    apart = lines_run("www.a{}.com", 1_000)
    for together in ("a{}.a.com", "a{}.www.a.com", "www.a{}.a.com"):
        assert lines_run(together, 1_000) < 2 * apart
