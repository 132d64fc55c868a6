"""The configuration of a crawl: every room's own settings, composed."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.archive.config import ArchiveConfig
from gossamer.config.dotted import join_path
from gossamer.config.plugin_config import PluginConfig
from gossamer.config.search_config import SearchConfig
from gossamer.config.watch_config import NotifyConfig, WatchConfig, problems_of
from gossamer.dns.config import DnsConfig
from gossamer.documents.config import DocumentsConfig
from gossamer.engine.config import EngineConfig
from gossamer.extract.config import ExtractConfig
from gossamer.extract.fields.extractor import read_groups
from gossamer.fetch.config import FetchConfig
from gossamer.frontier.config import FrontierConfig
from gossamer.model.errors import ConfigError
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.ordering.orders import OrderConfig
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.robots.access import RobotsConfig
from gossamer.policy.scope.scope import ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.urls.canonical import CanonicalConfig
from gossamer.policy.urls.parameters import ParameterConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.host_overrides import HostOverrides, overrides_for, section_problem
from gossamer.policy.visits.politeness import PolitenessConfig, for_host
from gossamer.policy.visits.retry import RetryConfig
from gossamer.state.environment import StateConfig


class CrawlConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole configuration. Each section is owned by the room it configures."""

    seeds: Annotated[
        tuple[str, ...], Meta(description="where the crawl begins: URLs or bare host names")
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
    traps: TrapConfig = TrapConfig()
    speculation: SpeculationConfig = SpeculationConfig()
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
    plugins: PluginConfig = PluginConfig()
    host: Annotated[
        dict[str, HostOverrides],
        Meta(description="settings of single hosts, by name or `*.` and the name above"),
    ] = {}

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

    def politeness_of(self, name: str) -> PolitenessConfig:
        """The politeness of a host queue, with the overrides for that host."""
        return for_host(self.politeness, overrides_for(self.host, name))

    def __post_init__(self) -> None:
        problems = [
            f"{join_path(['host', name])}: {problem}"
            for name in self.host
            if (problem := section_problem(name)) is not None
        ]
        if self.frontier.max_hosts < 2 * self.engine.workers:
            problems.append(
                f"frontier.max_hosts is {self.frontier.max_hosts}: it must be at least twice engine.workers "
                f"({self.engine.workers}), or hosts in visit fill the memory for hosts that could be"
            )
        try:
            read_groups(self.fields)
        except ConfigError as error:
            problems.append(str(error))
        problems += problems_of(self.watch, self.notify)
        if problems:
            raise ValueError("\n".join(problems))
