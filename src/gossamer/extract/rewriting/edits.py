"""Replacements of stretches of a document."""

from collections.abc import Callable, Iterable
from typing import AnyStr, Protocol

import msgspec

from gossamer.extract.html.tag_grammar import AttributePlace
from gossamer.extract.links import Source

__all__ = ["Edit", "Relinked", "Relinking", "edited", "replaced", "value_edit"]


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


def value_edit(place: AttributePlace, value: bytes, begin: int = 0) -> Edit:
    """Another value for an attribute of a tag whose attributes begin at `begin`.

    It is escaped for the quotes there are, for double ones if there are none.
    """
    start, end = place.value
    if not place.quote:
        value = (b"=" if start == end else b"") + b'"' + value + b'"'
    return Edit(begin + start, begin + end, value)


def replaced(
    text: AnyStr, places: Iterable[tuple[int, int]], new: Callable[[AnyStr], AnyStr | None]
) -> AnyStr:
    """A text with what `new` makes of the stretches at `places`, which are in order; `None` leaves one."""
    parts: list[AnyStr] = []
    done = 0
    for start, end in places:
        instead = new(text[start:end])
        if instead is not None:
            parts += (text[done:start], instead)
            done = end
    parts.append(text[done:])
    return text[:0].join(parts)
