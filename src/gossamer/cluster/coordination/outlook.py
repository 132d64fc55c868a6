"""What a saved record means for each agent."""

from gossamer.cluster.coordination.record import Record
from gossamer.cluster.protocol import NOBODY, Freeze, Inherit, Take, View, agent_name, pack

__all__ = ["Outlook"]


class Outlook:
    """Of one record, which does not change any more."""

    def __init__(self, record: Record) -> None:
        owners = record.owners()
        self.view = View(pack(owners), {agent.name: agent.incarnation for agent in record.present})
        self.homeless = owners.count(NOBODY) - sum(len(move.shards) for move in record.moves.values())
        """Shards that nobody owns and that are not on their way."""
        self.freezes: dict[int, tuple[Freeze, ...]] = {}
        self.takes: dict[int, tuple[Take, ...]] = {}
        self.inherits: dict[int, tuple[Inherit, ...]] = {}
        for move in record.moves.values():
            source, target, shards = move.source, move.target, pack(move.shards)
            name = agent_name(source) if source != NOBODY else ""
            if move.inheritance:
                inherit = Inherit(move.number, name, move.snapshot)
                self.inherits[target] = (*self.inherits.get(target, ()), inherit)
                continue
            if source != NOBODY:
                self.freezes[source] = (
                    *self.freezes.get(source, ()),
                    Freeze(move.number, shards, move.snapshot, move.doubted),
                )
            if not move.freezing:
                take = Take(move.number, shards, name, move.snapshot)
                self.takes[target] = (*self.takes.get(target, ()), take)

    @property
    def settled(self) -> bool:
        """Whether every shard has an owner, and nothing moves."""
        return not (self.homeless or self.freezes or self.takes or self.inherits)
