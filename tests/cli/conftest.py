import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import in_process
import pytest
from cli_run import Gossamer, Ran
from small_site import small_site

from gossamer.cli import main, one_page
from gossamer.simweb import SimulatedWeb, WorldSpec

PAGES = {
    "index.html": '<title>Home</title><a href="a.html">a</a> <a href="b.html">b</a> <a href="gone.html">?</a>'
    '<a href="private/x.html">p</a> <a href="http://elsewhere.example/">out</a>',
    "a.html": '<title>Page A</title><a href="b.html">b</a> <a href="c.html">c</a>',
    "b.html": "<title>Page B</title>leaf",
    "c.html": "<title>\x1b[31mred\u202e</title>leaf",
    "private/x.html": "<title>secret</title>",
    "robots.txt": "User-agent: *\nDisallow: /private/\n",
}


@pytest.fixture
def no_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that ask for one page (`one_page`) do so as of a site of one's own; else each waits for a second."""
    crawl = one_page.crawl
    monkeypatch.setattr(one_page, "crawl", lambda *given, **how: crawl(*given, **{"min_delay": 0} | how))


@pytest.fixture
def gossamer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Gossamer:
    """Runs the command in this process, in an empty working folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["gossamer", *arguments])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """`127.0.0.1:PORT` of a site of four pages, a missing one and a forbidden one."""
    answers = {**PAGES, "": PAGES["index.html"], "private": (301, {"Location": "/private/"}, "")}
    with small_site(answers.get) as address:
        yield address.removeprefix("http://").rstrip("/")


@pytest.fixture(scope="session")
def crawl_of_site(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a crawl of the site; not to be changed."""
    folder = tmp_path_factory.mktemp("crawl")
    assert (
        in_process.gossamer("crawl", site, "--min-delay", "0", "--dir", "d", "-q", cwd=folder).returncode == 0
    )
    return folder / "d"


@pytest.fixture
def crawled(crawl_of_site: Path, site: str, tmp_path: Path) -> str:
    """The site's address without the last slash; a copy of its crawl is the folder `d`."""
    shutil.copytree(crawl_of_site, tmp_path / "d")
    return f"http://{site}"


@pytest.fixture(scope="session")
def nameserver() -> Iterator[str]:
    """A name server on loopback that knows only simulated hosts."""
    with SimulatedWeb(WorldSpec.friendly()) as web:
        yield web.nameserver
