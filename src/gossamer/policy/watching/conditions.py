"""Conditions of a watch: `contains TEXT`, `lacks TEXT`, `number > 10`. What counts is that one begins to hold."""

import operator
import re
from collections.abc import Callable

import msgspec

__all__ = ["Condition", "read_condition"]

_NUMBER = re.compile(r"number\s*(<=|>=|!=|==|=|<|>)\s*(-?[0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class Condition(msgspec.Struct, frozen=True):
    """One condition.

    Attributes:
        words: as written; the condition is known by them.
        kind: `contains`, `lacks` or `number`.
        text: that is looked for, casefolded, with single spaces.
        sign: of the comparison with `bound`.
    """

    words: str
    kind: str
    text: str = ""
    sign: str = ""
    bound: float = 0.0

    def holds(self, text: str, number: float | None) -> bool | None:
        """Whether it holds of what was seen; `None` if that cannot be told, for there is no number."""
        if self.kind == "number":
            return None if number is None else _COMPARE[self.sign](number, self.bound)
        found = self.text in " ".join(text.casefold().split())
        return found if self.kind == "contains" else not found


def read_condition(words: str) -> Condition:
    """Read one.

    Raises:
        ValueError: it is none.
    """
    words = words.strip()
    if (told := _NUMBER.fullmatch(words)) is not None:
        return Condition(words, "number", sign=told[1], bound=float(told[2]))
    kind, _, text = words.partition(" ")
    text = " ".join(text.casefold().split())
    if kind.lower() in ("contains", "lacks") and text:
        return Condition(words, kind.lower(), text)
    raise ValueError(f"{words!r} is no condition; write 'contains TEXT', 'lacks TEXT' or e.g. 'number > 10'")
