"""Each misbehaviour really misbehaves on the wire, and good pages stand beside it."""

import asyncio
import gzip
import zlib
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import brotli
import pytest
import uvloop
import zstandard
from simweb_client import PATIENCE, Heard, get, request, talk

from gossamer.simweb import Hosting, WorldSpec
from gossamer.simweb.cases import CASES
from gossamer.simweb.world.resource import Reach
from gossamer.simweb.world.world import World

T = TypeVar("T")
SMALL = WorldSpec.hostile(
    head_bytes=300_000, head_lines=5_000, bomb_bytes=3 << 20, nested_bytes=20_000, slow_seconds=0.05,
    drip_seconds=0.01, failures=2,
)  # fmt: skip


def served(
    test: Callable[[Hosting], Coroutine[Any, Any, None]], spec: WorldSpec = SMALL, log: Path | None = None
) -> None:
    async def run() -> None:
        async with Hosting(spec, log=log) as web:
            await test(web)

    on_the_loop(run())


def on_the_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop, as the simulated web's own process does."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work)


def bad(name: str, *fields: str, quiet: float = PATIENCE, limit: int = 1 << 24) -> Heard:
    async def ask() -> Heard:
        async with Hosting(SMALL) as web:
            sent = request(f"{name}.sim.test", "/bad", "Connection: close", *fields)
            return await talk(web.http_port, sent, quiet=quiet, limit=limit)

    return on_the_loop(ask())


def test_good_pages_stand_beside_every_case() -> None:
    world = World(SMALL, 80)

    async def test(web: Hosting) -> None:
        for host in world.cases:
            if world.reach(host) is Reach.FINE and not world.gate(host):
                heard = await get(web, host, "/good-2.html")
                assert heard.status == 200, host
                assert b"/good-1.html" in heard.body, host

    served(test)


def test_keep_alive_and_pipelining() -> None:
    async def test(web: Hosting) -> None:
        one = (
            request("h0.sim.test", "/")
            + request("h0.sim.test", "/missing")
            + request("h0.sim.test", "/", "Connection: close")
        )
        heard = await talk(web.http_port, one, quiet=5)
        assert heard.end == "closed"
        assert heard.data.count(b"HTTP/1.1 200 OK") == 2
        assert heard.data.count(b"HTTP/1.1 404 Not Found") == 1

    served(test)


def test_a_request_may_come_in_pieces() -> None:
    async def test(web: Hosting) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", web.http_port)
        for byte in request("h0.sim.test", "/", "Connection: close"):
            writer.write(bytes((byte,)))
            await asyncio.sleep(0)
        assert (await reader.read()).startswith(b"HTTP/1.1 200 OK")
        writer.close()
        await writer.wait_closed()

    served(test)


def test_methods_and_strangers() -> None:
    async def test(web: Hosting) -> None:
        whole = await get(web, "h0.sim.test", "/")
        head = await talk(
            web.http_port, request("h0.sim.test", "/", "Connection: close", method="HEAD"), quiet=5
        )
        assert head.data.rstrip() == whole.head
        post = await talk(
            web.http_port, request("h0.sim.test", "/", "Connection: close", method="POST"), quiet=5
        )
        assert post.status == 405
        assert (await get(web, "example.org", "/")).status == 421
        proxied = await talk(
            web.http_port,
            b"GET http://h0.sim.test/ HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\n\r\n",
            quiet=5,
        )
        assert proxied.data == whole.data

    served(test)


def test_conditional_requests() -> None:
    async def test(web: Hosting) -> None:
        first = await get(web, "h0.sim.test", "/")
        etag, modified = first.field("etag"), first.field("last-modified")
        for fields, status in (
            ((f"If-None-Match: {etag}",), 304),
            ((f'If-None-Match: W/{etag}, "x"',), 304),
            ((f"If-Modified-Since: {modified}",), 304),
            (("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",), 200),
            (('If-None-Match: "x"', f"If-Modified-Since: {modified}"), 200),
            (("If-Modified-Since: nonsense",), 200),
        ):
            heard = await get(web, "h0.sim.test", "/", *fields)
            assert heard.status == status, fields
            if status == 304:
                assert heard.body == b""
                assert heard.field("etag") == etag

    served(test)


def test_codings_are_used_if_accepted() -> None:
    decoders: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.decompress, "deflate": zlib.decompress, "raw-deflate": lambda b: zlib.decompress(b, -15),
        "br": brotli.decompress, "zstd": lambda b: zstandard.ZstdDecompressor().decompress(b),
    }  # fmt: skip
    for coding, decode in decoders.items():

        async def test(web: Hosting, coding: str = coding, decode: Callable[[bytes], bytes] = decode) -> None:
            plain = await get(web, "h0.sim.test", "/")
            coded = await get(web, "h0.sim.test", "/", "Accept-Encoding: gzip, deflate, br, zstd")
            assert plain.field("content-encoding") == ""
            assert coded.field("content-encoding") == coding.removeprefix("raw-")
            assert decode(coded.body) == plain.body
            assert coded.field("etag") != plain.field("etag")

        served(test, WorldSpec(hosts=1, pages=1, codings=(coding,)))


def test_every_case_answers_the_same_twice() -> None:
    """But for cases that remember visitors, that never end, and resets, which lose bytes."""
    moody = {"500-first", "502-first", "reset-first", "empty-first", "reset-in-head", "reset-body"}
    endless = {
        "endless-body",
        "drip-body",
        "drip-head",
        "endless-1xx",
        "endless-chunk-extension",
        "big-body",
        "never-answers",
        "stalled-body",
    }
    names = [
        name
        for name in CASES
        if name not in moody | endless and not name.startswith(("throttle", "robots", "dns"))
    ]

    async def listen(port: int, name: str) -> Heard:
        return await talk(port, request(f"{name}.sim.test", "/bad", "Connection: close"), quiet=PATIENCE)

    async def all_of(port: int) -> list[Heard]:
        return await asyncio.gather(*(listen(port, name) for name in names))

    async def test(web: Hosting) -> None:
        assert await all_of(web.http_port) == await all_of(web.http_port)

    served(test)


# Framing …


def test_short_and_long_bodies() -> None:
    short = bad("short-body")
    assert int(short.field("content-length")) == len(short.body) + 1_000
    assert short.end == "closed"
    long = bad("long-body")
    assert len(long.body) > int(long.field("content-length")) + 500


def test_lengths_that_contradict_each_other() -> None:
    assert bad("double-length").head.lower().count(b"content-length") == 2
    assert bad("same-double-length").head.lower().count(b"content-length") == 2
    assert bad("negative-length").field("content-length") == "-1"
    assert bad("huge-length").field("content-length") == "9" * 40
    both = bad("length-and-chunked")
    assert both.field("content-length")
    assert both.field("transfer-encoding") == "chunked"


@pytest.mark.slow
def test_chunks() -> None:
    assert b"\r\nzz\r\n" in bad("bad-chunks").body
    assert bad("huge-chunk").body.startswith(b"FFFFFFFFFFFFFFFFF\r\n")
    cut = bad("cut-chunks")
    assert cut.end == "closed"
    assert not cut.body.endswith(b"0\r\n\r\n")
    assert bad("trailers").body.endswith(b"\r\n0\r\nX-Checked: yes\r\nContent-Type: image/png\r\n\r\n")
    assert b'3;a="b"\r\n' in bad("chunk-extensions").body
    endless = bad("endless-chunk-extension", limit=500_000)
    assert endless.end == "enough"
    assert b"\n" not in endless.body


def test_old_protocols() -> None:
    assert bad("http10").data.startswith(b"HTTP/1.0 200 OK\r\n")
    assert bad("http10").end == "closed"
    assert bad("http09").data.startswith(b"<!DOCTYPE html>")
    assert bad("not-http").data.startswith(b"220 mail")


def test_connections_that_lie() -> None:
    assert bad("keep-alive-lie").field("connection") == "keep-alive"
    assert bad("keep-alive-lie").end == "closed"
    extra = bad("extra-response")
    assert extra.data.count(b"HTTP/1.1 200 OK") == 2


# Heads …


@pytest.mark.parametrize(
    ("name", "end", "quiet"),
    [
        ("empty-answer", "closed", PATIENCE),
        ("reset-answer", "reset", PATIENCE),
        ("never-answers", "waiting", 0.1),
    ],
)
def test_no_answer_at_all(name: str, end: str, quiet: float) -> None:
    assert bad(name, quiet=quiet) == Heard(b"", end)


@pytest.mark.slow
def test_monstrous_heads() -> None:
    huge = bad("huge-head")
    assert 290_000 < len(huge.head) < 310_000
    many = bad("many-fields")
    assert many.head.count(b"\r\nX: y") == 5_000
    assert max(map(len, bad("huge-field").head.split(b"\r\n"))) > 250_000
    assert bad("drip-head", limit=60).end == "enough"


@pytest.mark.slow
def test_broken_heads() -> None:
    assert bad("reset-in-head").end == "reset"
    assert b"a\0b" in bad("nul-head").head
    assert b"200 \0OK" in bad("nul-status").head
    assert bad("wild-status").data.startswith(b"HTTP/1.1 fine\r\n")
    assert bad("unknown-status").status == 799
    assert b"\r\nthis is no field\r\n" in bad("no-colon").head
    assert bad("folded").head.count(b"\r\n two\r\n\tthree\r\n") == 1
    assert bad("no-reason").data.startswith(b"HTTP/1.1 200\r\n")
    assert b"cOnTeNt-TyPe:text/html" in bad("odd-case").head
    assert bad("lf-only").data.startswith(b"HTTP/1.1 200 OK\nContent-Type")
    assert b"\x1b[2J" in bad("terminal").head
    assert b"\xe9" in bad("latin-head").head


def test_interim_responses() -> None:
    assert bad("flood-1xx").data.count(b"HTTP/1.1 103 ") == 10_000
    assert bad("endless-1xx", limit=200_000).end == "enough"
    hints = bad("early-hints")
    assert hints.data.index(b"103 Early") < hints.data.index(b"200 OK")
    assert bad("switching").status == 101


# Bodies …


@pytest.mark.slow
def test_bodies_without_end() -> None:
    assert bad("endless-body", limit=3_000_000).end == "enough"
    assert bad("drip-body", limit=900).end == "enough"
    stalled = bad("stalled-body", quiet=0.3)
    assert stalled.end == "waiting"
    assert len(stalled.body) < int(stalled.field("content-length"))
    assert bad("reset-body").end == "reset"
    assert int(bad("big-body", limit=5_000_000).field("content-length")) > 90_000_000


def test_a_slow_body_arrives_whole() -> None:
    heard = bad("slow-body")
    assert len(heard.body) == int(heard.field("content-length"))


@pytest.mark.parametrize(
    ("name", "decode"),
    [
        ("bomb-gzip", gzip.decompress),
        ("bomb-gzip-twice", lambda body: gzip.decompress(gzip.decompress(body))),
        ("bomb-br", brotli.decompress),
        ("bomb-zstd", lambda body: zstandard.ZstdDecompressor().stream_reader(body).read()),
    ],
)
def test_bombs_expand(name: str, decode: Callable[[bytes], bytes]) -> None:
    heard = bad(name)
    assert decode(heard.body) == bytes(3 << 20)
    assert len(heard.body) < 10_000


@pytest.mark.parametrize(
    ("name", "decode"),
    [
        ("gzip", gzip.decompress),
        ("x-gzip", gzip.decompress),
        ("gzip-members", gzip.decompress),
        ("deflate", zlib.decompress),
        ("raw-deflate", lambda body: zlib.decompress(body, -15)),
        ("br", brotli.decompress),
        ("zstd", lambda body: zstandard.ZstdDecompressor().stream_reader(body).read()),
        ("identity", bytes),
    ],
)
def test_codings_that_nobody_asked_for(name: str, decode: Callable[[bytes], bytes]) -> None:
    heard = bad(name)
    assert b'href="/beyond.html"' in decode(heard.body)
    assert heard.field("content-encoding") in (name, name.removeprefix("raw-"), name.removesuffix("-members"))


@pytest.mark.slow
def test_codings_that_lie() -> None:
    for name in ("bad-gzip", "bad-br", "bad-zstd", "bad-deflate", "unknown-coding"):
        heard = bad(name)
        assert heard.field("content-encoding")
        assert heard.body.startswith(b"<!DOCTYPE")
    with pytest.raises(EOFError):
        gzip.decompress(bad("cut-gzip").body)
    with pytest.raises(gzip.BadGzipFile):
        gzip.decompress(bad("damaged-gzip").body)


def test_empty_answers() -> None:
    assert bad("empty-body").body == b""
    assert bad("empty-body").field("content-length") == "0"
    assert bad("no-content").status == 204
    assert "content-length" not in bad("no-content").head.decode().lower()
    assert bad("unasked-304").status == 304
    assert bad("partial-content").status == 206


def test_wrong_types() -> None:
    assert bad("wrong-type").field("content-type") == "image/png"
    assert bad("wrong-type").body.startswith(b"<!DOCTYPE html>")
    assert b"\0" in bad("nul-body").body


# Redirects and hosts …


def test_redirects_go_where_they_say() -> None:
    assert bad("redirect-self").field("location") == "/bad"
    assert bad("redirect-loop").field("location") == "/bad-2"
    first = bad("redirect-cookie")
    assert (first.status, first.field("set-cookie")) == (302, "seen=1; Path=/")
    assert bad("redirect-cookie", "Cookie: seen=1").status == 200


def test_failures_pass() -> None:
    async def test(web: Hosting) -> None:
        for name, first in (("500-first", b"HTTP/1.1 500"), ("reset-first", b""), ("empty-first", b"")):
            answers = [(await get(web, f"{name}.sim.test", "/bad")).data for _ in range(3)]
            assert [answer[:12] for answer in answers] == [first, first, b"HTTP/1.1 200"]

    served(test)


@pytest.mark.parametrize("name", ["throttle-seconds", "throttle-date", "throttle-503", "throttle-garbage"])
def test_throttling_turns_the_host_s_first_visits_away(name: str) -> None:
    async def test(web: Hosting) -> None:
        host = f"{name}.sim.test"
        assert (await get(web, host, "/robots.txt")).status == 404
        heard = [await get(web, host, target) for target in ("/", "/good-1.html", "/")]
        status = 503 if name == "throttle-503" else 429
        assert [h.status for h in heard] == [status, status, 200]
        after = heard[0].field("retry-after")
        assert after == {"throttle-date": after, "throttle-garbage": "soon, perhaps"}.get(name, "1")
        assert name != "throttle-date" or after.endswith(" GMT")

    served(test)


def test_robots_that_fail_at_first() -> None:
    async def test(web: Hosting) -> None:
        answers = [await get(web, "robots-503-first.sim.test", "/robots.txt") for _ in range(3)]
        assert [answer.status for answer in answers] == [503, 503, 200]
        assert b"Disallow: /private/" in answers[2].body
        huge = await get(web, "robots-huge.sim.test", "/robots.txt")
        assert huge.body.index(b"/late/") < 512_000 - 100 < 512_000 < huge.body.index(b"/beyond/")

    served(test)


def test_dead_addresses() -> None:
    async def test(web: Hosting) -> None:
        naming = web.world.naming("refused.sim.test")
        assert naming is not None
        with pytest.raises(ConnectionRefusedError):
            await talk(web.http_port, b"", address=naming.addresses[0])
        naming = web.world.naming("dropped-connection.sim.test")
        assert naming is not None
        with pytest.raises(ConnectionError):
            heard = await talk(web.http_port, request("x", "/"), address=naming.addresses[0], quiet=5)
            assert heard.data == b""
            raise ConnectionResetError(heard.end)

    served(test)


@pytest.mark.slow
def test_the_real_sizes() -> None:
    async def test(web: Hosting) -> None:
        for name, size in (("huge-head", 39_000_000), ("many-fields", 1_700_000), ("huge-field", 39_000_000)):
            heard = await talk(web.http_port, request(f"{name}.sim.test", "/bad"), limit=1 << 30, quiet=0.5)
            assert len(heard.head) > size
        bomb = await talk(web.http_port, request("bomb-gzip.sim.test", "/bad"), limit=1 << 30, quiet=0.5)
        inflate, total = zlib.decompressobj(31), 0
        data = bomb.body
        while data:
            total += len(inflate.decompress(data, 1 << 24))
            data = inflate.unconsumed_tail
        assert total == 1 << 30

    served(test, WorldSpec.hostile())
