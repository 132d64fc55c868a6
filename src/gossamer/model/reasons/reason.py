"""A reason as a value: what was decided, and on which numbers and names."""

from collections.abc import Iterable, Iterator

import msgspec

from gossamer.model.reasons.catalogue import LANGUAGE, in_words
from gossamer.model.reasons.codes import ProblemCode, TextCode

Value = "str | int | float | Reason"


class Reason(msgspec.Struct, frozen=True, array_like=True):
    """Why something was decided; `str()` of it is English.

    Attributes:
        code: a member of one of the closed lists, or a `Rule` or `Fault`.
        values: its numbers, names and inner reasons, in the order of its words.
    """

    code: str
    values: tuple["str | int | float | Reason", ...] = ()

    def said(self, language: str = LANGUAGE) -> str:
        """The reason in words; of a code that a newer version has written, what it says itself."""
        return in_words(
            self.code,
            [value.said(language) if isinstance(value, Reason) else value for value in self.values],
            language,
        )

    def __str__(self) -> str:
        return self.said()

    def parts(self) -> Iterator["Reason"]:
        """The reason and those within it, the outer ones first."""
        yield self
        for value in self.values:
            if isinstance(value, Reason):
                yield from value.parts()

    def has(self, code: str, *values: str | float) -> bool:
        """Whether it, or a reason within it, is of a code, with such values if some are given."""
        return any(part.code == code and part.values[: len(values)] == values for part in self.parts())


def because(code: str, *values: str | float | Reason) -> Reason:
    """A reason of a code with its values."""
    return Reason(code, values)


def text(words: str) -> Reason:
    """What came from elsewhere, from a server or a library, and is shown as it is."""
    return Reason(TextCode.TEXT, (words,))


def sentence(reason: Reason | None) -> str:
    """In English; empty if there is none."""
    return "" if reason is None else str(reason)


def together(reasons: Iterable[Reason]) -> Reason | None:
    """Several reasons as one; `None` if there are none."""
    told: Reason | None = None
    for reason in reasons:
        told = reason if told is None else because(TextCode.ALSO, told, reason)
    return told


def of(path: str, problem: Reason | str) -> Reason:
    """What is wrong with the setting, or the parameter, at `path`."""
    return because(ProblemCode.OF, path, problem)


def placed(problem: Reason) -> tuple[str, Reason]:
    """(path, what is wrong there); the path is empty where the problem concerns the whole.

    Settings check themselves with sentences that a path leads: those are taken apart here, and nowhere else.
    """
    if problem.code == ProblemCode.OF:
        path, inner = problem.values
        return str(path), inner if isinstance(inner, Reason) else text(str(inner))
    if problem.code == TextCode.TEXT:
        path, colon, rest = str(problem).partition(": ")
        if colon and " " not in path:
            return path, text(rest)
    return "", problem


class WrongValueError(ValueError):
    """Values do not fit.

    Args:
        reasons: all that is wrong, each at the path (`of`) of its setting within what was checked.
    """

    def __init__(self, *reasons: Reason) -> None:
        super().__init__("\n".join(map(str, reasons)))
        self.reasons = reasons
