"""Moves shards between the states of two agents: out of a snapshot, into a frontier that goes on working."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from gossamer.cluster.agent.digest_table import digest_range
from gossamer.cluster.agent.outbox import inbox_prefix
from gossamer.cluster.ranges import shard_of, spans
from gossamer.engine.fault_points import fault_point
from gossamer.engine.in_thread import in_thread
from gossamer.engine.settlement.drop_one import TESTS
from gossamer.frontier.arrivals import FAMILIES, Arrivals, Origin, wake
from gossamer.frontier.departures import Departures
from gossamer.frontier.frontier import Frontier
from gossamer.model.url import Url
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import after_prefix
from gossamer.state.records import CLOCK, ClockRecord, decode, decode_domain, encode

Arrived = Callable[[Environment, int, Batch], None]
"""(the other state, the last arrival number in it, batch) -> None: hosts of it are here now."""

IMPORT = b"import/"
"""Begins keys in `meta` of imports that were begun and are not granted yet."""
SLICE = 400
"""Entries of one commit: some milliseconds."""
SLICE_BYTES = 512 << 10

Entry = tuple[bytes, bytes]
Range = tuple[Family, bytes, bytes]
"""Keys of a family from the first up to, but not including, the second; to the end if that is empty."""


class ShardImport(msgspec.Struct, frozen=True, array_like=True):
    """What is to be imported: `shards` from snapshot `snapshot` of `agent`."""

    agent: str
    snapshot: int
    shards: tuple[int, ...]


class Import(msgspec.Struct, frozen=True, array_like=True):
    """An import that was begun here, as `meta` has it, also after a kill; kept until `wake_up` or `drop`.

    Attributes:
        take: what.
        shift: microseconds from the other crawl clock to ours.
        step, cursor: it goes on behind this key of this range.
        complete: all of it is here.
    """

    take: ShardImport
    shift: int
    step: int = 0
    cursor: bytes = b""
    complete: bool = False


class Transfer:
    """Takes shards in and out of a live frontier, in slices of some milliseconds.

    One call at a time. Call `Inbox.forget(shards)` after `take_in` and `drop`.

    A take walks through the host families in key order, then the digests that agents share. Each slice is one
    commit, with the key behind which the next one goes on; so a kill costs nothing, and each entry comes in
    once. A drop walks the other way round and needs no cursor, for what it has done is gone.
    """

    def __init__(
        self,
        frontier: Frontier,
        environment: Environment,
        held: asyncio.Lock,
        *,
        bits: int,
        canonical: Callable[[Url], str],
        arrived: Sequence[Arrived] = (),
    ) -> None:
        """Args:
        environment: of the frontier.
        held: `Settlement.held`; each slice holds it, so that it never joins a half-made batch.
        bits: of the host hash that make the shard.
        canonical: as `Identity` has it; needed where the visited table is a Bloom filter.
        arrived: told of what came in: URLs that another scope admitted, pages that do not come again yet.
        """
        self._frontier = frontier
        self._environment = environment
        self._held = held
        self._bits = bits
        self._canonical = canonical
        self._arrived = arrived

    def imports(self) -> list[Import]:
        """Imports that were begun here and neither granted (`wake_up`) nor dropped."""
        return [decode(data, Import) for _, data in self._environment.scan(Family.META, prefix=IMPORT)]

    def read_for(self, shards: Collection[int]) -> list[Range]:
        """What `take_in` reads of its source."""
        return [*self._ranges(shards), (Family.META, b"", b"")]

    # In …

    async def take_in(self, source: Environment, take: ShardImport) -> None:
        """Import what `source` (a state in which `read_for` can be read) has of the shards.

        Idempotent: after a kill call it again, it goes on where it was; once complete it does nothing. What
        is here of these shards beforehand is removed first. Hosts first rest their own rest from now on.
        `HostPolicy.owns` must say no until the shards are granted; then call `wake_up`.

        Raises:
            StorageError: the source cannot be read, or the disk refuses.
        """
        known = self._environment.get(Family.META, _import_key(take))
        going = decode(known, Import) if known else None
        if going is None or set(going.take.shards) != set(take.shards):
            await self.drop(take.shards)
            going = Import(take, self._shift(source))
            async with self._held:
                self._note(going)
            fault_point("import.begun")
        if going.complete:
            return
        arrivals = Arrivals(self._frontier, Origin(source, take.agent, going.shift), self._canonical)
        ranges = self._ranges(going.take.shards)
        for step in range(going.step, len(ranges)):
            going = await self._take_range(source, ranges[step], going, arrivals)
        async with self._held:
            self._finish(source, going, arrivals)
        fault_point("import.complete")

    def _shift(self, source: Environment) -> int:
        data = source.get(Family.META, CLOCK)
        return self._frontier.micros() - int(decode(data, ClockRecord).crawl * 1e6) if data else 0

    async def _take_range(
        self, source: Environment, where: Range, going: Import, arrivals: Arrivals
    ) -> Import:
        family, start, end = where
        theirs = self._theirs(going.take.shards)
        start = max(start, going.cursor + b"\0") if going.cursor else start
        while entries := await in_thread(_read, source, family, start, end):
            going = msgspec.structs.replace(going, cursor=entries[-1][0])
            async with self._held:
                with self._frontier.changes() as batch:
                    for key, value in entries:
                        if family is not Family.DOMAINS:
                            arrivals.put(family, key, value, batch)
                        elif theirs(self._domain_host(value)):
                            arrivals.put_domain(value)
                    batch.put(Family.META, _import_key(going.take), encode(going))
            fault_point("import.slice")
            await asyncio.sleep(0)
            start = going.cursor + b"\0"
        return msgspec.structs.replace(going, step=going.step + 1, cursor=b"")

    def _finish(self, source: Environment, going: Import, arrivals: Arrivals) -> None:
        theirs = self._theirs(going.take.shards)
        Departures(self._frontier).begin(theirs)  # what was looked up in between is read again
        with self._frontier.changes() as batch:
            for tell in self._arrived:
                tell(source, arrivals.sequence, batch)
            self._note(msgspec.structs.replace(going, complete=True))

    # Out …

    async def wake_up(self, shards: Collection[int]) -> None:
        """The shards are ours now: their hosts are visited when they fall due, without the gate's delay."""
        for span in spans(shards, self._bits):
            start = span.start
            while entries := await in_thread(_read, self._environment, Family.HOSTS, start, span.end):
                async with self._held:
                    with self._frontier.changes() as batch:
                        for key, _ in entries:
                            self._wake(key, batch)
                await asyncio.sleep(0)
                start = entries[-1][0] + b"\0"
        async with self._held:
            self._forget_imports(set(shards))

    def _wake(self, key: bytes, batch: Batch) -> None:
        frontier = self._frontier
        if key not in frontier.serving.schedule.served and frontier.hosts.get(key) is not None:
            wake(frontier, key, frontier.hosts.change(key, ""), batch)

    async def drop(self, shards: Collection[int]) -> None:
        """Delete what is here of `shards`, which are given away; may be called again after a kill.

        Captures, the archive and its own digests stay.

        Raises:
            InternalError: a host of them has a lease out.
        """
        gone = set(shards)
        for begun in self.imports():
            # Of an import that is not complete nothing is of use, so that it can begin anew.
            if not begun.complete and gone & set(begun.take.shards):
                gone |= set(begun.take.shards)
        departures, theirs = Departures(self._frontier), self._theirs(gone)
        async with self._held:
            departures.begin(theirs)
            self._forget_imports(gone)
        for family, start, end in reversed(self._ranges(gone)):
            cursor: bytes | None = start
            while cursor is not None:
                async with self._held:
                    # Read while nobody changes it; what is deleted is not stepped over again.
                    entries = _read(self._environment, family, cursor, end)
                    if entries:
                        self._drop_slice(family, entries, departures, theirs)
                fault_point("drop.slice")
                await asyncio.sleep(0)
                cursor = entries[-1][0] + b"\0" if entries else None

    def _drop_slice(
        self,
        family: Family,
        entries: Iterable[Entry],
        departures: Departures,
        theirs: Callable[[bytes], bool],
    ) -> None:
        with self._frontier.changes() as batch:
            for key, value in entries:
                if family is not Family.DOMAINS:
                    departures.delete(family, key, value, batch)
                elif theirs(self._domain_host(value)):
                    departures.delete_domain(decode_domain(value).name, batch)

    # Both …

    def _ranges(self, shards: Collection[int]) -> list[Range]:
        """All that belongs to some shards, in the order in which it comes in; hosts after what is theirs."""
        bounds = spans(shards, self._bits)
        *others, hosts = ([(family, *span) for span in bounds] for family in FAMILIES)
        tests = after_prefix(TESTS)
        inbox = [inbox_prefix(shard) for shard in sorted(set(shards))]
        return [
            *(each for family in others for each in family),
            # A domain goes with the host of its own name.
            (Family.DOMAINS, b"", b""),
            *((Family.META, TESTS + span.start, TESTS + span.end if span.end else tests) for span in bounds),
            *((Family.OUTBOX, prefix, after_prefix(prefix)) for prefix in inbox),
            *hosts,
            # Of no host. Last, so that an import which an older version began goes on where it was.
            *((Family.DIGESTS, *digest_range(span)) for span in bounds),
        ]

    def _theirs(self, shards: Collection[int]) -> Callable[[bytes], bool]:
        """Tells whether a key that begins with the hash of a host lies in some shards."""
        wanted, bits = frozenset(shards), self._bits
        return lambda key: shard_of(key, bits) in wanted

    def _domain_host(self, value: bytes) -> bytes:
        return self._frontier.host_hash(decode_domain(value).name)

    def _note(self, going: Import) -> None:
        with self._frontier.changes() as batch:
            batch.put(Family.META, _import_key(going.take), encode(going))

    def _forget_imports(self, shards: set[int]) -> None:
        with self._frontier.changes() as batch:
            for begun in self.imports():
                take = begun.take
                if shards & set(take.shards):
                    batch.delete(Family.META, _import_key(take))
                    if begun.complete and (left := tuple(s for s in take.shards if s not in shards)):
                        rest = msgspec.structs.replace(take, shards=left)
                        kept = msgspec.structs.replace(begun, take=rest)
                        batch.put(Family.META, _import_key(rest), encode(kept))


def _import_key(take: ShardImport) -> bytes:
    return IMPORT + f"{take.agent}/{take.snapshot:08d}".encode()


def _read(environment: Environment, family: Family, start: bytes, end: bytes) -> list[Entry]:
    """The next entries of a range, as many as make a commit."""
    found, size = [], 0
    for entry in environment.scan(family, start, end=end):
        found.append(entry)
        size += len(entry[1])
        if len(found) == SLICE or size > SLICE_BYTES:
            break
    return found
