"""Reads the body of a request within bounds of size and time."""

import asyncio
import contextlib
from collections.abc import Sequence
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_DEEPEST = 32
_MOST_FIELDS = 500
_SMALL, _SOON = 64 << 10, 1.0
"""Bytes and seconds for a body that is refused."""
_FORM_KEY = "gossamer.form"

Form = dict[str, str]


class BadBodyError(Exception):
    """A body that nobody will look at: answer with `status`."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def read_body(receive: Receive, lengths: Sequence[str], most: int, seconds: float) -> bytes:
    """The whole body.

    Args:
        lengths: the Content-Length headers.
        most: bytes that it may have.
        seconds: that it may take.

    Raises:
        BadBodyError: it is too large, too slow, its length is given twice, or its sender has gone.
    """
    too_large = BadBodyError(413, f"a request may have {most:,} bytes")
    if len(lengths) > 1:
        raise BadBodyError(400, "Content-Length is given twice")
    for length in lengths:
        if not (length.isascii() and length.isdigit()):
            raise BadBodyError(400, "Content-Length is not a number")
        if len(length) > 15 or int(length) > most:
            raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise BadBodyError(400, "the request ended before its body did")
                part = message.get("body", b"")
                size += len(part)
                if size > most:
                    raise too_large
                parts.append(part)
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise BadBodyError(408, f"the body took more than {seconds:g} s") from None


class Arriving:
    """What comes of a request, and whether all of it has come.

    Whoever answers and closes before that may destroy his answer: what arrives afterwards is met by a reset, which
    takes from the client what it has not read yet (RFC 9112 section 9.6).
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._whole = False

    async def __call__(self) -> Message:
        """The next message of the connection."""
        message = await self._receive()
        self._whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    async def rest(self, lengths: Sequence[str]) -> None:
        """Read what is missing of a body that nobody will look at, if it is small and comes soon.

        Args:
            lengths: the Content-Length headers.
        """
        if not self._whole:
            with contextlib.suppress(BadBodyError):
                await read_body(self, lengths, _SMALL, _SOON)


def again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read to whoever comes next; then what the connection says."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def check_json(body: bytes) -> None:
    """Refuse what other parsers would take and choke on later: NaN, half surrogates, deep nesting.

    Raises:
        BadBodyError: it is not JSON (RFC 8259).
    """
    try:
        _check_depth(msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadBodyError(400, f"the body is not JSON: {str(error)[:200]}") from None


def _check_depth(value: object) -> None:
    """Refuse what is nested deeper than anything that makes sense here: others walk it by recursion."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise RecursionError(f"nested deeper than {_DEEPEST} levels")


def read_form(body: bytes, state: dict[str, object]) -> Form:
    """The fields of a form, kept in the request's state for its handler (`form_of`).

    Raises:
        BadBodyError: too many fields, or one of them twice.
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS, separator="&"
        )
    except ValueError:  # of UnicodeDecodeError too
        raise BadBodyError(400, "the form cannot be read") from None
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise BadBodyError(400, "a field of the form is given twice")
    state[_FORM_KEY] = fields
    return fields


def form_of(request: HTTPConnection) -> Form:
    """The fields of the form that this request brings; empty if it brings none."""
    found = request.scope.get("state", {}).get(_FORM_KEY, {})
    assert isinstance(found, dict)
    return found
