"""Single decisions at their borders, where no other table asks."""

import pytest

from gossamer.model.outcome import Fault
from gossamer.model.url import Url
from gossamer.policy.change.change import changed, fingerprint
from gossamer.policy.places.place import read_place
from gossamer.policy.robots.access import AllowAll, Hold, KeepRules, RobotsConfig, UseBody, access_for
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.speculation.belief import MOST_KNOWN, REMEMBERED, Tried
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import Form, Where, element_of, prior
from gossamer.policy.visits.retry import none_reached


@pytest.mark.parametrize(
    ("statuses", "faults", "none"),
    [
        ([], [], False),
        ([], [Fault.TIMEOUT], False),
        ([], [Fault.CONNECT, Fault.NAME_NOT_FOUND], True),
        (["200"], [Fault.CONNECT], False),
        (["404"], [], False),
        ([], [Fault.CONNECT, Fault.DECODING], False),  # a server sent that
    ],
)
def test_whether_no_visit_reached_a_server(statuses: list[str], faults: list[str], none: bool) -> None:
    assert none_reached(statuses, faults) == none


@pytest.mark.parametrize(
    ("status", "means"),
    [
        (199, Hold), (200, UseBody), (299, UseBody), (300, AllowAll), (303, AllowAll), (304, KeepRules),
        (305, AllowAll), (399, AllowAll), (400, AllowAll), (428, AllowAll), (429, Hold), (430, AllowAll),
        (499, AllowAll), (500, Hold), (599, Hold), (None, Hold),
    ],
)  # fmt: skip
def test_what_the_status_of_a_robots_file_means(status: int | None, means: type) -> None:
    config = RobotsConfig()
    found = access_for(status, None, 0, config)
    assert type(found) is means
    if isinstance(found, Hold):
        assert found.wait == config.hold_first
        assert access_for(status, None, 1, config) == Hold(2 * config.hold_first, found.reason)
        assert access_for(status, None, 0, config, 1.0).wait == config.hold_first  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "origin", "fits", "other"),
    [
        ("example.org", "https://example.org", "https://example.org/x", "http://example.org/"),
        ("http://example.org", "http://example.org", "http://example.org/x", "https://example.org/"),
        ("example.org:8443", "https://example.org:8443", "https://example.org:8443/", "https://example.org/"),
        (
            "http://example.org:8080/a",
            "http://example.org:8080",
            "http://example.org:8080/",
            "http://example.org/",
        ),
        ("*.example.org", "https://*.example.org", "https://www.example.org/", "http://www.example.org/"),
    ],
)
def test_for_which_origin_a_secret_is_meant(text: str, origin: str, fits: str, other: str) -> None:
    place = read_place(text)
    assert place.origin == origin
    for url, is_for in ((fits, True), (other, False)):
        parsed = Url.parse(url)
        assert parsed is not None
        assert place.is_for_origin(parsed) == is_for


def test_what_has_joined_the_scope_is_known() -> None:
    seed = Url.parse("http://a.example/")
    assert seed is not None
    scope = Scope(ScopeConfig(mode="host"), [seed])
    scope.add_host("b.example")
    assert [scope.joined(host) for host in ("a.example", "b.example", "c.example")] == [False, True, False]
    assert scope.hosts == ("b.example",)


def test_a_kind_of_guesses_is_believed_by_what_came_of_it() -> None:
    likely = element_of(Where.MARKUP, Form.WHOLE)
    tried = Tried()
    assert tried.belief(likely) == pytest.approx(prior(likely))
    assert [tried.was_known(likely) for _ in range(MOST_KNOWN + 1)] == [True] * MOST_KNOWN + [False]
    assert tried.belief(likely) == pytest.approx((3 * prior(likely) + 4) / 7)
    for number in range(REMEMBERED):
        tried.came_of(likely, found=number % 4 == 0)
    kind = tried.kinds[likely]
    assert (kind.found, kind.missing, tried.missing) == (16, 48, 48)
    assert tried.belief(likely) == pytest.approx((3 * prior(likely) + 4 + 16) / (7 + 64))
    tried.came_of(likely, found=False)
    assert (kind.found, kind.missing, tried.missing) == (8, 24, 49), "what was before counts half"


@pytest.mark.parametrize(
    ("missing", "pages", "doubted"),
    [(2, 0, False), (3, 0, True), (3, 60, True), (3, 80, False), (4, 80, True)],
)
def test_of_the_visits_to_a_host_so_many_may_be_in_vain(missing: int, pages: int, doubted: bool) -> None:
    config = SpeculationConfig(min_belief=0.0, first_missing=3, max_missing=0.05)
    tried = Tried(missing=missing)
    assert (tried.doubt(element_of(Where.MARKUP, Form.WHOLE), pages, config) is not None) == doubted


def test_a_fingerprint_has_64_bits_whatever_the_size_of_a_page() -> None:
    pieces = [f"piece {word}" for word in ("one", "two", "three", "four", "five")] * 3
    assert all(fingerprint(pieces[:size]) < 1 << 64 for size in range(len(pieces)))
    assert fingerprint(pieces) == fingerprint(pieces[::-1]) == fingerprint(pieces[:5])
    assert fingerprint(pieces[:4]) != fingerprint(pieces[:5])


@pytest.mark.parametrize(
    ("before", "after", "removed", "added", "share"),
    [
        (["a b c d"], ["a b c d"], 0, 0, 0.0),
        (["a b c d"], ["a b x d"], 1, 1, 2 / 8),
        (["a b", "c d"], ["a b", "c d", "e f g"], 0, 3, 3 / 11),
        (["a b", "c d e"], ["a b"], 3, 0, 3 / 7),
        (["a b", "c d"], ["c d", "a b"], 0, 0, 0.0),
        (["a b c"], ["c b a"], 0, 0, 0.0),
        (["a b", "c d"], ["x y", "z v"], 4, 4, 1.0),
        (["a b", "x y"], ["ab", "x y"], 0, 0, 0.0),  # nor does a blank count
    ],
)
def test_how_much_of_a_page_has_changed(
    before: list[str], after: list[str], removed: int, added: int, share: float
) -> None:
    change = changed(before, after)
    assert (change.removed, change.added) == (removed, added)
    assert change.share == pytest.approx(share)
    assert bool(change) == bool(removed + added)
