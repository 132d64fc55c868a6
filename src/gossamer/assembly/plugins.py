"""Finds plug-ins by entry point: code of other packages for every extension point.

An entry point of a port that is a plain callable (a rule, an observer, a sink) is that callable, or a class
that makes it; of any other port it is a class or function without arguments. Extractors of all installed
packages are used, of the other ports those that the settings name: to look for them takes longer than
everything else at start-up.
"""

import contextlib
import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.assembly.extensions import Extensions
from gossamer.config.plugin_config import PluginConfig
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because, of
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.orders import ORDERS, OrderConfig, settings_of_order
from gossamer.ports import Extractor, OrderingPolicy

if TYPE_CHECKING:  # it brings the parser of mail, and each command would wait for it
    from importlib.metadata import EntryPoint

ORDERINGS = "gossamer.orderings"
EXTRACTORS = "gossamer.extractors"
_CALLABLES = ("scope_rules", "observers", "sinks", "address_rules")
_OBJECTS = ("protocol_modules",)
_SINGLE = {"revisits": "revisits", "resolver": "resolvers", "name_cache": "name_caches"}


def ordering(name: str, config: OrderConfig) -> OrderingPolicy:
    """The ordering policy of that name: one of ours, or else a plug-in.

    Raises:
        ConfigError: there is none, or the plug-in does not load.
    """
    if name in ORDERS:
        return ORDERS[name].make(settings_of_order(name, config))
    points = _points(ORDERINGS)
    if name not in points:
        names = ", ".join([*ORDERS, *sorted(points)])
        raise ConfigError(of("engine.order", because(ProblemCode.ONE_OF, str(names), repr(name))))
    policy: OrderingPolicy = _load(points[name])
    return policy


def focus_extractor(config: FocusConfig) -> Extractor:
    """Counts on each page the words that a focused crawl is after."""
    from gossamer.extract.focus import FocusExtractor  # start-up, as in policy/ordering/orders.py
    from gossamer.policy.ordering.words import Query

    return FocusExtractor(Query(config.query))


def load_extractors() -> list[Extractor]:
    """The extractors of other packages, in the order of their names.

    Raises:
        ConfigError: a plug-in does not load.
    """
    return [_load(point) for _, point in sorted(_points(EXTRACTORS).items())]


def with_plugins(extensions: Extensions, config: PluginConfig) -> Extensions:
    """What was handed in, and behind it the plug-ins that the settings name; a single one is not replaced.

    Raises:
        ConfigError: some are not there, or do not load.
    """
    problems: list[str] = []
    more: dict[str, Any] = {}
    for port in (*_CALLABLES, *_OBJECTS):
        found = [_named(port, f"gossamer.{port}", name, problems) for name in getattr(config, port)]
        more[port] = [*getattr(extensions, port), *found]
    for port, group in _SINGLE.items():
        more[port] = getattr(extensions, port)
        name = getattr(config, port)
        if name and more[port] is None:
            more[port] = _named(port, f"gossamer.{group}", name, problems)
    if problems:
        raise ConfigError(*problems)
    return msgspec.structs.replace(extensions, **more)


def prove_plugins(config: PluginConfig) -> None:
    """Check that the plug-ins named are there and load.

    Raises:
        ConfigError: as `with_plugins`.
    """
    with_plugins(Extensions(), config)


def _named(port: str, group: str, name: str, problems: list[str]) -> Any:
    points = _points(group)
    if name not in points:
        there = f"there are {', '.join(sorted(points))}" if points else "no installed package brings any"
        problems.append(f"plugins.{port}: there is no plug-in {name!r} in the group {group}; {there}")
        return None
    try:
        return _load(points[name], called=port not in _CALLABLES)
    except ConfigError as error:
        problems += error.problems
        return None


def _points(group: str) -> "dict[str, EntryPoint]":
    if not _may_be_named(group):
        return {}
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=group)}


def _may_be_named(group: str) -> bool:
    """Whether an installed package may have entry points of a group (Python Packaging, "Entry points specification").

    Whoever has any has a file that names their group in brackets. Nearly always there is none, and to see that takes
    a tenth of the time and none of the 3 MB of `importlib.metadata`. What lies in no folder is left to that.
    """
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    named = f"[{group}]".encode()
    for place in sys.path:
        try:
            with os.scandir(place or ".") as entries:
                holders = [
                    one.path for one in entries if one.name.endswith((".dist-info", ".egg-info", "EGG-INFO"))
                ]
        except NotADirectoryError:
            return True
        except OSError:
            continue
        for holder in holders:
            with contextlib.suppress(OSError):
                if named in Path(holder, "entry_points.txt").read_bytes():
                    return True
    return False


def _load(point: "EntryPoint", *, called: bool = True) -> Any:
    try:
        loaded = point.load()
        return loaded() if called or isinstance(loaded, type) else loaded
    except Exception as error:  # the border of the plug-in
        raise ConfigError(
            f"plug-in {point.group}: {point.name} ({point.value}) does not load: {error!r}. "
            "Repair or uninstall the package that brings it."
        ) from error
