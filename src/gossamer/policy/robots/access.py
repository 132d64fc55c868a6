"""Tells what the outcome of fetching a robots file means for its origin (RFC 9309, 2.3.1)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.outcome import Fault
from gossamer.model.quantity import Bytes, Seconds
from gossamer.model.reasons.codes import RobotsCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.robots.file import SIZE_LIMIT, RobotsRules
from gossamer.policy.visits.retry import backoff


class RobotsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far hosts and pages may tell us what to leave alone."""

    obey: Annotated[
        bool, Meta(description="Off: robots files are neither fetched nor obeyed; for sites of your own.")
    ] = True
    max_age: Annotated[
        Seconds,
        Meta(description="A robots file is fetched again after this long (at most a day).", le=86_400),
    ] = 86_400.0
    max_size: Annotated[
        Bytes,
        Meta(description="Rules past this size are not read; RFC 9309 asks for 500 KiB."),
    ] = SIZE_LIMIT
    max_redirects: Annotated[
        int,
        Meta(description="Redirects followed to a robots file; after more the origin has no rules.", ge=5),
    ] = 5
    max_crawl_delay: Annotated[
        Seconds, Meta(description="A longer Crawl-delay is cut to this; small values are impolite.")
    ] = 300.0
    hold_first: Annotated[
        Seconds,
        Meta(description="Wait after the first failure to get a robots file; its host is not visited."),
    ] = 60.0
    hold_longest: Annotated[
        Seconds, Meta(description="The wait doubles with each failure up to this; the host stays held.")
    ] = 86_400.0
    honour_nofollow: Annotated[bool, Meta(description="Off: links that say rel=nofollow are followed.")] = (
        True
    )
    honour_meta: Annotated[
        bool, Meta(description="Off: nofollow in meta robots and X-Robots-Tag is recorded, not obeyed.")
    ] = True

    def __post_init__(self) -> None:
        if self.max_size < SIZE_LIMIT:
            raise ValueError(f"max_size must be at least {SIZE_LIMIT} bytes (RFC 9309, 2.5)")
        if self.hold_first > self.hold_longest:
            raise ValueError("hold_first must not be longer than hold_longest")


class UseBody(msgspec.Struct, frozen=True):
    """Parse the body; what it says holds for `max_age`."""


class KeepRules(msgspec.Struct, frozen=True):
    """The rules known before hold for another `max_age`."""


class AllowAll(msgspec.Struct, frozen=True):
    """The origin has no rules ("unavailable"); true for `max_age`."""

    reason: Reason


class Hold(msgspec.Struct, frozen=True):
    """Nothing may be visited ("unreachable"); no URL is lost, ask for the file again after `wait` seconds."""

    wait: float
    reason: Reason


Access = UseBody | KeepRules | AllowAll | Hold


def access_for(
    status: int | None,
    fault: Fault | None,
    failures: int,
    config: RobotsConfig,
    retry_after: float | None = None,
    said: str = "",
) -> Access:
    """What a visit to a robots file means.

    Args:
        status: of the response; redirects are to be followed as long as `max_redirects` allows,
            so a 3xx here could not be.
        fault: why there is no usable response. A body that was cut by time or disconnect counts
            as `TIMEOUT` or `RESET`: rules may be missing from it.
        failures: fetches in a row that ended in a hold, this one not counted.
        config: waits and limits.
        retry_after: seconds asked for by a 429 or 503, capped; lengthens the hold.
        said: how the answer is named to people, if not by `status`.
    """
    named = said or status or 0
    if fault is Fault.UNSUPPORTED:  # a redirect that leads out of the web
        return AllowAll(Reason(RobotsCode.SCHEME))
    if fault is None and status is not None:
        if 200 <= status <= 299:
            return UseBody()
        if status == 304:
            return KeepRules()
        if 300 <= status <= 399:
            return AllowAll(because(RobotsCode.NOWHERE, named))
        if 400 <= status <= 499 and status != 429:
            return AllowAll(because(RobotsCode.NONE, named))
    wait = max(backoff(config.hold_first, config.hold_longest, failures + 1), retry_after or 0.0)
    return Hold(wait, because(RobotsCode.UNREACHABLE, Reason(fault) if fault else named))


def effective_crawl_delay(rules: RobotsRules, config: RobotsConfig) -> float | None:
    """The seconds between visits that the rules ask for, capped, or `None`."""
    return None if rules.crawl_delay is None else min(rules.crawl_delay, config.max_crawl_delay)
