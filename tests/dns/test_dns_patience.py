"""How long an answer is listened to, and what a question takes up meanwhile."""

import asyncio
import resource
import socket

import pytest
from loopback_names import AAAA, A, LoopbackNames, Query, a, aaaa, loopback_names, respond
from resolving import resolver_for

from gossamer.dns.queries import channel as channel_module
from gossamer.dns.queries import question as question_module
from gossamer.dns.queries import servers as servers_module


def good(query: Query) -> bytes:
    return respond(query, a(query.name, "192.0.2.1") if query.kind == A else [])


class Slow:
    """Answers at once, but keeps back the first question for each name that begins with `slow`."""

    def __init__(self) -> None:
        self.kept: list[Query] = []
        self.asked = asyncio.Event()

    def __call__(self, query: Query) -> bytes | None:
        if not query.name.startswith("slow") or query.name in {kept.name for kept in self.kept}:
            return good(query)
        self.kept.append(query)
        self.asked.set()
        return None

    def answer(self, server: LoopbackNames) -> None:
        for query in self.kept:
            server.send(query, good(query))


@pytest.fixture
def impatient(monkeypatch):
    """What takes 5 s takes 0.3 s."""
    monkeypatch.setattr(channel_module, "PATIENCE", 0.3)
    monkeypatch.setattr(question_module, "PATIENCE", 0.3, raising=False)


def test_fast_answers_do_not_shorten_the_patience_with_a_slow_one(run):
    """c-ares drops a question after 250 ms once it has measured fast answers."""

    async def body() -> None:
        slow = Slow()
        async with loopback_names(slow) as server:
            resolver = resolver_for(server, ipv6=False)
            for n in range(8):
                await resolver.resolve(f"fast{n}.test")
            waiting = asyncio.ensure_future(resolver.resolve("slow.test"))
            await slow.asked.wait()
            await asyncio.sleep(0.35)
            await resolver.resolve("last.test")  # makes c-ares look for what is overdue
            slow.answer(server)
            assert (await waiting).addresses == ("192.0.2.1",)
            assert server.asked("slow.test") == 1
            await resolver.close()

    run(body())


def test_names_without_addresses_are_measured_too(run):
    async def body() -> None:
        slow = Slow()
        async with loopback_names(lambda q: respond(q, rcode=3) if q.name[0] == "n" else slow(q)) as server:
            resolver = resolver_for(server, ipv6=False)
            for n in range(8):
                await resolver.resolve(f"n{n}.test")
            waiting = asyncio.ensure_future(resolver.resolve("slow.test"))
            await slow.asked.wait()
            await asyncio.sleep(0.35)
            await resolver.resolve("nothing.test")
            slow.answer(server)
            assert (await waiting).addresses == ("192.0.2.1",)
            assert server.asked("slow.test") == 1
            await resolver.close()

    run(body())


def test_many_names_at_once_share_a_channel(run, monkeypatch):
    opened = []
    original = channel_module.pycares.Channel
    monkeypatch.setattr(channel_module.pycares, "Channel", lambda **k: opened.append(1) or original(**k))

    async def body() -> None:
        async with loopback_names(good) as server:
            resolver = resolver_for(server)
            await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(100)))
            assert len(opened) == 1
            await resolver.close()

    run(body())


@pytest.mark.usefixtures("impatient")
def test_an_attempt_with_a_long_wait_is_heard_to_its_end(run):
    async def body() -> None:
        slow = Slow()
        async with loopback_names(slow) as server:
            resolver = resolver_for(server, ipv6=False, first_wait=4.0)
            waiting = asyncio.ensure_future(resolver.resolve("slow.test"))
            await slow.asked.wait()
            await asyncio.sleep(1.2)
            await resolver.resolve("fast.test")
            slow.answer(server)
            assert (await waiting).addresses == ("192.0.2.1",)
            assert server.asked("slow.test") == 1
            await resolver.close()

    run(body())


@pytest.mark.usefixtures("impatient")
def test_a_long_wait_takes_up_no_room_for_long(run):
    async def body() -> None:
        slow = Slow()
        async with loopback_names(slow) as server:
            resolver = resolver_for(server, ipv6=False, first_wait=4.0, queries_per_server=2)
            waiting = [asyncio.ensure_future(resolver.resolve(f"slow{n}.test")) for n in range(2)]
            await slow.asked.wait()
            assert (await resolver.resolve("fast.test")).addresses
            assert len(server.queries) == 3  # no second attempt for what is slow
            slow.answer(server)
            assert all(answer.addresses for answer in await asyncio.gather(*waiting))
            assert len(server.queries) == 3
            await resolver.close()

    run(body())


def test_what_is_no_longer_waited_for_takes_up_no_room(run):
    """IPv6 is lost for every name; the next name does not wait until c-ares gives up on it."""

    async def body() -> None:
        async with loopback_names(lambda q: good(q) if q.kind == A else None) as server:
            resolver = resolver_for(server, first_wait=0.1, queries_per_server=2)
            async with asyncio.timeout(4):
                for n in range(4):
                    assert (await resolver.resolve(f"n{n}.test")).addresses == ("192.0.2.1",)
            await resolver.close()

    run(body())


@pytest.mark.parametrize("lost", [A, AAAA])
def test_the_second_attempt_of_one_family_is_awaited(run, lost):
    """The other has answered at once; the repeated question is not sent in vain."""

    async def body() -> None:
        def answers(query: Query) -> bytes | None:
            name = query.name
            reply = respond(query, a(name, "192.0.2.4") if query.kind == A else aaaa(name, "2001:db8::6"))
            if query.kind != lost:
                return reply
            if server.asked(name, lost) == 2:
                asyncio.get_running_loop().call_later(0.1, server.send, query, reply)
            return None

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, first_wait=0.6)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.4", "2001:db8::6")
            assert len(server.queries) == 3
            await resolver.close()

    run(body())


def test_no_attempt_goes_out_just_before_the_landing(run):
    """IPv4 never answers: after two attempts IPv6 is enough."""

    async def body() -> None:
        async with loopback_names(
            lambda q: respond(q, aaaa(q.name, "2001:db8::6")) if q.kind == AAAA else None
        ) as server:
            resolver = resolver_for(server, first_wait=0.2, attempts=5)
            assert (await resolver.resolve("a.test")).addresses == ("2001:db8::6",)
            await resolver.resolve("fence.test")  # whatever went out before has come in before
            assert server.asked("a.test", A) == 2
            await resolver.close()

    run(body())


def test_the_kind_of_a_socket_is_told_without_another_descriptor():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as stream,
    ):
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            told = [channel_module._is_stream(each.fileno()) for each in (datagrams, stream)]
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert told == [False, True]
        assert datagrams.getsockname() and stream.getsockname()  # still open
        closed = datagrams.detach()
        socket.close(closed)
        assert not channel_module._is_stream(closed)


@pytest.mark.usefixtures("impatient")
def test_former_servers_are_let_go(run, monkeypatch):
    monkeypatch.setattr(servers_module, "REREAD_AFTER", 0.0)
    opened: set[int] = set()
    original = channel_module.pycares.Channel

    class Watched(original):
        def __init__(self, **settings) -> None:
            super().__init__(**settings)
            opened.add(id(self))

        def close(self) -> None:
            opened.discard(id(self))
            super().close()

    async def body() -> None:
        async with (
            loopback_names(lambda q: good(q) if q.name == "a.test" else None) as old,
            loopback_names(good) as new,
        ):
            system = [old.address]
            monkeypatch.setattr(servers_module, "system_targets", lambda: system[:])
            monkeypatch.setattr(channel_module.pycares, "Channel", Watched)
            resolver = resolver_for(first_wait=0.1, attempts=2, ipv6=False)
            assert (await resolver.resolve("a.test")).addresses
            system[:] = [new.address]
            assert (await resolver.resolve("b.test")).detail == "time-out"
            assert opened
            async with asyncio.timeout(30):
                while opened:  # noqa: ASYNC110 - c-ares closes them when it has given up
                    await asyncio.sleep(0.05)
            assert (await resolver.resolve("c.test")).addresses
            assert len(opened) == 1
            await resolver.close()
            assert not opened

    run(body())
