"""A whole site by HTTP/3, beside TCP that offers it: every page once, in a valid archive that says how it came."""

import asyncio
import collections
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest
from fetch_servers import RawServer, certificate, serving, tls_server_context, until
from quic_server import Asked, QuicServer, quic_serving
from warcio.archiveiterator import ArchiveIterator

import gossamer
from gossamer.archive.verify import Problem, verify_file
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect


def page(path: str, pages: int) -> tuple[int, bytes]:
    """A hub, and pages that lead to the next and back."""
    number = path.removeprefix("/page")
    if path == "/":
        return 200, b"".join(b'<a href="/page%d">p</a>' % other for other in range(0, pages, 7))
    if not number.isdigit() or int(number) >= pages:
        return 404, b"none"
    return 200, b'<p>page %s</p><a href="/page%d">next</a>' % (number.encode(), int(number) + 1)


@contextlib.asynccontextmanager
async def site(folder: Path, pages: int) -> AsyncIterator[tuple[RawServer, QuicServer]]:
    identity = certificate(folder)

    def by_quic(asked: Asked) -> None:
        status, body = page(asked.path, pages)
        asked.answer(body, [(b"content-type", b"text/html")], status)

    async def by_tcp(writer: asyncio.StreamWriter) -> None:
        status, body = page(tcp.requests[-1].split(b" ")[1].decode(), pages)
        writer.write(
            b'HTTP/1.1 %d X\r\nContent-Type: text/html\r\nAlt-Svc: h3=":%d"\r\nContent-Length: %d\r\n\r\n'
            % (status, tcp.port, len(body))
            + body
        )

    async with (
        serving(by_tcp, keep_alive=True, tls=tls_server_context(*identity)) as tcp,
        quic_serving(by_quic, tcp.port, identity) as quic,
    ):
        yield tcp, quic


def archived(folder: Path, url: str) -> dict[str, list[tuple[str, str]]]:
    """(status line, protocol) of the responses, by path."""
    found = collections.defaultdict(list)
    for path in (folder / "archive").iterdir():
        assert not [item for item in verify_file(path) if isinstance(item, Problem)]
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    fields = record.rec_headers
                    where = fields.get_header("WARC-Target-URI").removeprefix(url)
                    protocol = fields.get_header("WARC-Protocol")
                    found[where].append(
                        (f"{record.http_headers.protocol} {record.http_headers.statusline}", protocol)
                    )
    with inspect(folder) as inspection:
        assert check(inspection).problems == []
    return found


def test_a_site_that_offers_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, 9) as (tcp, quic):
            url = f"https://127.0.0.1:{tcp.port}"
            ways = {"http3": "alt-svc", "ca_file": str(tmp_path / "cert.pem")}
            config = {"fetch": {"allow_private": True}, "place": {url: {"fetch": {"http3": "alt-svc"}}}}
            config["fetch"]["ca_file"] = ways["ca_file"]
            came = [
                each
                async for each in gossamer.crawl(
                    f"{url}/", folder=tmp_path / "crawl", min_delay=0, config=config
                )
            ]
            assert len(came) == 10
            assert len(quic.asked) == 12  # with the sitemap, and a page that is not there
            assert len(tcp.requests) == 1  # the robots file, whose answer offers
        found = archived(tmp_path / "crawl", url)
        assert found.pop("/robots.txt") == [("HTTP/1.1 404 X", "http/1.1")]
        assert found.pop("/page9") == found.pop("/sitemap.xml") == [("HTTP/1.1 404", "h3")]
        assert len(found) == 10
        assert set(map(tuple, found.values())) == {(("HTTP/1.1 200", "h3"),)}

    asyncio.run(main())


async def life(command: list[str], killed_when: Callable[[], bool]) -> int | None:
    """How a crawl of its own process ended, or was ended."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "gossamer", *command, "-q", env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    await until(lambda: process.returncode is not None or killed_when())
    if process.returncode is None:
        process.kill()
        await process.wait()
    return process.returncode


@pytest.mark.slow
def test_kills(tmp_path: Path) -> None:
    """Of the crawl at any moment, and of the server's QUIC in between."""

    async def main() -> None:
        folder, pages = tmp_path / "crawl", 300
        async with site(tmp_path, pages) as (tcp, quic):
            url = f"https://127.0.0.1:{tcp.port}"
            command = ["crawl", f"{url}/", "--dir", str(folder), "--min-delay", "0"]
            for setting in ('http3="alt-svc"', f'ca_file="{tmp_path / "cert.pem"}"'):
                command += ["--set", f"fetch.{setting}"]
            enough = lambda count: len(quic.asked) >= count  # noqa: E731
            for _ in range(5):
                await life(command, partial(enough, len(quic.asked) + 40))
                command = ["resume", str(folder)] if (folder / "crawl.toml").exists() else command
            assert await life(command, lambda: False) == 0
        found = archived(folder, url)
        assert {where for where, records in found.items() if len(records) > 1} <= {"/robots.txt"}
        assert {f"/page{number}" for number in range(pages + 1)} | {"/"} == set(found) - {
            "/robots.txt",
            "/sitemap.xml",
        }
        ways = collections.Counter(protocol for records in found.values() for _, protocol in records)
        assert ways["h3"] >= pages - 10  # each life hears the offer anew

    asyncio.run(main())
