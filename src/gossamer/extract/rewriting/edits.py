"""Replacements of stretches of a document."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from gossamer.extract.links import Source

__all__ = ["Edit", "Relinked", "Relinking", "edited"]


class Edit(msgspec.Struct, frozen=True, gc=False):
    """What takes the place of the bytes from `start` to `end`."""

    start: int
    end: int
    new: bytes


class Relinked(msgspec.Struct, frozen=True, gc=False):
    """What takes the place of an address.

    Attributes:
        address: in ASCII.
        beside: it is of a file that lies beside the document.
    """

    address: str
    beside: bool = False


class Relinking(Protocol):
    """Knows what each address of one document becomes."""

    def on_base(self, address: str) -> str:
        """The document's own base, told before any link; what its `href` becomes."""

    def on_link(self, source: Source) -> Relinked | None:
        """What becomes of an address; `None` leaves it.

        Args:
            source: bytes are the source of a plain `a@href`, whose fragment stays where it is.
        """


def edited(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The document with its replacements, which are in order and do not overlap."""
    parts, done = list[bytes](), 0
    for edit in edits:
        assert edit.start >= done, edit
        parts += (content[done : edit.start], edit.new)
        done = edit.end
    return b"".join((*parts, content[done:])) if parts else content
