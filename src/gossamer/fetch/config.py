"""Settings of the fetch room."""

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from gossamer.model.errors import ConfigError, SecretError
from gossamer.model.quantity import Bytes, Seconds
from gossamer.policy.places.known import BY_ADDRESS, BY_ANSWER, BY_HOST, BY_URL

PRODUCT = "gossamer/0.1"
HOME = "https://github.com/gossamer-crawler/gossamer"
MOST_PROXIES = 32
PROXY_SCHEMES = frozenset({"http", "https", "socks5", "socks5h"})

FORBIDDEN_NETWORKS = (
    # IANA IPv4 and IPv6 special-purpose registries (RFC 6890), less what is globally reachable.
    "0.0.0.0/8",  # this network
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local, with the metadata services of clouds
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.88.99.0/24",  # former 6to4 relays
    "192.168.0.0/16",  # private
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, broadcast
    "::/128",  # unspecified
    "::1/128",  # loopback
    "64:ff9b:1::/48",  # local NAT64
    "100::/64",  # discard
    "2001::/23",  # protocol assignments, Teredo
    "2001:db8::/32",  # documentation
    "3fff::/20",  # documentation
    "5f00::/16",  # segment routing
    "fc00::/7",  # private, with the metadata services of clouds
    "fe80::/10",  # link-local
    "fec0::/10",  # former site-local
    "ff00::/8",  # multicast
)


class FetchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Identity, limits and ways of fetching."""

    user_agent: Annotated[
        str,
        Meta(description="whole User-Agent; empty: the product's own with its address and the contact"),
        BY_ADDRESS,
    ] = ""
    contact: Annotated[
        str,
        Meta(description="web or mail address of the operator, sent with every request: sites can complain"),
        BY_ADDRESS,
    ] = ""
    accept: Annotated[str, Meta(description="Accept header; empty sends none"), BY_ADDRESS] = (
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    )
    accept_language: Annotated[
        str, Meta(description="Accept-Language header; empty lets the site choose"), BY_ADDRESS
    ] = ""
    accept_encoding: Annotated[
        str,
        Meta(description="Accept-Encoding header; what is not decoded here should not be asked for"),
        BY_ADDRESS,
    ] = "gzip, deflate, br, zstd"
    connect_timeout: Annotated[
        Seconds,
        Meta(description="for TCP and TLS together; shorter gives up on far or busy hosts"),
        BY_ADDRESS,
    ] = 10.0
    idle_timeout: Annotated[
        Seconds,
        Meta(description="a transfer that is below min_speed for this long is cut"),
    ] = 20.0
    min_speed: Annotated[
        Bytes, Meta(description="bytes per second; 0 waits for the slowest, up to visit_timeout")
    ] = 100
    visit_timeout: Annotated[
        Seconds, Meta(description="a whole visit; what arrived is kept as truncated"), BY_ADDRESS
    ] = 300.0
    max_speed: Annotated[
        Bytes,
        Meta(
            description="bytes per second received by all visits together; what was begun may exceed it for"
            " a moment; 0: no limit. visit_timeout goes on meanwhile"
        ),
    ] = 0
    max_host_speed: Annotated[
        Bytes,
        Meta(
            description="bytes per second received from each host, its rests included: long bodies make them"
            " longer; 0: no limit"
        ),
        BY_HOST,
    ] = 0
    max_body: Annotated[Bytes, Meta(description="longer bodies are cut and kept as truncated"), BY_ANSWER] = (
        64 << 20
    )
    max_expansion_ratio: Annotated[
        int, Meta(ge=1, description="content that expands further than this many times is taken for a bomb")
    ] = 100
    max_content: Annotated[Bytes, Meta(description="decoded content beyond this is taken for a bomb")] = (
        256 << 20
    )
    max_head: Annotated[
        Bytes, Meta(description="heads of one response, interim ones and trailers included")
    ] = 256 << 10
    max_head_lines: Annotated[int, Meta(ge=1, le=5000, description="lines of those heads")] = 4000
    max_interim_heads: Annotated[int, Meta(ge=0, description="1xx heads before the response")] = 32
    memory_body: Annotated[
        Bytes,
        Meta(
            description="always kept in memory of each body while it is worked on; more saves disk work,"
            " costs memory"
        ),
    ] = 64 << 10
    memory_bodies: Annotated[
        Bytes,
        Meta(
            description="memory that all longer bodies up to 1 MiB have together; those for which there is no"
            " room, and longer ones, go to a file while they arrive"
        ),
    ] = 4 << 20
    unfinished_bodies: Annotated[
        Bytes,
        Meta(
            description="disk space that long bodies which broke off may have together, so that the next try asks"
            " only for the rest; 0: each try begins anew"
        ),
    ] = 512 << 20
    http2: Annotated[bool, Meta(description="offer HTTP/2 where TLS can agree on it")] = True
    http3: Annotated[
        Literal["off", "alt-svc", "only"],
        Meta(
            description="alt-svc: HTTP/3 where a server offers it at its own host and port, TCP where that does"
            " not hold; only: https by HTTP/3 or not at all. Never by a proxy"
        ),
        BY_ADDRESS,
    ] = "off"
    proxy: Annotated[
        str,
        Meta(
            extra={"secret": True, "secret_login": True},
            description="http, https, socks5 or socks5h URL with user and password; several with spaces between:"
            " each site keeps to one, and one that cannot be reached is left out for a while. Empty connects"
            " directly. For routing: a site that says 429 or 403 is left in peace, by whatever way",
        ),
        BY_URL,
    ] = ""
    names_by_proxy: Annotated[
        bool,
        Meta(
            description="leave names to the proxy; the address guard then sees nothing of what lies behind it"
        ),
    ] = False
    verify_tls: Annotated[
        bool, Meta(description="off accepts any certificate: anyone on the way can forge pages")
    ] = True
    ca_file: Annotated[str, Meta(description="trusted certificates (PEM); empty: the system's")] = ""
    cookies: Annotated[
        bool | None,
        Meta(
            description="keep cookies, in the state of the crawl, and follow redirects back to where they"
            " began; sites may then serve traps. None: if there is a cookies_file"
        ),
        BY_URL,
    ] = None
    cookies_file: Annotated[
        str,
        Meta(
            description="cookies to begin with (cookies.txt, Netscape format); each goes where it says. The"
            " file is read at each start and not copied"
        ),
    ] = ""
    folders: Annotated[
        tuple[str, ...],
        Meta(
            description="folders of this machine whose files may be fetched (file:///...), all below them"
            " included; a file seed of the command line names its own"
        ),
    ] = ()
    ftp_tls: Annotated[
        Literal["off", "try", "require"],
        Meta(description="ask ftp servers for TLS; ftps servers speak it from the beginning"),
    ] = "off"
    known_hosts: Annotated[
        str,
        Meta(
            description="file of the keys that sftp servers must have, in OpenSSH's format; a server that is not"
            " in it is not visited. Empty: ~/.ssh/known_hosts"
        ),
    ] = ""
    ssh_key: Annotated[
        str, Meta(description="private key (PEM) for sftp servers; empty: passwords alone")
    ] = ""
    max_connections: Annotated[
        int, Meta(ge=1, description="connections open at once, idle ones included; each needs a descriptor")
    ] = 1000
    allow_private: Annotated[bool, Meta(description="let links lead into forbidden networks")] = False
    forbidden_networks: Annotated[
        tuple[str, ...],
        Meta(description="networks (CIDR) where links may not lead; a seed there allows its own host"),
    ] = FORBIDDEN_NETWORKS
    closed_networks: Annotated[
        tuple[str, ...],
        Meta(description="networks (CIDR) where nothing leads, whatever seeds and allow_private say"),
    ] = ()

    def __post_init__(self) -> None:
        problems = [
            f"{name}: must be more than 0 seconds"
            for name in ("connect_timeout", "idle_timeout", "visit_timeout")
            if getattr(self, name) <= 0
        ]
        problems += (
            f"{name}: may only hold printable ASCII, because it stands in a header"
            for name in ("user_agent", "contact", "accept", "accept_language", "accept_encoding")
            if not (getattr(self, name).isprintable() and getattr(self, name).isascii())
        )
        if self.max_head < 1024:
            problems.append("max_head: must be at least 1 KiB, or no response fits")
        if self.http3 != "off":
            from gossamer.fetch.alternatives import speaks_http3  # brings libcurl

            if not speaks_http3():
                problems.append(
                    "http3: the libcurl here was built without HTTP/3; leave this off, or install a pycurl that"
                    " brings its own (pip install --only-binary :all: pycurl)"
                )
        for name in ("forbidden_networks", "closed_networks"):
            for network in getattr(self, name):
                try:
                    ipaddress.ip_network(network)
                except ValueError as error:
                    problems.append(f"{name}: {error}")
        wrong = list(self._proxy_problems())
        if problems or wrong:
            raise (ValueError if problems else SecretError)("\n".join([*problems, *wrong]))

    @property
    def agent(self) -> str:
        """The User-Agent as sent: honest, with an address where complaints go (RFC 9110 10.1.5)."""
        if self.user_agent:
            return self.user_agent
        return f"{PRODUCT} (+{HOME}; {self.contact})" if self.contact else f"{PRODUCT} (+{HOME})"

    @property
    def mailbox(self) -> str:
        """The contact if it is a mail address, for `From` (RFC 9110 10.1.2), else empty."""
        contact = self.contact.removeprefix("mailto:")
        return contact if "@" in contact and "/" not in contact else ""

    @property
    def keeps_cookies(self) -> bool:
        """Whether cookies are kept, by choice or because there are some to begin with."""
        return bool(self.cookies_file) if self.cookies is None else self.cookies

    @property
    def proxies(self) -> tuple[str, ...]:
        """One of these each visit goes by, if there are any."""
        return tuple(self.proxy.split())

    def _proxy_problems(self) -> Iterator[str]:
        """What is wrong with the proxies, and with which: by their numbers, for they may hold passwords."""
        if self.proxy.startswith(("env:", "file:", "again:")):
            return  # a reference to the secret, checked again when it is resolved
        proxies = self.proxies
        if len(proxies) > MOST_PROXIES:
            yield f"proxy: at most {MOST_PROXIES}"
        if self.names_by_proxy and not proxies:
            yield "names_by_proxy: needs a proxy"
        for number, proxy in enumerate(proxies[:MOST_PROXIES], 1):
            if problem := _proxy_problem(proxy, names_by_proxy=self.names_by_proxy):
                which = f"number {number} of {len(proxies)} " if proxies[1:] else ""
                yield f"proxy: {which}{problem}"

    @property
    def known_hosts_file(self) -> str:
        """Where the keys of sftp servers are."""
        return self.known_hosts or "~/.ssh/known_hosts"


def _proxy_problem(proxy: str, *, names_by_proxy: bool) -> str:
    """Why a proxy cannot be used, empty if it can; never shows its password."""
    try:
        parts = urlsplit(proxy)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in PROXY_SCHEMES or not host or port is None:
        return "must be http, https, socks5 or socks5h://[user:password@]host:port"
    if names_by_proxy and parts.scheme == "socks5":
        return "resolves no names, as names_by_proxy needs: use socks5h instead of socks5"
    return ""


def prove_ca_file(config: FetchConfig) -> None:
    """Check that the file of certificates is there.

    Raises:
        ConfigError: it is not.
    """
    if config.ca_file and not Path(config.ca_file).is_file():
        raise ConfigError(f"fetch.ca_file: {config.ca_file} is not a file; give a PEM file or leave it empty")
