"""Says which settings can change while a crawl runs, and checks changes as a whole."""

from enum import StrEnum
from typing import Annotated, Any, Final, get_args

import msgspec
from msgspec import Meta

from gossamer.config.config import CrawlConfig
from gossamer.config.dotted import join_path, nearest, setting_keys, split_path
from gossamer.config.effective import Effective
from gossamer.config.older_hosts import renewed_keys
from gossamer.config.place_config import KNOWN, SECTIONS
from gossamer.config.settings import load, merge
from gossamer.config.settings_reader import not_a_setting
from gossamer.config.shape import leaf_paths, settings_of
from gossamer.config.storage_config import StorageConfig
from gossamer.control.socket.protocol import LiveError, invalid
from gossamer.engine.admission.rejudging import may_widen
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, of
from gossamer.policy.visits.politeness import SERVER_SETTINGS, Evidence


class Group(StrEnum):
    """Settings that are applied together."""

    WORKERS = "workers"
    ENGINE = "engine"
    POLITENESS = "politeness"
    BUDGET = "budget"
    SCOPE = "scope"
    ORDER = "order"
    RETRY = "retry"
    SPEED = "speed"
    SEEDS = "seeds"
    REVISIT = "revisit"
    WATCH = "watch"
    FETCH = "fetch"
    DEMAND = "demand"


_WHOLE_SECTIONS = {
    "politeness": Group.POLITENESS,
    "scope": Group.SCOPE,
    "traps": Group.SCOPE,
    "retry": Group.RETRY,
    "demand": Group.DEMAND,
}
_SINGLE: Final[dict[str, Group]] = {
    "engine.workers": Group.WORKERS,
    "engine.give_up_after": Group.ENGINE,
    "engine.checkpoint_every": Group.ENGINE,
    "engine.min_free_disk": Group.ENGINE,
    "budget.max_pages": Group.BUDGET,
    "budget.max_bytes": Group.BUDGET,
    "budget.max_time": Group.BUDGET,
    "budget.pages_per_host": Group.BUDGET,
    "budget.bytes_per_host": Group.BUDGET,
    "fetch.max_speed": Group.SPEED,
    "fetch.max_host_speed": Group.SPEED,
    "seeds_watch": Group.SEEDS,
    "watch": Group.WATCH,
}
_NEVER = frozenset(
    {
        "politeness.shared",
        "order.opic.credit",
        "order.focus.query",
    }
)
_WHERE = frozenset(f"storage.{name}" for name in StorageConfig.__struct_fields__)
_OF_PLACES = {"credentials": None, "fetch": Group.FETCH}
"""Sections of places that are applied otherwise than by what holds everywhere: visits ask for themselves."""
_SECRET: Final = frozenset(
    (name, setting.key)
    for name, section in SECTIONS.items()
    for setting in settings_of(section)
    if setting.shape.secret
)
"""What the log of changes must not hold."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Values by path; `None` unsets."""

    changes: Annotated[dict[str, Any], Meta(max_length=1_000)]


class Item(msgspec.Struct, frozen=True):
    """One setting that is to change, with its values as they stand in TOML (`None`: unset)."""

    path: str
    old: Any
    new: Any
    group: Group


class Plan(msgspec.Struct, frozen=True):
    """A checked change: the whole new configuration, and what is new in it."""

    config: CrawlConfig
    items: tuple[Item, ...]

    @property
    def groups(self) -> frozenset[Group]:
        """What is to be applied."""
        return frozenset(item.group for item in self.items)


def changeable_paths() -> list[str]:
    """Every path that can change while a crawl runs; `NAME` stands for any place."""
    paths = [path for path in leaf_paths(CrawlConfig) if _group_of(split_path(path)) is not None]
    placed = [["place", "NAME", section, key] for section, names in KNOWN.items() for key in names]
    return [*paths, *(join_path(keys) for keys in placed if _group_of(keys) is not None)]


def plan_changes(config: CrawlConfig, changes: dict[str, Any]) -> Plan:
    """Check changes against the configuration in force and against each other.

    Args:
        config: in force.
        changes: by path, as `setting_keys` reads it, and `None` for unset.

    Raises:
        LiveError: `invalid`, with everything that is wrong.
    """
    problems: list[Reason] = []
    wanted: dict[str, Any] = {}
    groups: dict[str, Group] = {}
    if not changes:
        raise LiveError("invalid", of("changes", Reason(ProblemCode.NO_CHANGES)))
    for given, value in changes.items():
        try:
            keys = renewed_keys(setting_keys(given))
            path = join_path(keys)
            group = _group_of(keys)
            if group is None:
                problems.append(of(given, _not_live(path)))
            else:
                wanted[path], groups[path] = value, group
        except ValueError as error:
            problems.append(of(given, str(error)))
    before = msgspec.to_builtins(config)
    try:
        after = load(CrawlConfig, merge(before, wanted))
        if _servers_found_by(config) != _servers_found_by(after):
            problems += [of(path, Reason(ProblemCode.NOT_LIVE)) for path in wanted if _is_of_servers(path)]
    except ConfigError as error:
        problems += error.reasons
    if problems:
        raise invalid(tuple(problems))
    tree = msgspec.to_builtins(after)
    items = (Item(path, _value(before, path), _value(tree, path), group) for path, group in groups.items())
    return Plan(after, tuple(item for item in items if item.old != item.new))


def widens(before: CrawlConfig, after: CrawlConfig) -> bool:
    """Whether something that was out of scope may be in scope now."""
    return before.judged_by[1:] != after.judged_by[1:] or may_widen(before.scope, after.scope)


def _servers_found_by(config: CrawlConfig) -> set[str]:
    """What a crawl looks at to know servers: the table of their rests, names and certificates are made ready for that
    at its start, so it stays. Which hosts and how long may change."""
    effective = Effective(config)
    found = {evidence for evidence in get_args(Evidence) if effective.finds_servers_by(evidence)}
    return found | ({"address"} if effective.by_server else set())


def _is_of_servers(path: str) -> bool:
    return split_path(path)[-1] in SERVER_SETTINGS


def _group_of(keys: list[str]) -> Group | None:
    if join_path(keys) in _NEVER:
        return None
    match keys:
        case ["place", _, section, key] if key in KNOWN.get(section, ()) and (section, key) not in _SECRET:
            everywhere = _group_of([section, key])
            return everywhere or _OF_PLACES.get(section)
        case [section, _] if section in _WHOLE_SECTIONS:
            return _WHOLE_SECTIONS[section]
        case ["revisit", _] | ["revisit", "every" | "weight", _]:
            return Group.REVISIT
        case ["order", _, _]:
            return Group.ORDER
    return _SINGLE.get(join_path(keys))


def _not_live(path: str) -> Reason:
    if path in _WHERE:  # with `resume` it could not change either
        return Reason(ProblemCode.NOT_MOVED)
    if path.startswith("place.") or path in set(leaf_paths(CrawlConfig)):
        return Reason(ProblemCode.NOT_LIVE)
    near = nearest(path, leaf_paths(CrawlConfig))
    return not_a_setting(near) if near else Reason(ProblemCode.NOT_SETTING_SINGLE)


def _value(tree: Any, path: str) -> Any:
    for key in split_path(path):
        tree = tree.get(key) if isinstance(tree, dict) else None
    return msgspec.json.decode(msgspec.json.encode(tree))  # as the log has it
