"""The backward zone: names that are slow to resolve or fail, kept by weight (Z6)."""

import sys
from collections.abc import Iterator

from gossamer.dns.zones.area import CollisionArea, Place, Rank
from gossamer.dns.zones.kept import Kept

ACCESS_STEP = 60.0
"""Seconds within which accesses count as one: an hour's weight need not be right to the second."""

_POINTER = 8


class BackwardZone:
    """Keeps answers by name; when it is full the lightest leaves.

    Invariants: the third hash table leads to exactly the places of the area, each under its own name;
    there are at most `names` of them.
    """

    def __init__(self, names: int, renewal_period: float, removal_every: float) -> None:
        self._limit = names
        self._renewal_period = renewal_period
        self._removal_every = removal_every
        self._places: dict[str, Place] = {}  # third hash table
        self._area = CollisionArea()
        self._removal_began = 0.0
        self._removing = False
        self._reached: Rank | None = None  # places of this rank and lighter ones have been looked at

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return f"<BackwardZone {len(self._places)} of {self._limit}>"

    def get(self, name: str, now: float) -> Kept | None:
        """What is kept of `name`, if it is fresh; counts as an access, which adds weight."""
        place = self._places.get(name)
        if place is None:
            return None
        if place.kept.fresh(now):
            if not place.accessed <= now < place.accessed + ACCESS_STEP:
                self._access(place, now)
            return place.kept
        if place.kept.spent(now):
            self.remove(name)
        return None

    def stale(self, name: str, now: float) -> Kept | None:
        """Addresses of `name`, if their time is over; counts for nothing."""
        place = self._places.get(name)
        if place is None or place.kept.fresh(now) or not place.kept.answer.addresses:
            return None
        return place.kept

    def put(self, kept: Kept, seconds: float, now: float) -> None:
        """Keep an answer that took `seconds`, in place of what was kept of the name."""
        name = kept.answer.name
        self.remove(name)
        place = self._places[name] = Place(kept, seconds, now)
        self._area.add(place)
        if len(self._places) > self._limit:
            self.remove(self._area.lightest.name)
        assert len(self._places) == len(self._area) <= self._limit, self

    def remove(self, name: str) -> None:
        """Forget a name, if it is kept."""
        place = self._places.pop(name, None)
        if place is not None:
            self._area.remove(place)

    def tidy(self, now: float) -> None:
        """Go on with the periodic removal, or begin one when it is time.

        One call looks at one block of the area, from the light end on, so that none takes long. What is
        light and was not renewed within the period leaves; so does a failure whose time is over.
        """
        if not self._removing:
            if self._removal_began <= now < self._removal_began + self._removal_every:
                return
            self._removal_began = now
            self._removing = True
            self._reached = None
        looked_at = self._area.heavier(self._reached)
        self._removing = bool(looked_at)
        if looked_at:
            self._reached = looked_at[0].rank
        for place in looked_at:
            unrenewed = now - place.kept.since > self._renewal_period
            if (place.weight < now and unrenewed) or place.kept.spent(now):
                self.remove(place.name)

    def kept(self) -> Iterator[Kept]:
        """Everything that is kept, the heaviest first."""
        return (place.kept for place in self._area)

    def room(self) -> int:
        """Bytes that all of it takes."""
        total = sys.getsizeof(self._places) + _POINTER * len(self._area)
        for place in self._area:
            total += sum(map(sys.getsizeof, (place, place.seconds, place.accessed, place.rank, place.weight)))
            total += place.kept.room()
        return total

    def clear(self) -> None:
        """Forget every slow or failed name."""
        self._places.clear()
        self._area.clear()

    def _access(self, place: Place, now: float) -> None:
        self._area.remove(place)
        place.accessed = now
        place.weigh()
        self._area.add(place)
