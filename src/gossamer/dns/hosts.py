"""Answers that need no name server: literals, `localhost` and /etc/hosts (hosts(5), RFC 6761, RFC 7686)."""

import re
import socket
from functools import lru_cache
from pathlib import Path

from gossamer.model.url import Url

HOSTS_FILE = Path("/etc/hosts")
_MAX_FILE = 4 << 20
_LOOPBACK = ("127.0.0.1", "::1")
_UNSPLIT = re.compile(r"[^\x00-,/:-@\[-`{-\x7f]+")  # nothing that a URL parser takes for the end of a host


@lru_cache(maxsize=1_024)
def literal_address(host: str) -> str | None:
    """The numeric address that `host` is: dotted IPv4, or IPv6 with or without brackets; else `None`."""
    family = socket.AF_INET
    if ":" in host:
        family = socket.AF_INET6
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
    elif not host[-1:].isdigit():  # cheap test first: no top-level domain ends in a digit
        return None
    try:
        return socket.inet_ntop(family, socket.inet_pton(family, host))
    except (OSError, ValueError):  # ValueError: a NUL byte
        return None


def is_question(name: str) -> bool:
    """Whether `name` (lower case, no final dot) can be put to a name server at all (RFC 1035 2.3.4).

    A backslash would be an escape to c-ares. `.onion` must not be asked for (RFC 7686 2). A name that
    ends in a number is a misspelt address, never a name (WHATWG URL 3.5).
    """
    if not 0 < len(name) <= 253 or not name.isascii() or not name.isprintable():
        return False
    if " " in name or "\\" in name:
        return False
    labels = name.split(".")
    if labels[-1].isdigit() or labels[-1] == "onion":
        return False
    return all(0 < len(label) <= 63 for label in labels)


def read_hosts(path: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Names of `path` (`HOSTS_FILE`) with their addresses; a file that cannot be read holds none."""
    try:
        with (path or HOSTS_FILE).open("rb") as file:
            text = file.read(_MAX_FILE).decode("utf-8", "replace")
    except OSError:
        return {}
    found: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        numeric = literal_address(address)
        if numeric is None:
            continue
        for name in names:
            found.setdefault(name.lower().removesuffix("."), {})[numeric] = None
    return {name: tuple(addresses) for name, addresses in found.items()}


def local_addresses(name: str, hosts: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Addresses of `name` by the hosts file; loopback for `localhost` and what is under it (RFC 6761 6.3)."""
    addresses = hosts.get(name, ())
    if not addresses and (name == "localhost" or name.endswith(".localhost")):
        return _LOOPBACK
    return addresses


def ascii_name(name: str) -> str:
    """`name` as it is put to name servers: in ASCII (UTS 46), lower case, no final dot.

    What cannot be a host name comes back as it is.
    """
    if not name.isascii():
        url = Url.parse(f"http://{name}/") if _UNSPLIT.fullmatch(name) else None
        name = url.host if url is not None else name
    return name.lower().removesuffix(".")
