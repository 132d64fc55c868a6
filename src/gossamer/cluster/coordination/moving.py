"""Changes a record as shards move: what is begun, goes on, is finished, is given up."""

from collections.abc import Sequence

import msgspec

from gossamer.cluster.agreement.rendezvous import assign
from gossamer.cluster.coordination.record import PRESENT, AgentRecord, Loss, Move, Record, State
from gossamer.cluster.coordination.versions import Versions
from gossamer.cluster.protocol import NOBODY, Damaged, Report

__all__ = ["begin_moves", "destinations", "hear_moves", "lose", "name_heirs"]


def destinations(record: Record) -> list[int]:
    """The agent that should have each shard, by number; `NOBODY` if there is none that stays.

    Shards stay, or go where they are going, as far as loads allow.
    """
    live = {agent.name: agent for agent in record.having(State.LIVE)}
    if not live:
        return [NOBODY] * len(record.holders)
    held = record.holders[:]
    for shard, move in record.moving().items():
        held[shard] = move.target
    names = {agent.number: agent.name for agent in live.values()}
    chosen = assign(
        len(held),
        {name: agent.host.weight for name, agent in live.items()},
        slack=record.config.slack,
        held=[names.get(number, "") for number in held],
    )
    return [live[name].number for name in chosen]


def begin_moves(record: Record, wanted: Sequence[int]) -> bool:
    """Begin moving shards to where `destinations` wants them, as many at once as is allowed.

    Of a lost agent the last snapshot is read, which is fetched for each move, and nobody serves what it had
    meanwhile: so all goes at once. Returns whether the record changed.
    """
    busy = {(move.source, move.target) for move in record.moves.values() if move.shards}
    moving = record.moving()
    ways: dict[tuple[int, int], list[int]] = {}
    for shard, (holder, target) in enumerate(zip(record.holders, wanted, strict=True)):
        if holder != target != NOBODY and shard not in moving and (holder, target) not in busy:
            ways.setdefault((holder, target), []).append(shard)
    for (source, target), shards in ways.items():
        if source == NOBODY:
            _begin(record, Move(number=0, source=NOBODY, target=target, shards=tuple(shards)))
            continue
        lost = record.agents[source].state is State.LOST
        some = shards if lost else shards[: record.config.shards_at_once]
        snapshot = record.agents[source].snapshot if lost else 0
        _begin(record, Move(number=0, source=source, target=target, shards=tuple(some), snapshot=snapshot))
    return bool(ways)


def _begin(record: Record, move: Move) -> None:
    record.moves[record.next_move] = msgspec.structs.replace(move, number=record.next_move)
    record.next_move += 1


def hear_moves(versions: Versions, agent: AgentRecord, report: Report) -> None:
    """Have moves go on as an agent says that its part of them is done, or cannot be."""
    for covered in report.frozen:
        move = versions.next.moves.get(covered.move)
        if move is not None and move.source == agent.number and move.freezing and covered.snapshot:
            _froze(_on_record(versions, agent.number, covered.snapshot), move, covered.snapshot)
    for covered in report.imported:
        move = versions.next.moves.get(covered.move)
        if move is not None and move.target == agent.number and not move.freezing and covered.snapshot:
            versions.turn()
            _finish(_on_record(versions, agent.number, covered.snapshot), move)
    for damaged in report.damaged:
        move = versions.next.moves.get(damaged.move)
        if move is not None and move.target == agent.number and move.snapshot == damaged.snapshot > 0:
            _read_another(versions.turn(), move, damaged)


def _on_record(versions: Versions, number: int, snapshot: int) -> Record:
    """The record to change, in which agent `number` has a snapshot at least as late."""
    record = versions.edit()
    if snapshot > record.agents[number].snapshot:
        record.change(number, snapshot=snapshot)
    return record


def _froze(record: Record, move: Move, snapshot: int) -> None:
    """The source lends none of the shards any more, and its snapshot has them."""
    record.moves[move.number] = msgspec.structs.replace(move, snapshot=snapshot)


def _finish(record: Record, move: Move) -> None:
    """The target has it, in a snapshot of its own."""
    del record.moves[move.number]
    source = record.agents.get(move.source)
    if source is not None and source.state is State.LOST and move.shards:
        record.change(move.source, read=max(source.read, move.snapshot))
    if move.inheritance:
        record.change(move.source, inherited=True)
    for shard in move.shards:
        record.holders[shard] = move.target


def _read_another(record: Record, move: Move, damaged: Damaged) -> None:
    """What the move reads cannot be used: the source takes another one or, if it is lost, left an older one.

    Other moves from a lost source go on: what they read may be whole, and an older one knows less.
    """
    del record.moves[move.number]
    source = record.agents[move.source]
    if source.state in PRESENT:
        _begin(record, msgspec.structs.replace(move, snapshot=0, doubted=True))
        return
    older = min(damaged.older, move.snapshot - 1)
    _note_loss(record, move, older, damaged.reason)
    if older:
        _begin(record, msgspec.structs.replace(move, snapshot=older))
    elif move.inheritance:
        record.change(move.source, inherited=True)
    else:
        for shard in move.shards:
            record.holders[shard] = NOBODY
        _begin(record, Move(number=0, source=NOBODY, target=move.target, shards=move.shards))


def _note_loss(record: Record, move: Move, used: int, reason: str) -> None:
    """One line for each snapshot, and what was read instead."""
    told = Loss(agent=move.source, snapshot=move.snapshot, used=used, reason=reason)
    same = (told.agent, told.snapshot, told.used)
    for place, loss in enumerate(record.losses):
        if (loss.agent, loss.snapshot, loss.used) == same:
            told = record.losses.pop(place)
            break
    shards = tuple(sorted({*told.shards, *move.shards}))
    outbox = told.outbox or move.inheritance
    record.losses.append(msgspec.structs.replace(told, shards=shards, outbox=outbox))


def lose(record: Record, agent: AgentRecord) -> None:
    """The agent is no more; what it has is what its last snapshot on record has.

    Moves to it are given up: their source still has the shards. Moves from it read its last snapshot, if the
    shards were not frozen yet. Without a snapshot it never had anything: a shard is its own only once it is
    in one. One that never came up, it did not renew, is forgotten: should it speak yet, it is no agent.
    """
    if agent.state is State.JOINING:
        del record.agents[agent.number]
        return
    record.change(agent.number, state=State.LOST, since=record.epoch, inherited=agent.snapshot == 0)
    for move in list(record.moves.values()):
        if move.target == agent.number:
            del record.moves[move.number]
        elif move.source == agent.number and move.freezing:
            _froze(record, move, agent.snapshot)


def name_heirs(record: Record) -> bool:
    """Have the outbox of every lost agent taken over; whether the record changed."""
    left = [agent for agent in record.having(State.LOST) if not agent.inherited]
    under_way = {move.source for move in record.moves.values() if move.inheritance}
    heirs = sorted(record.having(State.LIVE), key=lambda agent: agent.number)
    named = False
    for agent in left:
        if heirs and agent.number not in under_way:
            heir = heirs[agent.number % len(heirs)]
            _begin(
                record,
                Move(number=0, source=agent.number, target=heir.number, snapshot=agent.snapshot),
            )
            named = True
    return named
