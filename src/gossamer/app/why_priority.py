"""Says why a waiting URL stands where it stands."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer.app.level_words import grade_words, level_words, ordering_of, split_grade
from gossamer.app.why_queue import Waiting
from gossamer.frontier.standings import ORDER, Standing, split_standing
from gossamer.model.candidate import Candidate
from gossamer.policy.orders import OrderConfig
from gossamer.ports import LinkOrdering
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import split_ticket

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


class Ranks:
    """Knows what URLs are worth under the ordering of one crawl."""

    def __init__(self, environment: Environment, order: str, config: OrderConfig) -> None:
        self._environment = environment
        self._order = order
        self._ordering = ordering_of(order, config)
        self._links: LinkOrdering[Any, Any] | None = None
        self._trouble = ""
        if self._ordering is None:
            self._trouble = f"the order {order} is not installed here, so its parts are not known"
        elif isinstance(self._ordering, LinkOrdering):
            self._links = self._ordering
            self._restore(self._ordering)

    def _restore(self, ordering: LinkOrdering[Any, Any]) -> None:
        state = self._environment.get(Family.META, ORDER)
        if state is None:
            return
        try:
            ordering.restore(state)
        except Exception as error:  # noqa: BLE001 - the border of the plug-in
            self._trouble = f"the order {self._order} does not understand what it left: {error!r}"

    def standing(self, fingerprint: bytes) -> Standing | None:
        """(place or empty, worth) of a URL, as written down; `None` if the order keeps nothing of it."""
        if self._links is None:
            return None
        data = self._environment.get(Family.STANDINGS, fingerprint)
        if data is None:
            return None
        try:
            return split_standing(data, msgspec.msgpack.Decoder(self._links.worth).decode)
        except msgspec.MsgspecError as error:
            self._trouble = f"the order {self._order} does not understand its worth: {error}"
            return None

    def parts(self, candidate: Candidate, standing: Standing | None) -> dict[str, str]:
        """What a URL is worth, part by part."""
        if self._links is None or standing is None:
            return {}
        try:
            parts = self._links.explain(candidate, standing[1])
            return {str(name)[:LONGEST_PART]: str(part)[:LONGEST_PART] for name, part in parts.items()}
        except Exception as error:  # noqa: BLE001 - the border of the plug-in
            self._trouble = f"the order {self._order} cannot explain itself: {error!r}"
            return {}

    def priority(self, waiting: Waiting, standing: Standing | None) -> Priority:
        """All about the place of a URL."""
        level, arrival = split_ticket(waiting.ticket)
        grade, own = split_grade(level)
        candidate = waiting.entry.candidate()
        parts = self.parts(candidate, standing)
        queued = waiting.due is None
        return Priority(
            order=self._order,
            level=own,
            level_words=level_words(self._ordering, own, own),
            grade=grade,
            grade_words=grade_words(grade),
            arrival=arrival,
            parts=parts,
            ahead=waiting.ahead if queued else None,
            more_ahead=waiting.more_ahead,
            first=waiting.first,
            notes=list(self._notes(candidate, own, standing)),
        )

    def _notes(self, candidate: Candidate, level: int, standing: Standing | None) -> Iterator[str]:
        if self._trouble:
            yield self._trouble
        if self._links is None:
            return
        if standing is None:
            if not self._trouble:
                yield f"the order {self._order} knows nothing of its worth: it was queued under another order"
            return
        try:
            now = self._links.waiting_level(candidate, standing[1])
        except Exception:  # noqa: BLE001 - the border of the plug-in; `parts` tells of it
            return
        if now != level:
            words = level_words(self._links, now, now)
            yield f"by its worth of now it would enter at {words}; it only moves when that is a better place"
        yield "what links gave it in the last seconds of a running crawl is still in its memory, unseen here"


def about_priority(priority: Priority) -> Iterator[str]:
    """The same as sentences."""
    words = priority.level_words
    level = "" if words.startswith("level") else f", level {priority.level:,}"
    yield (
        f"{words}{level} under the order {priority.order} (the smaller level first); "
        f"arrival {priority.arrival:,} decides among equals"
    )
    for name, part in priority.parts.items():
        yield f"{name}: {part}"
    if priority.grade:
        yield f"behind what is ordinary: {priority.grade_words}"
    yield from priority.notes
