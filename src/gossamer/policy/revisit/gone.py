"""When a page is gone: not at the first 404."""

import enum

GONE_STATUSES = frozenset({404, 410})
SELDOM = 1 / 16
"""The weight of what is gone: it may come back."""


class Presence(enum.IntEnum):
    """Whether a page is there; two bits of its history."""

    HERE = 0
    MISSED = 1
    GONE = 2


def after(presence: Presence, status: int | None) -> Presence:
    """What is known after another visit.

    Args:
        presence: before it.
        status: of the response; `None` if there was none. Server errors, refusals and silence say nothing.
    """
    if status in GONE_STATUSES:
        return Presence.MISSED if presence is Presence.HERE else Presence.GONE
    if status is not None and 200 <= status < 400:
        return Presence.HERE
    return presence
