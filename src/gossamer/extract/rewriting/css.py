"""Other addresses for a style sheet."""

import re
from collections.abc import Callable

from gossamer.extract.css import css_places, unescape_css
from gossamer.extract.links import Mention
from gossamer.extract.rewriting.edits import Relinking, replaced
from gossamer.model.link import LinkKind

__all__ = ["changed_sheet", "relinked_sheet", "relinked_style"]

_SPECIAL = re.compile(r"[()'\"\\\s<]")
"""What ends a bare address or a string, and what might end the element around it."""


def changed_sheet(content: bytes, new: Callable[[bytes], bytes | None]) -> bytes:
    """A style sheet with what `new` makes of its addresses as they stand there; `None` leaves one.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
        new: its results need no escapes.
    """
    places = css_places(content.decode("latin-1"))  # a character for each byte: places are the same
    return replaced(content, places, new)


def relinked_sheet(content: bytes, codec: str, links: Relinking) -> bytes:
    """A style sheet, whose ASCII bytes are ASCII characters, with other addresses.

    Args:
        content: the sheet.
        codec: Python codec of its encoding.
        links: knows what its addresses become.
    """

    def new(written: bytes) -> bytes | None:
        address = _relinked(written.decode(codec, "replace"), links)
        return None if address is None else address.encode("ascii")

    return changed_sheet(content, new)


def relinked_style(text: str, links: Relinking) -> str:
    """The value of a `style` attribute with other addresses."""
    return replaced(text, css_places(text), lambda written: _relinked(written, links))


def _relinked(written: str, links: Relinking) -> str | None:
    address = unescape_css(written)
    new = links.on_link(Mention("css", LinkKind.REQUISITE, address))
    return None if new is None else _SPECIAL.sub(lambda found: f"\\{ord(found[0]):x} ", new.address)
