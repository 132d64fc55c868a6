"""URL patterns: what they keep, what they leave out, and that they are few and cheap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.url_pattern import (
    CYCLE,
    CYCLES,
    DATE,
    DEEP,
    FACETS,
    NUMBERS,
    SESSION,
    TOKEN,
    is_token,
    marches,
    plainer,
    url_pattern,
)


@pytest.mark.parametrize(
    ("target", "pattern", "stem"),
    [
        ("/", "/", "/**"),
        ("/about", "/*", "/**"),
        ("/docs/guide/install.html", "/docs/guide/*.html", "/docs/**"),
        ("/docs/guide/deep/more/install.HTML", "/docs/guide/*/*/*.html", "/docs/**"),
        ("/blog/2024/03/17/snow-in-the-city/", "/blog/D/*/", "/blog/**"),
        ("/blog/2024/03/", "/blog/D/", "/blog/**"),
        ("/blog/2024-03-17/snow", "/blog/D/*", "/blog/**"),
        ("/blog/20240317/snow", "/blog/D/*", "/blog/**"),
        ("/blog/page/3/", "/blog/page/#/", "/blog/**"),
        ("/calendar/2026/11/21", "/calendar/D", "/calendar/**"),
        ("/product/10023", "/product/#", "/product/**"),
        ("/paper/9f86d081884c7d65", "/paper/H", "/paper/**"),
        ("/v/550e8400-e29b-41d4-a716-446655440000/", "/v/H/", "/v/**"),
        ("/item.php?lang=en&id=3", "/item.php?id=#&lang=*", "/item.php?**"),
        ("/shop/?size=m&color=red", "/shop/?color=*&size=*", "/shop/?**"),
        ("/shop/?color=red&size=m", "/shop/?color=*&size=*", "/shop/?**"),
        ("/shop/?color=red&color=blue", "/shop/?color=*", "/shop/?**"),
        ("/list?d=2026-11-21", "/list?d=D", "/list?**"),
        ("/wiki/Long_slug_of_words_3", "/wiki/*", "/wiki/**"),
        ("/docs/current/current/kaba/x.html", "/docs/(current)+/*/*.html", "/docs/(+)/**"),
        ("/docs/pub/mirror/pub/mirror/x/", "/docs/(pub/mirror)+/*/*/", "/docs/(+)/**"),
    ],
)
def test_pattern_and_stem(target: str, pattern: str, stem: str) -> None:
    found = url_pattern(target)
    assert (found.text, found.stem) == (pattern, stem)


@pytest.mark.parametrize("path", ["/store/item-3.html", "/store/cart", "/other/deep/place/"])
def test_all_pages_of_one_kind_of_session_have_one_stem(path: str) -> None:
    in_path = url_pattern(f"{path};jsessionid=0000000B88E7E9A8376AC184EAB38304")
    in_query = url_pattern(f"{path}?sid=0000000b88e7e9a8376ac184ea&page=3")
    if not path.endswith("/"):
        assert in_path.stem == "**;jsessionid=H"
        assert in_path.doubts & SESSION
    assert in_query.stem == "**?sid=H"
    assert in_query.doubts & SESSION


@pytest.mark.parametrize(
    ("target", "doubts"),
    [
        ("/a/b/c.html", 0),
        ("/2024/2024/x", DATE),
        ("/page/17", NUMBERS),
        ("/item-17.html", NUMBERS),
        ("/list?page=17", NUMBERS),
        ("/paper/0000000B88E7E9A8", TOKEN),
        ("/aa/bb/aa/x", CYCLE),
        ("/aa/bb/aa/bb/aa/x", CYCLE | CYCLES),
        ("/x?a=b&b=c&c=d", FACETS),
        ("/a/b/c/d/e/f/g/x", DEEP),
        ("/search?q=three+words+here", 0),
        ("/events?month=3&year=2026", DATE | NUMBERS),
    ],
)
def test_doubts(target: str, doubts: int) -> None:
    assert url_pattern(target).doubts == doubts


@pytest.mark.parametrize("times", range(2, 9))
@pytest.mark.parametrize("block", ["current", "pub/mirror", "one/two/three", "one/two/three/four"])
def test_a_loop_has_the_same_pattern_however_often_it_is_gone_round(block: str, times: int) -> None:
    assert url_pattern(f"/top/{'/'.join([block] * times)}/x.html") == url_pattern(
        f"/top/{'/'.join([block] * 2)}/x.html"
    )._replace(doubts=url_pattern(f"/top/{'/'.join([block] * times)}/x.html").doubts)


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("0000000B88E7E9A8376AC184EAB38304", True),
        ("550e8400-e29b-41d4-a716-446655440000", True),
        ("a8Kd93jfW0sl2Mxq7Z", True),
        ("internationalisation", False),
        ("iphone-15-pro-256gb-black", False),
        ("2024-03-17", False),
        ("deadbeef", False),
        ("deadbee1", True),
    ],
)
def test_tokens(text: str, token: bool) -> None:
    assert is_token(text) is token


_TARGETS = st.text(alphabet="ab/;?&=.-_0129%éф ", max_size=80).map(lambda rest: "/" + rest)


@given(_TARGETS)
def test_any_target_has_a_pattern_of_bounded_size(target: str) -> None:
    found = url_pattern(target)
    assert len(found.text) <= 3 * len(target) + 20
    assert found.text.startswith("/")
    assert found == url_pattern(target)


@given(_TARGETS, st.integers(0, 10**6))
def test_numbers_make_no_new_pattern(target: str, number: int) -> None:
    assert url_pattern(f"/p/{number}") == url_pattern("/p/7")
    assert url_pattern(f"/list?page={number}&q=x").text == "/list?page=#&q=*" or len(str(number)) == 8
    assert url_pattern(target.partition("?")[0] + f"?n={number % 1000}") == url_pattern(
        target.partition("?")[0] + "?n=1"
    )


@given(st.lists(st.sampled_from(["kiwi", "lemon", "apple", "fig", "plum", "pear"]), max_size=40))
def test_endless_folders_make_few_patterns(names: list[str]) -> None:
    # Seven parts at most, each a cycle of four folders at most.
    assert url_pattern("/browse/" + "".join(f"{name}/" for name in names)).text.count("/") <= 30


@pytest.mark.parametrize(
    "target",
    [
        "/" + "a" * 100_000,
        "/" * 100_000,
        "/" + "a1" * 50_000,
        "/" + "a/" * 50_000,
        "/" + "ab/cd/" * 20_000,
        "/?" + "&" * 100_000,
        "/?" + "a=1&" * 30_000,
        "/x" + ";" * 100_000,
        "/" + "0-" * 50_000,
        "/" + "%20" * 30_000,
    ],
)
def test_hostile_targets_end_soon(target: str) -> None:
    assert len(url_pattern(target).text) < 400


@pytest.mark.parametrize(
    ("target", "plain"),
    [
        ("/store/item-3.html;jsessionid=0000000B88E7E9A8376AC184EAB38304", "/store/item-3.html"),
        ("/store/;jsessionid=0000000B88E7E9A8376AC184EAB38304?a=1", "/store/?a=1"),
        ("/store/;x=1;jsessionid=0000000B88E7E9A8376AC184EAB38304", "/store/;x=1"),
        ("/store/?sid=0000000b88e7e9a8376ac184eab38304", "/store/"),
        ("/store/?a=1&sid=0000000b88e7e9a8376ac184eab38304&b=2", "/store/?a=1&b=2"),
        ("/docs/current/current/x.html", "/docs/current/x.html"),
        ("/docs/pub/mirror/pub/mirror/a/x.html", "/docs/pub/mirror/a/x.html"),
        ("/docs/guide/x.html?page=3", None),
        ("/", None),
    ],
)
def test_plainer(target: str, plain: str | None) -> None:
    assert plainer(target) == plain


@given(_TARGETS)
def test_what_is_plainer_is_shorter_and_has_nothing_plainer(target: str) -> None:
    plain = plainer(target)
    assert plain is None or (len(plain) < len(target) and plain.startswith("/"))
    assert plain is None or plainer(plain) is None


@pytest.mark.parametrize(
    ("page", "link", "onwards"),
    [
        ("/calendar/2024/03/17", "/calendar/2024/03/18", True),
        ("/room-17.html", "/room-18.html", True),
        ("/fn.vaddq_u8.html", "/fn.vaddq_s8.html", False),
        ("/fn.swap.html", "/fn.take.html", False),
        ("/a/b/c/d/e/f/g/x", "/a/b/c/d/e/f/g/h/x", True),
        ("/a/b/c/d/e/f/g/x", "/a/b/c/d/e/f/g/y", False),
        ("/list?page=2&sort=name", "/list?page=3&sort=name", True),
        ("/list?page=2&sort=name", "/list?page=2&sort=price", False),
        ("/paper/0000000B88E7E9A8", "/paper/1111111B88E7E9A8", True),
        ("/cal?view=week&at=1716000000", "/cal?view=day&at=1716086400", True),
        ("/cal?view=week&at=1716000000", "/cal?view=day&at=1716000000", False),
        ("/shop/s/9f86d081884c7d65/home", "/shop/s/0000000b88e7e9a8/cart", True),
        ("/shop/s/9f86d081884c7d65/home", "/shop/s/9f86d081884c7d65/cart", False),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/(S(x1a2b3c4d5e6f7g8h9i0j1k2))/a.aspx", True),
        ("/a/0000000b88e7e9a8/c/d/e/f/g/x", "/a/1111111b88e7e9a8/c/d/e/f/g/x", True),
        ("/words/D/dog", "/words/D/duck", False),
    ],
)
def test_marches(page: str, link: str, onwards: bool) -> None:
    assert marches(url_pattern(page), url_pattern(link), page, link) is onwards


def test_folders_called_d_and_h_are_no_date_and_no_token() -> None:
    assert [
        url_pattern(target).doubts for target in ("/words/D/dog", "/words/H/hat", "/D?x=a", "/H;a=b")
    ] == [0] * 4
