"""What a site's links, titles, translations and sitemaps say of each other; soft 404s; certificates."""

import os
from pathlib import Path
from typing import Any

import pytest
from farm_site import audit, crawl
from fetch_servers import certificate, tls_server_context
from link_farm import link_farm, page, to

from gossamer.assembly.folder_lock import lock_folder
from gossamer.audit.audit import FOLDER
from gossamer.model.errors import ConfigError

HEAD = '<html lang=en><meta name=description content="{0}"><title>{0}</title><h1>{0}</h1>'
LONG = "These words stand on two pages, and there are enough of them to be told apart from all others."


def titled(name: str, rest: str = "", head: str = "") -> Any:
    return page(HEAD.format(name) + head + f"<p>{LONG} Only of {name}.</p>" + rest)


def sitemap(address: str, *paths: str) -> Any:
    urls = "".join(f"<url><loc>{address}{path}</loc></url>" for path in paths)
    body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return page(body, Content_Type="application/xml")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, set[tuple[str, str]], dict[str, Any]]:
    """Address, (rule, path) of all findings, and the whole result."""
    folder = tmp_path_factory.mktemp("site")
    behaviours: dict[str, Any] = {}
    with link_farm(behaviours) as site:
        behaviours |= {
            "robots.txt": page(
                f"User-agent: *\nDisallow: /kept\nSitemap: {site.address}map.xml", Content_Type="text/plain"
            ),
            "map.xml": sitemap(site.address, "", "en", "de", "orphan", "old", "gone", "hidden"),
            "": titled(
                "Home",
                '<a href="en">e</a><a href="de">d</a><a href="old">o</a><a href="hidden">h</a><a href="twin">t</a>'
                '<a href="twin2">t</a><a href="unlisted">u</a><a href="kept">k</a><a href="soft">s</a>'
                '<a href="far">f</a><a href="canon">c</a>',
            ),
            "en": titled("English", head='<link rel=alternate hreflang=de href="/de">'),
            "de": titled("Deutsch", head='<link rel=alternate hreflang=fr href="/nowhere">'),
            "orphan": titled("Orphan"),
            "old": to("/en"),
            "far": to("/old", 302),
            "hidden": titled("Hidden", head='<meta name=robots content="NoIndex">'),
            "twin": page(HEAD.format("Twin") + f"<p>{LONG}"),
            "twin2": page(HEAD.format("Twin") + f"<p>{LONG}"),
            "unlisted": titled("Unlisted"),
            "canon": titled("Canon", head='<link rel=canonical href="/gone">'),
            "soft": page(HEAD.format("404 Not Found")),
        }
        told = audit(crawl(site.address, folder))
        address = site.address
    return address, {(one["rule"], one["url"].removeprefix(address)) for one in told["findings"]}, told


@pytest.mark.parametrize(
    "expected",
    [
        ("title-doubled", "twin"),
        ("description-doubled", "twin"),
        ("duplicate", "twin"),
        ("canonical-broken", "canon"),
        ("hreflang-no-return", "en"),
        ("hreflang-broken", "de"),
        ("orphan", "orphan"),
        ("sitemap-not-well", "old"),
        ("sitemap-not-well", "gone"),
        ("sitemap-not-well", "hidden"),
        ("sitemap-missing", "unlisted"),
        ("redirect-chain", "far"),
        ("robots-forbids", "kept"),
        ("soft-404", "soft"),
    ],
)
def test_what_is_wrong_is_found(
    found: tuple[str, set[tuple[str, str]], Any], expected: tuple[str, str]
) -> None:
    assert expected in found[1]


def test_what_is_well_is_not(found: tuple[str, set[tuple[str, str]], Any]) -> None:
    _, findings, _ = found
    assert {path for rule, path in findings if rule == "orphan"} == {"orphan"}
    assert {path for rule, path in findings if rule == "soft-404"} == {"soft"}
    assert {path for rule, path in findings if rule in ("duplicate", "title-doubled")} == {"twin"}
    assert not [
        path for rule, path in findings if rule == "sitemap-not-well" and path in ("", "en", "de", "orphan")
    ]


def test_doubles_name_their_pages(found: tuple[str, set[tuple[str, str]], Any]) -> None:
    address, _, told = found
    (doubled,) = [one for one in told["findings"] if one["rule"] == "title-doubled"]
    assert [one["url"] for one in doubled["pages"]] == [f"{address}twin", f"{address}twin2"]
    assert doubled["detail"] == {"count": 2, "text": "Twin"}


def test_a_page_that_says_what_the_site_says_where_nothing_is(tmp_path: Path) -> None:
    nothing = f"<title>Tea shop</title><p>Alas, {LONG}"

    def answer(path: str) -> Any:
        return page(nothing)

    behaviours: Any = {"": titled("Home", '<a href="a">a</a><a href="b">b</a>'), "a": titled("A")}
    with link_farm(_Always(behaviours, answer)) as site:
        told = audit(crawl(site.address, tmp_path))
    codes = {link["url"].removeprefix(site.address): link["code"] for link in told["links"]}
    assert codes == {"a": "ok", "b": "soft-404"}


def test_a_site_that_is_one_page_for_all_addresses_is_no_soft_404(tmp_path: Path) -> None:
    shell = page(f'<title>App</title><a href="a">a</a><p>{LONG}<script src="app.js"></script>')
    with link_farm(_Always({}, lambda _: shell)) as site:
        told = audit(crawl(site.address, tmp_path))
    assert {link["verdict"] for link in told["links"]} == {"well"}


class _Always(dict[str, Any]):
    """Something is at each path."""

    def __init__(self, known: dict[str, Any], otherwise: Any) -> None:
        super().__init__(known)
        self._otherwise = otherwise

    def get(self, path: str, default: Any = None) -> Any:
        if path in ("robots.txt", "sitemap.xml"):
            return default
        return super().get(path) or self._otherwise(path)


def test_a_site_that_asks_for_rests_is_not_taken_for_broken_nor_left_unknown(tmp_path: Path) -> None:
    limited = page("no", 429, Retry_After="3600")
    links = "".join(f'<a href="{name}">x</a>' for name in ("limited", "a", "b", "gone"))
    with link_farm(
        {"": titled("Home", links), "limited": limited, "a": titled("A"), "b": titled("B")}
    ) as site:
        told = audit(crawl(site.address, tmp_path))
    verdicts = {link["url"].removeprefix(site.address): link["verdict"] for link in told["links"]}
    assert verdicts == {"limited": "refused", "a": "well", "b": "well", "gone": "broken"}


def test_a_certificate_that_ends_soon_is_found_behind_a_seed_without_encryption(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with (
        link_farm({"": titled("Home")}, tls=tls_server_context(cert, key)) as inside,
        link_farm({"": to(inside.address)}) as seed,
    ):
        told = audit(crawl(seed.address, tmp_path, "--set", f"fetch.ca_file={cert}"))
    assert [one["url"] for one in told["findings"] if one["rule"] == "certificate-ends"] == [inside.address]


def test_a_second_audit_of_a_crawl_is_refused_while_the_first_goes_on(tmp_path: Path) -> None:
    with link_farm({"": titled("Home")}) as site:
        folder = crawl(site.address, tmp_path)
        lock = lock_folder(folder / FOLDER, "audits")
        try:
            with pytest.raises(ConfigError, match="another process audits this crawl now; wait for it"):
                audit(folder)
        finally:
            os.close(lock)
        assert audit(folder)["findings"] is not None
