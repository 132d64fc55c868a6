"""What a worker hands to settlement."""

import msgspec

from gossamer.model.lease import Lease
from gossamer.model.outcome import Outcome
from gossamer.model.page import Page


class Visit(msgspec.Struct, frozen=True):
    """One lease with what came of it.

    Attributes:
        page: what the body holds, or `None` where there was none to read.
        robots_body: for robots files: the decoded content.
        elapsed: seconds from the request to the end of the response.
    """

    lease: Lease
    outcome: Outcome
    page: Page | None = None
    robots_body: bytes = b""
    elapsed: float = 0.0
