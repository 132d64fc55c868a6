"""Trap guards: what they catch, and what they must not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.url import Url
from gossamer.policy.scope.url_traps import TrapConfig, trap_reason

CONFIG = TrapConfig()


def reason(target: str, config: TrapConfig = CONFIG) -> str | None:
    found = Url.parse(f"http://e.org{target}")
    assert found is not None
    why = trap_reason(found, config)
    return None if why is None else str(why)


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/a/a/a",
        "/2024/01/01/01/index.html",
        "/0/0/0/123.jpg",
        "/usr/share/doc/python3-doc/html/library/xml.etree.elementtree.html",
        "/core/arch/x86/x86/struct.x86.html",
        "/a/b/a/b/a/b/x",
        "/" + "/".join(f"s{number}" for number in range(29)),
        "/web/20200101000000/http://example.org/http://example.net/a",
        "/search?q=a&" + "&".join(f"p{number}=1" for number in range(28)),
        "/filter?" + "&".join(f"colour[]={number}" for number in range(8)),
        "/a%2Fb", "/a%252Fb", "/100%25", "/x?a=1&amp;b=2", "/x?a=1&amp;amp;b=2",
    ],
)  # fmt: skip
def test_real_pages_pass(target: str) -> None:
    assert reason(target) is None


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/a/a/a/a", "the same path segment more than 3 times"),
        ("/x/a/a/a/a/b?c", "the same path segment"),
        ("/a/b/a/b/a/b/a/b/", "the same 2 path segments"),
        ("/x" + "/a/b/c" * 4, "the same 3 path segments"),
        ("/a/b/c/d" * 4, "the same 4 path segments"),
        ("/" + "/".join(f"s{number}" for number in range(31)), "more than 30 path segments"),
        ("/http://a/http://b/https://c", "more than 2 URLs inside the path"),
        ("/ftp://a/ftps://b/sftp://c", "more than 2 URLs inside the path"),
        ("/?" + "&".join(f"p{number}" for number in range(31)), "more than 30 parameters"),
        ("/?" + "&".join(f"c={number}" for number in range(9)), "more than 8 parameters of one name"),
        ("/a%25252Fb", "a character is escaped more than 2 times"),
        ("/a%252525", "a character is escaped more than 2 times"),
        ("/?a&amp;amp;amp;b", "an ampersand is escaped more than 2 times"),
    ],
)
def test_traps_are_caught_and_each_guard_can_be_switched_off(target: str, words: str) -> None:
    found = reason(target)
    assert found is not None
    assert found.startswith(words)
    off = TrapConfig(
        max_repeats=0, max_segments=0, max_parameters=0, max_same_parameter=0, max_escapes=0, max_embedded=0
    )
    assert reason(target, off) is None


def test_strict_settings_hold_for_short_paths() -> None:
    assert reason("/a/a", TrapConfig(max_repeats=1)) is not None
    assert reason("/a/b", TrapConfig(max_segments=1)) is not None


def _naive(segments: list[str], repeats: int) -> bool:
    return any(
        segments[start : start + period] * (repeats + 1) == segments[start : start + period * (repeats + 1)]
        for period in range(1, 5)
        for start in range(len(segments) - period * (repeats + 1) + 1)
    )


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=24), st.integers(min_value=1, max_value=4))
def test_repeats_are_those_that_a_naive_search_finds(segments: list[str], repeats: int) -> None:
    found = reason("/" + "/".join(segments), TrapConfig(max_repeats=repeats))
    assert (found is not None) is _naive(segments, repeats)


@given(st.text(alphabet="a/?&=%25;:amp", max_size=200))
def test_any_target_gets_an_answer(target: str) -> None:
    reason("/" + target)
