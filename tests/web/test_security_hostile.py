"""Nothing that comes from crawled pages, or from an address somebody was lured to, runs in the console."""

import asyncio
import heapq
import re
from collections import Counter
from urllib.parse import quote, urljoin, urlsplit

import html5lib
import httpx
import pytest
from api_client import client_of
from hostile_site import RUNS, hostile_site
from service_world import WHO, open_daemon, reach, until

from gossamer.control.views.views import VIEWS
from gossamer.web.api.app import make_app
from gossamer.web.api.reading import INERT
from gossamer.web.security.headers import POLICY

MOST_PAGES = 90
RUNNING_SCHEMES = ("javascript", "data", "vbscript", "blob")


def check_page(answer: httpx.Response) -> list[str]:
    """Nothing in a page can run but our own files; the addresses it links to."""
    where = str(answer.request.url)
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy, where
    assert policy in (POLICY, INERT) or policy.startswith("default-src 'none'"), where
    assert answer.headers["x-content-type-options"] == "nosniff"
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return []
    assert "charset=utf-8" in answer.headers["content-type"].lower(), where
    links = []
    for element in html5lib.parse(answer.text, namespaceHTMLElements=False).iter():
        tag = str(element.tag).rpartition("}")[2].lower()
        assert tag not in ("iframe", "object", "embed", "base", "applet", "foreignobject"), where
        if tag == "script":
            assert element.get("src", "").startswith("/static/"), where
            assert not (element.text or "").strip(), where
        assert not (tag == "style" and policy == POLICY), where
        assert not (tag == "meta" and element.get("http-equiv")), where
        for name, value in element.attrib.items():
            name = str(name).rpartition("}")[2].lower()
            assert not name.startswith("on"), (where, tag, name)
            assert not (name == "style" and policy == POLICY), (where, tag)
            assert name != "srcdoc", where
            if name in ("href", "src", "action", "formaction", "xlink:href"):
                plain = re.sub(r"[\x00-\x20]", "", value).lower()
                assert not plain.startswith(tuple(f"{scheme}:" for scheme in RUNNING_SCHEMES)), (where, value)
                if name != "href":
                    assert value.startswith("/") and not value.startswith("//"), (where, tag, value)
                elif tag == "a":
                    links.append(urljoin(where, value))
    return links


async def look_around(client: httpx.AsyncClient, start: list[str]) -> dict[str, str]:
    """Follow links of the console, one of each kind before a second; the text of each page by its address."""
    seen: dict[str, str] = {}
    known, waiting = set(start), [(0, path) for path in start]
    shapes: Counter[str] = Counter()
    while waiting and len(seen) < MOST_PAGES:
        path = heapq.heappop(waiting)[1]
        answer = await client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code < 500, (path, answer.text[:300])
        seen[path] = answer.text
        for link in check_page(answer):
            parts = urlsplit(link)
            if parts.netloc != "127.0.0.1:8470":
                continue
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            shape = parts.path + re.sub(r"=[^&]*", "=", parts.query)
            if target not in known:
                known.add(target)
                shapes[shape] += 1
                heapq.heappush(waiting, (shapes[shape], target))
    return seen


@pytest.mark.slow
def test_hostile_pages_are_shown_as_text(home) -> None:
    with hostile_site() as site:
        asyncio.run(scene(home, site))


async def scene(home, site) -> None:
    settings = {
        "seeds": [site],
        "fetch.allow_private": True,
        "politeness.min_delay": 0,
        "engine.give_up_after": "500ms",
        "engine.min_free_disk": "1MiB",
        "search.follow": True,
        "state.block_cache": "4MiB",
        "state.write_buffers": "4MiB",
    }
    async with open_daemon(home) as daemon, client_of(make_app(daemon, daemon.config), timeout=60) as client:
        await daemon.create("evil", settings, who="<script>alert(1)</script>")
        await daemon.start("evil", who=WHO)
        await reach(daemon, "evil", "finished")
        pages = (await client.get("/api/v1/jobs/evil/pages")).json()["items"]
        assert len(pages) > 6
        assert any("alert(1)" in (page["title"] or "") for page in pages), "the title came through whole"
        await until(lambda: searchable(client))
        await check_views(client, [page["url"] for page in pages])
        hosts = [f"/jobs/evil/why?url={quote(page['url'])}" for page in pages]
        searched = ["/search?q=alert", "/jobs/evil/search?q=alert", f"/search?q={quote(RUNS)}"]
        seen = await look_around(client, ["/", "/jobs/evil", "/api/v1/docs", *searched, *hosts])
        assert len(seen) > 20
        shown = [path for path, text in seen.items() if "&lt;script&gt;alert(1)" in text]
        assert any("/content?" in path for path in seen), "contents were downloaded"
        assert any(path.startswith("/search?") for path in shown)
        for view in ("pages", "page", "why", "search"):
            assert any(path.startswith(f"/jobs/evil/{view}") for path in shown), (view, shown)
        await check_reflected(client)


async def searchable(client: httpx.AsyncClient) -> bool:
    """The index beside the crawl has come to its end."""
    answer = await client.get("/api/v1/jobs/evil/search", params={"query": "alert"})
    return answer.status_code == 200 and answer.json()["total"] > 2 and answer.json()["behind"] == 0


async def check_views(client: httpx.AsyncClient, urls: list[str]) -> None:
    """What programs get is JSON, and no browser takes it for anything else."""
    host, of_url = urlsplit(urls[0]).netloc, ("why", "page", "captures", "document")
    asked = [(method, {}) for method in VIEWS if method not in ("host", "robots", *of_url)]
    asked += [(method, {"url": url}) for url in urls for method in of_url]
    asked += [
        (method, {key: name})
        for method, key in (("host", "name"), ("robots", "host"))
        for name in (host, RUNS)
    ]
    for method, params in asked:
        answer = await client.get(f"/api/v1/jobs/evil/{method}", params=params)
        assert answer.status_code in (200, 404, 422), (method, answer.text)
        assert answer.headers["content-type"] in ("application/json", "application/problem+json")
        assert answer.headers["x-content-type-options"] == "nosniff"
        answer.json()


async def check_reflected(client: httpx.AsyncClient) -> None:
    """What stands in an address is not repeated as anything but text."""
    names = (
        "text",
        "state",
        "sort",
        "cursor",
        "limit",
        "host",
        "url",
        "name",
        "said",
        "next",
        "part",
        "kind",
        "q",
        "site",
        "type",
        "language",
        "year",
        "page",
    )
    query = "&".join(f"{name}={quote(RUNS)}" for name in names)
    paths = [
        "/",
        "/login",
        "/jobs/new",
        "/allocation",
        "/audit",
        "/help",
        "/search",
        "/search/like",
        "/nothing",
    ]
    paths += [
        f"/jobs/evil/{view}"
        for view in (*VIEWS, "report", "clone", "delete", "schedule", "claim", "seeds", "search")
    ]
    paths += [
        f"/jobs/{quote(RUNS, safe='')}",
        f"/jobs/{quote('<script>alert(1)<', safe='')}",
        "/static/x/<script>",
    ]
    for path in paths:
        for address in (path, f"{path}?{query}"):
            answer = await client.get(address, headers={"Accept": "text/html"})
            assert answer.status_code < 500, (address, answer.text[:300])
            check_page(answer)
            for name, value in answer.headers.items():
                assert "\n" not in value and "<script" not in value, (address, name)
    for path, form in (
        ("/jobs/new", {"name": RUNS, "toml": RUNS, "seeds": RUNS, "way": "toml"}),
        ("/login", {"name": RUNS}),
    ):
        csrf = (await client.get("/api/v1/session")).json()["csrf"]
        answer = await client.post(path, data={**form, "csrf": csrf})
        assert answer.status_code < 500, (path, answer.text[:300])
        check_page(answer)


@pytest.mark.parametrize(
    "page",
    [
        "<script>alert(1)</script>",
        '<script src="https://evil.example/x.js"></script>',
        '<script src="//evil.example/x.js"></script>',
        "<p onclick=x>",
        "<svg onload=x>",
        '<a href="java\nscript:alert(1)">',
        '<a href=" data:text/html,x">',
        '<p style="color: red">',
        "<style>p {}</style>",
        "<iframe></iframe>",
        "<base href=/x>",
        '<meta http-equiv="refresh" content="0">',
        '<form action="https://evil.example/">',
        '<img src="https://evil.example/x.png">',
        "<svg><foreignObject></foreignObject></svg>",
    ],
)
def test_the_check_sees_what_would_run(page) -> None:
    headers = {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
    }
    request = httpx.Request("GET", "http://127.0.0.1:8470/")
    answer = httpx.Response(200, headers=headers, text=f"<!doctype html><p>{page}", request=request)
    with pytest.raises(AssertionError):
        check_page(answer)
