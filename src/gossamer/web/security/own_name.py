"""Knows our own names and origin: against DNS rebinding, against requests of other sites' pages."""

import re
from ipaddress import ip_address

from gossamer.daemon.security_config import SecurityConfig

_HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::([0-9]{1,5}))?")
_LOOPBACK_NAMES = ("localhost",)
_DEFAULT_PORTS = {"http": "80", "https": "443"}


def is_loopback(host: str) -> bool:
    """An address or name that only this machine can reach (RFC 6761, section 6.3 for `localhost`)."""
    if host in _LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class OwnName:
    """The names and addresses we answer to.

    A page that rebinds its name to our address still sends its own name as Host; it cannot have a page under
    an address. So names must be known, and addresses are fine if connections may come to them.
    """

    def __init__(self, config: SecurityConfig, listen: str, public: str = "") -> None:
        """`public`: the name that we give to others."""
        self._names = {*_LOOPBACK_NAMES, *(name.lower() for name in config.allowed_hosts)}
        if public:
            self._names.add(public)
        self._addresses = not is_loopback(listen)
        if self._addresses:
            try:
                ip_address(listen)
            except ValueError:
                self._names.add(listen.lower())

    def is_own(self, host: str) -> bool:
        """The value of a Host header names us."""
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = found[1].lower()
        try:
            address = ip_address(name.strip("[]"))
        except ValueError:
            return name in self._names and "[" not in name
        if (address.version == 6) != name.startswith("["):
            return False
        return self._addresses or address.is_loopback


def same_origin(origin: str, scheme: str, host: str) -> bool:
    """The value of an Origin header is the page's own: same scheme, name and port (RFC 6454, section 5)."""
    of_page, separator, rest = origin.partition("://")
    if not separator or of_page != scheme or scheme not in _DEFAULT_PORTS:
        return False
    theirs, own = _with_port(rest, scheme), _with_port(host, scheme)
    return own is not None and theirs == own


def _with_port(host: str, scheme: str) -> tuple[str, str] | None:
    found = _HOST.fullmatch(host)
    return None if found is None else (found[1].lower(), found[2] or _DEFAULT_PORTS[scheme])
