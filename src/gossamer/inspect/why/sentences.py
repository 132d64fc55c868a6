"""Holds what `why` and the queue's figures say as data, without words."""

from collections.abc import Iterable

import msgspec

from gossamer.model.reasons.reason import Reason
from gossamer.words.catalogue import words

Value = str | int | float | Reason


class Clause(msgspec.Struct, frozen=True):
    """A sentence, or a part of one, that has no words yet.

    They are made where they are shown: here in English, in the console in the reader's language.

    Attributes:
        key: below `story` in the catalogue.
        values: by the names that stand in braces there. What is named `state`, `robots`, `fault` or `kind`
            is one of the words of these lists; the rest is a reason or shown as it is.
    """

    key: str
    values: dict[str, Value] = {}


Told = tuple[Clause, ...]
"""A sentence: its clauses one after the other, with nothing between them."""


def clause(key: str, **values: Value) -> Clause:
    """A clause, its values by name."""
    return Clause(key, values)


def in_english(told: Iterable[Clause]) -> str:
    """A sentence as the command line says it."""
    english = words("en")
    return "".join(english(f"story.{one.key}", **one.values) for one in told)
