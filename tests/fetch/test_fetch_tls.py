"""TLS is verified by default, remembered per connection, and agrees on HTTP/2."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetch_servers import OK, certificate, failed, fetched, fetching, serving, tls_server_context
from nginx_server import nginx

from gossamer.model.outcome import Fault

HOST = {"tls.example": ("127.0.0.1",), "wrong.example": ("127.0.0.1",)}
REPLY = OK + b"Content-Length: 2\r\n\r\nhi"


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


def test_an_unknown_issuer_is_refused(identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(REPLY, tls=tls_server_context(*identity)) as server,
            fetching(tmp_path, table=HOST) as module,
        ):
            outcome = await failed(module, server.url("/", "tls.example", "https"))
            assert outcome.fault is Fault.TLS
            assert "certificate" in outcome.detail

    asyncio.run(main())


def test_a_certificate_for_another_name_is_refused(identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(REPLY, tls=tls_server_context(*identity)) as server,
            fetching(tmp_path, table=HOST, ca_file=str(identity[0])) as module,
        ):
            assert (await failed(module, server.url("/", "wrong.example", "https"))).fault is Fault.TLS

    asyncio.run(main())


def test_verification_can_be_switched_off(identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(REPLY, tls=tls_server_context(*identity)) as server,
            fetching(tmp_path, table=HOST, verify_tls=False) as module,
        ):
            assert (await fetched(module, server.url("/", "wrong.example", "https"))).status == 200

    asyncio.run(main())


@pytest.mark.parametrize(
    ("version", "start"),
    [(ssl.TLSVersion.TLSv1_2, "TLSv1.2 ECDHE-"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3 TLS_")],
)
def test_version_and_suite_are_known_for_every_visit(
    version: ssl.TLSVersion, start: str, identity: tuple[Path, Path], tmp_path: Path
) -> None:
    async def main() -> None:
        context = tls_server_context(*identity)
        context.minimum_version = context.maximum_version = version
        async with (
            serving(REPLY, keep_alive=True, tls=context) as server,
            serving(REPLY, keep_alive=True) as plain,
            fetching(tmp_path, table=HOST, ca_file=str(identity[0])) as module,
        ):
            url = server.url("/", "tls.example", "https")
            first, between, again = [await fetched(module, each) for each in (url, plain.url(), url)]
            assert server.connections == 1
            assert first.cipher.startswith(start)
            assert again.cipher == first.cipher
            assert between.cipher == ""
            assert first.timing.tls > 0 and again.timing.tls == 0
            assert first.request_head == server.requests[0]

    asyncio.run(main())


def test_many_first_visits_at_once_all_know_their_suite(identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(REPLY, tls=tls_server_context(*identity)) as server,
            fetching(tmp_path, table=HOST, ca_file=str(identity[0])) as module,
        ):
            urls = [server.url(f"/{i}", "tls.example", "https") for i in range(20)]
            exchanges = await asyncio.gather(*(fetched(module, url) for url in urls))
            assert all(exchange.cipher.startswith("TLSv1.3 ") for exchange in exchanges)

    asyncio.run(main())


@pytest.fixture(scope="module")
def h2_port(identity: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    certificate, key = identity
    server = (
        f"ssl_certificate {certificate}; ssl_certificate_key {key}; location /moved {{ return 302 /page; }}"
    )
    pages = {"page": "x" * 100_000}
    with nginx(tmp_path_factory.mktemp("nginx"), server, pages, listen="ssl http2") as port:
        yield port


def test_http2_by_alpn(h2_port: int, identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path, table=HOST, ca_file=str(identity[0])) as module:
            url = f"https://tls.example:{h2_port}/page"
            exchange, again = await fetched(module, url), await fetched(module, url)
            assert exchange.protocol == again.protocol == "h2"
            assert exchange.response_head.startswith(b"HTTP/1.1 200 \r\nserver: ")
            assert exchange.response_head.endswith(b"\r\n\r\n")
            assert exchange.request_head.startswith(
                b"GET /page HTTP/1.1\r\nHost: tls.example:%d\r\n" % h2_port
            )
            assert exchange.headers.get("content-length") == "100000"
            assert exchange.body.read() == b"x" * 100_000
            assert again.cipher == exchange.cipher != ""
            moved = await fetched(module, f"https://tls.example:{h2_port}/moved")
            assert moved.status == 302
            for body in (exchange.body, again.body):
                body.close()

    asyncio.run(main())


def test_http2_can_be_switched_off(h2_port: int, identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path, table=HOST, ca_file=str(identity[0]), http2=False) as module:
            exchange = await fetched(module, f"https://tls.example:{h2_port}/none")
            assert (exchange.protocol, exchange.status) == ("http/1.1", 404)

    asyncio.run(main())


def test_http2_with_cookies_reports_an_http1_head(
    h2_port: int, identity: tuple[Path, Path], tmp_path: Path
) -> None:
    async def main() -> None:
        async with fetching(tmp_path, table=HOST, ca_file=str(identity[0]), cookies=True) as module:
            exchange = await fetched(module, f"https://tls.example:{h2_port}/none")
            assert exchange.protocol == "h2"
            assert exchange.request_head.startswith(b"GET /none HTTP/1.1\r\nHost: tls.example:")

    asyncio.run(main())


def test_an_http2_body_is_cut_at_the_limit(h2_port: int, identity: tuple[Path, Path], tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path, table=HOST, ca_file=str(identity[0]), max_body=50_000) as module:
            url = f"https://tls.example:{h2_port}/page"
            for _ in range(2):
                exchange = await fetched(module, url)
                assert (exchange.body.size, exchange.truncated) == (50_000, "length")

    asyncio.run(main())
