"""What comes in at the server and goes out of it, by HTTP/1.1."""

import asyncio
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

__all__ = ["Answer", "Request", "read_request", "write_answer"]

LONGEST_HEAD = 64 << 10
LONGEST_BODY = 64 << 20
"""Bytes of a request's body that are read, and thrown away: an archive takes nothing."""
_PIECE = 256 << 10
_WITHOUT_BODY = frozenset({204, 304})


class Request(msgspec.Struct, frozen=True):
    """A request's head.

    Attributes:
        method: as sent.
        target: path with query; a whole URL if we are asked as a proxy; `host:port` of a CONNECT.
        fields: by lower-case name, the last of each.
    """

    method: str
    target: str
    fields: Mapping[str, str]

    @property
    def host(self) -> str:
        """The name and port that were asked, of the `Host` field."""
        return self.fields.get("host", "")

    @property
    def aim(self) -> str:
        """What the answer is for, as the browser says (Fetch Metadata, `Sec-Fetch-Dest`); empty if it does not."""
        return self.fields.get("sec-fetch-dest", "")

    @property
    def keep_alive(self) -> bool:
        """Whether the connection may be used again."""
        return self.fields.get("connection", "").lower() != "close"


class Answer(msgspec.Struct, frozen=True):
    """A response: status, fields in order, body. Length and connection are added when it is written."""

    status: int
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, its body read and forgotten; `None` if there is none, or it is no HTTP."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.rpartition(" ")
    if not target or not version.startswith("HTTP/1."):
        return None
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip().lower()] = value.strip()
    if version == "HTTP/1.0":
        fields.setdefault("connection", "close")
    length = fields.get("content-length", "0")
    if fields.get("transfer-encoding") or not length.isdecimal() or int(length) > LONGEST_BODY:
        fields["connection"] = "close"  # what follows is not looked at
    elif not await _passed(reader, int(length)):
        return None
    return Request(method, target, fields)


async def _passed(reader: asyncio.StreamReader, length: int) -> bool:
    while length:
        piece = await reader.read(min(length, _PIECE))
        if not piece:
            return False
        length -= len(piece)
    return True


async def write_answer(writer: asyncio.StreamWriter, request: Request, answer: Answer) -> None:
    """Send an answer, without its body if only the head was asked for.

    Raises:
        OSError: nobody reads it any more.
    """
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = "Archived"
    lines = [f"HTTP/1.1 {answer.status} {phrase}"]
    lines += [f"{name}: {value}" for name, value in answer.fields]
    bodiless = answer.status in _WITHOUT_BODY
    if not bodiless:
        lines.append(f"Content-Length: {len(answer.body)}")
    lines.append(f"Connection: {'keep-alive' if request.keep_alive else 'close'}")
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace"))
    if request.method != "HEAD" and not bodiless:
        for at in range(0, len(answer.body), _PIECE):
            writer.write(answer.body[at : at + _PIECE])
            await writer.drain()
    await writer.drain()
