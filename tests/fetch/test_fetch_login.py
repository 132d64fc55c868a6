"""Who we are to one origin: challenges that libcurl answers, client certificates, fields of our own."""

import asyncio
import contextlib
import hashlib
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fetch_servers import OK, certificate, fetched, fetching, serving
from nginx_server import nginx

from gossamer.fetch.http import HttpModule, LocalFetch
from gossamer.fetch.own_headers import header_problems
from gossamer.fetch.request import Credentials, redacted

EMPTY = OK + b"Content-Length: 0\r\n\r\n"
HOSTS = {"own.example": ("127.0.0.1",), "other.example": ("127.0.0.1",)}


class DigestServer:
    """Wants Digest (RFC 7616, qop=auth) with SHA-256; a nonce serves `uses` requests."""

    def __init__(self, password: str, uses: int = 100) -> None:
        self.password, self.uses = password, uses
        self.nonces: dict[str, int] = {}
        self.heads: list[bytes] = []

    async def reply(self, writer: asyncio.StreamWriter) -> None:
        writer.write(self.answer(self.heads[-1].decode()))

    def answer(self, head: str) -> bytes:
        method, target, _ = head.split(" ", 2)
        found = re.search(r"(?m)^Authorization: Digest (.*)\r$", head)
        said = dict(re.findall(r'(\w+)="?([^",]*)"?', found[1])) if found else {}
        nonce = said.get("nonce", "")
        fresh = 0 <= self.nonces.get(nonce, -1) < self.uses
        if fresh and said["response"] == self.proof(method, target, said):
            self.nonces[nonce] += 1
            return OK + b"Content-Length: 6\r\n\r\ninside"
        nonce = f"nonce{len(self.nonces)}"
        self.nonces[nonce] = 0
        stale = ", stale=true" if said and not fresh else ""
        challenge = f'Digest realm="r", qop="auth", algorithm=SHA-256, nonce="{nonce}"{stale}'
        return (
            f"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: {challenge}\r\n"
            "X-Only-In-Challenge: 1\r\nContent-Length: 7\r\n\r\noutside"
        ).encode()

    def proof(self, method: str, target: str, said: dict[str, str]) -> str:
        def hashed(*parts: str) -> str:
            return hashlib.sha256(":".join(parts).encode()).hexdigest()

        mine = hashed(said["username"], "r", self.password)
        return hashed(mine, said["nonce"], said["nc"], said["cnonce"], "auth", hashed(method, target))


def only(origin: str, **said: object) -> LocalFetch:
    """Credentials for one origin."""
    known = Credentials(**said)  # type: ignore[arg-type]
    return LocalFetch(lambda url: known if url.origin == origin else None)


@contextlib.asynccontextmanager
async def digest(
    inside: DigestServer, tmp_path: Path, password: str
) -> AsyncIterator[tuple[str, HttpModule]]:
    async with serving(inside.reply, keep_alive=True) as server:
        inside.heads = server.requests
        own = server.url("", "own.example")
        local = only(own, user="me", password=password, scheme="digest")
        async with fetching(tmp_path, table=HOSTS, local=local) as module:
            yield own, module


@pytest.mark.parametrize(("uses", "most"), [(100, 5), (2, 7)])
def test_digest_is_answered_and_its_nonce_used_again(uses: int, most: int, tmp_path: Path) -> None:
    async def main() -> None:
        inside = DigestServer("s3cret", uses)
        async with digest(inside, tmp_path, "s3cret") as (own, module):
            for number in range(4):
                exchange = await fetched(module, f"{own}/{number}")
                assert (exchange.status, exchange.body.read()) == (200, b"inside")
                assert "x-only-in-challenge" not in {name.lower() for name, _ in exchange.headers.fields}
                assert exchange.request_head == inside.heads[-1]
            assert len(inside.heads) <= most
            away = await fetched(module, own.replace("own", "other") + "/")
            assert (away.status, away.body.read()) == (401, b"outside")
            assert b"uthorization" not in inside.heads[-1]

    asyncio.run(main())


def test_a_wrong_password_is_said_once_and_the_refusal_is_the_answer(tmp_path: Path) -> None:
    async def main() -> None:
        inside = DigestServer("s3cret")
        async with digest(inside, tmp_path, "wrong") as (own, module):
            exchange = await fetched(module, own + "/")
            assert (exchange.status, exchange.body.read()) == (401, b"outside")
            assert len(inside.heads) == 2

    asyncio.run(main())


def test_basic_of_nginx(tmp_path: Path) -> None:
    hashed = subprocess.run(
        ["openssl", "passwd", "-apr1", "s3cret"], check=True, capture_output=True, text=True
    ).stdout.strip()
    (tmp_path / "users").write_text(f"me:{hashed}\n")
    rules = f'auth_basic "r"; auth_basic_user_file {tmp_path}/users;'

    async def main(port: int) -> None:
        own = f"http://own.example:{port}"
        async with fetching(tmp_path, table=HOSTS, local=only(own, user="me", password="s3cret")) as module:
            assert (await fetched(module, own + "/a.html")).body.read() == b"inside"
            assert (await fetched(module, f"http://other.example:{port}/a.html")).status == 401

    with nginx(tmp_path, rules, {"a.html": "inside"}) as port:
        asyncio.run(main(port))


def test_a_client_certificate_is_shown_to_its_origin_alone(tmp_path: Path) -> None:
    served, mine = tmp_path / "served", tmp_path / "mine"
    served.mkdir()
    mine.mkdir()
    cert, key = certificate(served, "own.example")
    my_cert, my_key = certificate(mine, "me")
    rules = (
        f"ssl_certificate {cert}; ssl_certificate_key {key};"
        f"ssl_client_certificate {my_cert}; ssl_verify_client optional;"
        "if ($ssl_client_verify != SUCCESS) { return 403; }"
    )

    async def main(port: int) -> None:
        own = f"https://own.example:{port}"
        local = only(own, certificate=str(my_cert), key=str(my_key))
        async with fetching(tmp_path, table=HOSTS, local=local, verify_tls=False) as module:
            for _ in range(2):
                assert (await fetched(module, own + "/a.html")).body.read() == b"inside"
                assert (await fetched(module, f"https://other.example:{port}/a.html")).status == 403

    with nginx(tmp_path, rules, {"a.html": "inside"}, listen="ssl") as port:
        asyncio.run(main(port))


def test_own_fields_are_sent_and_their_values_are_in_no_exchange(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(EMPTY, keep_alive=True) as server:
            own = server.url("", "own.example")
            local = only(own, headers=(("X-Api-Key", "s3cret"), ("X-More", "t0ken")), token="b")
            async with fetching(tmp_path, table=HOSTS, local=local) as module:
                head = (await fetched(module, own + "/")).request_head
                assert (
                    b"\r\nX-Api-Key: s3cret\r\nX-More: t0ken\r\nAuthorization: Bearer b\r\n"
                    in server.requests[0]
                )
                assert b"\r\nX-Api-Key: [redacted]\r\n" in head
                assert b"s3cret" not in head and b"t0ken" not in head
                await fetched(module, server.url("/", "other.example"))
                assert b"X-Api-Key" not in server.requests[1]

    asyncio.run(main())


@pytest.mark.parametrize(
    "name",
    [
        *("User-Agent", "from", "HOST", "Content-Length", "Transfer-Encoding", "Connection", "Cookie", "Via"),
        *(
            "Authorization",
            "Proxy-Authorization",
            "X-Forwarded-For",
            "Sec-Fetch-Mode",
            "Range",
            "a b",
            "",
            "x:",
        ),
    ],
)
def test_fields_that_would_lie_or_frame_are_refused(name: str) -> None:
    assert [at for at, _ in header_problems({name: "v"})] == [name]


@pytest.mark.parametrize("value", ["", "a\r\nHost: b", "\u00e9", "x" * 9000])
def test_values_that_break_out_are_refused_and_not_repeated(value: str) -> None:
    ((_, why),) = header_problems({"X-A": value})
    assert "Host" not in str(why)


def test_redaction_is_by_name_whatever_the_case() -> None:
    head = b"GET /x-a: HTTP/1.1\r\nx-A: secret\r\nX-AB: kept\r\n\r\n"
    assert redacted(head, ("X-a",)) == b"GET /x-a: HTTP/1.1\r\nx-A: [redacted]\r\nX-AB: kept\r\n\r\n"
