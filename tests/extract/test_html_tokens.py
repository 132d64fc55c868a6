"""The scanner against html5lib, and its cost against the length of what it reads."""

import html5lib
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.extract.html.character_references import unescape_attribute
from gossamer.extract.html.tag_grammar import Tag
from gossamer.extract.html.tags import meaning_of
from gossamer.extract.html.tokens import tokenize

ADDRESS = {"a": "href", "area": "href", "img": "src", "iframe": "src", "script": "src", "link": "href"}


def ours(markup: str) -> list[str]:
    """Addresses of the scanner, as attributes say them."""
    found = []
    for token in tokenize(markup.encode(), 100_000).found:
        if isinstance(token, tuple):
            token = Tag(*token)
        if isinstance(token, bytes):
            found.append(unescape_attribute(token.decode()))
        else:
            found += [m.address for m in meaning_of(token, "utf_8").mentions if m.element != "css"]
    return [address.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd") for address in found]


def theirs(markup: str) -> list[str]:
    """The same by html5lib's tree."""
    tree = html5lib.parse(markup, treebuilder="etree", namespaceHTMLElements=False)
    found = []
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        name = element.tag.rpartition("}")[2]
        key = ADDRESS.get(name, "")
        value = element.get(key) or element.get("{http://www.w3.org/1999/xlink}href")
        present = key in element.attrib or (name == "a" and bool(value))
        if present and (name in ("a", "area") or (value or "").strip()):
            found.append(value or "")
    return found


TRICKY = [
    '<a href="x">',
    "<a href='x'>",
    "<a href=x>",
    "<A HREF=x>",
    "<a\nhref\n=\nx\n>",
    '<a class=c href="x" title="a > b">',
    '<a href="x"class="c">',
    '<a/href="x"/>',
    '<a href="x" href="y">',
    '<a HREF="x" href="y">',
    "<a href=x/y/>",
    '<a href=x"y>',
    '<a =href="x">',
    '<a ="" href="x">',
    '<a "=" href="x">',
    "<a href>",
    "<a href=>",
    "<a href= >",
    '<a href="">',
    '<a href="x"',
    '<a href="x>text</a><a href="y">',
    "<a href='x>",
    '<div title="<a href=x>"><a href=y></div>',
    "<div title='<a href=\"x\">'><a href=y></div>",
    '<div title="a>b" id=\'<a href="z">\'><a href=y></div>',
    '<div title = "<a href=x>"><a href=y></div>',
    "<div title=<a href=x><a href=y></div>",
    '<p class="<a href=x>"><a href=y>',
    '<p class="a"id="<a href=x>"><a href=y>',
    '<span class="c" title="<a href=x>"><a href=y>',
    '<p ="<a href=x>"><a href=y>',
    '<p a"="<a href=x>"><a href=y>',
    "<!-- <a href=x> --><a href=y>",
    "<!--><a href=y>",
    "<!---><a href=y>",
    "<!-- --!><a href=y>",
    "<!--!><a href=x>--><a href=y>",
    "<!---!><a href=x>--><a href=y>",
    "<!----!><a href=y>",
    "<!-- -- ><a href=x> --><a href=y>",
    "<!-- <!-- --><a href=y>",
    "<!-- <a href=x>",
    "<!doctype html><a href=y>",
    '<!doctype html "<a href=x>"><a href=y>',
    "<!x <a href=x><a href=y>",
    "<?php <a href=x> ?><a href=y>",
    "<![CDATA[<a href=x>]]><a href=y>",
    "</ <a href=x><a href=y>",
    "</><a href=y>",
    "</p title='<a href=x>'><a href=y>",
    '</a href="x"><a href=y>',
    "< a href=x><a href=y>",
    "<3 <a href=y>",
    "<<a href=y>",
    "a < b <a href=y> c > d",
    "<script><a href=x></script><a href=y>",
    "<script>'</scripty>'<a href=x></script ><a href=y>",
    "<SCRIPT><a href=x></Script/><a href=y>",
    "<script><!--<script></script><a href=x>--></script><a href=y>",
    "<script><!--<script></script></script><a href=y>",
    "<script><!-- </script><a href=y>",
    "<script><!--><script></script><a href=y>",
    "<script><!--<script>--></script><a href=y>",
    "<script><!--<scripty></script><a href=y>",
    "<script src=s>x",
    "<style><a href=x></style><a href=y>",
    "<title><a href=x></title><a href=y>",
    "<title><a href=x></titles></title><a href=y>",
    "<textarea><a href=x></textarea><a href=y>",
    "<xmp><a href=x></xmp><a href=y>",
    "<iframe src=i><a href=x></iframe><a href=y>",
    "<noembed><a href=x></noembed><a href=y>",
    "<noframes><a href=x></noframes><a href=y>",
    "<body><noscript><a href=x></noscript><a href=y>",
    "<plaintext><a href=x>",
    "<svg><title><a href=x></title></svg><a href=y>",
    "<svg><style><a href=x></style></svg><a href=y>",
    "<svg><a xlink:href=x></a></svg><a href=y>",
    "<svg/><title><a href=x></title><a href=y>",
    "<svg><![CDATA[<a href=x>]]></svg><a href=y>",
    "<svg><div><title><a href=x></title><a href=y>",
    "<math><mi><a href=x></a></mi></math><a href=y>",
    "<a href='&amp;&lt;&#x41;&#65;&eacute;&eacute;'>",
    "<a href='?a=1&copy=2&amp=3&copy;&copyx&notit;&notin;&nosuch;'>",
    "<a href='&#0;&#x110000;&#xd800;&#128;&#99999999999999999999;&#x;&#;&'>",
    "<a href=\"&AMP&amp\"><a href='&#65'><a href=&#x41>",
    "<a href='a\0b'>",
    "<a\0 href=x><a href=y>",
    "<a href=' x\ty\r\nz '>",
    "<a\fhref=x>",
    "<x-y href=x><a href=y>",
    "<ahref=x><a href=y>",
    "<a><a name=n><a href=y>",
    "<a rel=nofollow href=y>",
    "<a style='x' hreflang=en href=y>",
    "<area href=x><img src=i><link rel=next href=n>",
    "<image src=i><a href=y>".replace("image", "img"),
    '<img alt="<a href=x>" src=i><a href=y>',
    "<p>" * 1500 + "<a href=y>",
    "<a" + " x" * 2500 + " y='<a href=z>'><a href=y>",
    "<div>" + "<b>&lt;a href=x&gt;</b>" * 3 + "<a href=y>",
]


@pytest.mark.parametrize("markup", TRICKY, ids=lambda markup: markup[:60])
def test_tricky_markup_reads_as_in_html5lib(markup: str) -> None:
    assert sorted(set(ours(markup))) == sorted(set(theirs(markup)))


PIECES = st.sampled_from(
    [
        "<a href=",
        "<a ",
        "href=",
        "x1",
        "x2",
        "'",
        '"',
        ">",
        "<",
        " ",
        "/",
        "=",
        "<!--",
        "-->",
        "--!>",
        "<!",
        "<?",
        "</",
        "<p ",
        "<p>",
        "<span class=",
        "</p>",
        '<a href="y1">',
        "<a href='y2'>",
        "<a href=y3>",
        "title=",
        "&amp;",
        "&copy",
        "<script>",
        "</script>",
        "<script",
        "</script ",
        "<textarea>",
        "</textarea>",
        "-",
        "\n",
        "\t",
        "text",
        '<div title="',
        "<div title='",
        "<A HREF=",
        "<img src=i1>",
        "\0",
        "!",
        '<a href="z" rel=next>',
        "<style>",
        "</style>",
    ]
)


@pytest.mark.slow
@settings(max_examples=examples(1500), deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_soup_reads_as_in_html5lib(markup: str) -> None:
    assert set(ours(markup)) == set(theirs("<body>" + markup))


UNITS = [
    "<a ",
    "<!--",
    "<a href='",
    '<a href="',
    "<script>",
    "<",
    "<div>",
    '<p  ="',
    '<p a="',
    "<!-- --",
    "</",
    "<?",
    "<!",
    "<a href=x>",
    "<A HREF=x>",
    '<a href="x" rel="y">',
    '<a href="x">',
    "x",
    "<svg>",
    "<svg><a ",
    "<svg><![CDATA[",
    "<style>",
    "<title></title",
    "<script><!--<script>",
    "<script><!--</script ",
    '<span class="',
    '<a id="x" ',
    "\0<a\0",
    '<p "',
    "<3",
    "<a = = =",
    "<a / / /",
    '<li style="x">',
    "<details open>",
    '<p x="1" y',
    "&amp;",
    "--!",
]


@pytest.mark.parametrize("unit", UNITS)
def test_work_grows_with_length_only(unit: str) -> None:
    """Turns of the loop: each is one possessive match, and what it reads in vain the next one consumes."""
    small = unit.encode() * 500
    once, four = tokenize(small, 10**9), tokenize(small * 4, 10**9)
    assert four.steps <= 4 * once.steps + 10
    assert once.steps <= 2 * len(small)


def test_a_million_attributes_are_one_tag() -> None:
    markup = b"<a " + b"x=1 " * 250_000 + b'href="late"><a href="y">'
    tokens = tokenize(markup, 10)
    assert len(tokens.found) == 2
    assert tokens.found[1] == b"y"
    assert tokens.steps < 600


def test_the_scan_ends_at_its_limit() -> None:
    tokens = tokenize(b'<a href="x">' * 100, 10)
    assert len(tokens.found) == 10
    assert not tokens.whole
    assert tokenize(b'<a href="x">' * 9, 10).whole


def test_scripts_and_styles_are_hidden() -> None:
    markup = b"ab<script>123</script>cd<style>4567</style>"
    hidden = tokenize(markup, 100).hidden
    assert [markup[start:end] for start, end in hidden] == [b"123", b"4567"]


def test_style_elements_and_titles_carry_their_content() -> None:
    found = tokenize(b"<title>a&amp;b</title><style media=x>p{}</style>", 100).found
    assert found == [Tag(b"title", b"", b"a&amp;b"), Tag(b"style", b" media=x", b"p{}")]
