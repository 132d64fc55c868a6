"""The request head in the exchange is, byte for byte, what the server received."""

import asyncio
import base64
from pathlib import Path

import pytest
from fetch_servers import OK, fetched, fetching, lease, serving
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.request import Credentials, conditional_fields, constant_fields
from gossamer.model.lease import Validators
from gossamer.model.outcome import Fetched

EMPTY = OK + b"Content-Length: 0\r\n\r\n"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a?b=1&c",
        "/%7Euser/%2e%2e/x",
        "/a//b/./c",
        "/?",
        "/|^`{}~!$&'()*+,;=:@",
        "/x%00y",
        "/q?a=b?c=d#frag",
    ],
)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"contact": "ops@example.org"},
        {"contact": "https://example.org/bot"},
        {"accept": "", "accept_language": "de"},
        {"user_agent": "test/1"},
        {"cookies": True},
    ],
)
def test_head_is_exact(path: str, settings: dict[str, object], tmp_path: Path) -> None:
    async def main() -> None:
        table = {"name.example": ("127.0.0.1",)}
        async with (
            serving(EMPTY, keep_alive=True) as server,
            fetching(tmp_path, table=table, **settings) as module,
        ):
            for host in ("127.0.0.1", "name.example"):
                exchange = await fetched(module, server.url(path, host))
                assert exchange.request_head == server.requests[-1]
                assert exchange.request_head.split(b" ")[1].decode() == exchange.url.target

    asyncio.run(main())


def test_fields_and_their_order(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(EMPTY) as server, fetching(tmp_path, contact="ops@example.org") as module:
            await fetched(module, server.url())
            assert server.requests[0].decode().split("\r\n") == [
                "GET / HTTP/1.1",
                f"Host: 127.0.0.1:{server.port}",
                "User-Agent: gossamer/0.1 (+https://github.com/gossamer-crawler/gossamer; ops@example.org)",
                "From: ops@example.org",
                "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                "Accept-Encoding: gzip, deflate, br, zstd",
                "",
                "",
            ]

    asyncio.run(main())


def test_a_host_of_http_1_0_is_asked_in_http_1_0(tmp_path: Path) -> None:
    async def main() -> None:
        reply = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
        async with serving(reply, keep_alive=True) as server, fetching(tmp_path) as module:
            for version in (b"HTTP/1.1\r\n", b"HTTP/1.0\r\n", b"HTTP/1.0\r\n"):
                exchange = await fetched(module, server.url())
                assert exchange.protocol == "http/1.0"
                assert version in exchange.request_head
                assert exchange.request_head == server.requests[-1]
            assert server.connections == 1

    asyncio.run(main())


def test_validators_go_back_byte_for_byte(tmp_path: Path) -> None:
    validators = Validators('W/"a\xe9-gzip"', "Mon, 01 Jan 2024 00:00:00 GMT")

    async def main() -> None:
        reply = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'
        async with serving(reply, keep_alive=True) as server, fetching(tmp_path) as module:
            outcome = await module.fetch(lease(server.url(), validators))
            assert isinstance(outcome, Fetched)
            assert outcome.exchange.status == 304
            assert outcome.exchange.request_head == server.requests[-1]
            assert server.requests[-1].endswith(
                b'If-None-Match: W/"a\xe9-gzip"\r\nIf-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\n'
            )
            # The next visit with the same handle is unconditional again.
            assert b"If-" not in (await fetched(module, server.url())).request_head
            assert b"If-" not in server.requests[-1]

    asyncio.run(main())


@given(st.text(), st.text())
def test_no_validator_breaks_out_of_its_field(etag: str, modified: str) -> None:
    for field in conditional_fields(Validators(etag, modified)):
        assert not set(field) & set(b"\r\n\0")


def test_credentials_go_to_their_origin_only(tmp_path: Path) -> None:
    async def main() -> None:
        table = {"own.example": ("127.0.0.1",), "other.example": ("127.0.0.1",)}
        redirect = b"HTTP/1.1 302 Found\r\nLocation: http://other.example/\r\nContent-Length: 0\r\n\r\n"
        async with serving(redirect, keep_alive=True) as server, serving(redirect, keep_alive=True) as second:
            own = f"http://own.example:{server.port}"
            known = {own: Credentials(user="me", password="s3cret:x")}
            async with fetching(
                tmp_path, table=table, credentials=lambda url: known.get(url.origin)
            ) as module:
                with_them = await fetched(module, own + "/a")
                pair = base64.b64encode(b"me:s3cret:x")
                assert b"Authorization: Basic " + pair + b"\r\n" in server.requests[-1]
                assert with_them.request_head == server.requests[-1]
                for url in (
                    server.url("/b", "other.example"),
                    second.url("/c", "own.example"),
                    server.url("/d"),
                ):
                    await fetched(module, url)
                assert len(server.requests) == 3
                assert not [head for head in server.requests[1:] + second.requests if b"uthorization" in head]

    asyncio.run(main())


def test_bearer_token(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(EMPTY) as server,
            fetching(tmp_path, credentials=lambda _: Credentials(token="t0ken")) as module,
        ):
            await fetched(module, server.url())
            assert b"\r\nAuthorization: Bearer t0ken\r\n" in server.requests[0]

    asyncio.run(main())


def test_credentials_are_checked_and_never_shown() -> None:
    with pytest.raises(ValueError, match="either"):
        Credentials()
    with pytest.raises(ValueError, match="either"):
        Credentials(user="a", token="b")
    with pytest.raises(ValueError, match="colon"):
        Credentials(user="a:b", password="c")
    with pytest.raises(ValueError, match="control"):
        Credentials(token="a\r\nX: b")
    assert "s3cret" not in repr(Credentials(user="me", password="s3cret"))


def test_an_empty_accept_is_not_sent() -> None:
    assert b"Accept:" in constant_fields(FetchConfig(accept=""))
    assert not [field for field in constant_fields(FetchConfig()) if field.endswith(b":")]


def test_no_proxy_or_netrc_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password s3cret\n")

    async def main() -> None:
        async with serving(EMPTY) as server, fetching(tmp_path) as module:
            await fetched(module, server.url())
            assert b"uthorization" not in server.requests[0]

    asyncio.run(main())


def test_cookies_are_off(tmp_path: Path) -> None:
    async def main() -> None:
        reply = OK + b"Set-Cookie: a=1\r\nContent-Length: 0\r\n\r\n"
        async with serving(reply, keep_alive=True) as server, fetching(tmp_path) as module:
            await fetched(module, server.url())
            await fetched(module, server.url())
            assert b"Cookie" not in server.requests[1]

    asyncio.run(main())


def test_cookies_keep_to_their_domain(tmp_path: Path) -> None:
    async def main() -> None:
        hosts = ("a.site.co.uk", "b.site.co.uk", "other.co.uk")
        table = dict.fromkeys(hosts, ("127.0.0.1",))
        reply = (
            OK + b"Set-Cookie: own=1\r\nSet-Cookie: site=2; Domain=site.co.uk\r\n"
            b"Set-Cookie: all=3; Domain=co.uk\r\nContent-Length: 0\r\n\r\n"
        )
        async with (
            serving(reply, keep_alive=True) as server,
            fetching(tmp_path, table=table, cookies=True) as module,
        ):
            for host in ("a.site.co.uk", "a.site.co.uk", "b.site.co.uk", "other.co.uk"):
                exchange = await fetched(module, server.url("/", host))
                assert exchange.request_head == server.requests[-1]
            first, again, sister, stranger = server.requests
            assert b"Cookie" not in first
            assert b"own=1" in again and b"site=2" in again and b"all=3" not in again
            assert b"site=2" in sister and b"own=1" not in sister
            assert b"Cookie" not in stranger

    asyncio.run(main())
