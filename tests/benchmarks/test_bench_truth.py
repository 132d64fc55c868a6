import http.client
import shutil
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from benchmarks.docs_site import DocsSite, Tree
from benchmarks.truth import Answer, answer, canonical, search

ROBOTS = """User-agent: other
Disallow: /
User-agent: *
Disallow: /private/
Allow: /private/open.html
Disallow: /*.old$
"""

TARGETS = [
    "/", "/index.html", "/sub", "/sub/", "/sub?x=1", "/sub/?x", "/%73ub", "//sub//page.html", "/sub/../gone",
    "/gone", "/empty", "/empty/", "/index.html/", "/a%20b.html", "/a%2520b.html", "/sub%2Fpage.html",
    "/linked", "/linked/page.html", "/index.html?", "/%00", "/bytes.bin", "/..%2f..%2fetc/passwd",
]  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    root = tmp_path / "tree"
    for folder in ("sub", "empty", "private"):
        (root / folder).mkdir(parents=True)
    pages = {
        "index.html": '<a href="sub">1</a><a href="a b.html">2</a><a href="a%20b.html?">3</a>'
        '<a href="gone">4</a><a href="private/secret.html">5</a><a href="private/open.html">6</a>'
        '<a rel=nofollow href="alone.html">7</a><a href="x.old">8</a><img src="bytes.bin">'
        '<a href="http://other.test/">9</a>',
        "sub/index.html": '<a href="page.html">p</a>',
        "sub/page.html": '<a href="..//a%20b.html">back</a>',
        "a b.html": "",
        "alone.html": "",
        "x.old": "",
        "private/secret.html": "",
        "private/open.html": "",
        "bytes.bin": "\0",
    }
    for name, content in pages.items():
        (root / name).write_text(content)
    (root / "linked").symlink_to("sub")
    made = Tree("made", "none", root, ROBOTS)
    monkeypatch.setattr("benchmarks.docs_site.TREES", (made,))
    return made


def test_search_finds_exactly_what_a_correct_crawl_archives(tree: Tree) -> None:
    with ProcessPoolExecutor(1) as pool:
        found = search(tree, pool)
    assert set(found.pages) == {
        "/", "/a%20b.html", "//a%20b.html", "/sub/", "/sub/page.html", "/private/open.html",
    }  # fmt: skip
    assert found.redirects == {"/sub": "/sub/"}
    assert found.missing == ["/gone"]
    assert set(found.forbidden) == {"/private/secret.html", "/x.old"}
    assert found.html_pages == 6


@pytest.mark.skipif(
    shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin") is None, reason="no nginx here"
)
def test_targets_lead_to_files_as_with_nginx(tree: Tree) -> None:
    with DocsSite([tree]) as site:
        connection = http.client.HTTPConnection("127.0.0.2", site.port, timeout=10)
        for target in TARGETS:
            connection.request("GET", target)
            response = connection.getresponse()
            body = response.read()
            said = answer(tree, target)
            if response.status == 200:
                assert Path(said.file).read_bytes() == body, target
            elif response.status == 301:
                location = response.headers["Location"]
                assert location == site.origins["made"] + said.location, target
            else:
                assert response.status in (400, 403, 404), target
                assert said == Answer(), target
        connection.request("GET", "/robots.txt")
        assert connection.getresponse().read().decode() == ROBOTS
        connection.close()


def test_one_spelling_of_each_target() -> None:
    assert canonical("/%7ea%2f%41?") == "/~a%2FA"
    assert canonical("/a[1]|?b=^") == "/a%5B1%5D%7C?b=%5E"
