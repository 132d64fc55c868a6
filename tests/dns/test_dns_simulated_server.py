"""The resolver against the simulated web's name server: slow, losing questions, lying, dead for a while."""

import asyncio
from collections import Counter

import pytest

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.prefetch import Prefetcher
from gossamer.dns.resolver import CaresResolver
from gossamer.model.outcome import Fault
from gossamer.simweb import Hosting, Speech, WorldSpec

HOSTS = 200


def names_of(count: int) -> list[str]:
    return [f"h{n}.sim.test" for n in range(count)]


def world(**changes) -> WorldSpec:
    return WorldSpec.plain(hosts=HOSTS, pages=HOSTS, **changes)


def before(spec: WorldSpec, run, tmp_path, body, **settings) -> None:
    """Run `body(resolver, web)`."""

    async def whole() -> None:
        async with Hosting(spec, log=tmp_path / "log", control=tmp_path / "control") as web:
            config = DnsConfig(nameservers=(web.nameserver,), hosts_file=False, **settings)
            resolver = CaresResolver(config, PlainCache(10_000))
            try:
                await body(resolver, web)
            finally:
                await resolver.close()

    run(whole())


def test_no_more_queries_than_types_and_losses_make_necessary(run, tmp_path):
    """D7: at most 1.05 resolutions a name, and 1.05 times the queries that there must be."""

    async def body(resolver: CaresResolver, web: Hosting) -> None:
        landed = asyncio.Event()
        left = set(names_of(HOSTS))

        def heard(name: str) -> None:
            left.discard(name)
            if not left:
                landed.set()

        ahead = Prefetcher(resolver, 64, heard)
        assert all(map(ahead.offer, names_of(HOSTS)))
        waiting = [resolver.resolve(name) for name in names_of(HOSTS)[::3]]
        answers = await asyncio.gather(*waiting)
        await landed.wait()
        assert all(answer.addresses == ("127.0.0.1",) for answer in answers)
        questions = web.questions()
        lost = sum(not question.answered for question in questions)
        assert 5 <= lost <= 60
        assert len(questions) <= 1.05 * (2 * HOSTS + lost)
        assert resolver.statistics.queries == len(questions)
        assert resolver.statistics.resolutions == HOSTS
        resolved = Counter(q.name for q in questions if q.answered and q.kind == "A")
        assert sum(resolved.values()) <= 1.05 * HOSTS

    before(world(name_delay=0.03, name_loss=0.05), run, tmp_path, body, first_wait=1.5)


@pytest.mark.parametrize(
    "speech",
    [Speech.ANSWER, Speech.TRUNCATED, Speech.WRONG_ID, Speech.WRONG_QUESTION, Speech.STRANGERS, Speech.CROWD],
)
def test_lies_are_not_believed(run, tmp_path, speech):
    async def body(resolver: CaresResolver, web: Hosting) -> None:
        for name in names_of(3):
            answer = await resolver.resolve(name)
            assert answer.addresses[0] == "127.0.0.1"
            assert "127.99.99.99" not in answer.addresses
            assert len(answer.addresses) == (16 if speech is Speech.CROWD else 1)
        assert not resolver.known("stranger.h0.sim.test")
        over_udp = sum(question.transport == "udp" for question in web.questions())
        assert over_udp == 6
        # Over TCP c-ares tells of connections, which both questions for a name may share.
        counted = resolver.statistics.queries
        assert counted == len(web.questions()) or over_udp < counted < len(web.questions())

    before(world(name_speech=speech), run, tmp_path, body, first_wait=10.0)


def test_aliases_that_go_round(run, tmp_path):
    async def body(resolver: CaresResolver, web: Hosting) -> None:
        answer = await resolver.resolve("h0.sim.test")
        assert (answer.fault, answer.detail) == (Fault.NAME_NOT_FOUND, "CNAME loop")

    before(world(name_speech=Speech.LOOP), run, tmp_path, body, first_wait=10.0)


def test_a_server_that_dies_and_returns(run, tmp_path):
    """What is asked for meanwhile fails after its attempts; afterwards everything resolves again."""
    control = tmp_path / "control"

    async def body(resolver: CaresResolver, web: Hosting) -> None:
        assert (await resolver.resolve("h0.sim.test")).fault is None
        control.write_text(Speech.SILENT)
        meanwhile = await asyncio.gather(*map(resolver.resolve, names_of(10)))
        assert meanwhile[0].fault is None
        assert {answer.detail for answer in meanwhile[1:]} == {"time-out"}
        assert not resolver.known("h1.sim.test")
        control.unlink()
        after = await asyncio.gather(*map(resolver.resolve, names_of(10)))
        assert all(answer.fault is None for answer in after)

    before(world(), run, tmp_path, body, first_wait=0.3, attempts=2, failure_ttl=0)
