"""What the gates say of a host whose turn it is."""

from enum import Enum


class Turn(Enum):
    """What becomes of the first entry of a host whose turn it is."""

    GO = "it may be lent"
    NEXT = "another entry is the first now"
    WAIT = "the host has nothing to lend for now"
