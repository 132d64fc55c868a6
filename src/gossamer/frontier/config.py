"""What a frontier is made with: its bounds, the host policy, the session."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.frontier.gates.name_gate import Names
from gossamer.frontier.gates.shared_rests import SharedRests
from gossamer.model.quantity import Bytes
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.clock import WallClock
from gossamer.state.keys import Fingerprints


class FrontierConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the frontier is in memory; all of it is on disk."""

    max_hosts: Annotated[
        int, Meta(ge=8, description="hosts in memory; more allows more visits at once, at about 10 KB each")
    ] = 2_000
    buffer: Annotated[
        int, Meta(ge=1, description="queue entries of a host in memory; more means fewer scans of the disk")
    ] = 32
    recent_links: Annotated[
        int,
        Meta(
            ge=2,
            description="links remembered that need no seen test, 8 bytes each; a crawl of many million "
            "URLs takes half as much time for each link with as many",
        ),
    ] = 131_072
    seen_cache: Annotated[
        int, Meta(ge=2, description="fingerprints kept in front of the seen set, 8 bytes each")
    ] = 131_072
    branches_memory: Annotated[
        Bytes,
        Meta(
            description="memory for the branches of large sites, some 200 KB each; where more sites than fit "
            "take turns, each visit reads those of its site again, some milliseconds",
        ),
    ] = 24 << 20
    visited: Annotated[
        Literal["exact", "bloom"],
        Meta(
            description="exact: admitted URLs on disk behind a cache; bloom: a filter in memory, faster, "
            "which loses the share bloom_error of all new URLs"
        ),
    ] = "exact"
    bloom_urls: Annotated[
        int,
        Meta(
            ge=1_000,
            le=10_000_000_000,
            description="URLs that the filter is made for; with more it loses more than bloom_error of them",
        ),
    ] = 10_000_000
    bloom_error: Annotated[
        float,
        Meta(
            ge=1e-12,
            le=0.5,
            description="share of new URLs that the full filter loses; 1e-6 takes 29 bits of memory for each "
            "of bloom_urls, 0.01 takes 10",
        ),
    ] = 1e-6
    robots_cache: Annotated[Bytes, Meta(description="memory for the robots rules in use")] = 6 << 20


class HostPolicy(msgspec.Struct, frozen=True):
    """What the frontier must know of politeness and budgets, as functions of the queue's name."""

    queue_key: Callable[[Url], str]
    visits_at_once: Callable[[str], int]
    rest: Callable[[str], float]  # seconds owed to a host whose last visit is unknown
    budget_spent: Callable[[str, int, int], Reason | None]  # (name, pages, bytes)
    obey_robots: bool = True
    names: Names | None = None
    linked_names_first: bool = False
    domain_budget: BudgetConfig | None = None  # if something is counted by registrable domain
    branches: BranchConfig = BranchConfig()
    domain: Callable[[str], str] | None = None  # whose turns the host of that name shares with others
    shared: SharedRests | None = (
        None  # if hosts rest for other crawls of the machine, or for others on their server
    )
    politeness_at: Callable[[Url, str], PolitenessConfig] | None = (
        None  # (URL, address), if some servers rest
    )
    owns: Callable[[bytes], bool] | None = None  # in a cluster: whether a host, by its hash, is ours to visit
    speculative: bool = False  # whether some URLs are guesses


class Session(msgspec.Struct, frozen=True):
    """What ties a frontier to one run of the process.

    `resumed` means that an earlier session worked on the same folder; `now` is the crawl clock in
    microseconds; `warn` hears what the operator should know; `wall` tells when pages change and are visited again.
    """

    fingerprints: Fingerprints
    now: Callable[[], int]
    resumed: bool = False
    warn: Callable[[str], None] = lambda _: None
    wall: WallClock = WallClock()


class Census(msgspec.Struct, frozen=True):
    """Hosts in memory by what they do, and the one with the longest queue. `largest_rest` is in seconds."""

    resting: int = 0
    lent: int = 0
    largest_name: str = ""
    largest_queue: int = 0
    largest_rest: float = 0.0
    awaiting_names: int = 0
