"""Puts a crawl together of concrete classes."""

import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.assembly.borders import all_modules, bordered
from gossamer.assembly.disks import elsewhere
from gossamer.assembly.extensions import Extensions, Membership
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.name_resolution import NameListeners, NameRoom
from gossamer.assembly.plugins import focus_extractor, ordering
from gossamer.assembly.seeds import Seeds
from gossamer.assembly.storage import Storage
from gossamer.config.config import CrawlConfig
from gossamer.config.effective import Effective
from gossamer.config.seed_config import posted
from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.admission.other_agents import Peers
from gossamer.engine.admission.rejudging import Rejudging
from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.admission.speculation import Speculation
from gossamer.engine.checkpoints import Checkpoints
from gossamer.engine.crawl import Crawl, Parts
from gossamer.engine.enrolling import Enrolling
from gossamer.engine.observe import Observers
from gossamer.engine.plugin_watch import PluginWatch
from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement.archivist import Archivist
from gossamer.engine.settlement.doors import Doors, LinkRules
from gossamer.engine.settlement.drop_one import DropOne, DropTests
from gossamer.engine.settlement.judge import Judge
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.revisits import Revisits
from gossamer.engine.settlement.settlement import Settlement
from gossamer.engine.settlement.spare_time import SpareTime
from gossamer.engine.settlement.twins import Twins
from gossamer.engine.settlement.yields import Yields
from gossamer.engine.signals.signals import Signals
from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.engine.visiting.prefetch_checks import PrefetchChecks
from gossamer.engine.visiting.reading import Reading
from gossamer.engine.visiting.worker import Worker
from gossamer.extract.config import ExtractConfig
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.body import BodyMemory, BodyWriter
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.cookies import CookieJar, read_cookies
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import HttpModule, LocalFetch
from gossamer.fetch.loaded_late import LoadedLate
from gossamer.fetch.proxies import Proxies
from gossamer.frontier.config import HostPolicy, Session
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.gates.name_gate import Names
from gossamer.frontier.gates.shared_rests import SharedRests
from gossamer.model.errors import ConfigError
from gossamer.model.events import NameAnswered, ProblemFound
from gossamer.model.exchange import Exchange
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, of
from gossamer.model.url import Url
from gossamer.policy.robots.file import PRODUCT_TOKEN
from gossamer.policy.scope.scope import Scope
from gossamer.policy.urls.canonical import Canonicaliser
from gossamer.policy.urls.mirrors import Mirrors
from gossamer.policy.urls.queue_key import queue_key
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.policy.visits.politeness import rest_after
from gossamer.policy.visits.retry import none_reached
from gossamer.ports import (
    AddressRule,
    BulkSink,
    Extractor,
    OrderingPolicy,
    ProtocolModule,
    Resolver,
    ScopeRule,
    Sink,
)
from gossamer.state.clock import CrawlClock, WallClock
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import Fingerprints
from gossamer.state.records import SCOPE_HOSTS, SECRET, SHARED_OUT, Counters, decode
from gossamer.state.site_cookies import SiteCookies

if TYPE_CHECKING:
    from gossamer.engine.settlement.changed import Changes


class Built(msgspec.Struct, frozen=True):
    """A crawl ready to run, with the parts of it that can change while it runs."""

    folder: CrawlFolder
    crawl: Crawl
    seeds: Seeds
    effective: Effective
    environment: Environment
    scope_of: Callable[[CrawlConfig], Scope]
    rejudging: Rejudging
    ordering: OrderingPolicy
    http: HttpModule
    guard: AddressGuard
    robots: RobotsFiles
    identity: Identity
    pace: RevisitPace
    enrolling: Enrolling
    clock: CrawlClock
    aclose: Callable[[], Awaitable[None]]
    """Gives up what was built; what it was built upon (`Storage`) stays open."""


def build(storage: Storage, config: CrawlConfig, extensions: Extensions, *, resumed: bool) -> Built:
    """A crawl ready to run upon what it keeps, in the order in which each part needs those before it.

    Raises:
        ConfigError: a setting makes no sense here.
        StorageError: the state cannot be used.
    """
    folder, environment = storage.folder, storage.environment
    ledger, clock = storage.ledger, storage.clock
    counters, effective = ledger.counters, Effective(config)
    observers = Observers(extensions.observers)
    plugins = PluginWatch(counters, observers)
    membership = extensions.membership
    extensions = bordered(extensions, plugins.hear)

    # Where it may go, and in what order.
    scope_of = partial(_scope, environment, folder.path, extensions.scope_rules)
    scope, seeds, mirrors = scope_of(config), Seeds(config, folder.path), _mirrors(environment, config)
    rejudging = Rejudging(environment, scope, config.judged_by, plugins.hear)
    order = extensions.ordering or ordering(config.engine.order, config.order)
    guard = _guard(config.fetch, extensions.address_rules, chain(seeds, *(mirrors.groups if mirrors else ())))
    shared = _shared(folder, effective)

    # What waits: names ahead of visits, the frontier, and who lends from it.
    def name_landed(name: str) -> None:
        frontier.name_landed(name)
        dispatch.pump_or_fail()

    def name_answered(answer: NameAnswered) -> None:
        archivist.note_name(answer)
        observers.tell(answer)

    listeners = NameListeners(ledger.names, name_answered, name_landed)
    names = _names(config, effective, folder, extensions, listeners)
    for problem in _name_problems(names, effective):
        observers.tell(problem)
    policy = _host_policy(config, effective, names.ahead, shared, membership)
    session = Session(
        Fingerprints(_secret(environment, membership)),
        clock.micros,
        resumed=resumed,
        warn=lambda problem: observers.tell(ProblemFound("frontier", problem)),
        wall=WallClock.of(os.environ, clock.now),
    )
    frontier = Frontier(environment, config.frontier, policy, order, counters, session)
    peers = membership.join(environment, frontier, order, clock, counters) if membership else Peers()
    dispatch = Dispatch(
        frontier,
        clock.micros,
        int(config.engine.give_up_after * 1e6),
        lambda lent: effective.crawl_spent(counters, lent, ledger.seconds),
        _unreachable(counters),
        peers.may_lend,
    )

    # The door in.
    identity = Identity(Canonicaliser(config.canonical), frontier, config.known_as)
    tests, guesses = (
        _drop_tests(config, frontier),
        Speculation(frontier, identity, counters, config.speculation, effective.forms),
    )
    admission = Admission(
        frontier,
        identity,
        scope,
        counters,
        observers,
        record_rejected=config.engine.record_rejected,
        raised=plugins.hear,
        plain=tests.for_links if tests is not None else None,
        other_agents=peers.other_agents,
        speculation=guesses if effective.guesses else None,
        mirrors=mirrors,
    )
    robots = RobotsFiles(
        frontier,
        admission,
        config.robots,
        clock.micros,
        sitemaps=config.engine.sitemaps,
        guess_sitemap=config.engine.guess_sitemap,
        mirrors=mirrors,
    )

    # The door out.
    spare = SpareTime()
    drop_one = None if tests is None else DropOne(config.parameters, tests, frontier, identity, admission)
    yields = Yields(frontier, drop_one)
    archivist = Archivist(storage.archive, storage.log, environment, counters, peers.digests)
    judge = Judge(
        frontier,
        robots,
        effective.retry,
        effective.politeness_after,
        effective.visit_speed,
        every_attempt=config.engine.every_attempt,
        mirrors=mirrors,
        untried=None if peers.other_agents else lambda url: identity.fingerprint(url) not in frontier.seen,
    )
    memory, links = PageMemory(environment), _link_rules(config, guesses=effective.guesses)
    twins = Twins(frontier, identity, admission, memory, skip=config.engine.twins == "skip")
    pace = RevisitPace(environment, frontier, config.revisit, peers.paces, alone=extensions.revisits is None)
    again = Revisits(
        frontier,
        identity,
        memory,
        pace,
        partial(_changes, folder.archive, frontier, memory, config.fetch),
    )
    dispatch.expect("revisits", lambda: pace.waits)
    signals = Signals(frontier, identity, admission, on=lambda: pace.on, rest=spare.rest, heard=dispatch.pump)
    settlement = Settlement(
        frontier,
        Doors(
            identity,
            memory,
            judge,
            admission,
            robots,
            links,
            yields,
            plugins,
            again,
            extensions.revisits,
            signals,
            guesses if effective.guesses else None,
            twins if config.engine.twins != "off" else None,
        ),
        archivist,
        ledger,
        observers,
        extensions.sinks,
        spare,
        queue_size=config.engine.workers,
        settled=dispatch.pump,
    )

    # Between the two: visits.
    http, files = _fetching(
        config.fetch,
        names.resolver,
        guard,
        folder.tmp,
        _local_fetch(environment, effective, observers),
        effective.visit_speed if effective.limits_speed else None,
    )
    prefetch_checks, reading = (
        PrefetchChecks(robots, rejudging, again, guesses, posted(config.seed), twins),
        _reading(effective, extensions.extractors, spare),
    )
    modules = _logged_in(
        all_modules(http, [*files, *extensions.protocol_modules], plugins.hear),
        http,
        effective,
        robots,
        reading,
        observers,
    )
    worker = Worker(dispatch, prefetch_checks, modules, reading, settlement, yields)

    checkpoints = Checkpoints(
        folder.checkpoints, environment, storage.archive, config.engine.keep_checkpoints
    )
    parts = Parts(
        frontier,
        admission,
        dispatch,
        settlement,
        archivist,
        checkpoints,
        ledger,
        observers,
        worker,
        pace,
        signals,
    )
    return Built(
        folder=folder,
        crawl=Crawl(folder.path, config.engine, parts, elsewhere(folder.path)),
        seeds=seeds,
        effective=effective,
        environment=environment,
        scope_of=scope_of,
        rejudging=rejudging,
        ordering=order,
        http=http,
        guard=guard,
        robots=robots,
        identity=identity,
        pace=pace,
        enrolling=Enrolling(frontier, memory, pace, again),
        clock=clock,
        aclose=partial(_close, extensions.sinks, reading, {*modules.values(), http}, shared, names, frontier),
    )


def _mirrors(environment: Environment, config: CrawlConfig) -> Mirrors | None:
    """By which mirrors the URLs are shared out, noted before there are any.

    Raises:
        ConfigError: they are others than when the crawl began.
    """
    now = msgspec.json.encode(config.mirrors)
    begun = environment.get(Family.META, SECRET) is not None
    if (environment.get(Family.META, SHARED_OUT) or b"[]") == now:
        return config.shared_out
    if begun:
        raise ConfigError(of("mirrors", Reason(ProblemCode.MIRRORS_CHANGED)))
    batch = environment.batch()
    batch.put(Family.META, SHARED_OUT, now)
    environment.commit(batch)
    return config.shared_out


def _names(
    config: CrawlConfig,
    effective: Effective,
    folder: CrawlFolder,
    extensions: Extensions,
    listeners: NameListeners,
) -> NameRoom:
    """Name resolution; ahead of visits where they are asked for so, or their servers must be known first."""
    dns = msgspec.structs.replace(config.dns, prefetch=config.dns.prefetch or effective.by_server)
    keeps_aliases = effective.finds_servers_by("cname")
    return NameRoom(dns, config.fetch, folder.names, listeners, extensions, keeps_aliases=keeps_aliases)


def _name_problems(names: NameRoom, effective: Effective) -> Iterator[ProblemFound]:
    for problem in names.problems:
        yield ProblemFound("names", problem)
    if effective.by_server and names.ahead is None:
        yield ProblemFound("politeness", _ADDRESSES_UNKNOWN)


_ADDRESSES_UNKNOWN = (
    "politeness by address or CNAME: they are not known here, because a proxy or a plug-in resolves names; only hosts "
    "with a politeness.server or a certificate in common rest for each other"
)


def _shared(folder: CrawlFolder, effective: Effective) -> SharedRests | None:
    """The table of rests: of the crawls of this machine, or of this crawl's own servers; `None` if neither is asked
    for. In a file, so that nobody who kills a crawl makes it rude."""
    shared = effective.config.politeness.shared
    if shared:
        return SharedRests(Path(shared).expanduser())
    return SharedRests(folder.rests) if effective.by_server else None


async def _close(
    sinks: Sequence[Sink],
    reading: Reading,
    modules: Iterable[ProtocolModule],
    shared: SharedRests | None,
    names: NameRoom,
    frontier: Frontier,
) -> None:
    for sink in sinks:
        if isinstance(sink, BulkSink):
            await sink.close()
    reading.close()
    for module in modules:
        await module.close()
    if shared is not None:
        shared.close()
    await names.close()
    frontier.seen.save()


def _scope(environment: Environment, folder: Path, rules: Sequence[ScopeRule], config: CrawlConfig) -> Scope:
    """What `config` lets in, with the places that have joined on the way."""
    joined = environment.get(Family.META, SCOPE_HOSTS)
    hosts = decode(joined, tuple[str, ...]) if joined else ()
    return Scope(
        config.scope,
        Seeds(config, folder),
        hosts,
        rules,
        config.traps,
        config.local.scope_places,
        config.sessions,
        config.known_as,
    )


def _guard(config: FetchConfig, rules: Sequence[AddressRule], seeds: Iterable[Url]) -> AddressGuard:
    guard = AddressGuard(config, rules)
    for seed in () if config.allow_private else seeds:
        guard.allow_host(seed.host)
    return guard


def _unreachable(counters: Counters) -> Callable[[], bool]:
    """Whether this session made visits and no server has ever answered."""
    before = counters.visits
    return lambda: counters.visits > before and none_reached(counters.statuses, counters.faults)


def _host_policy(
    config: CrawlConfig,
    effective: Effective,
    names: Names | None,
    shared: SharedRests | None,
    membership: Membership | None,
) -> HostPolicy:
    return HostPolicy(
        queue_key=queue_key(config.engine.queue_key),
        visits_at_once=effective.visits_at_once,
        rest=effective.rest,
        budget_spent=effective.host_spent,
        obey_robots=config.robots.obey,
        names=names,
        linked_names_first=config.dns.linked_first,
        domain_budget=config.budget if config.budget.by_domain else None,
        branches=config.branches,
        # Only where hosts come from links may somebody have made very many.
        domain=registrable_domain if config.scope.mode == "any" else None,
        shared=shared,
        politeness_at=effective.politeness_at if effective.by_server else None,
        owns=membership.owns if membership is not None else None,
        speculative=effective.guesses,
    )


def _local_fetch(environment: Environment, effective: Effective, observers: Observers) -> LocalFetch:
    def tell(site: str, dropped: int) -> None:
        problem = f"{site} sets too many: {dropped} were dropped, and so will be those that follow"
        observers.tell(ProblemFound("cookies", problem))

    file = effective.config.fetch.cookies_file
    cookies = CookieJar(SiteCookies(environment), read_cookies(Path(file)) if file else (), tell)
    return LocalFetch(
        effective.credentials,
        effective.fetch,
        lambda: effective.fetch_differs,
        cookies,
        posted(effective.config.seed),
        certificates=effective.finds_servers_by("certificate"),
        proxies=Proxies(lambda problem: observers.tell(ProblemFound("proxy", problem))),
    )


def _fetching(
    config: FetchConfig,
    resolver: Resolver,
    guard: AddressGuard,
    spool: Path,
    local: LocalFetch,
    speed: Callable[[str], float] | None,
) -> tuple[HttpModule, list[ProtocolModule]]:
    """Our protocol modules: that of the web, and those for what has files and folders."""
    http = HttpModule(config, resolver, guard, spool, local, speed)
    new_body = partial(BodyWriter, spool, config.memory_body, BodyMemory(0))

    def local_files() -> ProtocolModule:
        from gossamer.fetch.local_files import LocalFiles

        return LocalFiles(config, new_body)

    def remote_files() -> ProtocolModule:
        from gossamer.fetch.remote_files import RemoteFiles

        return RemoteFiles(config, resolver, guard, new_body, local, http.unfinished)

    return http, [
        LoadedLate("LocalFiles", frozenset({"file"}), local_files),
        LoadedLate("RemoteFiles", frozenset({"ftp", "ftps", "sftp"}), remote_files),
    ]


def _logged_in(
    modules: dict[str, ProtocolModule],
    http: HttpModule,
    effective: Effective,
    robots: RobotsFiles,
    reading: Reading,
    observers: Observers,
) -> dict[str, ProtocolModule]:
    """The protocol modules; where there are recipes, what goes by ours for the web goes through sessions."""
    config = effective.config
    if not config.login:
        return modules
    from gossamer.engine.login.log_in import Recipe
    from gossamer.engine.login.sessions import Manners, Sessions

    manners = Manners(
        robots.refusal,
        reading.robots,
        partial(_rest, effective, robots),
        config.robots.obey,
        lambda place, why: observers.tell(ProblemFound(f"login {place}", str(why.detail))),
    )
    recipes = [Recipe(place, one, config.fetch) for place, one in config.login.items()]
    sessions = Sessions(http, recipes, manners)
    return {scheme: sessions if module is http else module for scheme, module in modules.items()}


def _rest(effective: Effective, robots: RobotsFiles, url: Url, exchange: Exchange) -> float:
    """Seconds that a host lies still after a request that is no visit of its own."""
    politeness = effective.politeness_after(url, exchange)
    return rest_after(politeness, exchange.timing.total, robots.crawl_delay(url))


def _secret(environment: Environment, membership: Membership | None) -> bytes:
    """The key of the fingerprints; made at the first start."""
    secret = environment.get(Family.META, SECRET)
    if secret is None:
        secret = os.urandom(16) if membership is None else membership.secret
        batch = environment.batch()
        batch.put(Family.META, SECRET, secret)
        environment.commit(batch)
    return secret


def _changes(archive: Path, frontier: Frontier, memory: PageMemory, fetch: FetchConfig) -> "Changes":
    from gossamer.engine.settlement.changed import Changes

    return Changes(archive, frontier, memory, fetch)


def _drop_tests(config: CrawlConfig, frontier: Frontier) -> DropTests | None:
    """Where parameters are compared, what is known of them."""
    parameters = config.parameters
    if not (config.branches.share or parameters.test or parameters.apply):
        return None
    return DropTests(parameters, frontier)


def _link_rules(config: CrawlConfig, *, guesses: bool) -> LinkRules:
    return LinkRules(
        skip_duplicates=config.engine.skip_duplicates,
        honour_nofollow=config.robots.honour_nofollow,
        honour_meta=config.robots.honour_meta,
        skip_canonical=config.engine.skip_canonical,
        back=config.fetch.keeps_cookies or True in config.local.fetch.values("cookies"),
        speculative=guesses,
    )


def _reading(effective: Effective, further: Sequence[Extractor], spare: SpareTime) -> Reading:
    config, extract = effective.config, effective.config.extract
    if config.engine.order == "focused":
        extract = msgspec.structs.replace(extract, anchor_text=True)
    every = [*builtin_extractors(extract), *_asked_for(effective, extract), *further]
    reader = Reader(extract, PRODUCT_TOKEN, every)
    return Reading(reader, config.fetch, extract, config.robots, PRODUCT_TOKEN, spare)


def _asked_for(effective: Effective, extract: ExtractConfig) -> Iterator[Extractor]:
    """The extractors that settings may switch on; what they bring along is loaded with them."""
    config = effective.config
    if config.speculation.follow:
        from gossamer.extract.scripts.extractor import ScriptExtractor

        yield ScriptExtractor(extract)
    if effective.asks_forms:
        from gossamer.extract.html.search_forms import SearchFormExtractor

        yield SearchFormExtractor(effective.forms)
    if config.engine.order == "focused":
        yield focus_extractor(config.order.focus)
    if config.fields:
        from gossamer.extract.fields.extractor import FieldsExtractor, read_groups

        yield FieldsExtractor(read_groups(config.fields))
    if config.documents.links:
        from gossamer.documents.extractor import link_extractors

        yield from link_extractors(config.documents, extract)
