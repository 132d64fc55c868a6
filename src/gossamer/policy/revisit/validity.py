"""Whether a server's 304 is to be believed: some say so to everything."""

import enum

_EVERY = 10
CONDITION_REFUSED = frozenset({412, 416})
"""Answers to a request for a change only that no server should give (RFC 9110, 13.2.2; 14.4: we ask for no range).
They say nothing of the page: it is asked for once more without condition."""


class Validity(enum.IntEnum):
    """What is known of the validators of a host."""

    UNKNOWN = 0
    PROVEN = 1
    """A text has changed, and there was another validator with it."""
    FALSE = 2
    """A text has changed behind the same validator."""


def is_asked(validity: int, visits: int) -> bool:
    """Whether a visit is made without condition, to see for ourselves.

    Args:
        validity: of the host.
        visits: of the page before, each tenth of which is not believed without proof.
    """
    if validity == Validity.PROVEN:
        return False
    return validity == Validity.FALSE or visits % _EVERY == _EVERY - 1


def after_change(validity: int, *, same_validators: bool) -> Validity:
    """What is known after a visit that found another text.

    Args:
        validity: before it.
        same_validators: the server gave those of the last visit, and it had given some.
    """
    if same_validators:
        return Validity.FALSE
    return Validity.PROVEN if validity == Validity.UNKNOWN else Validity(validity)
