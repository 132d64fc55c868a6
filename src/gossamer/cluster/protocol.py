"""What agents and their coordinator say: one call renews everything. To one another: `between`.

**A shard** is a number below 2 ** bits. **An agent** is named `a-N`; N is its number, 0 is nobody. Lists of
shards travel `pack`ed. **Snapshots** of an agent are numbered from 1, 0 is none.

**A renewal.** The agent calls `renew(Report)` every second, one call at a time. An answer counts only if it
answers a later report than the last answer that counted. Of one that counts, in this order: its tenure runs
from the moment the report was *sent*; the `View`, if there is one, replaces the one before; it lends, and
applies links, only for shards of `View.owned(number)`; freezes, takes, inheritances, allowances and the
wave are as it says. A process begins with no view and no shards, whatever its folder holds.

**A move**, known by its number, is told to both sides until it is over.
The source finds it in `Grant.freezes`: those shards are no longer its own. It waits until their leases are
settled, takes a snapshot, and then lists `Covered(move, snapshot)` in `Report.frozen` for as long as the
freeze is granted, and keeps that snapshot and the shards' ranges meanwhile. The target finds it in
`Grant.takes` once there is something to read. It deletes what it has of those shards, imports their ranges,
takes a snapshot, and then lists `Covered(move, snapshot)` in `Report.imported` for as long as the take is
granted. Shards taken from nobody (`agent` empty) are new: instead of importing, it admits their seeds. A
take that is granted no more, the shards not being its own either, was given up.
What is left of shards that are neither its own nor in a freeze or a take (`given_away`) may be deleted at
leisure, but before a later take of the same shard begins, and not while `Grant.lease` is 0: freezes are told
only after that.

**A snapshot that cannot be used** is told in `Report.damaged`, for as long as the move is granted. If the
source is present, it is asked for another one, by another freeze. If it is lost, an older snapshot is read,
by another take; if there is none, the shards begin anew, and an inheritance is given up. What is lost by
that stands in the record (`record.Loss`).

**An inheritance** is the outbox of a lost agent, as of a snapshot. The heir lets every message in it have
its effect as if it had found the link itself, takes a snapshot, and lists `Covered(move, snapshot)` in
`Report.imported`, too.

**Snapshots are kept** as long as somebody may read them. An agent prunes only what is older than
`Grant.snapshot` and named by no freeze of its own; nobody prunes those of others.

**What others forget hangs on what is on record.** A receiver calls links `covered` only by a snapshot not
later than `Grant.snapshot`, the one that would be read if it were lost now. In the same way an agent tells
others of content it has met (`between.Inquiry.told`) only when the capture is in such a snapshot.
"""

import sys
from array import array
from collections.abc import Iterable

import msgspec

from gossamer.model.reasons.reason import Reason

UNLIMITED = (1 << 63) - 1
"""An allowance that never runs out."""

NOBODY = 0
"""Number of no agent."""

_NUMBERS = (1 << 16) - 1


def agent_name(number: int) -> str:
    """Name of agent number 1, 2, …"""
    return f"a-{number}"


def agent_number(name: str) -> int:
    """The number in an agent's name.

    Raises:
        ValueError: it is not such a name.
    """
    number = name.removeprefix("a-")
    if not (
        number.isascii() and number.isdigit() and agent_name(int(number)) == name and int(number) <= _NUMBERS
    ):
        raise ValueError(f"{name!r} is not the name of an agent (a-1, a-2, …)")
    return int(number)


def pack(numbers: Iterable[int]) -> bytes:
    """Numbers below 65,536, two bytes each, little-endian."""
    packed = array("H", numbers)
    if sys.byteorder != "little":
        packed.byteswap()
    return packed.tobytes()


def unpack(data: bytes) -> tuple[int, ...]:
    """The numbers in `pack`ed bytes."""
    packed = array("H", data)
    if sys.byteorder != "little":
        packed.byteswap()
    return tuple(packed)


def first_sequence(incarnation: int) -> int:
    """Outbox sequences of an incarnation begin here, above all those of the one before.

    A process that comes back with an older state (power failure) would otherwise give numbers twice, and
    receivers would take new links for some they have applied.
    """
    return (incarnation << 40) + 1


class Host(msgspec.Struct, frozen=True, array_like=True):
    """Where an agent runs.

    Attributes:
        node: name of the machine, as operators call it (`drain NODE`).
        boot: the kernel's boot id: two processes with the same one cannot both hold a folder's lock.
        weight: the share of shards it should have, as compared with others; its cores, say.
        slot: the process's place among all that are wanted; 0: told to nobody.
        process: what no other process says; one that asks again, because no answer came, is known by it.
            Empty: each question is another process's.
    """

    node: str
    boot: str
    weight: float = 1.0
    slot: int = 0
    process: str = ""


class Registered(msgspec.Struct, frozen=True, array_like=True):
    """Who the agent is from now on.

    Attributes:
        name: that of the state it has, if that may still be used; else a new one, and the folder is set
            aside.
        incarnation: counts the processes of this name.
        term: see `Grant`.
    """

    name: str
    incarnation: int
    term: int


class Covered(msgspec.Struct, frozen=True, array_like=True):
    """What a move asked for is done, and in a finished snapshot of the one who did it."""

    move: int
    snapshot: int


class Damaged(msgspec.Struct, frozen=True, array_like=True):
    """What a move to the agent reads cannot be used.

    Attributes:
        move: which, or an inheritance.
        snapshot: that cannot.
        older: the newest one before it that seems whole; 0: there is none.
        reason: in words for operators.
    """

    move: int
    snapshot: int
    older: int
    reason: str


class Report(msgspec.Struct, frozen=True, array_like=True, kw_only=True):
    """What an agent says of itself with every renewal; read at one moment, after the answer `answered` was
    applied.

    Attributes:
        agent, incarnation: who, as registered.
        term: of the last answer that counted, or of the registration.
        number: of this report, from 1 in each incarnation.
        answered: number of the report whose answer was the last that counted; 0 if none did.
        epoch: of the view it goes by; 0 if it has none.
        wave: the last one it was told.
        idle: no URL of its shards is lent or can fall due; nothing is being frozen, imported or inherited.
        sent: messages ever put into its outbox (durable with its state).
        received: messages of others ever applied (durable with its state).
        owed: messages in its outbox that the present owner, in its present incarnation, has not said to
            have applied.
        outbox: messages in its outbox, those applied and not yet covered among them.
        pages, bytes: settled, ever.
        queued: URLs that wait.
        page_allowance, byte_allowance: as it holds them.
        snapshot: the latest finished one; `snapshot_pages`, `snapshot_bytes` are the sums in it.
        frozen: moves from it.
        imported: moves to it, inheritances among them.
        scope_known: how many of the scope's hosts it has been told.
        scope_hosts: that joined its scope and it has not been told yet.
        stopped: it was told to stop, lends nothing, and has taken its last snapshot (or cannot).
        problem: what keeps it from something now, in words for operators.
        damaged: moves to it that cannot go on from the snapshot that they name.
    """

    agent: str
    incarnation: int
    term: int
    number: int
    answered: int = 0
    epoch: int = 0
    wave: int = 0
    idle: bool = False
    sent: int = 0
    received: int = 0
    owed: int = 0
    outbox: int = 0
    pages: int = 0
    bytes: int = 0
    queued: int = 0
    page_allowance: int = 0
    byte_allowance: int = 0
    snapshot: int = 0
    snapshot_pages: int = 0
    snapshot_bytes: int = 0
    frozen: tuple[Covered, ...] = ()
    imported: tuple[Covered, ...] = ()
    scope_known: int = 0
    scope_hosts: tuple[str, ...] = ()
    stopped: bool = False
    problem: str = ""
    damaged: tuple[Damaged, ...] = ()


class View(msgspec.Struct, frozen=True, array_like=True):
    """Who owns what as of an epoch; sent to those that go by another.

    Attributes:
        owners: the number of each shard's owner, `pack`ed; `NOBODY` while it moves.
        peers: incarnation of each agent that may own shards.
    """

    owners: bytes
    peers: dict[str, int]

    def owned(self, number: int) -> list[int]:
        """Shards of the agent with this number."""
        return [shard for shard, owner in enumerate(unpack(self.owners)) if owner == number]


class Freeze(msgspec.Struct, frozen=True, array_like=True):
    """Shards (`pack`ed) to settle and take a snapshot of, because they move away.

    `snapshot`: of the agent's own, in which they are and from which they are being read; 0 before there is
    one. `doubted`: one that it took for them could not be used, so nothing that the store has is to be relied
    on for the next.
    """

    move: int
    shards: bytes
    snapshot: int = 0
    doubted: bool = False


class Take(msgspec.Struct, frozen=True, array_like=True):
    """Shards (`pack`ed) to import from a snapshot of an agent; no agent: new, with their seeds to admit."""

    move: int
    shards: bytes
    agent: str = ""
    snapshot: int = 0


class Inherit(msgspec.Struct, frozen=True, array_like=True):
    """The outbox of a lost agent to take over from its snapshot."""

    move: int
    agent: str
    snapshot: int


class Grant(msgspec.Struct, frozen=True, array_like=True, kw_only=True, tag="grant"):
    """What the coordinator answers to an agent that is still one.

    Attributes:
        number: of the report it answers.
        term: counts the starts of the coordinator; an answer of an older term than one met before does not
            count.
        epoch: changes with owners, peers or moves.
        view: `None` if the agent goes by this epoch already.
        lease: seconds, from when the report was sent, in which it may lend (0: not yet; see `Host.boot`).
        end: seconds, from the same moment, after which its process must be gone.
        freezes, takes, inherits: what it has to do. No freezes while `lease` is 0, whatever moves.
        snapshot: its latest snapshot on record.
        page_allowance, byte_allowance: how many it may have in all, what is under way included.
        wave: to be echoed.
        scope_hosts: of the whole scope, from number `Report.scope_known` on.
        stop: why to stop; `None` to go on. May become `None` again.
        over: whether the process may end, after `stop`.
        losses: counts snapshots of lost agents that could not be used. If it changed, links that were covered
            may be unknown to their owners.
    """

    number: int
    term: int
    epoch: int
    lease: float
    end: float
    view: View | None = None
    freezes: tuple[Freeze, ...] = ()
    takes: tuple[Take, ...] = ()
    inherits: tuple[Inherit, ...] = ()
    snapshot: int = 0
    page_allowance: int = UNLIMITED
    byte_allowance: int = UNLIMITED
    wave: int = 0
    scope_hosts: tuple[str, ...] = ()
    stop: Reason | None = None
    over: bool = False
    losses: int = 0


def given_away(number: int, view: View, grant: Grant) -> list[int]:
    """Shards of which an agent, by its number, may delete what it has; `view`: the one it goes by now.

    None while it may not lend: what it is to freeze is told to it only then, and is here and nowhere else.
    """
    if not grant.lease:
        return []
    busy = {shard for freeze in grant.freezes for shard in unpack(freeze.shards)}
    busy.update(shard for take in grant.takes for shard in unpack(take.shards))
    owners = enumerate(unpack(view.owners))
    return [shard for shard, owner in owners if owner != number and shard not in busy]


class Fenced(msgspec.Struct, frozen=True, array_like=True, tag="fenced"):
    """The agent is one no longer: it lends nothing, drops its connections, sets its folder aside, begins
    anew."""

    reason: str
