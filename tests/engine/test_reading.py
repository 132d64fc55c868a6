"""What is read on the event loop holds few links, however densely they are packed; what is read at all."""

import asyncio
import gzip

import pytest

from gossamer.engine.visiting.reading import Reading, _most_links, robots_text
from gossamer.extract.config import ExtractConfig
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.body import SpooledBody
from gossamer.fetch.config import FetchConfig
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.url import Url
from gossamer.policy.robots.access import RobotsConfig

HTML, XML, TEXT, CSS = "text/html", "application/xml", "text/plain", "text/css"
DENSE = {
    "bare": (HTML, "", "<a href=%d>"),
    "capitals": (HTML, "", "<A HREF=%d>"),
    "images": (HTML, "", '<img srcset="a%d,b%d 2x" src=%d>'),
    "one srcset": (HTML, '<img srcset="', "%d 1x,"),
    "backgrounds": (HTML, "", "<td background=%d>"),
    "styles": (HTML, "", "<p style='background:url(%d)'>"),
    "srcdoc": (HTML, '<iframe srcdoc="', "<a href&#61;%d>"),
    "style": (HTML, "<style>", "url(%d)"),
    "sheet": (CSS, "", "a{b:url(%d)}"),
    "image sets": (CSS, "", 'a{b:image-set("%d")}'),
    "image set": (CSS, "a{b:image-set('x'", ',"%d"'),
    "image set without commas": (CSS, "a{b:image-set('x'", '"%d"'),
    "imports": (CSS, "", '@import "%d";'),
    "sitemap": (
        XML,
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
        "<url><loc>/%d</loc></url>",
    ),
    "feed": (XML, "<rss><channel>", "<item><link>/%d</link></item>"),
    "feed in capitals": (XML, "<RSS><CHANNEL>", "<ITEM><LINK>/%d</LINK></ITEM>"),
    "feed without ends": (XML, "<rss><channel>", "<item><link>/%d"),
    "escaped entries": (XML, "<rss><item><description>", "&lt;a href&#61;%d&gt;"),
    "entry": (XML, "<rss><item><description><![CDATA[", "<a href=%d>"),
    "inline entry": (XML, "<rss><item>", "<a href=%d>"),
    "text": (TEXT, "", "http://a/%d\n"),
    "text with queries first": (TEXT, "http://a/?b=c\n", "http://a/%d\n"),
}


@pytest.mark.parametrize("name", DENSE)
def test_the_estimate_is_never_below_the_links_found(name):
    media_type, start, unit = DENSE[name]
    slots = unit.count("%d")
    content = (start + "".join(unit % ((number,) * slots) for number in range(2_000)) + '">').encode()
    url = Url.parse("http://host.example/sitemap.txt" if media_type == TEXT else "http://host.example/x/y")
    headers = Headers([("Content-Type", media_type)])
    exchange = Exchange(url, 0.0, b"", 200, b"", headers, SpooledBody(content))
    config = ExtractConfig()
    page = Reader(config, "gossamer", builtin_extractors(config)).read(exchange, content)
    assert len(page.links) <= _most_links(content, page.media_type)
    if media_type == HTML or name in ("sitemap", "feed"):
        assert len(page.links) >= 500, "it is dense"


def read(content=b"", *fields, status=200):
    config = ExtractConfig()
    reader = Reader(config, "gossamer", builtin_extractors(config))
    reading = Reading(reader, FetchConfig(), config, RobotsConfig(), "gossamer")
    url = Url.parse("http://host.example/x/y")
    exchange = Exchange(url, 0.0, b"", status, b"", Headers(list(fields)), SpooledBody(content))
    return asyncio.run(reading.page(exchange))[0]


@pytest.mark.parametrize("field", [("Link", "<z>; rel=next"), ("Refresh", "0; url=z")])
def test_links_of_the_head_need_no_body(field):
    page = read(b"", field)
    assert [link.url.target for link in page.links] == ["/x/z"]
    assert read() is None
    assert read(b"", field, status=404) is None


RULES = b"User-agent: *\nDisallow: /x\n"


def robots(content, coding=""):
    reading = Reading(
        Reader(ExtractConfig(), "gossamer"), FetchConfig(), ExtractConfig(), RobotsConfig(), "gossamer"
    )
    url = Url.parse("http://host.example/robots.txt")
    headers = Headers([("Content-Encoding", coding)] if coding else [])
    return asyncio.run(reading.robots(Exchange(url, 0.0, b"", 200, b"", headers, SpooledBody(content))))


@pytest.mark.parametrize(
    ("content", "coding"),
    [
        (RULES, ""),
        (gzip.compress(RULES, mtime=0), "gzip"),
        (RULES, "gzip"),
        (RULES, "br"),
        (RULES, "zstd"),
        (RULES, "compress"),
    ],
)
def test_a_mislabelled_robots_file_is_read_as_it_came(content, coding):
    assert not robots(content, coding).allows("/x")[0]


@pytest.mark.parametrize(
    ("content", "coding"),
    [
        (gzip.compress(RULES, mtime=0), "br"),
        (gzip.compress(RULES, mtime=0)[:-20], "gzip"),
        (b"\x1f\x9d" + bytes(20), "compress"),
    ],
)
def test_a_robots_file_that_does_not_decode_says_nothing_that_could_be_obeyed(content, coding):
    assert robots(content, coding) is None


def test_a_robots_file_above_the_limit_is_read_up_to_it():
    assert not robots(gzip.compress(RULES + b"# " + b"x" * 600_000), "gzip").allows("/x")[0]


def test_a_robots_file_that_broke_off_says_nothing_unless_it_was_read_as_far_as_wanted():
    stream = gzip.compress(RULES * 3, 0, mtime=0)[:-9]  # all but its last byte
    url, headers = Url.parse("http://host.example/robots.txt"), Headers([("Content-Encoding", "gzip")])
    exchange = Exchange(url, 0.0, b"", 200, b"", headers, SpooledBody(stream))
    there = (RULES * 3)[:-1]
    assert robots_text(exchange, FetchConfig(), len(there)) is None
    assert robots_text(exchange, FetchConfig(), len(there) - 1) == there


SAID = b"""<title>t</title><p>What it says to people, and nothing else.</p>
<a href="/page/1">one</a><a href="/page/2">two</a><link rel="stylesheet" href="/x.css"><img src="/pictures/cat.png">"""


def test_what_a_page_says_is_read_where_that_is_asked_for():
    def said(content, longest, *fields):
        config = ExtractConfig()
        reading = Reading(
            Reader(config, "gossamer", builtin_extractors(config)),
            FetchConfig(),
            config,
            RobotsConfig(),
            "gossamer",
        )
        url = Url.parse("http://host.example/x/y")
        exchange = Exchange(url, 0.0, b"", 200, b"", Headers(list(fields)), SpooledBody(content))
        return asyncio.run(reading.page(exchange, longest_text=longest))[1]

    html = ("Content-Type", "text/html")
    assert said(SAID, 0, html) is None
    assert said(SAID, len(SAID) - 1, html) is None
    found = said(SAID, len(SAID), html)
    assert found.pieces
    assert (found.size, said(b"%PDF-1.7", 99, ("Content-Type", "application/pdf")).size) == (0, 8)
    # Pictures tell pages apart, other files that a page shows do not; numbers of pages are no news.
    assert said(SAID.replace(b"cat", b"dog"), 9_999, html).shown != found.shown
    assert said(SAID.replace(b"x.css", b"y.css"), 9_999, html) == found
    assert said(SAID.replace(b"says", b"tells"), 9_999, html).pieces != found.pieces
