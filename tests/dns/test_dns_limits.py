"""What keeps one name, one answer or one name server from taking too much."""

import asyncio
import gc

import pycares
from loopback_names import SERVFAIL, LoopbackNames, Query, a, loopback_names, respond
from resolving import resolver_for

from gossamer.dns.queries import channel
from gossamer.dns.queries.name_lookup import NameLookup
from gossamer.dns.queries.question import Question
from gossamer.dns.queries.reply import MAX_RECORDS, Verdict, read_reply
from gossamer.model.outcome import Fault


class Open:
    """Answers after a while, and remembers how many queries were open at most."""

    def __init__(self, seconds: float) -> None:
        self.server = None
        self.most = self._open = 0
        self._seconds = seconds

    def __call__(self, query: Query) -> None:
        self._open += 1
        self.most = max(self.most, self._open)
        asyncio.get_running_loop().call_later(self._seconds, self._answer, query)

    def _answer(self, query: Query) -> None:
        self._open -= 1
        self.server.send(query, respond(query, a(query.name, "192.0.2.1")))


def test_names_spread_over_the_servers_that_have_room(run):
    async def body() -> None:
        first, second = Open(0.01), Open(0.01)
        async with loopback_names(first) as one, loopback_names(second) as two:
            first.server, second.server = one, two
            resolver = resolver_for(one, two, queries_per_server=4)
            answers = await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(40)))
            assert all(answer.addresses for answer in answers)
            assert (first.most, second.most) == (4, 4)
            assert len(one.queries) + len(two.queries) == 80
            assert len(two.queries) >= 20
            await resolver.close()

    run(body())


class Busy:
    """Two servers with room for two queries each: one fails when told to, the other says nothing."""

    def __init__(self) -> None:
        self.failing: list[Query] = []
        self.held: list[Query] = []
        self.full = asyncio.Event()

    def fails(self, query: Query) -> bytes | None:
        return self._hold(query, self.failing)

    def holds(self, query: Query) -> bytes | None:
        return self._hold(query, self.held)

    def _hold(self, query: Query, held: list[Query]) -> bytes | None:
        if query.name == "fence.test":
            return respond(query)
        held.append(query)
        if len(self.failing) == len(self.held) == 2:
            self.full.set()
        return None

    async def fail(self, server: LoopbackNames, other: LoopbackNames) -> None:
        """Let both questions fail; returns when what follows would have reached the other server."""
        for query in self.failing:
            server.send(query, respond(query, rcode=SERVFAIL))
        for each in (server, other, other):
            resolver = resolver_for(each, ipv6=False)
            await resolver.resolve("fence.test")
            await resolver.close()


def test_what_a_busy_server_is_asked_waits_its_turn(run):
    async def body() -> None:
        busy = Busy()
        async with loopback_names(busy.fails) as one, loopback_names(busy.holds) as two:
            resolver = resolver_for(one, two, queries_per_server=2, ipv6=False)
            tasks = [asyncio.ensure_future(resolver.resolve(f"n{n}.test")) for n in range(4)]
            await busy.full.wait()
            await busy.fail(one, two)
            assert sorted(query.name for query in busy.held) == ["n2.test", "n3.test"]
            two.answers = lambda query: respond(query, a(query.name, "192.0.2.1"))
            for query in busy.held:
                two.send(query, respond(query, a(query.name, "192.0.2.1")))
            assert all(answer.addresses for answer in await asyncio.gather(*tasks))
            await resolver.close()

    run(body())


def test_waiting_for_a_turn_ends_with_the_total(run):
    async def body() -> None:
        busy = Busy()
        async with loopback_names(busy.fails) as one, loopback_names(busy.holds) as two:
            resolver = resolver_for(
                one, two, queries_per_server=2, ipv6=False, first_wait=1.0, total=1.0, attempts=9
            )
            tasks = [asyncio.ensure_future(resolver.resolve(f"n{n}.test")) for n in range(4)]
            await busy.full.wait()
            await busy.fail(one, two)
            details = [answer.detail for answer in await asyncio.gather(*tasks)]
            assert details == ["SERVFAIL", "SERVFAIL", "time-out", "time-out"]
            await resolver.close()

    run(body())


def test_the_total_counts_from_asking(run):
    """Before a dead server with little room, the last in line wait no longer than the first."""

    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            resolver = resolver_for(
                server, queries_per_server=2, ipv6=False, first_wait=0.3, total=0.6, attempts=2
            )
            answers = await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(12)))
            assert {answer.detail for answer in answers} == {"time-out"}
            assert all(answer.seconds >= 0.55 for answer in answers)
            assert len({query.name for query in server.queries}) <= 6  # the others have failed in line
            assert resolver.statistics.failures == {"time-out": 12}
            assert repr(resolver) == "<CaresResolver 0 in the air, 0 waiting>"
            asked = len(server.queries)
            assert (await resolver.resolve("n11.test")).detail == "time-out"
            assert len(server.queries) == asked
            await resolver.close()

    run(body())


def test_a_name_in_the_air_ends_with_its_total(run):
    """What took off late has no more time than what took off at once."""

    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            resolver = resolver_for(
                server, queries_per_server=2, ipv6=False, first_wait=1.4, total=2.0, attempts=1
            )
            answers = await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(4)))
            assert {answer.detail for answer in answers} == {"time-out"}
            assert sorted(server.asked(f"n{n}.test") for n in range(4)) == [1, 1, 1, 1]
            late = [answer.seconds for answer in answers[2:]]
            assert max(late) < answers[0].seconds - 0.1  # 0.6 s was left of 2 s
            await resolver.close()

    run(body())


def test_names_asked_ahead_wait_without_a_clock_while_a_server_is_silent(run):
    """A queue before a server that is dead for a while ends in answers, not in time-outs of its last."""

    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            resolver = resolver_for(
                server, queries_per_server=2, ipv6=False, first_wait=0.2, total=0.4, attempts=2
            )
            tasks = [resolver.ahead(f"n{n}.test") for n in range(12)]
            await tasks[0]
            server.answers = lambda query: respond(query, a(query.name, "192.0.2.1"))
            answers = await asyncio.gather(*tasks)
            assert answers[0].fault is Fault.NAME_FAILED
            assert sum(answer.fault is None for answer in answers) >= 8
            await resolver.close()

    run(body())


class Unread:
    """A record that must not be looked at."""

    def __getattr__(self, name: str) -> None:
        raise AssertionError(name)


def test_the_rest_of_a_long_answer_is_not_read():
    records = [
        pycares.DNSRecord("a.test", 1, 1, 300, pycares.ARecordData(f"10.0.{n >> 8}.{n & 255}"))
        for n in range(MAX_RECORDS)
    ]
    result = pycares.DNSResult([*records, *[Unread()] * 3_488], [], [])
    reply = read_reply("a.test", 1, result, None, "192.0.2.53")
    assert (reply.verdict, len(reply.addresses)) == (Verdict.FOUND, MAX_RECORDS)


def test_everything_is_counted(run):
    async def body() -> None:
        def answers(query: Query) -> bytes | None:
            if query.name == "mute.test":
                return None
            return (
                respond(query, rcode=3)
                if query.name == "no.test"
                else respond(query, a(query.name, "10.0.0.1"))
            )

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, first_wait=0.05, attempts=2)
            for name in (
                "a.test",
                "a.test",
                "no.test",
                "no.test",
                "no.test",
                "mute.test",
                "127.0.0.1",
                "a b",
            ):
                await resolver.resolve(name)
            assert resolver.known("a.test")
            count = resolver.statistics
            assert (count.hits, count.negative, count.misses, count.stale) == (1, 2, 3, 0)
            assert count.resolutions == 3
            assert count.failures == {"NXDOMAIN": 1, "time-out": 1}
            assert count.queries == len(server.queries)
            assert count.queries >= 8
            await resolver.close()

    run(body())


def alive(*kinds: type) -> int:
    return sum(isinstance(found, kinds) for found in gc.get_objects())


def test_names_that_have_landed_leave_nothing_for_the_garbage_collector(run):
    async def body() -> None:
        async with loopback_names(lambda query: respond(query, a(query.name, "192.0.2.1"))) as server:
            resolver = resolver_for(server)
            answers = await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(40)))
            assert all(answer.addresses for answer in answers)
            assert alive(NameLookup, Question, channel.Query) == 0
            for _ in range(1_000):  # a thread of pycares destroys the channels that have heard enough
                if alive(channel._Channel) <= 4:
                    break
                await asyncio.sleep(0.01)
            assert alive(channel._Channel) <= 4
            await resolver.close()

    gc.collect()
    gc.disable()
    try:
        run(body())
    finally:
        gc.enable()
