"""Patterns by which people name addresses: `list`, `refetch`, `watch`, `[revisit]` (`every`, `weight`), `[fields.*]`.

What settles what is crawled at all (`scope.include` and `exclude`) are plain regular expressions.
"""

import re
from functools import lru_cache

from gossamer.policy.scope.patterns import Patterns, pattern_problem

__all__ = ["EXPRESSION", "AddressPattern", "address_pattern", "address_problem", "literal"]

EXPRESSION = "re:"
"""Before a regular expression; no address and no path begins so."""


class AddressPattern:
    """One pattern, compared in time linear in the address.

    `*` stands for anything, `?` for one character, `[*]`, `[?]` and `[[]` for these signs; all else is itself. Path and
    query are compared as a whole, or the whole address if the pattern has a scheme. What begins with `re:` is a
    regular expression (RE2) that occurs in the address.

    Attributes:
        text: as written.
    """

    __slots__ = ("_expression", "_whole", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        is_expression = text.startswith(EXPRESSION)
        self._whole = is_expression or "://" in text
        self._expression = Patterns([text[len(EXPRESSION) :] if is_expression else _expression_of(text)])

    def matches(self, address: str) -> bool:
        """Whether it matches an address as `Url.text` has it."""
        begin = 0
        if not self._whole:
            begin = address.find("/", address.find("://") + 3)
        return self._expression.found_in(address[begin:])

    @property
    def is_exact(self) -> bool:
        """Only one address on each host can match: who wrote it may have meant more."""
        return not self.text.startswith(EXPRESSION) and not {"*", "?"} & set(self.text)


@lru_cache(maxsize=1 << 10)
def address_pattern(text: str) -> AddressPattern:
    """The pattern that a text is, read only once for all who ask."""
    return AddressPattern(text)


def address_problem(text: str) -> str | None:
    """What is wrong with a pattern, or `None`."""
    return pattern_problem(text[len(EXPRESSION) :]) if text.startswith(EXPRESSION) else None


def literal(address: str) -> str:
    """The pattern that one address alone matches."""
    return _SIGN.sub(r"[\g<0>]", address)


_SIGN = re.compile(r"[*?\[]")
_PART = re.compile(r"\[([*?\[])\]|[*?]|[^*?\[]+|\[")
_STANDS = {"*": ".*", "?": "."}


def _expression_of(text: str) -> str:
    made = "".join(_STANDS.get(part[0]) or re.escape(part[1] or part[0]) for part in _PART.finditer(text))
    return rf"\A(?s:{made})\z"
