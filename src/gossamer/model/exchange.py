"""One request with its response, as they stood on the wire."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import BinaryIO, Literal, Protocol

import msgspec

from gossamer.model.url import Url

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_FROM_START = re.compile(r"\s*bytes\s+0-(\d{1,18})/(\d{1,18})\s*\Z", re.ASCII | re.IGNORECASE)

REDACTED = b"[redacted]"
"""Stands for every secret value; a fixed mark, so that not even its length is told."""

FIELD_BLANKS = " \t\r\n"
"""What surrounds a field's value and is none of it (RFC 9110 5.5, HTTP whitespace of WHATWG Fetch).

Never `str.strip()`: by latin-1 the last byte of an `à` in UTF-8 is a no-break space, and would go, too.
"""


class Truncation(StrEnum):
    """Why a stored body is not whole; the values of `WARC-Truncated` (WARC 1.1, 5.13)."""

    LENGTH = "length"
    TIME = "time"
    DISCONNECT = "disconnect"


BROKEN_OFF = frozenset({Truncation.TIME, Truncation.DISCONNECT})
"""Another visit could bring more."""


class Body(Protocol):
    """The document input stream (W8): read once from the network, re-read by many.

    Up to 64 KiB in memory, larger in a spooled file; digests were computed while it arrived.
    """

    @property
    def size(self) -> int:
        """Bytes of the body as stored."""

    @property
    def sha256(self) -> bytes:
        """SHA-256 of the stored bytes, 32 bytes."""

    def open(self) -> BinaryIO:
        """A new reader at the start; readers are independent of each other."""

    def chunks(self, size: int = 1 << 18) -> Iterator[bytes]:
        """The stored bytes in pieces of at most `size`."""

    def read(self, limit: int = -1) -> bytes:
        """The first `limit` bytes (all of them if negative)."""

    def close(self) -> None:
        """Give back the spooled file, if any. The body cannot be read afterwards."""


class Headers:
    """Header fields in order, as received; look-up ignores case (RFC 9110 5.1).

    Values are text by latin-1, so that every byte survives, without blanks around them: whoever reads a head leaves
    those out (RFC 9112 5.1).
    """

    __slots__ = ("_index", "fields")

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        self.fields = fields
        self._index: dict[str, str] | None = None

    def get(self, name: str, default: str = "") -> str:
        """The first value of `name` (given in lower case), or `default`."""
        if self._index is None:
            # Backwards, so that the first of a name stays.
            self._index = {key.lower(): value for key, value in reversed(self.fields)}
        return self._index.get(name, default)

    def get_all(self, name: str) -> list[str]:
        """Every value of `name` (given in lower case), in order."""
        return [value for key, value in self.fields if key.lower() == name]

    def __repr__(self) -> str:
        return f"<Headers {len(self.fields)} fields>"


def address_in_field(value: str) -> str:
    """An address in a field's value, its bytes beyond ASCII percent-encoded, each as it came.

    The server knows which encoding it wrote them in.
    """
    return value if value.isascii() else _BEYOND_ASCII.sub(lambda byte: f"%{ord(byte[0]):02X}", value)


class StatusAction(StrEnum):
    """What an answer asks of us: a response by its status (K2), others by their protocol's table."""

    PROCESS = "process"  # read the body
    NOTHING = "nothing"  # a good answer without content
    WAIT = "wait"  # not ready: ask again
    REDIRECT = "redirect"  # the target is a link
    UNCHANGED = "unchanged"  # what is stored is still right
    DROP = "drop"  # a definite no
    PARK = "park"  # left alone in this session, kept for the next
    THROTTLED = "throttled"  # the host wants rest
    RETRY = "retry"  # the server failed on this URL


class Result(msgspec.Struct, frozen=True, gc=False):
    """How a visit ended by another protocol than HTTP, in that protocol's own terms.

    Attributes:
        word: its own, from the module's table and never from the network: a reply code such as `550`, or
            `directory`.
        asks: what follows from it, by the protocol module's own table. `REDIRECT` is HTTP's alone: what leads
            on by another protocol is a link of the page.
    """

    word: str
    asks: StatusAction


class FurtherRecord(msgspec.Struct, frozen=True):
    """What a visit leaves in the archive beside its main record, e.g. the control dialogue of FTP.

    Attributes:
        kind: `metadata` about the visit (WARC 1.1, 6.6); `conversion`, another form of what it brought (6.8);
            `resource`, something else that it brought (6.4), which has a capture in the index.
        media_type: of the block.
        block: the content.
        target: `WARC-Target-URI`; empty for the URL of the visit.
        fields: further WARC fields, in order; those that say where a record belongs are ours to write.
    """

    kind: Literal["metadata", "conversion", "resource"]
    media_type: str
    block: bytes
    target: str = ""
    fields: tuple[tuple[str, str], ...] = ()


class BodyPart(msgspec.Struct, frozen=True, gc=False):
    """What one visit brought of a body that came in several.

    Attributes:
        started: wall time of its request, seconds since 1970.
        address: of who answered; empty behind a proxy.
        size: bytes, which follow those of the part before.
    """

    started: float
    address: str
    size: int


class Timing(msgspec.Struct, frozen=True, gc=False):
    """Seconds each step of a visit took; 0 where a kept-alive connection had no such step."""

    name: float = 0.0
    connect: float = 0.0
    tls: float = 0.0
    first_byte: float = 0.0
    total: float = 0.0


class Exchange(msgspec.Struct, frozen=True):
    """One request and its final response, by HTTP or another protocol.

    Attributes:
        url: what was requested; of a POST what stands for it (`Posted`).
        started: wall time of the request, seconds since 1970, UTC.
        request_head: the request as sent, head only, ending in an empty line; secrets in it
            are real and must be redacted before anything keeps it, but for those of an operator's own
            fields, whose names nobody else knows.
        status: three digits; 0 where a `result` stands instead.
        response_head: the status line and fields as received, ending in an empty line.
        headers: the fields of `response_head`, parsed.
        body: transfer-decoded, content codings untouched.
        protocol: `http/1.0`, `http/1.1`, `h2`, ...
        address: numeric address of the peer; empty behind a proxy.
        cipher: TLS version and suite, e.g. `TLSv1.3 TLS_AES_256_GCM_SHA384`; empty without TLS.
        timing: how long each step took.
        truncated: why the body is not whole, or `None`.
        request_body: that was sent; of POSTs alone.
        certificate_ends: wall time at which the peer's certificate does, where that is looked at; else 0.
        certificate: SHA-256 of the peer's (DER), 32 bytes, where that is looked at; else empty.
        parts: how the body came, if it took several visits. Heads, `started` and `address` are then those of
            the first, `timing` that of the last.
        result: how it ended by a protocol that has no HTTP status.
        further: records for the archive beside the main one, written in the same commit if that is kept.
    """

    url: Url
    started: float
    request_head: bytes
    status: int
    response_head: bytes
    headers: Headers
    body: Body
    protocol: str = "http/1.1"
    address: str = ""
    cipher: str = ""
    timing: Timing = Timing()
    truncated: Truncation | None = None
    result: Result | None = None
    further: tuple[FurtherRecord, ...] = ()
    request_body: bytes = b""
    certificate_ends: float = 0.0
    certificate: bytes = b""
    parts: tuple[BodyPart, ...] = ()

    @property
    def latest(self) -> BodyPart:
        """What the last visit was and brought; all there is of the body, if it did not take several."""
        return self.parts[-1] if self.parts else BodyPart(self.started, self.address, self.body.size)

    @property
    def said(self) -> str:
        """Status or result, as statistics, log and reports name it: `404`, `ftp 550`."""
        return str(self.status) if self.result is None else f"{self.url.scheme} {self.result.word}"

    @property
    def is_readable(self) -> bool:
        """Whether the body is what was asked for, and may be read for links: any 2xx, or as good as that."""
        if self.result is None:
            return 200 <= self.status < 300
        return self.result.asks is StatusAction.PROCESS

    @property
    def is_recorded(self) -> bool:
        """Whether there is something to archive: by another protocol than HTTP a body or further records."""
        return self.result is None or self.body.size > 0 or bool(self.further)

    @property
    def is_part(self) -> bool:
        """Whether the body is known to be less than the document that was asked for."""
        return is_part(self.status, self.headers, self.truncated)

    @property
    def is_page(self) -> bool:
        """Whether it counts as a page: status 200, or as good as that."""
        return self.status == 200 if self.result is None else self.result.asks is StatusAction.PROCESS


def is_part(status: int, headers: Headers, truncated: Truncation | None) -> bool:
    """Whether a body is less than its document: it was cut, or is an answer with a range of it (RFC 9110, 15.3.7)."""
    if status != 206 or truncated is not None:
        return truncated is not None
    whole = _FROM_START.match(headers.get("content-range"))
    return whole is None or int(whole[1]) + 1 != int(whole[2])
