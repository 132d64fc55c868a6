"""Decides what to do about a process that takes more memory than before."""

from enum import StrEnum

import msgspec

from gossamer.daemon.allocation.claims import MIB

NEAR = 0.92
"""Share of what is held from which more is asked for."""
STEP = 32 * MIB
STEPS = 8
"""More is asked for in steps of an eighth of what is held, or of 32 MiB."""
CALM = 0.5
"""Share of what is held below which a look at a process need not come soon."""
PATIENCE = 1.25
"""Times the claim from which the process is killed: it grows faster than it stops."""


class Advice(StrEnum):
    """What to do about a process that grows."""

    NOTHING = "nothing"
    ASK = "ask"
    """Ask for more; go on meanwhile only if it is granted."""
    END = "end"
    """Stop it and let it go on in a new process, which begins small."""
    KILL = "kill"


class Look(msgspec.Struct, frozen=True):
    """What was found.

    Attributes:
        advice: what to do.
        amount: bytes to ask for.
    """

    advice: Advice
    amount: int = 0


def is_calm(resident: int, held: int) -> bool:
    """Whether a process takes so little that it can be looked at less often."""
    return resident < held * CALM


def look(resident: int, held: int, claim: int, *, waits: bool) -> Look:
    """Compare what a process takes with what it was granted.

    Args:
        resident: bytes that it takes.
        held: bytes that it was granted.
        claim: bytes that it may ever hold.
        waits: it has asked for more and waits.
    """
    if resident > claim * PATIENCE:
        return Look(Advice.KILL)
    if resident > claim:
        return Look(Advice.END)
    if waits:
        return Look(Advice.END if resident > held * PATIENCE else Advice.NOTHING)
    if resident > held * NEAR and held < claim:
        enough = max(STEP, held // STEPS, int(resident / NEAR) - held)
        return Look(Advice.ASK, min(enough, claim - held))
    return Look(Advice.NOTHING)
