"""Names resolved before anybody waits for them, beside those that somebody waits for."""

import asyncio

import pytest
from loopback_names import NXDOMAIN, SERVFAIL, LoopbackNames, Query, a, loopback_names, respond
from resolving import NoCache, config_for, resolver_for

from gossamer.dns import prefetch as prefetch_module
from gossamer.dns import resolver as resolver_module
from gossamer.dns.prefetch import Prefetcher
from gossamer.dns.resolver import CaresResolver
from gossamer.model.outcome import Fault


def good(query: Query) -> bytes:
    return respond(query, a(query.name, "192.0.2.1"))


class Landings:
    """Hears of names that have landed; can be waited for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._changed = asyncio.Event()

    def __call__(self, name: str) -> None:
        self.names.append(name)
        self._changed.set()

    async def reach(self, count: int) -> None:
        while len(self.names) < count:
            self._changed.clear()
            await self._changed.wait()


class Held:
    """Answers that wait until the test lets them go."""

    def __init__(self) -> None:
        self.server: LoopbackNames
        self.queries: list[Query] = []
        self._changed = asyncio.Event()

    def __call__(self, query: Query) -> None:
        self.queries.append(query)
        self._changed.set()

    async def reach(self, count: int) -> None:
        while len(self.queries) < count:
            self._changed.clear()
            await self._changed.wait()

    def answer(self, query: Query) -> None:
        self.server.send(query, good(query))


async def fence(server: LoopbackNames) -> None:
    """Wait until everything sent so far has been received."""
    resolver = resolver_for(server, ipv6=False)
    await resolver.resolve(f"fence{len(server.queries)}.test")
    await resolver.close()


def holding(held: Held):
    return lambda query: good(query) if query.name.startswith("fence") else held(query)


def test_an_offered_name_is_known_when_it_has_landed(run):
    async def body() -> None:
        landed = Landings()
        async with loopback_names(good) as server:
            resolver = resolver_for(server)
            ahead = Prefetcher(resolver, 10, landed)
            assert not resolver.known("a.test")
            assert ahead.offer("a.test")
            assert ahead.offer("a.test")
            assert not resolver.known("a.test")
            await landed.reach(1)
            assert resolver.known("A.test.")
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1",)
            assert len(server.queries) == 2
            assert landed.names == ["a.test"]
            assert repr(ahead) == "<Prefetcher 0 under way, 0 candidates>"
            await resolver.close()

    run(body())


@pytest.mark.parametrize(
    ("rcode", "fault"), [(NXDOMAIN, Fault.NAME_NOT_FOUND), (SERVFAIL, Fault.NAME_FAILED), (0, None)]
)
def test_what_no_cache_keeps_reaches_who_asked(run, monkeypatch, rcode, fault):
    async def body() -> None:
        landed = Landings()

        def answers(query: Query) -> bytes:
            return respond(query, [] if rcode else a(query.name, "192.0.2.1", ttl=0), rcode=rcode)

        async with loopback_names(answers) as server:
            config = config_for(server, ipv6=False, failure_attempts=1, failure_ttl=0, min_ttl=0)
            resolver = CaresResolver(config, NoCache())
            Prefetcher(resolver, 10, landed).offer("a.test")
            await landed.reach(1)
            assert resolver.known("a.test")
            assert (await resolver.resolve("a.test")).fault is fault
            assert len(server.queries) == 1
            await resolver.close()

    run(body())


def test_it_is_held_for_a_while_only(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "HELD_SECONDS", 0.0)

    async def body() -> None:
        landed = Landings()
        async with loopback_names(good) as server:
            resolver = CaresResolver(config_for(server, ipv6=False), NoCache())
            Prefetcher(resolver, 10, landed).offer("a.test")
            await landed.reach(1)
            assert not resolver.known("a.test")
            await resolver.close()

    run(body())


def test_known_without_asking(run):
    async def body() -> None:
        landed = Landings()
        async with loopback_names(good) as server:
            resolver = resolver_for(server)
            names = ["192.0.2.1", "[::1]", "::a", "localhost", "a b", "x.onion"]
            assert all(map(resolver.known, names))
            ahead = Prefetcher(resolver, 2, landed)
            assert all(map(ahead.offer, names))
            assert landed.names == []  # never from within
            await landed.reach(6)
            assert sorted(landed.names) == sorted(names)
            assert server.queries == []
            await resolver.close()

    run(body())


def test_the_pool_is_bounded_and_draws_at_random(run, monkeypatch):
    drawn = []

    def last(limit: int) -> int:
        drawn.append(limit)
        return limit - 1

    monkeypatch.setattr(prefetch_module.random, "randrange", last)

    async def body() -> None:
        landed, held = Landings(), Held()
        async with loopback_names(holding(held)) as server:
            held.server = server
            resolver = resolver_for(server, ipv6=False)
            ahead = Prefetcher(resolver, 3, landed)
            names = [f"n{n}.test" for n in range(10)]
            assert all(map(ahead.offer, names))
            await held.reach(3)
            await fence(server)
            assert [query.name for query in held.queries] == names[:3]
            assert repr(ahead) == "<Prefetcher 3 under way, 7 candidates>"
            held.answer(held.queries[0])
            await landed.reach(1)
            await held.reach(4)
            assert held.queries[3].name == "n9.test"
            assert drawn == [1, 1, 1, 7]
            server.answers = good
            for query in held.queries[1:]:
                held.answer(query)
            await landed.reach(10)
            assert sorted(landed.names) == names
            await resolver.close()

    run(body())


def test_too_many_candidates_are_turned_away(run, monkeypatch):
    monkeypatch.setattr(prefetch_module, "CANDIDATES_PER_WORKER", 2)

    async def body() -> None:
        landed = Landings()
        async with loopback_names(lambda query: None) as server:
            resolver = resolver_for(server)
            ahead = Prefetcher(resolver, 2, landed)
            taken = [ahead.offer(f"n{n}.test") for n in range(8)]
            assert taken == [True] * 6 + [False] * 2
            assert ahead.offer("n0.test")  # under way
            ahead.close()
            assert not ahead.offer("n7.test")
            await resolver.close()
            await landed.reach(2)
        assert sorted(landed.names) == ["n0.test", "n1.test"]

    run(body())


def test_what_somebody_waits_for_goes_first(run):
    async def body() -> None:
        landed, held = Landings(), Held()
        async with loopback_names(holding(held)) as server:
            held.server = server
            resolver = resolver_for(server, ipv6=False, queries_per_server=8)
            ahead = Prefetcher(resolver, 100, landed)
            for n in range(20):
                ahead.offer(f"ahead{n}.test")
            await held.reach(6)
            waited = [asyncio.ensure_future(resolver.resolve(f"now{n}.test")) for n in range(3)]
            await held.reach(8)  # a quarter of the room was kept for them
            await fence(server)
            assert [query.name for query in held.queries[6:]] == ["now0.test", "now1.test"]
            held.answer(held.queries[0])
            await held.reach(9)
            assert held.queries[8].name == "now2.test"
            server.answers = good
            for query in held.queries[1:9]:
                held.answer(query)
            assert all(answer.addresses for answer in await asyncio.gather(*waited))
            await landed.reach(20)
            await resolver.close()

    run(body())


def test_a_candidate_that_somebody_comes_to_wait_for_is_moved_up(run):
    async def body() -> None:
        landed, held = Landings(), Held()
        async with loopback_names(holding(held)) as server:
            held.server = server
            resolver = resolver_for(server, ipv6=False, queries_per_server=4)
            ahead = Prefetcher(resolver, 100, landed)
            for n in range(9):
                ahead.offer(f"n{n}.test")
            await held.reach(3)
            flying = {query.name for query in held.queries}
            late = next(f"n{n}.test" for n in range(8, -1, -1) if f"n{n}.test" not in flying)
            task = asyncio.ensure_future(resolver.resolve(late))
            await held.reach(4)
            assert held.queries[3].name == late
            held.answer(held.queries[3])
            assert (await task).addresses == ("192.0.2.1",)
            await landed.reach(1)
            assert landed.names == [late]
            await resolver.close()
            await landed.reach(9)

    run(body())


def test_a_listener_that_raises_stops_nothing():
    async def body() -> None:
        problems: list[dict] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        heard = Landings()

        def landed(name: str) -> None:
            heard(name)
            raise RuntimeError(name)

        async with loopback_names(good) as server:
            resolver = resolver_for(server)
            ahead = Prefetcher(resolver, 1, landed)
            for name in ("a.test", "b.test", "c.test"):
                ahead.offer(name)
            await heard.reach(3)
            await asyncio.sleep(0)
            await resolver.close()
        assert len(problems) == 3

    asyncio.run(body())
