"""Ray's processes: one that coordinates, one for each agent."""

import asyncio
import contextlib
import os
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NoReturn, TypeVar

import msgspec
import ray
import uvloop

from gossamer.assembly.private import keep_private
from gossamer.cluster.agent.agent import Agent
from gossamer.cluster.agent.shard_leases import boot_clock
from gossamer.cluster.coordination.overview import Overview
from gossamer.cluster.coordination.placement import place
from gossamer.cluster.coordination.terms import DeposedError, Terms
from gossamer.cluster.orders import Plan, kept_plan, order_of
from gossamer.cluster.protocol import Fenced, Grant, Host, Registered, Report
from gossamer.engine.heap import few_arenas, seldom_collect, spare_what_stays
from gossamer.model.errors import GossamerError, StorageError
from gossamer.model.reasons.reason import Reason
from gossamer.state.object_store import Store

NAMESPACE = "gossamer"
TICK_SECONDS = 0.5
CHECK_SECONDS = 1.0
"""Between two looks whether another coordinator has begun. What this one still grants must have ended when
the other gives shards away: `TenureConfig` leaves 2.6 s for both the look and the store's answer."""
FAILED = 75
"""Exit status of a process whose crawl failed (EX_TEMPFAIL): another may try."""
CALL_SECONDS = 5.0
RETIRE_LOOKS = 60
"""One a tick: as long a drained agent may take to close its files."""
DELIVER_SECONDS = 60.0
CALLS_AT_ONCE = 16
PAUSE_SECONDS = 5.0
"""Before a process whose crawl failed is gone, so that what fails at once is not started without end."""

T = TypeVar("T")
_encode = msgspec.msgpack.encode
_answers = msgspec.msgpack.Decoder(Grant | Fenced)


def coordinator_name(cluster: str) -> str:
    """The actor's name in Ray."""
    return f"{cluster}-coordinator"


def slot_name(cluster: str, slot: int) -> str:
    """Name in Ray of the actor in a slot, whoever it is as an agent."""
    return f"{cluster}-slot-{slot}"


class CoordinatorActor:
    """Serves `Coordination`, keeps its state in the store, starts and ends the agents' processes.

    Ray restarts it where it died; it goes on from the store. Deposed by another one, in a Ray cluster that
    does not know of this one, it decides and answers nothing any more, but tells who asks for the overview.
    """

    def __init__(self, store: str, resumed: bool) -> None:
        keep_private()
        # Here, because whoever reaches an actor imports its class: agents need not have numpy for it.
        from gossamer.cluster.coordination.coordination import Coordination

        self._plan = kept_plan(store)
        self._terms = Terms(Store(store))
        term, data = self._terms.begin()
        now = boot_clock()  # from here on: whoever answered agents before may have done so until just now
        if data is None:
            self._core = Coordination.new(self._plan.coordination, now, term)
        else:
            self._core = Coordination.load(data, now, term)
            if resumed and not ray.get_runtime_context().was_current_actor_reconstructed:
                self._core.resume(now, self._plan.coordination)
        if self._core.dirty:
            self._terms.save(self._core.data())
            self._core.saved()
        self._saving = asyncio.Lock()
        self._problem = ""
        self._deposed = False
        self._slots: dict[str, int] = {}  # agent -> slot
        self._started: dict[int, Any] = {}
        self._placed: dict[int, str] = {}  # slot -> name of the machine where it was to begin
        self._retiring: dict[int, asyncio.Task[None]] = {}
        loop = asyncio.get_event_loop()
        self._working = [loop.create_task(self._guarded(work)) for work in (self._tick(), self._watch())]

    async def register(self, host: bytes, has_state_of: str, slot: int) -> bytes:
        """A new process of an agent asks for its grant."""
        self._still_in_office()
        there = msgspec.structs.replace(msgspec.msgpack.decode(host, type=Host), slot=slot)
        registered = self._core.register(there, has_state_of or None, boot_clock())
        self._slots[registered.name] = slot
        await self._save()
        return _encode(registered)

    async def renew(self, report: bytes, slot: int) -> bytes:
        """An agent reports and is told what it holds from now on."""
        self._still_in_office()
        told = msgspec.msgpack.decode(report, type=Report)
        answer = self._core.renew(told, boot_clock())
        if isinstance(answer, Grant):
            self._slots[told.agent] = slot
        return _encode(answer)

    async def slot(self, agent: str) -> int:
        """Where an agent lives; 0 if that is not known yet."""
        return self._slots.get(agent, 0)

    async def overview(self) -> bytes:
        """The cluster as of now, packed `Overview`."""
        overview = self._core.overview(boot_clock())
        return _encode(msgspec.structs.replace(overview, problem=self._problem))

    async def scale_to(self, agents: int) -> None:
        """Have this number of agents; surplus ones hand over and leave."""
        self._still_in_office()
        self._core.scale_to(agents)
        await self._save()

    async def drain(self, name: str) -> int:
        """Have one agent hand over its shards and leave."""
        self._still_in_office()
        drained = self._core.drain(name)
        await self._save()
        return drained

    async def stop(self, reason: Reason) -> None:
        """Have all agents end their crawls and leave."""
        self._still_in_office()
        self._core.stop(reason)
        await self._save()

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - agents renew on, but nobody would be missed any more
            traceback.print_exception(error)  # into Ray's log of this process
            os._exit(FAILED)

    async def _tick(self) -> None:
        while not self._deposed:
            self._core.tick(boot_clock())
            with contextlib.suppress(GossamerError):  # tried again with the next tick
                await self._save()
            if not self._deposed:
                self._staff()
            await asyncio.sleep(TICK_SECONDS)

    async def _watch(self) -> None:
        """Learn of another coordinator also while there is nothing to save."""
        while not self._deposed:
            await asyncio.sleep(CHECK_SECONDS)
            with contextlib.suppress(GossamerError):
                async with self._saving:
                    await self._ask_store(self._terms.check)

    async def _save(self) -> None:
        """Have the store keep what was decided; it may take its time, agents renew meanwhile."""
        async with self._saving:
            self._still_in_office()
            if self._core.dirty:
                data = self._core.data()
                try:
                    await self._ask_store(self._terms.save, data)
                except StorageError as error:
                    self._problem = f"what it decides cannot be saved: {error}"
                    raise
                self._core.saved()
                self._problem = ""

    async def _ask_store(self, ask: Callable[..., None], *arguments: bytes) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(None, ask, *arguments)
        except DeposedError as error:
            self._deposed, self._problem = True, str(error)
            raise

    def _still_in_office(self) -> None:
        if self._deposed:
            raise DeposedError(self._problem)

    def _staff(self) -> None:
        """Have as many processes as are wanted, and see off those of drained agents."""
        for slot in self._core.wanted_slots:
            if slot not in self._started:
                strategy, self._placed[slot] = place(self._agents_by_node(), self._plan.cores)
                self._started[slot] = _start_agent(self._plan, slot, strategy)
        for slot in self._core.retired_slots:
            if slot not in self._retiring:
                self._placed.pop(slot, None)
                self._retiring[slot] = asyncio.get_running_loop().create_task(self._retire(slot))

    def _agents_by_node(self) -> Counter[str]:
        """How many agents there are, or will be, on each machine."""
        return Counter({**self._placed, **self._core.nodes}.values())

    async def _retire(self, slot: int) -> None:
        """End the process of a drained agent once it has closed what it wrote."""
        with contextlib.suppress(ConnectionError):  # a coordinator before this one saw to it
            actor = await _found(slot_name(self._plan.cluster, slot))
            for _ in range(RETIRE_LOOKS):
                try:
                    if await answered(actor.ended.remote(), CALL_SECONDS):
                        break
                except (ConnectionError, TimeoutError):
                    break  # its node went first; lest Ray start it elsewhere
                await asyncio.sleep(TICK_SECONDS)
            kill = partial(ray.kill, actor, no_restart=True)
            await asyncio.get_running_loop().run_in_executor(None, kill)


def _start_agent(plan: Plan, slot: int, strategy: Any) -> Any:
    options = {
        "name": slot_name(plan.cluster, slot),
        "namespace": NAMESPACE,
        "get_if_exists": True,
        "lifetime": "detached",
        "max_restarts": -1,
        "max_concurrency": CALLS_AT_ONCE,
        "num_cpus": plan.cores,
        "scheduling_strategy": strategy,
    }
    return ray.remote(AgentActor).options(**options).remote(plan.store, slot)


class AgentActor:
    """An agent in a thread with its own event loop, so that Ray and the crawl do not wait on each other."""

    def __init__(self, store: str, slot: int) -> None:
        keep_private()
        seldom_collect()
        few_arenas()
        self._loop = uvloop.new_event_loop()
        self._ended: Future[Reason] = Future()
        try:
            plan = kept_plan(store)
            self._agent = Agent(order_of(plan, slot), RayLinks(plan.cluster, slot), _die_in)
        except Exception as error:  # noqa: BLE001 - Ray starts dead processes anew, but no actor whose constructor raised
            _die_of(error)
        spare_what_stays()  # Ray's modules, too
        threading.Thread(target=self._live, name="crawl", daemon=True).start()

    def _live(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._ended.set_result(self._loop.run_until_complete(self._agent.live()))
        except Exception as error:  # noqa: BLE001 - told to whoever asks, and then another process may try
            self._ended.set_exception(error)
            _die_of(error)

    def deliver(self, data: bytes) -> bytes:
        """A packed batch of another agent; the packed answer."""
        if not self._loop.is_running():
            raise ConnectionError("the agent is not up yet")
        return asyncio.run_coroutine_threadsafe(self._agent.receive(data), self._loop).result(DELIVER_SECONDS)

    def consult(self, data: bytes) -> bytes:
        """A packed question of another agent about content; the packed answer."""
        if not self._loop.is_running():
            raise ConnectionError("the agent is not up yet")
        return asyncio.run_coroutine_threadsafe(self._agent.consult(data), self._loop).result(CALL_SECONDS)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """What the crawl's control socket answers."""
        return asyncio.run(self._agent.ask(method, params))

    def ended(self) -> str:
        """Why the crawl is over; empty while it is not."""
        return str(self._ended.result()) if self._ended.done() else ""


def _die_of(error: Exception) -> NoReturn:
    """Leave the slot to another process, after a while."""
    traceback.print_exception(error)  # into Ray's log of this process
    time.sleep(PAUSE_SECONDS)
    os._exit(FAILED)


def _die_in(seconds: float) -> None:
    """A timer of the kernel: it strikes though the process hangs, or was stopped, before that runs again."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


class RayLinks:
    """Calls to coordinator and other agents over Ray (`agent.Links`)."""

    def __init__(self, cluster: str, slot: int) -> None:
        self._cluster = cluster
        self._slot = slot
        self._coordinator: Any = None
        self._agents: dict[str, Any] = {}

    async def register(self, host: Host, has_state_of: str) -> Registered:
        """A new process of an agent asks for its grant."""
        packed = await self._ask(lambda actor: actor.register.remote(_encode(host), has_state_of, self._slot))
        return msgspec.msgpack.decode(packed, type=Registered)

    async def renew(self, report: Report) -> Grant | Fenced:
        """An agent reports and is told what it holds from now on."""
        packed = await self._ask(lambda actor: actor.renew.remote(_encode(report), self._slot))
        answer: Grant | Fenced = _answers.decode(packed)
        return answer

    async def deliver(self, agent: str, data: bytes) -> bytes:
        """Give another agent a batch of messages; its answer."""
        return await self._tell(agent, lambda actor: actor.deliver.remote(data), DELIVER_SECONDS)

    async def consult(self, agent: str, data: bytes) -> bytes:
        """Ask another agent whether it has met contents."""
        return await self._tell(agent, lambda actor: actor.consult.remote(data), CALL_SECONDS)

    async def _tell(self, agent: str, call: Callable[[Any], Any], seconds: float) -> bytes:
        actor = self._agents.get(agent)
        if actor is None:
            slot = await self._ask(lambda coordinator: coordinator.slot.remote(agent))
            actor = self._agents[agent] = await _found(slot_name(self._cluster, slot))
        try:
            reply: bytes = await answered(call(actor), seconds)
        except (ConnectionError, TimeoutError):
            self._agents.pop(agent, None)
            raise
        return reply

    async def _ask(self, call: Callable[[Any], Any]) -> Any:
        if self._coordinator is None:
            self._coordinator = await _found(coordinator_name(self._cluster))
        try:
            return await answered(call(self._coordinator), CALL_SECONDS)
        except ConnectionError:
            self._coordinator = None
            raise


async def _found(name: str) -> Any:
    """The handle of a named actor."""
    try:
        return await asyncio.get_running_loop().run_in_executor(
            None, lambda: ray.get_actor(name, namespace=NAMESPACE)
        )
    except (ValueError, ray.exceptions.RayError) as error:
        raise ConnectionError(f"{name}: {error}") from None


async def answered(reference: Any, seconds: float) -> Any:
    """The value of a Ray reference, in any event loop.

    Raises:
        ConnectionError: who should have answered cannot be reached, or failed.
        TimeoutError: it took longer.
    """
    waiting: Awaitable[Any] = asyncio.wrap_future(reference.future())
    try:
        return await asyncio.wait_for(waiting, seconds)
    except ray.exceptions.RayError as error:
        raise ConnectionError(str(error).strip().rpartition("\n")[2]) from None


def decode_overview(data: bytes) -> Overview:
    """An `Overview` as it travels."""
    return msgspec.msgpack.decode(data, type=Overview)
