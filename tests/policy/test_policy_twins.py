"""When two names are taken for one site: by different whole pages alike, and hardly any that are not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.twins import (
    FOR_EACH_UNLIKE,
    LEAST,
    LEAST_BYTES,
    Evidence,
    Likeness,
    Shown,
    TwinPair,
    at,
    compare,
    evidence,
    shown,
)

NOTHING = Shown(404)


def pages(number, first=1):
    return [Shown(200, content) for content in range(first, first + number)]


def alike(number, first=1):
    return [(each, each) for each in pages(number, first)]


@pytest.mark.parametrize(
    ("status", "content", "media_type", "size", "counts"),
    [
        (200, 7, "text/html", LEAST_BYTES, True),
        (200, 7, "application/xhtml+xml", 90_000, True),
        (200, 7, "text/html", LEAST_BYTES - 1, False),
        (200, 7, "image/x-icon", 90_000, False),
        (200, 7, "text/css", 90_000, False),
        (200, 7, "text/plain", 90_000, False),
        (404, 7, "text/html", 90_000, False),
        (304, 7, "text/html", 90_000, False),
        (200, 0, "text/html", 90_000, False),
    ],
)
def test_what_counts_as_a_page(status, content, media_type, size, counts):
    assert shown(status, content, media_type, size) == Shown(status, content if counts else 0)


@pytest.mark.parametrize(
    ("one", "other", "likeness"),
    [
        (Shown(200, 1), Shown(200, 1), Likeness.ALIKE),
        (Shown(200, 1), Shown(200, 2), Likeness.UNLIKE),
        (Shown(200, 1), Shown(404), Likeness.MISSING),
        (Shown(200, 1), Shown(410), Likeness.MISSING),
        (Shown(200, 1), Shown(200), Likeness.UNLIKE),  # a picture, or a word
        (Shown(200, 1), Shown(301), None),
        (Shown(200, 1), Shown(403), None),
        (Shown(200, 1), Shown(503), None),
        (Shown(200, 1), Shown(0), None),
        (Shown(404), Shown(404), None),
        (Shown(200), Shown(200), None),
        (Shown(200), Shown(404), None),
    ],
)
def test_what_two_names_show_at_a_path(one, other, likeness):
    assert compare(one, other) is likeness
    assert compare(other, one) is likeness


@pytest.mark.parametrize(
    ("at_paths", "expected"),
    [
        ([], False),
        (alike(LEAST - 1), False),
        (alike(LEAST), True),
        ([(Shown(200, 1), Shown(200, 1))] * 1_000, False),  # one text for everything
        ([*alike(FOR_EACH_UNLIKE - 1), (Shown(200, 99), NOTHING)], False),
        ([*alike(FOR_EACH_UNLIKE), (Shown(200, 99), NOTHING)], True),
        ([*alike(LEAST), *((each, None) for each in pages(LEAST, 50))], True),
        (
            [*alike(LEAST), *((each, None) for each in pages(LEAST + 1, 50))],
            False,
        ),  # shared terms of two shops
        ([*alike(LEAST), *[(NOTHING, None)] * 100], True),
        ([*alike(LEAST), *[(Shown(200, 9), Shown(503))] * 100], True),
    ],
)
def test_what_is_evidence(at_paths, expected):
    assert evidence(at_paths).one_site is expected


shows = st.builds(Shown, st.sampled_from([0, 200, 301, 404, 410, 503]), st.just(0)) | st.builds(
    Shown, st.just(200), st.integers(1, 30)
)


@given(st.lists(st.tuples(shows, shows | st.none()), max_size=80))
def test_evidence_is_never_more_than_was_shown(at_paths):
    found = evidence(at_paths)
    contents = {one.content for one, other in at_paths if other is not None and one.content == other.content}
    assert found.alike == len(contents - {0})
    assert found.unlike + found.apart <= len(at_paths)
    if found.one_site:
        assert found.alike >= LEAST
        assert found.unlike * FOR_EACH_UNLIKE <= found.alike
    worse = evidence([*at_paths, *[(Shown(200, 99), NOTHING)] * (1 + len(at_paths) // FOR_EACH_UNLIKE)])
    assert not worse.one_site, "that many contradictions speak against any evidence"


def test_names_are_compared_each_time_that_twice_as_much_may_be_known():
    pair, looked = TwinPair("http://b", "http://a"), []
    for pair.met in range(1, 100):
        if pair.due:
            looked.append(pair.met)
            pair.looked = pair.met
    assert looked == [8, 16, 32, 64]


@pytest.mark.parametrize(
    ("same", "unlike", "contradicted"),
    [(8, 0, False), (20, 2, False), (19, 2, True), (8, 1, True), (0, 0, False)],
)
def test_what_speaks_against_what_was_found(same, unlike, contradicted):
    pair = TwinPair("http://b", "http://a", found=True, alike=same, unlike=unlike)
    assert pair.contradicted is contradicted


def test_what_suffices_is_not_at_once_contradicted():
    """Between the two lies a space in which what was found stays so, and what was not does."""
    for same in range(LEAST, 200):
        for unlike in range(20):
            if Evidence(same, unlike).one_site:
                assert not TwinPair("b", "a", alike=same, unlike=unlike).contradicted


def test_the_same_path_on_another_name():
    url = at("https://www.example.org:8443", "/a?b=1")
    assert (url.text, url.host, url.port) == ("https://www.example.org:8443/a?b=1", "www.example.org", 8443)
