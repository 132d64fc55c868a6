"""A web of good hosts and traps whose truth is known: `python -m benchmarks.trap_web [--quick] [--serve]`.

Without `--serve` it prints how many pages are good, and which share of the URLs that a naive breadth-first
crawl discovers lies in traps.
"""

import argparse
import asyncio
import contextlib
import html
import json
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

import msgspec

from benchmarks import trap_pages, trap_pits
from benchmarks.trap_pages import Blog, Docs, Listed, Paper, Section, Wiki, Writer
from gossamer.simweb.servers.hosting import bind
from gossamer.simweb.servers.names import NameService, TcpNames, UdpNames
from gossamer.simweb.servers.replies import message
from gossamer.simweb.servers.server import Connection
from gossamer.simweb.servers.service import Service
from gossamer.simweb.world.dice import Dice
from gossamer.simweb.world.resource import Naming, Reply, Request, Resource
from gossamer.simweb.world.spec import WorldSpec
from gossamer.simweb.world.world import World

HTML = "text/html; charset=utf-8"
TRAPS = (
    "day-calendar", "month-calendar", "matrix-session", "query-session", "loop", "long-loop", "facets",
    "endless",
)  # fmt: skip
_ADDRESS = "127.0.0.1"


class TrapWebSpec(msgspec.Struct, frozen=True):
    """Everything that a web with traps follows from.

    Attributes:
        seed: all that looks random follows from it.
        hosts: good hosts, each of a registrable domain of its own.
        pages: good pages of all of them together, roughly; the largest hosts have ten times the smallest.
        traps: one for each of so many hosts, from the second on, in turn.
        farm_hosts, farm_domains: hosts of the link farm, and registrable domains over which they are spread.
        farm_mentions: good hosts that link to the farm.
        cross_links: share of good pages that link to the front page of another good host.
        fan: links into the trap on each page of a maze, filtered list or farm; endless folders have one more.
    """

    seed: int = 4
    hosts: int = 36
    pages: int = 5_000
    traps: tuple[str, ...] = TRAPS
    farm_hosts: int = 6
    farm_domains: int = 2
    farm_mentions: int = 1
    cross_links: float = 0.1
    fan: int = 2


FULL = TrapWebSpec()
QUICK = TrapWebSpec(
    hosts=20,
    pages=2_600,
    traps=("day-calendar", "matrix-session", "loop"),
    farm_hosts=2,
    farm_domains=1,
)


class Site(NamedTuple):
    """One host.

    Attributes:
        writer: of its texts.
        sections: good ones.
        pits: traps, with their kinds.
        elsewhere: URLs of other hosts that its front page links to.
    """

    writer: Writer
    sections: Sequence[Section]
    pits: Sequence[tuple[str, Section]]
    other_agents: Sequence[str]


class TrapWeb:
    """A web as a pure function of its spec, but for the session ids that mazes mint."""

    def __init__(self, spec: TrapWebSpec, port: int = 80) -> None:
        self.trap_spec = spec
        self.spec = WorldSpec(seed=spec.seed)  # the name server and the HTTP server ask for it
        self._suffix = "" if port == 80 else f":{port}"
        self._words = trap_pages.vocabulary(spec.seed)
        self._names = [f"www.site{number}.test" for number in range(spec.hosts)]
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._farm = [f"h{n}.offers{n % spec.farm_domains}.test" for n in range(spec.farm_hosts)]
        self._site = lru_cache(maxsize=None)(self._make)

    @property
    def seeds(self) -> list[str]:
        """Where to begin: one front page, from which everything can be reached."""
        return [self.url(self._names[0], "/")]

    def url(self, host: str, target: str) -> str:
        return f"http://{host}{self._suffix}{target}"

    # What stands where …

    def _make(self, host: str) -> Site | None:
        writer = Writer(self.trap_spec.seed, host, self._words)
        if host in self._farm:
            fellows = [self.url(fellow, "") for fellow in self._farm]
            return Site(writer, (), [("farm", trap_pits.Farm(writer, fellows, self.trap_spec.fan))], ())
        number = self._numbers.get(host)
        return None if number is None else self._good_site(writer, number)

    def _good_site(self, writer: Writer, number: int) -> Site:
        spec = self.trap_spec
        kind = spec.traps[number - 1] if 0 < number <= len(spec.traps) else ""
        dice = writer.dice("host")
        size = int(spec.pages / spec.hosts * (0.3, 0.5, 0.7, 1.0, 1.4, 2.2)[dice.below(6)])
        listed = trap_pages.LISTED_KINDS
        products = Listed(
            writer, max(12, size // 3), listed[0 if kind == "facets" else dice.below(len(listed))]
        )
        sections: list[Section] = [products, Blog(writer, max(8, size // 3), paged=dice.chance(0.5))]
        third = max(6, size // 3)
        if not kind.endswith("loop"):
            sections.append(Wiki(writer, third) if dice.chance(0.5) else Docs(writer, third))
        pits = [(kind, trap_pits.pit(kind, writer, third, products, spec.fan))] if kind else []
        return Site(writer, sections, pits, self._other_agents(number, dice))

    def _other_agents(self, number: int, dice: Dice) -> list[str]:
        """A tree over all hosts, so that each is found, and some more; in the middle the farm."""
        hosts = [
            *range(3 * number + 1, 3 * number + 4),
            *(dice.below(self.trap_spec.hosts) for _ in range(4)),
        ]
        links = [self.url(self._names[host], "/") for host in hosts if host < len(self._names)]
        third = self.trap_spec.hosts // 3
        mentions = third <= number < third + self.trap_spec.farm_mentions
        return links + [self.url(host, "/") for host in self._farm[:2] if mentions]

    def kind(self, url: str) -> str:
        """`good`, the kind of the trap that the URL lies in, or `missing`."""
        return self._look(*self._place(url))[0]

    def _look(self, host: str, target: str) -> tuple[str, Paper | None]:
        site = self._site(host)
        if site is None:
            return "missing", None
        if target == "/" and site.sections:
            return "good", Paper(f"Welcome to {host}", site.writer.article(2, "front"), site.other_agents)
        for section in site.sections:
            if (paper := section.find(target)) is not None:
                return "good", paper
        for kind, pit in site.pits:
            inside = kind if _inside(pit, target) else "good"
            paper = pit.fetch(target) if isinstance(pit, trap_pits.Maze) else pit.find(target)
            if paper is not None:
                return inside, paper
        return "missing", None

    def links(self, url: str) -> list[str]:
        """Absolute URLs that the page links to."""
        host, target = self._place(url)
        paper = self._look(host, target)[1]
        return [] if paper is None else list(dict.fromkeys(self._all_links(host, target, paper)))

    def _all_links(self, host: str, target: str, paper: Paper) -> Iterator[str]:
        site = cast("Site", self._site(host))
        menu = [entry for part in (*site.sections, *(pit for _, pit in site.pits)) for entry in part.entries]
        dice = site.writer.dice("links", target)
        here = self.url(host, "")
        for link in ("/", *menu, *paper.links):
            yield here + link if link.startswith("/") else link
        if site.sections and dice.chance(self.trap_spec.cross_links):
            yield self.url(dice.pick(self._names), "/")

    def _place(self, url: str) -> tuple[str, str]:
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        return parts.hostname or "", target or "/"

    # As the servers of the simulated web ask …

    def find(self, host: str, target: str) -> Resource:
        return Resource(speak=partial(self._speak, host, target))

    def gate(self, _host: str) -> tuple[()]:
        return ()

    def naming(self, name: str) -> Naming | None:
        return Naming(addresses=(_ADDRESS,), ttl=3_600) if self._site(name) is not None else None

    def _speak(self, host: str, target: str, _request: Request) -> Reply:
        _, paper = self._look(host, target)
        if paper is None:
            return Reply(404, message(404, [("Content-Type", "text/plain")], b"not found\n"))
        return Reply(200, message(200, [("Content-Type", HTML)], self._write(host, target, paper)))

    def _write(self, host: str, target: str, paper: Paper) -> bytes:
        site = cast("Site", self._site(host))
        items = "\n".join(
            f'<li><a href="{html.escape(link)}">{html.escape(_label(link))}</a></li>'
            for link in dict.fromkeys(self._all_links(host, target, paper))
        )
        text = "\n".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in paper.text)
        heading, foot = html.escape(paper.title), site.writer.paragraph(60, "foot")
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><title>{heading}</title></head>\n<body>\n'
            f"<h1>{heading}</h1>\n{text}\n<ul>\n{items}\n</ul>\n<footer><p>{foot}</p></footer>\n"
            "</body></html>\n"
        ).encode()

    def body(self, url: str) -> bytes:
        """The page as it is served; empty if there is none."""
        host, target = self._place(url)
        paper = self._look(host, target)[1]
        return b"" if paper is None else self._write(host, target, paper)

    # The truth …

    def good_urls(self) -> set[str]:
        """All good pages that can be reached by good ones."""
        found = set(self.seeds)
        waiting = deque(found)
        while waiting:
            for link in self.links(waiting.popleft()):
                if link not in found and self.kind(link) == "good":
                    found.add(link)
                    waiting.append(link)
        return found


def _label(link: str) -> str:
    return link.rstrip("/").rpartition("/")[2].partition("?")[0].partition(";")[0] or "home"


def _inside(pit: Section, target: str) -> bool:
    """Mazes and loops begin as good pages."""
    return pit.plain(target) != target if isinstance(pit, trap_pits.Maze | trap_pits.Loop) else True


class Naive(msgspec.Struct, frozen=True):
    """What a breadth-first crawl without any guard makes of a web.

    Attributes:
        fetched, discovered: kinds of URLs, with their numbers.
    """

    fetched: dict[str, int]
    discovered: dict[str, int]

    @property
    def trap_share(self) -> float:
        """Of the URLs discovered."""
        return 1 - self.discovered["good"] / sum(self.discovered.values())


def breadth_first(web: TrapWeb, budget: int) -> Naive:
    """Fetch `budget` URLs in the order in which they were found."""
    found = set(web.seeds)
    waiting = deque(found)
    fetched: Counter[str] = Counter()
    while waiting and fetched.total() < budget:
        url = waiting.popleft()
        fetched[web.kind(url)] += 1
        for link in web.links(url):
            if link not in found:
                found.add(link)
                waiting.append(link)
    return Naive(dict(fetched), dict(Counter(map(web.kind, found))))


async def serve(spec: TrapWebSpec) -> None:
    """Serve until standard input ends; tells where on standard output, as the simulated web does."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    listener = bind([_ADDRESS], [], 0)[_ADDRESS]
    port = listener.getsockname()[1]
    web = TrapWeb(spec, port)
    names = NameService(cast("World", web), None)
    connections: set[Connection] = set()
    questions: set[Any] = set()
    service = Service(cast("World", web))
    server = await loop.create_server(
        lambda: Connection(service, None, connections), sock=listener, backlog=4_096
    )
    # A port that is free for one protocol is often taken for the other.
    while True:
        transport, _ = await loop.create_datagram_endpoint(lambda: UdpNames(names), local_addr=(_ADDRESS, 0))
        name_port = transport.get_extra_info("sockname")[1]
        try:
            tcp = await loop.create_server(lambda: TcpNames(names, questions), _ADDRESS, name_port)
            break
        except OSError:
            transport.close()
    told = {"http_port": port, "nameserver": f"{_ADDRESS}:{name_port}", "seeds": web.seeds}
    print(json.dumps(told), flush=True)
    loop.add_reader(sys.stdin.fileno(), stopped.set)  # our parent closes it, or dies
    await stopped.wait()
    for closing in (server, tcp):
        closing.close()
    transport.close()
    for connection in tuple(connections):
        connection.abort()


def main() -> int:
    """Serve, or tell what there is."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trap_web", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--spec", help="JSON of a whole TrapWebSpec")
    arguments = parser.parse_args()
    spec = QUICK if arguments.quick else FULL
    if arguments.spec:
        spec = msgspec.json.decode(arguments.spec, type=TrapWebSpec)
    if arguments.serve:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve(spec))
        return 0
    web = TrapWeb(spec)
    good = web.good_urls()
    naive = breadth_first(web, len(good) * 105 // 100)
    print(f"good pages {len(good)}, on {len({urlsplit(url).hostname for url in good})} hosts")
    print(f"naive breadth first: {naive.trap_share:.3f} of what is discovered lies in traps")
    print(f"fetched {naive.fetched}\ndiscovered {naive.discovered}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
