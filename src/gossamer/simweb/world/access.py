"""What a host's robots file allows, by RFC 9309 and by the patience that good crawlers add to it."""

from dataclasses import dataclass
from enum import StrEnum

from gossamer.simweb.world.resource import Group, Place, Reach
from gossamer.simweb.world.robots import allows
from gossamer.simweb.world.world import World

_REDIRECTS = 5  # RFC 9309 2.3.1.2


class Access(StrEnum):
    """Whether a place may be visited."""

    ALLOWED = "allowed"
    DENIED = "robots"
    HELD = "held"  # the file cannot be had: not now, but not dropped either
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """A host's rules as they were found.

    Attributes:
        standing: what holds for all of the host; with `ALLOWED`, the groups decide.
        groups: as parsed.
        sitemaps: named in the file.
        visits: places asked for on the way, with their final status.
    """

    standing: Access
    groups: tuple[Group, ...] = ()
    sitemaps: tuple[Place, ...] = ()
    visits: tuple[tuple[Place, int], ...] = ()


class RobotsFiles:
    """Keeps the robots files of a world's hosts for one product token."""

    def __init__(self, world: World, product: str) -> None:
        self._world = world
        self._product = product
        self._files: dict[str, RobotsFile] = {}

    def access(self, place: Place) -> Access:
        """Whether `place` may be visited, by the rules of its own host."""
        file = self.rules(place.host)
        if file.standing is not Access.ALLOWED:
            return Access.ALLOWED if place.target == "/robots.txt" else file.standing
        allowed = allows(file.groups, self._product, place.target)
        return Access.ALLOWED if allowed else Access.DENIED

    def rules(self, host: str) -> RobotsFile:
        """The rules of `host`, fetched once."""
        if host not in self._files:
            self._files[host] = self._fetch(Place(host, "/robots.txt"))
        return self._files[host]

    def _fetch(self, place: Place) -> RobotsFile:
        visits: list[tuple[Place, int]] = []
        for _ in range(_REDIRECTS + 1):
            if self._world.reach(place.host) is not Reach.FINE:
                return RobotsFile(Access.HELD, visits=tuple(visits))
            resource = self._world.find(*place)
            visits.append((place, resource.status))
            if resource.redirect is not None:
                place = resource.redirect
                continue
            if not resource.certain or resource.status == 429 or resource.status >= 500:
                return RobotsFile(Access.HELD, visits=tuple(visits))
            if resource.status == 200:
                return RobotsFile(Access.ALLOWED, resource.groups, resource.sitemaps, tuple(visits))
            return RobotsFile(Access.ALLOWED, visits=tuple(visits))  # 2.3.1.3: unavailable
        # 2.3.1.2: "MAY assume that the robots.txt file is unavailable"
        return RobotsFile(Access.UNCERTAIN, visits=tuple(visits))
