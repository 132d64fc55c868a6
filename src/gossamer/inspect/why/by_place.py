"""Says which place a setting has its value from, and whom that place goes before."""

from gossamer.config.explained import Decided
from gossamer.inspect.why.sentences import Clause, clause


def told_of(one: Decided) -> tuple[Clause, ...]:
    """A sentence about one setting; that no place says anything of it, too."""
    if not one.place:
        return (clause("place.everywhere", setting=one.path, value=one.value),)
    won = clause("place.wins", setting=one.path, value=one.value, place=one.place)
    return (won, *(clause(f"place.by_{beaten.by}", place=beaten.place) for beaten in one.beaten))
