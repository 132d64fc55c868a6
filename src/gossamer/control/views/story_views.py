"""Views that explain: one URL, names, robots files, traps, settings, how it came to this."""

from itertools import starmap
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gossamer.assembly.name_resolution import KeptNames, count_names
from gossamer.assembly.report import name_sums
from gossamer.config.explained import SettingsThere, settings_there
from gossamer.config.shape import Kind, choices, settings_of
from gossamer.config.toml_text import holds_secret
from gossamer.control.changes.change_log import read_changes
from gossamer.control.changes.changeable import changeable_paths
from gossamer.control.history import COLUMNS, read_history
from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.context import ViewContext
from gossamer.control.views.host_views import RobotsFiles, find_host, robots_of
from gossamer.control.views.paging import Cursor as CursorText
from gossamer.control.views.paging import Limit, Page, page_of_list
from gossamer.dns.statistics import LATENCY_BOUNDS
from gossamer.engine.signals.hubs import Hub, known_hubs
from gossamer.inspect.traps import branch_lines
from gossamer.inspect.why.priority import Priority
from gossamer.inspect.why.sentences import Told
from gossamer.inspect.why.story import Storyteller


class History(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From when (wall time), and how many points at most."""

    since: float = 0.0
    points: Annotated[int, Meta(ge=2, le=2_000)] = 240


class Why(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of `why`: the URL in question."""

    url: Annotated[str, Meta(min_length=1, max_length=20_000)]


class SettingsFor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A URL, and what else may decide which place holds: address of the host, type of the answer, hour (UTC, `HH:MM`;
    empty: now)."""

    url: Annotated[str, Meta(min_length=1, max_length=20_000)]
    address: Annotated[str, Meta(max_length=64)] = ""
    type: Annotated[str, Meta(max_length=200)] = ""
    hour: Annotated[str, Meta(max_length=5)] = ""


class Robots(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the robots view: of which host."""

    host: str


class Names(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A domain under which names are counted, or none."""

    under: Annotated[str, Meta(max_length=253)] = ""


class Traps(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Branches of one host, or of all."""

    host: str = ""
    cursor: CursorText | None = None
    limit: Limit = 100


class Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page of the log of changes, the latest first."""

    cursor: CursorText | None = None
    limit: Limit = 100


class TrapPage(Page, frozen=True):
    """`learning`: visits are shared out by branch."""

    learning: bool = False


class ToldFact(msgspec.Struct, frozen=True):
    """One sentence of a story, under its heading; `clauses` say it in any language."""

    about: str
    text: str
    clauses: Told


class ToldStory(msgspec.Struct, frozen=True):
    """The story of a URL; `text` is all of it in English, `priority` its place if it waits."""

    url: str
    state: str
    facts: list[ToldFact]
    priority: Priority | None
    text: str


class Latency(msgspec.Struct, frozen=True):
    """Names that took up to `up_to` seconds, and longer than the class before; `None`: no bound."""

    up_to: float | None
    names: int


class NameFigures(msgspec.Struct, frozen=True):
    """What became of the questions for names.

    Attributes:
        sums: hits, misses and what else `name_sums` counts.
        failures: by fault.
        longest: seconds that a name took at most.
        kept: what the compact cache holds; `None` if there is none.
        slowest: seconds by name; `failing`: how often at least, by name.
    """

    sums: dict[str, int]
    failures: dict[str, int]
    latencies: list[Latency]
    longest: float
    kept: KeptNames | None
    slowest: dict[str, float]
    failing: dict[str, int]


class HistoryRows(msgspec.Struct, frozen=True):
    """What a crawl was doing when: a row for each time, its values named by `columns`."""

    columns: tuple[str, ...]
    rows: list[list[float]]


class DescribedSetting(msgspec.Struct, frozen=True):
    """What a setting means; `live`: it can change while the crawl runs."""

    description: str
    unit: str
    choices: Any
    default: Any
    secret: bool
    live: bool


class DescribedSettings(msgspec.Struct, frozen=True):
    """The configuration as a tree without its secrets; `live` and `described` go by dotted paths."""

    settings: dict[str, Any]
    live: list[str]
    described: dict[str, DescribedSetting]


def why(look: ViewContext, params: Why) -> ToldStory:
    """The story of a URL, as facts (in English, and as clauses for other languages) and as text."""
    story = Storyteller(look.inspection()).tell(params.url)
    lines = [f"{story.url}: {story.state}", *(f"  {fact.about:<15} {fact.text}" for fact in story.facts)]
    facts = [ToldFact(fact.about, fact.text, fact.told) for fact in story.facts]
    return ToldStory(story.url, story.state, facts, story.priority, "\n".join(lines))


def names(look: ViewContext, params: Names) -> NameFigures:
    """What became of the questions for names, and how many the compact cache holds, if there is one."""
    domains = (params.under,) if params.under else ()
    # All of the cache is gone through, up to a second.
    kept = look.kept(
        f"names {params.under}", lambda: count_names(look.config.dns, look.folder.names, domains)
    )
    statistics = look.inspection().names
    bounds = [*LATENCY_BOUNDS, None]
    return NameFigures(
        sums=name_sums(statistics),
        failures=statistics.failures,
        latencies=list(starmap(Latency, zip(bounds, statistics.latencies, strict=True))),
        longest=statistics.longest,
        kept=kept,
        slowest=dict(statistics.slowest_names()),
        failing=dict(statistics.failing_names()),
    )


def robots(look: ViewContext, params: Robots) -> RobotsFiles:
    """What the robots files of a host say."""
    key, _ = find_host(look, params.host)
    return RobotsFiles(robots_of(look, key))


def hubs(look: ViewContext, _: Nothing) -> dict[str, list[Hub]]:
    """Who would tell of changes of which pages (W3C WebSub): `{"items": [Hub]}`, at most 1,000."""
    return {"items": [Hub(topic, hub) for topic, hub in sorted(known_hubs(look.environment).items())]}


def traps(look: ViewContext, params: Traps) -> TrapPage:
    """Branches of sites with what they brought, those set aside first."""
    lines = look.kept(f"traps {params.host}", lambda: branch_lines(look.inspection(), params.host))
    page = page_of_list(lines, params.cursor, params.limit)
    return TrapPage(page.items, page.cursor, page.total, look.config.branches.share)


def changes(look: ViewContext, params: Changes) -> Page:
    """What was changed while it ran, the latest first."""
    return page_of_list(read_changes(look.folder.path)[::-1], params.cursor, params.limit)


def history(look: ViewContext, params: History) -> HistoryRows:
    """The lines, thinned out; those of a crawl of weeks take 0.2 s to read, so they are kept a while."""
    rows = look.kept(
        f"history {params.since} {params.points}",
        lambda: read_history(look.folder.path, params.since, params.points),
    )
    return HistoryRows(COLUMNS, rows)


def settings(look: ViewContext, _: Nothing) -> DescribedSettings:
    """The configuration, without its secrets, with what can change while the crawl runs."""
    live = changeable_paths()
    described: dict[str, DescribedSetting] = {}
    tree = _described(look.config, "", described, frozenset(live))
    return DescribedSettings(tree, live, described)


def settings_for(look: ViewContext, params: SettingsFor) -> SettingsThere:
    """The settings that can differ by place, as they stand at a URL, and which places say so."""
    return settings_there(
        look.config, params.url, address=params.address, media_type=params.type, hour=params.hour
    )


def _described(
    struct: msgspec.Struct, prefix: str, found: dict[str, DescribedSetting], live: frozenset[str]
) -> Any:
    tree: dict[str, Any] = {}
    for setting in settings_of(type(struct)):
        value, path = getattr(struct, setting.name), f"{prefix}{setting.key}"
        if setting.shape.kind is Kind.TABLE and isinstance(value, msgspec.Struct):
            tree[setting.key] = _described(value, f"{path}.", found, live)
            continue
        inner = setting.shape.item
        secret = holds_secret(value, setting.shape) and (inner is None or inner.kind is not Kind.TABLE)
        tree[setting.key] = None if secret else _without_secrets(value)
        found[path] = DescribedSetting(
            description=setting.description,
            unit=setting.shape.unit,
            choices=choices(setting.shape),
            default=msgspec.to_builtins(setting.default),
            secret=secret,
            live=path in live,
        )
    return tree


def _without_secrets(value: Any) -> Any:
    """As JSON values; members of a mapping or sequence that are structs lose their secrets."""
    if isinstance(value, dict):
        return {key: _without_secrets(inner) for key, inner in value.items()}
    if isinstance(value, msgspec.Struct):
        return _described(value, "", {}, frozenset())
    return msgspec.to_builtins(value)
