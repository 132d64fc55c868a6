"""`why` and the log tell what a status and a size do not."""

import json
import re

from small_site import Site
from test_robots_flow import crawl, html, state_of

from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect

ANSWERS = {
    "/": html("/moved", "/mail", "/packed", "/plain"),
    "/moved": (301, {"Location": "there?a#b"}, b""),
    "/mail": (302, {"Location": "mailto:joe@h.test"}, b""),
    "/packed": (200, {"Content-Type": "text/html", "Content-Encoding": "br"}, b"<a href=/x>"),
}


def test_where_a_redirect_leads_and_what_does_not_decode_is_told(tmp_path):
    path = tmp_path / "c"
    with Site(lambda host, at, asked: ANSWERS.get(at, (404, {}, b""))) as site:
        seed = f"http://127.0.0.1:{site.port}"
        crawl(path, [seed + "/"])

    def told(target, about="visit"):
        [text] = [fact.text for fact in state_of(path, seed + target).facts if fact.about == about]
        return text

    assert told("/moved", "redirect").startswith(f"leads to {seed}/there?a: ")
    assert told("/mail").endswith("(leads nowhere: mailto:joe@h.test)")
    assert "(decoding: brotli" in told("/packed")
    assert re.search(r" in [\d.]+ m?s$", told("/plain"))
    lines = [json.loads(line) for line in (path / "crawl.log").read_text().splitlines()]
    located = {line["url"].removeprefix(seed): line.get("location") for line in lines}
    assert (located["/moved"], located["/mail"], located["/plain"]) == (
        "there?a#b",
        "mailto:joe@h.test",
        None,
    )


def test_a_page_that_is_not_modified_though_nobody_asked_stands_in_the_archive(tmp_path):
    answers = {"/": html("/same"), "/same": (304, {}, b"")}
    path = tmp_path / "c"
    with Site(lambda host, at, asked: answers.get(at, (404, {}, b""))) as site:
        crawl(path, [f"http://127.0.0.1:{site.port}/"])
        [place] = [
            fact.text
            for fact in state_of(path, f"http://127.0.0.1:{site.port}/same").facts
            if fact.about == "archive"
        ]
    assert ".warc.gz" in place
    with inspect(path) as inspection:
        assert check(inspection).problems == []
