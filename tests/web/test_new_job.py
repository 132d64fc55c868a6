"""A new job as somebody makes it who comes for the first time: with seeds, and nothing else."""
# ruff: noqa: RUF001 - Chinese has commas of its own

import asyncio
import html
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_client import served

from gossamer.daemon.daemon import Daemon
from gossamer.web.console.jobs.new_job import PRESETS, read_new_job

Scene = Callable[[Daemon, httpx.AsyncClient], Awaitable[None]]
PAGE = {"Accept": "text/html"}


def play(home: Path, scene: Scene) -> None:
    async def story() -> None:
        async with served(home) as (daemon, client):
            await scene(daemon, client)

    asyncio.run(story())


async def send(client: httpx.AsyncClient, language: str = "en", **fields: str) -> httpx.Response:
    page = await client.get("/jobs/new", headers=PAGE)
    csrf = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert csrf is not None
    given = {"csrf": csrf[1], "way": "form", "do": "create", **fields}
    return await client.post("/jobs/new", data=given, headers={**PAGE, "Accept-Language": language})


def listed(page: str) -> list[str]:
    """What stands in the list of what is wrong, as text."""
    box = page[page.index('id="problems"') :]
    items = re.findall(r"<li>(.*?)</li>", box[: box.index("</div>")], re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", item)) for item in items]


@pytest.mark.parametrize(
    ("seeds", "name"),
    [
        ("https://example.org/", "crawl-example.org"),
        ("example.org\nhttps://other.test/", "crawl-example.org"),
        ("http://EXAMPLE.org:8080/a", "crawl-example.org-8080"),
        ("http://127.0.0.1/", "crawl-127.0.0.1"),
        ("http://[::1]/", "crawl----1-"),
        ("https://bücher.example/", "crawl-xn--bcher-kva.example"),
        (f"https://{'a' * 60}.{'b' * 60}.example/", f"crawl-{'a' * 58}"),
    ],
)
def test_the_name_comes_from_the_first_seed(home: Path, seeds: str, name: str) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        made = await send(client, seeds=seeds)
        assert made.headers["location"] == f"/jobs/{name}?said=created"
        assert [job.name for job in daemon.jobs()] == [name]

    play(home, scene)


def test_a_name_is_not_given_twice(home: Path) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        long = f"{'a' * 60}.example"
        for seed in ("example.org", "example.org", "https://example.org/b", long, long):
            assert (await send(client, seeds=seed)).status_code == 303
        # A folder that is there is taken, too, whoever made it.
        (home / "jobs" / "crawl-other.test").mkdir()
        await send(client, seeds="other.test")
        assert [job.name for job in daemon.jobs()] == [
            f"crawl-{'a' * 56}-2",
            f"crawl-{'a' * 58}",
            "crawl-example.org",
            "crawl-example.org-2",
            "crawl-example.org-3",
            "crawl-other.test-2",
        ]

    play(home, scene)


def test_programs_need_no_name_either(home: Path) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        made = await client.post("/api/v1/jobs", json={"seeds": ["https://example.org/"]})
        assert (made.status_code, made.json()["name"]) == (201, "crawl-example.org")
        assert made.headers["location"] == "/api/v1/jobs/crawl-example.org"
        assert [line.job for line in daemon.audit()["items"]] == ["crawl-example.org"]
        toml = {"toml": 'seeds = ["https://example.org/"]'}
        assert (await client.post("/api/v1/validate", json=toml)).json() == {"problems": [], "reasons": []}
        assert (await client.post("/api/v1/jobs", json=toml)).json()["name"] == "crawl-example.org-2"
        assert (await client.post("/api/v1/jobs", json={"name": "", **toml})).status_code == 422

    play(home, scene)


WRONG = ("gopher://example.org/", "https://user:word@example.org/", "http://exa mple/")


@pytest.mark.parametrize("more", [{}, {"workers": "many", "toml": "[scope]\nmode = 5"}])
@pytest.mark.parametrize("do", ["check", "create", "start"])
def test_every_wrong_seed_is_listed_with_what_to_do(home: Path, do: str, more: dict[str, str]) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        seeds = "\n".join(("https://right.test/", *WRONG))
        answer = await send(client, seeds=seeds, do=do, **more)
        assert answer.status_code == 400
        items = listed(answer.text)
        assert len(items) == 3 + len(more), items
        assert f"{len(items)} things are wrong" in answer.text
        for seed in (WRONG[0], WRONG[2]):
            [said] = [item for item in items if seed in item]
            assert "is no URL that can be crawled. Write it like https://example.org/" in said
        [said] = [item for item in items if "password" in item]
        assert "word@" not in said and '[place."example.org".credentials]' in said
        assert not any("right.test" in item or "name" in item.partition(":")[0] for item in items)
        assert all(item.startswith("Seeds: ") for item in items if "URL" in item)
        assert seeds in html.unescape(answer.text)
        assert daemon.jobs() == []

    play(home, scene)


def test_wrong_seeds_are_told_of_in_chinese(home: Path) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        items = listed((await send(client, language="zh", seeds="\n".join(WRONG))).text)
        assert [item.partition("：")[0] for item in items] == ["种子"] * 3
        assert "不是可以抓取的 URL" in items[0] and "密码" in items[1]
        items = listed((await send(client, language="zh", seeds="")).text)
        assert items == ["种子：没有种子，至少要有一个 URL，例如 https://example.org/"]

    play(home, scene)


def test_of_very_many_wrong_seeds_the_rest_is_counted(home: Path) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        items = listed((await send(client, language="zh", seeds="gopher://a/\n" * 103)).text)
        assert items[-1] == "种子：另有 3 个无法使用"

    play(home, scene)


def test_requisites_contact_and_presets_are_fields(home: Path) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        page = (await client.get("/jobs/new", headers=PAGE)).text
        for name in ("requisites", "contact", "preset"):
            assert f'id="f-{name}"' in page
        assert page.index('id="f-seeds"') < page.index('id="f-name"')
        [name] = re.findall(r'<input id="f-name"[^>]*>', page)
        assert "required" not in name
        given = {"seeds": "example.org", "requisites": "any", "contact": "me@example.org"}
        await send(client, preset="look", max_depth="9", **given)
        toml = daemon.configuration("crawl-example.org")
        for line in ('requisites = "any"', 'contact = "me@example.org"', "max_depth = 9", "max_pages = 200"):
            assert line in toml

    play(home, scene)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_makes_a_job(home: Path, preset: str) -> None:
    async def scene(daemon: Daemon, client: httpx.AsyncClient) -> None:
        answer = await send(client, seeds="example.org", preset=preset)
        assert answer.status_code == 303, listed(answer.text)

    play(home, scene)


@pytest.mark.parametrize(
    ("fields", "requisites"),
    [
        ({"preset": "archive"}, "any"),
        ({"preset": "archive", "requisites": "off"}, "any"),
        ({"preset": "archive", "requisites": "host"}, "host"),
        ({"preset": "nonsense", "requisites": "off"}, "off"),
        ({"preset": "look"}, None),
    ],
)
def test_what_is_chosen_beats_a_preset(fields: dict[str, str], requisites: Any) -> None:
    source = read_new_job(fields).source
    assert isinstance(source, dict)
    assert source.get("scope", {}).get("requisites") == requisites
