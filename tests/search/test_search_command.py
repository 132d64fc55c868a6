"""`gossamer search` over a crawl that made its index while it ran; kills, damage, a full disk."""

import http.server
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from in_process import gossamer
from patience import PATIENCE

pytest.importorskip("tantivy", reason="the extra `search` is not installed")
pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")
from search_tables import everything, found

from gossamer.archive.committed import CUTS, Cut, archive_files, archive_key
from gossamer.archive.follower import Mark
from gossamer.inspect.inspection import inspect
from gossamer.search.searching import Searching
from gossamer.search.text.kept import read_kept
from gossamer.search.text.reader import Reader
from gossamer.state.environment import Environment, Family
from gossamer.state.records import encode

pytestmark = pytest.mark.slow

HOSTILE = "<title>\x1b[31m&lt;script&gt;alert(1)&lt;/script&gt; hostile</title><p>\x1b[2J&lt;img src=x&gt; hostile \u202e words"
PAGES = 240


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = _body(self.path).encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _body(path: str) -> str:
    if path == "/":
        return "<title>Home</title><p>Start</p><a href=/hostile>h</a><a href=/zh>z</a>" + "".join(
            f"<a href=/n/{number}>n</a>" for number in range(PAGES)
        )
    if path == "/zh":
        return "<html lang=zh><title>年度报告</title><p>我们公司在2026年发布了年度报告书，介绍了新产品的研究成果。"
    if path.startswith("/n/"):
        return f"<html lang=en><title>Page {path[3:]}</title><p>The quick foxes were running over dog {path[3:]} in the forest."
    return HOSTILE if path == "/hostile" else ""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def crawled(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("crawl")
    ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "--search", cwd=root)
    assert ran.returncode == 0, ran.stderr
    assert "search it: gossamer search d WORD..." in ran.stderr
    assert "made anew" not in ran.stderr
    return root / "d"


def _copy(crawled: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-a", str(crawled), str(tmp_path / "d")], check=True)
    return tmp_path / "d"


def test_hits_for_people(crawled: Path, site: str) -> None:
    ran = gossamer("search", "d", "fox", "run", "dog", "17", "--facets", cwd=crawled.parent)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[:3] == [
        "Page 17",
        f"{site}/n/17",
        "The quick foxes were running over dog 17 in the forest.",
    ]
    assert "site: 127.0.0.1 1" in ran.stdout
    assert "language: en 1" in ran.stdout
    assert "1-1 of 1, in " in ran.stderr
    assert "not in the index" not in ran.stderr


def test_hits_for_programs(crawled: Path, site: str) -> None:
    ran = gossamer("search", "d", "报告 研究", "--json", "--facets", cwd=crawled.parent)
    hit, facets = map(json.loads, ran.stdout.splitlines())
    assert (hit["url"], hit["title"], hit["language"], hit["type"]) == (
        f"{site}/zh",
        "年度报告",
        "zh",
        "text/html",
    )
    assert {hit["snippet"][start:end] for start, end in hit["marked"]} == {"报告", "研究"}
    assert facets["total"] == 1
    pages = [
        json.loads(line)["url"]
        for line in gossamer(
            "search", "d", "fox", "--json", "--limit", "5", cwd=crawled.parent
        ).stdout.splitlines()
    ]
    later = [
        json.loads(line)["url"]
        for line in gossamer(
            "search", "d", "fox", "--json", "--limit", "3", "--offset", "2", cwd=crawled.parent
        ).stdout.splitlines()
    ]
    assert pages[2:] == later


def test_titles_and_addresses_by_pattern(crawled: Path, site: str) -> None:
    ran = gossamer("search", "d", "--url", "*/n/1?", "--json", "--limit", "100", cwd=crawled.parent)
    assert sorted(json.loads(line)["url"] for line in ran.stdout.splitlines()) == [
        f"{site}/n/1{n}" for n in range(10)
    ]
    ran = gossamer(
        "search", "d", "title:pag*", "--url", "n/7", "--json", "--limit", "100", cwd=crawled.parent
    )
    assert f"{site}/n/77" in ran.stdout


def test_hostile_texts_do_not_reach_the_terminal(crawled: Path) -> None:
    ran = gossamer("search", "d", "hostile", cwd=crawled.parent)
    assert r"\x1b[31m" in ran.stdout
    assert not any(sign in ran.stdout for sign in "\x1b\u202e")


def test_what_cannot_be_answered_is_said(crawled: Path, tmp_path: Path, site: str) -> None:
    nothing = gossamer("search", "d", "zebra", cwd=crawled.parent)
    assert (nothing.returncode, nothing.stdout) == (1, "")
    assert nothing.stderr.splitlines() == [
        f"nothing found among {PAGES + 3} documents",
        "  fewer words or filters find more; which sites, types, languages and years there are:"
        " gossamer search d --facets --limit 1",
    ]
    misspelt = gossamer("search", "d", "hostlie scirpt", cwd=crawled.parent)
    assert misspelt.returncode == 1
    assert r"  titles like it: \x1b[31m<script>alert(1)</script> hostile" in misspelt.stderr.splitlines()
    some = gossamer("search", "d", "zebra", "fox", cwd=crawled.parent)
    assert some.returncode == 0
    assert "no document has all of these words" in some.stderr
    nested = gossamer("search", "d", "(" * 3_000, cwd=crawled.parent)
    assert (nested.returncode, nested.stderr.count("\n")) == (2, 1)
    assert "at character 21" in nested.stderr
    endless = gossamer("search", "d", "(" * 100_000, cwd=crawled.parent)
    assert (endless.returncode, endless.stderr) == (
        2,
        "gossamer: query: more than 4000 characters: take some away\n",
    )
    option = gossamer("search", "d", "git merge", "--no-ff", cwd=tmp_path)
    assert option.returncode == 2
    assert "'--no-ff'. Words that begin with - come after --." in option.stderr
    assert "holds no crawl" in gossamer("search", "nowhere", "fox", cwd=tmp_path).stderr
    other = _copy(crawled, tmp_path)
    subprocess.run(["rm", "-r", str(other / "search")], check=True)
    without = gossamer("search", "d", "fox", cwd=tmp_path)
    assert (without.returncode, without.stderr) == (
        2,
        "gossamer: d: has no search index. 'gossamer index d' makes it.\n",
    )
    both = gossamer("search", str(crawled), "--also", "d", "fox", cwd=tmp_path)
    assert both.returncode == 0
    assert "d: has no search index" in both.stderr


def test_several_crawls_are_one_answer(crawled: Path, tmp_path: Path) -> None:
    other = _copy(crawled, tmp_path)
    with Searching([crawled]) as one, Searching([crawled, other]) as two:
        assert two.search("fox").total == one.search("fox").total == PAGES
        (hit,) = (hit for hit in two.search("17").hits if hit.url.endswith("/17"))
        assert {hit.crawl, *hit.also} == {str(crawled), str(other)}, "a page that both have is one hit"
        assert one.suggest("pag")[0].title.startswith("Page ")
        assert one.suggest("") == one.suggest("zebra") == []


def test_damaged_tables_and_index_are_made_anew_from_the_archive(crawled: Path, tmp_path: Path) -> None:
    folder = _copy(crawled, tmp_path)
    whole = everything(Reader(crawled))
    for path in (*(folder / "documents").glob("documents-*"), *(folder / "search" / "index").glob("*.idx")):
        content = bytearray(path.read_bytes())
        content[len(content) // 3] ^= 0x55
        content[len(content) // 2] ^= 0x55
        path.write_bytes(content)
    damaged = gossamer("search", "d", "fox", cwd=tmp_path)
    assert damaged.returncode == 3
    assert "'gossamer index d' makes it anew" in damaged.stderr
    mended = gossamer("index", "d", cwd=tmp_path)
    assert mended.returncode == 0, mended.stderr
    assert "the tables are made anew from the archive" in mended.stderr
    assert everything(Reader(folder)) == whole


def test_a_full_disk_is_said_and_ends_with_3(crawled: Path, tmp_path: Path) -> None:
    folder = _copy(crawled, tmp_path)
    subprocess.run(["rm", "-r", str(folder / "search")], check=True)
    # Python 3.11 does not see that a module's bytecode was cut short as it was written, and it would stay so.
    command = [sys.executable, "-B", "-m", "gossamer", "index", "d"]

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False, preexec_fn=small
    )
    assert ran.returncode == 3
    assert "Traceback" not in ran.stderr
    assert ran.stderr.count("\n") <= 2
    assert gossamer("index", "d", "-q", cwd=tmp_path).returncode == 0
    assert everything(Reader(folder)) == everything(Reader(crawled))


def test_what_the_archive_lost_is_not_found(crawled: Path, tmp_path: Path, site: str) -> None:
    """As after a return to a checkpoint: the archive ends earlier, and has another history."""
    folder = _copy(crawled, tmp_path)
    reader = Reader(folder)
    rows = sorted(everything(reader), key=lambda stored: (stored[7], stored[8]))
    middle = rows[len(rows) // 2]
    kept = {row[0] for row in rows[: len(rows) // 2]}
    del reader
    with inspect(folder) as inspection:
        state, config = inspection.folder.state, inspection.config.state
    environment = Environment.open(state, config)
    batch = environment.batch()
    [file] = archive_files(environment)
    batch.put(Family.META, archive_key(file.name), encode(msgspec.structs.replace(file, length=middle[8])))
    batch.put(Family.META, CUTS, encode([Cut("other", file.serial, middle[8])]))
    environment.commit(batch)
    environment.close()
    assert gossamer("index", "d", "-q", cwd=tmp_path).returncode == 0
    reader = Reader(folder)
    assert {row[0] for row in everything(reader)} == kept
    assert reader.mark == Mark(file.serial, middle[8], "other")


def test_twenty_kills_leave_the_index_that_is_made_at_once(crawled: Path, tmp_path: Path) -> None:
    folder = _copy(crawled, tmp_path)
    subprocess.run(["rm", "-r", str(folder / "search"), str(folder / "documents")], check=True)
    chosen, kills = random.Random(18), 0
    steps = (
        "from gossamer.datasets import deriving; deriving.ROWS = 6;"
        "from gossamer.search.text import store; store.ROWS = 3; from gossamer.cli import main; main()"
    )
    while kills < 20:
        process = subprocess.Popen(
            [sys.executable, "-c", steps, "index", "d", "-q"], cwd=tmp_path, start_new_session=True
        )
        before = _mark(folder)
        end = time.monotonic() + PATIENCE
        while process.poll() is None and _mark(folder) == before and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(chosen.uniform(0, 0.4))
        if process.poll() is not None:
            assert process.returncode == 0
            subprocess.run(["rm", "-r", str(folder / "search")], check=True)
        else:
            kills += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    last = gossamer("index", "d", "-q", cwd=tmp_path)
    assert (last.returncode, last.stderr) == (0, "")
    killed, whole = Reader(folder), Reader(crawled)
    assert everything(killed) == everything(whole)
    for query in (
        "fox",
        "dog 17",
        "报告",
        '"quick foxes"',
        "title:page",
        "url:*/n/2?",
        "-fox",
        "pag*",
        "hostile OR start",
    ):
        assert sorted(found(killed, query, 1_000)) == sorted(found(whole, query, 1_000)), query


def _mark(folder: Path) -> object:
    try:
        return read_kept(folder / "search")
    except Exception:  # noqa: BLE001 (just being written)
        return None


def test_live_it_crawls_until_the_query_is_answered(site: str, tmp_path: Path) -> None:
    ran = gossamer(
        "search",
        "--live",
        "quick fox -19",
        site,
        "--min-delay",
        "0",
        "--limit",
        "2",
        "--json",
        "--dir",
        "kept",
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    hits = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(hits) == 2
    assert all("quick foxes" in hit["snippet"] for hit in hits)
    status = json.loads(gossamer("status", "kept", "--json", cwd=tmp_path).stdout)
    assert status["sums"]["pages"] < PAGES / 2, "it ended when it was answered"
    nothing = gossamer(
        "search", "--live", "zebra", site, "--min-delay", "0", "--max-pages", "5", cwd=tmp_path
    )
    assert (nothing.returncode, nothing.stdout) == (1, "")
    refused = gossamer("search", "--live", "site:x", site, cwd=tmp_path)
    assert refused.returncode == 2
    assert "holds no word" in refused.stderr


def test_live_pages_with_some_of_the_words_follow_where_none_has_all(site: str, tmp_path: Path) -> None:
    ran = gossamer(
        "search", "--live", "zebra quick fox 17", site, "--min-delay", "0", "--limit", "2", "--json",
        "--max-pages", "300", cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "no document has all of these words; these have some" in ran.stderr
    assert "nothing found" not in ran.stderr
    hits = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(hits) == 2
    assert hits[0]["url"] == f"{site}/n/17", "it has three of them, the others two"
    denied = gossamer(
        "search", "--live", "zebra fox -quick", site, "--min-delay", "0", "--max-pages", "5", cwd=tmp_path
    )
    assert (denied.returncode, denied.stdout) == (1, ""), "what is denied is in all of them"


def test_live_a_seed_that_cannot_be_reached_is_said_in_a_sentence(tmp_path: Path) -> None:
    command = [
        sys.executable, "-m", "gossamer", "search", "--live", "zebra", "http://127.0.0.1:1/", "--set",
        "retry.url_waits=[]", "--set", "engine.give_up_after=1s",
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 1
    assert ran.stderr.startswith("no seed could be reached: 127.0.0.1: connect"), ran.stderr
    assert "Warning" not in ran.stderr
    assert ".py" not in ran.stderr
