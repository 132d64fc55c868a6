"""What came of a visit: `Outcome = Fetched | Refused | Failed`."""

from enum import StrEnum

import msgspec

from gossamer.model.exchange import Exchange
from gossamer.model.reasons.reason import Reason


class Fault(StrEnum):
    """Why a visit failed, a closed list; beyond `fetch/` and `dns/` all that is left of a network error."""

    NAME_NOT_FOUND = "name_not_found"  # the name has no address: NXDOMAIN or no data
    NAME_FAILED = "name_failed"  # the name servers did not answer, or answered with failure
    NAME_DEFERRED = "name_deferred"  # a name cache takes it for one that does not exist, until it is emptied
    ADDRESS_FORBIDDEN = "address_forbidden"  # the name leads where links may not lead
    CONNECT = "connect"
    CONNECT_TIMEOUT = "connect_timeout"
    TLS = "tls"
    PROXY = "proxy"  # it did not let us through to this host
    PROXY_DOWN = "proxy_down"  # none can be reached, or it does not know us: that says nothing of the host
    TIMEOUT = "timeout"  # idle, or the whole visit took too long, before a usable response
    TOO_SLOW = "too_slow"
    RESET = "reset"  # the connection ended before the response did
    PROTOCOL = "protocol"  # the peer does not speak its protocol
    HEAD_TOO_LARGE = "head_too_large"
    DECODING = "decoding"  # a content coding that does not decode, or expands too far
    THROTTLED = "throttled"  # status 429 or 503
    SERVER = "server"  # other 5xx
    UNSUPPORTED = "unsupported"  # no protocol module for the scheme


class Rule(StrEnum):
    """Why we did not visit, or did not keep, a closed list."""

    ROBOTS = "robots"
    SCOPE = "scope"
    DEPTH = "depth"
    BUDGET = "budget"
    DIRECTIVE = "directive"  # nofollow and its kin
    TOO_LONG = "too_long"
    HOPS = "hops"  # too many redirects in a row
    TRAP = "trap"
    SPECULATIVE = "speculative"  # nobody linked to it, and such ones lead nowhere too often
    TWIN = "twin"  # another name of its site shows the same page
    MIRROR = "mirror"  # this address of its site is down; there are others
    LOGIN = "login"  # the place has a log-in, which did not let us in
    PLUGIN = "plugin"  # a guard raised, so it said no


class Fetched(msgspec.Struct, frozen=True):
    """There was a response, whatever its status."""

    exchange: Exchange


class Refused(msgspec.Struct, frozen=True):
    """We did not ask: a rule of ours or the host's forbids it.

    Attributes:
        rule: the kind.
        detail: the deciding rule; of a robots file its line, as it stands there.
    """

    rule: Rule
    detail: Reason | str = ""


class Failed(msgspec.Struct, frozen=True):
    """We asked and got no usable response.

    Attributes:
        fault: the kind.
        detail: one line for the log, of a server or a library; a reason if it is ours.
        elapsed: seconds the attempt took.
        wait: seconds until it makes sense to try again, where that is known.
        errno: what the system said of the socket; 0 if nothing.
        certificate: what OpenSSL found wrong with the peer's certificate (`X509_V_ERR_...`); 0 if nothing.
    """

    fault: Fault
    detail: Reason | str = ""
    elapsed: float = 0.0
    wait: float = 0.0
    errno: int = 0
    certificate: int = 0


Outcome = Fetched | Refused | Failed
