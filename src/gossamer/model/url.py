"""A URL parsed once, by the WHATWG URL Standard, so that nothing downstream parses it again."""

import re
from collections.abc import Iterable

import ada_url
import msgspec

DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22, "file": 0}
"""The schemes that we know; 0: there is no host, and so no port."""

WITH_HOSTS = tuple(scheme for scheme, port in DEFAULT_PORTS.items() if port)
"""Those of them whose addresses name a host, and so may be fetched over a network."""

WITH_ROBOTS = frozenset({"http", "https"})
"""Schemes whose origins are asked for a robots file."""

_PLAIN = re.compile(
    r"(https?)://((?:(?!xn--)[a-z0-9-]++\.)*+(?!xn--)[a-z][a-z0-9-]*+)"
    r"(/[A-Za-z0-9_~!$&()*+,;=:@/.-]*+(?:\?[A-Za-z0-9_~!$&()*+,;=:@/.?%-]*+)?)"
)
"""Absolute addresses in which every character stands for itself: a host name in lower case that is neither
punycode nor a number, no port, nothing escaped in the path, no fragment. Unless a segment begins with a dot,
one is its own serialisation, whatever the base."""


def not_special(schemes: Iterable[str]) -> tuple[str, ...]:
    """How addresses begin of those `schemes` that are not special in the URL Standard: its parser leaves their hosts
    and empty paths as they are written."""
    return tuple(
        f"{scheme}://"
        for scheme in schemes
        if ada_url.URL(f"{scheme}://host/").scheme_type == ada_url.SchemeType.NOT_SPECIAL
    )


NOT_SPECIAL = not_special(DEFAULT_PORTS)
"""How addresses begin of the schemes that we know and the standard does not call special: `sftp://`."""
_NOT_SPECIAL = re.compile(
    r"([a-z][a-z0-9+.-]*)://(?:[^/?#]*@)?(\[[^\]/?#]*\]|[^:/?#]*)(?::(\d*))?([^#]*)(?:#.*)?"
)


class Url(msgspec.Struct, frozen=True, gc=False):
    """An absolute URL of a scheme that we know.

    Invariant: `text` is its own WHATWG serialisation, without fragment and without user
    information (a password that came in a link is nobody's to send or to print).

    Attributes:
        text: the whole, e.g. `https://example.org/a?b=1`.
        scheme: one of `DEFAULT_PORTS`.
        host: ASCII name, IPv4, or IPv6 in brackets; empty for `file`.
        port: the effective port; the scheme's default where none is written.
        target: path with query, e.g. `/a?b=1`.
    """

    text: str
    scheme: str
    host: str
    port: int
    target: str

    @classmethod
    def parse(cls, text: str, base: str | None = None) -> "Url | None":
        """Parse `text`, resolved against `base`; `None` if invalid or of an unknown scheme."""
        # Most absolute addresses are plain, and a third of the parser's time is enough for those.
        plain = _PLAIN.fullmatch(text)
        if plain is not None and "/." not in text:
            scheme, host, target = plain.groups()
            return cls(text, scheme, host, 443 if scheme == "https" else 80, target)
        try:
            href = ada_url.join_url(base, text) if base is not None else ada_url.normalize_url(text)
        except ValueError:
            return None
        if href.startswith(NOT_SPECIAL):
            return cls._not_special(href)
        return cls.from_serialised(href)

    @classmethod
    def _not_special(cls, href: str) -> "Url | None":
        """The same rules for a scheme that is not special: host as a domain, port and path as of `http`."""
        match = _NOT_SPECIAL.fullmatch(href)
        place = cls.parse(f"http://{match[2]}/") if match is not None and match[2] else None
        if match is None or place is None or place.target != "/":
            return None
        scheme, port, target = match[1], match[3] or "", match[4]
        port = "" if not port or int(port) == DEFAULT_PORTS[scheme] else f":{port}"
        slash = "" if target.startswith("/") else "/"
        return cls.from_serialised(f"{scheme}://{place.host}{port}{slash}{target}")

    @classmethod
    def from_serialised(cls, href: str) -> "Url | None":
        """Split a WHATWG serialisation; unlike `parse` it does not check the parts.

        Plain string operations suffice because a serialised special URL is regular:
        `scheme://[user[:password]@]host[:port]/path[?query][#fragment]`.
        """
        scheme, separator, rest = href.partition("://")
        if not separator or scheme not in DEFAULT_PORTS:
            return None
        rest, _, _ = rest.partition("#")
        slash = rest.find("/")
        authority, target = rest[:slash], rest[slash:]
        if "@" in authority:
            authority = authority.rpartition("@")[2]
        host, port = authority, DEFAULT_PORTS[scheme]
        colon = authority.rfind(":")
        if colon > authority.rfind("]"):
            host, port = authority[:colon], int(authority[colon + 1 :])
        if not host and scheme != "file":
            return None
        return cls(f"{scheme}://{authority}{target}", scheme, host, port, target)

    @property
    def origin(self) -> str:
        """Scheme, host and port, the unit of robots rules: `https://example.org:8443`."""
        if self.port == DEFAULT_PORTS[self.scheme]:
            return f"{self.scheme}://{self.host}"
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """What follows the first `?`, without it."""
        return self.target.partition("?")[2]

    def __str__(self) -> str:
        return self.text
