"""The names under which archived origins are replayed: each has one of its own, below `localhost`.

Browsers take every name below `localhost` for the machine they run on, without asking a name server, and
treat it as secure (W3C Secure Contexts 3.1). So each archived origin is an origin in the browser, too: addresses
without a host, storage, cookies and modules work as they did, and no site reaches another.

A name is one label, since names below a common one could share cookies:
`www-example-org-s-k3v9x2mq.localhost`: the host, its dots written `-` and its hyphens `--`; the scheme and a
port that is not the scheme's own; perhaps the time that is looked at; and a token of this run, which no
stranger's page can guess. What does not fit into the 63 characters of a label is written as its hash.
"""

import re
import secrets

import msgspec

from gossamer.model.url import DEFAULT_PORTS, NOT_SPECIAL, WITH_HOSTS, Url

__all__ = ["Names", "Place"]

SCHEMES = dict(zip(DEFAULT_PORTS, "hsfeglabcdijkmnopqruvwyz", strict=False))
"""A letter for each; `x` and `t` say other things in a name."""
OF_BROWSERS = {f"{scheme}:": SCHEMES[scheme] for scheme in WITH_HOSTS if f"{scheme}://" not in NOT_SPECIAL}
"""Those whose addresses browsers take apart as we do, as they call them: what `replay.js` leads here."""
_BY_CODE = {code: scheme for scheme, code in SCHEMES.items()}
LONGEST_LABEL = 63
MOST_HASHED = 10_000
"""Names written as hashes that are remembered; the oldest is forgotten first."""
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_PLAIN = re.compile(r"[a-z0-9.-]+")
_LABEL = re.compile(
    rf"(.*)-(x?)([{''.join(SCHEMES.values())}])(\d*)(?:-t([0-9a-z]+))?-([0-9a-z]+)", re.DOTALL
)
_TOKEN_LENGTH = 8


class Place(msgspec.Struct, frozen=True):
    """What a name stands for.

    Attributes:
        origin: archived: `https://example.org:8443`.
        at: the time that is looked at, seconds since 1970; 0 for that of the whole view.
    """

    origin: str
    at: int = 0


class Names:
    """Turns archived origins into names of this server and back.

    `replay.js` makes the same names, with the letters that it is given from here; whether they are the same a slow
    test sees, in which a browser replays pages whose scripts ask other origins.
    """

    def __init__(self, port: int, token: str = "") -> None:
        """Of a server at `port`; `token` is made up if none is given."""
        self.port = port
        self.token = token or "".join(secrets.choice(_DIGITS) for _ in range(_TOKEN_LENGTH))
        self._hashed: dict[str, str] = {}

    def origin(self, url: Url, at: int = 0) -> str:
        """The origin under which that of `url` is replayed, without a slash at its end."""
        port = "" if url.port == DEFAULT_PORTS[url.scheme] else str(url.port)
        code = f"{SCHEMES[url.scheme]}{port}"
        time = f"-t{_base36(at)}" if at else ""
        host = _encoded(url.host)
        label = f"{host}-{code}{time}-{self.token}"
        if not host or len(label) > LONGEST_LABEL:
            label = f"{self._hash(url.host)}-x{code}{time}-{self.token}"
        return f"http://{label}.localhost:{self.port}"

    @property
    def home(self) -> str:
        """An origin for the list that only who was told it knows."""
        return f"http://list-{self.token}.localhost:{self.port}"

    def address(self, url: Url, at: int = 0) -> str:
        """The address at which `url` is replayed."""
        return self.origin(url, at) + url.target

    def place(self, host: str) -> Place | None:
        """What the name in a `Host` field stands for; `None` if it is none that was given out."""
        label, dot, rest = host.lower().partition(".")
        if not dot or rest != f"localhost:{self.port}":
            return None
        found = _LABEL.fullmatch(label)
        if found is None or not secrets.compare_digest(found[6], self.token):
            return None
        scheme = _BY_CODE.get(found[3])
        name = self._hashed.get(found[1]) if found[2] else _decoded(found[1])
        if scheme is None or name is None:
            return None
        port = f":{found[4]}" if found[4] else ""
        return Place(f"{scheme}://{name}{port}", int(found[5], 36) if found[5] else 0)

    def _hash(self, host: str) -> str:
        hashed = f"{fnv1a(host.encode()):016x}"
        if hashed not in self._hashed and len(self._hashed) >= MOST_HASHED:
            del self._hashed[next(iter(self._hashed))]
        self._hashed[hashed] = host
        return hashed


def fnv1a(data: bytes) -> int:
    """The 64-bit FNV-1a hash: short enough to be written in two languages."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def _encoded(host: str) -> str:
    """The host as part of a label; empty if it cannot be read back from it."""
    if not _PLAIN.fullmatch(host):
        return ""
    encoded = host.replace("-", "--").replace(".", "-")
    return encoded if encoded[0] != "-" and _decoded(encoded) == host else ""


def _decoded(label: str) -> str:
    return "-".join(part.replace("-", ".") for part in label.split("--"))


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
