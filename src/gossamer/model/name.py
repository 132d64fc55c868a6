"""Answers about host names."""

import msgspec

from gossamer.model.outcome import Fault


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What the name servers said about one name.

    Attributes:
        name: the name asked for, lower case ASCII, no final dot.
        addresses: numeric IPv4 and IPv6 addresses in the order to try; empty if `fault` is set.
        ttl: seconds the answer may be kept, already clamped.
        fault: `NAME_NOT_FOUND`, `NAME_FAILED` or (only from a cache) `NAME_DEFERRED`; `None` for success.
        detail: e.g. `NXDOMAIN`, `SERVFAIL`, `time-out`.
        server: address of the name server that answered; empty for literals and `/etc/hosts`.
        seconds: how long it took; 0 from the cache.
        asked: wall time of the answer, seconds since 1970.
        aliases: names that the CNAMEs led to, in order; `None` where that was not kept.
    """

    name: str
    addresses: tuple[str, ...] = ()
    ttl: float = 0.0
    fault: Fault | None = None
    detail: str = ""
    server: str = ""
    seconds: float = 0.0
    asked: float = 0.0
    aliases: tuple[str, ...] | None = None


class CacheCensus(msgspec.Struct, frozen=True):
    """What a name cache holds.

    Attributes:
        entries: names with an answer, expired ones included as long as they take room.
        bytes: room they take, everything counted; 0 if the cache cannot tell.
        negative: names held as known not to exist (an estimate where a filter holds them).
        negative_bytes: room of that filter.
    """

    entries: int = 0
    bytes: int = 0
    negative: int = 0
    negative_bytes: int = 0


class Carried(msgspec.Struct, frozen=True, gc=False):
    """What came of a DNS message that was brought to a name server.

    Attributes:
        message: the answer.
        trouble: why there is none, in a word or two; empty if there is one.
    """

    message: bytes = b""
    trouble: str = ""
