"""How many questions a name costs: one of each family where the servers answer, however slowly or badly."""

import asyncio

import pytest
from loopback_names import AAAA, REFUSED, SERVFAIL, A, LoopbackNames, Query, a, aaaa, loopback_names, respond
from resolving import resolver_for

from gossamer.dns.config import DnsConfig
from gossamer.model.outcome import Fault

DEFAULTS = {"first_wait": DnsConfig().first_wait, "attempts": DnsConfig().attempts}


def good(query: Query) -> bytes:
    records = a if query.kind == A else aaaa
    return respond(query, records(query.name, "192.0.2.1" if query.kind == A else "2001:db8::1"))


class Late:
    """Answers after a while that each name's first label tells in milliseconds."""

    server: LoopbackNames

    def __call__(self, query: Query) -> None:
        seconds = int(query.name.split(".")[0]) / 1_000
        asyncio.get_running_loop().call_later(seconds, self._answer, query)

    def _answer(self, query: Query) -> None:
        self.server.send(query, good(query))


def test_slow_names_are_asked_for_once(run):
    """Those that take 0.5 to 2 s, many at once, beside fast ones."""

    async def body() -> None:
        late = Late()
        async with loopback_names(late) as server:
            late.server = server
            resolver = resolver_for(server, **DEFAULTS)
            names = [f"{delay}.n{n}.test" for n in range(6) for delay in (1, 500, 1_000, 1_500, 2_000)]
            answers = await asyncio.gather(*map(resolver.resolve, names))
            assert {answer.addresses for answer in answers} == {("192.0.2.1", "2001:db8::1")}
            assert len(server.queries) <= 1.1 * 2 * len(names)
            await resolver.close()

    run(body())


@pytest.mark.parametrize("rcode", [SERVFAIL, REFUSED])
def test_a_failure_costs_a_question_of_each_family(run, rcode):
    """And no more within the time that it is kept (RFC 9520 3.2), whoever asks."""

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=rcode)) as server:
            resolver = resolver_for(server)
            await asyncio.gather(*(resolver.resolve("a.test") for _ in range(5)))
            assert (await resolver.resolve("a.test")).fault is Fault.NAME_FAILED
            assert resolver.ahead("a.test") is None
            assert (server.asked("a.test", A), server.asked("a.test", AAAA)) == (1, 1)
            await resolver.close()

    run(body())


def test_a_failure_of_one_server_is_asked_of_the_other(run):
    async def body() -> None:
        async with (
            loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as failing,
            loopback_names(good) as other,
        ):
            resolver = resolver_for(failing, other)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1", "2001:db8::1")
            assert len(failing.queries) == len(other.queries) == 2
            await resolver.close()

    run(body())


def test_a_failure_of_one_family_does_not_repeat_it(run):
    async def body() -> None:
        answers = lambda query: good(query) if query.kind == A else respond(query, rcode=SERVFAIL)  # noqa: E731
        async with loopback_names(answers) as server:
            resolver = resolver_for(server)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1",)
            assert len(server.queries) == 2
            await resolver.close()

    run(body())
