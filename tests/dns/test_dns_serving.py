"""The name service for other programs: what it says (RFC 1035, 2308, 6891, 7766), and what it bears."""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from free_ports import free_port
from hypothesis import given
from hypothesis import strategies as st
from loopback_names import LoopbackNames, a, aaaa, cname, loopback_names, packed, respond, zone
from resolving import config_for

from gossamer.dns.cache import PlainCache
from gossamer.dns.serving import name_service, sockets
from gossamer.dns.serving.messages import Code, read_message, write_reply
from gossamer.dns.serving.name_service import NameService
from gossamer.dns.serving.sockets import serving
from gossamer.model.name import Answer

ZONE = {
    "both.test": [*a("both.test", "192.0.2.1", "192.0.2.2"), *aaaa("both.test", "2001:db8::1")],
    "four.test": a("four.test", "192.0.2.4", ttl=900),
    "alias.test": [*cname("alias.test", "four.test", ttl=120), *a("four.test", "192.0.2.4")],
    "empty.test": [],
    "many.test": a("many.test", *(f"192.0.2.{n}" for n in range(200))),
}
A, AAAA, MX, ANY = 1, 28, 15, 255
OPT = b"\0" + struct.pack("!HHIH", 41, 1_232, 0, 0)


def question(
    name: str | bytes, kind: int = A, *, class_: int = 1, edns: bytes = b"", flags: int = 0x0100
) -> bytes:
    spelt = packed(name) if isinstance(name, str) else name
    head = struct.pack("!6H", 0x1234, flags, 1, 0, 0, 1 if edns else 0)
    return head + spelt + struct.pack("!HH", kind, class_) + edns


class Reply:
    """An answer, read by hand: every name in it is the question's, compressed."""

    def __init__(self, message: bytes) -> None:
        self.number, self.flags, *counts = struct.unpack_from("!6H", message)
        self.message, self.counts, self.code = message, counts, self.flags & 0xF
        at = 12
        if counts[0]:
            while message[at]:
                at += 1 + message[at]
            at += 5
        self.question = message[12:at]
        self.addresses, self.ttls = [], []
        for _ in range(counts[1]):
            owner, kind, _, ttl, size = struct.unpack_from("!HHHIH", message, at)
            assert owner == 0xC00C
            family = socket.AF_INET if kind == A else socket.AF_INET6
            self.addresses.append(socket.inet_ntop(family, message[at + 12 : at + 12 + size]))
            self.ttls.append(ttl)
            at += 12 + size
        self.options = message[at:]
        assert len(self.options) == 11 * counts[3]


class Served:
    """The service at a port, before a name server of the test."""

    def __init__(self, upstream: LoopbackNames, service: NameService, cache: PlainCache, port: int) -> None:
        self.upstream, self.service, self.cache, self.port = upstream, service, cache, port

    async def ask(self, message: bytes) -> Reply:
        """What it says to it, handed over without a socket."""
        said: list[bytes] = []
        task = self.service.take(message, said.append)
        if task is not None:
            await task
        return Reply(said.pop())

    async def over_tcp(self, *messages: bytes) -> list[Reply]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(b"".join(struct.pack("!H", len(message)) + message for message in messages))
        writer.write_eof()
        rest = await reader.read()
        writer.close()
        found = []
        while rest:
            end = 2 + int.from_bytes(rest[:2], "big")
            found.append(Reply(rest[2:end]))
            rest = rest[end:]
        return found


@contextlib.asynccontextmanager
async def served(answers=None, **settings) -> AsyncIterator[Served]:
    async with loopback_names(answers or zone(ZONE)) as upstream:
        config = config_for(upstream, max_addresses=256, **settings)
        cache = PlainCache(100)
        service = NameService(config, cache)
        async with serving(service, "127.0.0.1", free_port()) as port:
            yield Served(upstream, service, cache, port)


def served_to(run: Callable, body: Callable[[Served], Awaitable[None]], answers=None, **settings) -> None:
    async def whole() -> None:
        async with served(answers, **settings) as there:
            await body(there)

    run(whole())


def test_what_it_says_of_names_it_asks_for(run):
    async def body(there: Served) -> None:
        cases = {
            ("both.test", A): (Code.NOERROR, ["192.0.2.1", "192.0.2.2"]),
            ("BOTH.test", AAAA): (Code.NOERROR, ["2001:db8::1"]),
            ("four.test", AAAA): (Code.NOERROR, []),
            ("alias.test", A): (Code.NOERROR, ["192.0.2.4"]),
            ("empty.test", A): (Code.NOERROR, []),
            ("none.test", A): (Code.NXDOMAIN, []),
            ("localhost", A): (Code.NOERROR, ["127.0.0.1"]),
            ("a.onion", A): (Code.NXDOMAIN, []),
            ("192.0.2.1", A): (Code.NXDOMAIN, []),
            ("", A): (Code.REFUSED, []),
            ("both.test", MX): (Code.NOTIMP, []),
            ("both.test", ANY): (Code.NOTIMP, []),
        }
        for (name, kind), (code, addresses) in cases.items():
            reply = await there.ask(question(name, kind))
            assert (name, kind, reply.code, reply.addresses) == (name, kind, code, addresses)
            assert (reply.number, reply.flags & 0xFFF0) == (0x1234, 0x8180)
            assert reply.question == question(name, kind)[12:]
        asked = {query.name for query in there.upstream.queries}
        assert asked == {"both.test", "four.test", "alias.test", "empty.test", "none.test"}
        assert len(there.upstream.queries) == 2 * len(asked)  # nothing twice, whatever was asked for

    served_to(run, body)


def test_what_is_kept_is_not_asked_for_and_its_time_runs_down(run):
    async def body(there: Served) -> None:
        now = time.time()
        kept = Answer("kept.test", ("192.0.2.9", "2001:db8::9"), 3_600.0, asked=now - 3_000.0)
        there.cache.keep(kept, now, 600.0)
        for kind, address in ((A, "192.0.2.9"), (AAAA, "2001:db8::9")):
            reply = await there.ask(question("kept.test", kind))
            assert reply.addresses == [address]
            assert 0 < reply.ttls[0] <= 600
        assert there.upstream.queries == []
        assert there.service.statistics.hits == 2

    served_to(run, body)


def test_a_family_that_a_crawl_did_not_ask_for_is_no_denial(run):
    async def body(there: Served) -> None:
        now = time.time()
        there.cache.put(Answer("both.test", ("192.0.2.1",), 3_600.0, asked=now), now)
        for _ in range(2):
            assert (await there.ask(question("both.test", AAAA))).addresses == ["2001:db8::1"]
        assert there.upstream.asked("both.test", AAAA) == 1

    served_to(run, body)


def test_without_ipv6_nothing_is_said_of_it(run):
    async def body(there: Served) -> None:
        assert (await there.ask(question("both.test", AAAA))).code == Code.NOTIMP

    served_to(run, body, ipv6=False)


def test_name_servers_that_fail_are_no_denial(run):
    async def body(there: Served) -> None:
        assert (await there.ask(question("any.test"))).code == Code.SERVFAIL

    served_to(run, body, lambda query: respond(query, rcode=2))


def test_loops_of_aliases_are_no_denial(run):
    ring = {"a.test": [*cname("a.test", "b.test"), *cname("b.test", "a.test")]}

    async def body(there: Served) -> None:
        assert (await there.ask(question("a.test"))).code == Code.SERVFAIL

    served_to(run, body, zone(ring))


def test_what_is_too_long_for_a_datagram_says_so_and_comes_over_tcp(run):
    async def body(there: Served) -> None:
        for payload in (None, 0, 4_096, 0xFFFF):
            edns = b"" if payload is None else b"\0" + struct.pack("!HHIH", 41, payload, 0x8000, 0)
            reply = await there.ask(question("many.test", edns=edns))
            assert (bool(reply.flags & 0x0200), reply.addresses) == (True, [])
            assert len(reply.message) <= 512
            (whole,) = await there.over_tcp(question("many.test", edns=edns))
            assert (whole.flags & 0x0200, len(whole.addresses)) == (0, 200)
            assert bool(whole.options) == (payload is not None)

    served_to(run, body)


def test_a_datagram_holds_what_the_asker_takes():
    addresses = [f"192.0.2.{n}" for n in range(60)]
    for payload, sent in ((512, 0), (900, 0), (1_100, 60), (4_096, 60)):
        asked = read_message(question("many.test", edns=b"\0" + struct.pack("!HHIH", 41, payload, 0, 0)))
        reply = Reply(write_reply(asked, Code.NOERROR, asked.room, addresses, 9.9))
        assert len(reply.addresses) == sent
        assert set(reply.ttls) <= {9}
        assert reply.options[:5] == b"\0" + struct.pack("!HH", 41, 1_232)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"", None),
        (b"\x12\x34\x01\0\0\1\0\0\0\0\0", None),
        (b"\0" * 65_535, Code.FORMERR),
        (question("a.test", flags=0x8180), None),
        (question("a.test", flags=0x2000), Code.NOTIMP),
        (question("a.test", class_=3), Code.REFUSED),
        (question("a.test")[:-1], Code.FORMERR),
        (question("a.test")[:4] + b"\0\2" + question("a.test")[6:], Code.FORMERR),
        (question("a.test")[:4] + b"\0\0" + question("a.test")[6:], Code.FORMERR),
        (question("a.test")[:6] + b"\0\1" + question("a.test")[8:], Code.FORMERR),
        (question("a.test")[:10] + b"\xff\xff" + question("a.test")[12:], Code.FORMERR),
        (question(b"\xc0\x0c"), Code.FORMERR),
        (question(b"\1a\xc0\x0c"), Code.FORMERR),
        (question(b"\x40" + b"a" * 64 + b"\0"), Code.FORMERR),
        (question(b"\1a" * 127 + b"\0"), Code.NOERROR),
        (question(b"\1a" * 128 + b"\0"), Code.FORMERR),
        (question(b"\3a.b\0"), Code.NOERROR),
        (question("a.test", edns=OPT), Code.NOERROR),
        (question("a.test", edns=b"\0" + struct.pack("!HHIH", 41, 1_232, 1 << 16, 0)), Code.BADVERS),
        (question("a.test", edns=OPT[:-1]), Code.FORMERR),
        (question("a.test", edns=b"\0" + struct.pack("!HHIH", 41, 1_232, 0, 9)), Code.FORMERR),
        (question("a.test", edns=b"\1a" + OPT), Code.FORMERR),
        (question("a.test", edns=b"\xc0\x0c" + OPT[1:]), Code.FORMERR),
        (question("a.test")[:10] + b"\0\2" + question("a.test")[12:] + OPT * 2, Code.FORMERR),
        (question("a.test")[:10] + b"\0\2" + question("a.test")[12:] + b"\xc0\x0c\0\1\0\1\0\0\0\0\0\0" + OPT,
         Code.NOERROR),
    ],
)  # fmt: skip
def test_messages_that_nobody_should_send(message, code):
    asked = read_message(message)
    assert (None if asked is None else asked.code) == code
    if asked is not None:
        reply = Reply(write_reply(asked, asked.code, 512))
        assert reply.number == int.from_bytes(message[:2], "big")
        assert (reply.options[5] << 4 if reply.options else 0) | reply.code == asked.code


def test_bytes_that_no_text_is_spelt_like_are_refused_unasked(run):
    async def body(there: Served) -> None:
        for spelt in (b"\3a.b\4test\0", b"\1\\\4test\0", b"\2\xff\0\4test\0", b"\1 \0"):
            assert (await there.ask(question(spelt))).code == Code.REFUSED
        assert (await there.ask(question(b"\3::1\0"))).code == Code.NXDOMAIN
        assert there.upstream.queries == []

    served_to(run, body)


@given(st.binary(max_size=80), st.booleans())
def test_any_bytes_are_silence_or_one_short_answer(noise, framed):
    asked = read_message(question("a.test")[:12] + noise if framed else noise)
    if asked is not None:
        reply = write_reply(asked, asked.code, asked.room)
        assert reply[2] & 0x80
        assert len(reply) <= max(len(noise) + 12 + 11, 12)
        assert read_message(reply) is None


def test_over_both_transports_also_many_at_once_and_half_said(run):
    async def body(there: Served) -> None:
        names = ["both.test", "four.test", "none.test"] * 20
        replies = await there.over_tcp(*map(question, names))
        assert sorted(reply.code for reply in replies) == [0] * 40 + [3] * 20
        assert await there.over_tcp(b"") == []  # not DNS: the connection ends
        reader, writer = await asyncio.open_connection("127.0.0.1", there.port)
        writer.write(b"\xff\xff" + question("both.test"))
        loop = asyncio.get_running_loop()
        with socket.socket(type=socket.SOCK_DGRAM) as asking:
            asking.setblocking(False)
            await loop.sock_connect(asking, ("127.0.0.1", there.port))
            for message in (b"", b"\0" * 11, question("x.test", flags=0x8180), question("both.test")):
                await loop.sock_sendall(asking, message)
            assert Reply(await loop.sock_recv(asking, 2_000)).addresses == ["192.0.2.1", "192.0.2.2"]
        writer.transport.abort()
        del reader

    served_to(run, body)


def test_connections_are_bounded_and_do_not_stay_for_nothing(run, monkeypatch):
    monkeypatch.setattr(sockets, "MAX_CONNECTIONS", 2)
    monkeypatch.setattr(sockets, "IDLE_SECONDS", 0.2)

    async def body(there: Served) -> None:
        silent = [await asyncio.open_connection("127.0.0.1", there.port) for _ in range(5)]
        for reader, writer in silent:
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        assert len(await there.over_tcp(question("four.test"))) == 1

    served_to(run, body)


def test_questions_that_wait_are_bounded_and_what_is_known_is_still_said(run, monkeypatch):
    monkeypatch.setattr(name_service, "MAX_OPEN", 5)

    async def body(there: Served) -> None:
        now = time.time()
        there.cache.put(Answer("kept.test", ("192.0.2.9",), 3_600.0, asked=now), now)
        said: list[bytes] = []
        for number in range(1_000):
            there.service.take(question(f"n{number}.test"), said.append)
        assert [Reply(message).code for message in said] == [Code.SERVFAIL] * 995
        assert (await there.ask(question("kept.test"))).addresses == ["192.0.2.9"]
        await there.service.close()
        assert [Reply(message).code for message in said] == [Code.SERVFAIL] * 1_000

    served_to(run, body, lambda query: None)


def test_one_question_upstream_however_many_ask(run):
    async def body(there: Served) -> None:
        said: list[bytes] = []
        tasks = [there.service.take(question("four.test"), said.append) for _ in range(500)]
        await asyncio.gather(*tasks)
        assert {tuple(Reply(message).addresses) for message in said} == {("192.0.2.4",)}
        assert there.upstream.asked("four.test") == 1

    served_to(run, body)


def test_who_asks_without_end_does_not_keep_others_waiting(run):
    """Nor where every answer is at hand, so that nothing else makes a pause."""

    async def body(there: Served) -> None:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        counting = asyncio.create_task(count())
        replies = await there.over_tcp(*[question("both.test", MX)] * 500)
        counting.cancel()
        assert {reply.code for reply in replies} == {Code.NOTIMP}
        assert turns >= len(replies) == 500

    served_to(run, body)
