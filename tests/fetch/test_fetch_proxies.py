"""Several proxies for one place: which a site keeps to, which are left out, and that no answer changes the way."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fetch_servers import failed, fetched, fetching, lease, serving
from test_fetch_proxy import Proxy, proxying

from gossamer.fetch.config import MOST_PROXIES, FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import HttpModule
from gossamer.fetch.post import PostAnswer, post_by
from gossamer.fetch.proxies import FIRST_REST, LONGEST_REST, PATIENCE, SOON, TRIAL, Proxies, ProxySeen, shown
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome

POOL = ("http://u:w0rd@a.example:1", "socks5h://b.example:2", "https://c.example:3")
SITES = [f"site{number}.example" for number in range(300)]
DOWN = Failed(Fault.PROXY_DOWN, "refused")


class World:
    def __init__(self) -> None:
        self.now = 1000.0
        self.told: list[str] = []
        self.proxies = Proxies(self.told.append, lambda: self.now)

    def ways(self, *hosts: str) -> list[str | Failed]:
        return [self.proxies.choose(POOL, host) for host in hosts]

    def fail(self, proxy: str, times: int = 1) -> Failed:
        return [self.proxies.failed(proxy, self.now, DOWN) for _ in range(times)][-1]

    def left_out(self) -> dict[str, float]:
        return {one.proxy: one.left_out for one in self.proxies.seen() if one.left_out}


def test_a_site_keeps_to_one_and_all_have_their_share() -> None:
    ways = World().ways(*SITES)
    assert ways == World().ways(*SITES), "also in another session"
    assert all(60 < ways.count(proxy) < 140 for proxy in POOL)
    assert len(set(World().ways("www.site.example", "log-in.site.example", "site.example"))) == 1
    assert World().proxies.choose((), "site.example") == ""


def test_only_the_sites_of_one_that_is_left_out_move_and_they_come_back() -> None:
    world = World()
    before = world.ways(*SITES)
    assert world.fail(POOL[0], PATIENCE - 1).wait == SOON
    assert world.ways(*SITES) == before, "not for what may be a moment"
    world.fail(POOL[0])
    after = world.ways(*SITES)
    assert POOL[0] not in after
    assert [new for old, new in zip(before, after, strict=True) if old != POOL[0]] == [
        old for old in before if old != POOL[0]
    ]
    moved = [new for old, new in zip(before, after, strict=True) if old == POOL[0]]
    assert min(moved.count(POOL[1]), moved.count(POOL[2])) > len(moved) / 4, "to the next by hash, not to one"
    world.now += FIRST_REST
    first = SITES[before.index(POOL[0])]
    assert world.ways(first, first) == [POOL[0], after[SITES.index(first)]], "one tries it, the others go on"
    world.proxies.stood(POOL[0])
    assert world.ways(*SITES) == before


def test_the_time_doubles_and_has_an_end() -> None:
    world, proxy = World(), POOL[1]
    site = next(site for site in SITES if world.ways(site) == [proxy])
    world.fail(proxy, PATIENCE)
    rests = []
    for _ in range(7):
        rests.append(world.left_out()[shown(proxy)])
        world.now += rests[-1]
        assert world.ways(site) == [proxy]
        world.fail(proxy)
    assert rests == [30.0, 60.0, 120.0, 240.0, 480.0, 600.0, LONGEST_REST]
    assert world.told == ["socks5h://b.example:2 is left out for a while: refused"], "once"
    world.now += LONGEST_REST
    assert world.ways(site) == [proxy]
    world.now += TRIAL
    assert world.ways(site) == [proxy], "whoever tried it was never heard of again"


def test_visits_that_were_under_way_say_what_is_known() -> None:
    world = World()
    began = world.now
    world.ways("site.example")
    for _ in range(50):
        world.proxies.failed(POOL[0], began, DOWN)
        world.now += 0.1
    assert world.proxies.seen()[0] == ProxySeen("http://a.example:1", PATIENCE, 25.2)


def test_a_success_between_them_and_it_stays() -> None:
    world = World()
    for _ in range(5):
        world.fail(POOL[0], PATIENCE - 1)
        world.proxies.stood(POOL[0])
    assert not world.left_out() and not world.told


def test_where_all_are_down_visits_wait_for_the_first() -> None:
    world = World()
    for proxy in POOL:
        world.fail(proxy, PATIENCE)
        world.now += 1
    (way,) = world.ways("site.example")
    assert isinstance(way, Failed) and (way.fault, way.wait) == (Fault.PROXY_DOWN, FIRST_REST - 3)
    assert way.detail == "http://a.example:1, socks5h://b.example:2, https://c.example:3"
    world.now += FIRST_REST - 3
    ways = world.ways("site.example", "other.example")
    assert ways[0] == POOL[0] and isinstance(ways[1], Failed) and ways[1].wait <= TRIAL
    world.proxies.stood(POOL[0])
    assert world.ways("site.example", "other.example") == [POOL[0]] * 2


def test_no_password_is_shown() -> None:
    world = World()
    world.ways("site.example")
    said = world.fail(POOL[0], PATIENCE)
    assert [one.proxy for one in world.proxies.seen()] == [
        "http://a.example:1",
        "https://c.example:3",
        "socks5h://b.example:2",
    ]
    assert "w0rd" not in f"{said} {world.proxies.seen()} {world.told}"
    assert shown("http://u:p@[2001:db8::1]:3128/path?key=k") == "http://[2001:db8::1]:3128"


def test_several_in_one_setting() -> None:
    assert FetchConfig(proxy="http://a:1\n  socks5h://b:2\n").proxies == ("http://a:1", "socks5h://b:2")
    with pytest.raises(ValueError, match=r"^proxy: number 2 of 2 must be http[^\n]*$") as caught:
        FetchConfig(proxy="http://a:1 ftp://me:s3cret@b:2")
    assert "s3cret" not in str(caught.value)
    with pytest.raises(ValueError, match="socks5h instead"):
        FetchConfig(proxy="socks5h://a:1 socks5://b:2", names_by_proxy=True)
    with pytest.raises(ValueError, match="at most"):
        FetchConfig(proxy=" ".join(f"http://a:{port}" for port in range(1, MOST_PROXIES + 2)))


NAMES = dict.fromkeys(SITES[:30], ("127.0.0.1",))


def pooled(*ports: int, **more: Any) -> dict[str, Any]:
    pool = " ".join(f"http://me:s3cret@127.0.0.1:{port}" for port in ports)
    return {"table": NAMES, "proxy": pool, **more}


async def visit(module: HttpModule, host: str) -> Outcome:
    return await module.fetch(lease(f"http://{host}/"))


def test_one_that_dies_is_left_out_and_the_rest_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with proxying(Proxy()) as one, contextlib.AsyncExitStack() as mortal:
            two = await mortal.enter_async_context(proxying(Proxy()))
            async with fetching(tmp_path, **pooled(one.port, two.port)) as module:
                for host in [*NAMES, *NAMES]:
                    assert isinstance(await visit(module, host), Fetched)
                hosts = [{head.split()[1] for head in proxy.heads} for proxy in (one, two)]
                assert len(hosts[0]) + len(hosts[1]) == len(NAMES) and all(hosts)
                assert len(one.heads) + len(two.heads) == 2 * len(NAMES)
                await mortal.aclose()
                outcomes = [await visit(module, host) for host in [*NAMES, *NAMES]]
                faults = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
                assert [(one.fault, one.wait) for one in faults] == [(Fault.PROXY_DOWN, SOON)] * PATIENCE
                assert f"127.0.0.1:{two.port}" in str(faults[0].detail)
                assert "s3cret" not in f"{faults} {module.proxies()}"
                assert [bool(one.left_out) for one in module.proxies()] == [True, False]

    asyncio.run(main())


@pytest.mark.parametrize("status", [b"429 Slow", b"403 No", b"503 Later"])
def test_no_answer_of_an_origin_changes_the_way(status: bytes, tmp_path: Path) -> None:
    async def main() -> None:
        reply = b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n"
        async with (
            serving(reply) as one,
            serving(reply) as two,
            fetching(tmp_path, **pooled(one.port, two.port)) as module,
        ):
            for _ in range(4 * PATIENCE):
                assert (await fetched(module, "http://site1.example/")).status == int(status[:3])
            assert sorted((len(one.requests), len(two.requests))) == [0, 4 * PATIENCE]
            assert not any(seen.failures for seen in module.proxies())

    asyncio.run(main())


def test_a_refused_tunnel_is_of_the_host_and_changes_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        no = b"HTTP/1.1 502 No\r\n\r\n"
        async with (
            proxying(Proxy(connect_reply=no)) as one,
            proxying(Proxy(connect_reply=no)) as two,
            fetching(tmp_path, **pooled(one.port, two.port)) as module,
        ):
            for _ in range(2 * PATIENCE):
                assert (await failed(module, "https://site1.example/")).fault is Fault.PROXY
            assert sorted((len(one.heads), len(two.heads))) == [0, 2 * PATIENCE]

    asyncio.run(main())


def test_one_that_knows_us_no_more_is_left_out(tmp_path: Path) -> None:
    async def main() -> None:
        who = b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
        async with (
            serving(who) as one,
            proxying(Proxy()) as two,
            fetching(tmp_path, **pooled(one.port, two.port)) as module,
        ):
            outcomes = [await visit(module, host) for host in NAMES]
            assert sum(isinstance(outcome, Failed) for outcome in outcomes) == PATIENCE
            assert len(one.requests) == PATIENCE

    asyncio.run(main())


def test_one_that_forgets_us_now_and_then_stays(tmp_path: Path) -> None:
    """Neither do refused tunnels count, which show that it is there."""

    async def main() -> None:
        async with (
            proxying(Proxy()) as proxy,
            fetching(tmp_path, **pooled(proxy.port)) as module,
        ):
            for kind in (Fault.PROXY_DOWN, Fault.PROXY_DOWN, Fault.PROXY) * 3:
                proxy.connect_reply = b"HTTP/1.1 %d No\r\n\r\n" % (502 if kind is Fault.PROXY else 407)
                assert (await failed(module, "https://site1.example/")).fault is kind
            assert [one.left_out for one in module.proxies()] == [0.0]

    asyncio.run(main())


def test_one_that_is_slow_to_reach_an_origin_is_not_down(tmp_path: Path) -> None:
    async def main() -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with fetching(tmp_path, **pooled(port, connect_timeout=0.05)) as module:
            assert (await failed(module, "https://site1.example/")).fault is Fault.PROXY
            assert not any(seen.failures for seen in module.proxies())
        server.close()

    asyncio.run(main())


@pytest.mark.parametrize("dead", [True, False])
def test_a_message_goes_by_a_proxy_that_can_be_used(dead: bool, closed_port: int) -> None:
    """To a hub, which is no visit: by the same rule, one that refuses or is gone is passed over."""

    async def main() -> None:
        who = b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"
        taken = b"HTTP/1.1 202 Taken\r\nContent-Length: 0\r\n\r\n"
        async with serving(who) as bad, serving(taken) as good:
            first = f"http://me:s3cret@127.0.0.1:{closed_port if dead else bad.port}"
            config = FetchConfig(proxy=f"{first} http://127.0.0.1:{good.port}")
            proxies = Proxies()
            host = next(host for host in SITES if proxies.choose(config.proxies, host) == first)

            async def told(config: FetchConfig) -> PostAnswer:
                guard = AddressGuard(config)
                return await asyncio.to_thread(
                    post_by, proxies, f"http://{host}/hub", b"x=1", {}, config, guard
                )

            assert (await told(config)).status == 202
            assert len(bad.requests) == (0 if dead else PATIENCE)
            assert [one.left_out > 0 for one in proxies.seen()] == [True, False]
            assert (await told(config)).status == 202
            assert (len(bad.requests), len(good.requests)) == (0 if dead else PATIENCE, 2)
            alone = await told(FetchConfig(proxy=first))
            assert (alone.status, alone.proxy_down) == (0, False)
            assert "no proxy can be used: http://127.0.0.1:" in alone.detail and "s3cret" not in alone.detail

    asyncio.run(main())


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Nobody listens there, and nobody else is given it meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])
