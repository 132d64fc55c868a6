"""Where the engine hands over what belongs to another agent of a cluster, or asks another one."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import msgspec

from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate
from gossamer.policy.revisit.agreement import Told
from gossamer.state.records import SharedDigestRecord


class OtherAgents(Protocol):
    """The other agents, as seen from inside a crawl; what they take leaves with the open batch."""

    def takes(self, key: bytes, candidate: Candidate, gift: Any) -> bool:
        """Whether a host is another's, who then hears of `candidate`.

        `key`: the fingerprint of its URL, of a robots file that of its host; both begin with the host's hash.
        """

    def takes_robots(self, host: bytes, origin: str, entry: RobotsEntry) -> bool:
        """Whether the robots file of `origin` is for another to keep, who hears what it says."""


class OtherAgentsDigests(Protocol):
    """What all agents know of content together. Keys are those of the family `digests`."""

    async def look_up(self, key: bytes) -> SharedDigestRecord | None:
        """Where another agent met it, in a capture that cannot be lost; `None` if none says so in time."""

    def learnt(self, key: bytes, record: SharedDigestRecord) -> None:
        """A capture of ours with content that is new here is committed."""


class OtherAgentsPaces(Protocol):
    """What the other agents go by where pages are visited again (`policy.revisit.agreement`)."""

    def tell(self, told: Told) -> None:
        """What we go by now; it is on its way to the others."""

    def heard(self, own: Told) -> Sequence[Told]:
        """What each agent that there is now has told last, as it counts: `own` first, then the others.

        Who has told nothing yet goes by `own`.
        """


class Peers(msgspec.Struct, frozen=True):
    """The other agents of a cluster, as each of the engine's parts asks them; a crawl alone has none.

    Attributes:
        elsewhere: takes what is theirs at the door in.
        digests: tells of content that they have met, if they share that.
        paces: tells what they go by in visits again.
        may_lend: whether one more lease may go out beside so many; whoever forbids it has `Dispatch`
            pump when that changes.
    """

    other_agents: OtherAgents | None = None
    digests: OtherAgentsDigests | None = None
    paces: OtherAgentsPaces | None = None
    may_lend: Callable[[int], bool] = lambda _: True
