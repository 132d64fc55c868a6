"""What an agent does when shards move: freezes and hands over, takes in, inherits, drops."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import islice

from gossamer.cluster.agent.link_exchange import Parts
from gossamer.cluster.agent.outbox import OURS
from gossamer.cluster.agent.peer_states import PeerStates, Range, is_corrupt
from gossamer.cluster.agent.transfer import ShardImport, Transfer
from gossamer.cluster.protocol import Covered, Damaged, Freeze, Grant, Inherit, Take, unpack
from gossamer.cluster.snapshots.manifest import DamagedError
from gossamer.cluster.snapshots.snapshooter import Snapshooter
from gossamer.engine.in_thread import in_thread
from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import after_prefix
from gossamer.state.object_store import MissingError

SETTLED_SECONDS = 0.05
AGAIN_SECONDS = 5.0
ADMITTED_AT_ONCE = 250
LONGEST_REASON = 300


class MoveExecutor:
    """Does what grants ask for, one thing after the other, each only once however often it is granted."""

    def __init__(
        self, parts: Parts, snapshooter: Snapshooter, states: PeerStates, bits: int, *, new: bool
    ) -> None:
        """`new`: nothing is here."""
        self._parts = parts
        self._states = states
        self._snapshooter = snapshooter
        crawl = parts.built.crawl
        self._transfer = Transfer(
            crawl.parts.frontier,
            parts.built.environment,
            crawl.parts.settlement.held,
            bits=bits,
            canonical=parts.built.identity.canonical,
            arrived=(parts.built.rejudging.doubt, crawl.parts.pace.took_in),
        )
        self._grant: Grant | None = None
        self._gained: set[int] = set()
        self._asleep: set[int] = set()  # of them, those of which something may be here
        self._dropped: set[int] = set()
        self._clean = set(range(1 << bits)) if new else set[int]()  # shards of which nothing is here
        self._frozen: dict[int, Covered] = {}
        self._imported: dict[int, Covered] = {}
        self._damaged: dict[int, Damaged] = {}
        self._suspected: set[int] = set()  # moves, the snapshots of which could not be used at the first try
        self._tries = Counter[int]()  # of moves to here
        self._come = asyncio.Event()
        self._working = False
        self._stopping = False
        self.stopped = False
        """Told to stop, all leases are settled, and the last snapshot is taken."""
        self.problem = ""

    @property
    def busy(self) -> bool:
        """Something is to be done, or under way."""
        return self._working or self._come.is_set()

    @property
    def frozen(self) -> tuple[Covered, ...]:
        """Moves from here that are in a snapshot, as long as they are granted."""
        return tuple(self._frozen.values())

    @property
    def imported(self) -> tuple[Covered, ...]:
        """Moves and inheritances to here that are in a snapshot, as long as they are granted."""
        return tuple(self._imported.values())

    @property
    def damaged(self) -> tuple[Damaged, ...]:
        """Moves and inheritances to here whose snapshot cannot be used, as long as they are granted."""
        return tuple(self._damaged.values())

    def give(self, grant: Grant, gained: set[int], given_away: set[int]) -> None:
        """A grant that counts, by which shards are ours from now on, and others may be deleted."""
        self._grant = grant
        self._gained |= gained
        self._asleep |= gained - self._clean
        freezes = {freeze.move for freeze in grant.freezes}
        self._frozen = {move: done for move, done in self._frozen.items() if move in freezes}
        self._snapshooter.promise(self._promised())
        imports = {take.move for take in grant.takes} | {inherit.move for inherit in grant.inherits}
        self._imported = {move: done for move, done in self._imported.items() if move in imports}
        self._damaged = {move: told for move, told in self._damaged.items() if move in imports}
        self._suspected &= imports
        self._tries = Counter({move: tries for move, tries in self._tries.items() if move in imports})
        self._clean -= gained
        self._dropped = given_away - self._clean
        self._stopping = bool(grant.stop)
        if not grant.stop:
            self.stopped = False
        if self._todo() is not None:
            self._come.set()

    async def run(self) -> None:
        """Do what the coordinator orders until cancelled."""
        while True:
            await self._come.wait()
            self._working = True
            self._come.clear()
            try:
                while (do := self._todo()) is not None:
                    await do()
            except StorageError as error:
                self.problem = str(error)
                self._come.set()
                await asyncio.sleep(AGAIN_SECONDS)
            else:
                self.problem = ""
            finally:
                self._working = False

    def _todo(self) -> Callable[[], Awaitable[None]] | None:
        grant = self._grant
        if grant is None:
            return None
        if self._gained:
            return self._enter
        for freeze in grant.freezes:
            # Frozen by a process before this one: what is read of them is in the snapshot.
            if freeze.move not in self._frozen and not freeze.snapshot:
                return partial(self._freeze, freeze)
        if self._dropped:
            return self._drop
        done = self._imported.keys() | self._damaged.keys()
        moves: list[Take | Inherit] = [*grant.takes, *grant.inherits]
        # What was tried in vain comes after all others: it may be so for minutes.
        for move in sorted(moves, key=lambda move: self._tries[move.move]):
            if move.move not in done:
                return partial(self._move_in, move)
        if self._stopping and not self.stopped:
            return self._rest
        return None

    def _promised(self) -> set[int]:
        """Snapshots of ours that others read, also from moves of a process before this one, or would now."""
        promised = {done.snapshot for done in self._frozen.values()}
        if self._grant is not None:
            promised.add(self._grant.snapshot)
            promised.update(freeze.snapshot for freeze in self._grant.freezes)
        return promised

    async def _enter(self) -> None:
        """Begin with shards that are ours now; seeds of theirs that nobody admitted yet are admitted."""
        asleep, self._asleep, self._gained = self._asleep, set(), set()
        crawl = self._parts.built.crawl
        if asleep:
            await self._transfer.wake_up(asleep)
        crawl.seed(self._parts.built.seeds)
        crawl.parts.dispatch.pump_or_fail()

    async def _freeze(self, freeze: Freeze) -> None:
        """Have all that was lent of the shards settled, and in a snapshot."""
        shards, leases_held = set(unpack(freeze.shards)), self._parts.leases_held
        serving = self._parts.built.crawl.parts.frontier.serving
        while any(leases_held.shard(host) in shards for host in serving.visited_now()):  # noqa: ASYNC110 - rare
            await asyncio.sleep(SETTLED_SECONDS)
        self._frozen[freeze.move] = Covered(freeze.move, await self._snapshooter.take(doubted=freeze.doubted))
        self._snapshooter.promise(self._promised())

    async def _drop(self) -> None:
        dropped, self._dropped = self._dropped, set()
        await self._transfer.drop(dropped)
        self._parts.inbox.forget(dropped)
        self._clean |= dropped

    async def _move_in(self, move: Take | Inherit) -> None:
        self._tries[move.move] += 1
        if isinstance(move, Take):
            await self._take(move)
        else:
            await self._inherit(move)

    async def _take(self, take: Take) -> None:
        """Import the shards, and have them in a snapshot of our own."""
        shards = set(unpack(take.shards))
        if take.agent:
            self._clean -= shards
            wanted = ShardImport(take.agent, take.snapshot, tuple(sorted(shards)))
            ranges = self._transfer.read_for(shards)
            if not await self._read(take, ranges, partial(self._transfer.take_in, take=wanted)):
                return
        elif dirty := shards - self._clean:  # they begin anew, and what came of them cannot be used
            await self._transfer.drop(dirty)
        self._parts.inbox.forget(shards)
        self._imported[take.move] = Covered(take.move, await self._snapshooter.take())

    async def _inherit(self, inherit: Inherit) -> None:
        """Bring in what a lost agent still owed to others; what they have already is seen there."""
        ranges = [(Family.OUTBOX, OURS, after_prefix(OURS))]
        if await self._read(inherit, ranges, self._bring_in):
            self._imported[inherit.move] = Covered(inherit.move, await self._snapshooter.take())

    async def _bring_in(self, source: Environment) -> None:
        built = self._parts.built
        owed = source.scan(Family.OUTBOX, prefix=OURS)
        while some := list(islice(owed, ADMITTED_AT_ONCE)):
            with built.crawl.parts.frontier.changes():
                for _, data in some:
                    self._parts.router.bring_in(data, built.crawl.parts.admission, built.robots)
            await asyncio.sleep(0)

    async def _read(
        self, move: Take | Inherit, ranges: list[Range], do: Callable[[Environment], Awaitable[None]]
    ) -> bool:
        """`do` with the state of another agent; `False` if it cannot be used, and the coordinator is told.

        Raises:
            StorageError: try again.
        """
        grant = self._grant
        assert grant is not None
        named = {take.agent for take in grant.takes} | {inherit.agent for inherit in grant.inherits}
        await in_thread(self._states.keep_only, named | {move.agent})
        try:
            source = await in_thread(self._states.open, move.agent, move.snapshot, ranges)
            try:
                await do(source)
            except StorageError as error:
                if self._states.is_ours(error):
                    await in_thread(self._states.fetch_anew, move.agent, move.snapshot)
                raise
            finally:
                source.close()
        except StorageError as error:
            unusable = isinstance(error, DamagedError | MissingError) or is_corrupt(error)
            if not unusable or str(self._parts.built.environment.path) in str(error):
                raise
            await self._doubt(move, error)
            return False
        return True

    async def _doubt(self, move: Take | Inherit, error: StorageError) -> None:
        """Tell the coordinator that a snapshot cannot be used, once a second try has shown it.

        Raises:
            StorageError: it was the first.
        """
        await in_thread(self._states.fetch_anew, move.agent, move.snapshot)
        if move.move not in self._suspected:
            self._suspected.add(move.move)
            raise error
        ours = self._snapshooter.latest or await self._snapshooter.take()
        older = await in_thread(self._states.older, move.agent, move.snapshot, ours)
        self._damaged[move.move] = Damaged(move.move, move.snapshot, older, str(error)[:LONGEST_REASON])

    async def _rest(self) -> None:
        """Settle what is lent, and have all of it in a last snapshot."""
        while self._parts.built.crawl.parts.frontier.lent:  # noqa: ASYNC110 - once in a crawl
            await asyncio.sleep(SETTLED_SECONDS)
        await self._snapshooter.take()
        self.stopped = self._stopping
