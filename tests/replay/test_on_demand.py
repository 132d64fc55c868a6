"""What programs are told that ask a crawl by its proxy, byte by byte; the cases are from RFC 9110, 9111 and 9112."""

import asyncio
import contextlib
import gzip
import http.client
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from free_ports import free_port
from live_world import PACED, running_with
from small_site import Answer, Site

from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.replay import conversations, messages
from gossamer.replay.certificates import Authority
from gossamer.replay.conversations import Certify
from gossamer.replay.listening import LOOPBACK, listening
from gossamer.replay.on_demand import proxy

PACKED = {"Content-Type": "text/html", "Content-Encoding": "gzip", "ETag": '"x"', "Set-Cookie": "a=b"}
HOP = {"Content-Type": "text/plain", "Connection": "X-Secret", "X-Secret": "1", "Proxy-Authenticate": "Basic"}
ALONE = PACED | {
    "demand.stay": True,
    "scope.mode": "host",
    "scope.demands": "any",
    "politeness.min_delay": 0.0,
    "retry.url_waits": [],
    "demand.wait": 5,
}


def answer_of(_: str, path: str, __: Counter[tuple[str, str]]) -> Answer:
    pages: dict[str, Answer] = {
        "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private"),
        "/packed": (200, PACKED, gzip.compress(b"<p>packed")),
        "/hop": (200, HOP, "hop"),
        "/moved": (302, {"Location": "/packed"}, ""),
        "/same": (200, PACKED, gzip.compress(b"<p>packed")),
        "/long": (200, {"Content-Type": "text/plain"}, "x" * 5_000),
    }
    return pages.get(path, (404, {"Content-Type": "text/html"}, "none"))


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(answer_of) as served:
        yield served


class Client:
    """Sends bytes to the proxy."""

    def __init__(self, home: str) -> None:
        self.home = home
        self._address = LOOPBACK, int(home.rpartition(":")[2])

    async def raw(self, sent: bytes) -> bytes:
        """All that comes back until the proxy closes."""
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            writer.write(sent)
            return await reader.read()
        finally:
            writer.close()

    async def ask(self, url: str, *fields: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        """(status, fields by lower-case name, body) of a request as programs make it."""
        lines = [f"{method} {url} HTTP/1.1", "Host: x", "Connection: close", *fields, "", ""]
        head, _, body = (await self.raw("\r\n".join(lines).encode())).partition(b"\r\n\r\n")
        first, *named = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in named)
        return int(first.split(" ")[1]), {name.lower(): value for name, _, value in pairs}, body


def proxied(
    path: Path,
    check: Callable[[Client], Awaitable[None]],
    settings: dict[str, Any] = ALONE,
    certify: Certify | None = None,
) -> None:
    async def run() -> None:
        async with (
            running_with(path, settings),
            proxy(path, listening(LOOPBACK, 0), "", certify) as home,
        ):
            await check(Client(home))

    asyncio.run(run())


def within(folder: Path) -> dict[str, str]:
    """An environment in which what a killed process leaves is removed with the test's folder."""
    return {**os.environ, "TMPDIR": str(folder)}


def times(site: Site, path: str) -> int:
    return sum(asked == path for _, asked in site.asked)


def test_programs_are_given_what_is_fresh_and_the_rest_is_fetched(site: Site, tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        url = f"{site.address}packed"
        status, fields, body = await client.ask(url, "Cookie: mine", "Authorization: Basic eA==")
        assert (status, body, fields["etag"]) == (200, b"<p>packed", '"x"')
        assert fields["cache-status"] == "gossamer; fwd=miss; stored"
        assert fields["via"] == "1.1 gossamer"
        assert not {"set-cookie", "content-encoding", "transfer-encoding"} & set(fields)
        assert not any(headers["Cookie"] or headers["Authorization"] for headers in site.headers)
        status, fields, body = await client.ask(url, method="HEAD")
        assert (status, body, fields["content-length"], fields["cache-status"]) == (
            200,
            b"",
            "9",
            "gossamer; hit",
        )
        assert int(fields["age"]) < 60
        assert (await client.ask(url, "Range: bytes=0-2"))[2] == b"<p>"
        assert times(site, "/packed") == 1
        # How old it may be, the program says if it wants to.
        assert (await client.ask(url, "Cache-Control: max-age=3600"))[1]["cache-status"] == "gossamer; hit"
        assert (await client.ask(url, "Cache-Control: no-cache"))[1]["cache-status"] != "gossamer; hit"
        assert (await client.ask(url, "Pragma: no-cache"))[2] == b"<p>packed"
        assert times(site, "/packed") == 3
        assert (await client.ask(f"{site.address}hop", "Cache-Control: only-if-cached"))[0] == 504
        assert times(site, "/hop") == 0
        # The same content at another address is archived once, and given twice.
        assert (await client.ask(f"{site.address}same"))[2] == b"<p>packed"
        status, fields, _ = await client.ask(f"{site.address}moved")
        assert (status, fields["location"]) == (302, "/packed")
        assert (await client.ask(f"{site.address}none"))[0] == 404
        fields = (await client.ask(f"{site.address}hop"))[1]
        assert not {"proxy-authenticate"} & set(fields)
        assert fields["connection"] == "close"

    proxied(tmp_path / "c", check)


def test_what_is_not_given_is_told_with_the_reason(site: Site, tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        for url, status, word in (
            (f"{site.address}private/x", 403, b"robots"),
            ("http://localhost:1/", 403, b"blocked"),
            (f"{site.address}long", 502, b"part"),
            ("http://user:word@x.test/", 400, b"user"),
            ("http://[/", 400, b""),
        ):
            got = await client.ask(url)
            assert got[0] == status, url
            assert word in got[2]
            assert b"word@" not in got[2]
        status, fields, body = await client.ask("/packed")
        assert (status, b"curl -x http://127.0.0.1:" in body) == (400, True)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"):
            status, fields, _ = await client.ask(f"{site.address}packed", method=method)
            assert (status, fields["allow"]) == (405, "GET, HEAD")
        assert (await client.ask("x.test:443", method="CONNECT"))[0] == 501
        assert (await client.ask(f"{site.address}packed", "Via: 1.0 a, 1.1 gossamer (x)"))[0] == 508
        assert times(site, "/packed") == 0

    proxied(tmp_path / "c", check, ALONE | {"scope.block": ["localhost"], "fetch.max_body": 1_000})


def test_private_addresses_are_for_nobody(site: Site, tmp_path: Path) -> None:
    async def check(client: Client) -> None:
        status, _, body = await client.ask(f"{site.address}packed")
        assert status in (502, 504), body
        assert site.asked == []

    proxied(tmp_path / "c", check, ALONE | {"fetch.allow_private": False, "demand.wait": 1})


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET {url} HTTP/1.1\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nX: 1\x002\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n", 400),
        (b"GET  {url} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"G(T {url} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET {url} HTTP/2.0\r\nHost: a\r\n\r\n", 505),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n", 413),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"GET {url} HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", 431),
    ],
)
def test_what_two_servers_might_read_differently_is_refused(
    sent: bytes, status: int, bare: tuple[asyncio.Runner, Client]
) -> None:
    runner, client = bare
    hidden = b"GET http://x.test/hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    said = runner.run(client.raw(sent.replace(b"{url}", b"http://x.test/") + hidden))
    # One answer, and the connection ends: what follows is not taken for another request.
    assert said.startswith(b"HTTP/1.1 %d " % status)
    assert said.count(b"Connection: ") == said.count(b"Connection: close") == 1


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[asyncio.Runner, Client]]:
    """A proxy whose crawl does not run."""
    with asyncio.Runner() as runner:
        manager = proxy(tmp_path_factory.mktemp("bare"), listening(LOOPBACK, 0), "", None)
        yield runner, Client(runner.run(manager.__aenter__()))
        runner.run(manager.__aexit__(None, None, None))


def test_a_proxy_without_its_crawl_says_so(bare: tuple[asyncio.Runner, Client]) -> None:
    runner, client = bare
    status, _, body = runner.run(client.ask("http://x.test/"))
    assert (status, body) == (503, b"The crawl does not run, or has ended.\n")
    # A body is read and forgotten, and the next request is another.
    first = b"GET http://x.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /"
    last = b"GET http://x.test/ HTTP/1.0\r\n\r\n"
    assert runner.run(client.raw(first + last)).count(b"HTTP/1.1 503") == 2


def test_slow_and_many_clients_are_bounded(
    bare: tuple[asyncio.Runner, Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, client = bare
    with monkeypatch.context() as hasty:
        hasty.setattr(messages, "READ_SECONDS", 0.02)
        for begun in (
            b"",
            b"GET http://x.test/ HTTP/1.1\r\nHo",
            b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1",
        ):
            assert runner.run(client.raw(begun)) == b""
    monkeypatch.setattr(conversations, "MOST_CONNECTIONS", 0)
    assert runner.run(client.ask("http://x.test/"))[:1] == (503,)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl")
def test_curl_asks_by_a_proxy_that_begins_goes_on_and_joins(site: Site, tmp_path: Path) -> None:
    folder, url = tmp_path / "cache", f"{site.address}packed"
    options = ["--listen", "127.0.0.1:0", "--set", "fetch.allow_private=true", "--quiet"]

    def begun(*options: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "gossamer", "proxy", str(folder), *options]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=within(tmp_path)
        )
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    def curl(home: str, *more: str) -> str:
        command = ["curl", "-s", "-m", "60", "--noproxy", "", "-x", home, *more]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    first, home = begun(*options)
    assert curl(home, url) == "<p>packed"
    second, beside = begun("--listen", "127.0.0.1:0")
    assert curl(beside, url) == "<p>packed"
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=60)
    first.kill()
    first.communicate(timeout=60)
    third, home = begun(*options)
    assert "Cache-Status: gossamer; hit" in curl(home, "-I", url)
    third.send_signal(signal.SIGINT)
    _, said = third.communicate(timeout=60)
    assert (third.returncode, "Traceback" in said) == (130, False), said
    assert times(site, "/packed") == 1


@pytest.mark.slow
def test_killed_again_and_again_a_proxy_gives_every_page_and_has_an_archive_that_is_sound(
    site: Site, tmp_path: Path
) -> None:
    kills, pages = 3, 40
    folder, port = tmp_path / "cache", free_port()
    options = [f"--listen=127.0.0.1:{port}", "--quiet", "--set=fetch.allow_private=true"]
    command = [
        sys.executable,
        "-m",
        "gossamer",
        "proxy",
        str(folder),
        *options,
        "--set=politeness.min_delay=0",
    ]
    wanted = {f"{site.address}none/{number}" for number in range(pages)}
    given: set[str] = set()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": f"http://127.0.0.1:{port}"}))

    def ask(url: str) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            try:
                opener.open(url, timeout=30)
            except urllib.error.HTTPError as told:
                if told.code == 404:  # what the site says; whatever we say is another status
                    given.add(url)

    with ThreadPoolExecutor(4) as clients:
        for kill in range(kills + 1):
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=within(tmp_path))
            assert process.stdout is not None
            process.stdout.readline()
            while len(given) < pages * (kill + 1) // (kills + 1):
                list(clients.map(ask, sorted(wanted - given)[:4]))
            if kill < kills:
                waiting = [clients.submit(ask, url) for url in sorted(wanted - given)[:4]]
                process.kill()
                [one.result() for one in waiting]
            else:
                process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert given == wanted
    with inspect(folder) as inspection:
        assert check(inspection).problems == []
    visits = Counter(path for _, path in site.asked if path.startswith("/none/"))
    # A crash costs a second visit of what was lent, and no more.
    assert len(visits) == pages
    assert sum(visits.values()) <= pages + kills


@pytest.mark.slow
def test_https_is_seen_where_certificates_can_be_made(site: Site, tmp_path: Path) -> None:
    """What is asked for within a tunnel is asked of the crawl as https; here nobody answers there."""
    authority = Authority()
    pem = tmp_path / "authority.pem"
    pem.write_bytes(authority.pem)

    async def check(client: Client) -> None:
        command = [
            "curl",
            "-s",
            "-m",
            "60",
            "--noproxy",
            "",
            "--cacert",
            str(pem),
            "-x",
            client.home,
        ]
        process = await asyncio.create_subprocess_exec(
            *command, f"https://127.0.0.1:{site.port}/packed", stdout=asyncio.subprocess.PIPE
        )
        said, _ = await process.communicate()
        assert f"https://127.0.0.1:{site.port}/packed: ".encode() in said

    proxied(tmp_path / "c", check, ALONE | {"demand.wait": 2}, authority.context)
