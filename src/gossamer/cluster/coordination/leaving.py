"""Lets agents go: the surplus, the drained, all of them at the end."""

from gossamer.cluster.coordination.heartbeats import Heartbeats
from gossamer.cluster.coordination.record import AgentRecord, State
from gossamer.cluster.coordination.versions import Versions

__all__ = ["all_stopped", "drain", "drain_surplus", "let_go"]


def drain(versions: Versions, agent: AgentRecord) -> None:
    """Have others take over what the agent has."""
    record = versions.turn()
    record.change(agent.number, state=State.DRAINING, since=record.epoch)


def drain_surplus(versions: Versions, heartbeats: Heartbeats) -> None:
    """Drain the last to come, if there are more than wanted. Who has not spoken yet may never come."""
    live = versions.next.having(State.LIVE)
    if len(live) > versions.next.wanted and all(heartbeats.of(agent.name) for agent in live):
        for agent in sorted(live, key=lambda agent: agent.number)[versions.next.wanted :]:
            drain(versions, agent)


def let_go(versions: Versions, heartbeats: Heartbeats) -> None:
    """Tell drained agents to stop that have nothing any more, and see off those that have stopped."""
    leaving = versions.next.having(State.DRAINING, State.LEAVING)
    if not leaving or versions.acting is None:
        return
    busy = set(versions.next.holders)
    for move in versions.next.moves.values():
        busy.update((move.source, move.target))
    for agent in leaving:
        heard = heartbeats.of(agent.name)
        if heard is None or agent.number in busy:
            continue
        report = heard.report
        if agent.state is State.DRAINING and report.epoch == versions.acting.epoch and report.outbox == 0:
            record = versions.turn()
            record.change(agent.number, state=State.LEAVING, since=record.epoch)
        elif agent.state is State.LEAVING and report.stopped and report.epoch >= agent.since:
            record = versions.turn()
            sums = {"pages": report.pages, "bytes": report.bytes}
            record.change(agent.number, state=State.GONE, since=record.epoch, inherited=True, **sums)
            heartbeats.gone(agent.name, report.pages, report.bytes)


def all_stopped(versions: Versions, heartbeats: Heartbeats) -> bool:
    """Whether every agent has stopped since it was told to."""
    heard = [heartbeats.of(agent.name) for agent in versions.next.present]
    since = versions.next.stop_epoch
    return all(one is not None and one.report.stopped and one.report.epoch >= since for one in heard)
