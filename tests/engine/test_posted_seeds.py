"""Seeds with a form or JSON: what is sent, what it is called, what the archive has."""

from http.server import BaseHTTPRequestHandler

import pytest
from small_site import send, serving
from test_robots_flow import crawl
from warcio.archiveiterator import ArchiveIterator

from gossamer.config.seed_config import SeedConfig
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.model.reasons.reason import WrongValueError


def test_posts_are_sent_called_and_kept(tmp_path):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, b""))
            robots = (
                "User-agent: *\nDisallow: /*?__wb\nDisallow: /no$\n" if self.path == "/robots.txt" else ""
            )
            send(self, 200, {"Content-Type": "text/html"}, robots or "<p>page")

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, body))
            kind = self.headers["Content-Type"]
            assert kind == ("application/json" if body[:1] == b"{" else "application/x-www-form-urlencoded")
            send(self, 200, {"Content-Type": "text/html"}, f"<a href=/hit/{len(body)}>{body.decode()}</a>")

    with serving(Handler) as address:
        seeds = [
            {"url": f"{address}s", "form": {"q": "a b", "sort": "x"}},
            {"url": f"{address}s", "form": {"q": "other one"}},
            {"url": f"{address}j?v=1", "json": '{"a": [1, 2], "b": {"c": "d"}}'},
            {"url": f"{address}no", "form": {"q": "x"}},
            {"url": f"{address}g", "form": {"q": "y"}, "method": "GET"},
        ]
        assert str(crawl(tmp_path / "c", [], seed=seeds)) == "finished"
    assert (tmp_path / "c" / "crawl.toml").read_text().count("[[seed]]") == 5
    bodies = {body for path, body in asked if body}
    assert bodies == {b"q=a+b&sort=x", b"q=other+one", seeds[2]["json"].encode()}
    assert {path for path, body in asked if not body} == {
        "/robots.txt",
        "/g?q=y",
        "/hit/12",
        "/hit/11",
        "/hit/30",
    }
    assert len(asked) == 8
    found = {}
    for archive in (tmp_path / "c").rglob("*.warc.gz"):
        with archive.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "request" and record.http_headers.protocol == "POST":
                    assert record.http_headers.statusline.startswith(("/s ", "/j?v=1 "))
                    found[record.content_stream().read()] = record.rec_headers["WARC-Target-URI"]
    assert set(found) == bodies
    assert found[b"q=a+b&sort=x"] == f"{address}s?__wb_method=POST&q=a+b&sort=x"
    with inspect(tmp_path / "c") as inspection:
        assert check(inspection).problems == []


@pytest.mark.parametrize(
    ("wrong", "at"),
    [
        ({"url": "example.org"}, "url"),
        ({"url": "https://h.example/", "json": "{"}, "json"),
        ({"url": "https://h.example/", "json": "{}", "form": {"a": "b"}}, "json"),
        ({"url": "https://h.example/", "json": "[]", "method": "GET"}, "json"),
        ({"url": "https://h.example/", "form": {"a": "b" * 2_000}}, "form"),
    ],
)
def test_what_cannot_be_sent_is_refused(wrong, at):
    with pytest.raises(WrongValueError, match=f"^{at}"):
        SeedConfig(**wrong)


def test_json_is_called_by_its_values():
    seed = SeedConfig(url="https://h.example/j?v=1", json='{"a": [1, 2], "b": {"c": "d", "a": "e"}}')
    assert seed.known_as.text == "https://h.example/j?v=1&__wb_method=POST&a=1&a.2_=2&c=d&a.3_=e"
