"""Lays what places say over the settings that hold everywhere."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.place import Asked, PlaceRule

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

MOST_KEPT = 1_024
"""Different settings that are kept made; the memory is emptied when full."""

Given = tuple[PlaceRule, Mapping[str, Any]]
"""A place, and the settings of one section that it has a value of its own for, by their names."""


class Derived(Generic[T]):
    """What is made of settings, for each set of places that hold together, once.

    Args:
        index: the places that make a difference.
        make: gives it for what is asked.
    """

    def __init__(self, index: PlaceIndex, make: Callable[[Asked], T]) -> None:
        self._index = index
        self._make = make
        self._made: dict[tuple[int, ...], T] = {}

    def at(self, asked: Asked) -> T:
        """What is made of the settings that hold for what is asked."""
        which = self._index.matching(asked)
        known = self._made.get(which)
        if known is None:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            known = self._made[which] = self._make(asked)
        return known


class Local(Generic[S]):
    """One section of the settings, as it stands at each place.

    For every single setting the narrowest of the places that hold decides, if it says something of it.

    Args:
        base: what holds everywhere.
        given: by place; the order does not matter.
    """

    def __init__(self, base: S, given: Sequence[Given] = ()) -> None:
        self.base = base
        said = {place.text: (place, values) for place, values in given if values}
        self.differs = bool(said)
        """Some place says something; else nobody need ask about one."""
        self._index = PlaceIndex(place for place, _ in said.values())
        self._given = [said[place.text] for place in self._index.places]
        self._sections = Derived(self._index, self._laid_over)

    def at(self, asked: Asked) -> S:
        """The section as it stands there."""
        return self._sections.at(asked) if self.differs else self.base

    @property
    def places(self) -> tuple[PlaceRule, ...]:
        """Those that say something of this section."""
        return self._index.places

    def matching(self, asked: Asked) -> list[Given]:
        """What each place that holds says, the narrowest first."""
        return [self._given[rank] for rank in self._index.matching(asked)]

    def values(self, name: str) -> list[Any]:
        """All values that a setting has anywhere."""
        return [getattr(self.base, name), *(values[name] for _, values in self._given if name in values)]

    def _laid_over(self, asked: Asked) -> S:
        values: dict[str, Any] = {}
        for _, said in reversed(self.matching(asked)):
            values |= said
        return msgspec.structs.replace(self.base, **values) if values else self.base
