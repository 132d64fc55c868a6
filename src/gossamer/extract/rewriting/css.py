"""Other addresses for a style sheet."""

import re

from gossamer.extract.css import css_places, unescape_css
from gossamer.extract.links import Mention
from gossamer.extract.rewriting.edits import Edit, Relinking
from gossamer.model.link import LinkKind

__all__ = ["css_edits", "relinked_style"]

_SPECIAL = re.compile(r"[()'\"\\\s<]")
"""What ends a bare address or a string, and what might end the element around it."""


def css_edits(content: bytes, codec: str, links: Relinking) -> list[Edit]:
    """What changes in a style sheet whose ASCII bytes are ASCII characters.

    Args:
        content: the sheet.
        codec: Python codec of its encoding.
        links: knows what its addresses become.
    """
    edits = []
    for start, end in css_places(content.decode("latin-1")):  # a character for each byte: places are the same
        new = _relinked(content[start:end].decode(codec, "replace"), links)
        if new is not None:
            edits.append(Edit(start, end, new.encode("ascii")))
    return edits


def relinked_style(text: str, links: Relinking) -> str:
    """The value of a `style` attribute with other addresses."""
    parts, done = list[str](), 0
    for start, end in css_places(text):
        new = _relinked(text[start:end], links)
        if new is not None:
            parts += (text[done:start], new)
            done = end
    return "".join((*parts, text[done:]))


def _relinked(written: str, links: Relinking) -> str | None:
    address = unescape_css(written)
    new = links.on_link(Mention("css", LinkKind.REQUISITE, address))
    return None if new is None else _SPECIAL.sub(lambda found: f"\\{ord(found[0]):x} ", new.address)
