"""When pages changed, as sitemaps and feeds say: every form, and who else reads them so."""

import calendar
import time
from datetime import UTC, datetime
from pathlib import Path

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.extract.config import ExtractConfig
from gossamer.extract.feeds.feed import FeedExtractor
from gossamer.extract.feeds.moments import moment
from gossamer.extract.feeds.sitemap import SitemapExtractor
from gossamer.extract.links import LinkMaker
from gossamer.extract.reader import Reader
from gossamer.fetch.body import BodyMemory, BodyWriter
from gossamer.model.document import Document, Findings
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.url import Url

CONFIG = ExtractConfig()
NOON = datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp()
DAY = datetime(2026, 11, 25, tzinfo=UTC).timestamp()


def read(content: str, media_type: str = "text/xml", address: str = "http://h.test/sitemap.xml") -> Findings:
    url = Url.parse(address)
    assert url is not None
    document = Document(url, media_type, "utf-8", Headers([]), content.encode(), listed=True)
    kind = SitemapExtractor if "sitemap" in address else FeedExtractor
    return kind(CONFIG, LinkMaker(CONFIG)).extract(document)


def dates(found: Findings) -> dict[str, float]:
    return {link.url.path: link.lastmod for link in found.links}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC).timestamp()),
        ("2026-11", datetime(2026, 11, 1, tzinfo=UTC).timestamp()),
        ("2026-11-25", DAY),
        ("20261125", DAY),
        ("2026-11-25T12:00Z", NOON),
        ("2026-11-25t12:00:00z", NOON),
        ("2026-11-25T13:00:00+01:00", NOON),
        ("2026-11-25T06:30:00.123456789-05:30", NOON),
        ("2026-11-25T06:30:00\u221205:30", NOON),
        ("2026-11-25T17:45:00+0545", NOON),
        ("2026-11-25T14:00:00 +02", NOON),
        ("2026-11-25 12:00:00 UTC", NOON),
        ("2026-11-25T12:00:00", NOON),
        (" \n2026-11-25T12:00:00Z\t", NOON),
        ("2026-11-25T24:00:00Z", DAY + 86_400),
        ("2026-11-24T23:59:60Z", DAY - 1),
        ("Wed, 25 Nov 2026 12:00:00 GMT", NOON),
        ("Wed, 25 Nov 26 12:00 +0000", NOON),
        ("25 Nov 2026 07:00:00 EST", NOON),
        ("Wed, 25 November 2026 04:00:00 PST", NOON),
        ("", 0.0),
        ("now", 0.0),
        ("0000-00-00", 0.0),
        ("2026-13-01", 0.0),
        ("2026-02-30", 0.0),
        ("1969-12-31", 0.0),
        ("Wed, 32 Foo 2026 12:00:00 GMT", 0.0),
        ("Wed, 25 Nov 99999999999 12:00:00 GMT", 0.0),
        ("\uff12\uff10\uff12\uff16-11-25", 0.0),
        ("2026-11-25T12:00:00Z" + "0" * 1_000_000, 0.0),
    ],
)
def test_moments(text: str, expected: float) -> None:
    assert moment(text) == expected


@given(st.text(max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    assert moment(text) >= 0.0


@given(st.datetimes(min_value=datetime(1970, 1, 2), max_value=datetime(9000, 1, 1)), st.sampled_from("T "))
def test_iso_times_come_back(at: datetime, between: str) -> None:
    assert moment(at.isoformat(between, "seconds") + "Z") == calendar.timegm(at.timetuple())


SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:news="n" xmlns:video="v" xmlns:image="i">
<url><loc>http://h.test/behind</loc><lastmod>2026-11-25T12:00Z</lastmod><changefreq>daily</changefreq></url>
<url><lastmod>2026-11-25</lastmod><loc>http://h.test/before</loc></url>
<url><loc>http://h.test/none</loc></url>
<url><loc>http://h.test/bad</loc><lastmod>yesterday</lastmod></url>
<url><loc>http://h.test/news</loc><news:news><news:publication_date>2026-11-25T12:00:00Z</news:publication_date>
</news:news></url>
<url><loc>http://h.test/both</loc><video:video><video:publication_date>2001</video:publication_date></video:video>
<image:image><image:loc>http://h.test/picture</image:loc></image:image><lastmod>2026-11-25</lastmod></url>
<url><loc>http://h.test/twice</loc><lastmod>2026-11-25</lastmod></url>
<url><loc>http://h.test/twice</loc><lastmod>2026-11-25T12:00:00Z</lastmod></url>
<url><loc>http://h.test/twice</loc></url>
<url><loc>http://h.test/last</loc><lastmod>2026-11-25</lastmod></url></urlset>"""


def test_sitemap() -> None:
    assert dates(read(SITEMAP)) == {
        "/behind": NOON, "/before": DAY, "/none": 0.0, "/bad": 0.0, "/news": NOON, "/both": DAY, "/twice": NOON,
        "/last": DAY,
    }  # fmt: skip


def test_sitemap_index() -> None:
    index = """<sitemapindex><sitemap><loc>/a.xml</loc><lastmod>2026-11-25</lastmod></sitemap>
    <sitemap><loc>/b.xml</loc></sitemap></sitemapindex>"""
    found = read(index)
    assert dates(found) == {"/a.xml": DAY, "/b.xml": 0.0}
    assert {link.element for link in found.links} == {"sitemap"}


def test_a_date_belongs_to_no_other_entry_where_elements_are_missing() -> None:
    found = read("<urlset><loc>/a</loc><lastmod>2026-11-25</lastmod><loc>/b</loc><url>/c</url></urlset>")
    assert dates(found) == {"/a": DAY, "/b": 0.0, "/c": 0.0}


@pytest.mark.slow
def test_the_last_of_very_many_entries_is_dated_and_it_takes_no_time() -> None:
    entry = "<url><loc>http://h.test/{}</loc><lastmod>2026-11-25</lastmod></url>"
    text = f"<urlset>{''.join(map(entry.format, range(50_001)))}</urlset>"
    began = time.process_time()
    found = read(text)
    assert time.process_time() - began < 30  # some two seconds here; what is quadratic takes an hour
    assert len(found.links) == 50_000
    assert {link.lastmod for link in found.links} == {DAY}


RSS = """<rss version="2.0" xmlns:dc="d" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>http://h.test/</link><atom:link rel="hub" href="https://hub.test/"/>
<atom:link rel="self" href="/feed.xml"/><lastBuildDate>Wed, 25 Nov 2026 12:00:00 GMT</lastBuildDate>
<pubDate>Wed, 25 Nov 2026 12:00:00 GMT</pubDate>
<item><link>http://h.test/one</link><guid isPermaLink="false">1</guid>
<enclosure url="http://h.test/sound.mp3"/><description>&lt;a href="http://h.test/inline"&gt;x&lt;/a&gt;</description>
<pubDate>Wed, 25 Nov 2026 13:00:00 +0100</pubDate></item>
<item><pubDate>Wed, 25 Nov 2026 00:00:00 GMT</pubDate><guid>http://h.test/two</guid></item>
<item><link>http://h.test/three</link><dc:date>2026-11-25T12:00:00Z</dc:date></item>
<item><link>http://h.test/none</link></item></channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://h.test/x/"><updated>2026-11-25T12:00:00Z</updated>
<link href="http://h.test/"/><link rel="self" href="http://h.test/atom"/>
<entry><link href="one"/><published>2001-01-01T00:00:00Z</published><updated>2026-11-25T12:00:00Z</updated></entry>
<entry><updated>2026-11-25T00:00:00Z</updated><link rel="alternate" href="two"/>
<link rel="via" href="http://h.test/other"/><link rel="enclosure" href="http://h.test/sound.mp3"/></entry></feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d">
<channel><link>http://h.test/</link></channel><item><link>http://h.test/one</link>
<dc:date>2026-11-25T12:00:00+00:00</dc:date></item></rdf:RDF>"""


def test_rss_atom_and_rdf() -> None:
    assert dates(read(RSS, address="http://h.test/feed")) == {
        "/": 0.0, "/one": NOON, "/sound.mp3": 0.0, "/inline": 0.0, "/two": DAY, "/three": NOON, "/none": 0.0,
    }  # fmt: skip
    assert dates(read(ATOM, address="http://h.test/feed")) == {
        "/": 0.0, "/x/one": NOON, "/x/two": DAY, "/other": 0.0, "/sound.mp3": 0.0,
    }  # fmt: skip
    assert dates(read(RDF, address="http://h.test/feed")) == {"/": 0.0, "/one": NOON}


_THEIRS = "updated_parsed", "published_parsed"


@pytest.mark.parametrize("text", [RSS, ATOM, RDF])
def test_feedparser_reads_the_same(text: str) -> None:
    """Where both have a date of an entry; it has no word on dates that only we take."""
    entries = feedparser.parse(text.encode()).entries
    theirs = {}
    for entry in entries:
        told = [calendar.timegm(dict.get(entry, key)) for key in _THEIRS if dict.get(entry, key)]
        if told and entry.get("link"):
            theirs[entry.link.partition("h.test")[2]] = max(told)
    ours = {path: date for path, date in dates(read(text, address="http://h.test/feed")).items() if date}
    assert theirs == ours


def test_json_feed() -> None:
    feed = """{"version": "https://jsonfeed.org/version/1.1", "home_page_url": "http://h.test/",
    "feed_url": "http://h.test/feed.json", "hubs": [{"type": "rssCloud", "url": "http://c.test/"},
    {"type": "WebSub", "url": "https://hub.test/"}], "items": [
    {"url": "http://h.test/one", "date_published": "2001-01-01T00:00:00Z", "date_modified": "2026-11-25T12:00:00Z",
     "external_url": "http://h.test/other"}, {"url": "http://h.test/two", "date_published": "2026-11-25"},
    {"url": "http://h.test/bad", "date_modified": 5}]}"""
    found = read(feed, "application/feed+json", "http://h.test/feed.json")
    assert dates(found) == {"/": 0.0, "/one": NOON, "/other": 0.0, "/two": DAY, "/bad": 0.0}
    assert (found.hub, found.topic) == ("https://hub.test/", "http://h.test/feed.json")


def page_of(tmp_path: Path, content: bytes, *headers: tuple[str, str], first: bool = True) -> tuple[str, str]:
    url = Url.parse("http://h.test/dir/feed")
    assert url is not None
    fields = Headers([*[("Content-Type", "application/rss+xml")][:first], *headers])
    body = BodyWriter(tmp_path, 1 << 20, BodyMemory(1 << 20)).finish()
    exchange = Exchange(url, 0.0, b"", 200, b"", fields, body)
    page = Reader(CONFIG, "gossamer").read(exchange, content)
    return page.hub, page.topic


def test_hub_and_topic(tmp_path: Path) -> None:
    """By WebSub 4: of the head before the document, whole, and only if both are told."""
    here = ("https://hub.test/", "http://h.test/feed.xml")
    assert page_of(tmp_path, RSS.encode()) == here
    both = ("Link", '<//other.test/hub>; rel="hub", <feed>; rel=self, <x>; rel="hub"; anchor="#y"')
    assert page_of(tmp_path, RSS.encode(), both) == ("http://other.test/hub", "http://h.test/dir/feed")
    assert page_of(tmp_path, b"<rss></rss>", ("Link", "<https://hub.test/>; rel=hub")) == ("", "")
    assert page_of(tmp_path, b"<rss></rss>", ("Link", "<ftp://x/>; rel=hub, <a>; rel=self")) == ("", "")


def test_hub_and_topic_of_a_page(tmp_path: Path) -> None:
    page = b"<link rel=hub href='https://hub.test/?a&amp;b'><link rel='self me' href=/here><link rel=self href=x>"
    html = "Content-Type", "text/html"
    assert page_of(tmp_path, page, html, first=False) == ("https://hub.test/?a&b", "http://h.test/here")
    assert page_of(tmp_path, b"<link rel=hub href=x>", html, first=False) == ("", "")
