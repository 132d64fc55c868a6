"""Programs that take values from pages and choose which links to follow."""

import asyncio
from collections.abc import Iterator

import pytest
from small_site import Answer, Site, small_site

import gossamer
from gossamer.inspect.inspection import inspect


def _page(path: str) -> str | None:
    """Pages 0 to 29; each links to the next nine, one of which is 'next'."""
    if path and not path.isdigit():
        return None
    number = int(path or 0)
    links = "".join(
        f"<a class={'next' if to == 1 else 'far'} href='/{number + to}'>x</a>" for to in range(1, 10)
    )
    return f"<h1>Page {number}</h1><b>{number},50 EUR</b>{links}" if number < 30 else None


@pytest.fixture
def chain() -> Iterator[str]:
    with small_site(_page) as address:
        yield address


def test_only_chosen_links_are_followed_while_the_consumer_takes_its_time(chain, tmp_path) -> None:
    async def main() -> list[object]:
        got: list[object] = []
        async for page in gossamer.crawl(chain, folder=tmp_path / "c", min_delay=0, follow=False):
            if page.status != 200:
                continue
            await asyncio.sleep(0.05)  # nothing is under way meanwhile, and yet the crawl goes on
            got.append(page.first("b | number"))
            assert page.follow(*page.css("a.next::attr(href)"), "http://[bad") == 1
            assert page.follow(page.url) == 0, "known"
        return got

    assert asyncio.run(main()) == [number + 0.5 for number in range(30)]
    with inspect(tmp_path / "c") as inspection:
        assert str(inspection.ended) == "finished"


def test_a_crawl_is_stopped_on_a_condition(chain) -> None:
    async def main() -> int:
        async for page in gossamer.crawl(chain, min_delay=0):
            if page.first("h1") == "Page 5":
                break
        return page.depth

    assert asyncio.run(main()) == 1


def test_fields_arrive_with_the_page(chain) -> None:
    async def main() -> list[dict[str, object]]:
        fields = {"name": "h1", "price": "b | number", "none": ".none"}
        return [page.fields async for page in gossamer.crawl(chain, min_delay=0, max_pages=3, fields=fields)]

    found = asyncio.run(main())
    assert {"name": "Page 0", "price": 0.5} in found


def test_what_scope_and_limits_forbid_is_not_followed(chain) -> None:
    async def main() -> list[str]:
        got = []
        async for page in gossamer.crawl(chain, min_delay=0, follow=False, exclude=["/2$"]):
            got.append(page.url)
            page.follow("/1", "/2", "http://elsewhere.example/")
        return got

    assert {url.removeprefix(chain) for url in asyncio.run(main())} == {"", "1"}


ALL_KINDS = (
    "<link rel=canonical href='/canonical'><link rel=alternate hreflang=de href='/de'>"
    "<link rel=alternate type='application/rss+xml' href='/feed'><a href='/a/b/c'>x</a>"
)


@pytest.mark.parametrize("named", [True, False], ids=["robots file names a sitemap", "no robots file"])
def test_without_follow_nothing_is_asked_for_but_seeds_and_redirects(named, tmp_path) -> None:
    def answer(host: str, path: str, _: object) -> Answer:
        if path == "/robots.txt":
            text = f"Sitemap: http://{host}/map.xml\n" if named else ""
            return 200 if named else 404, {"Content-Type": "text/plain"}, text
        if path == "/map.xml":
            text = f"<urlset><url><loc>http://{host}/listed</loc></url></urlset>"
            return 200, {"Content-Type": "application/xml"}, text
        if path == "/":
            return 302, {"Location": "/deep/page"}, ""
        return 200, {"Content-Type": "text/html"}, ALL_KINDS  # a soft 404, too

    async def main(site: str) -> list[str]:
        folder = tmp_path / "c"
        return [page.url async for page in gossamer.crawl(site, folder=folder, min_delay=0, follow=False)]

    with Site(answer) as site:
        got = asyncio.run(main(site.address))
    assert sorted(path for _, path in site.asked) == ["/", "/deep/page", "/robots.txt"]
    assert got[-1].endswith("/deep/page")
