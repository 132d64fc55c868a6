"""Decides what to ask of a link next, and what its answers amount to.

Sources: RFC 9110 (15) for statuses; what checkers of links are reproached with (429 and 403 told as broken, `HEAD`
answered otherwise than `GET`).
"""

import errno
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from gossamer.model.outcome import Fault

__all__ = ["Answer", "Ask", "Code", "Judged", "LinkVerdict", "Method", "Patience", "next_step", "of_status"]


class LinkVerdict(StrEnum):
    """What a link is to whoever follows it, the worst first."""

    BROKEN = "broken"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    MOVED = "moved"
    WELL = "well"


class Code(StrEnum):
    """Why a verdict is what it is, a closed list."""

    # Broken: it is proved that nobody gets what the link promises.
    NOT_FOUND = "not-found"  # 404
    GONE = "gone"  # 410
    NO_SUCH_NAME = "no-such-name"  # NXDOMAIN, or a name without addresses
    CONNECTION_REFUSED = "connection-refused"  # twice
    REDIRECT_LOOP = "redirect-loop"
    TOO_MANY_REDIRECTS = "too-many-redirects"  # browsers give up, too
    INVALID_URL = "invalid-url"
    SERVER_ERROR = "server-error"  # 500 and its kin, twice
    CERTIFICATE = "certificate"  # ended, or of another name: theirs in any case
    FRAGMENT_MISSING = "fragment-missing"
    # Refused: there is something, and it is not for us.
    RATE_LIMITED = "rate-limited"  # 429
    FORBIDDEN = "forbidden"  # 403
    LOGIN = "login"  # 401, 407
    LEGAL = "legal"  # 451
    PAYMENT = "payment"  # 402
    BOT_WALL = "bot-wall"  # 999, or a page for robots
    NOT_ACCEPTABLE = "not-acceptable"  # 405, 406, 415 to a GET
    ROBOTS = "robots"
    # Unknown: the answer says nothing of the page.
    TIMEOUT = "timeout"
    TLS = "tls"  # perhaps ours
    CONNECTION = "connection"  # broken off, or no way to it
    NAME_FAILED = "name-failed"
    PROTOCOL = "protocol"
    UNAVAILABLE = "unavailable"  # 503, 504, 52x, or a 5xx once
    CLIENT_ERROR = "client-error"  # other 4xx
    ODD_STATUS = "odd-status"
    COOKIE_LOOP = "cookie-loop"  # goes in a circle without cookies
    PRIVATE_ADDRESS = "private-address"
    SCHEME = "scheme"
    TOO_LONG = "too-long"
    NOT_ASKED = "not-asked"
    FRAGMENT_UNREAD = "fragment-unread"
    FRAGMENT_BY_SCRIPT = "fragment-by-script"
    SOFT_404 = "soft-404"
    # The rest.
    MOVED = "moved"
    OK = "ok"


class Method(StrEnum):
    """How a link is asked for."""

    HEAD = "HEAD"
    GET = "GET"


class Answer(msgspec.Struct, frozen=True):
    """What one request brought.

    Attributes:
        method: that was used.
        status: of the answer; 0 without one.
        fault: why there was none.
        refused: the peer refused the connection, by its own word.
        certificate: `X509_V_ERR_...`; 0 if nothing is wrong with it.
        wait: seconds that the answer asks us to wait; `None` if it does not.
        wall: it is for robots.
    """

    method: Method
    status: int = 0
    fault: Fault | None = None
    refused: bool = False
    certificate: int = 0
    wait: float | None = None
    wall: bool = False


class Patience(msgspec.Struct, frozen=True):
    """How long one link is waited for.

    Attributes:
        longest: seconds that a `Retry-After` may ask for and be waited for; what asks for more is not asked again.
        again: seconds before a server that failed is asked once more.
    """

    longest: float = 20.0
    again: float = 5.0


class Ask(msgspec.Struct, frozen=True):
    """Ask once more, after `wait` seconds."""

    method: Method
    wait: float = 0.0


class Judged(msgspec.Struct, frozen=True):
    """What it amounts to. `status` is 0 where there was none."""

    verdict: LinkVerdict
    code: Code
    status: int = 0


_REFUSALS = {
    401: Code.LOGIN,
    402: Code.PAYMENT,
    403: Code.FORBIDDEN,
    405: Code.NOT_ACCEPTABLE,
    406: Code.NOT_ACCEPTABLE,
    407: Code.LOGIN,
    415: Code.NOT_ACCEPTABLE,
    429: Code.RATE_LIMITED,
    451: Code.LEGAL,
    999: Code.BOT_WALL,
}
_BROKEN = {404: Code.NOT_FOUND, 410: Code.GONE}
_PASSING = frozenset({503, 504, *range(520, 600)})
"""Of servers that say, or of whom it is said, that they cannot just now; 52x are a CDN's."""
_SURE_AT_ONCE = frozenset({401, 402, 407, 429, 451, 999})
"""Statuses that `GET` would not mend; RFC 9110 has `HEAD` answered as `GET` is, and of these it is true."""
_HEAD_MAY_HANG = frozenset({Fault.TIMEOUT, Fault.TOO_SLOW, Fault.RESET, Fault.PROTOCOL, Fault.DECODING})
_PROVED_BAD = frozenset({10, 23, 62})
"""Certificates that ended, were revoked, or are another's: nobody who looks accepts them. Others (19, 20: an issuer
whom we do not know) may be our own lack."""
_FAULTS = {
    Fault.NAME_FAILED: Code.NAME_FAILED,
    Fault.NAME_DEFERRED: Code.NAME_FAILED,
    Fault.ADDRESS_FORBIDDEN: Code.PRIVATE_ADDRESS,
    Fault.CONNECT: Code.CONNECTION,
    Fault.CONNECT_TIMEOUT: Code.TIMEOUT,
    Fault.PROXY: Code.CONNECTION,
    Fault.PROXY_DOWN: Code.CONNECTION,
    Fault.TIMEOUT: Code.TIMEOUT,
    Fault.TOO_SLOW: Code.TIMEOUT,
    Fault.RESET: Code.CONNECTION,
    Fault.TLS: Code.TLS,
    Fault.UNSUPPORTED: Code.SCHEME,
}


def is_refused(number: int) -> bool:
    """Whether the system's word for a failed connection is that the peer refused it."""
    return number == errno.ECONNREFUSED


def next_step(answers: Sequence[Answer], patience: Patience, *, body: bool = False) -> Ask | Judged:
    """What comes next for one address that is no redirect.

    Args:
        answers: so far, in order; none to begin with.
        patience: how long to wait.
        body: the content is wanted too, so only a `GET` will do.
    """
    if not answers:
        return Ask(Method.GET if body else Method.HEAD)
    last = answers[-1]
    if last.fault is not None:
        return _after_fault(answers, last, last.fault, patience)
    if last.wall:
        return Judged(LinkVerdict.REFUSED, Code.BOT_WALL, last.status)
    if last.status in (429, 503) and last.wait is not None:
        asked_before = any(one.status == last.status for one in answers[:-1])
        if last.wait <= patience.longest and not asked_before:
            return Ask(last.method, last.wait)
        return of_status(last.status)
    if last.method is Method.HEAD and not _is_sure(last.status):
        return Ask(Method.GET)
    if last.status >= 500 and last.status not in _REFUSALS and not _failed_before(answers):
        return Ask(Method.GET, patience.again)
    return of_status(last.status, twice=_failed_before(answers))


def _is_sure(status: int) -> bool:
    return 200 <= status < 300 or status in _SURE_AT_ONCE


def _failed_before(answers: Sequence[Answer]) -> bool:
    """A `GET` before the last had a server's error too."""
    return any(one.method is Method.GET and 500 <= one.status < 600 for one in answers[:-1])


def _after_fault(answers: Sequence[Answer], last: Answer, fault: Fault, patience: Patience) -> Ask | Judged:
    if fault is Fault.NAME_NOT_FOUND:
        return Judged(LinkVerdict.BROKEN, Code.NO_SUCH_NAME)
    if fault is Fault.TLS and last.certificate in _PROVED_BAD:
        return Judged(LinkVerdict.BROKEN, Code.CERTIFICATE)
    if fault is Fault.CONNECT and last.refused:
        if any(one.refused for one in answers[:-1]):
            return Judged(LinkVerdict.BROKEN, Code.CONNECTION_REFUSED)
        return Ask(last.method, patience.again)
    if last.method is Method.HEAD and fault in _HEAD_MAY_HANG:
        return Ask(Method.GET)
    if fault is Fault.RESET and not any(
        one.fault is Fault.RESET and one.method is Method.GET for one in answers[:-1]
    ):
        return Ask(Method.GET, patience.again)
    return Judged(LinkVerdict.UNKNOWN, _FAULTS.get(fault, Code.PROTOCOL))


def of_status(status: int, *, twice: bool = False) -> Judged:
    """What the status of a `GET` says by itself.

    Args:
        status: no redirect.
        twice: a server's error was met before, some time ago.
    """
    if 200 <= status < 300:
        return Judged(LinkVerdict.WELL, Code.OK, status)
    if status in _BROKEN:
        return Judged(LinkVerdict.BROKEN, _BROKEN[status], status)
    if status in _REFUSALS:
        return Judged(LinkVerdict.REFUSED, _REFUSALS[status], status)
    if 400 <= status < 500:
        return Judged(LinkVerdict.UNKNOWN, Code.TIMEOUT if status == 408 else Code.CLIENT_ERROR, status)
    if 500 <= status < 600:
        if twice and status not in _PASSING:
            return Judged(LinkVerdict.BROKEN, Code.SERVER_ERROR, status)
        return Judged(LinkVerdict.UNKNOWN, Code.UNAVAILABLE, status)
    return Judged(LinkVerdict.UNKNOWN, Code.ODD_STATUS, status)
