"""What is changed of a document that is replayed: the origins of addresses, and not a byte more."""

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as some

from gossamer.extract.rewriting.css import changed_sheet
from gossamer.model.url import Url
from gossamer.replay.names import Names
from gossamer.replay.rewriting.addresses import Mover
from gossamer.replay.rewriting.markup import moved_markup

NAMES = Names(1, "t")
PAGE = Url.parse("https://a.b/dir/page")
assert PAGE is not None
MOVER = Mover(NAMES, PAGE)
C = "http://c-d-s-t.localhost:1"
CH = "http://c-d-h-t.localhost:1"


def moved(text: str, script: str = "") -> str:
    return moved_markup(text.encode(), MOVER, script.encode()).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<a href="https://c.d/x?y#z">', f'<a href="{C}/x?y#z">'),
        ("<a href=https://c.d/x>", f'<a href="{C}/x">'),
        ("<a href='//c.d'>", f"<a href='{C}'>"),
        ('<A HREF="HTTPS://C.D/X">', f'<A HREF="{C}/X">'),
        ('<a href=" https:\\\\c.d/x">', f'<a href="{C}/x">'),
        ('<a href="https://u:p@c.d:8443/x">', '<a href="http://c-d-s8443-t.localhost:1/x">'),
        ('<a href="https:&#x2f;/c.d/?a=1&amp;b">', f'<a href="{C}/?a=1&amp;b">'),
        ('<a href="https://c.d/?a=1&amp;b&copy=2">', f'<a href="{C}/?a=1&amp;b&copy=2">'),
        ('<img srcset="https://c.d/1.png 1x, /2.png 2x,//c.d/3.png 3x">', f'<img srcset="{C}/1.png 1x, /2.png 2x,{C}/3.png 3x">'),
        ('<p style="background:url(&quot;https://c.d/p&quot;)">', f'<p style="background:url(&quot;{C}/p&quot;)">'),
        ("<style>@import 'https://c.d/s';p{x:url(//c.d/i)}</style>", f"<style>@import '{C}/s';p{{x:url({C}/i)}}</style>"),
        ('<meta http-equiv=refresh content="3; url=https://c.d/">', f'<meta http-equiv=refresh content="3; url={C}/">'),
        ('<meta name=x content="3; url=https://c.d/">', '<meta name=x content="3; url=https://c.d/">'),
        ('<meta http-equiv="Content-Security-Policy" content=x>', '<meta http-equiv="archived-Content-Security-Policy" content=x>'),
        ('<script src="https://c.d/s" integrity="sha256-x"></script>', f'<script src="{C}/s" integrity=""></script>'),
        ('<script type="speculationrules">{}</script>', '<script type="archived/speculationrules">{}</script>'),
        ('<script>"<a href=https://c.d/>"</script>', '<script>"<a href=https://c.d/>"</script>'),
        ("<!-- <a href=https://c.d/> -->", "<!-- <a href=https://c.d/> -->"),
        ('<iframe srcdoc="<a href=&quot;https://c.d/&quot;>">', f'<iframe srcdoc="&lt;a href=&quot;{C}/&quot;&gt;">'),
        ('<svg><image xlink:href="https://c.d/i"/><style>a{x:url(http://c.d/i)}</style></svg>', f'<svg><image xlink:href="{C}/i"/><style>a{{x:url({CH}/i)}}</style></svg>'),
        ('<script type="importmap">{"imports":{"https://c.d/a":"https://c.d/b","x/":"//c.d/x/"},"scopes":{"https://c.d/":{}}}</script>', f'<script type="importmap">{{"imports":{{"https://c.d/a":"{C}/b","x/":"{C}/x/"}},"scopes":{{"{C}/":{{}}}}}}</script>'),
        ('<form action="https://c.d/f"><button formaction=//c.d/g>', f'<form action="{C}/f"><button formaction="{C}/g">'),
        ('<base href="https://c.d/">', f'<base href="{C}/">'),
        ('<a href="x" href="https://c.d/">', '<a href="x" href="https://c.d/">'),
        ('<a ping="https://c.d/">', '<a ping="">'),
        ("<a href='javascript:x' href2='https://c.d/'>", "<a href='javascript:x' href2='https://c.d/'>"),
    ],
)  # fmt: skip
def test_addresses_of_other_origins(before: str, after: str) -> None:
    assert moved(before) == after


@pytest.mark.parametrize(
    "same",
    ["", "text", '<a href="/x">', '<a href="x?u=https://c.d/">', '<a href="#x">', '<a href="mailto:a@c.d">',
     '<img src="data:image/png,x">', '<a href="https:x">', '<a href="https:///">', '<a href="http://[::x]/">', "<a href",
     '<a title="https://c.d/">'],
)  # fmt: skip
def test_what_is_right_already_stays(same: str) -> None:
    assert moved(same) == same


@settings(max_examples=examples(100))
@given(some.binary(max_size=300))
def test_bytes_without_such_an_address_stay(content: bytes) -> None:
    if (
        b"//" not in content
        and b"\\" not in content
        and b"meta" not in content.lower()
        and b"&" not in content
    ):
        after = moved_markup(content, MOVER, b"")
        assert after == content or b"integrity" in content or b"ping" in content


@settings(max_examples=examples(100))
@given(some.lists(some.sampled_from(["<a href='", "https://c.d/", "'>", "<style>", "url(", ")", "</style>", "<svg>", '"', "&amp;", "x", "<script>", "</script>", "<!--", "-->", "é"]), max_size=20))  # fmt: skip
def test_all_that_changes_is_origins(parts: list[str]) -> None:
    before = "".join(parts)
    assert moved(before).replace(C, "https://c.d").replace('"https://c.d/', "https://c.d/").replace(
        '"', ""
    ) == (before.replace('"', ""))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<!doctype html><html><head a=1><title>t", "<!doctype html><html><head a=1>S<title>t"),
        ("<!doctype html><title>t", "<!doctype html>S<title>t"),
        ("<html><body>x", "<html>S<body>x"),
        ("<!doctype html>text", "<!doctype html>textS"),
        ('<script type=importmap>{}</script>', '<script src="s&amp;m=1"></script><script type=importmap>{}</script>'),
    ],
)  # fmt: skip
def test_our_script_goes_first(before: str, after: str) -> None:
    assert moved(before, "s") == after.replace("S", '<script src="s"></script>')


def test_styles() -> None:
    assert changed_sheet(b"a{b:image-set('//c.d/1' 1x);c:url( https://c.d/\\31 )}", MOVER.moved).decode() == (
        f"a{{b:image-set('{C}/1' 1x);c:url( {C}/\\31 )}}"
    )
    assert (
        changed_sheet(b"/* url(https://c.d/) */ \xff url(x)", MOVER.moved)
        == b"/* url(https://c.d/) */ \xff url(x)"
    )
