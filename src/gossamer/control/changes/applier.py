"""Moves the parts of a running crawl whose settings change."""

from collections.abc import Callable

from gossamer.assembly.build import Built
from gossamer.assembly.file_limit import raise_file_limit
from gossamer.assembly.hold import Ceilings
from gossamer.config.config import CrawlConfig
from gossamer.config.effective import Effective
from gossamer.control.changes.background import BackgroundTasks, SpentHosts
from gossamer.control.changes.changeable import Group, widens
from gossamer.control.changes.refetching import Refetching
from gossamer.engine.admission.reclaim import Reclaim
from gossamer.engine.in_thread import in_thread
from gossamer.frontier.reweighing import Reweighing
from gossamer.frontier.steering import Steering
from gossamer.policy.ordering.orders import settings_of_order
from gossamer.policy.scope.scope import Scope
from gossamer.ports import RetunableOrdering


class SettingsApplier:
    """Applies a configuration that was checked to the crawl that runs, on its event loop."""

    def __init__(self, built: Built, refetching: Refetching) -> None:
        self._built = built
        self._crawl = built.crawl
        parts = built.crawl.parts
        self.steering = Steering(parts.frontier)
        self.reclaim = Reclaim(built.environment, parts.frontier, parts.admission, self.steering)
        self.reweighing = Reweighing(built.environment, parts.frontier, built.ordering)
        self.spent = SpentHosts(self.steering)
        self.background = BackgroundTasks(
            parts.dispatch,
            {
                "scope": self.reclaim,
                "order": self.reweighing,
                "budget": self.spent,
                "refetch": refetching,
                "revisit": built.enrolling,
            },
        )
        self.ceilings = Ceilings()

    async def prepare(self, config: CrawlConfig, groups: frozenset[Group]) -> Callable[[], None]:
        """Make what takes long; what is returned goes by `config`, in which `groups` are new, at once.

        Raises:
            ConfigError: the system does not allow it, or the seeds cannot be read.
        """
        scope = None
        if Group.WORKERS in groups:
            raise_file_limit(config)
        if Group.SCOPE in groups or Group.SEEDS in groups:
            scope = await in_thread(self._built.scope_of, config)
        return lambda: self._move(config, groups, scope)

    def hold_to(self, ceilings: Ceilings) -> None:
        """Let the crawl keep to these ceilings from now on."""
        self.ceilings = ceilings
        config = self._built.effective.config
        self._workers(config)
        self._built.http.throttle.set_rate(self._speed(config))

    def rejudge(self, scope: Scope, config: CrawlConfig, *, widens: bool) -> None:
        """Go by another scope; what is queued is judged again when its turn comes."""
        parts, rejudging = self._crawl.parts, self._built.rejudging
        for place in parts.admission.scope.hosts:  # some may have joined since it was made
            if place not in scope.hosts:
                scope.add_host(place)
        parts.admission.change_scope(scope)
        rejudging.change(scope, config.judged_by)
        with parts.frontier.changes() as batch:
            rejudging.begin(parts.ledger.counters.sequence, batch)
            if widens:
                self.reclaim.begin()

    def _move(self, config: CrawlConfig, groups: frozenset[Group], scope: Scope | None) -> None:
        before = self._built.effective.config
        self._built.effective.replace(config)
        if Group.WORKERS in groups:
            self._workers(config)
        if Group.ENGINE in groups:
            self._crawl.configure(config.engine)
        if Group.POLITENESS in groups:
            self.steering.repolite(Effective(before).politeness)
        if Group.BUDGET in groups:
            self.spent.begin()
        if Group.SPEED in groups:
            self._speeds(config)
        if Group.ORDER in groups:
            self._retune(config)
        if Group.REVISIT in groups:
            self._built.pace.go_by(config.revisit)
        if scope is not None:
            self.rejudge(scope, config, widens=widens(before, config))
            for host in set(before.scope.block) - set(config.scope.block):
                self.steering.forget_closed(host)
        self.background.call()
        self._crawl.parts.dispatch.pump()

    def _workers(self, config: CrawlConfig) -> None:
        most = self.ceilings.connections
        self._crawl.set_workers(min(config.engine.workers, most) if most else config.engine.workers)

    def _speed(self, config: CrawlConfig) -> int:
        """Bytes a second in all; 0 for no limit."""
        return min((limit for limit in (config.fetch.max_speed, self.ceilings.bandwidth) if limit), default=0)

    def _speeds(self, config: CrawlConfig) -> None:
        throttle, effective = self._built.http.throttle, self._built.effective
        throttle.set_rate(self._speed(config))
        throttle.limit_visits(effective.visit_speed if effective.limits_speed else None)

    def _retune(self, config: CrawlConfig) -> None:
        settings = settings_of_order(config.engine.order, config.order)
        if isinstance(self._built.ordering, RetunableOrdering) and settings is not None:
            self._built.ordering.retune(settings)
            self.reweighing.begin()
