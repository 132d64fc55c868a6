"""A sink that gathers is told of each commit and of the end, and knows each visit by a name that stays."""

import asyncio
import warnings

import pytest
from small_site import small_site

import gossamer
from gossamer.archive.follower import FollowedRecord
from gossamer.inspect.archive.following import follow

PAGES = {"": "<a href=a>a</a> <a href=b>b</a> <a href=gone>gone</a>", "a": "one", "b": "two"}


class Bulk:
    """Rows by the record's name, sent together; says what was called when."""

    def __init__(self, error=None):
        self.rows, self.gathered, self.calls, self.error = {}, [], [], error

    async def __call__(self, visit):
        self.calls.append("visit")
        if visit.record_id:
            self.gathered.append(visit)

    async def flush(self):
        self.calls.append("flush")
        if self.error:
            raise self.error
        for visit in self.gathered:
            body = visit.outcome.exchange.body.read()
            self.rows[visit.record_id] = (visit.lease.candidate.url.text, *visit.place[:2], body)
        self.gathered.clear()

    async def close(self):
        self.calls.append("close")


def crawl(sink, folder=None):
    async def pages(site):
        return [page.url async for page in gossamer.crawl(site, folder=folder, min_delay=0, sinks=[sink])]

    with small_site(PAGES.get) as site:
        return asyncio.run(pages(site))


def test_rows_are_those_of_the_archive(tmp_path):
    sink = Bulk()
    crawl(sink, tmp_path / "crawl")
    stored = {
        record.record_id: (record.url, record.file, record.offset, b"".join(record.payload()))
        for record in follow(tmp_path / "crawl").read()
        if isinstance(record, FollowedRecord) and not record.url.startswith("dns:")
    }
    assert sink.rows == stored and len(stored) >= 4
    assert sink.calls[-1] == "close" and sink.calls.count("close") == 1
    assert sink.calls[-2] == "flush" and "visit" not in sink.calls[-2:]


def test_one_that_raises_is_named_and_the_crawl_goes_on():
    sink = Bulk(OSError("no index there"))
    with pytest.warns(gossamer.PluginWarning, match="sink Bulk raised OSError: no index there"):
        assert len(crawl(sink)) == 3
    assert sink.calls[-1] == "close"


def test_a_plain_function_is_a_sink_still():
    taken = []

    async def sink(visit):
        taken.append(visit.lease.candidate.url.path)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(crawl(sink)) == 3
    assert {"/", "/a", "/b", "/gone"} <= set(taken)
