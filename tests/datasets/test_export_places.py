"""Exports of a cluster's folder and of a crawl that runs, to a store that speaks S3."""

import contextlib
import gzip
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from exported import gossamer
from patience import PATIENCE

pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")

WORDS = "The quick brown fox jumps over the lazy dog and runs into the forest, where it sleeps until noon. "


class _Site(BaseHTTPRequestHandler):
    """Pages in a row, and the root of another site beside them."""

    other = ""

    def do_GET(self) -> None:
        number = int(self.path[1:] or 0) if self.path[1:].isdigit() or self.path == "/" else 10_000
        more = f"<a href=/{number + 1}>next</a><a href='{self.other}'>elsewhere</a>"
        body = f"<title>Page {number}</title><h1>Page {number}</h1><p>{WORDS * 3}{number}</p>{more}".encode()
        self.send_response(200 if number < 10_000 else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


def _rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for path in sorted(folder.glob("*.gz")) for line in gzip.open(path)]


def _export(root: Path, what: str, folder: str) -> list[dict[str, object]]:
    place = f"out/{folder}/{what}"
    ran = gossamer("export", what, folder, "--format", "jsonl", "--out", place, cwd=root)
    assert ran.returncode == 0, ran.stderr
    return _rows(root / "out" / folder / what)


@pytest.mark.slow
def test_a_clusters_folder_gives_what_its_agents_have(tmp_path: Path) -> None:
    agents = tmp_path / "cluster" / "agents"
    agents.mkdir(parents=True)
    (tmp_path / "cluster" / "cluster.json").write_text("{}")
    seeds = []
    for number, pages in enumerate(("5", "7")):
        with serving() as seed:
            seeds.append(seed)
            ran = gossamer(
                "crawl", seed, "--dir", f"cluster/agents/a-{number}", "--min-delay", "0", "-q", "--max-pages", pages,
                "--documents", "--field", "title=title", cwd=tmp_path,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stderr
    for what in ("pages", "text", "links"):
        together = _export(tmp_path, what, "cluster")
        apart = [row for number in (0, 1) for row in _export(tmp_path, what, f"cluster/agents/a-{number}")]
        assert len(together) == len(apart) > 0, what
        assert sorted(map(str, together)) == sorted(map(str, apart)), what
    ran = gossamer("export", "files", "cluster", "--format", "content", "--out", "files", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert len([path for path in (tmp_path / "files").rglob("*.html") if path.is_file()]) == 12
    for seed in seeds:
        assert "<title>Page 3</title>" in gossamer("get", "cluster", f"{seed}3", cwd=tmp_path).stdout
        assert "quick brown fox" in gossamer("get", "cluster", f"{seed}3", "--text", cwd=tmp_path).stdout


def test_a_running_crawl_goes_on_while_it_is_exported_to_s3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("s3fs")
    moto = pytest.importorskip("moto.server")
    store = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    store.start()
    host, port = store.get_host_and_port()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    import s3fs

    files = s3fs.S3FileSystem(skip_instance_cache=True)
    files.mkdir("bucket")
    command = [sys.executable, "-m", "gossamer", "crawl", "SEED", "--dir", "d", "--min-delay", "300ms", "-q"]
    with serving() as seed:
        command[command.index("SEED")] = seed
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
        try:
            log, counts = tmp_path / "d" / "crawl.log", []
            for visits in (5, 12):
                while not log.exists() or len(log.read_bytes().splitlines()) < visits:
                    time.sleep(0.05)
                run = partial(gossamer, cwd=tmp_path)
                assert run("index", "d", "-q", "--once").returncode == 0
                for what, form in (
                    ("pages", "jsonl"),
                    ("text", "parquet"),
                    ("text", "wet"),
                    ("links", "graphml"),
                ):
                    ran = run("export", what, "d", "--format", form, "--out", f"s3://bucket/{what}-{form}")
                    assert ran.returncode in (0, 1), (
                        ran.stderr
                    )  # 1: the crawl has gone on since they were read
                    assert "Traceback" not in ran.stderr
                manifest = json.loads(files.cat_file("bucket/text-parquet/_manifest.json"))
                counts.append(int(manifest["rows"]))
            assert process.poll() is None, "it ended before it was exported"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE)
    from pyarrow import parquet

    assert 0 < counts[0] < counts[1]
    with files.open("bucket/text-parquet/part-00000.parquet") as file:
        assert parquet.read_table(file).num_rows == counts[1]
    rows = gzip.decompress(files.cat_file("bucket/pages-jsonl/part-00000.jsonl.gz")).splitlines()
    assert len({json.loads(row)["url"] for row in rows}) == len(rows) > counts[1]
    store.stop()
