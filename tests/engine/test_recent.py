"""Links met lately: what is remembered, what is pushed out, what is forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.engine.admission.link_cache import LinkCache, ScopeCache, way
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url

PLACES = 8
keys = st.sampled_from([f"http://a/{number}" for number in range(40)])


def link(text):
    url = Url.parse(text)
    assert url is not None
    return Link(url, LinkKind.NAVIGATION, "a@href")


@given(st.lists(st.tuples(st.booleans(), keys), max_size=200))
def test_each_pair_of_places_keeps_the_two_met_last(steps):
    recent = LinkCache(PLACES + 3)
    pairs: dict[int, list[str]] = {}
    for meets, key in steps:
        pair = pairs.setdefault(hash(key) // 2 % (PLACES // 2), [])
        assert (recent.unmet([link(key)]) == []) == (key in pair)
        if meets:
            assert recent.met(key) == (key in pair)
            pair[:] = [key, *(one for one in pair if one != key)][:2]
        else:
            recent.forget(key)
            # Its place stays empty: what stood first stays first.
            pair[:] = [one if one != key else "" for one in pair]
    assert len(recent) == sum(bool(one) for pair in pairs.values() for one in pair)


def test_it_never_holds_more_than_it_is_told():
    recent = LinkCache(1_000)
    for number in range(10_000):
        recent.met(f"http://a/{number}")
    assert len(recent) == 512


def test_other_kinds_have_keys_of_their_own():
    recent = LinkCache(100)
    shown = link("http://a/picture")
    recent.met(way(LinkKind.REQUISITE, shown.url))
    assert recent.unmet([shown]) == [shown]
    recent.met(way(LinkKind.NAVIGATION, shown.url))
    assert recent.unmet([shown]) == []


@given(st.lists(keys, max_size=200))
def test_what_was_judged_in_scope_is_known_by_its_own_fingerprint(met):
    judged = ScopeCache(PLACES)
    pairs: dict[int, list[str]] = {}
    for key in met:
        pair = pairs.setdefault(hash(key) // 2 % (PLACES // 2), [])
        assert judged.get(key) == (fingerprint(key) if key in pair else None)
        if key not in pair:
            judged.put(key, fingerprint(key))
            pair[:] = [key, *pair][:2]


def fingerprint(key: str) -> bytes:
    return key.encode().ljust(16)[-16:]
