"""What follows from an attempt to tell somebody that failed: another one, later and later, or no more."""

import msgspec

__all__ = ["LONGEST_WAIT", "MOST_ATTEMPTS", "Failure", "next_attempt"]

MOST_ATTEMPTS = 22
"""Some three days."""
LONGEST_WAIT = 6 * 3600.0
"""Seconds until another attempt, at most."""
_FIRST = 30.0


class Failure(msgspec.Struct, frozen=True):
    """Why somebody could not be told.

    Attributes:
        words: for people; without secrets.
        final: no later attempt will do better.
        after: seconds that the other side wants us to wait.
    """

    words: str
    final: bool = False
    after: float = 0.0


def next_attempt(failure: Failure, attempts: int, now: float) -> float | None:
    """When to try again, seconds since 1970; `None` for never.

    Args:
        failure: of the last attempt.
        attempts: made so far, that one included.
        now: seconds since 1970.
    """
    if failure.final or attempts >= MOST_ATTEMPTS:
        return None
    wait = min(_FIRST * 2.0 ** (attempts - 1), LONGEST_WAIT)
    return now + max(wait, min(failure.after, LONGEST_WAIT))
