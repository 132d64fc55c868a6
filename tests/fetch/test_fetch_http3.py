"""HTTP/3: by choice, and where a server offers it at its own address; an offer never costs a page."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from fetch_servers import (
    OK,
    RawServer,
    certificate,
    failed,
    fetched,
    fetching,
    lease,
    serving,
    tls_server_context,
)
from hypothesis import given
from hypothesis import strategies as st
from quic_server import Asked, QuicServer, quic_serving

from gossamer.fetch import alternatives
from gossamer.fetch.alternatives import Offers, Way, offered
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.http import HttpModule, LocalFetch
from gossamer.model.exchange import Truncation
from gossamer.model.outcome import Failed, Fault
from gossamer.model.posted import Posted
from gossamer.model.url import Url

NAMES = {"tls.example": ("127.0.0.1",), "wrong.example": ("127.0.0.1",)}
PAGE = b"<p>by QUIC</p>"
HTML = [(b"content-type", b"text/html"), (b"server", b"toy")]


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("stranger"), "other.example")


def answer(asked: Asked) -> None:
    """By path: what a server may do."""
    match asked.path:
        case "/stall":
            asked.answer(PAGE, HTML, whole=False)
        case "/break":
            asked.answer(PAGE, HTML, whole=False)
            asked.break_off()
        case "/silent":
            asked.break_off()
        case "/elsewhere":
            asked.answer(b"", status=421)
        case "/long":
            asked.answer(b"x" * 200_000, HTML)
        case "/head":
            asked.answer(b"", [(b"x-%d" % number, b"v" * 1_000) for number in range(300)])
        case _:
            asked.answer(PAGE, [*HTML, (b"alt-svc", b"clear")] if asked.path == "/clear" else HTML)


@contextlib.asynccontextmanager
async def site(identity: tuple[Path, Path], offer: str = 'h3=":{port}"; ma=60') -> AsyncIterator[RawServer]:
    """HTTPS over TCP that offers HTTP/3."""
    async with serving(b"", keep_alive=True, tls=tls_server_context(*identity)) as server:
        fields = f"Alt-Svc: {offer.format(port=server.port)}\r\n" if offer else ""
        server.reply = OK + fields.encode() + b"Content-Length: 6\r\n\r\nby TCP"
        yield server


Body = Callable[[HttpModule, Callable[[str], str], RawServer, QuicServer], object]


def with_both(
    body: Body, tmp_path: Path, identity: tuple[Path, Path], quic: tuple[Path, Path] | None = None, **settings
) -> None:
    """Run `body(module, url_of_path, TCP server, QUIC server)` at one port."""
    settings = {"http3": "alt-svc", "ca_file": str(identity[0])} | settings

    async def main() -> None:
        async with (
            site(identity) as tcp,
            quic_serving(answer, tcp.port, quic or identity) as server,
            fetching(tmp_path, table=NAMES, **settings) as module,
        ):
            await body(module, lambda path: tcp.url(path, "tls.example", "https"), tcp, server)

    asyncio.run(main())


async def protocols(module: HttpModule, *urls: str) -> list[str]:
    return [(await fetched(module, url)).protocol for url in urls]


def test_an_offer_is_taken_up_and_the_archive_gets_what_readers_expect(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert await protocols(module, url("/1")) == ["http/1.1"]
        came = await fetched(module, url("/2"))
        assert (came.protocol, came.body.read(), came.address) == ("h3", PAGE, "127.0.0.1")
        assert came.response_head == b"HTTP/1.1 200 \r\ncontent-type: text/html\r\nserver: toy\r\n\r\n"
        assert came.request_head.startswith(b"GET /2 HTTP/1.1\r\nHost: tls.example")
        assert came.cipher.startswith("TLSv1.3 TLS_")
        again = await fetched(module, url("/long"))
        assert (again.cipher, again.body.size) == (came.cipher, 200_000)
        assert (tcp.connections, server.connections, server.asked) == (1, 1, ["/2", "/long"])

    with_both(body, tmp_path, identity)


def test_the_certificate_is_seen_by_quic_too(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        by_tcp, by_quic = [await fetched(module, url(path)) for path in ("/1", "/2")]
        assert (by_tcp.protocol, by_quic.protocol) == ("http/1.1", "h3")
        assert by_quic.certificate == by_tcp.certificate != b""

    with_both(body, tmp_path, identity, local=LocalFetch(certificates=True))


def test_off_nobody_asks_by_udp(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert await protocols(module, url("/1"), url("/2")) == ["http/1.1"] * 2
        assert (server.asked, tcp.connections) == ([], 1)

    with_both(body, tmp_path, identity, http3="off")


def test_only(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert await protocols(module, url("/1"), url("/2")) == ["h3", "h3"]
        stalled = await fetched(module, url("/stall"))
        assert (stalled.truncated, stalled.body.read()) == (Truncation.TIME, PAGE)
        assert (await fetched(module, url("/break"))).truncated is Truncation.DISCONNECT
        assert (await failed(module, url("/silent"))).fault is Fault.RESET
        assert (await failed(module, url("/head"))).fault is Fault.HEAD_TOO_LARGE
        posted = await module.converse(
            lease(url("/form")), Posted(Url.parse(url("/form")), b"a=1", "text/plain")
        )
        assert posted.exchange.protocol == "h3"
        head = await module.head(lease(url("/long")))
        assert (head.exchange.protocol, head.exchange.body.size) == ("h3", 0)
        assert tcp.connections == 0

    with_both(body, tmp_path, identity, http3="only", idle_timeout=0.3)


def test_a_body_is_cut_at_the_limit_and_the_next_visit_is_none_the_worse(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        cut = await fetched(module, url("/long"))
        assert (cut.truncated, cut.body.size) == (Truncation.LENGTH, 50_000)
        assert await protocols(module, url("/2")) == ["h3"]

    with_both(body, tmp_path, identity, http3="only", max_body=50_000)


def test_speed_is_limited(identity, tmp_path) -> None:
    """By pauses, which QUIC has to stand."""

    async def body(module, url, tcp, server) -> None:
        assert (await fetched(module, url("/long"))).body.size == 200_000

    with_both(body, tmp_path, identity, http3="only", max_speed=400_000)


def test_without_an_answer_by_udp_there_is_tcp(identity, tmp_path) -> None:
    """The visit that tries it costs 0.1 s more; later ones nothing, though the server offers each time."""

    async def main() -> None:
        async with (
            site(identity) as tcp,
            fetching(tmp_path, table=NAMES, ca_file=str(identity[0]), http3="alt-svc") as module,
        ):
            with socket.socket(type=socket.SOCK_DGRAM) as deaf:
                deaf.bind(("127.0.0.1", tcp.port))
                urls = [tcp.url(f"/{number}", "tls.example", "https") for number in range(5)]
                assert await protocols(module, *urls) == ["http/1.1"] * 5
            assert tcp.connections == 2
            assert len(tcp.requests) == 5

    asyncio.run(main())


@pytest.mark.parametrize("path", ["/stall", "/break", "/silent", "/elsewhere"])
def test_what_an_offer_broke_comes_whole_by_tcp(path, identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert await protocols(module, url("/1"), url("/2")) == ["http/1.1", "h3"]
        assert (await failed(module, url(path))).fault is Fault.RESET
        again = await fetched(module, url(path))
        assert (again.protocol, again.truncated, again.body.read()) == ("http/1.1", None, b"by TCP")
        assert await protocols(module, url("/3")) == ["http/1.1"]

    with_both(body, tmp_path, identity, idle_timeout=0.3)


def test_a_certificate_for_another_name(identity, stranger, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert await protocols(module, url("/1"), url("/2"), url("/3")) == ["http/1.1"] * 3
        assert server.asked == []

    with_both(body, tmp_path, identity, stranger)

    async def alone(module, url, tcp, server) -> None:
        assert (await failed(module, url("/1"))).fault is Fault.TLS

    with_both(alone, tmp_path, identity, stranger, http3="only")


def test_an_offer_is_taken_back(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert await protocols(module, url("/1"), url("/clear")) == ["http/1.1", "h3"]
        assert await protocols(module, url("/2")) == ["http/1.1"]

    with_both(body, tmp_path, identity)


def test_forbidden_addresses_are_forbidden_by_udp(identity, tmp_path) -> None:
    async def body(module, url, tcp, server) -> None:
        assert (await failed(module, url("/1"))).fault is Fault.ADDRESS_FORBIDDEN
        assert server.connections == 0

    with_both(body, tmp_path, identity, http3="only", allow_private=False)
    with_both(body, tmp_path, identity, http3="only", closed_networks=("127.0.0.0/8",))


def test_a_server_that_comes_back(identity, tmp_path) -> None:
    """A kept connection to a server that is gone: the visit fails once, and the page comes."""

    async def main() -> None:
        async with (
            site(identity) as tcp,
            fetching(tmp_path, table=NAMES, ca_file=str(identity[0]), http3="alt-svc") as module,
        ):
            url = tcp.url("/", "tls.example", "https")
            async with quic_serving(answer, tcp.port, identity):
                assert await protocols(module, url, url) == ["http/1.1", "h3"]
            outcomes = [await module.fetch(lease(url)) for _ in range(2)]
            assert not isinstance(outcomes[-1], Failed)

    asyncio.run(main())


HERE = Url.parse("https://host.example/")
THERE = Url.parse("https://host.example:8443/")


@pytest.mark.parametrize(
    ("field", "seconds"),
    [
        ('h3=":443"', 86_400),
        ('h3=":443"; ma=60', 60),
        ('h3=":443"; ma="60"; persist=1', 60),
        ('h3=":443";MA=60', 60),
        ('h2=":443", h3=":443"; ma=5', 5),
        ('h3-29=":443"; ma=5,h3="host.example:443";ma=7', 7),
        ('h3=":443"; ma=99999999999', 7 * 86_400),
        ('h3=":443"; ma=0', 0),
        ('h3=":443"; ma=-1', 0),
        ('h3=":443"; ma=x', 0),
        ('h3=":444"', 0),
        ('h3="other.example:443"', 0),
        ('h2=":443"', 0),
        ("clear", 0),
        ("", 0),
        ("h3", 0),
        ("h3=", 0),
        ('="', 0),
        (",;,=;", 0),
    ],
)
def test_fields_of_alt_svc(field: str, seconds: float) -> None:
    assert offered(field, HERE) == seconds
    assert offered(field, THERE) == 0


def test_a_port_of_its_own() -> None:
    assert offered('h3=":8443"', THERE) == 86_400


@given(st.text('h3=":;, ma4cler', max_size=60))
def test_any_field_is_read(field: str) -> None:
    assert offered(field, HERE) >= 0


def test_offers_end_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "_MOST_ORIGINS", 3)
    now = [0.0]
    offers = Offers(lambda: now[0])
    for number in range(5):
        offers.heard(Url.parse(f"https://h{number}.example/"), ['h3=":443"; ma=10'])
    assert [offers.way(f"https://h{number}.example").name for number in range(5)] == ["LISTEN"] * 2 + [
        "TRY"
    ] * 3
    now[0] = 9.0
    offers.judge("https://h4.example", Way.TRY, None, 30, 200)
    assert offers.way("https://h4.example") is Way.OFFERED
    now[0] = 10.0
    assert offers.way("https://h4.example") is Way.LISTEN


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["offer", "clear", "later"]),
            st.sampled_from([None, *Truncation, Failed(Fault.CONNECT)]),
            st.sampled_from([0, 2, 3, 30]),
            st.sampled_from([200, 404, 421]),
        )
    )
)
def test_whatever_comes_what_is_kept_came_whole_or_by_tcp(steps) -> None:
    now, origin = 0.0, "https://host.example"
    offers = Offers(lambda: now)
    for what, verdict, version, status in steps:
        way = offers.way(origin)
        assert way in (Way.LISTEN, Way.TRY, Way.OFFERED)
        if what == "later":
            now += 2_000
        elif what == "clear":
            offers.heard(HERE, ["clear"])
        else:
            offers.heard(HERE, ['h3=":443"; ma=3000'])
        if way is Way.LISTEN:
            continue
        kept = offers.judge(origin, way, verdict, version, status)
        by_quic = way is Way.OFFERED or version == 30
        held = by_quic and verdict in (None, Truncation.LENGTH) and status != 421
        if held or not by_quic:
            assert kept is verdict
        else:
            assert kept.fault is Fault.RESET  # its URL alone waits, and is asked for again
        if not held:
            assert offers.way(origin) is Way.LISTEN
            offers.heard(HERE, ['h3=":443"'])
            assert offers.way(origin) is Way.LISTEN


def test_a_libcurl_without_http3_is_told_of_before_anything_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "speaks_http3", lambda: False)
    FetchConfig()
    with pytest.raises(ValueError, match=re.escape("http3: the libcurl here was built without HTTP/3")):
        FetchConfig(http3="alt-svc")
