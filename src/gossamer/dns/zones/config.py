"""Settings of the zoned name cache."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Seconds


class ZonesConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each zone takes and how much it holds."""

    fast_below: Annotated[
        Seconds,
        Meta(description="answers found in less go into the forward zone; slower ones are kept by weight"),
    ] = 1.0
    forward_names: Annotated[
        int,
        Meta(
            description="domains and their hosts in the forward zone, about 0.9 KB each; "
            "the least recently used go first",
            ge=1,
        ),
    ] = 20_000
    third_level_names: Annotated[
        int,
        Meta(
            description="names below hosts (a.www.example.org) in the forward zone; when there are more, the "
            "half longest unused goes at once, which takes about 1 ms per 2,000",
            ge=1,
        ),
    ] = 10_000
    backward_names: Annotated[
        int,
        Meta(
            description="slow and failed names (backward zone), about 0.7 KB each; the lightest go first",
            ge=1,
        ),
    ] = 10_000
    renewal_period: Annotated[
        Seconds,
        Meta(description="light names of the backward zone leave when not resolved anew for this long"),
    ] = 3_600.0
    removal_every: Annotated[
        Seconds,
        Meta(description="time between two searches of the backward zone for names that should leave"),
    ] = 60.0
