"""Agents of a cluster in one event loop, with plain calls in the place of Ray."""

import asyncio
import contextlib
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from patience import PATIENCE
from whole_crawl import QUICK

from gossamer.cluster.agent.agent import Agent, Order
from gossamer.cluster.agreement.tenure import TenureConfig
from gossamer.cluster.coordination.coordination import Coordination
from gossamer.cluster.coordination.record import CoordinationConfig
from gossamer.cluster.protocol import Fenced, Grant, Host, Registered, Report
from gossamer.cluster.snapshots import snapshots
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge
from gossamer.simweb import SimulatedWeb
from gossamer.state.object_store import Store

SECRET = b"sixteen secrets!"
TENURE = TenureConfig(lease=5.0, end=8.0, exit=0.5, give_away=10.0)
TICK = 0.1
BITS = 6


@dataclass
class World:
    """A cluster in this process."""

    path: Path
    config: CrawlConfig
    core: Coordination
    agents: dict[int, Agent] = field(default_factory=dict)
    tasks: dict[int, asyncio.Task[str]] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    """Slots that nobody can reach, and that reach nobody."""
    ends: dict[int, asyncio.TimerHandle] = field(default_factory=dict)
    shared_digests: bool = False

    def start(self, slot: int) -> None:
        order = Order(
            config=self.config,
            bits=BITS,
            secret=SECRET,
            folder=self.path / f"node-{slot}",
            slot=f"slot-{slot}",
            store=str(self.path / "store"),
            snapshot_every=1.0,
            shared_digests=self.shared_digests,
        )
        self.agents[slot] = Agent(order, Links(self, slot), partial(self._die_in, slot))
        self.tasks[slot] = asyncio.create_task(self.agents[slot].live())

    def _die_in(self, slot: int, seconds: float) -> None:
        if slot in self.ends:
            self.ends.pop(slot).cancel()
        if seconds:
            self.ends[slot] = asyncio.get_running_loop().call_later(seconds, self.tasks[slot].cancel)

    async def kill(self, slot: int) -> None:
        """End an agent in the middle of whatever it does."""
        self.tasks[slot].cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.tasks[slot]
        del self.agents[slot], self.tasks[slot]

    async def tick(self) -> None:
        while True:
            self.core.tick(_now())
            self.save()
            await asyncio.sleep(TICK)

    def save(self) -> None:
        if self.core.dirty:
            self.core.data()
            self.core.saved()

    async def until_over(self) -> list[str]:
        """The agents' reasons to end."""
        return list(await asyncio.wait_for(asyncio.gather(*self.tasks.values()), PATIENCE))


class Links:
    """`agent.Links` by plain calls."""

    def __init__(self, world: World, slot: int) -> None:
        self._world = world
        self._slot = slot

    async def register(self, host: Host, has_state_of: str) -> Registered:
        self._reach(self._slot)
        registered = self._world.core.register(host, has_state_of or None, _now())
        self._world.slots[registered.name] = self._slot
        self._world.save()
        return registered

    async def renew(self, report: Report) -> Grant | Fenced:
        self._reach(self._slot)
        return self._world.core.renew(report, _now())

    async def deliver(self, agent: str, data: bytes) -> bytes:
        self._reach(self._slot)
        slot = self._world.slots[agent]
        self._reach(slot)
        if slot not in self._world.agents:
            raise ConnectionError(agent)
        return await self._world.agents[slot].receive(data)

    async def consult(self, agent: str, data: bytes) -> bytes:
        self._reach(self._slot)
        slot = self._world.slots[agent]
        self._reach(slot)
        if slot not in self._world.agents:
            raise ConnectionError(agent)
        return await self._world.agents[slot].consult(data)

    def _reach(self, slot: int) -> None:
        if slot in self._world.cut:
            raise ConnectionError(f"slot {slot} is cut off")


def _now() -> float:
    return asyncio.get_running_loop().time()


@contextlib.asynccontextmanager
async def agents_on(
    path: Path,
    web: SimulatedWeb,
    agents: int,
    changes: dict[str, Any] | None = None,
    *,
    shared_digests: bool = False,
    **limits: Any,
):
    """A cluster that crawls `web`, of so many agents to begin with."""
    seeds = _seeds(path, web)
    settings = {"seeds_file": str(seeds), "dns": {"nameservers": [web.nameserver]}}
    config = load(CrawlConfig, merge(settings, {**QUICK, **(changes or {})}))
    plan = CoordinationConfig(bits=BITS, agents=agents, tenure=TENURE, gather=5.0, **limits)
    world = World(path, config, Coordination.new(plan, _now()), shared_digests=shared_digests)
    world.save()
    ticking = asyncio.create_task(world.tick())
    try:
        for slot in range(1, agents + 1):
            world.start(slot)
        yield world
    finally:
        ticking.cancel()
        for slot in list(world.tasks):
            await world.kill(slot)


def _seeds(path: Path, web: SimulatedWeb) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    seeds = path / "seeds.txt"
    seeds.write_text("\n".join(web.seeds))
    return seeds


def final(folders: list[Path]) -> tuple[dict[str, int], Counter]:
    """Status by URL, and how often each came to an end, over the logs of several crawl folders."""
    statuses: dict[str, int] = {}
    ends: Counter = Counter()
    for folder in folders:
        for text in (folder / "crawl.log").read_text().splitlines():
            line = json.loads(text)
            if line["kind"] == "robots":
                continue
            if line["became"] != "retry" and "status" in line:
                statuses[line["url"]] = line["status"]
            if line["became"] in ("done", "dropped"):
                ends[line["url"]] += 1
    return statuses, ends


def folders_of(world: World) -> list[Path]:
    """The crawl folders that make up the collection: of lost agents, as of their last snapshots."""
    found = []
    store = Store(str(world.path / "store"))
    for agent in world.core.overview(0.0).agents:
        if agent.state != "lost":
            found += world.path.glob(f"node-*/{agent.name}")
        elif agent.snapshot:
            found.append(world.path / "lost" / agent.name)
            snapshots.fetch(store, snapshots.read(store, agent.name, agent.snapshot), found[-1])
    return found
