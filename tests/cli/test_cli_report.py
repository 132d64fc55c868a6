import json
from pathlib import Path

import pytest
from cli_run import Gossamer


@pytest.fixture
def crawled(gossamer: Gossamer, site: str) -> None:
    assert gossamer("crawl", site, "--min-delay", "0", "--dir", "c", "-q").code == 0


@pytest.mark.usefixtures("crawled")
def test_a_page_is_written_into_the_folder(gossamer: Gossamer, tmp_path: Path) -> None:
    ran = gossamer("report", "c")
    assert ran.code == 0
    assert ran.out.startswith("c/report.html: 4 pages on 1 host, ")
    page = (tmp_path / "c" / "report.html").read_text()
    assert "Crawl report: c" in page
    assert "\\x1b[31mred\\u202e" in page, "what a title holds cannot steer"
    assert gossamer("report", "c", "--out", "zh.html", "--lang", "zh").code == 0
    assert "抓取报告" in (tmp_path / "zh.html").read_text()
    assert gossamer("resume", "c", "-q").code == 0, "the folder is still a crawl's"


@pytest.mark.usefixtures("crawled")
def test_the_figures_are_for_programs_too(gossamer: Gossamer, tmp_path: Path) -> None:
    figures = json.loads(gossamer("report", "c", "--json").out)
    assert figures["sums"]["pages"] == 4
    assert figures["log"]["timeline"]["pages"]
    assert not (tmp_path / "c" / "report.html").exists()
    gossamer("report", "c", "--json", "--out", "r.html")
    assert (tmp_path / "r.html").exists()


@pytest.mark.usefixtures("crawled")
def test_what_cannot_be_done_is_said(gossamer: Gossamer, tmp_path: Path) -> None:
    for out in (".", "missing/r.html"):
        ran = gossamer("report", "c", "--out", out)
        assert ran.code == 2
        assert "is no place for a file" in ran.err
    (tmp_path / "empty").mkdir()
    assert "holds no crawl" in gossamer("report", "empty").err
    assert "holds no crawl" in gossamer("report", "nowhere").err
    assert gossamer("report", "c", "--lang", "fr").code == 2
