"""A pause and ceilings hold for the process that goes on after a crash, and for no other."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_world import PACED, Running, running_with
from small_site import small_site

from gossamer.assembly.hold import HOLD, NOTHING, Ceilings, Hold, read_hold, write_hold


@pytest.fixture
def site() -> Iterator[str]:
    def page(path: str) -> str | None:
        return "".join(f'<a href="/{n}">x</a>' for n in range(60)) if path == "" else "<p>x"

    with small_site(page) as address:
        yield address


def begun(folder: Path, site: str) -> None:
    """A crawl that has ended well before it was over."""

    async def run() -> None:
        settings = PACED | {"seeds": [site], "scope.mode": "host"}
        async with running_with(folder, settings) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 2)
            await live.ask("pause", "ada")
            assert read_hold(folder) == Hold("ada")
            await live.ask("limits", connections=3)
            assert read_hold(folder) == Hold("ada", Ceilings(connections=3))
            await live.ask("unpause")
            assert read_hold(folder) == Hold("", Ceilings(connections=3))
            await live.ask("limits")
            assert not (folder / HOLD).exists()
            await live.ask("pause", "ada")

    asyncio.run(run())


def test_a_crawl_comes_back_as_it_was_held_and_is_free_after_a_good_end(tmp_path: Path, site: str) -> None:
    folder = tmp_path / "crawl"
    begun(folder, site)
    assert not (folder / HOLD).exists(), "it has ended well"
    write_hold(folder, Hold("ada", Ceilings(connections=2, bandwidth=50_000)))  # as if it had been killed

    async def held(live: Running) -> None:
        status = await live.ask("status")
        assert (status["state"], status["reason"]) == ("paused", "paused by ada")
        assert status["workers"]["wanted"] == 2 and status["limits"]["fetch.max_speed"] == 50_000
        pages = status["sums"]["pages"]
        await asyncio.sleep(0.3)
        assert (await live.ask("status"))["sums"]["pages"] == pages, "nothing was ever lent"
        await live.ask("unpause")
        await live.until(lambda status: status["sums"]["pages"] > pages)

    async def free(live: Running) -> None:
        status = await live.ask("status")
        assert status["state"] == "running" and status["workers"]["wanted"] == 8

    async def run() -> None:
        async with running_with(folder, {}) as live:
            await held(live)
        assert not (folder / HOLD).exists()
        async with running_with(folder, {}) as live:
            await free(live)

    asyncio.run(run())


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"paused_by": 1}', b"\xff", b" " * 70_000])
def test_a_file_that_cannot_be_read_holds_nothing(tmp_path: Path, text: bytes) -> None:
    (tmp_path / HOLD).write_bytes(text)
    assert read_hold(tmp_path) == NOTHING
    write_hold(tmp_path, Hold("ada"))
    assert read_hold(tmp_path) == Hold("ada")
    write_hold(tmp_path, NOTHING)
    assert not (tmp_path / HOLD).exists()
