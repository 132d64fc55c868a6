"""Settings of speculative links."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Count


class SpeculationConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether addresses in scripts and data are followed, and how soon nonsense ends."""

    follow: Annotated[
        bool,
        Meta(
            description="Follow what may be addresses in strings of scripts, in JSON, in `data-` and event"
            " attributes, after all links. Costs CPU time, and visits that may lead nowhere."
        ),
    ] = False
    min_belief: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="How likely an address must be to lead to something, by what was tried of its kind on"
            " its host; 1: none is visited.",
        ),
    ] = 0.3
    max_missing: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="Share of a host's visits that may be for addresses of this kind where nothing was.",
        ),
    ] = 0.05
    first_missing: Annotated[
        Count, Meta(description="As many may lead nowhere on any host, however few pages it has.")
    ] = 3
