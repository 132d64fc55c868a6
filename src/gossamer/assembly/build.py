"""Puts a crawl together: the one file that names concrete classes."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.archive.committed import archive_files, note_cut
from gossamer.archive.file import OPEN_SUFFIX
from gossamer.archive.writer import ArchiveWriter
from gossamer.assembly.borders import all_modules, bordered
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder, state_lost
from gossamer.assembly.name_resolution import NameRoom
from gossamer.assembly.plugins import focus_extractor, ordering
from gossamer.assembly.release import release_in
from gossamer.assembly.seeds import Seeds
from gossamer.config.config import CrawlConfig
from gossamer.config.effective import Effective
from gossamer.engine.admission.admission import NEWCOMERS, SCOPE_HOSTS, Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.admission.rejudging import Rejudging
from gossamer.engine.admission.robots_desk import RobotsDesk
from gossamer.engine.checkpoints import RESTORED, Checkpoints, sign_of_loss
from gossamer.engine.crawl import Crawl, Parts
from gossamer.engine.fault_points import fault_point
from gossamer.engine.observe import Observers
from gossamer.engine.plugin_watch import PluginWatch
from gossamer.engine.settlement.archivist import Archivist
from gossamer.engine.settlement.doors import Doors, LinkRules
from gossamer.engine.settlement.drop_one import DropOne
from gossamer.engine.settlement.judge import Judge
from gossamer.engine.settlement.ledger import CLOCK, Ledger
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.settlement import Settlement
from gossamer.engine.settlement.spare_time import SpareTime
from gossamer.engine.settlement.visit_log import LOG, VisitLog
from gossamer.engine.settlement.yields import Yields
from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.engine.visiting.permits import Permits
from gossamer.engine.visiting.reading import Reading
from gossamer.engine.visiting.worker import Worker
from gossamer.extract.fields.extractor import FieldsExtractor, read_groups
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import HttpModule
from gossamer.frontier.config import HostPolicy, Session
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.gates.name_gate import Names
from gossamer.frontier.gates.shared_rests import SharedRests
from gossamer.model.events import NameAnswered, ProblemFound
from gossamer.policy.scope.scope import Scope
from gossamer.policy.urls.canonical import Canonicaliser
from gossamer.policy.urls.queue_key import queue_key
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.policy.visits.retry import none_reached
from gossamer.ports import BulkSink, Extractor, OrderingPolicy
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import Fingerprints
from gossamer.state.records import ClockRecord, decode

PRODUCT_TOKEN = "gossamer"  # noqa: S105 - the name that robots files know us by
SECRET = b"secret"


class Built(msgspec.Struct, frozen=True):
    """A crawl ready to run, with the parts of it that can change while it runs."""

    crawl: Crawl
    seeds: Seeds
    effective: Effective
    environment: Environment
    scope_of: Callable[[CrawlConfig], Scope]
    rejudging: Rejudging
    judge: Judge
    ordering: OrderingPolicy
    http: HttpModule
    guard: AddressGuard
    robots: RobotsDesk
    identity: Identity
    clock: CrawlClock


def build(folder: CrawlFolder, config: CrawlConfig, extensions: Extensions, *, resumed: bool) -> Built:
    """A crawl ready to run in `folder`.

    Raises:
        ConfigError: a setting makes no sense here, or another process uses the folder.
        StorageError: the state or the archive cannot be used.
    """
    seeds = Seeds(config, folder.path)
    if loss := sign_of_loss(folder.checkpoints, folder.state):
        raise state_lost(folder, loss)
    environment = Environment.open(folder.state, config.state, create=not folder.has_results)
    if not config.branches.set_aside:
        release_in(environment, config.branches, "all")
    fault_point("start.opened")
    try:
        folder.clear_tmp()
        builder = _Builder(folder, config, extensions, environment, seeds)
        crawl = builder.crawl(resumed=resumed)
        if resumed:
            crawl.take_up()
        built = builder.built(crawl)
        if extensions.membership is not None:
            extensions.membership.built(built)
        return built
    except BaseException:
        environment.close()
        raise


class _Builder:
    """Holds what several parts need while they are being made."""

    def __init__(
        self,
        folder: CrawlFolder,
        config: CrawlConfig,
        extensions: Extensions,
        environment: Environment,
        seeds: Seeds,
    ) -> None:
        self.folder = folder
        self.config = config
        self.extensions = extensions
        self.environment = environment
        self.seeds = seeds
        self.effective = Effective(config)
        self.spare = SpareTime()
        self.scope = self._scope(config)
        self.rejudging = Rejudging(environment, self.scope, (config.scope, config.traps))
        self.ordering = extensions.ordering or ordering(config.engine.order, config.order)
        last = environment.get(Family.META, CLOCK)
        self.clock = CrawlClock(decode(last, ClockRecord) if last else None)
        self.ledger = Ledger.load(environment, self.clock)
        committed = environment.get(Family.META, LOG)
        self.log = VisitLog(folder.log, decode(committed, int) if committed else 0)
        self.observers = Observers(extensions.observers)
        self.plugins = PluginWatch(self.ledger.counters, self.observers)
        self.rejudging.raised = self.plugins.hear
        self.extensions = extensions = bordered(extensions, self.plugins.hear)
        self.guard = self._guard()
        shared = config.politeness.shared
        self.shared_rests = SharedRests(Path(shared).expanduser()) if shared else None

    def crawl(self, *, resumed: bool) -> Crawl:
        config = self.config
        writer = self._writer()
        self._note_restoring()
        archivist = Archivist(writer, self.log, self.environment, self.ledger.counters)

        def name_landed(name: str) -> None:
            frontier.name_landed(name)
            dispatch.pump_or_fail()

        def name_answered(answer: NameAnswered) -> None:
            archivist.note_name(answer)
            self.observers.tell(answer)

        names = NameRoom(config, self.folder, self.ledger.names, name_answered, name_landed, self.extensions)
        for problem in names.problems:
            self.observers.tell(ProblemFound("names", problem))
        frontier = self._frontier(names.ahead, resumed=resumed)
        identity = self.identity = Identity(Canonicaliser(config.canonical), frontier)
        admission = self._admission(frontier, identity)
        robots = self._robots(frontier, admission)
        yields = Yields(frontier, self._drop_one(frontier, identity, admission))
        settlement = self._settlement(frontier, identity, admission, robots, archivist, yields)
        dispatch = self._dispatch(frontier)
        http = self._http(names)
        modules = all_modules(http, self.extensions.protocol_modules, self.plugins.hear)
        permits, reading = Permits(robots, self.rejudging), self._reading()
        worker = Worker(dispatch, permits, modules, reading, settlement, yields)

        async def close() -> None:
            for sink in self.extensions.sinks:
                if isinstance(sink, BulkSink):
                    await sink.close()
            reading.close()
            for module in set(modules.values()) | {http}:
                await module.close()
            if self.shared_rests is not None:
                self.shared_rests.close()
            await names.close()
            writer.abandon()
            self.log.close()
            frontier.seen.save()
            self.environment.close()

        saving, ledger, heard = self._checkpoints(writer), self.ledger, self.observers
        parts = Parts(
            frontier, admission, dispatch, settlement, archivist, saving, ledger, heard, worker, close
        )
        return Crawl(self.folder.path, config.engine, parts)

    def built(self, crawl: Crawl) -> Built:
        """The crawl that was made, with what can change of it."""
        return Built(
            crawl=crawl,
            seeds=self.seeds,
            effective=self.effective,
            environment=self.environment,
            scope_of=self._scope,
            rejudging=self.rejudging,
            judge=self.judge,
            ordering=self.ordering,
            http=self.http,
            guard=self.guard,
            robots=self.robots,
            identity=self.identity,
            clock=self.clock,
        )

    def _http(self, names: NameRoom) -> HttpModule:
        config, effective = self.config.fetch, self.effective
        self.http = HttpModule(config, names.resolver, self.guard, self.folder.tmp, effective.credentials)
        if effective.limits_speed:
            self.http.throttle.visit_speed = effective.visit_speed
        return self.http

    def _checkpoints(self, writer: ArchiveWriter) -> Checkpoints:
        keep = self.config.engine.keep_checkpoints
        return Checkpoints(self.folder.checkpoints, self.environment, writer, keep)

    def _admission(self, frontier: Frontier, identity: Identity) -> Admission:
        admission = Admission(
            frontier,
            identity,
            self.scope,
            self.ledger.counters,
            self.observers,
            record_rejected=self.config.engine.record_rejected,
        )
        admission.raised = self.plugins.hear
        if newcomers := self.environment.get(Family.META, NEWCOMERS):
            admission.newcomers = decode(newcomers, list[bytes])
        return admission

    def _robots(self, frontier: Frontier, admission: Admission) -> RobotsDesk:
        engine = self.config.engine
        self.robots = RobotsDesk(
            frontier,
            admission,
            self.config.robots,
            self.clock.micros,
            sitemaps=engine.sitemaps,
            guess_sitemap=engine.guess_sitemap,
        )
        return self.robots

    def _drop_one(self, frontier: Frontier, identity: Identity, admission: Admission) -> DropOne | None:
        config = self.config.parameters
        if not (self.config.branches.share or config.test or config.apply):
            return None
        return DropOne(config, frontier, identity, admission, self.environment)

    def _settlement(
        self,
        frontier: Frontier,
        identity: Identity,
        admission: Admission,
        robots: RobotsDesk,
        archivist: Archivist,
        yields: Yields,
    ) -> Settlement:
        config = self.config
        politeness, every_attempt = self.effective.politeness, config.engine.every_attempt
        judge = Judge(
            frontier,
            robots,
            config.retry,
            politeness,
            self.effective.visit_speed,
            every_attempt=every_attempt,
        )
        self.judge = judge
        links = LinkRules(
            skip_duplicates=config.engine.skip_duplicates,
            honour_nofollow=config.robots.honour_nofollow,
            honour_meta=config.robots.honour_meta,
            skip_canonical=config.engine.skip_canonical,
            back=config.fetch.cookies,
        )
        memory = PageMemory(self.environment)
        doors = Doors(
            identity, memory, judge, admission, robots, links, yields, self.plugins, self.extensions.revisits
        )
        return Settlement(
            frontier,
            doors,
            archivist,
            self.ledger,
            self.observers,
            self.extensions.sinks,
            self.spare,
            queue_size=config.engine.workers,
        )

    def _dispatch(self, frontier: Frontier) -> Dispatch:
        return Dispatch(
            frontier,
            self.clock.micros,
            int(self.config.engine.give_up_after * 1e6),
            self._limit_reached,
            self._unreachable(self.ledger.counters.visits),
        )

    def _reading(self) -> Reading:
        config = self.config
        extract = config.extract
        focus: list[Extractor] = []
        if config.engine.order == "focused":
            extract = msgspec.structs.replace(extract, anchor_text=True)
            focus.append(focus_extractor(config.order.focus))
        fields = [FieldsExtractor(read_groups(config.fields))] if config.fields else []
        extractors = [*builtin_extractors(extract), *focus, *fields, *self.extensions.extractors]
        reader = Reader(extract, PRODUCT_TOKEN, extractors)
        return Reading(reader, config.fetch, extract, config.robots, PRODUCT_TOKEN, self.spare)

    def _frontier(self, names: Names | None, *, resumed: bool) -> Frontier:
        config = self.config
        policy = HostPolicy(
            queue_key=queue_key(config.engine.queue_key),
            visits_at_once=self.effective.visits_at_once,
            rest=self.effective.rest,
            budget_spent=self.effective.host_spent,
            obey_robots=config.robots.obey,
            names=names,
            linked_names_first=config.dns.linked_first,
            domain_budget=config.budget if config.budget.by_domain else None,
            branches=config.branches,
            # Only where hosts come from links may somebody have made very many.
            domain=registrable_domain if config.scope.mode == "any" else None,
            shared=self.shared_rests,
            owns=self.extensions.membership.owns if self.extensions.membership is not None else None,
        )

        def warn(problem: str) -> None:
            self.observers.tell(ProblemFound("frontier", problem))

        session = Session(Fingerprints(self._secret()), self.clock.micros, resumed=resumed, warn=warn)
        return Frontier(
            self.environment,
            config.frontier,
            policy,
            self.ordering,
            self.ledger.counters,
            session,
        )

    def _secret(self) -> bytes:
        secret = self.environment.get(Family.META, SECRET)
        if secret is None:
            membership = self.extensions.membership
            secret = os.urandom(16) if membership is None else membership.secret
            batch = self.environment.batch()
            batch.put(Family.META, SECRET, secret)
            self.environment.commit(batch)
        return secret

    def _scope(self, config: CrawlConfig) -> Scope:
        joined = self.environment.get(Family.META, SCOPE_HOSTS)
        hosts = decode(joined, tuple[str, ...]) if joined else ()
        seeds = Seeds(config, self.folder.path)
        return Scope(config.scope, seeds, hosts, self.extensions.scope_rules, config.traps)

    def _writer(self) -> ArchiveWriter:
        fetch: FetchConfig = self.config.fetch
        info = [
            ("software", f"{fetch.agent.partition(' ')[0]}"),
            ("robots", "obey" if self.config.robots.obey else "ignore"),
            ("http-header-user-agent", fetch.agent),
            ("isPartOf", self.folder.path.resolve().name),
        ]
        if fetch.mailbox:
            info.append(("http-header-from", fetch.mailbox))
        files = archive_files(self.environment)
        self._refuse_to_remove_much({file.name for file in files})
        return ArchiveWriter.open(self.folder.archive, self.config.archive, info, files, fault_point)

    def _note_restoring(self) -> None:
        """The archive is as the state has it, which may be less than followers have read."""
        batch = self.environment.batch()
        if self.clock.rebooted or self.environment.get(Family.META, RESTORED) is not None:
            note_cut(self.environment, batch)
        batch.delete(Family.META, RESTORED)
        self.environment.commit(batch)

    def _refuse_to_remove_much(self, known: set[str]) -> None:
        """A kill leaves one archive file that the state does not know; more mean that the state is wrong.

        Raises:
            StorageError: there are more, and neither a power failure nor a checkpoint explains it.
        """
        if self.clock.rebooted or self.environment.get(Family.META, RESTORED) is not None:
            return
        found = (path.name.removesuffix(OPEN_SUFFIX) for path in self.folder.archive.glob("*.warc.gz*"))
        unknown = sorted(set(found) - known)
        if len(unknown) > 1:
            raise state_lost(
                self.folder, f"it does not know {len(unknown)} archive files, {unknown[0]} first"
            )

    def _guard(self) -> AddressGuard:
        guard = AddressGuard(self.config.fetch, self.extensions.address_rules)
        for seed in () if self.config.fetch.allow_private else self.seeds:
            guard.allow_host(seed.host)
        return guard

    def _limit_reached(self, lent: int) -> str:
        return self.effective.crawl_spent(self.ledger.counters, lent, self.ledger.seconds)

    def _unreachable(self, visits_before: int) -> Callable[[], bool]:
        """Whether this session made visits and no server has ever answered."""
        counters = self.ledger.counters
        return lambda: counters.visits > visits_before and none_reached(counters.statuses, counters.faults)
