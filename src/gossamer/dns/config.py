"""Settings of name resolution."""

import re
import socket
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.zones.config import ZonesConfig
from gossamer.model.quantity import Count, Seconds
from gossamer.model.url import Url

DNS_PORT = 53
_SERVER = re.compile(
    r"(?P<v4>[0-9.]+)(:(?P<port4>[0-9]{1,5}))?"
    r"|\[(?P<v6>[0-9A-Fa-f:.]+)\](:(?P<port6>[0-9]{1,5}))?"
    r"|(?P<bare>[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)"
)


class DnsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How names are asked for and how long answers are kept."""

    nameservers: Annotated[
        tuple[str, ...],
        Meta(
            description='ADDRESS or ADDRESS:PORT of each name server, "192.0.2.1" or "[2001:db8::1]:53", or the '
            'address of one that is asked over HTTPS, "https://192.0.2.1/dns-query"; empty takes the system\'s'
        ),
    ] = ()
    cache: Annotated[
        Literal["compact", "zoned", "plain"],
        Meta(
            description="compact: a few dozen bytes a name, shared by the crawls of this machine and kept; "
            "zoned: fast names apart from slow ones; plain: in memory, 0.5 KB a name"
        ),
    ] = "compact"
    prefetch: Annotated[
        bool, Meta(description="resolve names before their hosts' turn; off: workers wait for names")
    ] = True
    linked_first: Annotated[
        bool,
        Meta(description="resolve names that pages link to first, however far their hosts' turn is off"),
    ] = False
    ipv6: Annotated[bool, Meta(description="ask for IPv6 addresses too; off halves the questions")] = True
    hosts_file: Annotated[bool, Meta(description="let /etc/hosts answer before the name servers do")] = True
    attempts: Annotated[
        int,
        Meta(description="times a question is put when no answer comes; the servers take turns", ge=1, le=20),
    ] = 5
    failure_attempts: Annotated[
        int,
        Meta(
            description="times all servers may answer with failure (SERVFAIL, ...) before a name is given up",
            ge=1,
            le=20,
        ),
    ] = 1
    first_wait: Annotated[
        Seconds,
        Meta(
            description="wait after the first attempt, doubled with each further one; an attempt's answer "
            "is heard for that time, and for 5 s at least. Names that take longer are asked for again in vain"
        ),
    ] = 2.5
    total: Annotated[
        Seconds,
        Meta(description="longest time somebody waits for a name, its turn included; then it has failed"),
    ] = 90.0
    queries_per_server: Annotated[
        int,
        Meta(
            description="queries open at one name server at once; more wait their turn. A home router "
            "(dnsmasq) takes 150, a name server of your own thousands",
            ge=2,
        ),
    ] = 256
    prefetch_at_once: Annotated[
        int,
        Meta(description="names resolved at once before anybody waits for them", ge=1),
    ] = 256
    min_ttl: Annotated[
        Seconds, Meta(description="an answer is kept at least this long, also where its server says 0")
    ] = 60.0
    max_ttl: Annotated[
        Seconds,
        Meta(description="an answer is kept at most this long; longer risks addresses that have moved"),
    ] = 86_400.0
    not_found_ttl: Annotated[
        Seconds, Meta(description="the answer that a name does not exist or has no address is kept this long")
    ] = 300.0
    failure_ttl: Annotated[
        Seconds,
        Meta(description="a failure of the name servers is kept this long before they are asked again"),
    ] = 60.0
    max_stale: Annotated[
        Seconds,
        Meta(
            description="how long addresses serve after their time while no name server answers within 1.8 s; "
            "0: never"
        ),
    ] = 86_400.0
    max_addresses: Annotated[
        int, Meta(description="addresses kept of one name; further ones are left out", ge=1, le=256)
    ] = 16
    cache_entries: Annotated[
        Count, Meta(description="answers kept in memory, about 0.5 KB each; the least recently used go first")
    ] = 10_000

    compact: CompactConfig = CompactConfig()
    zones: ZonesConfig = ZonesConfig()

    def __post_init__(self) -> None:
        for nameserver in self.nameservers:
            try:
                if not is_asked_over_https(nameserver):
                    split_server(nameserver)
            except ValueError as error:
                raise ValueError(f"nameservers: {error}") from None
        if self.first_wait <= 0:
            raise ValueError("first_wait must be greater than 0")
        if self.total < self.first_wait:
            raise ValueError("total must be at least first_wait")
        if self.max_ttl < self.min_ttl:
            raise ValueError("max_ttl must be at least min_ttl")


def is_asked_over_https(nameserver: str) -> bool:
    """Whether it is the address of a name server by RFC 8484.

    Raises:
        ValueError: it begins like one and is none.
    """
    if not nameserver.lower().startswith(("https:", "http:")):
        return False
    url = Url.parse(nameserver)
    if url is None or url.scheme != "https" or "#" in nameserver or "{" in nameserver:
        raise ValueError(f'{nameserver!r} is not a name server; write "https://192.0.2.1/dns-query"')
    return True


def split_server(text: str) -> tuple[str, int]:
    """Numeric address and port of `A.B.C.D[:PORT]`, `[IPv6][:PORT]` or a bare IPv6 address.

    Raises:
        ValueError: it is none of these.
    """
    match = _SERVER.fullmatch(text)
    if match:
        address = match["v4"] or match["v6"] or match["bare"]
        port = int(match["port4"] or match["port6"] or DNS_PORT)
        family = socket.AF_INET if match["v4"] else socket.AF_INET6
        if 0 < port < 65_536 and _is_numeric(family, address):
            return address, port
    raise ValueError(
        f'{text!r} is not a name server; write "192.0.2.1", "192.0.2.1:53", "[2001:db8::1]:53" or '
        '"https://192.0.2.1/dns-query"'
    )


def _is_numeric(family: socket.AddressFamily, address: str) -> bool:
    try:
        socket.inet_pton(family, address)
    except OSError:
        return False
    return True
