import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cli_run import Gossamer
from patience import PATIENCE

from gossamer.extract.fields.selector import MOST_VALUES

pytestmark = pytest.mark.usefixtures("no_rests")


def test_fields_that_no_page_has_are_told_at_the_end(gossamer: Gossamer, site: str) -> None:
    options = ("--field", "t=title", "--field", "no=.none | all", "--field", "nor=.a b")
    ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", *options)
    told = 'found on no page: 2 fields (no, nor); try: gossamer fields URL --from d --field "no=.none | all"'
    assert f"  {told}\n" in ran.err
    report = json.loads(Path("d/report.json").read_text())
    assert report["fields"] == {"t": report["media_types"]["text/html"]}
    found = gossamer("crawl", site, "--min-delay", "0", "--max-pages", "1", "--dir", "e", *options[:2])
    assert "found on no page" not in found.err


def test_selectors_are_tried_on_a_live_and_on_an_archived_page(gossamer: Gossamer, site: str) -> None:
    options = ("--field", "t=title", "--field", "to=a::attr(href) | url | all", "--field", "no=.none")
    live = gossamer("fields", site, *options)
    assert live.code == 0
    assert f'  t: "Home"\n  to: "http://{site}/a.html" (the first of 5 values)' in live.out
    assert "  no: nothing" in live.out
    assert gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", "--field", "t=title").code == 0
    archived = gossamer("fields", "/a.html", "--from", "d", "--json")
    assert json.loads(archived.out)["fields"] == [
        {"group": "page", "matches": True, "found": {"t": ["Page A"]}}
    ]


def test_a_file_of_this_machine_has_no_status(gossamer: Gossamer) -> None:
    Path("page.html").write_text("<title>Mine</title>")
    ran = gossamer("fields", Path("page.html").resolve().as_uri(), "--field", "t=title")
    assert (ran.code, ran.err) == (0, "") and '  t: "Mine"' in ran.out


def test_a_crawl_names_the_option_with_which_a_wrong_field_was_given(gossamer: Gossamer) -> None:
    ran = gossamer("crawl", "127.0.0.1:9", "--field", "x=..a")
    assert (ran.code, ran.err.partition(" is no ")[0]) == (2, "gossamer: --field x: '..a'")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "no fields"),
        (("--field", "x"), "NAME=SELECTOR"),
        (("--field", "x=..a"), "gossamer: --field x: '..a' is no selector of CSS"),
        (
            ("--field", "p=p | frobnicate"),
            "unknown conversion frobnicate; there are number, date, url, html, text, all",
        ),
        (("--field", "x=h1", "--from", "nowhere"), "no crawl"),
        (("--field", "x=h1"), "no seed could be reached"),
    ],
)
def test_what_cannot_be_tried_is_told(gossamer: Gossamer, options: tuple[str, ...], words: str) -> None:
    ran = gossamer("fields", "127.0.0.1:9", *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err


class _Stuck(http.server.BaseHTTPRequestHandler):
    """Sends half a page, then nothing until the test is over."""

    asked = threading.Event()
    over = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain" if self.path == "/robots.txt" else "text/html")
        self.send_header("Content-Length", "0" if self.path == "/robots.txt" else "9999")
        self.end_headers()
        if self.path != "/robots.txt":
            self.wfile.write(b"<h1>half a page")
            self.wfile.flush()
            self.asked.set()
            self.over.wait(PATIENCE)

    def log_message(self, *args: object) -> None:
        pass


def test_ctrl_c_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Stuck) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        command = [sys.executable, "-m", "gossamer", "fields", address, "--field", "x=h1"]
        process = subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )  # fmt: skip
        assert _Stuck.asked.wait(PATIENCE)
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        took = time.monotonic() - pressed
        _Stuck.over.set()
        server.shutdown()
        thread.join()
    assert (process.returncode, out, err) == (130, "", "gossamer: interrupted\n")
    assert took < 10, "it waited for the page"
    assert list(tmp_path.iterdir()) == []


def test_more_values_than_are_given_are_not_counted_as_all(gossamer: Gossamer) -> None:
    body = ("<p>x</p>" * (MOST_VALUES + 5)).encode()

    class Site(_Stuck):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        ran = gossamer("fields", address, "--field", "x=p", "--field", "y=p:first-child")
        server.shutdown()
        thread.join()
    assert '  x: "x" (the first of more than 20,000 values)' in ran.out
    assert '  y: "x"\n' in ran.out
