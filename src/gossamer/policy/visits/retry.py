"""Decides what becomes of a URL after a visit: the one table of status codes and faults (K2)."""

from collections.abc import Collection
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from gossamer.model.disposition import Blame, Disposition, Done, Dropped, Parked, Retry
from gossamer.model.exchange import Exchange, Headers, StatusAction, Truncation, address_in_field
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused, Rule
from gossamer.model.quantity import Seconds
from gossamer.model.reasons.codes import CutCode, RetryCode, RobotsCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.places.known import BY_URL
from gossamer.policy.visits.politeness import retry_after


class RetryConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often and when to ask again."""

    url_waits: Annotated[
        tuple[Seconds, ...],
        Meta(
            description="Waits before each retry of a URL that failed by itself (time-out, reset, protocol"
            " fault, 5xx); its host goes on meanwhile. Empty: such URLs are dropped at once.",
            max_length=100,
        ),
        BY_URL,
    ] = (30.0, 300.0, 1_800.0)
    host_first: Annotated[
        Seconds,
        Meta(description="Rest of a host after a first fault of its own (name, connect, TLS, 429, 503)."),
    ] = 60.0
    not_found_first: Annotated[
        Seconds,
        Meta(
            description="Rest of a host whose name does not exist: longer, because that seldom changes soon."
        ),
    ] = 3_600.0
    host_longest: Annotated[
        Seconds,
        Meta(description="That rest doubles with each fault in a row up to this; caps Retry-After too."),
    ] = 86_400.0
    host_attempts: Annotated[
        int, Meta(description="Faults in a row before which a host is not parked.", ge=1), BY_URL
    ] = 5
    park_after: Annotated[
        Seconds,
        Meta(description="A host that failed for this long, without a success, is parked with its URLs."),
        BY_URL,
    ] = 86_400.0

    def __post_init__(self) -> None:
        if max(self.host_first, self.not_found_first) > self.host_longest:
            raise ValueError("host_first and not_found_first must not be longer than host_longest")


class HostFailures(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Faults of a host in a row; part of its state on disk.

    Attributes:
        count: how many; 0 after any answer that is not the host's fault.
        since: wall time of the first of them, seconds since 1970.
    """

    count: int = 0
    since: float = 0.0

    def another(self, now: float) -> Self:
        """The account with one more failure at `now`."""
        return type(self)(self.count + 1, self.since if self.count else now)


_BY_CLASS = {
    2: StatusAction.PROCESS,
    5: StatusAction.RETRY,
}  # all others, of which some do not exist, are dropped
_BY_STATUS = {
    202: StatusAction.WAIT,
    204: StatusAction.NOTHING,
    205: StatusAction.NOTHING,  # RFC 9110, 15.3.6: without content
    300: StatusAction.REDIRECT,  # if it prefers one choice; else dropped, see `redirect_location`
    301: StatusAction.REDIRECT,
    302: StatusAction.REDIRECT,
    303: StatusAction.REDIRECT,
    304: StatusAction.UNCHANGED,
    307: StatusAction.REDIRECT,
    308: StatusAction.REDIRECT,
    408: StatusAction.RETRY,  # the server closed an idle connection: RFC 9110, 15.5.9
    425: StatusAction.RETRY,  # too early: RFC 8470, 5.2
    429: StatusAction.THROTTLED,
    503: StatusAction.THROTTLED,
}

_BLAMES = {
    Fault.NAME_NOT_FOUND: Blame.HOST,
    Fault.NAME_FAILED: Blame.HOST,
    Fault.NAME_DEFERRED: Blame.HOST,
    Fault.ADDRESS_FORBIDDEN: Blame.URL,
    Fault.CONNECT: Blame.HOST,
    Fault.CONNECT_TIMEOUT: Blame.HOST,
    Fault.TLS: Blame.HOST,
    Fault.PROXY: Blame.HOST,
    Fault.PROXY_DOWN: Blame.HOST,
    Fault.TIMEOUT: Blame.URL,
    Fault.TOO_SLOW: Blame.URL,
    Fault.RESET: Blame.URL,
    Fault.PROTOCOL: Blame.URL,
    Fault.HEAD_TOO_LARGE: Blame.URL,
    Fault.DECODING: Blame.URL,
    Fault.THROTTLED: Blame.HOST,
    Fault.SERVER: Blame.URL,
    Fault.UNSUPPORTED: Blame.URL,
}
# Asking again would bring the same: these say something about the URL, not about the moment.
_DEFINITE = frozenset({Fault.ADDRESS_FORBIDDEN, Fault.HEAD_TOO_LARGE, Fault.DECODING, Fault.UNSUPPORTED})

_NOT_ASKED = frozenset({Fault.NAME_DEFERRED, Fault.PROXY_DOWN})
"""Its host must wait, but nothing was asked of it: that says nothing new of it."""
_OF_MIRROR = f"refused: {Rule.MIRROR}"
"""What is not asked of a mirror that is down: no visit."""
_NO_SERVER = frozenset(
    {
        Fault.NAME_NOT_FOUND,
        Fault.NAME_FAILED,
        Fault.CONNECT,
        Fault.CONNECT_TIMEOUT,
        Fault.TLS,
        Fault.PROXY,
        Fault.PROXY_DOWN,
    }
)


CUTS = {
    Truncation.LENGTH: Reason(CutCode.LENGTH),
    Truncation.TIME: Reason(CutCode.TIME),
    Truncation.DISCONNECT: Reason(CutCode.DISCONNECT),
}
"""What ended a body before its end."""


def asked_for_rest(reason: Reason) -> bool:
    """Whether it was the host itself that asked to be left alone."""
    return any(
        isinstance(value, int) and status_action(value) is StatusAction.THROTTLED
        for part in reason.parts()
        if part.code in (RetryCode.STATUS, RobotsCode.UNREACHABLE)
        for value in part.values
    )


def blame_of(fault: Fault) -> Blame:
    """Whether the URL or its whole host must wait."""
    return _BLAMES[fault]


def none_reached(statuses: Collection[str], faults: Collection[str]) -> bool:
    """Whether visits were made and none reached a server, by the statuses and faults met so far."""
    asked = [fault for fault in faults if fault != _OF_MIRROR]
    return bool(asked) and not statuses and all(fault in _NO_SERVER for fault in asked)


def status_action(status: int) -> StatusAction:
    """What a status asks of us; one not listed goes by its class (RFC 9110, 15)."""
    return _BY_STATUS.get(status) or _BY_CLASS.get(status // 100, StatusAction.DROP)


def action_of(exchange: Exchange) -> StatusAction:
    """What an answer asks of us, by its status or by what its protocol's own table says."""
    return status_action(exchange.status) if exchange.result is None else exchange.result.asks


def redirect_location(status: int, headers: Headers) -> str | None:
    """Where a redirect leads, relative or absolute; `None` if the status is none or names no place.

    An empty or missing `Location` means `/` (K2), except with 300, which need not have one.
    """
    if status_action(status) is not StatusAction.REDIRECT:
        return None
    location = headers.get("location")
    return address_in_field(location) or (None if status == 300 else "/")


def backoff(first: float, longest: float, n: int) -> float:
    """Seconds to wait after the `n`th failure in a row: `first`, doubled each time, up to `longest`."""
    return min(longest, first * 2.0 ** min(max(n - 1, 0), 64))


def decide(
    outcome: Outcome, attempts: int, host_failures: HostFailures, now: float, config: RetryConfig
) -> Disposition:
    """What becomes of the URL.

    A `Retry` or `Parked` with the host to blame means that the host's row of failures goes on
    (`host_failures.another(now)`); anything else but `Refused` ends it.

    Args:
        outcome: of the visit.
        attempts: earlier visits that counted against the URL (`Candidate.attempts` of the lease).
        host_failures: the host's row of failures before this visit.
        now: wall time.
        config: waits and limits.
    """
    match outcome:
        case Refused(rule, detail):
            reason = because(rule, detail) if detail else Reason(rule)
            return Parked(reason) if rule in (Rule.BUDGET, Rule.LOGIN) else Dropped(reason)
        case Failed(fault, detail, wait=wait):
            reason = because(fault, detail) if detail else Reason(fault)
            if fault in _NOT_ASKED:
                return Retry(min(wait or config.host_first, config.host_longest), Blame.HOST, reason)
            if blame_of(fault) is Blame.HOST:
                first = config.not_found_first if fault is Fault.NAME_NOT_FOUND else config.host_first
                return _host_waits(reason, wait or None, host_failures.another(now), now, config, first)
            if fault in _DEFINITE:
                return Dropped(reason)
            return url_waits(reason, attempts, config) or Dropped(_given_up(reason, attempts))
        case Fetched(exchange):
            return _decide_fetched(exchange, attempts, host_failures, now, config)


def is_host_failure(outcome: Outcome) -> bool | None:
    """Whether the visit lengthens the host's row of failures; `None` if it says nothing of it."""
    match outcome:
        case Failed(fault):
            return None if fault in _NOT_ASKED else blame_of(fault) is Blame.HOST
        case Fetched(exchange):
            return action_of(exchange) is StatusAction.THROTTLED
        case Refused():
            return False


def _decide_fetched(
    exchange: Exchange, attempts: int, host_failures: HostFailures, now: float, config: RetryConfig
) -> Disposition:
    status = exchange.status if exchange.result is None else exchange.said
    archive = exchange.is_recorded
    match action_of(exchange):
        case StatusAction.PROCESS:
            if exchange.truncated in (None, Truncation.LENGTH):
                return Done()
            # The last try keeps what came, marked as cut (`WARC-Truncated`).
            cut = because(RetryCode.CUT, status, CUTS[exchange.truncated])
            return url_waits(cut, attempts, config) or Done()
        case StatusAction.NOTHING | StatusAction.UNCHANGED:
            return Done(archive=archive)
        case StatusAction.REDIRECT:
            if redirect_location(exchange.status, exchange.headers) is None:
                return Dropped(because(RetryCode.NO_LOCATION, status), archive=True)
            return Done()
        case StatusAction.DROP:
            return Dropped(because(RetryCode.STATUS, status), archive=archive)
        case StatusAction.PARK:
            return Parked(because(RetryCode.STATUS, status))
        case StatusAction.THROTTLED:
            asked = retry_after(exchange.headers, now, config.host_longest)
            reason = because(RetryCode.STATUS, status)
            return _host_waits(reason, asked, host_failures.another(now), now, config, config.host_first)
        case StatusAction.WAIT | StatusAction.RETRY:
            asked = retry_after(exchange.headers, now, config.host_longest)
            reason = because(RetryCode.STATUS, status)
            retry = url_waits(reason, attempts, config, asked)
            return retry or Dropped(_given_up(reason, attempts), archive=archive)


def _host_waits(
    reason: Reason, asked: float | None, row: HostFailures, now: float, config: RetryConfig, first: float
) -> Retry | Parked:
    """Rest the host, for `first` seconds doubling, or park it once it has failed for too long.

    `row` includes this failure.
    """
    if row.count >= config.host_attempts and now - row.since >= config.park_after:
        return Parked(because(RetryCode.IN_A_ROW, reason, row.count), Blame.HOST)
    if asked is None:
        wait = backoff(first, config.host_longest, row.count)
    elif row.count <= config.host_attempts:
        wait = asked
    else:
        # A host that keeps saying "in a second" is not to be believed for ever.
        wait = max(asked, backoff(first, config.host_longest, row.count - config.host_attempts))
    return Retry(wait, Blame.HOST, reason)


def url_waits(reason: Reason, attempts: int, config: RetryConfig, asked: float | None = None) -> Retry | None:
    """Ask again later, or `None` if the retries are used up."""
    if attempts >= len(config.url_waits):
        return None
    return Retry(max(config.url_waits[attempts], asked or 0.0), Blame.URL, reason)


def _given_up(reason: Reason, attempts: int) -> Reason:
    return because(RetryCode.VISITS, reason, attempts + 1)
