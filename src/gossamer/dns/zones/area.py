"""The collision area: places of names in descending weight."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from operator import attrgetter

import msgspec

from gossamer.dns.zones.kept import Kept
from gossamer.dns.zones.weight import weigh

Rank = tuple[float, str]
"""Sorts places: the weight, negative because the heaviest stands first, then the name."""

BLOCK = 512
"""Places in a block, on average."""


class Place(msgspec.Struct, gc=False, eq=False):
    """A name's place: its answer, its weight and the name it belongs to.

    Attributes:
        kept: the last answer.
        seconds: how long the last resolution took.
        accessed: wall time of the last access.
        rank: where the place stands; changes only outside the area.
    """

    kept: Kept
    seconds: float
    accessed: float
    rank: Rank = (0.0, "")

    def __post_init__(self) -> None:
        self.weigh()

    @property
    def name(self) -> str:
        """The name the place belongs to."""
        return self.rank[1]

    @property
    def weight(self) -> float:
        """By `weight.weigh`, as of the last access."""
        return -self.rank[0]

    def weigh(self) -> None:
        """Work out a name's rank anew."""
        answer = self.kept.answer
        self.rank = (-weigh(self.seconds, answer.ttl, self.accessed), answer.name)


_RANK = attrgetter("rank")


class CollisionArea:
    """Keeps places in descending weight, in blocks, so that a change moves some hundred places, not all.

    Invariants: ranks ascend within a block and from block to block; no block is empty or holds more than
    `2 * BLOCK` places.
    """

    def __init__(self) -> None:
        self._blocks: list[list[Place]] = []
        self._lasts: list[Rank] = []  # rank of each block's last place
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Place]:
        for block in self._blocks:
            yield from block

    def __repr__(self) -> str:
        return f"<CollisionArea {self._size} places in {len(self._blocks)} blocks>"

    @property
    def lightest(self) -> Place:
        """The last place. There must be one."""
        return self._blocks[-1][-1]

    def add(self, place: Place) -> None:
        """Take in a place; there must be none of its rank."""
        self._size += 1
        if not self._blocks:
            self._blocks.append([place])
            self._lasts.append(place.rank)
            return
        at = min(bisect_left(self._lasts, place.rank), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, place, key=_RANK)
        if len(block) > 2 * BLOCK:
            self._blocks[at : at + 1] = block[:BLOCK], block[BLOCK:]
            self._lasts[at : at + 1] = block[BLOCK - 1].rank, block[-1].rank
        else:
            self._lasts[at] = block[-1].rank

    def remove(self, place: Place) -> None:
        """Give up a place of the area."""
        at = bisect_left(self._lasts, place.rank)
        block = self._blocks[at]
        index = bisect_left(block, place.rank, key=_RANK)
        assert block[index] is place, place
        self._size -= 1
        del block[index]
        if block:
            self._lasts[at] = block[-1].rank
        else:
            del self._blocks[at], self._lasts[at]

    def heavier(self, than: Rank | None) -> list[Place]:
        """Some of the next heavier places before a rank (`None`: the lightest of all), in order; or none."""
        if than is None:
            return list(self._blocks[-1]) if self._blocks else []
        at = bisect_left(self._lasts, than)
        index = bisect_left(self._blocks[at], than, key=_RANK) if at < len(self._blocks) else 0
        if index:
            return self._blocks[at][:index]
        return list(self._blocks[at - 1]) if at else []

    def clear(self) -> None:
        """Give up every place in the area."""
        self._blocks.clear()
        self._lasts.clear()
        self._size = 0
