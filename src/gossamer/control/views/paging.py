"""Pages of long lists: as many entries as are asked for, found within a bounded time."""

import binascii
import time
from collections.abc import Iterable
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from gossamer.control.socket.protocol import LiveError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because, of

SECONDS = 0.25
"""A view looks no longer than this for what it is asked for; who wants more goes on with the cursor."""
CHECKED_EVERY = 64
"""Entries between two looks at the clock."""

Limit = Annotated[int, Meta(ge=1, le=1_000)]
Cursor = Annotated[str, Meta(max_length=20_000)]

T = TypeVar("T")


class Page(msgspec.Struct, frozen=True):
    """Some entries of a list.

    Attributes:
        items: fewer than asked for, even none, where looking took too long.
        cursor: goes on where this page ends; `None` at the end of the list.
        total: how long the list is, if that is known.
    """

    items: list[Any]
    cursor: str | None = None
    total: int | None = None


class Patience:
    """Tells when looking has taken long enough; cheap enough to ask for each entry."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._until = time.monotonic() + seconds
        self._asked = 0

    @property
    def over(self) -> bool:
        """It is time to come back with what there is."""
        self._asked += 1
        return not self._asked % CHECKED_EVERY and time.monotonic() >= self._until


def take(entries: Iterable[tuple[bytes, T | None]], limit: int) -> tuple[list[T], bytes | None]:
    """At most `limit` entries that are not `None`, and the key to go on behind, if it does not end here.

    `entries`: (key, entry or `None` for one that is not wanted), in the order of their keys.
    """
    found: list[T] = []
    patience = Patience()
    for key, entry in entries:
        if entry is not None:
            found.append(entry)
        if len(found) == limit or patience.over:
            return found, key
    return found, None


def cursor_of(kind: str, key: bytes) -> str:
    """A cursor that goes on behind `key` in the part `kind` of a list."""
    return f"{kind}:{key.hex()}"


def key_of(cursor: str | None, kinds: tuple[str, ...]) -> tuple[str, bytes]:
    """(part, key behind which to go on) of a cursor; the first part and an empty key without one.

    Raises:
        LiveError: it is none of ours.
    """
    if cursor is None:
        return kinds[0], b""
    kind, _, text = cursor.partition(":")
    try:
        key = binascii.unhexlify(text)
    except (binascii.Error, ValueError):
        key = None
    if kind not in kinds or key is None:
        raise LiveError("invalid", of("cursor", because(ProblemCode.CURSOR, cursor[:100])))
    return kind, key


def offset_of(cursor: str | None, kind: str = "n") -> int:
    """The number in a cursor of a list that is counted through; 0 without one.

    Raises:
        LiveError: it is none of ours.
    """
    if cursor is None:
        return 0
    head, _, number = cursor.partition(":")
    if head != kind or not (number.isascii() and number.isdecimal()) or len(number) > 18:
        raise LiveError("invalid", of("cursor", because(ProblemCode.CURSOR, cursor[:100])))
    return int(number)


def behind(key: bytes) -> bytes:
    """The smallest key behind `key`; for an empty one the first of all."""
    return key + b"\0" if key else b""


def page_of_list(items: list[Any], cursor: str | None, limit: int) -> Page:
    """A page of a list that is at hand as a whole."""
    start = offset_of(cursor)
    end = start + limit
    return Page(items[start:end], f"n:{end}" if end < len(items) else None, len(items))
