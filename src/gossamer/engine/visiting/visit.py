"""What a worker hands to settlement."""

import msgspec

from gossamer.model.lease import Lease
from gossamer.model.outcome import Fetched, Outcome
from gossamer.model.page import Page
from gossamer.policy.branches.novelty import Said
from gossamer.policy.revisit.validity import CONDITION_REFUSED
from gossamer.policy.robots.file import ALLOW_ALL, RobotsRules
from gossamer.state.records import SharedDigestRecord


class Compared(msgspec.Struct, frozen=True):
    """What a page that was visited before says now.

    Attributes:
        changed: it says something else.
        text: what is kept of its text (`engine.settlement.changed`).
        volatile: what is known since of the site, packed; `None`: nothing new.
    """

    changed: bool
    text: bytes
    volatile: bytes | None = None


class Visit(msgspec.Struct, frozen=True):
    """One lease with what came of it.

    Attributes:
        page: what the body holds, or `None` where there was none to read.
        said: what the page says, if that was asked for.
        robots: for robots files: what the content says; `None` if it cannot be made out.
        elapsed: seconds from the request to the end of the response.
        met: in a cluster, where another agent has met the same content.
        compared: with the last visit, if it is to be.
    """

    lease: Lease
    outcome: Outcome
    page: Page | None = None
    said: Said | None = None
    robots: RobotsRules | None = ALLOW_ALL
    elapsed: float = 0.0
    met: SharedDigestRecord | None = None
    compared: Compared | None = None

    @property
    def is_condition_refused(self) -> bool:
        """The server has answered to our condition, and not said what is there: the next visit is without."""
        return (
            self.lease.is_conditional
            and isinstance(self.outcome, Fetched)
            and self.outcome.exchange.status in CONDITION_REFUSED
        )
