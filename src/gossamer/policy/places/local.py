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


class Won(msgspec.Struct, frozen=True):
    """Where the value of one setting comes from.

    Attributes:
        name: of the setting in its section.
        value: what holds.
        place: that says so; `None` where no place does.
        beaten: wider places that say something else, the narrowest first.
    """

    name: str
    value: Any
    place: PlaceRule | None
    beaten: tuple[PlaceRule, ...] = ()


class Local(Generic[S]):
    """One section of the settings, as it stands at each place.

    For every single setting the narrowest of the places that hold decides, if it says something of it.

    Args:
        base: what holds everywhere.
        given: by place; the order does not matter.
    """

    def __init__(self, base: S, given: Sequence[Given] = ()) -> None:
        self.base = base
        given = [(place, values) for place, values in given if values]
        self.differs = bool(given)
        """Some place says something; else nobody need ask about one."""
        self._index = PlaceIndex(place for place, _ in given)
        by_place = {place.text: values for place, values in given}
        self._said = [by_place[place.text] for place in self._index.places]
        self._made: dict[tuple[int, ...], S] = {}

    def at(self, asked: Asked) -> S:
        """The section as it stands there."""
        return self._of(self._index.matching(asked)) if self.differs else self.base

    @property
    def places(self) -> tuple[PlaceRule, ...]:
        """Those that say something of this section."""
        return self._index.places

    def matching(self, asked: Asked) -> list[Given]:
        """What each place that holds says, the narrowest first."""
        return [(self._index.places[rank], self._said[rank]) for rank in self._index.matching(asked)]

    def values(self, name: str) -> list[Any]:
        """All values that a setting has anywhere."""
        return [getattr(self.base, name), *(values[name] for values in self._said if name in values)]

    def won(self, asked: Asked) -> list[Won]:
        """Each setting that any place says something of, with where its value comes from."""
        matching = self.matching(asked)
        names = dict.fromkeys(name for values in self._said for name in values)
        return [
            self._won(name, [(place, values[name]) for place, values in matching if name in values])
            for name in names
        ]

    def _won(self, name: str, values: list[tuple[PlaceRule, Any]]) -> Won:
        if not values:
            return Won(name, getattr(self.base, name), None)
        (place, value), *wider = values
        return Won(name, value, place, tuple(beaten for beaten, _ in wider))

    def _of(self, matching: tuple[int, ...]) -> S:
        if not matching:
            return self.base
        known = self._made.get(matching)
        if known is None:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            values: dict[str, Any] = {}
            for rank in reversed(matching):
                values.update(self._said[rank])
            known = self._made[matching] = msgspec.structs.replace(self.base, **values)
        return known


class Derived(Generic[T]):
    """What is made of settings, for each place where they differ, once.

    Args:
        make: gives it for a place.
        locals_: the sections that it is made of.
    """

    def __init__(self, make: Callable[[Asked], T], *locals_: Local[Any]) -> None:
        self._make = make
        places = {place.text: place for local in locals_ for place in local.places}
        self._index = PlaceIndex(places.values())
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
