"""Reads what c-ares heard about one name and one address family."""

from enum import Enum
from itertools import islice

import msgspec
from pycares import AAAARecordData, ARecordData, CNAMERecordData, DNSResult, SOARecordData, errno

from gossamer.dns.hosts import is_question

MAX_CHAIN = 16
"""CNAMEs followed in one answer, and answers that only lead on; longer chains are taken for loops, as name
servers do from about 12 on."""
MAX_RECORDS = 512
"""Records read of one answer, which may hold 4,000: what lies behind is as if it had not been sent."""
_MAX_TTL = (1 << 31) - 1


class Verdict(Enum):
    """What one reply settles about a question."""

    FOUND = "found"
    NO_NAME = "no name"  # NXDOMAIN: nothing of this name exists, in either family (RFC 8020)
    NO_ADDRESS = "no address"  # the name exists without an address of this family
    FAILED = "failed"  # the name servers did not say


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The outcome for one family.

    Attributes:
        addresses: in the order of the answer, each once.
        ttl: the least on the way to them, or to `alias`.
        alias: where the answer's CNAMEs end without saying whether there are addresses; empty: nowhere.
        aliases: names that the answer's CNAMEs led to, in order.
    """

    verdict: Verdict
    addresses: tuple[str, ...] = ()
    ttl: int = 0
    detail: str = ""
    server: str = ""
    alias: str = ""
    aliases: tuple[str, ...] = ()


NXDOMAIN = "NXDOMAIN"
TIME_OUT = "time-out"
NO_ADDRESS = "no address"
LOOP = "CNAME loop"
NO_CONNECTION = "no connection"

_FAILURES = {
    errno.ARES_ESERVFAIL: "SERVFAIL",
    errno.ARES_EREFUSED: "refused",
    errno.ARES_ENOTIMP: "not implemented",
    errno.ARES_EFORMERR: "format error",
    errno.ARES_EBADRESP: "bad response",
    errno.ARES_ETIMEOUT: TIME_OUT,
    errno.ARES_ECONNREFUSED: NO_CONNECTION,
    errno.ARES_EOF: NO_CONNECTION,
    errno.ARES_ECANCELLED: "closed",
    errno.ARES_EDESTRUCTION: "closed",
}


def read_reply(name: str, kind: int, result: DNSResult | None, status: int | None, server: str) -> Reply:
    """The reply of `server` to the question for `name` and `kind` (a record type).

    Only addresses at the end of the CNAME chain from `name` count, whatever else the answer holds. A chain
    without them is no denial unless a SOA record says so (RFC 2308 2.2): its end is the reply's `alias`.
    """
    if status == errno.ARES_ENOTFOUND:
        return Reply(Verdict.NO_NAME, detail=NXDOMAIN, server=server)
    if status == errno.ARES_EBADNAME:
        return Reply(Verdict.NO_NAME, detail="not a host name")
    if status == errno.ARES_ENODATA:
        return Reply(Verdict.NO_ADDRESS, detail=NO_ADDRESS, server=server)
    if status is not None or result is None:
        detail = _FAILURES.get(status or 0) or f"c-ares error {status}"
        return Reply(Verdict.FAILED, detail=detail, server=server)
    addresses, ttl, detail, aliases = _follow(name, kind, result)
    if addresses:
        return Reply(Verdict.FOUND, addresses, ttl, server=server, aliases=aliases)
    end = aliases[-1] if aliases else name
    leads_on = end != name and is_question(end) and not _is_denied(result)
    return Reply(Verdict.NO_ADDRESS, (), ttl, detail, server, end if leads_on else "", aliases)


def _is_denied(result: DNSResult) -> bool:
    """Whether the zone of the last name says that the answer is whole."""
    return any(isinstance(record.data, SOARecordData) for record in islice(result.authority, MAX_RECORDS))


def _follow(name: str, kind: int, result: DNSResult) -> tuple[tuple[str, ...], int, str, tuple[str, ...]]:
    """Addresses at the end of the chain, the least TTL on the way, why there are none, and the names on the way."""
    aliases: dict[str, tuple[str, int]] = {}
    addresses: dict[str, dict[str, int]] = {}
    for record in islice(result.answer, MAX_RECORDS):
        data = record.data
        if isinstance(data, ARecordData | AAAARecordData) and record.type == kind:
            found = addresses.setdefault(_plain(record.name), {})
            found.setdefault(data.addr, _plausible(record.ttl))
        elif isinstance(data, CNAMERecordData):
            aliases.setdefault(_plain(record.name), (_plain(data.cname), _plausible(record.ttl)))
    ttls: list[int] = []
    led: list[str] = []
    for _ in range(MAX_CHAIN):
        if name in addresses:
            found = addresses[name]
            return tuple(found), min(*ttls, *found.values(), _MAX_TTL), "", tuple(led)
        if name not in aliases:
            return (), min(ttls, default=0), NO_ADDRESS, tuple(led)
        name, ttl = aliases[name]
        ttls.append(ttl)
        led.append(name)
    return (), 0, LOOP, ()


def _plain(name: str | bytes) -> str:
    """A name of the answer as we spell names; pycares gives bytes where one is not ASCII."""
    text = name if isinstance(name, str) else name.decode("latin-1")
    return text.lower().removesuffix(".")


def _plausible(ttl: int) -> int:
    """A TTL with the highest bit set means 0 (RFC 2181 8)."""
    return 0 if ttl > _MAX_TTL else ttl
