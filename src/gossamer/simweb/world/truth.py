"""The ground truth: which URLs a correct crawl must fetch, which it must not, and why."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from gossamer.simweb.world.access import Access, RobotsFiles
from gossamer.simweb.world.resource import NAVIGATION, Link, Place, Reach, Resource
from gossamer.simweb.world.spec import WorldSpec
from gossamer.simweb.world.world import STRANGER, World

_DEEP = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRules:
    """What a crawl was told.

    Attributes:
        scope: `host` (the seeds' hosts), `domain` (their registrable domains) or `any`.
        hosts: further hosts that belong to the scope.
        max_depth: links from a seed; redirects, robots files and sitemaps add none; `None`: no limit.
        obey_robots: whether robots files are asked for and obeyed.
        product: the crawler's product token (RFC 9309 2.2.1).
        nofollow: whether `nofollow` of links, pages and headers is honoured.
        requisites: whether pictures, scripts and style sheets are followed too.
        sitemaps: whether sitemaps named in robots files are read; what they list has depth 0.
        max_redirects: redirects in a row that are followed; the next one's target is not fetched.
        max_url: bytes of the longest URL.
        allow_private: whether hosts in private address ranges may be visited.
    """

    scope: str = "host"
    hosts: tuple[str, ...] = ()
    max_depth: int | None = None
    obey_robots: bool = True
    product: str = "gossamer"
    nofollow: bool = True
    requisites: bool = False
    sitemaps: bool = False
    max_redirects: int = 20
    max_url: int = 4_096
    allow_private: bool = False

    def __post_init__(self) -> None:
        if self.scope not in ("host", "domain", "any"):
            raise ValueError(f"scope is host, domain or any, not {self.scope}")


@dataclass(frozen=True, slots=True)
class Differences:
    """What a crawl did against the truth; empty, and false, if it was correct.

    Attributes:
        missing: URLs that had to be fetched, with the status they would have had.
        forbidden: URLs fetched though they must not be, with the reason.
        wrong: URLs with the status they should have had and the one the crawl saw.
        unknown: URLs fetched that nothing mentions.
    """

    missing: dict[str, int]
    forbidden: dict[str, str]
    wrong: dict[str, tuple[int, int]]
    unknown: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.forbidden or self.wrong or self.unknown)


@dataclass(frozen=True, slots=True)
class Truth:
    """What a correct crawl does.

    Every URL that comes into question stands in exactly one of `fetched`, `refused`, `uncertain`.

    Attributes:
        fetched: URLs that must be fetched, with the final status, robots files not included.
        refused: URLs that must not be fetched, with the reason: `scope`, `depth`, `robots`, `held`
            (the robots file cannot be had), `nofollow`, `hops`, `too-long`, `name`, `unreachable`,
            `address`.
        uncertain: URLs that must be tried, with what comes of it left open, and why: `doubtful`
            answers, `trap`s, hosts whose `robots` file or `address` can be taken either way.
        robots: robots files to be asked for, redirects included, with their final status.
        depths: of each URL fetched, by the shortest way.
        traps: what URLs in a bottomless pit begin with.
    """

    fetched: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    uncertain: dict[str, str] = field(default_factory=dict)
    robots: dict[str, int] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    traps: set[str] = field(default_factory=set)

    def compare(self, crawled: Mapping[str, int]) -> Differences:
        """Judge a crawl by its URLs and their final statuses (robots files may be among them or not)."""
        missing = {url: status for url, status in self.fetched.items() if url not in crawled}
        forbidden = {url: self.refused[url] for url in crawled if url in self.refused}
        wrong = {
            url: (self.fetched[url], status)
            for url, status in crawled.items()
            if self.fetched.get(url, status) != status
        }
        known = self.fetched.keys() | self.refused.keys() | self.uncertain.keys() | self.robots.keys()
        traps = tuple(self.traps)
        unknown = tuple(url for url in crawled if url not in known and not url.startswith(traps))
        return Differences(missing, forbidden, wrong, unknown)


class _Mention(NamedTuple):
    """A place somebody mentioned: how deep it lies, and after how many redirects in a row."""

    place: Place
    depth: int
    redirects: int


def truth(spec: WorldSpec, seeds: Iterable[str], rules: CrawlRules | None = None) -> Truth:
    """Walk the world from `seeds` (whose port it takes over) as the rules allow.

    Traps are entered by one step only: their first page is uncertain and leads nowhere.
    Raises ValueError for seeds of different ports.
    """
    seeds = list(seeds)
    ports = {_port(url) for url in seeds}
    if len(ports) != 1:
        raise ValueError(f"seeds must share one port, these have {sorted(ports)}")
    walk = _Walk(World(spec, ports.pop()), rules or CrawlRules())
    return walk.run([walk.world.atlas.place(url) for url in seeds])


class _Walk:
    """A breadth-first walk by depth; redirects are followed within their depth."""

    def __init__(self, world: World, rules: CrawlRules) -> None:
        self.world = world
        self.rules = rules
        self._truth = Truth()
        self._robots = RobotsFiles(world, rules.product)
        self._hosts: set[str] = set()
        self._queue: deque[_Mention] = deque()
        self._withheld: set[str] = set()  # only mentioned where the mention asks not to be followed
        self._greeted: set[str] = set()

    def run(self, seeds: list[Place]) -> Truth:
        self._hosts = {*self.rules.hosts, *(host for seed in seeds for host in self._seed_hosts(seed))}
        self._queue.extend(_Mention(seed, 0, 0) for seed in seeds)
        while self._queue:
            self._judge(self._queue.popleft())
        known = self._truth
        for url in self._withheld:
            if url not in known.fetched and url not in known.refused and url not in known.uncertain:
                known.refused[url] = "nofollow"
        return known

    def _judge(self, mention: _Mention) -> None:
        url, known = self.world.atlas.url(mention.place), self._truth
        if url in known.uncertain or known.depths.get(url, _DEEP) <= mention.depth:
            return  # a sitemap may yet show a shorter way than the one that was walked first
        reason = self._refusal(mention, url)
        if reason:
            # A shorter way may be refused for its redirects where a longer one is not.
            known.refused.setdefault(url, reason)
            return
        known.refused.pop(url, None)
        resource = self.world.find(*mention.place)
        if doubt := self._doubt(mention.place, resource):
            known.uncertain[url] = doubt
            if resource.trap:
                known.traps.add(self.world.atlas.url(Place(mention.place.host, resource.trap)))
            return
        known.fetched[url] = resource.status
        known.depths[url] = mention.depth
        self._follow(mention, resource)

    def _refusal(self, mention: _Mention, url: str) -> str:
        """Why the place must not be fetched; empty if it must be tried."""
        rules, host = self.rules, mention.place.host
        if len(url) > rules.max_url:
            return "too-long"
        if not self._in_scope(host):
            return "scope"
        if rules.max_depth is not None and mention.depth > rules.max_depth:
            return "depth"
        if mention.redirects > rules.max_redirects:
            return "hops"
        reach = self.world.reach(host)
        match reach:
            case Reach.UNRESOLVABLE:
                return "name"
            case Reach.UNREACHABLE:
                return "unreachable"
            case Reach.FORBIDDEN if not rules.allow_private:
                return "address"
        if rules.obey_robots and reach is Reach.FINE:
            self._greet(host)
            access = self._robots.access(mention.place)
            if access in (Access.DENIED, Access.HELD):
                return access.value
        return ""

    def _doubt(self, place: Place, resource: Resource) -> str:
        if resource.trap:
            return "trap"
        if self.world.reach(place.host) is not Reach.FINE:
            return "address"
        if self.rules.obey_robots and self._robots.access(place) is Access.UNCERTAIN:
            return "robots"
        return "" if resource.certain and resource is not STRANGER else "doubtful"

    def _follow(self, mention: _Mention, resource: Resource) -> None:
        if resource.redirect is not None:
            # Before all else at this depth, so that depth stays the order of the queue.
            self._queue.appendleft(_Mention(resource.redirect, mention.depth, mention.redirects + 1))
            return
        for link in resource.links:
            if not self._leads(link):
                continue
            if self.rules.nofollow and (link.nofollow or resource.nofollow):
                self._withheld.add(self.world.atlas.url(link.to))
            else:
                self._queue.append(_Mention(link.to, mention.depth + 1, 0))

    def _greet(self, host: str) -> None:
        """Ask for the host's robots file, once, and read its sitemaps if told to."""
        if host in self._greeted:
            return
        self._greeted.add(host)
        file = self._robots.rules(host)
        self._truth.robots.update((self.world.atlas.url(place), status) for place, status in file.visits)
        if self.rules.sitemaps:
            self._queue.extendleft(_Mention(place, 0, 0) for place in self._listed(file.sitemaps))

    def _listed(self, sitemaps: Iterable[Place]) -> list[Place]:
        """Sitemaps, the sitemaps they name, and the pages these list."""
        found = dict.fromkeys(sitemaps)
        waiting = list(found)
        while waiting:
            for entry in self.world.find(*waiting.pop()).entries:
                if entry not in found:
                    found[entry] = None
                    waiting.append(entry)
        return list(found)

    def _leads(self, link: Link) -> bool:
        return self.rules.requisites or link.element in NAVIGATION

    def _in_scope(self, host: str) -> bool:
        match self.rules.scope:
            case "any":
                return True
            case "domain":
                return any(_domain(host) == _domain(seed) for seed in self._hosts)
        return host in self._hosts

    def _seed_hosts(self, seed: Place) -> set[str]:
        """The seed's host, and those to which it redirects: they join the scope."""
        hosts, place = {seed.host}, seed
        for _ in range(self.rules.max_redirects):
            target = self.world.find(*place).redirect
            if target is None:
                break
            hosts.add(target.host)
            place = target
        return hosts


def _domain(host: str) -> str:
    """Registrable domain: two labels, since `test` is no entry of the public suffix list."""
    return host if host[-1:].isdigit() or host.startswith("[") else ".".join(host.split(".")[-2:])


def _port(url: str) -> int:
    authority = url.removeprefix("http://").partition("/")[0]
    port = authority.rpartition("]")[2].partition(":")[2]
    if not url.startswith("http://") or not (port.isdecimal() or not port):
        raise ValueError(f"{url} is not a URL of a simulated web")
    return int(port or 80)
