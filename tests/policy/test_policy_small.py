"""Ordering, budgets, and what pages ask of robots."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.page import Directives
from gossamer.model.url import Url
from gossamer.policy.ordering.ordering import LAST_LEVEL, ROBOTS_LEVEL, BreadthFirst, DepthFirst
from gossamer.policy.robots.directives import NO_DIRECTIVES, merge_directives
from gossamer.policy.visits.budget import BudgetConfig, Spent, crawl_limit_reached, host_limit_reached
from gossamer.ports import OrderingPolicy

HOME = Url.parse("http://e.org/")
assert HOME is not None
POLICIES: list[OrderingPolicy] = [BreadthFirst(), DepthFirst()]


def at(depth: int, kind: LinkKind = LinkKind.NAVIGATION, origin: str = "") -> Candidate:
    assert HOME is not None
    return Candidate(HOME, kind, depth, origin=origin)


def test_breadth_first_takes_shallow_pages_first_and_depth_first_deep_ones() -> None:
    assert [BreadthFirst().level(at(depth)) for depth in (0, 1, 2)] == [1, 2, 3]
    assert [DepthFirst().level(at(depth)) for depth in (0, 1, 2)] == [65_535, 65_534, 65_533]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@given(depth=st.integers(min_value=0, max_value=10**6))
def test_levels_fit_and_only_robots_files_come_first(policy: OrderingPolicy, depth: int) -> None:
    assert ROBOTS_LEVEL < policy.level(at(depth)) <= 65_535
    assert policy.level(at(depth, LinkKind.ROBOTS)) == ROBOTS_LEVEL
    assert policy.level(at(depth, LinkKind.REDIRECT, "http://e.org")) == ROBOTS_LEVEL
    assert policy.level(at(depth, LinkKind.SITEMAP)) == policy.level(at(depth, LinkKind.REDIRECT))


def test_levels_are_stored_in_24_bits() -> None:
    assert (ROBOTS_LEVEL, LAST_LEVEL) == (0, 16_777_215)


def test_nothing_is_spent_before_the_first_page() -> None:
    assert crawl_limit_reached(BudgetConfig(max_pages=1, max_bytes=1, max_time=0.5), Spent()) is None
    assert host_limit_reached(BudgetConfig(pages_per_host=1, bytes_per_host=1), Spent()) is None


def test_no_limits_by_default() -> None:
    much = Spent(10**9, 10**15, 10.0**9)
    assert crawl_limit_reached(BudgetConfig(), much) is None
    assert host_limit_reached(BudgetConfig(), much) is None


def test_limits_of_a_crawl() -> None:
    config = BudgetConfig(max_pages=3, max_bytes=100, max_time=60)
    assert crawl_limit_reached(config, Spent(2, 99, 59.9)) is None
    assert str(crawl_limit_reached(config, Spent(3, 0, 0))) == "max_pages 3"
    assert str(crawl_limit_reached(config, Spent(0, 100, 0))) == "max_bytes 100"
    assert str(crawl_limit_reached(config, Spent(0, 0, 60))) == "max_time 60"


def test_limits_of_a_host() -> None:
    config = BudgetConfig(pages_per_host=3, bytes_per_host=100)
    assert host_limit_reached(config, Spent(2, 99)) is None
    assert str(host_limit_reached(config, Spent(3, 0))) == "pages_per_host 3"
    assert str(host_limit_reached(config, Spent(0, 100))) == "bytes_per_host 100"
    assert host_limit_reached(BudgetConfig(), Spent(3, 100)) is None


def wishes(*x_robots: str, meta: tuple[tuple[str, str], ...] = ()) -> Directives:
    return merge_directives(meta, list(x_robots), "Gossamer/1.0")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("noindex", Directives(noindex=True)),
        ("NoFollow", Directives(nofollow=True)),
        ("none", Directives(noindex=True, nofollow=True)),
        ("noindex,nofollow , noarchive", Directives(True, True, True)),
        ("noindex nofollow;nocache", Directives(True, True, True)),
        ("all", NO_DIRECTIVES),
        ("index, follow, max-snippet:-1, max-image-preview: large", NO_DIRECTIVES),
        ("max-snippet:20, noindex", Directives(noindex=True)),
        ("", NO_DIRECTIVES),
        ("nofollowing", NO_DIRECTIVES),
    ],
)
def test_one_statement_in_either_place(content: str, expected: Directives) -> None:
    assert wishes(content) == expected
    assert wishes(meta=(("robots", content),)) == expected
    assert wishes(meta=(("gossamer", content),)) == expected


def test_statements_for_others_are_ignored() -> None:
    assert (
        wishes("otherbot: noindex", meta=(("googlebot", "none"), ("description", "nofollow")))
        == NO_DIRECTIVES
    )


def test_most_restrictive_of_all_statements() -> None:
    merged = wishes(
        "noarchive", "gossamer: nofollow", meta=(("robots", "index, follow"), ("gossamer", "noindex"))
    )
    assert merged == Directives(True, True, True)
    assert wishes("follow", "nofollow", "follow") == Directives(nofollow=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("gossamer: noindex, nofollow", Directives(True, True)),
        ("GOSSAMER:noindex", Directives(True)),
        ("*: noindex", Directives(True)),
        ("otherbot: noindex, nofollow", NO_DIRECTIVES),
        ("noindex, otherbot: nofollow", Directives(True)),
        ("otherbot: noindex, gossamer: nofollow", Directives(nofollow=True)),
        ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 GMT, nofollow", NO_DIRECTIVES),
    ],
)
def test_robot_names_in_headers(value: str, expected: Directives) -> None:
    assert wishes(value) == expected


@pytest.mark.parametrize(
    "date",
    [
        "25 Jun 2010 15:00:00 PST",
        "Friday, 25-Jun-10 15:00:00 GMT",
        "Fri, 25 Jun 2010 15:00:00 GMT",
        "2010-06-25T15:00:00+02:00",
        "Jun 25, 2010 15:00",
    ],
)
def test_dates_keep_their_commas_and_colons(date: str) -> None:
    for value in (f"unavailable_after: {date}", f"gossamer: unavailable_after: {date}"):
        assert wishes(value) == Directives(unavailable_after=date)
        assert wishes(f"noarchive, {value}, nofollow") == Directives(False, True, True, date)
    assert wishes(meta=(("robots", f"unavailable_after:{date}, noindex"),)) == Directives(
        True, unavailable_after=date
    )


def test_the_earliest_date_counts() -> None:
    early, late = "Fri, 25 Jun 2010 15:00:00 GMT", "Sat, 26 Jun 2010 15:00:00 GMT"
    assert wishes(f"unavailable_after: {late}", f"unavailable_after: {early}").unavailable_after == early
    assert wishes("unavailable_after: some day", f"unavailable_after: {late}").unavailable_after == late
    assert wishes("unavailable_after: some day").unavailable_after == "some day"


@given(st.lists(st.text(alphabet="nofllowindex:,; \tgosamer*_0-unavailable_after", max_size=60), max_size=4))
def test_any_header_is_read(values: list[str]) -> None:
    assert len(wishes(*values, meta=tuple(("robots", value) for value in values)).unavailable_after) <= 64


def test_endless_headers_are_cheap() -> None:
    assert wishes("unavailable_after: x" + ",y" * 200_000).unavailable_after == "x, y, y, y"
    assert wishes("a:" * 200_000) == NO_DIRECTIVES
