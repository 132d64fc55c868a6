"""The ordering policies that come with Gossamer, by name, each made of its settings."""

from collections.abc import Callable
from typing import Final

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


def _focused(config: OrderConfig) -> OrderingPolicy:
    # Only when chosen: its expressions take 10 ms to compile.
    from gossamer.policy.ordering.focus import Focused

    return Focused(config.focus)


ORDERS: Final[dict[str, Callable[[OrderConfig], OrderingPolicy]]] = {
    "bfs": lambda _: BreadthFirst(),
    "dfs": lambda _: DepthFirst(),
    "best": lambda config: BestFirst(config.best),
    "opic": lambda config: Opic(config.opic),
    "focused": _focused,
}
