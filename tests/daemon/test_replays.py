"""Archives are replayed by processes apart: opened again, a few at a time, ended when idle and with the daemon."""

import asyncio
from pathlib import Path

import pytest
from small_site import small_site

import gossamer
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.reading.replays import Replays

pytestmark = pytest.mark.slow


def crawl(folder: Path) -> Path:
    async def once(url: str) -> None:
        config = {"engine": {"guess_sitemap": False}}
        async for _ in gossamer.crawl(url, folder=folder, config=config, min_delay=0, max_pages=2):
            pass

    with small_site({"": "<title>Front</title>"}.get) as address:
        asyncio.run(once(address))
    return folder


async def answers(home: str, host: str = "") -> int:
    """Status of the list, asked for by a name; 0: nobody is there."""
    name = home.removeprefix("http://")
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(name.rpartition(":")[2]))
        writer.write(f"GET / HTTP/1.1\r\nHost: {host or name}\r\nConnection: close\r\n\r\n".encode())
        line = await reader.readline()
    except OSError:
        return 0
    writer.close()
    return int(line.split()[1]) if line else 0  # one that is just ending takes a connection and says nothing


def test_one_is_opened_once_ended_and_opened_again(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "d")

    async def live() -> None:
        replays = Replays()
        home = await replays.home(folder)
        assert await answers(home) == 200
        port = home.rpartition(":")[2]
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", f"list-00000000.localhost:{port}"):
            assert await answers(home, host) == 421
        assert await replays.home(folder) == home
        await replays.end(folder)
        assert not await answers(home)
        assert await answers(await replays.home(folder)) == 200
        with pytest.raises(ServiceError) as error:
            await replays.home(tmp_path / "nothing")
        assert error.value.code == "conflict"
        await replays.end()

    asyncio.run(live())


def test_one_that_is_idle_ends_by_itself_and_is_begun_anew(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "d")

    async def live() -> None:
        replays = Replays(idle=2.0)
        home = await replays.home(folder)
        for _ in range(20):
            if not await answers(home):
                break
            await asyncio.sleep(5.0)  # longer than it is patient: asking keeps it up
        again = await replays.home(folder)
        assert again != home
        await replays.end()

    asyncio.run(live())
