"""`gossamer similar`, and what list, sql, export, report and search tell of near-duplicates."""

import http.server
import json
import random
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from in_process import gossamer

pytest.importorskip("pypdfium2", reason="the extra `documents` is not installed")

from tests.search.similar_world import edited

from gossamer.datasets.sql import asked
from gossamer.inspect.inspection import inspect
from gossamer.search.similar.table import tables_of


def _prose(seed: int, words: int) -> str:
    """Sentences, which an extractor takes for a text."""
    chance = random.Random(seed)
    made = []
    while sum(map(len, made)) < words:
        made.append(
            [
                "".join(
                    chance.choice("aeiou" if at % 2 else "bdklmnrst") for at in range(chance.randrange(2, 9))
                )
                for _ in range(chance.randrange(6, 18))
            ]
        )
    return " ".join(" ".join(words).capitalize() + "." for words in made)


def _page(title: str, text: str) -> str:
    parts = text.split(". ")
    body = "".join(f"<p>{'. '.join(parts[at : at + 5])}.</p>" for at in range(0, len(parts), 5))
    return f"<!doctype html><html lang=en><title>{title}</title><main><article><h1>{title}</h1>{body}</article></main>"


ORIGINAL = _prose(1, 400)
PASSAGE = " ".join(ORIGINAL.split(" ")[120:200])
SITE = {
    "/": "<title>Home</title>" + "".join(f"<a href=/{to}>{to}</a>" for to in ("a", "near", "host", "other", "gone")),
    "/a": _page("First", _prose(2, 300)),
    "/near": _page("Second", edited(_prose(2, 300), 0.01, 5)) + "<a href=/far>far</a>",
    "/far": _page("Far", _prose(3, 200)),
    "/host": _page("Host", f"{_prose(4, 150)} {PASSAGE} {_prose(5, 100)}"),
    "/other": _page("Other", _prose(6, 200)),
}  # fmt: skip


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = SITE.get(self.path, "").encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def root(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a crawl `d` whose documents are indexed, and documents of one's own."""
    root = tmp_path_factory.mktemp("crawl")
    ran = gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", cwd=root)
    assert ran.returncode == 0, ran.stderr
    early = gossamer("similar", "d", cwd=root)
    assert early.returncode == 2
    assert "gossamer index d" in early.stderr
    ran = gossamer("index", "d", "-q", cwd=root)
    assert ran.returncode == 0, ran.stderr
    (root / "mine.txt").write_text(ORIGINAL)
    (root / "mine.html").write_text(_page("Mine", ORIGINAL))
    (root / "empty.txt").write_text("  \n")
    (root / "short.txt").write_text("Four words, no more")
    return root


def _told(root: Path, *arguments: str) -> Any:
    ran = gossamer("similar", "d", *arguments, "--json", cwd=root)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.slow
def test_pages_that_resemble_each_other_are_one_cluster_and_their_links_are_followed(
    root: Path, site: str
) -> None:
    told = _told(root)
    (cluster,) = told["clusters"]
    assert cluster["cluster"] in (f"{site}/a", f"{site}/near"), "whichever was archived first"
    assert {page["url"] for page in cluster["pages"]} == {f"{site}/a", f"{site}/near"}
    assert all(page["resemblance"] > 0.8 for page in cluster["pages"])
    assert (told["near_duplicates"], told["clusters_in_all"]) == (2, 1)
    assert told["captures"] == len(SITE), "what only the near-duplicate links to, too"
    shown = gossamer("similar", "d", cwd=root)
    assert f"2 pages like {cluster['cluster']}" in shown.stdout


@pytest.mark.slow
def test_copies_of_files_are_found_with_the_passage(root: Path, site: str) -> None:
    for answer in _told(root, "mine.txt", "mine.html"):
        (page,) = answer["pages"]
        assert (page["url"], page["title"]) == (f"{site}/host", "Host")
        (passage,) = page["passages"]
        assert passage["words"] >= 80
        assert PASSAGE in " ".join(passage["text"].split())
    (answer,) = _told(root, "mine.txt")
    (passage,) = answer["pages"][0]["passages"]
    assert PASSAGE in ORIGINAL[passage["start"] : passage["end"]]
    shown = gossamer("similar", "d", "mine.txt", cwd=root)
    assert shown.stdout.startswith("mine.txt: 1 page\n")
    assert PASSAGE[:60] in shown.stdout
    assert _told(root, "mine.txt", "--words", "100")[0]["pages"] == []
    assert _told(root, "short.txt")[0]["pages"] == []


@pytest.mark.slow
def test_a_page_of_the_crawl_is_compared_with_the_others(root: Path, site: str) -> None:
    for name in ("/near", f"{site}/near"):
        (answer,) = _told(root, name)
        assert [page["url"] for page in answer["pages"]] == [f"{site}/a"]


@pytest.mark.slow
def test_what_cannot_be_looked_for_is_told_and_the_rest_is_answered(root: Path) -> None:
    ran = gossamer("similar", "d", "nothing.pdf", "/gone", "empty.txt", "mine.txt", "d", "--json", cwd=root)
    assert ran.returncode == 1
    nothing, gone, empty, mine, folder = json.loads(ran.stdout)
    assert "it is no plain file" in folder["problem"]
    assert nothing["problem"] == "nothing.pdf: there is no such file, and nothing of it is in the index"
    assert "nothing of it is in the index" in gone["problem"]
    assert empty["problem"] == "empty.txt: has no text"
    assert not mine["problem"]
    assert mine["found"] == 1


def test_list_sql_export_and_report_tell_of_clusters(root: Path, site: str) -> None:
    first = _told(root)["clusters"][0]["cluster"]
    ran = gossamer("list", "d", "--near-duplicates", "--columns", "url,cluster", "--json", cwd=root)
    rows = [json.loads(line) for line in ran.stdout.splitlines()]
    assert sorted(row["url"] for row in rows) == [f"{site}/a", f"{site}/near"]
    assert {row["cluster"] for row in rows} == {first}
    ran = gossamer("export", "near_duplicates", "d", "--compress", "none", "--out", "x", cwd=root)
    assert ran.returncode == 0, ran.stderr
    exported = [
        json.loads(line) for path in (root / "x").glob("*.jsonl") for line in path.read_text().splitlines()
    ]
    assert {row["url"] for row in exported} == {f"{site}/a", f"{site}/near"}
    ran = gossamer("report", "d", "--json", cwd=root)
    assert json.loads(ran.stdout)["near_duplicates"] == {
        "captures": len(SITE), "pages": 2, "clusters": 1, "largest": [{"url": first, "copies": 2}],
    }  # fmt: skip


@pytest.mark.slow
def test_the_table_is_there_without_an_index_and_follows_it(root: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra `sql` is not installed")

    def count(crawl: Path) -> object:
        with inspect(crawl) as inspection:
            files = tables_of(inspection)
        with asked(files, "select count(*), max(size) from near_duplicates", seconds=60) as answer:
            return tuple(next(iter(answer.rows)))

    assert count(root / "d") == (2, 2)
    (root / "d" / "similar").rename(tmp_path / "similar")
    try:
        assert count(root / "d") == (0, None)
    finally:
        (tmp_path / "similar").rename(root / "d" / "similar")
    assert count(root / "d") == (2, 2)


def test_near_duplicates_are_one_hit_of_a_search(root: Path, site: str) -> None:
    pytest.importorskip("tantivy", reason="the extra `search` is not installed")
    common = " ".join(_prose(2, 300).split(" ")[40:43])
    ran = gossamer("search", "d", common, "--json", cwd=root)
    first, *others = [json.loads(line) for line in ran.stdout.splitlines()]
    assert first["url"] in (f"{site}/a", f"{site}/near")
    assert first["similar"] == 1
    assert not {hit["url"] for hit in others} & {f"{site}/a", f"{site}/near"}


@pytest.mark.slow
@pytest.mark.parametrize("table", ["documents", "links"])
def test_damaged_tables_are_noticed_and_the_remedy_is_named(root: Path, tmp_path: Path, table: str) -> None:
    shutil.copytree(root / "d", tmp_path / "d")
    before = json.loads(gossamer("similar", "d", "--json", cwd=tmp_path).stdout)["clusters"]
    (path,) = (tmp_path / "d" / "documents").glob(f"{table}-*.parquet")
    content = bytearray(path.read_bytes())
    content[4 : len(content) - 8] = bytes(len(content) - 12)
    path.write_bytes(content)
    if table == "documents":
        ran = gossamer("similar", "d", f"{root}/mine.txt", cwd=tmp_path)
        assert ran.returncode == 3
        assert "'gossamer index d' makes it anew" in ran.stderr
    ran = gossamer("index", "d", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert f"{path.name}: cannot be read (its content has changed); the tables are made anew" in ran.stderr
    assert json.loads(gossamer("similar", "d", "--json", cwd=tmp_path).stdout)["clusters"] == before
    assert gossamer("sql", "d", f"select count(*) from {table}", cwd=tmp_path).returncode == 0
