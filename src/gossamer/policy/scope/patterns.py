"""Matches URLs against the operator's regular expressions, in time linear in the URL."""

from collections.abc import Sequence
from typing import Any

_MOST_MEMORY = 64 << 20  # for one set of expressions; re2 falls back to slower matching before it takes more


def _compiled(pattern: str) -> Any:
    import re2  # a library of 1 MB, which most crawls need not load

    options = re2.Options()
    options.log_errors = False  # they come to the operator as a message, not on standard error
    options.max_mem = _MOST_MEMORY
    return re2.compile(pattern, options)


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression in RE2 syntax, or `None`."""
    import re2

    try:
        _compiled(pattern)
    except re2.error as error:
        text = error.args[0] if error.args else "cannot be read"
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return None


class Patterns:
    """Some expressions, searched for all at once.

    RE2 never backtracks, so that neither a careless expression nor a URL made for it can cost much.
    """

    __slots__ = ("_all", "_each")

    def __init__(self, patterns: Sequence[str]) -> None:
        self._each = [(pattern, _compiled(pattern)) for pattern in patterns]
        self._all = _compiled("|".join(f"(?:{pattern})" for pattern in patterns))

    def found_in(self, text: str) -> bool:
        """Whether any of them occurs in the text."""
        return self._all.search(text) is not None

    def first_in(self, text: str) -> str:
        """The first of them, in the order given, that occurs; empty if none does."""
        return next((pattern for pattern, compiled in self._each if compiled.search(text)), "")
