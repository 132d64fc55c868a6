"""Settings of what is fetched because somebody asks for it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import SECONDS, Seconds

LONGEST_WAIT = 45.0
"""Seconds; whoever asks by the daemon is left without an answer after a minute."""


class DemandConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How single URLs are answered that are asked for by the API or by 'gossamer proxy'."""

    stay: Annotated[
        bool,
        Meta(description="the crawl does not end by itself: it waits for what is asked for; needs no seeds"),
    ] = False
    fresh: Annotated[
        Seconds,
        Meta(
            description="how old an answer of the archive may be if the request does not say; an older one is fetched"
            " again"
        ),
    ] = 3_600.0
    wait: Annotated[
        float,
        Meta(
            ge=0,
            le=LONGEST_WAIT,
            extra=SECONDS,
            description="how long a caller waits at most; the visit is made all the same",
        ),
    ] = 30.0
