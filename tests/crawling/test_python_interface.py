"""The Python interface, where a crawl has nothing to hand over."""

import asyncio
import os
import socket
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from small_site import small_site

import gossamer

MANY = 200


async def _pages(*seeds: str) -> list[str]:
    return [page.url async for page in gossamer.crawl(*seeds, min_delay=0)]


def test_a_crawl_that_reaches_no_seed_warns_and_says_why() -> None:
    with (
        socket.socket() as taken,  # which listens to nobody, and keeps the port from those who would
        pytest.warns(gossamer.UnreachableWarning, match=r"127\.0\.0\.1: connect \(") as warned,
    ):
        taken.bind(("127.0.0.1", 0))
        assert asyncio.run(_pages(f"http://127.0.0.1:{taken.getsockname()[1]}/")) == []
    assert warned[0].filename == __file__, "it points at the caller"


def test_where_a_seed_is_reached_nothing_is_said() -> None:
    with small_site({"": "leaf"}.get) as site, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asyncio.run(_pages(site)) == [site]


def test_who_leaves_before_the_crawl_has_begun_does_not_wait_for_its_end() -> None:
    asked: list[str] = []

    def page(path: str) -> str:
        asked.append(path)
        return "".join(f'<a href="/{number}">x</a>' for number in range(MANY))

    async def leave(site: str) -> None:
        async with asyncio.timeout(0):
            async for _ in gossamer.crawl(site, min_delay=0):
                pass

    with small_site(page) as site, pytest.raises(TimeoutError):
        asyncio.run(leave(site))
    assert len(asked) < MANY


async def _crawl_on_disk(site: str, archive: str, folder: str | None) -> int:
    settings = {"storage": {"archive": archive}, "engine": {"give_up_after": 1.0, "min_free_disk": 0}}
    return len([page async for page in gossamer.crawl(site, folder=folder, config=settings, min_delay=0)])


def test_its_archive_may_lie_elsewhere_and_who_crawls_again_says_so_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("disk", "another"):
        (tmp_path / name).mkdir()
    with small_site({"": "leaf"}.get) as site:
        assert asyncio.run(_crawl_on_disk(site, "disk", "crawl")) == 1
        kept = (tmp_path / "crawl" / "crawl.toml").read_text()
        assert asyncio.run(_crawl_on_disk(site, "disk", "crawl")) == 0
        assert (tmp_path / "crawl" / "crawl.toml").read_text() == kept
        with pytest.raises(gossamer.ConfigError, match=r"storage\.archive: moves no crawl"):
            asyncio.run(_crawl_on_disk(site, "another", "crawl"))
        assert len(list((tmp_path / "disk").glob("*/archive/*.warc.gz"))) == 1
        # Of a crawl that keeps nothing, nothing is kept there either.
        assert asyncio.run(_crawl_on_disk(site, "another", None)) == 1
    assert not list((tmp_path / "another").iterdir())


BREAKS = """
import asyncio, gossamer

async def first(site):
    async for page in gossamer.crawl(site, min_delay=0):
        print(page.status)
        break

asyncio.run(first({site!r}))
"""


def test_a_loop_broken_off_as_the_last_thing_that_is_done_says_nothing_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    """The generator is closed then while the crawl still comes to its end, in the folder that goes with it."""

    def page(path: str) -> str:
        return "".join(f'<a href="/{number}">x</a>' for number in range(MANY))

    with small_site(page) as site:
        ended = subprocess.run(
            [sys.executable, "-c", BREAKS.format(site=site)],
            capture_output=True,
            text=True,
            env=os.environ | {"TMPDIR": str(tmp_path)},
            check=False,
        )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("200\n", "", 0)
    assert list(tmp_path.iterdir()) == []
