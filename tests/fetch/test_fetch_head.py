"""Heads alone: asked by HEAD on handles of their own, with what the certificate and the system say."""

import asyncio
import errno
import ssl
import time
from hashlib import sha256
from pathlib import Path

from fetch_servers import OK, certificate, failed, fetched, fetching, lease, serving, tls_server_context

from gossamer.fetch.connections import ConnectionMemory, Handshake
from gossamer.fetch.http import HOSTNAME_MISMATCH, LocalFetch
from gossamer.model.outcome import Failed, Fetched

HOST = {"tls.example": ("127.0.0.1",), "wrong.example": ("127.0.0.1",)}
HEAD_REPLY = OK + b"Content-Length: 200\r\n\r\n"


def test_a_head_has_no_body_and_leaves_other_visits_as_they_were(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            serving(HEAD_REPLY) as heads,
            serving(OK + b"Content-Length: 2\r\n\r\nhi") as server,
            fetching(tmp_path) as module,
        ):
            outcome = await module.head(lease(heads.url("/x?y")))
            assert isinstance(outcome, Fetched)
            exchange = outcome.exchange
            assert exchange.request_head.startswith(b"HEAD /x?y HTTP/1.1\r\nHost: ")
            assert (exchange.status, exchange.body.size, exchange.certificate_ends) == (200, 0, 0.0)
            assert exchange.certificate == b""
            assert exchange.headers.get("content-length") == "200"
            later = await fetched(module, server.url("/"))
            assert later.request_head.startswith(b"GET / ")
            assert later.body.read() == b"hi"

    asyncio.run(main())


def test_a_certificate_says_when_it_ends_and_what_is_wrong_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        identity = certificate(tmp_path)
        digest = sha256(ssl.PEM_cert_to_DER_cert(identity[0].read_text())).digest()
        for kept in (False, True):  # it is seen in a handshake alone, and not where a session is resumed
            local = LocalFetch(certificates=True)
            async with (
                serving(HEAD_REPLY, keep_alive=kept, tls=tls_server_context(*identity)) as server,
                fetching(tmp_path, table=HOST, local=local, ca_file=str(identity[0])) as module,
            ):
                for _ in range(2):
                    outcome = await module.head(lease(server.url("/", "tls.example", "https")))
                    assert isinstance(outcome, Fetched)
                    assert outcome.exchange.certificate_ends > time.time()
                    assert outcome.exchange.certificate == digest
                assert server.connections == (1 if kept else 2)
                wrong = await module.head(lease(server.url("/", "wrong.example", "https")))
                assert isinstance(wrong, Failed)
                assert wrong.certificate == HOSTNAME_MISMATCH
        async with (
            serving(HEAD_REPLY, tls=tls_server_context(*identity)) as server,
            fetching(tmp_path, table=HOST) as module,
        ):
            unknown = await failed(module, server.url("/", "tls.example", "https"))
            assert unknown.certificate not in (0, 1, HOSTNAME_MISMATCH)

    asyncio.run(main())


def test_each_connection_has_its_own_certificate_whichever_handle_it_is_used_by(tmp_path: Path) -> None:
    names = ("tls.example", "wrong.example")
    folders = [tmp_path / name for name in names]
    for folder in folders:
        folder.mkdir()
    identities = [certificate(folder, name) for folder, name in zip(folders, names, strict=True)]
    trusted = tmp_path / "trusted.pem"
    trusted.write_text("".join(cert.read_text() for cert, _ in identities))

    async def main() -> None:
        local = LocalFetch(certificates=True)
        one, other = (tls_server_context(*identity) for identity in identities)
        async with (
            serving(HEAD_REPLY, keep_alive=True, tls=one) as first,
            serving(HEAD_REPLY, keep_alive=True, tls=other) as second,
            fetching(tmp_path, table=HOST, local=local, ca_file=str(trusted)) as module,
        ):
            shown = []
            for server, name in ((first, names[0]), (second, names[1]), (first, names[0])):
                outcome = await module.head(lease(server.url("/", name, "https")))
                assert isinstance(outcome, Fetched), outcome
                shown.append(outcome.exchange.certificate)
            assert (first.connections, second.connections) == (1, 1)
            assert shown[0] == shown[2] != shown[1]

    asyncio.run(main())


def test_what_a_handshake_showed_is_remembered_though_its_cipher_was_missed() -> None:
    memory = ConnectionMemory(2)
    seen = Handshake(certificate=b"c" * 32)
    assert memory.handshake(1, seen) == seen
    assert memory.handshake(1, Handshake()) == seen
    assert memory.handshake(2, Handshake()) == Handshake()


def test_a_refused_connection_has_the_systems_number(tmp_path: Path) -> None:
    async def main() -> None:
        async with fetching(tmp_path) as module:
            outcome = await failed(module, "http://127.0.0.1:1/")
            assert outcome.errno == errno.ECONNREFUSED

    asyncio.run(main())
