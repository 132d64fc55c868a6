"""Where the engine hands over what belongs to another agent of a cluster."""

from typing import Any, Protocol

from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate


class Elsewhere(Protocol):
    """The other agents, as seen from inside a crawl; what they take leaves with the open batch."""

    def takes(self, key: bytes, candidate: Candidate, gift: Any) -> bool:
        """Whether a host is another's, who then hears of `candidate`.

        `key`: the fingerprint of its URL, of a robots file that of its host; both begin with the host's hash.
        """

    def takes_robots(self, host: bytes, origin: str, entry: RobotsEntry) -> bool:
        """Whether the robots file of `origin` is for another to keep, who hears what it says."""
