"""What an agent holds by its last grants: shards, the time for which it holds them, how much it may fetch."""

from collections.abc import Callable, Collection

from gossamer.cluster.agreement.tenure import Tenure
from gossamer.cluster.protocol import NOBODY, UNLIMITED, Freeze, Grant, View, agent_number, given_away, unpack
from gossamer.cluster.ranges import shard_of
from gossamer.state.machine import since_boot


def boot_clock() -> float:
    """Seconds since the machine started, those of a suspend included."""
    return since_boot() / 1e9


class ShardLeases:
    """The agent's side of `protocol`: nothing is visited but what it says.

    Invariant: `owns` says yes only for shards of the last view that are not being frozen; `may_fetch` only
    until the lease ends, which runs from the moment the answered report was sent.
    """

    def __init__(self, bits: int, number: int, term: int, clock: Callable[[], float] = boot_clock) -> None:
        """`bits`: of a host's hash that name its shard; `number`: of the agent; `term`: as registered."""
        self._bits = bits
        self._number = number
        self._clock = clock
        self._owned = bytearray(1 << bits)
        self._frozen: frozenset[int] = frozenset()
        self._view: View | None = None
        self._owners: tuple[int, ...] = (NOBODY,) * (1 << bits)
        self.peers: dict[str, int] = {}
        self.epoch = 0
        self.answered = 0
        self.term = term
        self.snapshot = 0
        self.page_allowance = 0
        self.byte_allowance = 0
        self._tenure = Tenure()

    def owns(self, host: bytes) -> bool:
        """Whether a host, by its hash, is ours to visit."""
        return self._owned[shard_of(host, self._bits)] == 1

    def owns_shard(self, shard: int) -> bool:
        """Whether a shard is ours."""
        return self._owned[shard] == 1

    def owner(self, shard: int) -> int:
        """The number of its owner, `NOBODY` while it moves."""
        return self._owners[shard]

    def owned(self, name: str) -> int:
        """How many shards an agent owns by the last view, by its name."""
        return self._owners.count(agent_number(name))

    @property
    def shards(self) -> set[int]:
        """Ours, those that are being frozen left out."""
        return {shard for shard, mine in enumerate(self._owned) if mine}

    @property
    def lends(self) -> bool:
        """Whether leases may be given out: ours have not run out."""
        return self._tenure.may_lend(self._clock())

    @property
    def left(self) -> float:
        """Seconds until the process must be gone."""
        return self._tenure.left(self._clock())

    def counts(self, grant: Grant) -> bool:
        """Whether a grant is newer than what we go by."""
        return grant.number > self.answered and grant.term >= self.term

    def take(self, grant: Grant, sent: float) -> set[int]:
        """Go by a grant that counts, whose report was sent at `sent`; shards that have another owner now."""
        self.answered, self.term = grant.number, grant.term
        self._tenure.renewed(sent, grant.lease, grant.end)
        self.page_allowance, self.byte_allowance = grant.page_allowance, grant.byte_allowance
        self.snapshot = max(self.snapshot, grant.snapshot)
        changed = self._see(grant.view, grant.epoch) if grant.view is not None else set()
        self._freeze(grant.freezes)
        return changed

    def _see(self, view: View, epoch: int) -> set[int]:
        before, peers = self._owners, self.peers
        self._view = view
        self._owners, self.peers, self.epoch = tuple(unpack(view.owners)), view.peers, epoch
        returned = {agent_number(name) for name, life in view.peers.items() if peers.get(name) != life}
        return {
            shard
            for shard, (old, new) in enumerate(zip(before, self._owners, strict=True))
            if old != new or new in returned
        }

    def _freeze(self, freezes: Collection[Freeze]) -> None:
        self._frozen = frozenset(shard for freeze in freezes for shard in unpack(freeze.shards))
        for shard, owner in enumerate(self._owners):
            self._owned[shard] = owner == self._number and shard not in self._frozen

    def given_away(self, grant: Grant) -> set[int]:
        """Shards of which we may delete what we have, by a grant that was taken."""
        return set() if self._view is None else set(given_away(self._number, self._view, grant))

    def end(self) -> None:
        """Hold no shard any more, whatever was granted."""
        self._tenure.fenced()
        self._owned = bytearray(1 << self._bits)

    def shard(self, host: bytes) -> int:
        """The shard of a host, by its hash."""
        return shard_of(host, self._bits)

    def may_fetch(self, pages: int, received: int, lent: int) -> bool:
        """Whether one more lease may go out beside `lent`, with so many pages and bytes so far."""
        if not self.lends:
            return False
        if self.page_allowance != UNLIMITED and pages + lent >= self.page_allowance:
            return False
        return self.byte_allowance == UNLIMITED or received < self.byte_allowance
