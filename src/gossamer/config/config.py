"""The configuration of a crawl: every room's own settings, composed."""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.archive.config import ArchiveConfig
from gossamer.config import older_hosts
from gossamer.config.demand_config import DemandConfig
from gossamer.config.local_settings import LocalSettings, place_problems
from gossamer.config.login_places import kept, login_problems, with_cookies
from gossamer.config.place_config import SECTIONS, PlaceConfig
from gossamer.config.plugin_config import PluginConfig
from gossamer.config.search_config import SearchConfig
from gossamer.config.seed_config import SeedConfig
from gossamer.config.storage_config import StorageConfig
from gossamer.config.watch_config import NotifyConfig, WatchConfig, problems_of
from gossamer.dns.config import DnsConfig
from gossamer.documents.config import DocumentsConfig
from gossamer.engine.config import EngineConfig
from gossamer.engine.login.config import LoginConfig
from gossamer.extract.config import ExtractConfig
from gossamer.fetch.config import FetchConfig
from gossamer.frontier.config import FrontierConfig
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import WrongValueError, text
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.ordering.orders import OrderConfig
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.robots.access import RobotsConfig
from gossamer.policy.scope.scope import ScopeConfig
from gossamer.policy.scope.sessions import KeptSession
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser
from gossamer.policy.urls.mirrors import Mirrors, MirrorsConfig, mirror_problems
from gossamer.policy.urls.parameters import ParameterConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.policy.visits.retry import RetryConfig
from gossamer.state.environment import StateConfig


class CrawlConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """The whole configuration. Each section is owned by the room it configures."""

    seeds: Annotated[
        tuple[str, ...], Meta(description="where the crawl begins: URLs or bare host names")
    ] = ()
    seed: Annotated[
        tuple[SeedConfig, ...],
        Meta(
            description='seeds with a form or JSON, e.g. [[seed]] url = "https://example.org/search", form = {q = "a"}'
        ),
    ] = ()
    seeds_file: Annotated[
        str, Meta(description="file with further seeds, one a line; the crawl's folder keeps a copy")
    ] = ""
    seeds_watch: Annotated[
        str,
        Meta(
            description="file whose lines become seeds while the crawl runs, also those that are added to it"
            " later; the crawl then does not end by itself"
        ),
    ] = ""
    scope: ScopeConfig = ScopeConfig()
    politeness: PolitenessConfig = PolitenessConfig()
    robots: RobotsConfig = RobotsConfig()
    budget: BudgetConfig = BudgetConfig()
    retry: RetryConfig = RetryConfig()
    revisit: RevisitConfig = RevisitConfig()
    canonical: CanonicalConfig = CanonicalConfig()
    mirrors: Annotated[
        tuple[MirrorsConfig, ...],
        Meta(
            description="sites that are shown at several addresses, each page of which is fetched from one of them,"
            ' e.g. [[mirrors]] addresses = ["https://example.org/pub/", "https://mirror.example.net/"]'
        ),
    ] = ()
    traps: TrapConfig = TrapConfig()
    speculation: SpeculationConfig = SpeculationConfig()
    forms: FormsConfig = FormsConfig()
    branches: BranchConfig = BranchConfig()
    parameters: ParameterConfig = ParameterConfig()
    engine: EngineConfig = EngineConfig()
    order: OrderConfig = OrderConfig()
    fetch: FetchConfig = FetchConfig()
    dns: DnsConfig = DnsConfig()
    extract: ExtractConfig = ExtractConfig()
    archive: ArchiveConfig = ArchiveConfig()
    frontier: FrontierConfig = FrontierConfig()
    state: StateConfig = StateConfig()
    storage: StorageConfig = StorageConfig()
    plugins: PluginConfig = PluginConfig()
    place: Annotated[
        dict[str, PlaceConfig],
        Meta(
            description="settings that differ for some hosts, folders, addresses, media types or hours, e.g."
            ' [place."example.org/archive/"] politeness.min_delay = "5s"; the narrowest place wins'
        ),
    ] = {}

    login: Annotated[
        dict[str, LoginConfig],
        Meta(
            description='how to log in at a place, e.g. [login."example.org"] page ='
            ' "https://example.org/login"; gossamer login URL writes it'
        ),
    ] = {}

    demand: DemandConfig = DemandConfig()
    documents: DocumentsConfig = DocumentsConfig()
    search: SearchConfig = SearchConfig()
    fields: Annotated[
        dict[str, dict[str, str]],
        Meta(
            description='values wanted of each page, e.g. [fields.product] match = "/p/*", price = ".price |'
            ' number": selectors of CSS or XPath by names of your own, for the pages whose address matches'
        ),
    ] = {}

    watch: Annotated[
        tuple[WatchConfig, ...],
        Meta(description="what is watched for changes; see 'gossamer watch'"),
    ] = ()
    notify: Annotated[
        dict[str, NotifyConfig],
        Meta(description='who is told of changes, e.g. [notify.me] to = "mailto:me@example.org"'),
    ] = {}

    @cached_property
    def local(self) -> LocalSettings:
        """The settings as they stand at each place."""
        return LocalSettings(self._placed_sections(), with_cookies(self.place, self.login))

    @cached_property
    def shared_out(self) -> Mirrors | None:
        """The sites whose URLs are shared out among several addresses; `None` if there are none."""
        return Mirrors(self.mirrors, Canonicaliser(self.canonical)) if self.mirrors else None

    @property
    def document_name(self) -> Canonicaliser:
        """Gives what documents are told apart by, wherever each was fetched."""
        return Canonicaliser(self.canonical, self.known_as)

    @property
    def known_as(self) -> Callable[[Url], Url] | None:
        """Gives the URL by which the scope knows one; `None` where each is known as itself."""
        return self.shared_out.first_named if self.shared_out is not None else None

    @property
    def sessions(self) -> tuple[KeptSession, ...]:
        """What the scope must not end."""
        return tuple(kept(place, recipe) for place, recipe in sorted(self.login.items()))

    @property
    def judged_by(self) -> tuple[ScopeConfig, TrapConfig, *tuple[object, ...]]:
        """All that the scope is made from, beside seeds and the operator's own rules; and whether twins are skipped,
        for what was is to come back with another scope."""
        said = {name: [here.said("scope"), here.said("traps")] for name, here in sorted(self.place.items())}
        placed = {name: both for name, both in said.items() if any(both)}
        twins = self.engine.twins == "skip" and "twins"
        further = [what for what in (placed, self.sessions, twins) if what]
        return (self.scope, self.traps, *further)

    renewed = staticmethod(older_hosts.renewed)

    def _placed_sections(self) -> dict[str, msgspec.Struct]:
        return {name: getattr(self, name) for name in SECTIONS}

    def __post_init__(self) -> None:
        problems: list[str] = []
        if self.frontier.max_hosts < 2 * self.engine.workers:
            problems.append(
                f"frontier.max_hosts is {self.frontier.max_hosts}: it must be at least twice engine.workers "
                f"({self.engine.workers}), or hosts in visit fill the memory for hosts that could be"
            )
        problems += _fields_problems(self.fields) if self.fields else ()
        problems += problems_of(self.watch, self.notify)
        reasons = list(place_problems(self._placed_sections(), self.place)) if self.place else []
        reasons += login_problems(self.login)
        reasons += mirror_problems(self.mirrors)
        if problems or reasons:
            lines = [line for problem in problems for line in problem.splitlines()]
            raise WrongValueError(*reasons, *map(text, lines))


def _fields_problems(sections: dict[str, dict[str, str]]) -> list[str]:
    from gossamer.extract.fields.extractor import read_groups  # selectors, and all that reads them

    try:
        read_groups(sections)
    except ConfigError as error:
        return [str(error)]
    return []
