"""The part of one host's queue that is in memory while the host is being served."""

from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Protocol

from gossamer.model.candidate import Candidate
from gossamer.model.errors import StorageError
from gossamer.policy.branches.tree import BranchTree, Node
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import FOREVER, HASH_BYTES, branch_of, branch_range, order_of
from gossamer.state.records import HostRecord, decode_queue

Entry = tuple[bytes, Candidate]
_NEVER = 1 << 63
FIRST_FILL = 4
"""Entries read when a host comes into memory; it often leaves again after one visit. Then twice as many."""
LANE = 8
"""Entries of one branch in memory where there are several."""
_LOOK = 60_000_000
MOST_LANES = 24
"""Branches of a host with entries in memory."""


class Lane:
    """Front of the queue of one branch.

    Invariant: `buffer` is sorted by ticket and holds exactly the entries of the branch on disk that stand
        before its last one, less those lent; if `complete`, the disk holds nothing beyond buffer and lent.
    """

    __slots__ = ("buffer", "complete")

    def __init__(self, *, complete: bool) -> None:
        self.buffer: list[Entry] = []
        self.complete = complete

    def insert(self, ticket: bytes, candidate: Candidate, room: int) -> None:
        """Take note of an entry that was, or is about to be, put on disk."""
        buffer = self.buffer
        if buffer and ticket < buffer[-1][0]:
            insort(buffer, (ticket, candidate), key=_ticket_of)
        elif self.complete:
            # With nothing in the buffer only a complete lane tells that this is the front.
            buffer.append((ticket, candidate))
        if len(buffer) > 2 * room:
            del buffer[room:]
            self.complete = False

    def remove(self, ticket: bytes) -> None:
        """Take an entry out, if it is there."""
        at = bisect_left(self.buffer, ticket, key=_ticket_of)
        if at < len(self.buffer) and self.buffer[at][0] == ticket:
            del self.buffer[at]


class ComesAgain(Protocol):
    """What a queue asks of the pages of its host that come again."""

    def due_of(self, queue: "HostQueue") -> int:
        """When one is due, microseconds or 2**63."""

    def order_of(self, queue: "HostQueue") -> int:
        """Where the host stands among others by what is due of it, the lowest first."""


class HostQueue:
    """Front of a host's queue, a lane for each branch of its site, with what is lent of it.

    A host without branches has one lane. Which branch is next is decided when the first entry is asked for,
    and stays so until that is taken.
    """

    __slots__ = (
        "_again", "_number", "_site", "_tree", "_turn", "again_due", "again_seen", "awaits", "credit", "filled", "held",
        "key", "lanes", "lent", "limit", "named", "named_until", "passed", "placed", "record",
    )  # fmt: skip

    def __init__(
        self,
        key: bytes,
        record: HostRecord,
        limit: int,
        tree: Callable[[], BranchTree | None] = lambda: None,
        again: "ComesAgain | None" = None,
    ) -> None:
        """
        Args:
            tree: the branches of the host, if it has such.
            again: what is known of its pages that come again.
        """
        self.key = key
        self.record = record
        self.limit = limit  # leases at once
        self._tree = tree
        self._again = again
        self.again_seen: tuple[bytes, bytes, int] | None = None  # what `again_due` was reckoned from
        self.again_due = (0.0, 0.0)
        self.credit = 0.0  # turns that new URLs owe to pages that come again
        self.lanes: dict[int, Lane] = {}
        self._number = 0  # of the branch whose turn it is
        self._turn: Node | None = None  # that branch, until its tree is let go
        self._site: BranchTree | None = None  # of which it is
        self.filled = 0  # times that it was filled
        self.held = 0  # entries that gave way to others in this turn
        self.lent: dict[bytes, Candidate] = {}
        self.placed: int | None = None  # number of its latest heap entry; older ones are void
        self.passed = 0.0  # how far its turns have taken it, see `HostSchedule`
        self.awaits = ""  # the host name that must be answered first
        self.named, self.named_until = "", 0  # a host name whose answer is at hand until then

    def __repr__(self) -> str:
        record = self.record
        return (
            f"<HostQueue {record.name} queued {record.queued} waiting {record.waiting} lent {len(self.lent)}>"
        )

    @property
    def has_entry(self) -> bool:
        """There is something to lend now, in memory or on disk."""
        return self.record.queued - self.record.aside > len(self.lent)

    @property
    def comes_again(self) -> bool:
        """There is nothing to lend but pages that are due again, or will be."""
        return bool(self.record.heads) and not self.has_entry

    @property
    def due(self) -> int:
        """When the host may be visited next, in microseconds; 2**63 if it has nothing to lend."""
        record = self.record
        if self.has_entry:
            return record.due
        due = max(record.due, record.later_due) if record.delayed else _NEVER
        if record.heads and self._again is not None:
            due = min(due, max(record.due, self._again.due_of(self)))
        return due

    def look_at(self, now: int) -> int:
        """When to look at the host again if it is kept on disk until then, microseconds.

        What is due by worth may be due sooner when the threshold sinks, and nothing on disk hears of that: it is
        looked at after most of the time, each time anew.
        """
        due = min(self.due, FOREVER)
        if self.comes_again and now + _LOOK < due < FOREVER:
            return now + (due - now) * 3 // 4
        return due

    @property
    def first(self) -> Entry | None:
        """The next entry, if it is in memory; else `fill` brings it."""
        buffer = self._lane().buffer
        return buffer[0] if buffer else None

    @property
    def first_order(self) -> int:
        """Where the host stands among ready hosts by its next entry, as `order_of`.

        What comes again stands before what is new, who is worth most first.
        """
        if self._again is not None and self.comes_again:
            return self._again.order_of(self)
        lane = self._lane()
        return order_of(lane.buffer[0][0] if lane.buffer else self._head(self._number))

    def _lane(self) -> Lane:
        """That of the branch whose turn it is."""
        if self.record.branched:
            node, site = self._turn, self._site
            if node is None or site is None or not site.can_lend(node):
                site = self._site = self._tree()
                if site is not None:
                    node = site.nodes.get(self._number)
                    if node is None or not site.can_lend(node):
                        node = site.pick()
                        self._number = 0 if node is None else node.record.number
                    self._turn = node
        lane = self.lanes.get(self._number)
        if lane is None:
            if len(self.lanes) >= MOST_LANES:
                self.lanes.clear()
            lane = self.lanes[self._number] = Lane(complete=False)
        return lane

    def _head(self, number: int) -> bytes:
        """No entry of the branch stands before it."""
        tree = self._tree() if number else None
        return self.record.head if tree is None else tree.nodes[number].record.head

    def take(self) -> Entry:
        """Take the first entry out, to lend it or to move it away."""
        buffer = self._lane().buffer
        entry = buffer.pop(0)
        if self._site is not None and self._turn is not None:
            self._site.taken(self._turn, order_of(buffer[0][0] if buffer else entry[0]))
        return entry

    def gave_turn(self) -> None:
        """What was taken is lent: its branch has had a turn, the next one may be another's."""
        if self._site is not None and self._turn is not None:
            self._site.gave(self._turn)
            self._number, self._turn = -1, None

    def fill(self, environment: Environment, room: int) -> Entry:
        """Read the front of the next branch from disk, at most `room` entries; the first of them.

        Raises:
            StorageError: the disk holds less than the record counts.
        """
        lane = self._lane()
        if self.record.branched:
            room = min(room, LANE)
        room = min(room, FIRST_FILL << self.filled) if self.filled < 16 else room
        self.filled += 1
        lane.complete = True
        start, end = branch_range(self._number)
        start = self.key + max(start, self._head(self._number))
        for key, data in environment.scan(Family.QUEUE, start, end=self.key + end):
            place = key[HASH_BYTES:]
            if place in self.lent:
                continue
            if len(lane.buffer) == room:
                lane.complete = False
                break
            lane.buffer.append((place, decode_queue(data).candidate()))
        if not lane.buffer:
            raise StorageError(
                f"the state contradicts itself: {self!r} counts entries that are not on disk. Go back to a "
                "checkpoint with resume --from-checkpoint; if no disk was damaged, please report this."
            )
        return lane.buffer[0]

    def insert(self, ticket: bytes, candidate: Candidate, room: int) -> bool:
        """Take note of an entry that was, or is about to be, put on disk; whether it may be the first one
        now."""
        number = branch_of(ticket)
        lane = self.lanes.get(number)
        if lane is None:
            tree = self._tree()
            if (self.record if tree is None else tree.nodes[number].record).queued != 1:
                return False
            lane = self.lanes[number] = Lane(complete=True)  # there is nothing else in its branch
        lane.insert(ticket, candidate, min(room, LANE) if self.record.branched else room)
        return number in (self._number, 0) and lane.buffer[:1] == [(ticket, candidate)]

    def move(self, ticket: bytes, better: bytes, candidate: Candidate, room: int) -> bool:
        """An entry that waits moves to another place of its branch; whether the host's turn may be
        another."""
        lane = self.lanes.get(branch_of(ticket))
        if lane is None:
            return False
        first = lane.buffer[0][0] if lane.buffer else b""
        lane.remove(ticket)
        lane.insert(better, candidate, room)
        return not lane.buffer or lane.buffer[0][0] != first

    def set_head(self, settled: bytes) -> None:
        """Note the first live ticket of a branch, so that the next scan need not step over deleted entries.

        With nothing in the buffer of a lane that goes on, on disk, the head stays: a better entry may have
        come while this one was out. The next scan steps over the deleted entries, as many as a buffer holds.
        """
        number = branch_of(settled)
        lane = self.lanes.get(number)
        if lane is None or not (lane.buffer or lane.complete):
            return
        live = [place for place in self.lent if branch_of(place) == number]
        if lane.buffer:
            live.append(lane.buffer[0][0])
        head = min(live) if live else max(self._head(number), settled)
        if number == 0:
            self.record.head = head
        elif (tree := self._tree()) is not None:
            tree.nodes[number].record.head = head


def _ticket_of(entry: Entry) -> bytes:
    return entry[0]
