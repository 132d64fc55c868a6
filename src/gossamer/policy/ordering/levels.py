"""Turns an importance into a level of the queue."""

from bisect import bisect_right

from gossamer.model.candidate import Candidate
from gossamer.policy.ordering.ordering import LAST_LEVEL, ROBOTS_LEVEL, is_robots
from gossamer.ports import LevelMeaning

STEPS = 4
"""Levels for each doubling of the importance. Coarse on purpose: each change of level moves a queue entry."""

FIRST_STEP = 512
"""The most important that is told apart: 2^128 times as important as step 0."""

_DEPTH_BITS = 14
_DEEPEST = (1 << _DEPTH_BITS) - 1
_ROOTS = (77_936, 92_682, 110_218)
"""2^16 times 2^(1/4), 2^(2/4), 2^(3/4), rounded up."""

assert ROBOTS_LEVEL + 1 + (FIRST_STEP << _DEPTH_BITS) + _DEEPEST <= LAST_LEVEL


def steps_of(amount: int) -> int:
    """`STEPS * log2(amount)` rounded down, in whole numbers, so the same on every machine; 0 for 0 and 1."""
    if amount < 2:
        return 0
    doublings = amount.bit_length() - 1
    mantissa = (amount << 16) >> doublings
    return doublings * STEPS + bisect_right(_ROOTS, mantissa)


def step_meaning(level: int) -> LevelMeaning:
    """The step of importance, and the depth, that `level_at` put into a level; not for robots files."""
    behind = level - ROBOTS_LEVEL - 1
    return LevelMeaning("step", FIRST_STEP - (behind >> _DEPTH_BITS), behind & _DEEPEST)


def level_at(step: int, candidate: Candidate) -> int:
    """The level of a step of importance; among the equally important the shallow come first.

    Steps above `FIRST_STEP` count as it, negative ones as 0. Robots files precede all.
    """
    if is_robots(candidate):
        return ROBOTS_LEVEL
    behind = FIRST_STEP - min(max(step, 0), FIRST_STEP)
    return ROBOTS_LEVEL + 1 + (behind << _DEPTH_BITS) + min(candidate.depth, _DEEPEST)
