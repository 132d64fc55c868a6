"""Style sheets, srcset, refresh, sitemaps, feeds, character references."""

import gzip
import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.extract.addresses import refresh_address, srcset_addresses
from gossamer.extract.config import ExtractConfig
from gossamer.extract.css import css_addresses
from gossamer.extract.feeds.feed import FeedExtractor
from gossamer.extract.feeds.sitemap import SitemapExtractor
from gossamer.extract.feeds.xml_elements import elements
from gossamer.extract.html.character_references import unescape_attribute, unescape_text
from gossamer.extract.links import LinkMaker
from gossamer.extract.media_type import media_type
from gossamer.model.document import Document, Findings
from gossamer.model.exchange import Headers
from gossamer.model.url import Url

CONFIG = ExtractConfig()


def document(
    content: bytes,
    media_type: str = "text/xml",
    address: str = "http://h.test/sitemap.xml",
    *,
    listed: bool = False,
) -> Document:
    url = Url.parse(address)
    assert url is not None
    charset = "" if media_type.startswith("application/") and "xml" not in media_type else "utf-8"
    return Document(url, media_type, charset, Headers([]), content, listed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a{b:url(x)}", ["x"]),
        ("a{b:url( 'x y' )}", ["x y"]),
        ('a{b:URL("x")}', ["x"]),
        ("@import 'x'; @import url(y); @IMPORT/**/\"z\"", ["x", "y", "z"]),
        ("/* url(x) */ a{b:url(y)}", ["y"]),
        ("a{content:'url(x)'} b{c:url(y)}", ["y"]),
        ("a{b:url(\\78 y\\)z)}", ["xy)z"]),
        ("a{b:url('a\\'b')}", ["a'b"]),
        ("a{b:image-set(url(x) 1x, url(y) 2x)}", ["x", "y"]),
        ("a{b:image-set('x' 1x, \"y\" type('image/png') 2x)} c{d:url(z)}", ["x", "y", "z"]),
        ("a{b:-webkit-IMAGE-SET( 'x)' 1x, url('y') 2x /* 'no' */); content: 'no'}", ["x)", "y"]),
        ("a{b:image-set(linear-gradient(rgb(calc(1 + 2), 3, 4), red) 1x, 'x' 2x)}", ["x"]),
        ("@import 'x'; @namespace 'no'; a{b:image-set('y'", ["x", "y"]),
        ("a{content:\"image-set('\"} b{--x-image-set:x; c:x-image-set('no')}", []),
        ("a{b:image-set(/**/ 'x' 'no' 1x, /* , */ 'y' type('no', 'no'))}", ["x", "y"]),
        ("image-set(" * 1000, []),
        ("a{b:xurl(x)}", []),
        ("a{b:url()}", []),
        ("a{b:url(\u3000x\u00a0y\t)}", ["\u3000x\u00a0y"]),  # white space elsewhere, not in CSS
        ("@namespace s url(http://n.test/); @NAMESPACE 'http://n.test/;'; a{b:url(x)}", ["x"]),
        ("@namespace-x url(x)", ["x"]),
        ("a{b:url(x", ["x"]),
        ("url(" * 1000, []),
        ("a{}", []),
    ],
)
def test_css(text: str, expected: list[str]) -> None:
    assert css_addresses(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a", ["a"]),
        ("a 1x, b 2x", ["a", "b"]),
        ("a, b", ["a", "b"]),
        ("a,b 2x", ["a,b"]),
        (" , a 100w 50h ,, b", ["a", "b"]),
        ("data:,x 1x, b 2x", ["data:,x", "b"]),
        ("a (1,2), b", ["a", "b"]),
        ("a (1, b", ["a"]),
        ("a\u3000b 1x,\u00a0c", ["a\u3000b", "\u00a0c"]),  # not white space to HTML
        ("", []),
        (",,,", []),
    ],
)
def test_srcset(value: str, expected: list[str]) -> None:
    assert srcset_addresses(value) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0;url=x", "x"),
        ("5 ; URL = 'x y' z", "x y"),
        ("0, x", "x"),
        ("0 x", "x"),
        (".5;x", "x"),
        ("1.5.2;url=x", "x"),
        ('0;"x', "x"),
        ("0;urlx", "urlx"),
        ("0;url='", ""),
        ("5", ""),
        ("", ""),
        ("x", ""),
        ("0x", ""),
        ("5;", ""),
    ],
)
def test_refresh(content: str, expected: str) -> None:
    assert refresh_address(content) == expected


def sitemap(
    content: bytes, media_type: str = "text/xml", address: str = "http://h.test/sitemap.xml"
) -> Findings:
    return SitemapExtractor(CONFIG, LinkMaker(CONFIG)).extract(document(content, media_type, address))


def test_sitemaps() -> None:
    urlset = (
        b"\xef\xbb\xbf\n<?xml version='1.0'?><!DOCTYPE x [<!ENTITY e 'no'>]>"
        b"<s:urlset xmlns:s='x' xmlns:image='y'>"
        b"<s:url><s:loc> http://h.test/a?b=1&amp;c=2 </s:loc><image:loc>http://h.test/i</image:loc></s:url>"
        b"<!-- <s:loc>http://h.test/no</s:loc> --><s:url><s:loc><![CDATA[http://h.test/b]]></s:loc></s:url>"
        b"<s:url><s:loc>http://h.test/&e;</s:loc><s:loc>http://h.test/cut"
    )
    found = sitemap(urlset).links
    assert [link.url.target for link in found] == ["/a?b=1&c=2", "/b"]
    assert {(link.kind.value, link.element) for link in found} == {("sitemap", "urlset")}
    index = b"<sitemapindex><sitemap><loc>http://h.test/1.xml</loc></sitemap></sitemapindex>"
    assert [(link.url.target, link.element) for link in sitemap(index).links] == [("/1.xml", "sitemap")]
    packed = gzip.compress(index[:30]) + gzip.compress(index[30:])
    assert len(sitemap(packed, "application/gzip", "http://h.test/sitemap.xml.gz").links) == 1
    assert sitemap(packed, "application/gzip", "http://h.test/x.tar.gz").links == ()
    assert len(sitemap(packed[:-20], "application/x-gzip").links) <= 1
    listed = b"http://h.test/1\r\n\r\nnonsense\nhttps://h.test/2"
    assert len(sitemap(listed, "text/plain", "http://h.test/sitemap.txt").links) == 2
    assert sitemap(listed, "text/plain", "http://h.test/readme.txt").links == ()
    assert sitemap(b"<html><loc>http://h.test/</loc>").links == ()
    assert sitemap(b"").links == ()


def test_other_versions_of_a_page_in_a_sitemap_come_after_its_locations() -> None:
    urlset = (
        b"<urlset xmlns='x' xmlns:xhtml='y'><url><loc>http://h.test/en</loc>"
        b"<xhtml:link rel='alternate' hreflang='en' href='http://h.test/en'/>"
        b"<xhtml:link rel='alternate' hreflang='de' href='http://h.test/de?a&amp;b'/>"
        b"<xhtml:link rel='alternate nofollow' href='/no'/><xhtml:link rel='x' href='/no'/></url>"
        b"<url><loc>http://h.test/2</loc></url></urlset>"
    )
    assert [(link.url.target, link.kind.value, link.nofollow) for link in sitemap(urlset).links] == [
        ("/en", "sitemap", False),
        ("/2", "sitemap", False),
        ("/de?a&b", "alternate", False),
        ("/no", "alternate", True),
    ]


INDEX = b"<sitemapindex><sitemap><loc>http://h.test/1.xml</loc></sitemap></sitemapindex>"


@pytest.mark.parametrize(
    ("content", "media_type", "count"),
    [
        (gzip.compress(INDEX, mtime=0), "application/octet-stream", 1),
        (gzip.compress(b"http://h.test/1\nhttp://h.test/2", mtime=0), "application/gzip", 2),
        (INDEX, "application/octet-stream", 1),
        (INDEX, "text/plain", 1),
        (b"\xef\xbb\xbfhttp://h.test/1\n\n", "text/plain", 1),
        (b"http://h.test/1\n", "application/octet-stream", 1),
        (b"see http://h.test/1\nhttp://h.test/2", "text/plain", 0),
        (b"http://h.test/1\nis a page", "text/plain", 0),
        (b"\x00\x01http://h.test/1", "application/octet-stream", 0),
        (gzip.compress(b"x\nhttp://h.test/1", mtime=0), "application/gzip", 0),
    ],
)
def test_what_robots_files_call_a_sitemap_is_one_by_any_name(
    content: bytes, media_type: str, count: int
) -> None:
    extractor = SitemapExtractor(CONFIG, LinkMaker(CONFIG))
    listed = document(content, media_type, "http://h.test/map", listed=True)
    assert len(extractor.extract(listed).links) == count
    assert extractor.extract(document(content, media_type, "http://h.test/map")).links == ()


def test_a_packed_bomb_is_cut() -> None:
    config = ExtractConfig(max_content=1 << 16)
    bomb = gzip.compress(b"<urlset>" + b"<loc>http://h.test/a</loc>" * 1_000_000)
    found = SitemapExtractor(config, LinkMaker(config)).extract(document(bomb, "application/gzip"))
    assert len(found.links) == 1


def test_at_most_fifty_thousand_entries() -> None:
    lines = b"".join(b"<loc>http://h.test/%d</loc>" % number for number in range(50_010))
    config = ExtractConfig(max_links=60_000)
    assert (
        len(SitemapExtractor(config, LinkMaker(config)).extract(document(b"<urlset>" + lines)).links)
        == 50_000
    )


def test_feeds() -> None:
    extractor = FeedExtractor(CONFIG, LinkMaker(CONFIG))
    rss = (
        b"<rss><channel><title>T &amp; U</title><link>http://h.test/</link><description>D</description>"
        b"<item><title>no</title><link><![CDATA[/1?a&b]]></link><guid>http://h.test/g</guid>"
        b"<guid isPermaLink='false'>http://h.test/no</guid><enclosure url='m.mp3' length='1'/></item>"
    )
    found = extractor.extract(document(rss))
    assert (found.title, found.description) == ("T & U", "D")
    assert [(link.url.target, link.kind.value) for link in found.links] == [
        ("/", "navigation"),
        ("/1?a&b", "navigation"),
        ("/g", "navigation"),
        ("/m.mp3", "requisite"),
    ]
    atom = (
        b"<feed><link rel='self' href='/no'/><link href='/1'/><entry><link rel='alternate' href='/2'/>"
        b"<link rel='next' href='/3'/></entry></feed>"
    )
    assert [link.url.target for link in extractor.extract(document(atom)).links] == ["/1", "/2", "/3"]
    assert extractor.extract(document(b"<urlset><link>http://h.test/</link>")).links == ()


def test_addresses_of_a_feed_are_relative_to_the_nearest_base() -> None:
    feed = (
        b"<feed xml:base='/f/'><link href='1'/><entry xml:base='e/'><link href='2'/>"
        b"<content src='3' xml:base='http://o.test/x/'/><link href='http://h.test/4'/></entry>"
        b"<entry><link href='5'/></entry><entry xml:base='x:y'><link href='6'/></entry></feed>"
    )
    extractor = FeedExtractor(CONFIG, LinkMaker(CONFIG))
    found = extractor.extract(document(feed, address="http://h.test/a/atom")).links
    assert [link.url.text.removeprefix("http://h.test") for link in found] == [
        *("/f/1", "/f/e/2", "http://o.test/x/3", "/4", "/f/5", "/f/6"),
    ]
    rss = b"<rss><channel xml:base='/c/'><link>1</link><item xml:base='d/'><link>2</link></item><item>"
    found = extractor.extract(document(rss + b"<link>3</link>")).links
    assert [link.url.target for link in found] == ["/c/1", "/c/d/2", "/c/3"]


@pytest.mark.parametrize(
    "entry",
    [
        b"<item><description>&lt;a href=&quot;/x?a&amp;amp;b&quot;>y&lt;/a&gt;</description>",
        b"<item><description><![CDATA[<p>1 <a href='x?a&amp;b'>y</a>]]></description>",
        b"<item><content:encoded><![CDATA[<a href='/x?a&b'>]]></content:encoded>",
        b"<item><description><p>forgotten <a class='c' href='/x?a&amp;b'>y</a></p></description>",
        b"<entry xml:base='http://h.test/'><content type='html'>&lt;a href=x?a&amp;amp;b></content>",
        b"<entry><summary type='html'>&lt;area href='/x?a&amp;amp;b'></summary>",
        b"<entry><content type='xhtml'><div xmlns='y'><a href='/x?a&amp;b'>z</a></div></content>",
        b"<entry><content type='text/html' src='/x?a&amp;b'/>",
        b"<entry><content type='text'>&lt;a href='/no'></content><link href='/x?a&amp;b'/>",
    ],
)
def test_links_in_the_html_of_entries_are_links(entry: bytes) -> None:
    feed = document(b"<feed>" + entry, address="http://h.test/feed")
    (link,) = FeedExtractor(CONFIG, LinkMaker(CONFIG)).extract(feed).links
    assert (link.url.target, link.kind.value) == ("/x?a&b", "navigation")


def test_html_of_entries_says_what_to_load_and_what_not_to_follow() -> None:
    feed = document(
        b"<rss xml:base='/b/'><item><description>&lt;img src=i>&lt;a rel=nofollow href=n></description>"
    )
    found = FeedExtractor(CONFIG, LinkMaker(CONFIG)).extract(feed).links
    assert [(link.url.target, link.kind.value, link.nofollow) for link in found] == [
        ("/b/i", "requisite", False),
        ("/b/n", "navigation", True),
    ]


def test_an_ampersand_that_xml_forgot_is_one() -> None:
    loc = b"<urlset><loc>http://h.test/?a=1&region=2&copy=3&amp;b&#38;c&lt;&eacute;</loc></urlset>"
    assert sitemap(loc).links[0].url.target == "/?a=1&region=2&copy=3&b&c%3C%C3%A9"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<!-- c -->http://h.test/a", "http://h.test/a"),
        ("http://h.test/a<!-- </loc> -->b<!---->", "http://h.test/ab"),
        (" <!--c--> <![CDATA[<!--a-->]]>", "<!--a-->"),
        ("http://h.test/a<!-- cut", ""),
    ],
)
def test_a_comment_is_no_part_of_the_text_of_an_xml_element_and_does_not_end_it(
    inside: str, text: str
) -> None:
    assert [found.text for found in elements(f"<loc>{inside}</loc>")] == [text]


@pytest.mark.parametrize(
    "unit", ["<a ", "<a>", "<!--", "<![CDATA[", "<a b='", "<a>&amp;", "]]>", "<a><![CDATA[x]]>"]
)
def test_xml_is_walked_once(unit: str) -> None:
    text = unit * 20_000
    found = list(elements(text))
    assert sum(len(element.text) + len(element.source) for element in found) <= len(text)


@given(st.text(alphabet="&#xX;0123456789abcAMPltgnoticpyé=< ", max_size=20))
def test_references_in_text_are_those_of_the_standard_library(text: str) -> None:
    # html.unescape drops control characters and noncharacters, which the standard keeps.
    expected = html.unescape(text)
    ours = unescape_text(text)
    kept = [
        c
        for c in ours
        if not (
            ord(c) < 32 or 0x7E < ord(c) < 0xA0 or 0xFDD0 <= ord(c) <= 0xFDEF or ord(c) & 0xFFFE == 0xFFFE
        )
    ]
    wanted = [c for c in expected if not (ord(c) < 32 or 0x7E < ord(c) < 0xA0)]
    assert kept == wanted


def test_references_in_attributes_need_their_semicolon() -> None:
    assert unescape_attribute("?a&copy=1&copy;&copyx&amp&lt") == "?a&copy=1©&copyx&<"
    assert unescape_attribute("&#" + "9" * 5000 + ";&#x" + "f" * 5000 + ";") == "\ufffd\ufffd"
    assert unescape_text("&" * 10_000) == "&" * 10_000


@pytest.mark.parametrize(
    ("content", "targets"),
    [
        (b"<sitemapindex><sitemap>http://h.test/1.xml</sitemap></sitemapindex>", ["http://h.test/1.xml"]),
        (b"<urlset><url> http://h.test/1 </url></urlset>", ["http://h.test/1"]),
        (b"<urlset><url><loc><url>http://h.test/1</url></loc></url></urlset>", ["http://h.test/1"]),
        (b"<URLSET><URL><LOC>http://h.test/1</LOC></URL></URLSET>", ["http://h.test/1"]),
        (b"<urlset><url><loc>h.test/1</loc></url></urlset>", ["http://h.test/1"]),
        (b"<urlset><url><loc>www.h.test</loc></url></urlset>", ["http://www.h.test/"]),
        (b"<urlset><url><loc>//h.test/1</loc></url></urlset>", ["http://h.test/1"]),
        (b"<urlset><url><loc>a.html</loc></url></urlset>", ["http://h.test/a.html"]),
        (b"<urlset><url><loc>http://h.test/&bar;/1</loc></url><url><loc>/2</loc></url></urlset>",
         ["http://h.test/2"]),
        (b"<urlset>\n<url>\n<loc>http://h.test/1</loc>\n<lastmod>2020</lastmod></url></urlset>",
         ["http://h.test/1"]),
    ],
)  # fmt: skip
def test_sitemaps_as_people_write_them(content: bytes, targets: list[str]) -> None:
    assert [link.url.text for link in sitemap(content).links] == targets


def test_lists_of_addresses_without_a_scheme() -> None:
    listed = b"h.test/1\nwww.h.test/2\nshop.h.test\nHTTP://h.test/3\nnothing\nother.html\n"
    found = sitemap(listed, "text/plain", "http://h.test/sitemap.txt").links
    assert [link.url.text for link in found] == [
        "http://h.test/1", "http://www.h.test/2", "http://shop.h.test/", "http://h.test/3",
    ]  # fmt: skip


RSS_1 = b"""<?xml version="1.0"?><!DOCTYPE rdf:RDF [ <!ENTITY % x "y"> ]><rdf:RDF
 xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
 <channel rdf:about="http://h.test/"><title>News</title><link>http://h.test/</link></channel>
 <item><link>http://h.test/1</link></item></rdf:RDF>"""
ATOM = b"<atom:feed xmlns:atom='http://www.w3.org/2005/Atom'><atom:title>News</atom:title>\
<atom:entry><atom:link href='/1'/></atom:entry></atom:feed>"
RSS = b"<!DOCTYPE rss PUBLIC '-//N//DTD RSS 0.91//EN' 'x'>\n<rss><channel><title>News</title><item>\
<link>http://h.test/1</link></item></channel></rss>"
JSON = b"""{"title": "News", "version": "https://jsonfeed.org/version/1.1", "items": [
 {"url": "/1", "external_url": 7, "content_html": "<a href='/2'>x</a><img src='/i.png'>",
  "attachments": [{"url": "/a.mp3"}, 3], "authors": [{"url": "/me"}]}, "no"], "next_url": "/p2"}"""
TYPES = [
    "application/rdf+xml", "application/x-rss+xml", "application/feed+xml", "text/rss", "text/atom",
    "text/plain", "text/plain; charset=utf-8", "text/html", "text/xml", "application/xml",
    "application/rss+xml", "application/atom+xml", "application/octet-stream+xml", "application/x-rss", "",
]  # fmt: skip


def read(content: bytes, declared: str) -> Findings:
    kind = media_type(declared, content)
    if kind not in FeedExtractor.media_types:
        return Findings()
    return FeedExtractor(CONFIG, LinkMaker(CONFIG)).extract(document(content, kind, "http://h.test/feed"))


@pytest.mark.parametrize("declared", TYPES)
@pytest.mark.parametrize("content", [RSS_1, ATOM, RSS])
def test_feeds_are_known_whatever_they_are_called(content: bytes, declared: str) -> None:
    found = read(content, declared)
    assert found.title == "News"
    assert "http://h.test/1" in [link.url.text for link in found.links]


@pytest.mark.parametrize(
    "declared", ["application/feed+json", "application/json", "text/plain", "text/json", "application/x-json"]
)
def test_json_feeds(declared: str) -> None:
    found = read(JSON, declared)
    assert found.title == "News"
    assert {(link.url.target, link.kind.value) for link in found.links} == {
        ("/p2", "navigation"), ("/1", "navigation"), ("/a.mp3", "requisite"), ("/2", "navigation"),
        ("/i.png", "requisite"), ("/me", "navigation"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        b"<rdf:RDF xmlns:foaf='http://xmlns.com/foaf/0.1/'><foaf:link>/x</foaf:link></rdf:RDF>",
        b"the element &lt;rss> <rss><channel><link>/x</link></channel></rss>",
        b'{"version": "1", "items": [{"url": "/x"}]}',
        b'{"version": ["https://jsonfeed.org/version/1"], "items": [{"url": "/x"}]}',
        b"[" * 100_000,
        b'{"version": "https://jsonfeed.org/version/1", "items": ' + b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("declared", ["text/plain", "application/json", "application/rdf+xml"])
def test_what_is_no_feed(content: bytes, declared: str) -> None:
    assert read(content, declared).links == ()


def test_an_entity_of_the_document_type_makes_no_link_in_a_feed() -> None:
    content = b"<rss><channel><item><link>http://h.test/&bar;</link><guid>http://h.test/&x;</guid></item></channel></rss>"
    assert read(content, "text/xml").links == ()
