"""What the archive holds a part of is marked as one, and all that it holds is read, whatever the settings say now."""

import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")

from gossamer.datasets.derived import FOLDER, rows_of

WORDS = "The quick brown fox jumps over the lazy dog and runs into the forest, where it sleeps until noon. "
BODY = f"<title>Fox</title><h1>Fox</h1><p>{WORDS * 5}</p>".encode()
LONG = f"<title>Long</title><h1>Long</h1><p>{WORDS * 2_000}</p>".encode()
HTML = {"Content-Type": "text/html"}
SITE: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/range": (206, {**HTML, "Content-Range": f"bytes 0-{len(BODY) - 1}/900000"}, BODY),
    "/all": (206, {**HTML, "Content-Range": f"bytes 0-{len(BODY) - 1}/{len(BODY)}"}, BODY),
    "/whole": (200, HTML, BODY + b"<p>whole"),
    "/cut": (200, HTML, LONG),
    "/broken": (200, {**HTML, "Content-Length": "999999"}, BODY + b"<p>broken"),
    "/torn": (200, {**HTML, "Content-Encoding": "compress"}, b"in a coding that nobody undoes"),
    "/noise": (200, HTML, bytes(range(256)) * 40),
}


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        home = "".join(f"<a href={to}>x</a>" for to in SITE).encode()
        status, fields, body = (200, HTML, home) if self.path == "/" else SITE.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _gossamer(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gossamer", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("parts")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        seed = f"http://127.0.0.1:{server.server_address[1]}"
        (root / "c.toml").write_text(
            f'seeds = ["{seed}"]\n[fetch]\nmax_body = "100kB"\n[retry]\nurl_waits = []\n'
        )
        ran = _gossamer("crawl", "--config", "c.toml", "--min-delay", "0", "--dir", "d", "-q", cwd=root)
        server.shutdown()
        thread.join()
    assert ran.returncode == 0, ran.stderr
    # Whoever lowers the limit later still reads what was archived before.
    settings = root / "d" / "crawl.toml"
    settings.write_text(settings.read_text().replace('max_body = "100kB"', 'max_body = "1kB"'))
    assert 'max_body = "1kB"' in settings.read_text()
    assert _gossamer("index", "d", "-q", cwd=root).returncode == 0
    yield root


@pytest.mark.slow
def test_parts_are_marked_and_what_is_whole_is_not(folder: Path) -> None:
    marks = {
        "/" + str(row["url"]).rpartition("/")[2]: row["marks"] or ""
        for row in rows_of(folder / "d" / FOLDER, "documents")
    }
    assert {path: marks.get(path) for path in SITE} == {
        "/range": "part",
        "/all": "",
        "/whole": "",
        "/cut": "part",
        "/broken": "part",
        "/torn": "no answer: malformed",
        "/noise": "not-text\nwrong-type",
    }


@pytest.mark.slow
def test_what_was_archived_is_read_whole(folder: Path) -> None:
    text = {
        str(row["url"]).rpartition("/")[2]: row["text"] for row in rows_of(folder / "d" / FOLDER, "documents")
    }
    assert len(str(text["cut"])) > 90_000
    ran = _gossamer("get", "d", "/cut", "--output", "out", cwd=folder)
    assert (folder / "out").stat().st_size == 100_000
    assert "incomplete" in ran.stderr
    assert "part of the document" in _gossamer("get", "d", "/range", "--text", cwd=folder).stderr
    assert "incomplete" not in _gossamer("get", "d", "/all", cwd=folder).stderr


@pytest.mark.slow
def test_what_cannot_be_read_is_no_failure_of_the_disk(folder: Path) -> None:
    for options in ((), ("--text",), ("--json",)):
        ran = _gossamer("get", "d", "/torn", *options, cwd=folder)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert "'compress' is not supported. --raw gives it as it came" in ran.stderr
    assert _gossamer("get", "d", "/torn", "--raw", cwd=folder).stdout.endswith("nobody undoes")
    assert _gossamer("fields", "/torn", "--from", "d", "--field", "x=p", cwd=folder).returncode == 1
