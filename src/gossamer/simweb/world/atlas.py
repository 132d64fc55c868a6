"""Where things lie: names, sizes and addresses of hosts, and how a link from here to there is written."""

import re
from array import array
from functools import lru_cache
from itertools import repeat

from gossamer.simweb.world.dice import Dice, fingerprint
from gossamer.simweb.world.resource import Link, Naming, Place
from gossamer.simweb.world.spec import WorldSpec

DEAD_ADDRESS = "127.0.200.1"  # nobody listens
DROP_ADDRESS = "127.0.201.1"  # takes connections and drops them
FORBIDDEN_ADDRESS = "127.99.99.99"  # stands for a private network; whoever connects is in the visit log
HOME = "sim.test"

_ORDINARY = re.compile(r"h(0|[1-9]\d{0,8})\.sim(\d*)\.test")
_SECTIONS = 8
_PLACES = 1 << 16


class Atlas:
    """Geography of the ordinary hosts, plus URL spelling for all hosts.

    `page(index, number)` is where a page of a host stands; page 0 is the front page.

    All of the world lies in 127.0.0.0/16 (or in the spec's `network`); `FORBIDDEN_ADDRESS` and what else
    hostile names resolve to lie outside, so that a crawler's table of forbidden ranges can tell them apart.
    """

    def __init__(self, spec: WorldSpec, port: int) -> None:
        self.spec = spec
        self.port = port
        self._suffix = "" if port == 80 else f":{port}"
        self._sizes = _sizes(spec)
        self.page = lru_cache(maxsize=_PLACES)(self._page)

    def name(self, index: int) -> str:
        """Name of ordinary host `index`."""
        domain = index % self.spec.domains
        return f"h{index}.sim{domain or ''}.test"

    def index(self, name: str) -> int | None:
        """Number of the ordinary host `name`, or `None`."""
        match = _ORDINARY.fullmatch(name)
        if match is None:
            return None
        index = int(match[1])
        return index if index < self.spec.hosts and name == self.name(index) else None

    def pages(self, index: int) -> int:
        """Number of pages of ordinary host `index`."""
        return self._sizes[index]

    def _page(self, index: int, number: int) -> Place:
        return Place(self.name(index), f"/s{number % _SECTIONS}/p{number}.html" if number else "/")

    def any_page(self, dice: Dice) -> Place:
        """Some page of some ordinary host."""
        index = dice.below(self.spec.hosts)
        return self.page(index, dice.below(self._sizes[index]))

    def naming(self, name: str) -> Naming:
        """How a name of a well-behaved host resolves."""
        draw = fingerprint(self.spec.seed, "name", name)
        number = draw % self.spec.addresses
        ttl = self.spec.name_ttl if self.spec.name_ttl >= 0 else 60 + draw % 3600
        if self.spec.backends:
            backend = f"backend{draw % self.spec.backends}.{HOME}"
            return Naming(addresses=tuple(self.addresses()), ttl=ttl, aliases=(backend,), wander=True)
        return Naming(addresses=(f"{self.spec.network}.{number}.1",), ttl=ttl)

    def addresses(self) -> list[str]:
        """Every address of well-behaved hosts."""
        return [f"{self.spec.network}.{number}.1" for number in range(self.spec.addresses)]

    def url(self, place: Place) -> str:
        """The absolute URL of `place`."""
        return f"http://{place.host}{self._suffix}{place.target}"

    def place(self, url: str) -> Place:
        """Inverse of `url`; raises ValueError for a URL that is not of this world's port."""
        rest = url.removeprefix("http://")
        authority, slash, path = rest.partition("/")
        host = authority.removesuffix(self._suffix)
        if rest == url or ":" in host.rpartition("]")[2] or (self._suffix and host == authority):
            raise ValueError(f"{url} is not a URL of this world (http, port {self.port})")
        return Place(host.lower(), "/" + path.partition("#")[0] if slash else "/")

    def link(self, here: Place, to: Place, draw: int) -> Link:
        """A link from `here` to `to`, written in one of the ways people write them: `draw` is 24 bits."""
        if here.host != to.host:
            href = self.url(to) if draw & 7 else self.url(to)[5:]
        elif draw & 3 == 0:
            href = relative(here.target, to.target)
        else:
            href = self.url(to) if draw & 31 == 1 else to.target
        if draw & 0xF000 == 0x1000:
            href = f"{href}#part-{draw >> 20 & 15}"
        return Link(to, href)


def relative(here: str, to: str) -> str:
    """`to` written relative to the document `here`; both are absolute targets."""
    path, query, rest = to.partition("?")
    folders = here.partition("?")[0].split("/")[1:-1]
    parts = path.split("/")[1:]
    shared = 0
    while shared < min(len(folders), len(parts) - 1) and folders[shared] == parts[shared]:
        shared += 1
    written = "../" * (len(folders) - shared) + "/".join(parts[shared:])
    return (written or "./") + query + rest


def _sizes(spec: WorldSpec) -> "array[int]":
    if spec.exponent == 0.0 or spec.pages == spec.hosts:
        share, rest = divmod(spec.pages, spec.hosts)
        return array("L", [share + (index < rest) for index in range(spec.hosts)])
    weights = [(rank + 1) ** -spec.exponent for rank in range(spec.hosts)]
    scale = (spec.pages - spec.hosts) / sum(weights)
    sizes = array("L", map(_size, weights, repeat(scale)))
    sizes[0] += spec.pages - sum(sizes)
    return sizes


def _size(weight: float, scale: float) -> int:
    return 1 + int(weight * scale)
