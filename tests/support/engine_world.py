"""The engine's parts over a real state and archive in a temporary folder, with a clock that tests move."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import msgspec

from gossamer.archive.committed import archive_files
from gossamer.archive.config import ArchiveConfig
from gossamer.archive.writer import ArchiveWriter
from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.observe import Observers
from gossamer.engine.plugin_watch import PluginWatch
from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement.archivist import Archivist
from gossamer.engine.settlement.doors import Doors, LinkRules
from gossamer.engine.settlement.drop_one import DropOne, DropTests
from gossamer.engine.settlement.judge import Judge
from gossamer.engine.settlement.ledger import Ledger
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.revisits import Revisits
from gossamer.engine.settlement.settlement import Settlement
from gossamer.engine.settlement.spare_time import SpareTime
from gossamer.engine.settlement.visit_log import VisitLog
from gossamer.engine.settlement.yields import Yields
from gossamer.engine.visiting.visit import Visit
from gossamer.fetch.body import SpooledBody
from gossamer.frontier.config import FrontierConfig, HostPolicy, Session
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.exchange import Exchange, Headers, Timing
from gossamer.model.lease import Lease
from gossamer.model.link import Link, LinkKind
from gossamer.model.outcome import Fetched
from gossamer.model.page import Directives, Page
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.robots.access import RobotsConfig
from gossamer.policy.robots.file import parse_robots
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.policy.visits.retry import RetryConfig
from gossamer.state.clock import CrawlClock, WallClock
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints
from gossamer.state.records import Counters, decode, decode_page

SMALL = StateConfig(block_cache=1 << 20, write_buffers=1 << 20)
START = 1_700_000_000.0
SITE = "http://site.example"


class ByDepth:
    """Breadth-first, as the ordering port wants it."""

    name = "bfs"

    def level(self, candidate: Candidate) -> int:
        return candidate.depth + 1


class EngineWorld:
    """One crawl's parts, made as `assembly.build` makes them; each may be told otherwise."""

    def __init__(self, path: Path, **told) -> None:
        self.path = path
        self.micros = int(START * 1e6)
        self.events = []
        self.raised = []
        told = SimpleNamespace(**told)

        def given(name, default):
            return getattr(told, name, default)

        path.mkdir()
        self._spare = given("spare", None)
        self.environment = Environment.open(path / "state", SMALL) if self._spare is None else self._spare
        self.counters = Counters()
        self.retry = given("retry", RetryConfig())
        self.politeness = given("politeness", PolitenessConfig())
        self.robots_config = given("robots", RobotsConfig())
        self.scope_config = given("scope", ScopeConfig())
        self.traps = given("traps", TrapConfig())
        self.seeds = [Url.parse(url) for url in given("seeds", [f"{SITE}/"])]
        self.policy = HostPolicy(
            queue_key=lambda url: url.host,
            visits_at_once=lambda _: given("leases", 100),
            rest=lambda _: 0.0,
            budget_spent=lambda *_: "",
            obey_robots=given("obey", False),
            branches=given("branches", BranchConfig()),
        )
        self.ordering = given("ordering", ByDepth())
        wall = WallClock(given("wall_speed", 1.0), START, lambda: self.now)
        session = Session(Fingerprints(b"k" * 16), lambda: self.micros, wall=wall)
        self.frontier = Frontier(
            self.environment,
            FrontierConfig(max_hosts=8, buffer=4, recent_links=1_024, seen_cache=64),
            self.policy,
            self.ordering,
            self.counters,
            session,
        )
        self.observers = Observers([self.events.append])
        self.plugins = PluginWatch(self.counters, self.observers)
        self.identity = Identity(Canonicaliser(given("canonical", CanonicalConfig())), self.frontier)
        self.scope = self.scope_of(self.scope_config, rules=given("rules", ()))
        self.parameters = given("parameters", None)
        self.drop_tests = None
        if self.parameters is not None:
            self.drop_tests = DropTests(self.parameters, self.frontier)
        self.admission = Admission(
            self.frontier,
            self.identity,
            self.scope,
            self.counters,
            self.observers,
            record_rejected=given("record_rejected", True),
            raised=self.raised.append,
            plain=self.drop_tests.for_links if self.drop_tests is not None else None,
        )
        self.context = RobotsFiles(
            self.frontier,
            self.admission,
            self.robots_config,
            lambda: self.micros,
            sitemaps=given("sitemaps", True),
            guess_sitemap=given("guess_sitemap", True),
        )
        self.judge = Judge(
            self.frontier,
            self.context,
            lambda _: self.retry,
            lambda *_: self.politeness,
            lambda _: given("speed", 0.0),
            every_attempt=given("every_attempt", False),
        )
        self.memory = PageMemory(self.environment)
        self.clock = CrawlClock()
        self.ledger = Ledger(self.counters, self.clock)
        self.drop_one = None
        if self.drop_tests is not None:
            self.drop_one = DropOne(
                self.parameters, self.drop_tests, self.frontier, self.identity, self.admission
            )
        self.yields = Yields(self.frontier, self.drop_one)
        self.links = given("links", LinkRules())
        self.pace = RevisitPace(
            self.environment, self.frontier, given("revisit", RevisitConfig()), given("paces", None)
        )
        self.again = Revisits(self.frontier, self.identity, self.memory, self.pace)
        self.doors = Doors(
            self.identity,
            self.memory,
            self.judge,
            self.admission,
            self.context,
            self.links,
            self.yields,
            self.plugins,
            self.again,
        )
        self.archive_config = given("archive", ArchiveConfig())
        self._archivist = None
        self.digests = None
        """What other agents have met; to be told before anything is archived."""

    def scope_of(self, config, *, joined=(), rules=()) -> Scope:
        return Scope(config, self.seeds, joined, rules, self.traps)

    # What is made only where it is wanted …

    @property
    def archivist(self) -> Archivist:
        if self._archivist is None:
            self.writer = ArchiveWriter.open(
                self.path / "archive",
                self.archive_config,
                [("software", "test")],
                archive_files(self.environment),
            )
            self.log = VisitLog(self.path / "crawl.log", 0)
            self._archivist = Archivist(self.writer, self.log, self.environment, self.counters, self.digests)
        return self._archivist

    def settlement(self, sinks=(), settled=lambda: None) -> Settlement:
        return Settlement(
            self.frontier,
            self.doors,
            self.archivist,
            self.ledger,
            self.observers,
            sinks,
            SpareTime(),
            queue_size=8,
            settled=settled,
        )

    def settle(self, *visits: Visit, sinks=()) -> None:
        """Settle visits as one session's settlement does, and let it end."""

        async def work():
            settlement = self.settlement(sinks)
            for visit in visits:
                await settlement.take(visit)
            running = asyncio.create_task(settlement.run())
            await settlement.finish()
            await running

        asyncio.run(work())

    def close(self) -> None:
        if self._archivist is not None:
            self.writer.abandon()
            self.log.close()
        if self._spare is None:
            self.environment.close()

    # Time …

    @property
    def now(self) -> float:
        return self.micros / 1e6

    def pass_time(self, seconds: float) -> None:
        self.micros += int(seconds * 1e6)

    # What is known …

    def record(self, url: str):
        """The page record of a URL, or `None`."""
        data = self.environment.get(Family.PAGES, self.identity.fingerprint(parsed(url)))
        return decode_page(data) if data else None

    def host(self, url: str = f"{SITE}/"):
        """The record of a URL's host."""
        return self.frontier.hosts.get(self.frontier.host_key(parsed(url))[0])

    def queued(self) -> list[str]:
        """URLs in the queues, as they stand on disk, in order."""
        return [decode(data, list)[0] for _, data in self.environment.scan(Family.QUEUE)]

    def meta(self, key: bytes, kind):
        data = self.environment.get(Family.META, key)
        return None if data is None else decode(data, kind)

    # Values …

    def admit(self, url: str, **fields) -> bool:
        with self.frontier.changes():
            return self.admission.admit(Candidate(parsed(url), **fields))

    def lease(self, url: str = f"{SITE}/", **fields) -> Lease:
        """A lease on a URL that is queued for it, whatever the scope says; the host's rest is waited for."""
        candidate = Candidate(parsed(url), **fields)
        with self.frontier.changes() as batch:
            host, name = self.frontier.host_key(candidate.url)
            level = 0 if candidate.kind is LinkKind.ROBOTS else self.ordering.level(candidate)
            self.frontier.enqueue(host, name, candidate, level, batch)
        for _ in range(2):
            while (lease := self.frontier.lend()) is not None:
                if lease.candidate == candidate:
                    return lease
            self.pass_time(100)
        raise AssertionError(f"{url} was not lent")

    def robots_lease(
        self, url: str = f"{SITE}/robots.txt", origin: str = SITE, hops: str = "P", via: str = ""
    ):
        return self.lease(url, kind=LinkKind.ROBOTS, hops=hops, origin=origin, via=via)


def parsed(url: str) -> Url:
    found = Url.parse(url)
    assert found is not None, url
    return found


def link(url: str, kind: LinkKind = LinkKind.NAVIGATION, *, nofollow: bool = False, base: str = f"{SITE}/"):
    target = Url.parse(url, base)
    assert target is not None, url
    return Link(target, kind, "a@href", nofollow)


def exchange(url=f"{SITE}/", status=200, body=b"hello", *, truncated=None, seconds=0.5, **fields) -> Exchange:
    headers = Headers([(name.replace("_", "-"), value) for name, value in fields.items()])
    head = f"HTTP/1.1 {status} X\r\n".encode() + b"".join(
        f"{name}: {value}\r\n".encode() for name, value in headers.fields
    )
    return Exchange(
        parsed(url),
        START,
        b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n",
        status,
        head + b"\r\n",
        headers,
        SpooledBody(body),
        timing=Timing(total=seconds),
        truncated=truncated,
    )


def fetched(url=f"{SITE}/", status=200, body=b"hello", **fields) -> Fetched:
    return Fetched(exchange(url, status, body, **fields))


def page(url=f"{SITE}/", *links: Link, digest=0, nofollow=False, **fields) -> Page:
    return Page(
        parsed(url),
        links=links,
        directives=Directives(nofollow=nofollow),
        content_digest=digest,
        **{"media_type": "text/html"} | fields,
    )


def rules(text: str):
    return parse_robots(text.encode(), "gossamer")


def visit(lease: Lease, outcome, page=None, **fields) -> Visit:
    return msgspec.structs.replace(Visit(lease, outcome, page), **fields)
