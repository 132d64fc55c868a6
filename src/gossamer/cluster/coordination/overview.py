"""What an operator sees of a cluster: agents, shards, moves, sums."""

from collections import Counter

from gossamer.cluster.agreement.tenure import Silence
from gossamer.cluster.coordination.heartbeats import Heartbeat, Heartbeats
from gossamer.cluster.coordination.record import PRESENT, AgentRecord, Loss, Move, Record
from gossamer.cluster.protocol import NOBODY, Report, agent_name
from gossamer.inspect.clusters.cluster_view import AgentOverview, LossOverview, MoveOverview, Overview
from gossamer.model.reasons.reason import sentence

__all__ = ["AgentOverview", "LossOverview", "MoveOverview", "Overview", "overview_of"]


def overview_of(record: Record, heartbeats: Heartbeats, silence: Silence, now: float) -> Overview:
    """What is known of everything."""
    owners = Counter(record.owners())
    moving = sum(len(move.shards) for move in record.moves.values())
    agents = tuple(
        _agent(agent, record, owners, heartbeats.of(agent.name), (silence.since(agent.name), now))
        for agent in record.agents.values()
    )
    return Overview(
        term=record.term,
        epoch=record.epoch,
        wanted_agents=record.wanted,
        agents=agents,
        moves=tuple(_move(move) for move in record.moves.values()),
        shards=len(record.holders),
        owned=len(record.holders) - owners[NOBODY],
        moving=moving,
        homeless=owners[NOBODY] - moving,
        pages=sum(agent.pages for agent in agents),
        bytes=sum(agent.bytes for agent in agents),
        queued=sum(agent.queued for agent in agents),
        wave=heartbeats.wave,
        scope_hosts=len(record.scope_hosts),
        elapsed=record.elapsed,
        stop=sentence(record.stop),
        why=record.stop,
        over=record.over,
        ring=_ring(record),
        losses=tuple(_loss(loss) for loss in record.losses),
    )


def _ring(record: Record) -> tuple[int, ...]:
    """See `Overview.ring`."""
    ring = record.owners()
    for shard, move in record.moving().items():
        ring[shard] = -move.target
    return tuple(ring)


def _agent(
    agent: AgentRecord,
    record: Record,
    owners: Counter[int],
    heard: Heartbeat | None,
    times: tuple[float | None, float],
) -> AgentOverview:
    since, now = times
    report = heard.report if heard is not None else Report(agent=agent.name, incarnation=0, term=0, number=0)
    snapshot_at = heard.snapshot_at if heard is not None else None
    return AgentOverview(
        name=agent.name,
        incarnation=agent.incarnation,
        node=agent.host.node,
        weight=agent.host.weight,
        state=agent.state.value,
        shards=owners[agent.number],
        moving=sum(
            len(move.shards) for move in record.moves.values() if agent.number in (move.source, move.target)
        ),
        silent=now - since if since is not None and agent.state in PRESENT else None,
        idle=report.idle,
        pages=report.pages if heard is not None else agent.pages,
        bytes=report.bytes if heard is not None else agent.bytes,
        queued=report.queued,
        sent=report.sent,
        received=report.received,
        owed=report.owed,
        outbox=report.outbox,
        snapshot=agent.read or agent.snapshot,
        snapshot_age=now - snapshot_at if snapshot_at is not None else None,
        problem=report.problem if agent.state in PRESENT else "",
    )


def _loss(loss: Loss) -> LossOverview:
    return LossOverview(
        agent=agent_name(loss.agent),
        snapshot=loss.snapshot,
        used=loss.used,
        shards=len(loss.shards),
        outbox=loss.outbox,
        reason=loss.reason,
    )


def _move(move: Move) -> MoveOverview:
    state = "inheriting" if move.inheritance else "freezing" if move.freezing else "importing"
    return MoveOverview(
        number=move.number,
        source=agent_name(move.source) if move.source != NOBODY else "",
        target=agent_name(move.target),
        shards=len(move.shards),
        state=state,
        snapshot=move.snapshot,
    )
