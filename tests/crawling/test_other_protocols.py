"""A protocol with answers of its own, from a visit to what is shown of it: no HTTP status is made up."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator
from toy_protocol import ToyModule

import gossamer
from gossamer.archive.verify import Problem, verify_file
from gossamer.inspect.archive.following import follow
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.crawl_log import VisitLine, is_error
from gossamer.inspect.inspection import inspect
from gossamer.model.exchange import Result, StatusAction
from gossamer.policy.visits.retry import action_of

FILES = {
    "/a.txt": b"one",
    "/sub/b.txt": b"two",
    "/sub/picture": b"picture of a cat",
    "/empty": b"",
    "/busy.txt": b"at last",
    "/late.txt": b"later",
}
ANSWERS = {"/busy.txt": ["421"], "/late.txt": ["450", "450"]}
ROOT = "ftp://host.example/"


@pytest.fixture
def crawled(tmp_path):
    """The folder of a crawl of the toy, with what it gave to its caller."""
    folder = tmp_path / "crawl"
    module = ToyModule(FILES, {path: list(words) for path, words in ANSWERS.items()})
    config = {
        "scope": {"schemes": ["ftp"]},
        "retry": {"url_waits": [0.01, 0.01], "host_first": 0.01},
        "fetch": {"allow_private": True},
    }

    class Fixed:
        async def resolve(self, name):
            raise AssertionError("the toy asks nobody")

        async def close(self):
            pass

    async def pages():
        seeds = (ROOT, ROOT + "missing")
        given = {"protocol_modules": [module], "resolver": Fixed()}
        return [
            page async for page in gossamer.crawl(*seeds, folder=folder, min_delay=0, config=config, **given)
        ]

    return folder, asyncio.run(pages()), module


def said(*arguments: object) -> str:
    command = [sys.executable, "-m", "gossamer", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_its_words_are_shown_wherever_a_visit_is(crawled):
    folder, pages, module = crawled
    told = {page.url.removeprefix(ROOT): (page.status, page.result) for page in pages}
    assert told == {
        "": (0, "ftp directory"),
        "sub/": (0, "ftp directory"),
        **dict.fromkeys(("a.txt", "sub/b.txt", "sub/picture", "busy.txt", "late.txt"), (0, "ftp 226")),
    }
    assert module.asked.count("/late.txt") == 3 and module.asked.count("/busy.txt") == 2

    report = json.loads((folder / "report.json").read_text())
    assert report["statuses"] == {
        "ftp 226": 5, "ftp 421": 1, "ftp 450": 2, "ftp 550": 1, "ftp directory": 2, "ftp nothing": 1,
    }  # fmt: skip
    assert report["pages"] == 7
    lines = [json.loads(line) for line in (folder / "crawl.log").read_text().splitlines()]
    assert not any("status" in line for line in lines)
    assert {line["result"] for line in lines} == set(report["statuses"])

    listed = said("list", folder)
    assert "ftp 550  ftp://host.example/missing" in " ".join(listed.split(" ")) and " 404" not in listed
    assert said("list", folder, "--status", "ftp 550").count("\n") >= 1
    assert "ftp 550" in said("why", folder, ROOT + "missing")
    assert "/robots.txt" not in module.asked
    assert "404" not in said("status", folder)


def test_nothing_that_failed_is_archived_and_what_came_is(crawled):
    folder, _, _ = crawled
    with inspect(folder) as inspection:
        result = check(inspection)
    assert result.problems == []
    lines = (folder / "index.cdxj").read_text().splitlines()
    index = [json.loads(line[line.index("{") :]) for line in lines]
    assert {line["status"] for line in index} == {"-"}
    brought = {
        ROOT + name for name in ("", "sub/", "a.txt", "sub/b.txt", "sub/picture", "busy.txt", "late.txt")
    }
    assert {line["url"] for line in index} == brought | {ROOT + "sub/picture?thumb"}


def test_records_of_its_own(crawled):
    folder, _, _ = crawled
    found = []
    for path in sorted((folder / "archive").iterdir()):
        assert not [item for item in verify_file(path) if isinstance(item, Problem)]
        with path.open("rb") as stream:
            records = ArchiveIterator(stream, parse_http=False)
            found += [(record.headers, record.reader.read()) for record in records]
    main_id = next(h["WARC-Record-ID"] for h, _ in found if h.get("WARC-Target-URI") == ROOT + "sub/picture")
    mine = [
        (headers["WARC-Type"], headers["Content-Type"], block)
        for headers, block in found
        if main_id in (headers.get("WARC-Concurrent-To"), headers.get("WARC-Refers-To"))
    ]
    assert mine[1:] == [
        ("conversion", "text/plain", b"PICTURE OF A CAT"),
        ("metadata", "text/x-toy-control-conversation", b"RETR"),
        ("resource", "image/png", b"thumb of picture of a cat"),
        ("resource", "text/plain", b"no address"),
    ]
    made = next(headers for headers, _ in found if headers["WARC-Type"] == "conversion")
    assert (made["WARC-X-Made-By"], made["WARC-Refers-To"]) == ("toy 1", main_id)
    assert sum(headers["WARC-Type"] == "metadata" and block == b"LIST /" for headers, block in found) == 1
    followed = [record.url for record in follow(folder).read()]
    assert ROOT + "sub/picture?thumb" in followed and "urn:toy:1" in followed


@pytest.mark.parametrize(("became", "wrong"), [("done", False), ("dropped", True), ("retry", True)])
def test_what_counts_as_an_error_in_a_report(became, wrong):
    assert is_error(VisitLine(0.0, ROOT, became=became, result="ftp 550")) is wrong


def test_the_protocols_table_decides(crawled):
    exchange = ToyModule({}).answer(gossamer.Url.parse("http://h.test/"), "550").exchange
    assert action_of(exchange) is StatusAction.DROP
    assert exchange.result == Result("550", StatusAction.DROP)
    assert Path(crawled[0]).exists()
