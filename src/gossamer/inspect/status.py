"""What `gossamer status` tells of a crawl, or of all crawls of a cluster."""

from typing import Literal

import msgspec

from gossamer.assembly.report import Summary
from gossamer.assembly.revisits import RevisitSums, revisit_sums
from gossamer.assembly.twins import TwinSites
from gossamer.inspect.clocks import wall_clock
from gossamer.inspect.freshness import FreshnessSums
from gossamer.inspect.hosts import HostCount, HostItem, host_item
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.lag import Lag
from gossamer.inspect.queue.count import QueueCount
from gossamer.inspect.queue.levels import LevelSizes
from gossamer.inspect.queue.sizes import DomainSizes
from gossamer.model.reasons.reason import Reason, sentence
from gossamer.state.environment import Family
from gossamer.state.records import REVISIT, RevisitRecord, decode, decode_host

HOSTS_LISTED = 20


class AgentLine(msgspec.Struct, frozen=True):
    """One agent of a cluster as `status` shows it."""

    name: str
    state: str
    pages: int
    queued: int
    waiting: int


class Status(msgspec.Struct, frozen=True):
    """What is known of a crawl from its state."""

    folder: str
    sums: Summary
    hosts_by_state: dict[str, int]
    hosts: list[HostItem]
    domains: DomainSizes | None = None  # only if asked for
    levels: LevelSizes | None = None
    state: Literal["running", "paused", "ended", "broken off"] = "running"
    ended: str = ""  # the reason, if it ended by itself
    why: Reason | None = None  # the same as a value
    last: float = 0.0  # wall time of the last change to its log
    agents: list[AgentLine] = []  # of a cluster
    absent: list[str] = []  # agents that are left out, and what to do, a sentence each
    freshness: FreshnessSums | None = None  # of a crawl that visits pages again; only if asked for
    revisit: RevisitSums | None = None  # if it visits again, or did
    twins: list[TwinSites] = []  # names that show one site
    followers: list[Lag] = []  # how far what is made of its archive is behind


def status_of(inspection: Inspection, *, queues: bool = False) -> Status:
    """Sums, and the hosts with the most work left; some 3 us for each host.

    Args:
        queues: also how much is left by domain and by level, and how fresh it is, which takes up to a second
            more.
    """
    now, config = inspection.clock.micros(), inspection.config
    hosts = HostCount(lambda: now, ("queued",), HOSTS_LISTED, states=False)
    queue = QueueCount(inspection.environment, config, inspection.counters) if queues else None
    again = []
    for key, data in inspection.environment.scan(Family.HOSTS):
        record = decode_host(data)
        hosts.add(key, record)
        if record.heads:
            again.append((record.heads, record.activity))
        if queue is not None:
            queue.add(key, record)
    if queue is not None:
        queue.finish()
    sizes = queue.sizes() if queue is not None else None
    return Status(
        str(inspection.folder.path),
        inspection.sums(),
        hosts.by_state,
        [host_item(record, now, config) for record in hosts.largest("queued")],
        sizes.by_domain if sizes is not None else None,
        sizes.by_level if sizes is not None else None,
        state=inspection.state,
        ended=sentence(inspection.ended),
        why=inspection.ended,
        last=inspection.last,
        agents=[
            AgentLine(name, part.state, part.counters.pages, part.counters.queued, part.counters.waiting)
            for name, part in inspection.each.items()
            if name
        ],
        absent=[one.text for one in inspection.absent],
        freshness=inspection.freshness().sums if queues else None,
        revisit=_revisit(inspection, again),
        twins=inspection.twins(),
        followers=inspection.followers(),
    )


def _revisit(inspection: Inspection, hosts: list[tuple[bytes, bytes]]) -> RevisitSums | None:
    """How visits again fare, by what hosts keep of their classes."""
    data = inspection.environment.get(Family.META, REVISIT)
    record = decode(data, RevisitRecord) if data else None
    now = wall_clock(inspection.environment).now()
    return revisit_sums(record, inspection.config.revisit, inspection.counters.enrolled, hosts, now)
