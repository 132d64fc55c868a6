"""Takes the symbols of print out of a text, so that most texts are ASCII, which everything takes less time for."""

import re

__all__ = ["without_symbols"]

_SYMBOLS = re.compile(
    "[\xa1-\xa7\xa9\xab\xac\xae\xb0\xb1\xb6\xb7\xbb\xbf\xd7\xf7"
    "\u2010\u2012-\u2016\u2018-\u2023\u2026\u2190-\u21ff\u2500-\u2775]"
)
"""Quotation marks, dashes, arrows, frames and the like, which are in no word, nor become letters or marks (NFKC)."""


def without_symbols(text: str) -> str:
    """The text with one symbol of ASCII for each that is in no word; of two texts in three nothing else is left."""
    return text if text.isascii() else _SYMBOLS.sub('"', text.replace("\xa0", " "))
