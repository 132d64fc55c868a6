"""Says in words what a level of the queue means."""

from gossamer.assembly.plugins import ordering
from gossamer.inspect.why.sentences import Clause, Told, clause, in_english
from gossamer.model.errors import ConfigError
from gossamer.policy.ordering.best import BestFirst
from gossamer.policy.ordering.levels import depth_at, step_at
from gossamer.policy.ordering.opic import Opic
from gossamer.policy.ordering.ordering import (
    DEEPEST,
    GRADE_SHIFT,
    LAST_LEVEL,
    ROBOTS_LEVEL,
    BreadthFirst,
    DepthFirst,
)
from gossamer.policy.ordering.orders import OrderConfig
from gossamer.policy.visits.star import LAST_ROUND
from gossamer.ports import OrderingPolicy


def ordering_of(order: str, config: OrderConfig) -> OrderingPolicy | None:
    """The ordering of a crawl, or `None` if the package that brought it is gone."""
    try:
        return ordering(order, config)
    except ConfigError:
        return None


def split_grade(level: int) -> tuple[int, int]:
    """(grade, level that the policy gave) of a level in the queue."""
    return level >> GRADE_SHIFT, level & LAST_LEVEL


def level_number(ordering: OrderingPolicy | None, level: int) -> tuple[str, int]:
    """What a policy's level counts (`depth`, `step`, or of unknown meaning `level`), and the number.

    Levels of one number follow each other.
    """
    if isinstance(ordering, BreadthFirst):
        return "depth", level - 1
    if isinstance(ordering, DepthFirst):
        return "depth", DEEPEST - level
    if isinstance(ordering, Opic | BestFirst):
        return "step", step_at(level)
    return "level", level


def depth_of(ordering: OrderingPolicy | None, level: int) -> int | None:
    """The depth that some orderings put into the level; `None` for others."""
    if isinstance(ordering, Opic | BestFirst):
        return depth_at(level)
    what, number = level_number(ordering, level)
    return number if what == "depth" else None


def level_clause(ordering: OrderingPolicy | None, first: int, last: int) -> Clause:
    """A range of the policy's levels: `depth 3`, `level 120 to 164`, `robots files`."""
    if last == ROBOTS_LEVEL:
        return clause("level.robots")
    what, begin = level_number(ordering, first)
    end = level_number(ordering, last)[1]
    if begin == end:
        return clause(f"level.{what}", first=begin)
    return clause(f"level.{what}s", first=begin, last=end)


def level_words(ordering: OrderingPolicy | None, first: int, last: int) -> str:
    """What a level means, in English."""
    return in_english((level_clause(ordering, first, last),))


def grade_told(grade: int) -> Told:
    """What a grade says; nothing for 0, which most URLs have."""
    return (clause("grade.budget", round=grade, most=LAST_ROUND),) if grade else ()


def grade_words(grade: int) -> str:
    """What a grade means, in English."""
    return in_english(grade_told(grade))
