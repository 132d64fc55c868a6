"""Transfers on the event loop: many at once, cancelled at any moment, closed without a trace."""

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path

import pycurl
import pytest
import uvloop
from fetch_servers import OK, failed, fetched, fetching, lease, serving, until

from gossamer.fetch.multi import Multi
from gossamer.model.errors import InternalError, StorageError
from gossamer.model.outcome import Fault, Fetched

RUNNERS = [asyncio.run, uvloop.run]
REPLY = OK + b"Content-Length: 2\r\n\r\nhi"


def spooled(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def _endless(writer: asyncio.StreamWriter) -> None:
    writer.write(OK + b"\r\n")
    while True:
        writer.write(b"x" * 100_000)
        await writer.drain()
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("run", RUNNERS)
def test_hundreds_at_once_keep_apart(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        async def reply(writer: asyncio.StreamWriter) -> None:
            body = server.requests[-1].split(b" ")[1] * 100
            writer.write(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)

        async with serving(reply, keep_alive=True) as server, fetching(tmp_path) as module:

            async def visit(number: int) -> None:
                for turn in range(3):
                    exchange = await fetched(module, server.url(f"/{number}/{turn}"))
                    assert exchange.body.read() == f"/{number}/{turn}".encode() * 100
                    assert exchange.request_head.startswith(b"GET /%d/%d " % (number, turn))

            await asyncio.gather(*(visit(number) for number in range(300)))

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_connections_are_kept_alive(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(REPLY, keep_alive=True) as server, fetching(tmp_path) as module:
            for number in range(20):
                await fetched(module, server.url(f"/{number}"))
            assert server.connections == 1

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_a_stale_connection_is_replaced(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(REPLY) as server, fetching(tmp_path) as module:
            for number in range(1, 10):
                await fetched(module, server.url())
                assert server.connections == number

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_idle_connections_are_bounded(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        table = {f"h{number}.example": ("127.0.0.1",) for number in range(30)}
        async with (
            serving(REPLY, keep_alive=True) as server,
            fetching(tmp_path, table=table, max_connections=5) as module,
        ):
            for host in table:
                await fetched(module, server.url("/", host))
            assert server.connections == 30
            await until(lambda: len(server._tasks) <= 5)

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_cancelling_drops_connection_and_body(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(_endless) as server, fetching(tmp_path) as module:
            task = asyncio.create_task(module.fetch(lease(server.url())))
            await until(lambda: bool(spooled(tmp_path)))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not spooled(tmp_path)
            await until(lambda: not server._tasks)  # the server sees that we are gone
            server.reply = REPLY
            assert (await fetched(module, server.url())).body.read() == b"hi"

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_cancelling_at_every_moment(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(REPLY, keep_alive=True) as server, fetching(tmp_path) as module:
            for steps in range(40):
                task = asyncio.create_task(module.fetch(lease(server.url())))
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled() or isinstance(task.result(), Fetched)
            assert isinstance(await module.fetch(lease(server.url())), Fetched)

    run(main())


@pytest.mark.parametrize("run", RUNNERS)
def test_closing_ends_what_runs(run: Callable[..., None], tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(_endless) as server:
            async with fetching(tmp_path) as module:
                tasks = [asyncio.create_task(module.fetch(lease(server.url()))) for _ in range(5)]
                await until(lambda: len(server.requests) == 5)
            await asyncio.wait(tasks)
            assert all(task.cancelled() for task in tasks)
            await module.close()
            with pytest.raises(InternalError):
                await module.fetch(lease(server.url()))

    run(main())
    gc.collect()
    assert not spooled(tmp_path)


@pytest.mark.parametrize("run", RUNNERS)
def test_descriptors_are_watched_by_their_own_transfer_only(run: Callable[..., None], tmp_path: Path) -> None:
    """Numbers of closed descriptors come back at once, under other transfers and other users."""

    async def main() -> None:
        async with serving(REPLY) as server, fetching(tmp_path) as module:

            async def ours() -> None:
                for _ in range(30):
                    assert (await fetched(module, server.url())).body.read() == b"hi"

            async def theirs() -> None:
                for _ in range(30):
                    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                    writer.write(b"GET / HTTP/1.1\r\n\r\n")
                    assert await reader.read() == REPLY
                    writer.close()
                    await writer.wait_closed()

            await asyncio.gather(*(job() for job in (ours, theirs) for _ in range(5)))

    run(main())


def test_a_handle_that_cannot_start_leaves_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        multi = Multi(10)
        easy = pycurl.Curl()
        code, message = await multi.perform(easy)  # no URL
        assert code == pycurl.E_URL_MALFORMAT and message
        assert len(multi) == 0
        multi.close()
        multi.close()
        easy.close()

    asyncio.run(main())


def test_a_module_may_be_closed_unused(tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path):
            pass

    asyncio.run(main())


def test_our_disk_is_no_fault_of_the_web(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(OK + b"\r\n" + b"x" * 100_000) as server,
            fetching(tmp_path / "absent", memory_bodies=0) as module,
        ):
            with pytest.raises(StorageError, match="absent"):
                await module.fetch(lease(server.url()))
            server.reply = REPLY
            assert (await fetched(module, server.url())).body.read() == b"hi"

    asyncio.run(main())


def test_name_cache_of_libcurl_stays_small(tmp_path: Path) -> None:
    async def main() -> None:
        table = {f"h{number}.example": ("127.0.0.1",) for number in range(50)}
        async with serving(REPLY) as server, fetching(tmp_path, table=table) as module:
            for host in table:
                await fetched(module, server.url("/", host))
                assert len(module._router._stale) + len(module._router._in_use) <= 1

    asyncio.run(main())


def test_two_silent_visits_at_once_are_both_noticed(tmp_path: Path) -> None:
    """libcurl's own check misses them (see gossamer.fetch.pace)."""

    async def main() -> None:
        async with (
            serving(lambda _: asyncio.sleep(60)) as server,
            fetching(tmp_path, idle_timeout=0.2, visit_timeout=60) as module,
        ):
            outcomes = await asyncio.gather(*(failed(module, server.url()) for _ in range(5)))
            assert {outcome.fault for outcome in outcomes} == {Fault.TIMEOUT}
            assert all(outcome.elapsed < 5 for outcome in outcomes)

    asyncio.run(main())
