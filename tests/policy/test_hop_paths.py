"""Hop paths stay short however long a chain of pages is, and are counted whole."""

from gossamer.model.candidate import Candidate
from gossamer.model.link import HOPS_KEPT, LinkKind, further, hop_count
from gossamer.model.url import Url
from gossamer.policy.scope.scope import Scope, ScopeConfig


def path(hops: int, last: str = "L") -> str:
    walked = ""
    for _ in range(hops - 1):
        walked = further(walked, "L")
    return further(walked, last) if hops else walked


def test_a_path_is_kept_whole_up_to_its_bound_and_counted_beyond() -> None:
    assert path(HOPS_KEPT) == "L" * HOPS_KEPT
    assert path(HOPS_KEPT + 1, "R") == "1+" + "L" * (HOPS_KEPT - 1) + "R"
    assert [hop_count(path(hops)) for hops in (0, 1, 49, 50, 51, 52, 10_000)] == [
        0,
        1,
        49,
        50,
        51,
        52,
        10_000,
    ]
    assert len(path(10_000)) < HOPS_KEPT + 6


def test_the_ten_thousandth_page_of_a_chain_is_in_scope_unless_hops_are_limited() -> None:
    url, seed = Url.parse("http://a.test/p"), Url.parse("http://a.test/")
    assert url is not None and seed is not None
    last = Candidate(url, LinkKind.NAVIGATION, 10_000, path(10_000), "http://a.test/")
    assert Scope(ScopeConfig(), [seed]).judge(last).admitted
    assert "10000 hops" in str(Scope(ScopeConfig(max_hops=9_999), [seed]).judge(last).why)
    assert Scope(ScopeConfig(max_hops=10_000), [seed]).judge(last).admitted
