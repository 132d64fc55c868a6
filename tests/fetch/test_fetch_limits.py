"""Nothing that a server sends takes more memory, disk or time than allowed."""

import asyncio
import tracemalloc
from pathlib import Path

from fetch_servers import OK, failed, fetched, fetching, lease, serving, until

from gossamer.model.exchange import Truncation
from gossamer.model.outcome import Failed, Fault


async def _endless(writer: asyncio.StreamWriter, piece: bytes) -> None:
    while True:
        writer.write(piece)
        await writer.drain()


def _peak_of_failure(tmp_path: Path, start: bytes, piece: bytes) -> tuple[Failed, int]:
    """Outcome of a head that never ends, and Python's peak memory in bytes."""

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await _endless(writer, piece)

    async def main() -> tuple[Failed, int]:
        async with serving(reply) as server, fetching(tmp_path) as module:
            tracemalloc.start()
            outcome = await failed(module, server.url())
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return outcome, peak

    return asyncio.run(main())


def test_a_head_of_endless_lines(tmp_path: Path) -> None:
    outcome, peak = _peak_of_failure(tmp_path, OK, b"X-Flood: 0123456789\r\n" * 1000)
    assert outcome.fault is Fault.HEAD_TOO_LARGE
    assert peak < 8 << 20


def test_a_head_of_one_endless_line(tmp_path: Path) -> None:
    outcome, peak = _peak_of_failure(tmp_path, OK + b"X: ", b"a" * 65536)
    assert outcome.fault is Fault.HEAD_TOO_LARGE
    assert peak < 8 << 20


def test_endless_interim_heads(tmp_path: Path) -> None:
    outcome, peak = _peak_of_failure(tmp_path, b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)
    assert outcome.fault is Fault.HEAD_TOO_LARGE
    assert outcome.detail == "too many interim heads"
    assert peak < 8 << 20


def test_endless_trailers(tmp_path: Path) -> None:
    start = OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
    outcome, peak = _peak_of_failure(tmp_path, start, b"X-Flood: 0123456789\r\n" * 1000)
    assert outcome.fault is Fault.HEAD_TOO_LARGE
    assert peak < 8 << 20


def test_an_endless_body_is_cut_at_the_limit(tmp_path: Path) -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"\r\n")
        await _endless(writer, b"x" * 65536)

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path, max_body=1_000_000) as module:
            exchange = await fetched(module, server.url())
            assert exchange.body.size == 1_000_000
            assert exchange.truncated is Truncation.LENGTH
            exchange.body.close()

    asyncio.run(main())
    assert not list(tmp_path.iterdir())


def test_a_body_of_just_the_limit_is_whole(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(OK + b"\r\n" + b"x" * 5000) as server, fetching(tmp_path, max_body=5000) as module:
            exchange = await fetched(module, server.url())
            assert (exchange.body.size, exchange.truncated) == (5000, None)

    asyncio.run(main())


async def _drip(writer: asyncio.StreamWriter, head: bytes) -> None:
    writer.write(head)
    while True:
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(b"x")


def test_a_dripping_body_is_cut_when_the_visit_takes_too_long(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(lambda writer: _drip(writer, OK + b"\r\nbegun")) as server,
            fetching(tmp_path, visit_timeout=1.5) as module,
        ):
            exchange = await fetched(module, server.url())
            assert exchange.truncated is Truncation.TIME
            assert exchange.body.read(5) == b"begun"

    asyncio.run(main())


def test_silence_after_a_head_keeps_the_head(tmp_path: Path) -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(OK + b"Content-Length: 5\r\n\r\n")
        await asyncio.sleep(60)

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path, visit_timeout=1.5) as module:
            exchange = await fetched(module, server.url())
            assert (exchange.truncated, exchange.body.size) == (Truncation.TIME, 0)

    asyncio.run(main())


def test_silence_before_a_head(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(lambda _: asyncio.sleep(60)) as server,
            fetching(tmp_path, visit_timeout=1.5, idle_timeout=60) as module,
        ):
            assert (await failed(module, server.url())).fault is Fault.TIMEOUT

    asyncio.run(main())


def test_idle_and_slow_are_told_apart(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(lambda _: asyncio.sleep(60)) as silent,
            serving(lambda writer: _drip(writer, OK + b"X: ")) as slow,
            serving(lambda writer: _drip(writer, OK + b"\r\n")) as slow_body,
            fetching(tmp_path, idle_timeout=1.5, min_speed=1000) as module,
        ):
            nothing, head, body = await asyncio.gather(
                failed(module, silent.url()), failed(module, slow.url()), fetched(module, slow_body.url())
            )
            assert nothing.fault is Fault.TIMEOUT
            assert head.fault is Fault.TOO_SLOW
            assert body.truncated is Truncation.TIME

    asyncio.run(main())


def test_a_handshake_that_never_ends_is_a_connect_timeout(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(b"") as server, fetching(tmp_path, connect_timeout=0.2) as module:
            assert (await failed(module, server.url(scheme="https"))).fault is Fault.CONNECT_TIMEOUT

    asyncio.run(main())


def test_visits_beyond_max_connections_wait_their_turn(tmp_path: Path) -> None:
    running = most = 0

    async def reply(writer: asyncio.StreamWriter) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        writer.write(OK + b"Content-Length: 2\r\n\r\nhi")

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path, max_connections=3) as module:
            await asyncio.gather(*(fetched(module, server.url(f"/{i}")) for i in range(12)))

    asyncio.run(main())
    assert most == 3


def test_a_waiting_visit_can_be_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(lambda _: asyncio.sleep(60)) as server,
            fetching(tmp_path, max_connections=1) as module,
        ):
            first = asyncio.create_task(module.fetch(lease(server.url("/1"))))
            second = asyncio.create_task(module.fetch(lease(server.url("/2"))))
            await until(lambda: bool(server.requests))
            second.cancel()
            first.cancel()
            await asyncio.gather(first, second, return_exceptions=True)
            assert first.cancelled() and second.cancelled()

    asyncio.run(main())
