"""The webs that crawls are measured on, as start URLs with whatever it takes to reach them."""

import contextlib
import os
from collections.abc import Iterator, Sequence

import msgspec

from benchmarks import measure
from gossamer.simweb import SimulatedWeb, WorldSpec


class Web(msgspec.Struct, frozen=True):
    """A web that is being served.

    Attributes:
        kind: `docs`, `simweb` or `given`.
        start: URLs of front pages.
        nameserver: `address:port` that knows the names; empty where there are only addresses.
        server: process that serves it; 0 if unknown.
    """

    kind: str
    start: Sequence[str]
    nameserver: str = ""
    server: int = 0

    def server_seconds(self) -> float:
        """Processor time of the server so far."""
        return measure.cpu_seconds(self.server) if self.server else 0.0


@contextlib.contextmanager
def simulated(*, pages: int, hosts: int, page_bytes: int, core: int) -> Iterator[Web]:
    """A well-behaved simulated web on one core; every host is a seed."""
    spec = WorldSpec.plain(pages=pages, hosts=hosts, page_bytes=page_bytes)
    with SimulatedWeb(spec, log=False) as web:
        os.sched_setaffinity(web.pid, {core})
        yield Web("simweb", web.seeds, web.nameserver, web.pid)
