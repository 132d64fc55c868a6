"""Where the engine hands over what belongs to another agent of a cluster, or asks another one."""

from typing import Any, Protocol

from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate
from gossamer.state.records import SharedDigestRecord


class Elsewhere(Protocol):
    """The other agents, as seen from inside a crawl; what they take leaves with the open batch."""

    def takes(self, key: bytes, candidate: Candidate, gift: Any) -> bool:
        """Whether a host is another's, who then hears of `candidate`.

        `key`: the fingerprint of its URL, of a robots file that of its host; both begin with the host's hash.
        """

    def takes_robots(self, host: bytes, origin: str, entry: RobotsEntry) -> bool:
        """Whether the robots file of `origin` is for another to keep, who hears what it says."""


class DigestsElsewhere(Protocol):
    """What all agents know of content together. Keys are those of the family `digests`."""

    async def look_up(self, key: bytes) -> SharedDigestRecord | None:
        """Where another agent met it, in a capture that cannot be lost; `None` if none says so in time."""

    def learnt(self, key: bytes, record: SharedDigestRecord) -> None:
        """A capture of ours with content that is new here is committed."""
