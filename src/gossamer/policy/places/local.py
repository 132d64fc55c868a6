"""Lays what places say over the settings that hold everywhere."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.place import Asked, Place

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

MOST_KEPT = 1_024
"""Different settings that are kept made; the memory is emptied when full."""

Given = tuple[Place, Mapping[str, Any]]
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
    place: Place | None
    beaten: tuple[Place, ...] = ()


class Local(Generic[S]):
    """One section of the settings, as it stands at each place.

    For every single setting the narrowest of the places that hold decides, if it says something of it.

    Args:
        base: what holds everywhere.
        given: by place; the order does not matter.
    """

    def __init__(self, base: S, given: Sequence[Given] = ()) -> None:
        self.base = base
        given = [(place, said) for place, said in given if said]
        self.differs = bool(given)
        """Some place says something; else nobody need ask about one."""
        self._index = PlaceIndex(place for place, _ in given)
        by_place = {place.text: said for place, said in given}
        self._said = [by_place[place.text] for place in self._index.places]
        self._made: dict[tuple[int, ...], S] = {}

    def at(self, asked: Asked) -> S:
        """The section as it stands there."""
        return self._of(self._index.matching(asked)) if self.differs else self.base

    @property
    def places(self) -> tuple[Place, ...]:
        """Those that say something of this section."""
        return self._index.places

    def matching(self, asked: Asked) -> list[Given]:
        """What each place that holds says, the narrowest first."""
        return [(self._index.places[rank], self._said[rank]) for rank in self._index.matching(asked)]

    def values(self, name: str) -> list[Any]:
        """All values that a setting has anywhere."""
        return [getattr(self.base, name), *(said[name] for said in self._said if name in said)]

    def won(self, asked: Asked) -> list[Won]:
        """Each setting that any place says something of, with where its value comes from."""
        matching = self.matching(asked)
        names = dict.fromkeys(name for said in self._said for name in said)
        return [
            self._won(name, [(place, said[name]) for place, said in matching if name in said])
            for name in names
        ]

    def _won(self, name: str, said: list[tuple[Place, Any]]) -> Won:
        if not said:
            return Won(name, getattr(self.base, name), None)
        (place, value), *wider = said
        return Won(name, value, place, tuple(beaten for beaten, _ in wider))

    def _of(self, matching: tuple[int, ...]) -> S:
        if not matching:
            return self.base
        known = self._made.get(matching)
        if known is None:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            said: dict[str, Any] = {}
            for rank in reversed(matching):
                said.update(self._said[rank])
            known = self._made[matching] = msgspec.structs.replace(self.base, **said)
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
        """As it stands there."""
        which = self._index.matching(asked)
        known = self._made.get(which)
        if known is None:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            known = self._made[which] = self._make(asked)
        return known
