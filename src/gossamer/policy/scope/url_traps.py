"""Recognises by its looks alone a URL that leads into endless space (W16)."""

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Count
from gossamer.model.reasons.codes import TrapCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import WITH_HOSTS, Url
from gossamer.policy.places.known import BY_URL


class TrapConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which URLs look endless. 0 switches a guard off; the defaults spare every real page we know of."""

    max_repeats: Annotated[
        Count,
        Meta(
            description="How often the same one to four path segments may follow each other (/a/b/a/b is 2)."
            " Lower values stop loops sooner and lose more real pages."
        ),
        BY_URL,
    ] = 3
    max_segments: Annotated[
        Count, Meta(description="Path segments of a URL; deep documentation trees have about 15."), BY_URL
    ] = 30
    max_parameters: Annotated[
        Count, Meta(description="Parameters of a query; filters of shops multiply."), BY_URL
    ] = 30
    max_same_parameter: Annotated[
        Count,
        Meta(description="Parameters of one name; a choice of several values repeats its name."),
        BY_URL,
    ] = 8
    max_escapes: Annotated[
        Count,
        Meta(
            description="Times that one character may be escaped over again (%252F is 2, &amp;amp; is 2)."
            " Broken templates escape once more with every page."
        ),
        BY_URL,
    ] = 2
    max_embedded: Annotated[
        Count,
        Meta(description="URLs inside the path (http:/...); web archives have one in each of theirs."),
        BY_URL,
    ] = 2


LONGEST_PERIOD = 4
_EMBEDDED = frozenset(f"{scheme}:" for scheme in WITH_HOSTS)


def trap_reason(url: Url, config: TrapConfig) -> Reason | None:
    """Why the URL looks like part of a trap, or `None`. Time is linear in the URL."""
    target = url.target
    if target.count("/") > 1 and (reason := _path_reason(target.partition("?")[0], config)) is not None:
        return reason
    if "&" in target and (reason := _query_reason(target, config)) is not None:
        return reason
    if "%25" in target and config.max_escapes and _escapes(target) > config.max_escapes:
        return because(TrapCode.ESCAPED, config.max_escapes)
    return None


def _path_reason(path: str, config: TrapConfig) -> Reason | None:
    segments = path.split("/")[1:]
    if config.max_segments and len(segments) > config.max_segments:
        return because(TrapCode.SEGMENTS, config.max_segments)
    if config.max_embedded and ":/" in path:
        embedded = sum(segment in _EMBEDDED for segment in segments)
        if embedded > config.max_embedded:
            return because(TrapCode.EMBEDDED, config.max_embedded)
    # Most paths repeat no segment at all, which a set finds out much faster than comparing does.
    if config.max_repeats and len(segments) - len(set(segments)) >= config.max_repeats:
        period = _repeated_period(segments, config.max_repeats)
        if period > 1:
            return because(TrapCode.REPEATED_BLOCK, period, config.max_repeats)
        if period:
            return because(TrapCode.REPEATED, config.max_repeats)
    return None


def _repeated_period(segments: list[str], max_repeats: int) -> int:
    """Length of a block of segments that stands more than `max_repeats` times in a row, or 0."""
    for period in range(1, LONGEST_PERIOD + 1):
        needed = period * max_repeats  # segments in a row that equal the one a period before
        run = 0
        for before, segment in zip(segments, segments[period:], strict=False):
            run = run + 1 if segment == before else 0
            if run >= needed:
                return period
    return 0


def _query_reason(target: str, config: TrapConfig) -> Reason | None:
    query = target.partition("?")[2]
    count = query.count("&") + 1
    if config.max_parameters and count > config.max_parameters:
        return because(TrapCode.PARAMETERS, config.max_parameters)
    if config.max_same_parameter and count > config.max_same_parameter:
        names: dict[str, int] = {}
        for parameter in query.split("&"):
            name = parameter.partition("=")[0]
            names[name] = names.get(name, 0) + 1
        if max(names.values()) > config.max_same_parameter:
            return because(TrapCode.SAME_PARAMETERS, config.max_same_parameter)
    if config.max_escapes and "amp;" * (config.max_escapes + 1) in query:
        return because(TrapCode.AMPERSANDS, config.max_escapes)
    return None


_ESCAPED = re.compile(r"%(?P<again>(?:25)+)(?P<last>[0-9A-Fa-f]{2})?")


def _escapes(target: str) -> int:
    """How many times over some character is percent-encoded: 1 for `%2F`, 2 for `%252F`, 3 for `%25252F`."""
    return max(
        (len(escape["again"]) // 2 + (escape["last"] is not None) for escape in _ESCAPED.finditer(target)),
        default=0,
    )
