"""Settings by place in a crawl: scope, bodies, headers, rests, before and after the head of an answer is there."""

import asyncio
import json

from fetch_servers import fetched, fetching, serving
from small_site import Site
from test_robots_flow import crawl, html

from gossamer.cli.look import tell_whole
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.http import LocalFetch
from gossamer.inspect.inspection import inspect
from gossamer.model.candidate import Candidate
from gossamer.model.url import Url
from gossamer.policy.places.local import Local
from gossamer.policy.places.place import read_place
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig


def test_a_crawl_goes_by_places_and_why_tells_so(tmp_path):
    def answer(host, path, asked):
        if path == "/":
            return html("/a/", "/b/", "/a/x.png")
        if path.endswith(".png"):
            return 200, {"Content-Type": "image/png"}, b"x" * 5_000
        return html(f"{path}further/")

    with Site(answer) as site:
        root = site.address.rstrip("/")
        crawl(
            tmp_path / "c",
            [site.address],
            place={
                f"{root}/a/": {"scope": {"max_depth": 1}, "fetch": {"user_agent": "archivist"}},
                f"{root}/b/": {"scope": {"max_depth": 3}},
                "type:image/*": {"fetch": {"max_body": 1_000}},
            },
        )
        agents = {
            path: headers["User-Agent"] for (_, path), headers in zip(site.asked, site.headers, strict=True)
        }
    assert set(agents) >= {"/a/", "/a/x.png", "/b/", "/b/further/", "/b/further/further/"}
    assert "/a/further/" not in agents and "/b/further/further/further/" not in agents
    assert agents["/a/"] == agents["/a/x.png"] == "archivist" != agents["/b/"]
    sizes = [json.loads(line) for line in (tmp_path / "c" / "crawl.log").read_text().splitlines()]
    assert [line["size"] for line in sizes if line["url"].endswith(".png")] == [1_000]
    with inspect(tmp_path / "c") as inspection:
        told = [
            fact.text
            for fact in tell_whole(inspection, f"{root}/a/x.png").story.facts
            if fact.about == "place"
        ]
    assert told == [
        f"scope.max_depth = 1, by {root}/a/",
        f'fetch.user_agent = "archivist", by {root}/a/',
        'fetch.max_body = "1kB", by type:image/*',
    ]


def test_a_body_is_cut_by_the_place_of_its_media_type_and_others_are_not(tmp_path):
    everywhere, pictures = FetchConfig(allow_private=True), FetchConfig(allow_private=True, max_body=3)
    local = LocalFetch(
        settings=lambda url, address, media_type: pictures if media_type == "image/png" else everywhere,
        differs=lambda: True,
    )

    async def sizes():
        found = []
        for kind in (b"image/png", b"text/html"):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\nContent-Length: 9\r\n\r\n123456789"
            async with serving(head) as server, fetching(tmp_path, local=local) as module:
                found.append((await fetched(module, server.url())).body.size)
        return found

    assert asyncio.run(sizes()) == [3, 9]


def test_rules_of_the_scope_are_those_of_the_place():
    places = [
        (read_place("a.org/deep/"), {"max_depth": 9, "exclude": ()}),
        (read_place("a.org"), {"exclude": ("print",), "requisites": "host"}),
    ]
    config = ScopeConfig(mode="any", max_depth=1)
    scope = Scope(config, [], traps=TrapConfig(), places=(Local(config, places), Local(TrapConfig())))

    def admits(url, depth=0):
        return scope.judge(Candidate(Url.parse(url), depth=depth)).admitted

    assert (
        admits("https://a.org/deep/x", 9)
        and not admits("https://a.org/x", 2)
        and not admits("https://b.org/deep/x", 2)
    )
    assert (
        not admits("https://a.org/print")
        and admits("https://a.org/deep/print")
        and admits("https://b.org/print")
    )
    assert scope.add_seed(Url.parse("ftp://a.org/")) is False
    assert admits("ftp://a.org/deep/x", 9)  # what holds everywhere changed: so did what is made of it
