"""A running crawl answers on its socket, and only there, and only well-formed questions."""

import asyncio
import contextlib
import gc
import json
import os
import socket
import stat
from pathlib import Path

import pytest
from live_world import Running, running

from gossamer.control.socket.address import ControlSocket, connected
from gossamer.control.socket.client import connect
from gossamer.control.socket.protocol import LONGEST_REQUEST, SOCKET, LiveError, NotRunning, Request
from gossamer.control.socket.server import ControlServer
from gossamer.simweb import SimulatedWeb, WorldSpec

SPEC = WorldSpec.friendly(hosts=6, pages=400, page_bytes=500)


@pytest.fixture(scope="module")
def web():
    with SimulatedWeb(SPEC) as served:
        yield served


async def raw(running_: Running, *lines: bytes) -> list[dict]:
    reader, writer = await asyncio.open_unix_connection(str(running_.folder.path / SOCKET), limit=1 << 24)
    try:
        writer.write(b"".join(lines))
        writer.write_eof()
        return [json.loads(line) for line in (await reader.read()).splitlines()]
    finally:
        writer.close()
        await writer.wait_closed()


def test_status_of_a_running_crawl(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            status = await live.until(lambda status: status["sums"]["pages"] >= 10)
            assert status["state"] == "running"
            assert status["pid"] == os.getpid()
            assert status["workers"] == {"wanted": 8, "busy": status["workers"]["busy"]}
            assert sum(status["hosts_by_state"].values()) > 0
            assert status["memory_bytes"] > 1 << 20
            assert status["open_files"] > 5

    asyncio.run(check())


def test_the_socket_is_its_owners_alone_and_goes_with_the_crawl(tmp_path: Path, web: SimulatedWeb) -> None:
    path = tmp_path / "crawl" / SOCKET

    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            mode = path.stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert stat.S_IMODE(mode) == 0o600
            await live.ask("stop")
        assert not path.exists()
        with pytest.raises(NotRunning):
            async with connect(tmp_path / "crawl"):
                pass

    asyncio.run(check())


def test_a_path_longer_than_a_socket_address(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / ("x" * 120) / "crawl", web) as live:
            assert (await live.ask("status"))["state"] == "running"

    asyncio.run(check())


def test_a_socket_left_by_a_killed_process_is_replaced(tmp_path: Path, web: SimulatedWeb) -> None:
    async def once() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 1)

    asyncio.run(once())
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "crawl" / SOCKET))
    asyncio.run(once())


def test_without_a_socket_the_crawl_goes_on(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web, {"budget.max_pages": 20}) as live:
            await live.task
        (live.folder.path / SOCKET).write_text("something of the user's")
        with pytest.raises(NotRunning):
            async with running(tmp_path / "crawl", web):
                pass
        assert (live.folder.path / SOCKET).read_text() == "something of the user's"

    asyncio.run(check())


def test_requests_that_make_no_sense(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            answers = await raw(
                live,
                b"not json\n",
                b"[]\n",
                b'{"id": 1}\n',
                b'{"id": 2, "method": "status", "params": {"x": 1}}\n',
                b'{"id": "three", "method": "nonsense"}\n',
                b'{"id": 4, "method": "undo", "params": {"id": "x"}}\n',
                b'{"id": 5, "method": "status", "extra": 1}\n',
                b"\xff\xfe\n",
                b'{"id": 6, "method": "status"}\n',
                b'{"id": 7, "method": "status"}',
            )
            assert [answer.get("error", {}).get("code") for answer in answers] == [
                *["invalid"] * 4, "not_found", *["invalid"] * 3, None,
            ]  # fmt: skip
            assert [answer["id"] for answer in answers] == [None, None, None, 2, "three", 4, None, None, 6]
            assert answers[5]["error"]["details"][0]["path"] == "id"
            answers = await raw(
                live, b" " * (LONGEST_REQUEST + 10) + b"\n", b'{"id": 1, "method": "status"}\n'
            )
            assert [answer["error"]["code"] for answer in answers] == ["invalid"]
            assert (await live.ask("status"))["state"] == "running"

    asyncio.run(check())


def test_too_many_connections_are_told_so(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            held = [await asyncio.open_unix_connection(str(live.folder.path / SOCKET)) for _ in range(31)]
            for reader, writer in held:  # each is served
                writer.write(b'{"id": 1, "method": "changes"}\n')
                await reader.readline()
            refused = await raw(live, b'{"id": 1, "method": "status"}\n')
            assert [answer["error"]["code"] for answer in refused] == ["conflict"]
            for _, writer in held:
                writer.close()
                await writer.wait_closed()

    asyncio.run(check())


def test_an_error_says_what_there_is(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            with pytest.raises(LiveError) as caught:
                await live.ask("nonsense")
            assert caught.value.code == "not_found"
            assert "pause" in caught.value.message

    asyncio.run(check())


@pytest.mark.parametrize("turns", range(8))
def test_what_connects_while_it_closes_is_closed(tmp_path: Path, turns: int) -> None:
    """Connections are made in several turns of the event loop; it closes after each of them."""

    async def nothing(request: Request) -> None:
        pass

    async def close_on_them() -> None:
        server = ControlServer(ControlSocket(tmp_path), nothing)
        await server.start()
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(connected(tmp_path)) for _ in range(3)]
            for _ in range(turns):
                await asyncio.sleep(0)
            await server.close()
            for client in clients:
                client.close()

    asyncio.run(close_on_them())
    gc.collect()  # an open one is told as an error of this test
