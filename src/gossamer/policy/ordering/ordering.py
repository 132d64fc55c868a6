"""Orders the URLs of a host: breadth first, or depth first (W4)."""

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.ports import LevelMeaning

ROBOTS_LEVEL = 0
"""Robots files and the redirects to them come before everything: nothing may be visited without them."""

GRADE_SHIFT = 24
LAST_LEVEL = (1 << GRADE_SHIFT) - 1
"""Policies have 24 bits; the frontier puts a grade in the 4 bits above, so that what is beyond its domain's
budget comes after everything else whatever the policy says."""
LAST_GRADE = 15
"""What nobody linked to stands there, too."""

DEEPEST = 65_535


def is_robots(candidate: Candidate) -> bool:
    """A robots file, or where one redirects to."""
    return candidate.kind is LinkKind.ROBOTS or bool(candidate.origin)


class BreadthFirst:
    """Shallow pages first, equally deep ones by arrival (K3)."""

    name = "bfs"

    def level(self, candidate: Candidate) -> int:
        """Depth plus one, so that level 0 is left to robots files."""
        if is_robots(candidate):
            return ROBOTS_LEVEL
        return min(candidate.depth + 1, DEEPEST)

    def meaning(self, level: int) -> LevelMeaning:
        """The depth that the level stands for."""
        return LevelMeaning("depth", level - 1, level - 1)


class DepthFirst:
    """Deep pages first, equally deep ones by arrival; keeps to one part of a site for longer."""

    name = "dfs"

    def level(self, candidate: Candidate) -> int:
        """The deeper the smaller, from 1 on."""
        if is_robots(candidate):
            return ROBOTS_LEVEL
        return max(DEEPEST - candidate.depth, ROBOTS_LEVEL + 1)

    def meaning(self, level: int) -> LevelMeaning:
        """The depth that the level stands for."""
        return LevelMeaning("depth", DEEPEST - level, DEEPEST - level)
