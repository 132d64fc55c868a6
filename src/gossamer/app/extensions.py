"""What goes into a crawl beside its configuration."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from gossamer.ports import Extractor, Observer, ScopeRule, Sink

if TYPE_CHECKING:
    from gossamer.app.build import Built


class Extensions(msgspec.Struct, frozen=True):
    """What a user hands in beside the configuration."""

    scope_rules: Sequence[ScopeRule] = ()
    extractors: Sequence[Extractor] = ()
    observers: Sequence[Observer] = ()
    sinks: Sequence[Sink] = ()
    membership: "Membership | None" = None


class Membership(msgspec.Struct, frozen=True):
    """What makes a crawl an agent of a cluster.

    Attributes:
        secret: key of the fingerprints, one for all agents; 16 bytes.
        owns: whether a host, by its hash, is this agent's to visit now.
        built: told of the crawl before anything is admitted.
    """

    secret: bytes
    owns: Callable[[bytes], bool]
    built: Callable[["Built"], None]
