"""Programs that take values from pages and choose which links to follow."""

import asyncio
import http.server
import threading
from collections.abc import Iterator

import pytest

import gossamer
from gossamer.inspect.inspection import inspect


class _Chain(http.server.BaseHTTPRequestHandler):
    """Pages 0 to 29; each links to the next nine, one of which is 'next'."""

    def do_GET(self) -> None:
        number = int(self.path[1:] or 0) if self.path[1:].isdigit() or self.path == "/" else None
        ok = number is not None and number < 30
        links = "".join(
            f"<a class={'next' if to == 1 else 'far'} href='/{(number or 0) + to}'>x</a>"
            for to in range(1, 10)
        )
        body = f"<h1>Page {number}</h1><b>{number},50 EUR</b>{links}".encode() if ok else b"gone"
        self.send_response(200 if ok else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def chain() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Chain) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()
        thread.join()


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
    asked: list[str] = []

    class Site(_Chain):
        def do_GET(self) -> None:
            asked.append(self.path)
            where = f"http://{self.headers['Host']}"
            body, status, kind = ALL_KINDS, 200, "text/html"  # a soft 404, too
            if self.path == "/robots.txt":
                status, kind = (200 if named else 404), "text/plain"
                body = f"Sitemap: {where}/map.xml\n" if named else ""
            elif self.path == "/map.xml":
                kind, body = "application/xml", f"<urlset><url><loc>{where}/listed</loc></url></urlset>"
            elif self.path == "/":
                status, body = 302, ""
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if status == 302:
                self.send_header("Location", "/deep/page")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    async def main(site: str) -> list[str]:
        folder = tmp_path / "c"
        return [page.url async for page in gossamer.crawl(site, folder=folder, min_delay=0, follow=False)]

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            got = asyncio.run(main(f"http://127.0.0.1:{server.server_address[1]}/"))
        finally:
            server.shutdown()
            thread.join()
    assert sorted(asked) == ["/", "/deep/page", "/robots.txt"]
    assert got[-1].endswith("/deep/page")
