"""Finds plug-ins by entry point: ordering policies and extractors of other packages."""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gossamer.model.errors import ConfigError
from gossamer.policy.focus_config import FocusConfig
from gossamer.policy.orders import ORDERS, OrderConfig
from gossamer.ports import Extractor, OrderingPolicy

ORDERINGS = "gossamer.orderings"
EXTRACTORS = "gossamer.extractors"


def ordering(name: str, config: OrderConfig) -> OrderingPolicy:
    """The ordering policy of that name: one of ours, or else a plug-in.

    An entry point is a class or function without arguments. The packages installed are only searched when
    the name is not one of ours, for that takes longer than everything else at start-up.

    Raises:
        ConfigError: there is none, or the plug-in does not load.
    """
    if name in ORDERS:
        return ORDERS[name](config)
    points = {point.name: point for point in entry_points(group=ORDERINGS)}
    if name not in points:
        names = ", ".join([*ORDERS, *sorted(points)])
        raise ConfigError(f"engine.order: expected one of {names}, got {name!r}")
    policy: OrderingPolicy = _load(points[name])
    return policy


def focus_extractor(config: FocusConfig) -> Extractor:
    """Counts on each page the words that a focused crawl is after."""
    from gossamer.extract.focus import FocusExtractor  # start-up, as in policy/orders.py
    from gossamer.policy.words import Query

    return FocusExtractor(Query(config.query))


def load_extractors() -> list[Extractor]:
    """The extractors of other packages, in the order of their names.

    Raises:
        ConfigError: a plug-in does not load.
    """
    return [_load(point) for point in sorted(entry_points(group=EXTRACTORS), key=lambda point: point.name)]


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()()
    except Exception as error:  # the border of the plug-in
        raise ConfigError(
            f"plug-in {point.group}: {point.name} ({point.value}) does not load: {error!r}. "
            "Repair or uninstall the package that brings it."
        ) from error
