"""What a cluster is started with, and what each agent is told of it."""

from pathlib import Path

import msgspec

from gossamer.assembly.private import private_folder
from gossamer.cluster.agent.agent import Order
from gossamer.cluster.coordination.record import CoordinationConfig
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, parse_toml
from gossamer.inspect.clusters.cluster_folder import agents_of
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.object_store import Store


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One cluster, as its coordinator and all its agents know it.

    Attributes:
        cluster: its name in Ray.
        config: TOML of the crawl.
        seeds: text, one a line.
        folder: of the cluster; agents have theirs in `agents` below it, on their own machines.
        store: address of the snapshot store.
        secret: key of the fingerprints, 16 bytes.
        coordination: how many agents, shards, pages.
        cores: each agent takes, as Ray counts them.
        snapshot_every: seconds.
        keep: snapshots kept.
        shared_digests: agents tell each other what content they have met.
    """

    cluster: str
    config: str
    seeds: str
    folder: str
    store: str
    secret: bytes
    coordination: CoordinationConfig
    cores: float = 1.0
    snapshot_every: float = 60.0
    keep: int = 3
    shared_digests: bool = False


KEPT = "plan"
"""Object in the store with the plan."""


def keep_plan(plan: Plan) -> None:
    """Put the plan into its store.

    Whoever begins reads it there: as an argument Ray could lose it, if it is long (many seeds), with the
    machine it was made on, and would then start nothing again.

    Raises:
        StorageError: the store refuses.
    """
    Store(plan.store).put(KEPT, msgspec.msgpack.encode(plan))


def kept_plan(store: str) -> Plan:
    """The plan in the store at an address.

    Raises:
        StorageError: it is not there, or the store cannot be read.
    """
    data = Store(store).get(KEPT)
    if data is None:
        raise StorageError(f"{store}: holds no plan of a cluster. Start again by 'gossamer cluster resume'.")
    return msgspec.msgpack.decode(data, type=Plan)


def order_of(plan: Plan, slot: int) -> Order:
    """What the agent in `slot` is told.

    Raises:
        ConfigError: its configuration makes no sense on this machine.
    """
    folder = agents_of(Path(plan.folder))
    private_folder(folder)
    seeds = folder / f"slot-{slot}.seeds"
    seeds.write_text(plan.seeds, encoding="utf-8")
    config = load(CrawlConfig, parse_toml(plan.config))
    # Limits of the whole crawl are the coordinator's to share out.
    budget = msgspec.structs.replace(config.budget, max_pages=0, max_bytes=0, max_time=0.0)
    config = msgspec.structs.replace(config, seeds=(), seeds_file=str(seeds), seeds_watch="", budget=budget)
    return Order(
        config=config,
        bits=plan.coordination.bits,
        secret=plan.secret,
        folder=folder,
        slot=f"slot-{slot}",
        store=plan.store,
        snapshot_every=plan.snapshot_every,
        keep=plan.keep,
        shared_digests=plan.shared_digests,
    )


def refuse(config: CrawlConfig) -> None:
    """See that nothing is asked for that agents cannot do together.

    Raises:
        ConfigError: what, and what to do instead.
    """
    problems = []
    if config.frontier.visited != "exact":
        problems.append(
            "frontier.visited: a Bloom table cannot forget, so a shard that comes back from a snapshot would "
            'lose URLs; leave it at "exact"'
        )
    if config.seeds_watch:
        problems.append("seeds_watch: a cluster does not watch a file; leave it out")
    if config.storage.upload:
        problems.append(
            "storage.upload: a cluster keeps snapshots in a store of its own (--store); leave it out"
        )
    if config.demand.stay:
        problems.append("demand.stay: a cluster fetches nothing on demand; leave it out")
    if config.budget.by_domain:
        problems.append("budget: budgets by domain are kept by each agent for itself; leave them out")
    if problems:
        raise ConfigError(*problems)
