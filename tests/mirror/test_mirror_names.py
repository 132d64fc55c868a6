"""Names in a mirror: 70 hostile addresses, by the rules of Windows, macOS, Linux and servers of files."""

import random
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.mirror.names import USUAL, address_of, prove_names, wanted_name
from gossamer.mirror.table import Planned, Table
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser

S = "http://example.org"
SPELLED = """
    con CON.html aux/x prn.tar.gz nul. com1 LPT9.txt com%C2%B9 conin$ a:b a%3Ab C:/windows a%5Cb a%7Cb
    %5C%5Cserver%5Cshare ..%2f..%2fetc%2fpasswd %2e%2e/%2e%2e/x ..%5c..%5cx a/..%00/b ... %2e
    trailing. trailing%20 trailing.%20. %20lead x.html. x.html%20 %09tab
    a A a/ a/b A/b a.html a.html/b a/index.html a/? a//b a/b/
    p?x=1 p?x=2 p?x=1&y=2 p? p?? P?x=1 p?X=1 p?x=a/b p?x=a%2Fb
    %E4%B8%AD%E6%96%87 caf%C3%A9 cafe%CC%81 CAF%C3%89 %FF%FE %F0%9F%98%80 a%E2%80%8Db a%E2%80%AEb
    %C3%9F ss %EF%AC%81x fix %01%1f %7f a%0Ab
    x.php x.php.jpg .htaccess web.config x.shtml a.php/b.asp x.cgi?y=1
    index.html manifest.csv .mirror.sqlite 100%25 a%23b a%3Fb ~user *
"""
LONG = (
    "p?" + "q" * 300,
    "p?" + "q" * 301,
    "l" * 300,
    "l" * 301,
    "d/" * 200 + "x",
    "d/" * 201,
    "%E4%B8%AD" * 120,
)
OF_OTHERS = """
    https://example.org/a http://example.org:8080/a http://[::1]/a http://[::1]:81/a http://manifest.csv/
    http://index.html/ ftp://example.org/a http://con/ http://xn--bcher-kva.example/ http://example.org./a
"""
HOSTILE = (*(f"{S}/{name}" for name in (*SPELLED.split(), *LONG)), *OF_OTHERS.split())
DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in "0123456789\u00b9\u00b2\u00b3"
}
RUN = {"php", "php5", "phtml", "phar", "cgi", "pl", "asp", "aspx", "jsp", "shtml", "htaccess", "config"}


def is_safe(name: str) -> bool:
    """Whether every file system takes a name, by Microsoft's "Naming Files, Paths, and Namespaces" and POSIX; and no
    server of files takes it for a program."""
    assert not name.startswith("/"), name
    for part in name.split("/"):
        assert part, name
        assert part not in (".", ".."), name
        assert not set(part) & set('<>:"\\|?*'), name
        assert all(unicodedata.category(letter) not in ("Cc", "Cs") for letter in part), name
        assert not part.endswith((".", " ")), name
        assert not part.startswith((".", " ")), name
        assert part.partition(".")[0].rstrip().lower() not in DEVICES, name
        assert len(part.encode()) <= 255, name
        assert unicodedata.is_normalized("NFC", part), name
        assert not RUN & set(part.lower().split(".")[1:]), name
    return len(name.encode()) <= 255


def folded(name: str) -> str:
    """What NTFS, APFS and HFS+ may take for the same name."""
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", seen).casefold())


@pytest.fixture
def named(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Gives documents names, as one run of a mirror does."""

    def name(
        urls: list[str], folder: str = "t", kind: str = "text/html", rule: str = USUAL
    ) -> dict[str, str]:
        (tmp_path / folder).mkdir(exist_ok=True)
        with closing(Table(tmp_path / folder, rule, Canonicaliser(CanonicalConfig()))) as table:
            for text in urls:
                url = Url.parse(text)
                assert url is not None, text
                table.plan(Planned(url, kind, "2026-01-01T00:00:00Z", "a", 0, "", wanted=True))
            table.begin()
            table.planned()
            table.commit()
            due = table.due(1_000)
        return {document.url: document.file for document in due}

    return name


def test_every_file_system_takes_the_names(named: Callable[..., dict[str, str]]) -> None:
    assert len(HOSTILE) >= 60
    names = named(list(HOSTILE))
    assert len(names) >= 90
    assert all(map(is_safe, names.values()))
    assert len({folded(name) for name in names.values()}) == len(names)
    files = {folded(name) for name in names.values()}
    folders = {
        folded(name.rsplit("/", depth)[0])
        for name in names.values()
        for depth in range(1, name.count("/") + 1)
    }
    assert not files & folders, "a page and a folder have one name"


def test_names_do_not_depend_on_the_order_and_stay(named: Callable[..., dict[str, str]]) -> None:
    urls = [url for url in HOSTILE if ".org./" not in url]  # which is another by another spelling
    first = named(urls, "one")
    random.Random(1).shuffle(urls)
    assert named(urls, "two") == first
    late = [f"{S}/A.html", f"{S}/0"]
    again = named([*late, *urls], "one")
    assert {url: again[url] for url in first} == first


@settings(max_examples=examples(200))
@given(st.text(min_size=0, max_size=60), st.sampled_from(["", "?", "?q=", "/"]), st.text(max_size=20))
def test_any_address_has_a_safe_name_that_links_lead_to(path: str, mark: str, more: str) -> None:
    url = Url.parse(f"{S}/{path}{mark}{more}")
    if url is None:
        return
    name = wanted_name(USUAL, url, "text/html")
    assert is_safe(name)
    for start in ("example.org/index.html", "example.org/d/e/f.html", "other/x.html"):
        base = "file:///mirror/" + start
        assert unquote(urlsplit(urljoin(base, address_of(name, start))).path) == "/mirror/" + name


@pytest.mark.parametrize(
    ("address", "kind", "name"),
    [
        ("/", "text/html", "index.html"),
        ("/docs/", "text/html", "docs/index.html"),
        ("/about", "text/html", "about.html"),
        ("/a.htm", "text/html", "a.htm"),
        ("/a.php?id=3", "text/html", "a_php@id=3.html"),
        ("/v1.2", "text/html", "v1.2.html"),
        ("/pic.php", "image/png", "pic_php.png"),
        ("/pic.jpeg", "image/jpeg", "pic.jpeg"),
        ("/pic.jpg", "image/png", "pic.jpg.png"),
        ("/s.css?123", "text/css", "s@123.css"),
        ("/m.mjs", "text/javascript", "m.mjs"),
        ("/j.js", "text/plain", "j.js"),
        ("/notes.md", "text/plain", "notes.md"),
        ("/page.html", "text/plain", "page.html.txt"),
        ("/page.html", "application/xhtml+xml", "page.html.xhtml"),
        ("/feed", "application/rss+xml", "feed.xml"),
        ("/site.webmanifest", "application/manifest+json", "site.webmanifest"),
        ("/data.bin", "application/octet-stream", "data.bin"),
        ("/x.svg", "application/octet-stream", "x.svg.bin"),
        ("/%E4%B8%AD", "text/html", "\u4e2d.html"),
    ],
)
def test_a_name_tells_a_browser_what_the_file_is(address: str, kind: str, name: str) -> None:
    url = Url.parse(S + address)
    assert url is not None
    assert wanted_name(USUAL, url, kind) == "example.org/" + name


def test_a_rule_of_ones_own(named: Callable[..., dict[str, str]]) -> None:
    names = named([f"{S}/a/x?q=1", f"{S}/b/x?q=2"], rule="pages/{stem}.{ext}")
    assert sorted(names.values())[0] == "pages/x.html"
    assert len(set(names.values())) == 2, "two pages of one name are told apart"
    with pytest.raises(ConfigError, match="names once given stay"):
        named([f"{S}/a"], rule="{host}/{digest}.{ext}")
    for rule, why in (
        ("{host}/{path}.{ext}", "there is no {path}"),
        ("{host}/{stem}", "must end in"),
        ("x", "no part"),
    ):
        with pytest.raises(ConfigError, match=why):
            prove_names(rule)
