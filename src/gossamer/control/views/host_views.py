"""Views of hosts: lists of them, and all that is known of one."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

import msgspec

from gossamer.config.effective import Effective
from gossamer.control.socket.protocol import LiveError
from gossamer.control.views.context import ViewContext
from gossamer.control.views.paging import Cursor as CursorText
from gossamer.control.views.paging import Limit, Page, behind, cursor_of, key_of, offset_of, take
from gossamer.frontier.queues.queue_table import branches_of
from gossamer.frontier.robots_table import RobotsTable
from gossamer.inspect.hosts import HostItem, host_item
from gossamer.inspect.traps import BranchLine, lines_of
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, sentence
from gossamer.policy.robots.file import RobotsRules
from gossamer.state.environment import Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import HostRecord, decode_host, decode_queue, decode_robots

FIRST = 10
"""URLs shown of a host's queue."""
ORIGINS = 100
BRANCHES = 50
RULES = 1_000

State = Literal["ready", "resting", "waiting", "parked", "empty"]


class Hosts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which hosts, in which order; without `sort` in none, but to the last."""

    state: State | None = None
    text: str = ""
    sort: Literal["queued", "pages", "seconds", "name"] | None = None
    cursor: CursorText | None = None
    limit: Limit = 100


class Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the view of one host."""

    name: str


class HostPage(Page, frozen=True):
    """`estimated`: not every host was looked at for the order or the total."""

    estimated: bool = False


class HostPoliteness(msgspec.Struct, frozen=True):
    """The settings by which one host is treated; see `PolitenessConfig`."""

    min_delay: float
    max_delay: float
    factor: float
    visits_per_host: int
    address_delay: float
    visits_per_address: int
    server: str
    server_by: tuple[str, ...]


class HostBudget(msgspec.Struct, frozen=True):
    """How many pages and bytes of one host; 0 for no limit."""

    max_pages: int
    max_bytes: int


class RobotsFile(msgspec.Struct, frozen=True):
    """What is known of the robots file of one origin.

    Attributes:
        state: `rules`, `open`, `closed`, `hold` or `pending`.
        until: wall time until which that holds.
        source: where the rules came from, if not from the origin itself.
        rules: the first thousand of our group, as lines; `rules_in_all` counts them.
    """

    origin: str
    state: str
    until: float | None
    detail: str
    failures: int
    source: str
    crawl_delay: float | None
    sitemaps: Sequence[str]
    rules: list[str]
    rules_in_all: int
    why: Reason | None = None
    """`detail` as a value."""


class RobotsFiles(msgspec.Struct, frozen=True):
    """The robots files of a host's origins."""

    items: list[RobotsFile]


class HostDetail(HostItem, frozen=True, kw_only=True):
    """All that is known of one host; times are of the wall clock.

    Attributes:
        parked: why it is left alone; empty if it is not.
        rest: seconds that its last visit earned.
        crawl_delay: what its robots file asks for; `None` if nothing.
        first: the first URLs of its queue.
        servers: with whom it rested for its last visit, by server and what showed that.
    """

    parked: str
    rest: float
    crawl_delay: float | None
    last_visit: float | None
    failing_since: float | None
    blocked: bool
    politeness: HostPoliteness
    budget: HostBudget
    first: list[str]
    robots: list[RobotsFile]
    branches: list[BranchLine]
    servers: tuple[Reason, ...]


def hosts(look: ViewContext, params: Hosts) -> HostPage:
    """A page of hosts.

    With `sort` the first thousand can be had. A search for `text`, in names, is not sorted as a whole.
    """
    if params.sort is not None and not params.text:
        return _sorted(look, params)
    now = look.clock.micros()
    _, start = key_of(params.cursor, ("k",))

    def entries() -> Iterator[tuple[bytes, HostItem | None]]:
        for key, data in look.environment.scan(Family.HOSTS, behind(start)):
            record = decode_host(data)
            item = None
            if params.text in record.name:
                item = host_item(record, now, look.config)
                if params.state not in (None, item.state):
                    item = None
            yield key, item

    found, last = take(entries(), params.limit)
    plain = params.state is None and not params.text
    total = look.counters().hosts if plain else None
    return HostPage(_ordered(found, params), cursor_of("k", last) if last else None, total)


def _sorted(look: ViewContext, params: Hosts) -> HostPage:
    assert params.sort is not None
    now = look.clock.micros()
    count = look.census.look()
    state = params.state or ""
    largest = count.largest(params.sort, state)
    start = offset_of(params.cursor)
    end = start + params.limit
    items = [host_item(record, now, look.config) for record in largest[start:end]]
    all_hosts = look.counters().hosts
    total = count.scaled(all_hosts).get(state, 0) if state else all_hosts
    return HostPage(items, f"n:{end}" if end < len(largest) else None, total, not count.complete)


def _ordered(items: list[HostItem], params: Hosts) -> list[HostItem]:
    match params.sort:
        case "name":
            return sorted(items, key=lambda item: item.name)
        case "queued":
            return sorted(items, key=lambda item: -item.queued - item.waiting)
        case "seconds":
            return sorted(items, key=lambda item: -item.queued * item.delay)
        case "pages":
            return sorted(items, key=lambda item: -item.pages)
    return items


def host(look: ViewContext, params: Host) -> HostDetail:
    """All that is known of one host."""
    key, record = find_host(look, params.name)
    config = look.config
    effective = Effective(config)
    politeness, budget = effective.politeness(record.name), effective.budget(record.name)
    return HostDetail(
        **msgspec.structs.asdict(host_item(record, look.clock.micros(), config)),
        parked=sentence(record.parked),
        rest=record.rest / 1e6,
        crawl_delay=record.crawl_delay if record.crawl_delay >= 0 else None,
        last_visit=_wall(look, record.last_visit),
        failing_since=_wall(look, int(record.failing_since * 1e6)) if record.failures else None,
        blocked=record.name in config.scope.block,
        politeness=HostPoliteness(
            **{name: getattr(politeness, name) for name in HostPoliteness.__struct_fields__}
        ),
        budget=HostBudget(budget.pages_per_host, budget.bytes_per_host),
        first=list(_first(look, key, record)),
        robots=robots_of(look, key),
        branches=list(islice(lines_of(record.name, branches_of(look.environment, key)), BRANCHES)),
        servers=record.servers,
    )


def find_host(look: ViewContext, name: str) -> tuple[bytes, HostRecord]:
    """(hash, record) of a host queue.

    Raises:
        LiveError: it is not known to the crawl.
    """
    key = look.fingerprints().host(name)
    data = look.environment.get(Family.HOSTS, key)
    if data is None:
        raise LiveError("not_found", because(ProblemCode.NO_HOST, name))
    return key, decode_host(data)


def robots_of(look: ViewContext, key: bytes) -> list[RobotsFile]:
    """What the robots files of a host's origins say."""
    table = RobotsTable(look.environment, 1 << 20, look.clock.micros)
    found = []
    for number, (entry_key, data) in enumerate(look.environment.scan(Family.ROBOTS, prefix=key)):
        if number == ORIGINS:
            break
        origin = entry_key[HASH_BYTES:].decode()
        record = decode_robots(data)
        entry = table.latest(key, origin)
        rules = (entry.rules if entry is not None else None) or RobotsRules()
        found.append(
            RobotsFile(
                origin=origin,
                state=record.state,
                until=_wall(look, record.until),
                detail=sentence(record.reason),
                why=record.reason,
                failures=record.failures,
                source=record.source,
                crawl_delay=rules.crawl_delay,
                sitemaps=rules.sitemaps[:RULES],
                rules=[
                    f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules.rules[:RULES]
                ],
                rules_in_all=len(rules.rules),
            )
        )
    return found


def _first(look: ViewContext, key: bytes, record: HostRecord) -> Iterator[str]:
    for number, (_, data) in enumerate(look.environment.scan(Family.QUEUE, key + record.head, key)):
        if number == FIRST:
            return
        yield decode_queue(data).url


def _wall(look: ViewContext, micros: int) -> float | None:
    """Wall time of a time on the crawl clock."""
    if not micros or micros >= 1 << 62:
        return None
    return round(time.time() + (micros - look.clock.micros()) / 1e6, 3)
