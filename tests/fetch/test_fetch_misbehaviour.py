"""Every way in which a server can break HTTP ends in one definite outcome."""

import asyncio
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop
from fetch_servers import OK, RawServer, failed, fetched, fetching, lease, serving

from gossamer.model.exchange import Truncation
from gossamer.model.outcome import Failed, Fault, Fetched

CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

FAILING = {
    "nothing at all": (b"", Fault.RESET),
    "half a head": (OK + b"X: a\r\n", Fault.RESET),
    "half a status line": (b"HTTP/1.1 20", Fault.RESET),
    "a head without its body": (OK + b"Content-Length: 100\r\n\r\n", Fault.RESET),
    "a bad first chunk": (CHUNKED + b"zz\r\nfoo", Fault.PROTOCOL),
    "an absurd chunk size": (CHUNKED + b"f" * 20 + b"\r\nfoo", Fault.PROTOCOL),
    "two lengths": (OK + b"Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello12", Fault.PROTOCOL),
    "a negative length": (OK + b"Content-Length: -5\r\n\r\nhello", Fault.PROTOCOL),
    "a wordy length": (OK + b"Content-Length: five\r\n\r\nhello", Fault.PROTOCOL),
    "a NUL in a field": (OK + b"X: a\0b\r\n\r\n", Fault.PROTOCOL),
    "a CR in a field": (OK + b"X: a\rY: b\r\n\r\n", Fault.PROTOCOL),
    "a line without colon": (OK + b"no colon\r\n\r\n", Fault.PROTOCOL),
    "HTTP/0.9": (b"<html>hello</html>\n", Fault.PROTOCOL),
    "ICY": (b"ICY 200 OK\r\n\r\nhello", Fault.PROTOCOL),
    "two digits of status": (b"HTTP/1.1 99 OK\r\n\r\nhello", Fault.PROTOCOL),
    "a switch that nobody asked for": (b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\nfoo", Fault.PROTOCOL),
    "gzip as transfer coding": (OK + b"Transfer-Encoding: gzip\r\n\r\nhello", Fault.PROTOCOL),
    "an interim head alone": (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", Fault.RESET),
    "a line of 200 KB": (OK + b"X: " + b"a" * 200_000 + b"\r\n\r\n", Fault.HEAD_TOO_LARGE),
    "a head of 500 KB": (OK + (b"X: " + b"a" * 1000 + b"\r\n") * 500 + b"\r\n", Fault.HEAD_TOO_LARGE),
    "10,000 lines": (OK + b"X: a\r\n" * 10_000 + b"\r\n", Fault.HEAD_TOO_LARGE),
    "1,000 interim heads": (b"HTTP/1.1 103 Early\r\n\r\n" * 1000 + OK + b"\r\nhi", Fault.HEAD_TOO_LARGE),
}

ANSWERING = {
    "plain": (OK + b"Content-Length: 2\r\n\r\nhi", b"hi", None),
    "until the end": (OK + b"\r\nhello", b"hello", None),
    "chunked": (CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", b"hello", None),
    "chunked with a length": (
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 50\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"hello",
        None,
    ),
    "more than its length": (OK + b"Content-Length: 2\r\n\r\nhi there", b"hi", None),
    "the same length twice": (OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", b"hi", None),
    "bare line feeds": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", b"hi", None),
    "a short body": (OK + b"Content-Length: 100\r\n\r\nhalf", b"half", Truncation.DISCONNECT),
    "no last chunk": (CHUNKED + b"5\r\nhello\r\n", b"hello", Truncation.DISCONNECT),
    "a bad second chunk": (CHUNKED + b"5\r\nhello\r\nzz\r\n", b"hello", Truncation.DISCONNECT),
    "status 999": (b"HTTP/1.1 999 No\r\nContent-Length: 2\r\n\r\nhi", b"hi", None),
    "a body under 204": (b"HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nhi", b"", None),
}


@pytest.mark.parametrize("name", FAILING)
def test_no_usable_response(name: str, tmp_path: Path) -> None:
    reply, fault = FAILING[name]

    async def main() -> Failed:
        async with serving(reply) as server, fetching(tmp_path) as module:
            return await failed(module, server.url())

    outcome = asyncio.run(main())
    assert outcome.fault is fault
    assert outcome.detail.isprintable() and outcome.detail
    assert outcome.elapsed > 0


@pytest.mark.parametrize("name", ANSWERING)
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_usable_response(name: str, run: Callable[..., None], tmp_path: Path) -> None:
    reply, body, truncated = ANSWERING[name]

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path) as module:
            exchange = await fetched(module, server.url())
            assert exchange.body.read() == body
            assert exchange.truncated is truncated
            assert reply.startswith(exchange.response_head)
            assert exchange.address == "127.0.0.1"
            assert exchange.protocol == "http/1.1"
            assert exchange.timing.total > 0

    run(main())


def test_only_the_final_head_counts(tmp_path: Path) -> None:
    final = OK + b"Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n"
    reply = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX-Early: 1\r\n\r\n"
        + final
        + b"5\r\nhello\r\n0\r\nX-Trail: 1\r\nHTTP/1.1 404 No: x\r\n\r\n"
    )

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path) as module:
            exchange = await fetched(module, server.url())
            assert exchange.response_head == final
            assert exchange.status == 200
            assert exchange.headers.fields == [("Transfer-Encoding", "chunked"), ("Trailer", "X")]
            assert exchange.body.read() == b"hello"

    asyncio.run(main())


def test_trailers_of_an_empty_body_are_no_head(tmp_path: Path) -> None:
    reply = CHUNKED + b"0\r\nHTTP/1.1 404 No: x\r\nX: y\r\n\r\n"

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path) as module:
            exchange = await fetched(module, server.url())
            assert (exchange.status, exchange.response_head) == (200, CHUNKED)

    asyncio.run(main())


def test_folded_fields_are_joined(tmp_path: Path) -> None:
    async def main() -> None:
        reply = OK + b"X: a\r\n  b\r\n\tc\r\nContent-Length: 0\r\n\r\n"
        async with serving(reply) as server, fetching(tmp_path) as module:
            exchange = await fetched(module, server.url())
            assert exchange.headers.get("x") == "a b c"
            assert exchange.headers.get("content-length") == "0"

    asyncio.run(main())


def test_every_byte_of_a_field_survives(tmp_path: Path) -> None:
    value = bytes(byte for byte in range(1, 256) if byte not in b"\r\n")

    async def main() -> None:
        reply = OK + b"X: <" + value + b">\r\nContent-Length: 0\r\n\r\n"
        async with serving(reply) as server, fetching(tmp_path) as module:
            exchange = await fetched(module, server.url())
            assert exchange.headers.get("x").encode("latin-1") == b"<" + value + b">"
            assert exchange.response_head == reply

    asyncio.run(main())


@pytest.mark.parametrize("last", [b"\xc3\xa0", b"\xd1\x85"], ids=["no-break space", "next line"])
def test_a_field_keeps_a_last_byte_that_is_a_blank_by_latin_1(tmp_path: Path, last: bytes) -> None:
    async def main() -> None:
        reply = OK + b"X:\t/" + last + b" \t\r\nY: a\r\n /" + last + b"\r\nContent-Length: 0\r\n\r\n"
        async with serving(reply) as server, fetching(tmp_path) as module:
            headers = (await fetched(module, server.url())).headers
            assert headers.get("x").encode("latin-1") == b"/" + last
            assert headers.get_all("y") == ["a /" + last.decode("latin-1")]

    asyncio.run(main())


def test_redirects_are_not_followed(tmp_path: Path) -> None:
    async def main() -> None:
        reply = b"HTTP/1.1 302 Found\r\nLocation: /" + b"a" * 50_000 + b"\r\nContent-Length: 0\r\n\r\n"
        async with serving(reply, keep_alive=True) as server, fetching(tmp_path) as module:
            exchange = await fetched(module, server.url())
            assert exchange.status == 302
            assert len(exchange.headers.get("location")) == 50_001
            assert len(server.requests) == 1

    asyncio.run(main())


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@pytest.mark.parametrize(
    ("sent", "fault"),
    [(b"", Fault.RESET), (OK, Fault.RESET), (OK + b"Content-Length: 9\r\n\r\n", Fault.RESET)],
)
def test_reset_before_a_body(sent: bytes, fault: Fault, tmp_path: Path) -> None:
    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        _reset(writer)

    async def main() -> None:
        async with serving(reply) as server, fetching(tmp_path) as module:
            assert (await failed(module, server.url())).fault is fault

    asyncio.run(main())


def test_refused_connection(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(b"") as server:
            url = server.url()
        async with fetching(tmp_path) as module:
            assert (await failed(module, url)).fault is Fault.CONNECT

    asyncio.run(main())


def test_every_address_is_tried(tmp_path: Path) -> None:
    async def main() -> None:
        table = {"two.example": ("127.0.0.9", "127.0.0.1")}
        async with serving(OK + b"\r\nhi") as server, fetching(tmp_path, table=table) as module:
            exchange = await fetched(module, server.url(host="two.example"))
            assert exchange.address == "127.0.0.1"

    asyncio.run(main())


def test_ipv6_by_name_and_by_number(tmp_path: Path) -> None:
    async def main() -> None:
        try:
            context = serving(OK + b"\r\nhi", address="::1")
            async with context as server, fetching(tmp_path, table={"six.example": ("::1",)}) as module:
                for host in ("six.example", "[::1]"):
                    exchange = await fetched(module, server.url(host=host))
                    assert exchange.address == "::1"
                    assert exchange.request_head == server.requests[-1]
        except OSError as error:
            pytest.skip(f"no IPv6 here: {error}")

    asyncio.run(main())


def test_a_new_answer_replaces_the_old_one(tmp_path: Path) -> None:
    async def main() -> None:
        table = {"moving.example": ("127.0.0.1",)}
        async with fetching(tmp_path, table=table) as module:
            first = await asyncio.start_server(_answer(b"first"), "127.0.0.1", 0)
            port = first.sockets[0].getsockname()[1]
            second = await asyncio.start_server(_answer(b"second"), "127.0.0.2", port)
            url = f"http://moving.example:{port}/"
            assert (await fetched(module, url)).body.read() == b"first"
            table["moving.example"] = ("127.0.0.2",)
            assert (await fetched(module, url)).body.read() == b"second"
            first.close()
            second.close()

    asyncio.run(main())


def _answer(body: bytes) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"\r\n" + body)
        writer.close()

    return serve  # type: ignore[return-value]


def test_a_name_fault_is_passed_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path) as module:
            outcome = await failed(module, "http://nowhere.example/")
            assert (outcome.fault, outcome.detail) == (Fault.NAME_NOT_FOUND, "NXDOMAIN")

    asyncio.run(main())


@pytest.mark.parametrize("host", ["a*b.example", "a!b.example", "a,b.example"])
def test_a_host_that_libcurl_will_not_have(host: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path, table={host: ("127.0.0.1",)}) as module:
            assert (await failed(module, f"http://{host}/")).fault is Fault.UNSUPPORTED

    asyncio.run(main())


@pytest.mark.parametrize("host", ["a_b.example", "xn--bcher-kva.example", "dot.example."])
def test_a_host_that_looks_odd(host: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(OK + b"\r\nhi") as server,
            fetching(tmp_path, table={host: ("127.0.0.1",)}) as module,
        ):
            assert (await fetched(module, server.url(host=host))).body.read() == b"hi"

    asyncio.run(main())


def test_a_good_page_after_each_bad_one(tmp_path: Path) -> None:
    replies = [reply for reply, _ in FAILING.values()]

    async def main() -> None:
        good = OK + b"Content-Length: 4\r\n\r\ngood"
        turn = iter(part for reply in replies for part in (reply, good))

        async def reply(writer: asyncio.StreamWriter) -> None:
            writer.write(next(turn))

        server: RawServer
        async with serving(reply) as server, fetching(tmp_path) as module:
            for _ in replies:
                assert isinstance(await module.fetch(lease(server.url("/bad"))), Failed)
                outcome = await module.fetch(lease(server.url("/good")))
                assert isinstance(outcome, Fetched) and outcome.exchange.body.read() == b"good"

    asyncio.run(main())
