"""Proxies: forwarding, tunnels, SOCKS, authentication at once, and whose fault it is."""

import asyncio
import base64
import contextlib
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fetch_servers import OK, certificate, failed, fetched, fetching, hang_up, serving, tls_server_context

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.http import LocalFetch
from gossamer.fetch.request import Credentials
from gossamer.model.outcome import Fault

REPLY = OK + b"Content-Length: 2\r\n\r\nhi"
HOST = {"tls.example": ("127.0.0.1",), "name.example": ("127.0.0.1",), "proxy.example": ("127.0.0.1",)}


class Proxy:
    """CONNECT and forwarding, or SOCKS5 with a password; keeps what it was told."""

    def __init__(
        self, *, socks: bool = False, connect_reply: bytes = b"HTTP/1.1 200 Connected\r\nVia: me\r\n\r\n"
    ):
        self.socks = socks
        self.connect_reply = connect_reply
        self.heads: list[bytes] = []
        self.wanted: list[tuple[int, str]] = []  # SOCKS address type and address
        self.passwords: list[bytes] = []
        self.port = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await (self._socks(reader, writer) if self.socks else self._http(reader, writer))
        await hang_up(writer)

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.split(b" ", 2)
        if method == b"CONNECT":
            writer.write(self.connect_reply)
            if b" 200 " in self.connect_reply:
                await self._pipe(reader, writer, int(target.rpartition(b":")[2]))
        else:
            assert target.startswith(b"http://")
            writer.write(REPLY)
            await writer.drain()

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        writer.write(b"\x05\x02" if b"\x02" in methods else b"\x05\x00")
        if b"\x02" in methods:
            await reader.readexactly(1)
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            self.passwords.append(user + b":" + password)
            writer.write(b"\x01\x00")
        kind = (await reader.readexactly(4))[3]
        if kind == 1:
            address = socket.inet_ntoa(await reader.readexactly(4))
        else:
            address = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        self.wanted.append((kind, address))
        port = struct.unpack(">H", await reader.readexactly(2))[0]
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        await self._pipe(reader, writer, port)

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        try:
            await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
        finally:
            await hang_up(far_writer)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def proxying(proxy: Proxy) -> AsyncIterator[Proxy]:
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


def test_forwarding_proxy_gets_its_password_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with proxying(Proxy()) as proxy:
            url = f"http://me:s3cret@proxy.example:{proxy.port}"
            async with fetching(tmp_path, table=HOST, proxy=url) as module:
                exchange = await fetched(module, "http://name.example/a?b")
                pair = base64.b64encode(b"me:s3cret")
                assert len(proxy.heads) == 1
                assert proxy.heads[0].startswith(
                    b"GET http://name.example/a?b HTTP/1.1\r\nHost: name.example\r\n"
                )
                assert b"\r\nProxy-Authorization: Basic " + pair + b"\r\n" in proxy.heads[0]
                assert exchange.request_head == proxy.heads[0]
                assert exchange.address == ""

    asyncio.run(main())


def test_each_place_has_its_own_way(tmp_path: Path) -> None:
    """Two proxies with passwords of their own, and none; no handle or connection is taken for another."""

    async def main() -> None:
        async with (
            serving(REPLY, keep_alive=True) as server,
            proxying(Proxy()) as one,
            proxying(Proxy()) as two,
        ):
            ways = {
                "name.example": FetchConfig(proxy=f"http://a:one@127.0.0.1:{one.port}", allow_private=True),
                "tls.example": FetchConfig(proxy=f"http://b:two@127.0.0.1:{two.port}", allow_private=True),
            }
            base = FetchConfig(allow_private=True)
            local = LocalFetch(settings=lambda url, *_: ways.get(url.host, base), differs=lambda: True)
            async with fetching(tmp_path, table=HOST, local=local) as module:
                for _ in range(2):
                    for host in ("name.example", "tls.example"):
                        assert (await fetched(module, f"http://{host}/{host}")).address == ""
                    direct = await fetched(module, server.url("/", "proxy.example"))
                    assert direct.address == "127.0.0.1"
            assert [b"name.example" in head and b"YTpvbmU=" in head for head in one.heads] == [True] * 2
            assert [b"tls.example" in head and b"Yjp0d28=" in head for head in two.heads] == [True] * 2
            assert not [head for head in server.requests if b"roxy-A" in head]

    asyncio.run(main())


def test_tunnel_shows_the_origin_only(identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(REPLY, keep_alive=True, tls=tls_server_context(*identity)) as server,
            proxying(Proxy()) as proxy,
        ):
            origin = f"https://tls.example:{server.port}"
            known = {origin: Credentials(token="t0ken")}
            async with fetching(
                tmp_path,
                table=HOST,
                ca_file=str(identity[0]),
                proxy=f"http://me:s3cret@127.0.0.1:{proxy.port}",
                credentials=lambda url: known.get(url.origin),
                http3="only",  # which a proxy does not carry
            ) as module:
                for _ in range(2):
                    exchange = await fetched(module, origin + "/")
                    assert exchange.response_head == REPLY[:-2]
                    assert exchange.request_head == server.requests[-1]
                assert len(proxy.heads) == 1
                assert b"Proxy-Authorization: Basic " in proxy.heads[0]
                assert b"\r\nAuthorization" not in proxy.heads[0] and b"t0ken" not in proxy.heads[0]
                assert b"Proxy-" not in server.requests[0]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (
            b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
            Fault.PROXY_DOWN,
        ),
        (b"HTTP/1.1 502 No\r\n\r\n", Fault.PROXY),
        (b"HTTP/1.1 200 Connected\r\n", Fault.PROXY),
        (b"", Fault.PROXY),
    ],
)
def test_a_failing_tunnel_is_the_proxys_fault(reply: bytes, fault: Fault, tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            proxying(Proxy(connect_reply=reply)) as proxy,
            fetching(tmp_path, table=HOST, proxy=f"http://127.0.0.1:{proxy.port}") as module,
        ):
            assert (await failed(module, "https://tls.example/")).fault is fault

    asyncio.run(main())


def test_a_tunnel_to_a_host_without_tls_is_the_hosts_fault(tmp_path: Path) -> None:
    async def main() -> None:
        async def blunt(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await hang_up(writer)

        server = await asyncio.start_server(blunt, "127.0.0.1", 0)
        async with (
            proxying(Proxy()) as proxy,
            fetching(tmp_path, table=HOST, proxy=f"http://127.0.0.1:{proxy.port}") as module,
        ):
            port = server.sockets[0].getsockname()[1]
            assert (await failed(module, f"https://tls.example:{port}/")).fault is Fault.TLS
        server.close()

    asyncio.run(main())


def test_407_of_a_forwarding_proxy(tmp_path: Path) -> None:
    async def main() -> None:
        reply = b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
        async with serving(reply) as proxy:
            async with fetching(tmp_path, table=HOST, proxy=proxy.url("")) as module:
                assert (await failed(module, "http://name.example/")).fault is Fault.PROXY_DOWN
            async with fetching(tmp_path) as module:
                assert (await fetched(module, proxy.url())).status == 407

    asyncio.run(main())


@pytest.mark.parametrize("secure", [False, True])
def test_a_proxy_that_does_not_prove_itself(
    identity: tuple[Path, Path], secure: bool, tmp_path: Path
) -> None:
    """It has a certificate that nobody trusts, or does not speak TLS."""

    async def main() -> None:
        async def blunt(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await hang_up(writer)

        tls = tls_server_context(*identity) if secure else None
        server = await asyncio.start_server(blunt, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        async with fetching(tmp_path, table=HOST, proxy=f"https://127.0.0.1:{port}") as module:
            for url in ("http://name.example/", "https://tls.example/"):
                assert (await failed(module, url)).fault is Fault.PROXY_DOWN
        server.close()

    asyncio.run(main())


def test_an_absent_proxy(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(b"") as gone:
            proxy = gone.url("")
        async with fetching(tmp_path, table=HOST, proxy=proxy) as module:
            assert (await failed(module, "http://name.example/")).fault is Fault.PROXY_DOWN
        async with fetching(tmp_path, table=HOST, proxy="http://nowhere.example:3128") as module:
            outcome = await failed(module, "http://name.example/")
            assert outcome.fault is Fault.PROXY_DOWN and "NXDOMAIN" in outcome.detail

    asyncio.run(main())


@pytest.mark.parametrize(
    ("scheme", "wanted"), [("socks5", (1, "127.0.0.1")), ("socks5h", (3, "name.example"))]
)
def test_socks(scheme: str, wanted: tuple[int, str], tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(REPLY, keep_alive=True) as server, proxying(Proxy(socks=True)) as proxy:
            url = f"{scheme}://me:s3cret@proxy.example:{proxy.port}"
            async with fetching(tmp_path, table=HOST, proxy=url) as module:
                exchange = await fetched(module, server.url("/", "name.example"))
                assert exchange.request_head == server.requests[0]
                assert exchange.address == ""
                assert proxy.passwords == [b"me:s3cret"]
                assert proxy.wanted == [wanted]

    asyncio.run(main())


def test_names_left_to_the_proxy(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(REPLY) as server, proxying(Proxy(socks=True)) as proxy:
            url = f"socks5h://127.0.0.1:{proxy.port}"
            async with fetching(tmp_path, proxy=url, names_by_proxy=True) as module:
                await fetched(module, server.url("/", "hidden.onion"))
                assert proxy.wanted == [(3, "hidden.onion")]
            async with fetching(tmp_path, proxy=url) as module:
                assert (await failed(module, server.url("/", "hidden.onion"))).fault is Fault.NAME_NOT_FOUND

    asyncio.run(main())


def test_our_own_answer_is_guarded_behind_a_proxy(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            proxying(Proxy()) as proxy,
            fetching(
                tmp_path,
                table={"rebind.example": ("10.0.0.1",), "public.example": ("93.184.215.14",)},
                proxy=f"http://127.0.0.1:{proxy.port}",
                allow_private=False,
            ) as module,
        ):
            assert (await failed(module, "http://rebind.example/")).fault is Fault.ADDRESS_FORBIDDEN
            assert not proxy.heads
            assert (await fetched(module, "http://public.example/")).status == 200

    asyncio.run(main())


@pytest.mark.parametrize(
    "proxy",
    [
        "ftp://a:1",
        "127.0.0.1:8080",
        "http://a",
        "http://:8080",
        "http://a:99999",
        "socks4://a:1",
        "http://[:1",
    ],
)
def test_an_unusable_proxy_is_named_without_its_password(proxy: str) -> None:
    with pytest.raises(ValueError, match=r"^proxy: must be") as caught:
        FetchConfig(proxy=proxy.replace("://", "://me:s3cret@"))
    assert "s3cret" not in str(caught.value)


def test_names_by_proxy_needs_one_that_resolves() -> None:
    with pytest.raises(ValueError, match="names_by_proxy: needs a proxy"):
        FetchConfig(names_by_proxy=True)
    with pytest.raises(ValueError, match="socks5h"):
        FetchConfig(names_by_proxy=True, proxy="socks5://a:1")
