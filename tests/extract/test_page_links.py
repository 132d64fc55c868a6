"""Links as extractors give them: kinds, resolution, memo, charset."""

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.extract import link_header
from gossamer.extract.config import ExtractConfig
from gossamer.extract.html.document import HtmlExtractor
from gossamer.extract.link_header import header_mentions
from gossamer.extract.links import LinkMaker, Mention
from gossamer.model.document import Document, Findings
from gossamer.model.exchange import Headers
from gossamer.model.link import LinkKind
from gossamer.model.url import Url

BASE = "http://h.test/dir/page.html?q=1"


def url(text: str) -> Url:
    parsed = Url.parse(text)
    assert parsed is not None
    return parsed


def read(
    markup: str | bytes,
    charset: str = "utf-8",
    base: str = BASE,
    *,
    media_type: str = "text/html",
    **settings: int,
) -> Findings:
    content = markup if isinstance(markup, bytes) else markup.encode()
    config = ExtractConfig(**settings)  # type: ignore[arg-type]
    extractor = HtmlExtractor(config, LinkMaker(config))
    return extractor.extract(Document(url(base), media_type, charset, Headers([]), content))


@pytest.mark.parametrize(
    ("markup", "kind", "element", "target"),
    [
        ("<a href=x>", "navigation", "a@href", "/dir/x"),
        ("<area href=/x>", "navigation", "area@href", "/x"),
        ("<frame src=x>", "navigation", "frame@src", "/dir/x"),
        ("<iframe src=x>", "navigation", "iframe@src", "/dir/x"),
        ("<iframe srcdoc='<p>&lt;a href=\"x\">' src=y>", "navigation", "a@href", "/dir/x"),
        ("<iframe srcdoc='&lt;a class=c href=x?a=1&amp;amp;b>'>", "navigation", "a@href", "/dir/x?a=1&b"),
        ("<iframe srcdoc='<iframe src=x>'>", "navigation", "iframe@src", "/dir/x"),
        ("<iframe srcdoc='<style>@import \"x\"</style>'>", "requisite", "css", "/dir/x"),
        ("<base href=''><base href=/b/><a href=x>", "navigation", "a@href", "/dir/x"),
        ("<form action=x?a=1>", "navigation", "form@action", "/dir/x?a=1"),
        ("<form method=GET action=x>", "navigation", "form@action", "/dir/x"),
        ("<form method=strange action=x>", "navigation", "form@action", "/dir/x"),
        ("<meta http-equiv=Refresh content='5; URL=x'>", "navigation", "meta@content", "/dir/x"),
        ("<meta http-equiv=refresh content='0;url=\"x\" z'>", "navigation", "meta@content", "/dir/x"),
        ("<meta http-equiv=refresh content='0,x'>", "navigation", "meta@content", "/dir/x"),
        ("<meta http-equiv=refresh content='0 url = x'>", "navigation", "meta@content", "/dir/x"),
        ("<link rel=next href=x>", "navigation", "link@href", "/dir/x"),
        ("<link rel=stylesheet href=x>", "requisite", "link@href", "/dir/x"),
        ("<link rel='shortcut icon' href=x>", "requisite", "link@href", "/dir/x"),
        ("<link rel='ALTERNATE stylesheet' href=x>", "requisite", "link@href", "/dir/x"),
        ("<link rel=alternate href=x>", "alternate", "link@href", "/dir/x"),
        ("<link rel=canonical href=x>", "canonical", "link@href", "/dir/x"),
        ("<link rel=preload imagesrcset='x 1x'>", "requisite", "link@imagesrcset", "/dir/x"),
        ("<img src=x>", "requisite", "img@src", "/dir/x"),
        ("<img srcset='x 1x'>", "requisite", "img@srcset", "/dir/x"),
        ("<source src=x>", "requisite", "source@src", "/dir/x"),
        ("<script src=x></script>", "requisite", "script@src", "/dir/x"),
        ("<embed src=x>", "requisite", "embed@src", "/dir/x"),
        ("<object data=x>", "requisite", "object@data", "/dir/x"),
        ("<object data=x type='image/svg+xml'>", "requisite", "object@data", "/dir/x"),
        ("<object data=x type=' Text/HTML ; charset=x'>", "navigation", "object@data", "/dir/x"),
        ("<embed src=x type=application/xhtml+xml>", "navigation", "embed@src", "/dir/x"),
        ("<video poster=x>", "requisite", "video@poster", "/dir/x"),
        ("<audio src=x>", "requisite", "audio@src", "/dir/x"),
        ("<track src=x>", "requisite", "track@src", "/dir/x"),
        ("<input type=IMAGE src=x>", "requisite", "input@src", "/dir/x"),
        ("<body background=x>", "requisite", "body@background", "/dir/x"),
        ("<td background=x>", "requisite", "td@background", "/dir/x"),
        ("<p style='background: url(x)'>", "requisite", "css", "/dir/x"),
        ('<li class="c" style="background: url(&quot;x&quot;)">', "requisite", "css", "/dir/x"),
        ("<style>@import 'x';</style>", "requisite", "css", "/dir/x"),
        ("<svg><image xlink:href=x /></svg>", "requisite", "image@xlink:href", "/dir/x"),
        ("<svg><use href='x#y'/></svg>", "requisite", "use@href", "/dir/x"),
        ("<svg><style>@import 'x';</style></svg>", "requisite", "css", "/dir/x"),
        ("<svg><style><![CDATA[a>b{c:url(x)}]]></style></svg>", "requisite", "css", "/dir/x"),
        ("<svg><style>a{b:url(&quot;x&quot;)}</style></svg>", "requisite", "css", "/dir/x"),
        ("<svg><foreignObject><div><img src=x></div></foreignObject>", "requisite", "img@src", "/dir/x"),
        ("<svg><desc><iframe src=x></iframe></desc></svg>", "navigation", "iframe@src", "/dir/x"),
    ],
)
def test_each_element_has_its_kind(markup: str, kind: str, element: str, target: str) -> None:
    (link,) = read(markup).links
    assert (link.kind.value, link.element, link.url.target) == (kind, element, target)


@pytest.mark.parametrize(
    "markup",
    [
        "<a href='javascript:x()'>",
        "<a href=' JavaScript:x()'>",
        "<a href='mailto:a@b'>",
        "<a href='data:,x'>",
        "<a href='http://'>",
        "<a href='http://a b/'>",
        "<img src=''>",
        "<img src=' '>",
        "<base href=/b><img src=' #x'>",
        "<base href=//o.test><svg><use href='#x'/></svg>",
        "<p style='mask:url(#x)'>",
        "<form method=post action=x>",
        "<form method=dialog action=x>",
        "<form>",
        "<link href=x>",
        "<link rel=dns-prefetch href=//x>",
        "<link rel=preconnect href=//x>",
        "<link rel=pingback href=x>",
        "<input src=x>",
        "<a name=x>",
        "<iframe srcdoc='' src=x>",
        "<iframe srcdoc='<iframe srcdoc=&quot;<a href=x>&quot;>'>",
        "<meta http-equiv=refresh content=5>",
        "<meta http-equiv=refresh content='x; url=y'>",
        "<base href=x>",
        "<a href='" + "x" * 20_000 + "'>",
    ],
)
def test_what_is_no_link(markup: str) -> None:
    assert read(markup).links == ()


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("", "/dir/page.html?q=1"),
        ("#top", "/dir/page.html?q=1"),
        ("?x", "/dir/page.html?x"),
        ("x#y", "/dir/x"),
        ("../x", "/x"),
        ("./", "/dir/"),
        ("http:x", "/dir/x"),
        ("http:?x", "/dir/page.html?x"),
        (" x\n", "/dir/x"),
        ("\\x", "/x"),
        ("x y", "/dir/x%20y"),
        ("é?é", "/dir/%C3%A9?%C3%A9"),
        ("x?a=1&amp;copy=2&copy=3", "/dir/x?a=1&copy=2&copy=3"),
    ],
)
def test_resolution(href: str, target: str) -> None:
    (link,) = read(f'<a href="{href}">').links
    assert link.url.target == target


@pytest.mark.parametrize(
    ("charset", "href", "target"),
    [
        ("gbk", "中?q=中&r=&euro;", "/dir/%E4%B8%AD?q=%D6%D0&r=%80"),
        ("windows-1252", "é?é&#x4E2D;'", "/dir/%C3%A9?%E9%26%2320013%3B%27"),
        ("windows-1252", "\n x?\té &\r\nb ", "/dir/x?%E9%20&b"),
        ("shift_jis", "?表", "/dir/page.html?%95\\"),
        ("koi8-r", "?я#я", "/dir/page.html?%D1"),
        ("utf-16le", "?é", "/dir/page.html?%C3%A9"),
        ("iso-2022-jp", "x?あ", "/dir/x?%1B$B$%22%1B(B"),
    ],
)
def test_queries_are_in_the_charset_of_the_page(charset: str, href: str, target: str) -> None:
    codec = {"shift_jis": "cp932", "iso-2022-jp": "iso2022_jp", "windows-1252": "cp1252"}.get(
        charset, charset
    )
    (link,) = read(f'<a href="{href}">'.encode(codec, "xmlcharrefreplace"), charset).links
    assert link.url.target == target


def test_empty_elements_of_xhtml_hide_nothing() -> None:
    markup = (
        '<html><head><title/><script src="s"/><style type="text/css"/><SCRIPT src="t" /></head><body>'
        "<iframe src='f'/><![CDATA[ > <a href='no'> ]]><textarea/><a href='x'/>"
        "<script>if (a) write('<a href=no>')</script><a href='y'>y</a></body></html>"
    )
    found = [link.url.target for link in read(markup, media_type="application/xhtml+xml").links]
    assert found == ["/dir/s", "/dir/t", "/dir/f", "/dir/x", "/dir/y"]
    assert read(markup).links == ()


def test_base_is_the_first_with_an_address_wherever_it_stands() -> None:
    found = read("<a href=x><base target=t><base href='/b/c'><base href=/d/><a href=y><a href=#f>")
    assert [link.url.target for link in found.links] == ["/b/x", "/b/y", "/b/c"]
    for odd in ("data:,x", "javascript:x", "http://[", "x:y", "z" * 5000):
        assert read(f"<base href='{odd}'><a href=x>").links[0].url.text == "http://h.test/dir/x"


def test_each_url_and_kind_once_and_what_may_be_followed_counts() -> None:
    found = read("<a rel='x NoFollow' href=x><img src=x><a href=x#1><a href=x><a rel=nofollow href=y>").links
    assert [(link.url.target, link.kind.value, link.nofollow) for link in found] == [
        ("/dir/x", "navigation", False),
        ("/dir/x", "requisite", False),
        ("/dir/y", "navigation", True),
    ]


def test_limits() -> None:
    many = "".join(f"<a href={number}>" for number in range(100))
    assert len(read(many, max_links=10).links) == 10
    long = "".join(f"<a href=/{number}{'x' * 8000}>" for number in range(20))
    assert len(read(long, max_link_text=1 << 16).links) == 8


def test_facts() -> None:
    found = read(
        "<html lang=de><head><title>\n A &amp; B\n</title><title>no</title>"
        "<meta name=Description content='D &lt;'>"
        "<meta name=author content=X><meta name=robots content=noindex>"
        "<meta name=GossaMer content='nofollow'>"
        "<svg><title>no</title></svg><html lang=fr><p>text &amp; more</p><script>hidden()</script>"
    )
    assert (found.title, found.description, found.author, found.language) == ("A & B", "D <", "X", "de")
    assert found.robots == (("robots", "noindex"), ("gossamer", "nofollow"))
    assert found.text_length == len("no") + len("text &amp; more")
    assert read("<title>" + "x" * 5000 + "</title>").title == "x" * 1000
    assert (
        read("<meta property=og:title content=T><meta http-equiv=content-language content='de, en'>").title
        == "T"
    )
    assert read("<meta http-equiv=content-language content='de, en'>").language == "de"
    assert read("<title>日本</title><p>日本語".encode("euc_jp"), "euc-jp").text_length == 3


def test_text_length_of_a_long_page_is_near() -> None:
    markup = "".join(f"<p class='x{number}'>{'word ' * (number % 20)}</p>\n" for number in range(2000))
    exact = sum(5 * (number % 20) for number in range(2000))
    assert 0.8 * exact < read(markup).text_length < 1.2 * exact


HREFS = [
    "",
    "#f",
    "?q",
    "x",
    "x#f",
    "/x",
    "//o.test/x",
    "http://o.test/",
    "http:x",
    "http:?x",
    "https:x",
    " x",
    "\t#f",
    "../x",
    "x?y",
    ".",
    "mailto:x",
    "C|/x",
    "\\x",
    "http:",
    "h\nttp:?x",
    "http:\\x",
    "é",
]
BASES = [
    "http://h.test/",
    "http://h.test/?a/b",
    "http://h.test/a",
    "http://h.test/a/",
    "http://h.test/a/b?c/d",
    "http://h.test/a/b",
    "https://h.test/a/b",
    "http://h.test:8080/a/b",
    "file:///C:/x",
    "file:///D:",
    "file:///a",
    "ftp://h.test/a/b",
    "http://h.test/a?b",
]


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(st.sampled_from(BASES), st.lists(st.sampled_from(HREFS), max_size=6)), max_size=12))
def test_the_memo_changes_nothing(pages: list[tuple[str, list[str]]]) -> None:
    remembering = LinkMaker(ExtractConfig(memo_links=7))
    for base, hrefs in pages:
        sources = [href.encode() for href in hrefs] + [
            Mention("img@src", LinkKind.REQUISITE, href) for href in hrefs
        ]
        forgetting = LinkMaker(ExtractConfig(memo_links=0))
        assert remembering.make(sources, url(base), "utf-8") == forgetting.make(sources, url(base), "utf-8")
    assert sum(map(len, remembering._memos.values())) <= 7


def test_link_headers() -> None:
    found = mentions_in(
        '</a>; rel="canonical", <b,c>; rel=next; title="x, <y>"',
        "<d\xc3\xa9>; rel=preload",
        "<e>",
        '<f>; rel=next; anchor="#x"',
    )
    assert [(m.kind.value, m.address) for m in found] == [
        ("canonical", "/a"),
        ("navigation", "b,c"),
        ("requisite", "d%C3%A9"),
    ]
    assert mentions_in("<" * 100_000, '<x>; rel="' * 10_000) == []


@pytest.mark.parametrize(
    ("parameters", "kinds"),
    [
        ('; title="a; rel=next"', []),
        ('; title="a; rel=canonical"; rel=next', ["navigation"]),
        ('; title="; anchor=x"; rel=next', ["navigation"]),
        ("; rel=next; rel=canonical", ["navigation"]),
        (" ;REL = next ; type=text/html", ["navigation"]),
        ("; crossorigin; rel=preload", ["requisite"]),
        ("; Anchor=x; rel=next", []),
        ("; rel", []),
        ("; rel=", []),
        (';rel="next', ["navigation"]),
        (";" * 60_000 + "; \t" * 1_000, []),
    ],
)
def test_parameters_of_a_link_header(parameters: str, kinds: list[str]) -> None:
    assert [mention.kind.value for mention in mentions_in(f"</a>{parameters}")] == kinds


@pytest.mark.parametrize(
    ("value", "addresses"),
    [("0; url=/x", ["/x"]), ("5;URL='\xe9'", ["%E9"]), ("5", []), ("0; url=", []), ("", []), ("x", [])],
)
def test_refresh_header(value: str, addresses: list[str]) -> None:
    found = header_mentions(Headers([("Refresh", value)]))
    assert [(m.element, m.kind.value, m.address) for m in found] == [
        ("Refresh", "navigation", address) for address in addresses
    ]


def test_a_link_header_that_does_not_end_is_looked_through_once() -> None:
    long = "<" * 65536
    assert len(link_header._LINK.findall(long)) == 1, "or the end is looked for anew from every bracket"
    assert mentions_in(f"</b>;rel=next, {long}") == mentions_in("</b>;rel=next")
    assert not mentions_in(long, "<a" * 32768, "<x>;rel" * 9362, "<x>;" * 16384)


def mentions_in(*values: str) -> list[Mention]:
    return header_mentions(Headers([("Link", value) for value in values]))


@pytest.mark.parametrize(
    ("markup", "elements"),
    [
        ("<img src=s.gif data-src=a.jpg>", {"img@src": "/dir/s.gif", "img@data-src": "/dir/a.jpg"}),
        ("<img data-srcset='a.jpg 1x'>", {"img@data-srcset": "/dir/a.jpg"}),
        ("<source data-srcset='/a.webp 2x'>", {"source@data-srcset": "/a.webp"}),
        ("<img class=lazy data-lazy-src='/a b.png'>", {"img@data-lazy-src": "/a%20b.png"}),
        ("<img data-src=lazy data-original=''>", {}),
        ("<div data-src=/x.jpg></div>", {}),
    ],
)
def test_pictures_that_are_loaded_later(markup: str, elements: dict[str, str]) -> None:
    links = read(markup).links
    assert {link.element: link.url.target for link in links} == elements
    assert all(link.kind is LinkKind.REQUISITE for link in links)


@pytest.mark.parametrize(
    ("markup", "target"),
    [
        ("<template><base href=/no/></template><a href=x>", "/dir/x"),
        ("<template><base href=/no/></template><base href=/b/><a href=x>", "/b/x"),
        ("<base href=/b/><template><base href=/no/></template><a href=x>", "/b/x"),
        ("<TEMPLATE a='</template>'><template></template><base href=/no/></TEMPLATE ><a href=x>", "/dir/x"),
        ("<!-- <template> --><base href=/b/><a href=x>", "/b/x"),
        ("<script>'<template>'</script><base href=/b/><a href=x>", "/b/x"),
        ("<base href=/b/></template><template><a href=x>", "/b/x"),
        ("<template><base href=/no/><a href=x>", "/dir/x"),
    ],
)
def test_a_base_within_a_template_is_none(markup: str, target: str) -> None:
    assert [link.url.target for link in read(markup).links] == [target]


@pytest.mark.parametrize(
    "markup", ['<base href="#x">', '<BASE HREF="#x">', '<svg><use href="#x"/></svg>', '<link href="#x">']
)
def test_what_has_no_anchor_has_no_link_to_itself(markup: str) -> None:
    assert read(markup).links == ()
    assert [link.url.text for link in read(markup + '<a id=b href="#y">').links] == [BASE]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("robots,googlebot", ["robots", "googlebot"]),
        ("googlebot , gossamer", ["googlebot", "gossamer"]),
        (",robots,,", ["robots"]),
        ("robots googlebot", []),
    ],
)
def test_directives_to_several_robots(names: str, told: list[str]) -> None:
    found = read(f"<meta name='{names}' content='noindex'>").robots
    assert list(found) == [(name, "noindex") for name in told]
