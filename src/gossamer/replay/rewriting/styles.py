"""Moves the addresses of a style sheet."""

from gossamer.extract.css import css_places
from gossamer.replay.rewriting.addresses import Mover, edited

__all__ = ["moved_styles"]


def moved_styles(sheet: bytes, mover: Mover) -> bytes:
    """A style sheet, or the value of a `style` attribute, with its absolute addresses replaced.

    Args:
        sheet: in an encoding whose ASCII bytes are ASCII characters.
        mover: of the document it belongs to.
    """
    spans = css_places(sheet.decode("latin-1"))  # one character for each byte, so places are the same
    moved = ((start, end, mover.moved(sheet[start:end])) for start, end in spans)
    return edited(sheet, [(start, end, instead) for start, end, instead in moved if instead is not None])
