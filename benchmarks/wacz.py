"""Is a WACZ valid, opened by a player, and written in constant memory?

`python -m benchmarks.wacz --size 5GB --pages 300000` makes archives of a tenth of that and of all of it (many small
records, written as the crawler writes them), exports both and compares the peaks. With `--player DIR` (npm's package
`replaywebpage`, unpacked: `npm pack replaywebpage`; AGPL, so never part of this repository) a small scripted site is
crawled, its server stopped, and each of its pages opened by ReplayWeb.page in a Chromium that resolves no name. With
`--validator PROGRAM` (PyPI's `wacz`, in an environment of its own) each file is checked by `wacz validate`.
What is not given is left out, and said.
"""

import argparse
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from gossamer.archive.cdxj import index_entry
from gossamer.archive.committed import archive_key
from gossamer.archive.placement import ArchiveFile, Placed
from gossamer.archive.stamps import new_record_id, warc_date
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.units import parse_size
from gossamer.model.disposition import PageState
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.state.environment import Batch, Environment, Family, StateConfig
from gossamer.state.records import PageRecord, VisitRecord, encode

CHROMIUM = shutil.which("chromium")
_STARTED = 1_767_225_600.0
_FILE = 1 << 30
_BATCH = 2_000
_SECONDS = 240.0
"""A limit for what must not hang, not a measure."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".css": "text/css",
}
_RESOLVES_NOTHING = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"

SITE = {
    "index.html": "<!doctype html><title>Home</title><link rel=stylesheet href=/style.css><h1>Home of all</h1>"
    "<img src=/red.svg><a href=/ümlaut.html>one</a> <a href=/copy.html>copy</a> <a href=/script.html?a=1&b=2>script</a>"
    " <a href=/plain.txt>plain</a>",
    "ümlaut.html": "<!doctype html><meta charset=utf-8><title>Ümlaut 中文</title><p>Größe 中文</p><img src=/red.svg>",
    "copy.html": "<!doctype html><meta charset=utf-8><title>Ümlaut 中文</title><p>Größe 中文</p><img src=/red.svg>",
    "script.html": "<!doctype html><title>Script</title><p id=out>not yet</p><script src=/fetch.js></script>",
    "fetch.js": "fetch('/data.json').then(r=>r.json()).then(d=>{document.getElementById('out').textContent=d.word})",
    "data.json": '{"word":"said by the archive"}',
    "style.css": "h1{color:rgb(1,2,3)}",
    "plain.txt": "plain text",
    "red.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20"/></svg>',
}
"""A site with styles, pictures, a copy that becomes a revisit record, and a page that a script fills."""
SAID = {
    "": "Home of all",
    "ümlaut.html": "Größe 中文",
    "copy.html": "Größe 中文",
    "script.html?a=1&b=2": "said by the archive",
    "plain.txt": "plain text",
}
"""What each of its pages shows once it has been opened."""


class Files(http.server.BaseHTTPRequestHandler):
    """Files of a folder, and some by name, with ranges as players ask for them."""

    protocol_version = "HTTP/1.1"
    folder = Path()
    named: dict[str, Path] = {}
    site: dict[str, str] = {}

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        from urllib.parse import unquote

        name = unquote(self.path.partition("?")[0]).lstrip("/") or "index.html"
        path = self.named.get(name, self.folder / name)
        text = self.site.get(name)
        if text is None and not (self.named and path.is_file()):
            self._send(404, "text/plain", 0)
            return
        suffix = Path(name).suffix
        kind = _TYPES.get(suffix, "image/svg+xml" if suffix == ".svg" else "application/octet-stream")
        if text is not None:
            body = text.encode()
            self._send(200, "text/plain" if suffix == ".txt" else kind, len(body))
            self.wfile.write(body if self.command == "GET" else b"")
            return
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        first, last = 0, size - 1
        if asked:
            first = int(asked[1]) if asked[1] else max(0, size - int(asked[2]))
            last = min(last, int(asked[2])) if asked[1] and asked[2] else last
        self._send(
            206 if asked else 200, kind, last - first + 1, f"bytes {first}-{last}/{size}" if asked else ""
        )
        if self.command == "GET":
            with path.open("rb") as stream:
                stream.seek(first)
                left = last - first + 1
                while left:
                    piece = stream.read(min(left, 1 << 20))
                    self.wfile.write(piece)
                    left -= len(piece)

    def _send(self, status: int, kind: str, length: int, part: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        if part:
            self.send_header("Content-Range", part)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(**what: Any) -> Iterator[str]:
    """The address of a server of files or of a site, on loopback."""
    handler = type("Here", (Files,), what)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def gossamer(*arguments: str, log: Path) -> measure.Usage:
    """Run the command; what it prints is all that stands in `log`."""
    log.unlink(missing_ok=True)
    used = measure.run([sys.executable, "-m", "gossamer", *arguments], log=log)
    if used.status:
        raise SystemExit(f"gossamer {' '.join(arguments)}: {log.read_text()}")
    return used


def grown(folder: Path, size: int, pages: int) -> None:
    """Add records of pages to the crawl in `folder`, until its archive has about so many bytes."""
    crawl = CrawlFolder(folder)
    environment = Environment.open(crawl.state, StateConfig())
    body = max(200, size // pages - 700)
    serial, number, at = 1_000, 0, 0
    try:
        while number < pages:
            name = f"grown-{serial:05d}.warc.gz"
            with (crawl.archive / name).open("wb") as out:
                while number < pages and out.tell() < _FILE:
                    batch = environment.batch()
                    for _ in range(min(_BATCH, pages - number)):
                        number += 1
                        at = out.tell()
                        _page(batch, out, name, serial, number, body, at)
                    environment.commit(batch)
                length = out.tell()
            batch = environment.batch()
            batch.put(
                Family.META,
                archive_key(name),
                encode(ArchiveFile(name, length, "closed", serial, new_record_id())),
            )
            environment.commit(batch)
            serial += 1
    finally:
        environment.close()


def _page(batch: Batch, out: Any, name: str, serial: int, number: int, size: int, at: int) -> None:
    url = Url.parse(f"http://site{number % 40}.example/section/{number % 997}/page-{number}.html")
    assert url is not None
    started = _STARTED + number
    text = f"<!doctype html><title>Page number {number} of very many</title><p>".encode() + os.urandom(size)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(text)
    digest, record_id, date = hashlib.sha256(text).digest(), new_record_id(), warc_date(started)
    fields = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <{record_id}>\r\nWARC-Date: {date}\r\n"
        f"WARC-Target-URI: {url.text}\r\nWARC-Payload-Digest: sha256:{digest.hex()}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(head) + len(text)}\r\n\r\n"
    )
    # Stored: what is random takes no less room if it is compressed, but ten times as long.
    out.write(gzip.compress(fields.encode() + head + text + b"\r\n\r\n", 0, mtime=0))
    placed = Placed(name, at, out.tell() - at, serial, "response", record_id, date, digest)
    batch.put(
        Family.CAPTURES,
        *index_entry(url, started, placed, 200, "text/html"),
    )
    page = PageRecord(
        url.text,
        PageState.DONE,
        kind=LinkKind.NAVIGATION,
        depth=1 + number // 50_000,
        hops="L",
        number=number,
        visits=(VisitRecord(started, 0.1, 200, size=len(text)),),
        media_type="text/html",
        title=f"Page number {number} of very many",
        captured=date,
    )
    batch.put(Family.PAGES, hashlib.sha256(url.text.encode()).digest()[:16], encode(page))


def memory(folder: Path, size: int, pages: int, validator: str) -> list[dict[str, Any]]:
    """Figures of an export of a tenth, and of all."""
    told = []
    for share in (10, 1):
        crawl, out = folder / f"crawl-{share}", folder / f"{share}.wacz"
        with served(site={"index.html": "<title>begin</title>"}) as site:
            gossamer("crawl", f"{site}/", "--min-delay", "0", "--dir", str(crawl), "-q", log=folder / "log")
        grown(crawl, size // share, pages // share)
        used = gossamer("export", "wacz", str(crawl), "--out", str(out), "--json", log=folder / "log")
        found = json.JSONDecoder().raw_decode((folder / "log").read_text())[0]
        told.append(
            {
                "bytes": out.stat().st_size,
                "pages": found["pages"],
                "captures": found["captures"],
                "seconds": round(used.seconds, 1),
                "cpu_seconds": round(used.cpu_seconds, 1),
                "peak_mb": round(used.peak_mb, 1),
                "valid": valid(validator, out),
            }
        )
        shutil.rmtree(crawl)
        out.unlink()
    return told


def valid(validator: str, wacz: Path) -> bool | None:
    """What `wacz validate` says; `None` without it."""
    if not validator:
        return None
    done = subprocess.run([validator, "validate", "-f", wacz], capture_output=True, text=True, check=False)
    return done.returncode == 0 and "is valid" in done.stdout


def replay(folder: Path, player: Path, validator: str) -> dict[str, Any]:
    """Crawl the site, stop its server, and open each page in ReplayWeb.page."""
    crawl, out = folder / "small", folder / "small.wacz"
    with served(site=SITE) as site:
        seeds = f"{site}/", f"{site}/data.json"
        gossamer(
            "crawl",
            *seeds,
            "--requisites",
            "any",
            "--min-delay",
            "0",
            "--dir",
            str(crawl),
            "-q",
            log=folder / "log",
        )
    gossamer("export", "wacz", str(crawl), "--out", str(out), log=folder / "log")
    told: dict[str, Any] = {"valid": valid(validator, out), "pages": len(SAID), "as_crawled": 0, "failed": []}
    with served(folder=player, named={"x.wacz": out} | _named(player)) as base:
        for path, expected in SAID.items():
            shown, left, pictures = _shown(base, f"{site}/{path}", expected)
            told["as_crawled"] += shown
            told.setdefault("requests_that_left", []).extend(left)
            told["broken_pictures"] = told.get("broken_pictures", 0) + pictures
            if not shown:
                told["failed"].append(path)
    return told


def _named(player: Path) -> dict[str, Path]:
    return {str(path.relative_to(player)): path for path in player.rglob("*") if path.is_file()}


def _shown(base: str, url: str, expected: str) -> tuple[bool, list[str], int]:
    """(the page says what it said, requests to others than the server of the player, broken pictures)."""
    from urllib.parse import quote

    from playwright.sync_api import Error, sync_playwright

    left: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", _RESOLVES_NOTHING]
        )
        try:
            page = browser.new_page()
            page.on(
                "request",
                lambda request: (
                    left.append(request.url) if not request.url.startswith((base, "data:", "blob:")) else None
                ),
            )
            page.goto(f"{base}/?source={base}/x.wacz#view=pages&url={quote(url, safe=':/?=')}")
            until = time.monotonic() + _SECONDS
            while time.monotonic() < until:
                page.wait_for_timeout(250)
                for frame in page.frames:
                    if "mp_/" not in frame.url:
                        continue
                    try:
                        if expected in frame.inner_text("body", timeout=1_000):
                            page.wait_for_timeout(250)
                            script = "[...document.images].filter(one => !one.naturalWidth).length"
                            return True, left, frame.evaluate(script)
                    except Error:
                        continue
            return False, left, 0
        finally:
            browser.close()


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wacz", description=__doc__)
    parser.add_argument("--size", default="5GB")
    parser.add_argument("--pages", type=int, default=300_000)
    parser.add_argument("--quick", action="store_true", help="50 MB and 3,000 pages")
    parser.add_argument("--player", type=Path, help="folder of npm's package replaywebpage")
    parser.add_argument("--validator", default="", help="the program wacz")
    parser.add_argument("--only", choices=["memory", "replay"])
    parser.add_argument("--scratch", type=Path, help="where the archives are made")
    parser.add_argument("--json", action="store_true", help="the figures are always JSON")
    asked = parser.parse_args()
    size, pages = (50_000_000, 3_000) if asked.quick else (parse_size(asked.size), asked.pages)
    told: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=asked.scratch, prefix="gossamer-wacz-") as scratch:
        if asked.only != "replay":
            told["memory"] = memory(Path(scratch), size, pages, asked.validator)
        if asked.only != "memory":
            if asked.player is None or CHROMIUM is None:
                told["replay"] = (
                    "left out: needs chromium, and --player with npm's package replaywebpage unpacked"
                )
            else:
                told["replay"] = replay(Path(scratch), asked.player, asked.validator)
    print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())


if __name__ == "__main__":
    main()
