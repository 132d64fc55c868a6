"""Starts a cluster on Ray, goes on with one, reaches one that runs."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import msgspec
import ray

from gossamer.assembly.private import private_folder
from gossamer.assembly.seeds import Seeds
from gossamer.cluster.actors import (
    NAMESPACE,
    CoordinatorActor,
    coordinator_name,
    decode_overview,
    slot_name,
)
from gossamer.cluster.address import NothingRunsError
from gossamer.cluster.coordination.overview import Overview
from gossamer.cluster.coordination.record import CoordinationConfig
from gossamer.cluster.orders import Plan, keep_plan, refuse
from gossamer.cluster.ray_settings import hide_token
from gossamer.cluster.snapshots.collection import Collected, Part, collect
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import to_toml
from gossamer.inspect.clusters.cluster_folder import agents_of
from gossamer.inspect.clusters.cluster_questions import ADDRESS, PLAN
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import Reason
from gossamer.state.object_store import Store
from gossamer.state.whole_files import write_whole

HEAD = "node:__internal_head__"
"""What only Ray's head node has. The coordinator stays beside Ray's own record of who is alive: on a node
that is cut off it would go on granting leases there, while Ray starts another one elsewhere."""
LOOK_SECONDS = 1.0
CALL_SECONDS = 10.0
OVER_SECONDS = 30.0
"""That agents have to close their archives when the crawl is over."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asks a cluster to be.

    Attributes:
        agents: how many.
        address: of a Ray cluster that runs; empty: one is started on this machine, for as long as the crawl.
        store: address of the snapshot store; empty: a folder in that of the cluster.
        cores: each agent takes, as Ray counts them.
        snapshot_every: seconds.
        shared_digests: agents tell each other what content they have met.
    """

    agents: int
    address: str = ""
    store: str = ""
    cores: float = 1.0
    snapshot_every: float = 60.0
    shared_digests: bool = False


def plan_new(folder: Path, config: CrawlConfig, wish: Wish) -> Plan:
    """Make the folder of a new cluster.

    Raises:
        ConfigError: seeds or settings make no sense, or the folder is taken.
    """
    refuse(config)
    seeds = Seeds(config)
    seeds.prove()
    if (folder / PLAN).exists():
        raise ConfigError(
            f"{folder}: holds another cluster's crawl. Go on with it by '{command_line('cluster', 'resume', folder)}', "
            "or choose another --dir."
        )
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(f"{folder}: is not an empty folder. Choose another --dir.")
    private_folder(folder)
    plan = Plan(
        cluster=f"gossamer-{os.urandom(4).hex()}",
        config=to_toml(msgspec.structs.replace(config, seeds=(), seeds_file="")),
        seeds="".join(f"{text}\n" for text in seeds.texts()),
        folder=str(folder.resolve()),
        store=wish.store or str(folder.resolve() / "store"),
        secret=os.urandom(16),
        coordination=_coordination(config, wish.agents),
        cores=wish.cores,
        snapshot_every=wish.snapshot_every,
        shared_digests=wish.shared_digests,
    )
    _keep(folder, plan)
    return plan


def _coordination(config: CrawlConfig, agents: int) -> CoordinationConfig:
    budget = config.budget
    return CoordinationConfig(
        agents=agents,
        max_pages=budget.max_pages,
        max_bytes=budget.max_bytes,
        max_time=budget.max_time,
    )


def plan_again(folder: Path, agents: int | None) -> Plan:
    """The plan of the cluster in `folder`, perhaps with another number of agents.

    Raises:
        ConfigError: there is none, or it is damaged.
    """
    plan = plan_of(folder)
    if agents is not None and agents != plan.coordination.agents:
        coordination = msgspec.structs.replace(plan.coordination, agents=agents)
        plan = msgspec.structs.replace(plan, coordination=coordination)
        _keep(folder, plan)
    return plan


def _keep(folder: Path, plan: Plan) -> None:
    path = folder / PLAN
    write_whole(path, msgspec.json.encode(plan))


def plan_of(folder: Path) -> Plan:
    """The plan of the cluster in `folder`.

    Raises:
        ConfigError: there is none, or it is damaged.
    """
    try:
        return msgspec.json.decode((folder / PLAN).read_bytes(), type=Plan)
    except FileNotFoundError:
        raise ConfigError(
            f"{folder}: holds no cluster's crawl. Start one with 'gossamer cluster crawl SEED --dir DIR'."
        ) from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{folder / PLAN}: is damaged ({error}). Restore it from a copy.") from None


@contextmanager
def connected(folder: Path, address: str, agents: float = 0) -> Iterator[None]:
    """Be in a Ray cluster: that at `address`, or one of our own on this machine, which ends with the block.

    Raises:
        ConfigError: there is none.
    """
    hide_token()  # one that is there; what Ray makes is for us alone by the umask
    options: dict[str, Any] = {"namespace": NAMESPACE, "log_to_driver": False, "logging_level": "error"}
    if address:
        options["address"] = address
    else:
        cores = max(os.cpu_count() or 1, int(agents) + 1)
        options |= {"num_cpus": cores, "include_dashboard": False}
    try:
        ray.init(**options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(f"Ray cannot be reached at {address or 'this machine'}: {error}") from None
    try:
        write_whole(folder / ADDRESS, ray.get_runtime_context().gcs_address)
        with redirect_stdout(sys.stderr):  # where Ray tells of lost processes, from a thread of its own
            yield
    finally:
        ray.shutdown()
        if not address:
            (folder / ADDRESS).unlink(missing_ok=True)


class Control:
    """A cluster that runs, from outside.

    Methods raise `ConnectionError` while the coordinator does not answer, because Ray starts it anew, say.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._actors: dict[int, Any] = {}
        try:
            self._coordinator: Any = ray.get_actor(coordinator_name(plan.cluster), namespace=NAMESPACE)
        except ValueError:
            raise NothingRunsError(
                f"{plan.folder}: its cluster does not run. '{command_line('cluster', 'resume', plan.folder)}' goes on."
            ) from None

    @classmethod
    def begin(cls, plan: Plan, *, resumed: bool) -> "Control":
        """Start the coordinator, which starts the agents."""
        options = {
            "name": coordinator_name(plan.cluster),
            "namespace": NAMESPACE,
            "get_if_exists": True,
            "lifetime": "detached",
            "max_restarts": -1,
            "max_task_retries": 3,
            "num_cpus": 0,
            "resources": {HEAD: 0.001},
        }
        remote: Any = ray.remote(CoordinatorActor)
        keep_plan(plan)
        actor = remote.options(**options).remote(plan.store, resumed)
        ray.get(actor.overview.remote(), timeout=60)
        return cls(plan)

    def overview(self) -> Overview:
        """The cluster as of now."""
        return decode_overview(self._answer("overview"))

    def stop(self, reason: Reason) -> None:
        """Have all agents stop, each with a last snapshot."""
        self._answer("stop", reason)

    def scale_to(self, agents: int) -> None:
        """Have more agents, or fewer, also after a stop."""
        self._answer("scale_to", agents)
        plan_again(Path(self._plan.folder), agents)

    def drain(self, name: str) -> int:
        """Move everything off an agent, or off all agents of a node; how many agents that are."""
        drained: int = self._answer("drain", name)
        if drained:
            plan_again(Path(self._plan.folder), self.overview().wanted_agents)
        return drained

    def _answer(self, method: str, *arguments: Any) -> Any:
        try:
            asked = getattr(self._coordinator, method).remote(*arguments)
            return ray.get(asked, timeout=CALL_SECONDS)
        except (ray.exceptions.RayError, TimeoutError) as error:
            raise ConnectionError(str(error).strip().rpartition("\n")[2]) from None

    def ask_all(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """What each live agent's crawl answers, by its name; `None` for those that cannot be reached now."""
        return self.ask_agents(self.overview(), method, params, CALL_SECONDS)

    def ask_agents(
        self, overview: Overview, method: str, params: dict[str, Any], patience: float
    ) -> dict[str, Any]:
        """As `ask_all`, of the agents in an overview; all are asked at once.

        Args:
            overview: of late.
            method, params: as the control socket of a crawl takes them.
            patience: seconds that each of both steps may take: to find the agents, and to wait for them.
        """
        names = [agent.name for agent in overview.agents if agent.state in ("live", "draining")]
        slots = _within(patience, {name: self._coordinator.slot.remote(name) for name in names})
        actors = {name: self._actor(slot) for name, slot in slots.items() if slot}
        asked = {
            name: actor.ask.remote(method, params) for name, actor in actors.items() if actor is not None
        }
        found = _within(patience, asked)
        for name in asked.keys() - found.keys():
            self._actors.pop(slots[name], None)  # another may have taken the name by the next time
        return {name: found.get(name) for name in names}

    def _actor(self, slot: int) -> Any | None:
        """The actor in a slot, which stays the same however often its process begins anew."""
        if slot not in self._actors:
            try:
                name = slot_name(self._plan.cluster, slot)
                self._actors[slot] = ray.get_actor(name, namespace=NAMESPACE)
            except (ray.exceptions.RayError, ValueError):  # ValueError: there is none
                return None
        return self._actors[slot]

    def wait(self, tell: Callable[[Overview], None]) -> Overview:
        """Until the crawl is over; `tell` hears how things stand, every second."""
        while True:
            try:
                overview = self.overview()
            except ConnectionError:
                time.sleep(LOOK_SECONDS)
                continue
            tell(overview)
            if overview.over:
                return overview
            time.sleep(LOOK_SECONDS)

    def end(self, overview: Overview, tell: Callable[[str], None]) -> None:
        """Let all processes end, once they have closed what they wrote; `tell` hears who did not."""
        ends = time.monotonic() + OVER_SECONDS
        for slot in range(1, overview.wanted_agents + len(overview.agents) + 1):
            try:
                actor: Any = ray.get_actor(slot_name(self._plan.cluster, slot), namespace=NAMESPACE)
            except ValueError:
                continue
            try:
                while not ray.get(actor.ended.remote(), timeout=CALL_SECONDS) and time.monotonic() < ends:
                    time.sleep(0.1)
            except ray.exceptions.RayTaskError as error:
                tell(f"an agent did not end well: {str(error).strip().rpartition(chr(10))[2]}")
            except (ray.exceptions.RayError, TimeoutError):
                pass  # it has no process: its node is gone, and there is no room on others
            ray.kill(actor, no_restart=True)
        ray.kill(self._coordinator, no_restart=True)


def _within(seconds: float, asked: dict[str, Any]) -> dict[str, Any]:
    """What the references by name turn out to be; those that fail or take longer are left out."""
    if not asked:
        return {}
    ready, _ = ray.wait(list(asked.values()), num_returns=len(asked), timeout=seconds)
    done, found = set(ready), {}
    for name, reference in asked.items():
        if reference in done:
            with suppress(ray.exceptions.RayError, OSError):
                found[name] = ray.get(reference)
    return found


def collected(plan: Plan, overview: Overview) -> Collected:
    """Index what all agents have archived; folders of this machine, else snapshots."""
    store = Store(plan.store)
    folder = agents_of(Path(plan.folder))
    parts = []
    for agent in overview.agents:
        path = folder / agent.name
        if agent.state != "lost" and path.exists():
            parts.append(Part(agent.name, folder=path))
        elif agent.snapshot:
            parts.append(Part(agent.name, snapshot=agent.snapshot))
    return collect(parts, Path(plan.folder), store)
