"""What a worker hands to settlement."""

import msgspec

from gossamer.model.lease import Lease
from gossamer.model.outcome import Outcome
from gossamer.model.page import Page
from gossamer.policy.robots import ALLOW_ALL, RobotsRules


class Visit(msgspec.Struct, frozen=True):
    """One lease with what came of it.

    Attributes:
        page: what the body holds, or `None` where there was none to read.
        robots: for robots files: what the content says.
        elapsed: seconds from the request to the end of the response.
    """

    lease: Lease
    outcome: Outcome
    page: Page | None = None
    robots: RobotsRules = ALLOW_ALL
    elapsed: float = 0.0
