"""Single decisions at their borders, where no other table asks."""

import pytest

from gossamer.model.link import LinkKind
from gossamer.model.outcome import Fault
from gossamer.model.reasons.reason import WrongValueError
from gossamer.model.url import Url
from gossamer.policy.change.change import changed, fingerprint
from gossamer.policy.change.figures import JOINT
from gossamer.policy.change.pieces import plain_pieces
from gossamer.policy.ordering.orders import OrderConfig, settings_of_order
from gossamer.policy.ordering.words import _singular
from gossamer.policy.places.place import read_place
from gossamer.policy.revisit.trust import Trust
from gossamer.policy.robots.access import AllowAll, Hold, KeepRules, RobotsConfig, UseBody, access_for
from gossamer.policy.scope.rules import blocked_host
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.speculation.belief import MOST_KNOWN, REMEMBERED, Tried
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import Form, Where, element_of, prior
from gossamer.policy.visits.broken import is_link
from gossamer.policy.visits.politeness import PolitenessConfig
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
        ([], [Fault.CONNECT, "refused: mirror"], True),  # nor was that one asked
        ([], ["refused: mirror"], False),
        ([], [Fault.CONNECT, "refused: robots"], False),
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


@pytest.mark.parametrize("big", ["right", "wrong", "missed", "quiet"])
def test_of_a_source_old_evidence_counts_half_when_there_is_much(big: str) -> None:
    said, changed_ = big in ("right", "wrong"), big in ("right", "missed")
    trust = Trust(**{big: 499.0}, days=10.0, lies=3).judged(said=said, changed=changed_, seconds=2 * 86_400.0)
    assert (getattr(trust, big), trust.days, trust.lies) == (500.0, 12.0, 3)
    trust = trust.judged(said=said, changed=changed_, seconds=0.0)
    assert (getattr(trust, big), trust.days, trust.lies) == (250.5, 6.0, 3)
    assert trust.right + trust.wrong + trust.missed + trust.quiet == 250.5
    for other in ("right", "wrong", "missed", "quiet"):  # all of them count together
        both = Trust(**{big: 300.0} | {other: 200.0 if other != big else 500.0})
        halved = both.judged(said=said, changed=changed_, seconds=0.0)
        assert halved.right + halved.wrong + halved.missed + halved.quiet == 250.5


def test_orders_have_the_settings_of_their_name() -> None:
    config = OrderConfig()
    assert settings_of_order("best", config) is config.best
    assert settings_of_order("opic", config) is config.opic
    assert settings_of_order("focused", config) is config.focus
    assert [settings_of_order(name, config) for name in ("bfs", "dfs", "of_a_plugin")] == [None, None, None]


@pytest.mark.parametrize(
    ("kind", "via", "target", "link"),
    [
        (LinkKind.NAVIGATION, "http://a.example/", "/x", True),
        (LinkKind.NAVIGATION, "", "/x", False),
        (LinkKind.ROBOTS, "http://a.example/", "/robots.txt", False),
        (LinkKind.FOLDER, "http://a.example/b/c", "/b/", False),
        (LinkKind.SPECULATIVE, "http://a.example/", "/x", False),
        (LinkKind.SITEMAP, "http://a.example/robots.txt", "/sitemap.xml", False),
        (LinkKind.SITEMAP, "http://a.example/robots.txt", "/other.xml", True),
        (LinkKind.SITEMAP, "http://a.example/index.xml", "/sitemap.xml", True),
        (LinkKind.NAVIGATION, "http://a.example/robots.txt", "/sitemap.xml", True),
    ],
)
def test_whether_somebody_has_linked_to_a_url(kind: LinkKind, via: str, target: str, link: bool) -> None:
    assert is_link(kind, via, target) == link


@pytest.mark.parametrize(("folder", "good"), [("", True), ("/run/g", True), ("~/g", True), ("run/g", False)])
def test_a_folder_that_crawls_share_is_given_in_full(folder: str, good: bool) -> None:
    if good:
        assert PolitenessConfig(shared=folder).shared == folder
    else:
        with pytest.raises(ValueError, match="in full"):
            PolitenessConfig(shared=folder)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("Example.org", "example.org"), ("*.Example.org", "*.example.org"), ("[::1]", "[::1]"), ("*.[::1]", None),
        ("example.org/x", None), ("*.", None),
    ],
)  # fmt: skip
def test_a_host_that_is_blocked_is_named_as_urls_have_it(text: str, host: str | None) -> None:
    if host is not None:
        assert blocked_host(text) == host
    else:
        with pytest.raises(WrongValueError):
            blocked_host(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("one\n" + "-" * 63 + "\ntwo", ["one", "two"]),  # ornament
        ("one\n" + "-" * 64 + "\ntwo", ["one", "-" * 64, "two"]),
        ("one\n12\n34\ntwo", [f"one{JOINT}12{JOINT}34", "two"]),
        ("12\none", ["12", "one"]),
        (" \n one  two \n", ["one two"]),
    ],
)
def test_lines_of_signs_and_figures(text: str, found: list[str]) -> None:
    assert plain_pieces(text) == found


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("time:08:00-17:30", (480, 1_050)), ("time:20:00-24:00", (1_200, 0)), ("time:00:00-00:01", (0, 1)),
        ("time:08:00-24:01", None), ("time:24:00-08:00", None), ("time:08:00-08:00", None), ("time:08:60-09:00", None),
    ],
)  # fmt: skip
def test_hours_of_a_day(text: str, hours: tuple[int, int] | None) -> None:
    if hours is not None:
        assert read_place(text).hours == hours
    else:
        with pytest.raises(WrongValueError):
            read_place(text)


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        ("cats", "cat"), ("gas", "gas"), ("glass", "glass"), ("bonus", "bonus"), ("pies", "py"), ("ponies", "pony"),
        ("ties", "ty"), ("axes", "axe"), ("shoes", "shoe"), ("aeries", "aery"), ("eaies", "eaie"), ("as", "as"),
    ],
)  # fmt: skip
def test_the_three_rules_of_the_s_stemmer(word: str, singular: str) -> None:
    assert _singular(word) == singular
