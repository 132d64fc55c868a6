"""The ordering policies that come with Gossamer, by name, each made of its settings."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from gossamer.policy.ordering.best import BestConfig, BestFirst
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.ordering.ordering import BreadthFirst, DepthFirst
from gossamer.ports import OrderingPolicy


class OrderConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the orderings that have some; only those of `engine.order` are read."""

    best: BestConfig = BestConfig()
    opic: OpicConfig = OpicConfig()
    focus: FocusConfig = FocusConfig()


class Order(NamedTuple):
    """How an ordering is made of its settings, and under which name of `OrderConfig` they stand, if it has some."""

    make: Callable[[Any], OrderingPolicy]
    section: str = ""


def _focused(config: FocusConfig) -> OrderingPolicy:
    # Only when chosen: its expressions take 10 ms to compile.
    from gossamer.policy.ordering.focus import Focused

    return Focused(config)


ORDERS: Final[dict[str, Order]] = {
    "bfs": Order(lambda _: BreadthFirst()),
    "dfs": Order(lambda _: DepthFirst()),
    "best": Order(BestFirst, "best"),
    "opic": Order(Opic, "opic"),
    "focused": Order(_focused, "focus"),
}
"""Whatever names the orderings asks here: settings, the command line, the console."""


def settings_of_order(name: str, config: OrderConfig) -> Any:
    """The settings of an ordering; `None` if it has none, or is a plug-in's."""
    order = ORDERS.get(name)
    return getattr(config, order.section) if order is not None and order.section else None
