"""The simulated web as a whole: what stands where, under which name, and where to begin."""

from collections.abc import Mapping
from functools import lru_cache

from gossamer.simweb.cases import CASES, Stage
from gossamer.simweb.servers.replies import error
from gossamer.simweb.world.atlas import HOME, Atlas
from gossamer.simweb.world.resource import Answer, Link, Naming, Place, Reach, Resource, Scene
from gossamer.simweb.world.site import OrdinarySite
from gossamer.simweb.world.spec import EVERYTHING, WorldSpec

GOOD = ("/good-1.html", "/good-2.html")
MISSING = Resource(status=404, content_type="text/plain", body=lambda: b"not found\n")
STRANGER = Resource(status=421, speak=error(421))
_SECRET = Resource(content_type="text/plain", body=lambda: b"you should not be here\n")


class World:
    """A pure function from places to resources and from names to addresses.

    Holds nothing but bounded caches: what differs from visit to visit is the server's business.
    The port stands in absolute links and decides nothing else.
    """

    def __init__(self, spec: WorldSpec, port: int = 80) -> None:
        names = tuple(CASES) if EVERYTHING in spec.misbehaviours else spec.misbehaviours
        if unknown := set(names) - set(CASES):
            raise ValueError(f"no such misbehaviour: {', '.join(sorted(unknown))}; known: {', '.join(CASES)}")
        self.spec = spec
        self.atlas = Atlas(spec, port)
        self.cases = {f"{name}.{HOME}": name for name in names}
        self._ordinary = lru_cache(maxsize=1_024)(self._ordinary_site)
        self._scenes: dict[str, Scene] = {}
        self._names: dict[str, Naming] | None = None

    def seeds(self) -> list[str]:
        """URLs of the front pages from which all of the world can be reached."""
        return [self.atlas.url(self.atlas.page(index, 0)) for index in range(self.spec.seeds)]

    def seeds_of_cases(self) -> list[str]:
        """URLs of the front pages of all cases, for crawls that stay on their seeds' hosts."""
        return [self.atlas.url(Place(host, "/")) for host in self.cases]

    def find(self, host: str, target: str) -> Resource:
        """What stands at a place; `MISSING` or, if the host is none of ours, `STRANGER`."""
        if (site := self._ordinary(host)) is not None:
            return site.find(target) or MISSING
        if host in self.cases:
            return self._staged(host, target) or MISSING
        return _SECRET if self.naming(host) is not None else STRANGER

    def gate(self, host: str) -> tuple[Answer, ...]:
        """Answers to the first visits of a host, whatever they ask for but the robots file."""
        return self._scene(host).gate if host in self.cases else ()

    def naming(self, name: str) -> Naming | None:
        """What the name server knows of `name` (lower case); `None`: nothing."""
        if self.atlas.index(name) is not None:
            return self.atlas.naming(name)
        if name in self.cases:
            return self._scene(name).naming or self.atlas.naming(name)
        return self._case_names().get(name)

    def reach(self, host: str) -> Reach:
        """Whether a correct visitor can talk to `host`, a name or a literal address."""
        if host[-1:].isdigit() or host.startswith("["):
            return Reach.FINE if host.startswith(f"{self.spec.network}.") else Reach.FORBIDDEN
        naming = self.naming(host)
        return naming.reach if naming else Reach.UNRESOLVABLE

    def _ordinary_site(self, host: str) -> OrdinarySite | None:
        index = self.atlas.index(host)
        return None if index is None else OrdinarySite(self.atlas, index, self._neighbours(index))

    def _neighbours(self, index: int) -> tuple[Place, ...]:
        return tuple(Place(host, "/") for host in self.cases) if index == 0 else ()

    def _scene(self, host: str) -> Scene:
        if host not in self._scenes:
            name = self.cases[host]
            self._scenes[host] = CASES[name](Stage(name, self.atlas))
        return self._scenes[host]

    def _case_names(self) -> Mapping[str, Naming]:
        if self._names is None:
            self._names = {
                name: naming for host in self.cases for name, naming in self._scene(host).names.items()
            }
        return self._names

    def _staged(self, host: str, target: str) -> Resource | None:
        scene = self._scene(host)
        if found := scene.resources.get(target):
            return found
        stage = Stage(self.cases[host], self.atlas)
        if target == "/":
            listed = tuple(target for target in scene.entries if target in scene.resources)
            return stage.page(f"Case {stage.name}", GOOD[0], *listed, *scene.links, GOOD[1])
        if target in (*GOOD, "/beyond.html"):
            home: tuple[Link | str, ...] = ("/", *GOOD)
            return stage.page(f"Good page {target}", *home)
        return scene.endless(target) if scene.endless else None
