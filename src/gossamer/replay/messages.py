"""What comes in at a server of an archive and goes out of it, by HTTP/1.1.

What two servers might read differently is refused (RFC 9112, 2.2, 5.1, 6.3 and 11.2), so that nobody smuggles a request
past a server before us.
"""

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

__all__ = ["Answer", "Request", "plain_text", "read_request", "write_answer"]

LONGEST_HEAD = 64 << 10
LONGEST_BODY = 64 << 20
"""Bytes of a request's body that are read, and thrown away: an archive takes nothing."""
READ_SECONDS = 60.0
"""Within which a request must be here after the one before, or after the connection was made."""
WRITE_SECONDS = 30.0
"""After which a client that takes nothing is left."""
_PIECE = 256 << 10
_WITHOUT_BODY = frozenset({204, 304})
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105
_FIRST = re.compile(rf"({_TOKEN}) ([!-~\x80-\xff]+) HTTP/([0-9])\.([0-9])")
_FIELD = re.compile(rf"({_TOKEN}):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_LENGTH = re.compile(r"[0-9]{1,18}", re.ASCII)
_ONCE = frozenset({"host", "content-length"})


class Request(msgspec.Struct, frozen=True):
    """A request's head.

    Attributes:
        method: as sent.
        target: path with query; a whole URL if we are asked as a proxy; `host:port` of a CONNECT.
        fields: by lower-case name; of several the values with commas between.
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
        return "close" not in {part.strip().lower() for part in self.fields.get("connection", "").split(",")}


class Answer(msgspec.Struct, frozen=True):
    """A response: status, fields in order, body. Length and connection are added when it is written."""

    status: int
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def plain_text(status: int, text: str, *fields: tuple[str, str]) -> Answer:
    """An answer of our own."""
    return Answer(status, (("Content-Type", "text/plain; charset=utf-8"), *fields), f"{text}\n".encode())


UNREAD = Request("GET", "", {"connection": "close"})
"""Stands for a request that could not be read, and after which nothing can be."""


async def read_request(reader: asyncio.StreamReader) -> Request | Answer | None:
    """The next request of a connection, its body read and forgotten; what to say where it is none, and no more is read
    then; `None` if nobody asks any more."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            request = _read(head.decode("latin-1").removesuffix("\r\n\r\n"))
            if isinstance(request, Answer):
                return request
            if request.fields.get("transfer-encoding"):
                return _closing(request)  # what follows is not looked at
            return request if await _passed(reader, int(request.fields.get("content-length", "0"))) else None
    except asyncio.LimitOverrunError:
        return plain_text(431, f"A request may have {LONGEST_HEAD >> 10} KiB before its body.")
    except (asyncio.IncompleteReadError, TimeoutError, OSError):
        return None


def _read(head: str) -> Request | Answer:
    first, *lines = head.split("\r\n")
    found = _FIRST.fullmatch(first)
    if found is None:
        return plain_text(400, "That is no request of HTTP/1.1.")
    if found[3] != "1":
        return plain_text(505, "This server speaks HTTP/1.1.")
    fields: dict[str, str] = {}
    for line in lines:
        field = _FIELD.fullmatch(line)
        if field is None:
            return plain_text(400, "A field of the request is none.")
        name, value = field[1].lower(), field[2].rstrip(" \t")
        if name in fields and name in _ONCE:
            return plain_text(400, f"The request has two fields {field[1]}.")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    length = fields.get("content-length", "0")
    if not _LENGTH.fullmatch(length) or ("transfer-encoding" in fields and "content-length" in fields):
        return plain_text(400, "It is not clear where the request ends.")
    if int(length) > LONGEST_BODY:
        return plain_text(413, "An archive takes nothing.")
    request = Request(found[1], found[2], fields)
    if found[4] == "0":
        return _closing(request)
    return request if "host" in fields else plain_text(400, "The request names no Host.")


def _closing(request: Request) -> Request:
    return msgspec.structs.replace(request, fields={**request.fields, "connection": "close"})


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
            await _taken(writer)
    await _taken(writer)


async def _taken(writer: asyncio.StreamWriter) -> None:
    async with asyncio.timeout(WRITE_SECONDS):  # TimeoutError is an OSError
        await writer.drain()
