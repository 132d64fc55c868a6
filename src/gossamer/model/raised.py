"""What code that was handed in raised."""

from traceback import extract_tb, format_exception_only

import msgspec

LONGEST = 500


class Raised(msgspec.Struct, frozen=True, gc=False):
    """One failure of a scope rule, an extractor, ...

    Attributes:
        who: port and name: `scope rule no_calendars`.
        what: the last line of its traceback, with the place: `KeyError: 'id' (rules.py, line 12)`.
    """

    who: str
    what: str

    @classmethod
    def by(cls, who: str, error: Exception) -> "Raised":
        """What was raised, from the exception that was caught."""
        last = format_exception_only(error)[-1].strip()[:LONGEST]
        stack = extract_tb(error.__traceback__)[1:]  # the first is whoever caught it
        place = f" ({stack[-1].filename.rpartition('/')[2]}, line {stack[-1].lineno})" if stack else ""
        return cls(who, last + place)


def name_of(plugin: object) -> str:
    """What code that was handed in is called."""
    return getattr(plugin, "__qualname__", None) or type(plugin).__qualname__
