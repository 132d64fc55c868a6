"""Where the engine hands over what belongs to another agent of a cluster."""

from typing import Any, Protocol

from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate


class Elsewhere(Protocol):
    """The other agents, as seen from inside a crawl; what they take leaves with the open batch."""

    def takes(self, host: bytes, candidate: Candidate, gift: Any) -> bool:
        """Whether a host, by its hash (more may follow), is another's; it then hears of `candidate`."""

    def takes_robots(self, host: bytes, origin: str, entry: RobotsEntry) -> bool:
        """Whether the robots file of `origin` is for another to keep, who hears what it says."""
