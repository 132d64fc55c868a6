"""When a page is gone: not at the first 404, and not what was never there."""

import enum

GONE_STATUSES = frozenset({404, 410})
"""By which a server says that a page is not there; the one list of them."""
SELDOM = 1 / 16
"""The weight of what was missing at two visits: it may come back."""


class Presence(enum.IntEnum):
    """Whether a page is there; two bits of its history."""

    HERE = 0
    MISSED = 1
    GONE = 2
    NEVER = 3
    """No visit has seen it, be it missing (a link that led nowhere from the beginning) or out of reach."""

    @property
    def absent(self) -> bool:
        """There is no page that could be stale."""
        return self in (Presence.GONE, Presence.NEVER)


def after(presence: Presence, status: int | None) -> Presence:
    """What is known after another visit; of a page that nobody has visited it is `NEVER`.

    Args:
        presence: before it.
        status: of the response; `None` or 0 if there was none. Server errors, refusals and silence say nothing.
    """
    if status in GONE_STATUSES:
        match presence:
            case Presence.HERE:
                return Presence.MISSED
            case Presence.MISSED:
                return Presence.GONE
    elif status is not None and 200 <= status < 400:
        return Presence.HERE
    return presence


def is_seldom(presence: Presence, same: int) -> bool:
    """Whether a page weighs `SELDOM`: two visits have missed it.

    Args:
        presence: of now.
        same: visits after the first that found it as it was.
    """
    return presence is Presence.GONE or (presence is Presence.NEVER and same > 0)
