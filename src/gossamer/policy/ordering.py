"""Orders the URLs of a host: breadth first, or depth first (W4)."""

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind

ROBOTS_LEVEL = 0
"""Robots files and the redirects to them come before everything: nothing may be visited without them."""

DEEPEST_LEVEL = 65_535


def _is_robots(candidate: Candidate) -> bool:
    return candidate.kind is LinkKind.ROBOTS or bool(candidate.origin)


class BreadthFirst:
    """Shallow pages first, equally deep ones by arrival (K3)."""

    name = "bfs"

    def level(self, candidate: Candidate) -> int:
        """Depth plus one, so that level 0 is left to robots files."""
        if _is_robots(candidate):
            return ROBOTS_LEVEL
        return min(candidate.depth + 1, DEEPEST_LEVEL)


class DepthFirst:
    """Deep pages first, equally deep ones by arrival; keeps to one part of a site for longer."""

    name = "dfs"

    def level(self, candidate: Candidate) -> int:
        """The deeper the smaller, from 1 on."""
        if _is_robots(candidate):
            return ROBOTS_LEVEL
        return max(DEEPEST_LEVEL - candidate.depth, ROBOTS_LEVEL + 1)
