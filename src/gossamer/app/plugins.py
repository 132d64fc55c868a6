"""Finds plug-ins by entry point: ordering policies and extractors of other packages."""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gossamer.model.errors import ConfigError
from gossamer.policy.ordering import BreadthFirst, DepthFirst
from gossamer.ports import Extractor, OrderingPolicy

ORDERINGS = "gossamer.orderings"
EXTRACTORS = "gossamer.extractors"


def load_orderings() -> dict[str, OrderingPolicy]:
    """The ordering policies there are, by name; an entry point is a class or function without arguments.

    Raises:
        ConfigError: a plug-in does not load.
    """
    builtin: list[OrderingPolicy] = [BreadthFirst(), DepthFirst()]
    found = {policy.name: policy for policy in builtin}
    for point in entry_points(group=ORDERINGS):
        policy = _load(point)
        found[point.name] = policy
    return found


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
