"""Serves made-up sites (`benchmarks.sites`) on loopback, each as a host of its own, with a name server.

`python -m benchmarks.site_web MODULE...` serves until standard input ends.
"""

import asyncio
import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from benchmarks.sites import MISSING, Site
from gossamer.simweb.servers.hosting import bind
from gossamer.simweb.servers.names import NameService, TcpNames, UdpNames
from gossamer.simweb.servers.replies import message
from gossamer.simweb.servers.server import Connection
from gossamer.simweb.servers.service import Service
from gossamer.simweb.world.resource import Naming, Reply, Request, Resource
from gossamer.simweb.world.spec import WorldSpec
from gossamer.simweb.world.world import World

FINITE = ("benchmarks.sites.archives", "benchmarks.sites.catalogues")
MIXED = ("benchmarks.sites.mixed",)
_ADDRESS = "127.0.0.1"


class Known(NamedTuple):
    """Sites, and what tells for some of them which good page a target shows."""

    sites: dict[str, Site]
    canonical: dict[str, Any]

    def good(self, name: str, target: str) -> str | None:
        """The good page of a site that a target shows, if it does."""
        shown = self.canonical[name](target) if name in self.canonical else target
        return shown if shown in self.sites[name].good else None


def load(modules: Sequence[str]) -> Known:
    """All sites of some modules."""
    known = Known({}, {})
    for module in map(importlib.import_module, modules):
        for make in module.SITES:
            site = make()
            known.sites[site.name] = site
        known.canonical.update(getattr(module, "CANONICAL", {}))
    return known


class SiteWeb:
    """The sites as the servers of the simulated web ask for them."""

    spec = WorldSpec(seed=1)

    def __init__(self, sites: dict[str, Site]) -> None:
        self._sites = {f"{name}.test": site for name, site in sites.items()}

    def find(self, host: str, target: str) -> Resource:
        """What stands at an address."""
        return Resource(speak=partial(self._speak, self._sites.get(host), target))

    def gate(self, _host: str) -> tuple[()]:
        """Nothing keeps anybody out."""
        return ()

    def naming(self, name: str) -> Naming | None:
        """Every site lies on loopback."""
        return Naming(addresses=(_ADDRESS,), ttl=3_600) if name in self._sites else None

    def _speak(self, site: Site | None, target: str, _request: Request) -> Reply:
        known = site is not None and target != "/robots.txt"
        answer = cast("Site", site).answer(target) if known else MISSING
        head = [("Content-Type", answer.media_type), *answer.headers]
        return Reply(answer.status, message(answer.status, head, answer.body))


async def serve(modules: Sequence[str]) -> None:
    """Serve until standard input ends; tells where on standard output, as the simulated web does."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    listener = bind([_ADDRESS], [], 0)[_ADDRESS]
    web = cast("World", SiteWeb(load(modules).sites))
    names = NameService(web, None)
    connections: set[Connection] = set()
    questions: set[Any] = set()
    service = Service(web)
    server = await loop.create_server(
        lambda: Connection(service, None, connections), sock=listener, backlog=4_096
    )
    # A port that is free for one protocol is often taken for the other.
    while True:
        transport, _ = await loop.create_datagram_endpoint(lambda: UdpNames(names), local_addr=(_ADDRESS, 0))
        name_port = transport.get_extra_info("sockname")[1]
        try:
            tcp = await loop.create_server(lambda: TcpNames(names, questions), _ADDRESS, name_port)
            break
        except OSError:
            transport.close()
    port = listener.getsockname()[1]
    print(json.dumps({"port": port, "nameserver": f"{_ADDRESS}:{name_port}"}), flush=True)
    loop.add_reader(sys.stdin.fileno(), stopped.set)  # our parent closes it, or dies
    await stopped.wait()
    for closing in (server, tcp):
        closing.close()
    transport.close()
    for connection in tuple(connections):
        connection.abort()


class Served(NamedTuple):
    """Where sites answer."""

    port: int
    nameserver: str

    def start(self, site: Site) -> str:
        """Where a crawl of the site begins."""
        return f"http://{site.name}.test:{self.port}{site.start}"


@contextlib.contextmanager
def served(modules: Sequence[str], core: int) -> Iterator[Served]:
    """Serve in a process of its own, on one core."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.site_web", *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    os.sched_setaffinity(process.pid, {core})
    try:
        yield Served(**json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(sys.argv[1:]))
