"""Which processes a cluster should have."""

from collections.abc import Iterator
from itertools import count, islice
from typing import NamedTuple

from gossamer.cluster.coordination.record import PRESENT, Record, State

__all__ = ["Slots", "slots"]


class Slots(NamedTuple):
    """Slots by what is to become of their processes, in order.

    Attributes:
        wanted: one for each agent that is wanted, and those whose agents still hand over. The process of an
            agent that is lost or fenced goes on as a new agent.
        retired: the agent was drained. Never used again.
    """

    wanted: tuple[int, ...]
    retired: tuple[int, ...]


def slots(record: Record) -> Slots:
    """As the record has it."""
    latest: dict[int, State] = {}
    for number in sorted(record.agents):
        agent = record.agents[number]
        if agent.state in PRESENT or latest.get(agent.host.slot) not in PRESENT:
            latest[agent.host.slot] = agent.state
    latest.pop(0, None)
    working = sorted(slot for slot, state in latest.items() if state in (State.JOINING, State.LIVE))
    leaving = {slot for slot, state in latest.items() if state in (State.DRAINING, State.LEAVING)}
    retired = sorted(slot for slot, state in latest.items() if state is State.GONE)
    chosen = islice(_in_order(working, leaving.union(retired)), record.wanted)
    return Slots(tuple(sorted({*chosen, *leaving})), tuple(retired))


def _in_order(first: list[int], never: set[int]) -> Iterator[int]:
    yield from first
    yield from (slot for slot in count(1) if slot not in never and slot not in first)
