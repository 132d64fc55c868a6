"""What is read on the event loop holds few links, however densely they are packed; what is read at all."""

import asyncio

import pytest

from gossamer.engine.reading import Reading, _most_links
from gossamer.extract.config import ExtractConfig
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.body import SpooledBody
from gossamer.fetch.config import FetchConfig
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.url import Url
from gossamer.policy.robots_access import RobotsConfig

HTML, XML, TEXT, CSS = "text/html", "application/xml", "text/plain", "text/css"
DENSE = {
    "bare": (HTML, "", "<a href=%d>"),
    "capitals": (HTML, "", "<A HREF=%d>"),
    "images": (HTML, "", '<img srcset="a%d,b%d 2x" src=%d>'),
    "one srcset": (HTML, '<img srcset="', "%d 1x,"),
    "backgrounds": (HTML, "", "<td background=%d>"),
    "styles": (HTML, "", "<p style='background:url(%d)'>"),
    "style": (HTML, "<style>", "url(%d)"),
    "sheet": (CSS, "", "a{b:url(%d)}"),
    "imports": (CSS, "", '@import "%d";'),
    "sitemap": (
        XML,
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
        "<url><loc>/%d</loc></url>",
    ),
    "feed": (XML, "<rss><channel>", "<item><link>/%d</link></item>"),
    "feed in capitals": (XML, "<RSS><CHANNEL>", "<ITEM><LINK>/%d</LINK></ITEM>"),
    "feed without ends": (XML, "<rss><channel>", "<item><link>/%d"),
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
