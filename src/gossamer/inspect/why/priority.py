"""Says why a waiting URL stands where it stands."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer.frontier.standings import ORDER, Standing, is_of_another, split_standing
from gossamer.inspect.why.level_words import again_clause, grade_told, level_clause, ordering_of, split_grade
from gossamer.inspect.why.place import Waiting
from gossamer.inspect.why.sentences import Told, clause, in_english
from gossamer.model.candidate import Candidate
from gossamer.model.reasons.reason import Reason
from gossamer.policy.ordering.orders import OrderConfig
from gossamer.ports import LinkOrdering
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import arrival_of, split_ticket

LONGEST_PART = 200
"""Characters shown of what a policy says of one part."""


class Priority(msgspec.Struct, frozen=True):
    """The place of a waiting URL, and what it comes from.

    Attributes:
        order: the ordering policy.
        level: what the policy gave; the smaller the earlier.
        level_words: the same in words.
        grade: what the frontier put above it; 0 for most.
        grade_words: the same in words, empty for 0.
        arrival: its number among all that were admitted, by which equal levels go.
        parts: of its worth, by the policy's names; empty if the order does not change as links arrive.
        ahead: entries of its host before it; `None` if it waits for a time of its own.
        more_ahead: `ahead` is where counting ended.
        first: the first URL of its host's queue.
        notes: what the figures leave out.
    """

    order: str
    level: int
    level_words: str
    grade: int
    grade_words: str
    arrival: int
    parts: dict[str, str]
    ahead: int | None
    more_ahead: bool
    first: str
    notes: list[str]


class Rank(msgspec.Struct, frozen=True):
    """A priority, and the same as sentences.

    Attributes:
        priority: for programs.
        sentences: the place, the parts of its worth, what it stands behind, what the figures leave out.
    """

    priority: Priority
    sentences: list[Told]


class Ranks:
    """Knows what URLs are worth under the ordering of one crawl."""

    def __init__(self, environment: Environment, order: str, config: OrderConfig) -> None:
        self._environment = environment
        self._order = order
        self._ordering = ordering_of(order, config)
        self._links: LinkOrdering[Any, Any] | None = None
        self._trouble: Told = ()
        self._is_new = False
        """What is kept is another order's still: the crawl was told to change, and has not begun again."""
        if self._ordering is None:
            self._trouble = (clause("worth.no_order", order=order),)
        elif isinstance(self._ordering, LinkOrdering):
            self._links = self._ordering
            self._is_new = is_of_another(environment, self._ordering)
            if not self._is_new:
                self._restore(self._ordering)

    def _restore(self, ordering: LinkOrdering[Any, Any]) -> None:
        state = self._environment.get(Family.META, ORDER)
        if state is None:
            return
        try:
            ordering.restore(state)
        except Exception as error:  # noqa: BLE001 - the border of the plug-in
            self._trouble = (clause("worth.no_state", order=self._order, error=repr(error)),)

    def standing(self, fingerprint: bytes) -> Standing | None:
        """(place or empty, worth) of a URL, as written down; `None` if the order keeps nothing of it."""
        if self._links is None or self._is_new:
            return None
        data = self._environment.get(Family.STANDINGS, fingerprint)
        if data is None:
            return None
        try:
            return split_standing(data, msgspec.msgpack.Decoder(self._links.worth).decode)
        except msgspec.MsgspecError as error:
            self._trouble = (clause("worth.no_worth", order=self._order, error=str(error)),)
            return None

    def parts(self, candidate: Candidate, standing: Standing | None) -> dict[str, Reason | str]:
        """What a URL is worth, part by part."""
        if self._links is None or standing is None:
            return {}
        try:
            parts = self._links.explain(candidate, standing[1])
            return {str(name)[:LONGEST_PART]: _part(part) for name, part in parts.items()}
        except Exception as error:  # noqa: BLE001 - the border of the plug-in
            self._trouble = (clause("worth.mute", order=self._order, error=repr(error)),)
            return {}

    def rank(self, waiting: Waiting, standing: Standing | None) -> Rank:
        """All about the place of a URL."""
        grade, own = split_grade(split_ticket(waiting.ticket)[0])
        arrival, again = arrival_of(waiting.ticket)
        candidate = waiting.entry.candidate()
        parts = self.parts(candidate, standing)
        notes = [] if again else list(self._notes(candidate, own, standing))
        words = again_clause() if again else level_clause(self._ordering, own, own)
        behind = grade_told(grade)
        priority = Priority(
            order=self._order,
            level=own,
            level_words=in_english((words,)),
            grade=grade,
            grade_words=in_english(behind),
            arrival=arrival,
            parts={name: str(part) for name, part in parts.items()},
            ahead=waiting.ahead if waiting.due is None else None,
            more_ahead=waiting.more_ahead,
            first=waiting.first,
            notes=list(map(in_english, notes)),
        )
        number = () if words.key.startswith("level.level") else (clause("priority.level", level=own),)
        place = (words, *number, clause("priority.order", order=self._order, arrival=arrival))
        graded = [(clause("priority.behind"), *behind)] if behind else []
        return Rank(priority, [place, *told_parts(parts), *graded, *notes])

    def _notes(self, candidate: Candidate, level: int, standing: Standing | None) -> Iterator[Told]:
        if self._trouble:
            yield self._trouble
        if self._links is None:
            return
        if standing is None:
            if not self._trouble:
                yield (clause("worth.none", order=self._order),)
            return
        try:
            now = self._links.waiting_level(candidate, standing[1])
        except Exception:  # noqa: BLE001 - the border of the plug-in; `parts` tells of it
            return
        if now != level:
            yield clause("worth.now"), level_clause(self._links, now, now), clause("worth.better")
        yield (clause("worth.unseen"),)


def told_parts(parts: dict[str, Reason | str]) -> Iterator[Told]:
    """The parts of a worth as sentences."""
    for name, part in parts.items():
        yield (clause("worth.part", about=name, part=part),)


def _part(part: object) -> Reason | str:
    """As a policy gave it, which may be a plug-in."""
    return part if isinstance(part, Reason) else str(part)[:LONGEST_PART]
