import gzip
import json
from pathlib import Path

from cli_run import Gossamer

EXPECTED = {"/b.html": "2", "/c.html": "1", "/gone.html": "1", "/index.html": "0", "/never.html": "0"}
"""Other pages that mention each: the home page and page A do."""


def test_links_are_exported(gossamer: Gossamer, site: str, tmp_path: Path) -> None:
    crawled = gossamer("crawl", f"http://{site}/index.html", "--min-delay", "0", "--dir", "c", "-q")
    assert crawled.code == 0
    ran = gossamer("export", "links", "c")
    assert ran.code == 0
    assert ran.out.startswith("c/links: 6 pages, 8 URLs, ")
    with gzip.open(tmp_path / "c" / "links" / "urls.tsv.gz", "rt") as lines:
        urls = [line.split("\t")[1].replace(site, "S") for line in lines]
    assert "http://elsewhere.example/" in urls
    assert "http://S/c.html" in urls
    assert not any("robots.txt" in url for url in urls)


def test_why_tells_how_many_other_pages_refer_to_a_url(gossamer: Gossamer, site: str) -> None:
    def told(path: str) -> str:
        facts = json.loads(gossamer("why", "c", f"http://{site}{path}", "--json").out)["facts"]
        return next(fact["text"] for fact in facts if fact["about"] == "references")

    gossamer("crawl", f"http://{site}/index.html", "--min-delay", "0", "--dir", "c", "-q")
    assert "known after 'gossamer export links'" in told("/b.html")
    for _ in range(2):  # another export counts nothing twice
        assert gossamer("export", "links", "c").code == 0
        counts = {path: told(path).partition(",")[0].rpartition(" ")[2] for path in EXPECTED}
        assert counts == EXPECTED


def test_the_figures_are_for_programs_too(gossamer: Gossamer, site: str, tmp_path: Path) -> None:
    gossamer("crawl", f"http://{site}/b.html", "--min-delay", "0", "--dir", "c", "-q")
    ran = gossamer("export", "links", "c", "--out", "graph", "--memory", "1MiB", "--json")
    assert json.loads(ran.out)["pages"] == 2
    assert (tmp_path / "graph" / "page_edges.tsv.gz").exists()
    assert not (tmp_path / "c" / "links").exists()


def test_what_cannot_be_done_is_said(gossamer: Gossamer, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no crawl" in gossamer("export", "links", "empty").err
    ran = gossamer("export", "links", "empty", "--memory", "much")
    assert ran.code != 0
    assert "--memory" in ran.err
