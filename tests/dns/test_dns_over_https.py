"""Name servers that are asked over HTTPS (RFC 8484): what servers may do wrong, and what is told of it.

That they answer as others do, a real one shows in `test_dns_real_servers.py`.
"""

from pathlib import Path

import pytest
from fetch_servers import OK, certificate, serving, tls_server_context
from loopback_names import NOERROR, Query, a, loopback_names, respond

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.resolver import CaresResolver
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.names_by_https import NamesByHttps
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

TYPE = b"Content-Type: application/dns-message\r\n"
QUESTION = b"\x04name\x04test\0\0\1\0\1"


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


def message(*, truncated: bool = False) -> bytes:
    query = Query(0, "name.test", 1, "https", QUESTION, None)
    return respond(query, a("name.test", "192.0.2.9"), rcode=NOERROR, truncated=truncated)


def sent(body: bytes, head: bytes = OK + TYPE) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def resolved(
    reply: bytes, identity: tuple[Path, Path], run, *, trusted: bool = True, plain: bool = False
) -> list[Answer]:
    """A name, asked for twice of a server with that reply, and of a plain one behind it; what it heard is looked at."""
    answers: list[Answer] = []

    async def body() -> None:
        async with (
            serving(reply, tls=tls_server_context(*identity)) as server,
            loopback_names(lambda query: respond(query, a("name.test", "192.0.2.8"))) as other,
        ):
            url = server.url("/dns-query", "127.0.0.1", "https")
            config = DnsConfig(
                nameservers=(url, other.address) if plain else (url,),
                hosts_file=False,
                ipv6=False,
                first_wait=5.0,
            )
            fetch = FetchConfig(ca_file=str(identity[0]) if trusted else "", http2=False)
            resolver = CaresResolver(config, PlainCache(10), carrier=NamesByHttps(fetch))
            try:
                answers.extend([await resolver.resolve("name.test"), await resolver.resolve("name.test")])
            finally:
                await resolver.close()
            for request in server.requests:
                assert request.startswith(b"POST /dns-query HTTP/1.1\r\n")
                assert b"user-agent" not in request.lower()
                assert b"application/dns-message" in request

    run(body())
    return answers


def test_an_answer(identity, run) -> None:
    first, second = resolved(sent(message()), identity, run)
    assert (first.addresses, first.ttl, first.server) == (("192.0.2.9",), 300, "127.0.0.1")
    assert second.addresses == first.addresses


def test_a_truncated_answer_is_better_than_none(identity, run) -> None:
    assert resolved(sent(message(truncated=True)), identity, run)[0].addresses == ("192.0.2.9",)


@pytest.mark.parametrize(
    ("reply", "detail"),
    [
        (sent(b"", b"HTTP/1.1 404 No\r\n" + TYPE), "HTTPS: status 404"),
        (sent(message(), b"HTTP/1.1 302 No\r\nLocation: /other\r\n" + TYPE), "HTTPS: status 302"),
        (sent(message(), OK + b"Content-Type: text/html\r\n"), "HTTPS: no DNS message"),
        (sent(message(), OK), "HTTPS: no DNS message"),
        (sent(b"short"), "HTTPS: no DNS message"),
        (sent(b"\0" * 70_000), "HTTPS: protocol"),
        (b"nonsense\r\n\r\n", "HTTPS: protocol"),
        (sent(bytes(2) + b"\x81\x80" + b"\xff" * 60), "bad response"),
    ],
)
def test_what_is_no_answer_says_why(reply: bytes, detail: str, identity, run) -> None:
    answer = resolved(reply, identity, run)[0]
    assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, detail)


def test_a_server_that_nobody_vouches_for_is_not_believed(identity, run) -> None:
    answer = resolved(sent(message()), identity, run, trusted=False)[0]
    assert (answer.addresses, answer.detail) == ((), "HTTPS: tls")


def test_another_server_takes_its_place(identity, run) -> None:
    answer = resolved(sent(b"", b"HTTP/1.1 500 No\r\n"), identity, run, plain=True)[0]
    assert answer.addresses == ("192.0.2.8",)


def test_without_a_server_there(identity, run) -> None:
    async def body() -> None:
        config = DnsConfig(nameservers=("https://127.0.0.1:9/dns-query",), hosts_file=False, ipv6=False)
        resolver = CaresResolver(config, PlainCache(10), carrier=NamesByHttps(FetchConfig()))
        try:
            assert (await resolver.resolve("name.test")).detail == "HTTPS: connect"
        finally:
            await resolver.close()

    run(body())
