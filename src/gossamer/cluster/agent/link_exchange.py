"""Carries messages between the agents of a cluster (W1): out of our outbox, into our frontier."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import msgspec
import zstandard

from gossamer.assembly.build import Built
from gossamer.cluster.agent.between import Applied, Batch, Entry, ShardProgress
from gossamer.cluster.agent.outbox import Counts, Inbox, Outbox
from gossamer.cluster.agent.router import Router
from gossamer.cluster.agent.shard_leases import ShardLeases
from gossamer.cluster.protocol import agent_name, agent_number
from gossamer.model.errors import GossamerError

MOST_ENTRIES = 1_000
MOST_BYTES = 256 << 10
LARGEST = 64 << 20
"""Bytes that a batch may have when it is unpacked."""
APPLIED_AT_ONCE = 250
"""Messages applied without a pause, some 20 us each, in one commit."""
LOOK_SECONDS = 0.05
ENOUGH = 500
"""Messages for which a batch sets out at once: the call costs as much as a hundred of them."""
PATIENCE_SECONDS = 2.0
"""That fewer wait for more, while there is something else to do: who has nothing else does not wait."""
AGAIN_SECONDS = 0.5
"""After which an agent that could not be reached is tried again."""
TRIM_SECONDS = 1.0
ASK_SECONDS = 5.0
"""Between two questions to owners how much of what they have applied is covered, lest it be kept for ever."""

Deliver = Callable[[str, bytes], Awaitable[bytes]]
"""(name of an agent, packed `Batch`) -> packed `Applied`; `ConnectionError` if it cannot be reached."""


class Parts(msgspec.Struct, frozen=True):
    """What the link exchange works on."""

    leases_held: ShardLeases
    router: Router
    outbox: Outbox
    inbox: Inbox
    counts: Counts
    built: Built


class LinkExchange:
    """One batch at a time is under way to each agent, so a slow one slows nobody but itself, and costs disk.

    What is owed to a shard of our own (it was another's when the message was put) is applied by the same way.
    """

    def __init__(self, name: str, incarnation: int, parts: Parts, deliver: Deliver) -> None:
        self._name = name
        self._number = agent_number(name)
        self._incarnation = incarnation
        self._parts = parts
        self._deliver = deliver
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._places_told: dict[tuple[str, int], int] = {}
        self._applying = asyncio.Lock()
        self._more = False  # a batch arrived and was full
        self._owing = True  # something may be owed
        self._asked = 0.0
        self.problem = ""
        """Why the last batch that failed did; empty once one arrives."""

    # Sending …

    async def run(self) -> None:
        """Send what is in the outbox until cancelled."""
        loop, counts = asyncio.get_running_loop(), self._parts.counts
        trimmed = looked = loop.time()
        sent = -ENOUGH
        try:
            while True:
                now = self._more or self._parts.built.crawl.parts.dispatch.quiet
                if now or counts.sent - sent >= ENOUGH or loop.time() - looked >= PATIENCE_SECONDS:
                    looked, sent, self._more = loop.time(), counts.sent, False
                    self._send_all()
                if loop.time() - trimmed >= TRIM_SECONDS:
                    self._parts.outbox.trim()
                    trimmed = loop.time()
                await self._pause()
        finally:
            for task in list(self._sending.values()):
                task.cancel()

    async def _pause(self) -> None:
        """Until there may be something to do: soon while anything is owed, else once anything is."""
        news = self._parts.outbox.news
        if not self._owing:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), TRIM_SECONDS)
        self._owing |= news.is_set()
        news.clear()
        if self._owing:
            await asyncio.sleep(LOOK_SECONDS)

    def _send_all(self) -> None:
        asks = time.monotonic() - self._asked >= ASK_SECONDS
        if asks:
            self._asked = time.monotonic()
        outbox = self._parts.outbox
        owed = outbox.shards_owed()
        self._owing = bool(owed)
        for name, shards in self._by_owner(outbox.shards_kept() if asks else owed).items():
            if name not in self._sending:
                task = asyncio.create_task(self._send(name, shards, tuple(shards) if asks else ()))
                self._sending[name] = task
                task.add_done_callback(partial(self._sent, name))

    def _sent(self, name: str, _: asyncio.Task[None]) -> None:
        self._sending.pop(name, None)

    def _by_owner(self, shards: Iterable[int]) -> dict[str, list[int]]:
        """Shards by the name of who owns them now."""
        leases_held, found = self._parts.leases_held, dict[str, list[int]]()
        if not leases_held.lends:
            return found
        for shard in shards:
            owner = leases_held.owner(shard)
            name = agent_name(owner) if owner else ""
            if name in leases_held.peers and (owner != self._number or leases_held.owns_shard(shard)):
                found.setdefault(name, []).append(shard)
        return found

    async def _send(self, name: str, shards: list[int], ask: tuple[int, ...]) -> None:
        try:
            entries = self._next_entries(shards)
            number, leases_held = agent_number(name), self._parts.leases_held
            places = self._parts.built.crawl.parts.admission.scope.hosts
            told = self._places_told.get((name, leases_held.peers[name]), 0)
            batch = Batch(
                self._name, self._incarnation, leases_held.epoch, tuple(entries), places[told:], ask
            )
            if name == self._name:
                answer = await self.apply(batch)
            else:
                packed = await self._deliver(name, pack(batch))
                answer = msgspec.msgpack.decode(packed, type=Applied)
            self.problem = ""
            if answer.heard:
                self._places_told[name, answer.incarnation] = len(places)
            for position in answer.positions:
                # Who was the owner when it was asked may be another by now, whose word counts.
                if (
                    leases_held.peers.get(name) == answer.incarnation
                    and leases_held.owner(position.shard) == number
                ):
                    self._parts.outbox.answered(position.shard, position.applied, position.covered)
            self._more |= len(entries) >= MOST_ENTRIES
            await asyncio.sleep(answer.wait if answer.positions else AGAIN_SECONDS)
        except (ConnectionError, TimeoutError) as error:
            self.problem = f"{name}: {error}"
            await asyncio.sleep(AGAIN_SECONDS)

    def _next_entries(self, shards: list[int]) -> list[Entry]:
        entries: list[Entry] = []
        size = 0
        for shard in shards:
            entries += self._parts.outbox.owed(shard, MOST_BYTES - size, MOST_ENTRIES - len(entries))
            size = sum(len(entry.data) for entry in entries)
            if size >= MOST_BYTES or len(entries) >= MOST_ENTRIES:
                break
        return entries

    # Receiving …

    async def receive(self, data: bytes) -> bytes:
        """Apply a packed `Batch` of another agent; the packed `Applied`.

        Raises:
            GossamerError: it is no such thing.
        """
        return msgspec.msgpack.encode(await self.apply(unpacked(data)))

    async def apply(self, batch: Batch) -> Applied:
        """Apply those messages that are for our shards and were not applied before."""
        parts, leases_held = self._parts, self._parts.leases_held
        async with self._applying:
            # What a process sent that is none any more would come after the crawl was found to be over.
            known = leases_held.peers.get(batch.sender) == batch.incarnation
            entries = list(batch.entries) if known else []
            if known:
                parts.built.crawl.parts.admission.add_places(batch.scope_hosts)
            while entries and leases_held.lends:
                some, entries = entries[:APPLIED_AT_ONCE], entries[APPLIED_AT_ONCE:]
                self._apply_some(batch, some)
                parts.built.crawl.parts.dispatch.pump_or_fail()
                await asyncio.sleep(0)
            inbox = parts.inbox
            positions = tuple(
                ShardProgress(shard, inbox.position(shard, batch.sender), inbox.covered(shard, batch.sender))
                for shard in sorted({entry.shard for entry in batch.entries}.union(batch.ask))
                if leases_held.owns_shard(shard)
            )
        return Applied(self._name, self._incarnation, leases_held.epoch, positions, known)

    def _apply_some(self, batch: Batch, entries: list[Entry]) -> None:
        parts, built = self._parts, self._parts.built
        inbox, admission = parts.inbox, built.crawl.parts.admission
        reached: dict[int, int] = {}
        with built.crawl.parts.frontier.changes() as changes:
            for shard, sequence, data in (
                (entry.shard, entry.sequence, entry.data)
                for entry in entries
                if parts.leases_held.owns_shard(entry.shard)
            ):
                if sequence > reached.get(shard, inbox.position(shard, batch.sender)):
                    parts.router.bring_in(data, admission, built.robots)
                    parts.counts.received += 1
                    reached[shard] = sequence
            for shard, sequence in reached.items():
                inbox.advance(shard, batch.sender, sequence, changes)
            if reached:
                parts.counts.enter(changes)

    async def close(self) -> None:
        """Let go of what is under way."""
        for task in list(self._sending.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


_compressor = zstandard.ZstdCompressor(level=1)
_decompressor = zstandard.ZstdDecompressor()
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Batch).decode


def pack(batch: Batch) -> bytes:
    """A batch as msgpack, compressed by zstd."""
    return _compressor.compress(_encode(batch))


def unpacked(data: bytes) -> Batch:
    """What `pack` made of a batch.

    Raises:
        GossamerError: it is no such thing, or larger than any batch is.
    """
    try:
        return _decode(_decompressor.decompress(data, max_output_size=LARGEST))
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise GossamerError(f"a batch of the exchange cannot be read ({error})") from None
