"""Builds request heads: what libcurl is told to send, and the same as bytes for the archive."""

import binascii
import re
from collections.abc import Iterable

import msgspec

from gossamer.fetch.config import FetchConfig
from gossamer.model.exchange import REDACTED
from gossamer.model.lease import Validators
from gossamer.model.url import DEFAULT_PORTS, Url

_SENDABLE = re.compile("[\x01-\x09\x0b\x0c\x0e-\xff]*")
"""What may be sent, not what may not: that class reaches to the end of Unicode, which takes 3 ms to compile."""
_NO_ACCEPT = b"Accept:"
"""Tells libcurl to send no Accept of its own; never sent."""


class Credentials(msgspec.Struct, frozen=True):
    """What one origin wants to know of us.

    Attributes:
        user: with `password`, proven by `scheme`; basic ones are sent at once.
        token: a bearer token, in place of them.
        scheme: `basic`, or one that libcurl speaks: `digest`, `ntlm`, `negotiate`.
        headers: further fields, in order; their values are secret.
        certificate: file (PEM) with what we prove to be ours in TLS; `key` and `key_password` belong to it.
    """

    user: str = ""
    password: str = ""
    token: str = ""
    scheme: str = "basic"
    headers: tuple[tuple[str, str], ...] = ()
    certificate: str = ""
    key: str = ""
    key_password: str = ""

    def __post_init__(self) -> None:
        if self.user and self.token:
            raise ValueError("credentials need either user and password, or token")
        if not (self.user or self.token or self.headers or self.certificate or self.scheme == "negotiate"):
            raise ValueError("credentials are empty: give either user and password, or something else")
        if ":" in self.user:
            raise ValueError("a user name of basic authentication holds no colon (RFC 7617 2)")
        if not (self.user + self.password + self.token).isprintable():
            raise ValueError("credentials hold no control characters")

    @property
    def answers(self) -> bool:
        """Whether libcurl answers a challenge of the server with them."""
        return self.scheme != "basic"

    @property
    def is_spoken(self) -> bool:
        """Whether a handle of libcurl must know of them; else they are fields like all others."""
        return self.answers or bool(self.certificate)

    @property
    def fields(self) -> list[bytes]:
        """What is sent at once: `Authorization` (RFC 7617 2, RFC 6750 2.1), and further fields."""
        sent = [f"{name}: {value}".encode() for name, value in self.headers]
        if self.token:
            sent.append(b"Authorization: Bearer " + self.token.encode())
        elif self.user and not self.answers:
            pair = f"{self.user}:{self.password}".encode()
            sent.append(b"Authorization: Basic " + binascii.b2a_base64(pair, newline=False))
        return sent

    def __repr__(self) -> str:
        return "<Credentials>"


def constant_fields(config: FetchConfig) -> list[bytes]:
    """The fields that every request carries after `Host`, in the order sent."""
    fields = [
        ("User-Agent", config.agent),
        ("From", config.mailbox),
        ("Accept", config.accept),
        ("Accept-Language", config.accept_language),
        ("Accept-Encoding", config.accept_encoding),
    ]
    sent = [f"{name}: {value}".encode() for name, value in fields if value]
    return sent if config.accept else [*sent, _NO_ACCEPT]


def conditional_fields(validators: Validators) -> list[bytes]:
    """Ask for a change only, with both validators byte for byte (RFC 9110 13.1.2, 13.1.3)."""
    fields = []
    if validators.etag and _sendable(validators.etag):
        fields.append(b"If-None-Match: " + validators.etag.encode("latin-1"))
    if validators.last_modified and _sendable(validators.last_modified):
        fields.append(b"If-Modified-Since: " + validators.last_modified.encode("latin-1"))
    return fields


def request_head(
    url: Url, target: bytes, fields: list[bytes], version: bytes, method: bytes = b"GET"
) -> bytes:
    """The head as it goes over the wire; for HTTP/2 and 3 its HTTP/1.1 equivalent.

    libcurl writes request line and `Host` itself, then the fields it was given, in order; the tests
    compare this with what a server receives.
    """
    host = url.host if url.port == DEFAULT_PORTS[url.scheme] else f"{url.host}:{url.port}"
    sent = [field for field in fields if field != _NO_ACCEPT]
    lines = [b"%b %b HTTP/%b" % (method, target, version), b"Host: " + host.encode(), *sent, b"", b""]
    return b"\r\n".join(lines)


def redacted(head: bytes, names: Iterable[str]) -> bytes:
    """A request head without the values of the fields called `names`, whatever their case."""
    secret = {name.lower().encode() for name in names}
    lines = head.split(b"\r\n")
    for place, line in enumerate(lines[1:], 1):
        name = line.partition(b":")[0]
        if name.lower() in secret:
            lines[place] = name + b": " + REDACTED
    return b"\r\n".join(lines)


def _sendable(value: str) -> bool:
    """Came from a header and fits into one: latin-1 without line ends and NUL."""
    return _SENDABLE.fullmatch(value) is not None
