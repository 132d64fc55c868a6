"""Says in words what a level of the queue means."""

from gossamer.assembly.plugins import ordering
from gossamer.inspect.why.sentences import Clause, Told, clause, in_english
from gossamer.model.errors import ConfigError
from gossamer.policy.ordering.ordering import GRADE_SHIFT, LAST_LEVEL, ROBOTS_LEVEL
from gossamer.policy.ordering.orders import OrderConfig
from gossamer.policy.visits.star import LAST_ROUND
from gossamer.ports import LevelMeaning, OrderingPolicy, OrderingWithMeanings


def ordering_of(order: str, config: OrderConfig) -> OrderingPolicy | None:
    """The ordering of a crawl, or `None` if the package that brought it is gone."""
    try:
        return ordering(order, config)
    except ConfigError:
        return None


def split_grade(level: int) -> tuple[int, int]:
    """(grade, level that the policy gave) of a level in the queue."""
    return level >> GRADE_SHIFT, level & LAST_LEVEL


def meaning_of(ordering: OrderingPolicy | None, level: int) -> LevelMeaning | None:
    """What a policy's level says, if the policy tells."""
    return ordering.meaning(level) if isinstance(ordering, OrderingWithMeanings) else None


def level_clause(ordering: OrderingPolicy | None, first: int, last: int) -> Clause:
    """A range of the policy's levels: `depth 3`, `level 120 to 164`, `robots files`."""
    if last == ROBOTS_LEVEL:
        return clause("level.robots")
    low, high = meaning_of(ordering, first), meaning_of(ordering, last)
    what, begin, end = (low.what, low.number, high.number) if low and high else ("level", first, last)
    if begin == end:
        return clause(f"level.{what}", first=begin)
    return clause(f"level.{what}s", first=begin, last=end)


def again_clause() -> Clause:
    """What stands before all levels of the policy but robots files: pages that were visited and have their turn."""
    return clause("level.again")


def level_words(ordering: OrderingPolicy | None, first: int, last: int) -> str:
    """What a level means, in English."""
    return in_english((level_clause(ordering, first, last),))


def grade_told(grade: int, *, speculative: bool = False) -> Told:
    """What a grade says; nothing for 0, which most URLs have."""
    if speculative:
        return (clause("grade.speculative"),)
    return (clause("grade.budget", round=grade, most=LAST_ROUND),) if grade else ()


def grade_words(grade: int) -> str:
    """What a grade means, in English."""
    return in_english(grade_told(grade))
