"""Whole trees from servers of files: each file once, in a valid archive, through kills."""

import asyncio
import collections
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from file_servers import PASSWORD, USER, ftp_server, sftp_server
from warcio.archiveiterator import ArchiveIterator

import gossamer
from gossamer.archive.verify import Problem, verify_file
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect

NAMES = ("a.txt", "a b%2f", "ü.txt", "q?x=1#y.txt", "m;type=i", "sub/deep/c", "sub/b.txt", "empty")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for name in NAMES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name if name != "empty" else "")
    (root / "page.html").write_text('<p>A page <a href="a.txt">a</a> <a href="file:///etc/passwd">b</a>')
    return root


def crawled(url: str, folder: Path, **config: object) -> dict[str, bytes]:
    """What came of each URL, by its path."""

    async def pages():
        settings = {"fetch": {"allow_private": True}, **config}
        found = gossamer.crawl(url, folder=folder, min_delay=0, config=settings)
        return [(page.url, page.content) async for page in found]

    came = asyncio.run(pages())
    assert len(dict(came)) == len(came)
    return {where.removeprefix(url): content for where, content in came}


def resources(folder: Path) -> dict[str, list[bytes]]:
    """The blocks of resource records, by URL."""
    found = collections.defaultdict(list)
    for path in (folder / "archive").iterdir():
        assert not [item for item in verify_file(path) if isinstance(item, Problem)]
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "resource":
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    found[url].append(record.content_stream().read())
    with inspect(folder) as inspection:
        assert check(inspection).problems == []
    return found


def contents(tree: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in tree.rglob("*") if path.is_file() and path.stat().st_size)


@pytest.mark.parametrize("scheme", ["ftp", "sftp", "file"])
def test_a_whole_tree(tree, tmp_path, scheme):
    known, folder = tmp_path / "known_hosts", tmp_path / "crawl"
    with ftp_server(tree) as ftp, sftp_server(tree, known) as sftp:
        server = {"ftp": ftp, "sftp": sftp}.get(scheme)
        url = f"{tree.as_uri()}/" if server is None else f"{scheme}://127.0.0.1:{server.port}/"
        config = {
            "fetch": {"allow_private": True, "known_hosts": str(known)},
            "place": {
                f"sftp://127.0.0.1:{sftp.port}": {"credentials": {"username": USER, "password": PASSWORD}}
            },
        }
        came = crawled(url, folder, **config)
        said = [] if server is None else server.said
    files = {path: content for path, content in came.items() if path and not path.endswith("/")}
    assert sorted(files.values()) == contents(tree)
    assert {path for path in came if path not in files} == {"", "sub/", "sub/deep/"}
    assert sorted(
        block for (block,) in resources(folder).values() if block and b"<table>" not in block
    ) == contents(tree)
    retrieved = [what for command, what in said if command in ("RETR", "open")]
    assert len(retrieved) == len(set(retrieved)) == (len(files) + 1 if server else 0)
    assert sum(command == "connect" for command, _ in said) == (1 if server else 0)
    assert not any("robots" in what for _, what in said)
    lines = [json.loads(line) for line in (folder / "crawl.log").read_text().splitlines()]
    assert {line["result"] for line in lines} <= {f"{scheme} {word}" for word in ("226", "file", "directory")}
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert PASSWORD.encode() not in kept


def test_pages_of_the_web_lead_to_no_files(tree, tmp_path):
    with ftp_server(tree) as server:
        web = f"ftp://127.0.0.1:{server.port}/page.html"
        (tree / "page.html").write_text(f'<a href="{tree.as_uri()}/a.txt">a</a>')
        config = {"scope": {"schemes": ["ftp", "file"], "mode": "any"}, "fetch": {"folders": [str(tree)]}}
        config["fetch"]["allow_private"] = True
        assert set(crawled(web, tmp_path / "crawl", **config)) == {""}


@pytest.mark.slow
def test_kills(tmp_path):
    tree, folder = tmp_path / "tree", tmp_path / "crawl"
    for number in range(300):
        path = tree / f"d{number % 17}" / f"e{number % 5}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"file {number}")
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    with ftp_server(tree) as server:
        command = ["crawl", f"ftp://127.0.0.1:{server.port}/", "--dir", str(folder), "--min-delay", "0"]
        for kill in range(6):
            process = subprocess.Popen(
                [sys.executable, "-m", "gossamer", *command, "-q"], env=environment, stderr=subprocess.DEVNULL
            )
            before = len(server.said)
            while process.poll() is None and kill < 5 and len(server.said) < before + 300:
                time.sleep(0.01)
            if kill < 5:
                process.send_signal(signal.SIGKILL)
            process.wait()
            command = ["resume", str(folder)] if (folder / "crawl.toml").exists() else command
    assert process.returncode == 0
    found = resources(folder)
    assert sorted(block for (block,) in found.values() if block and b"<table>" not in block) == contents(tree)
