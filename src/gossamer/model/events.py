"""What observers may hear. Events leave sideways and never come back."""

import msgspec

from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Disposition
from gossamer.model.lease import Lease
from gossamer.model.outcome import Outcome
from gossamer.model.page import Page
from gossamer.model.reasons.reason import Reason


class Visited(msgspec.Struct, frozen=True):
    """A visit was settled and its commit is on disk.

    Attributes:
        at: wall time of the settlement.
        page: what was read, or `None`.
        admitted: how many of its links were new.
        seen_before: the decoded content was met before at another address (W10).
        twin: the first URL with the same payload, if the archive refers to it.
        place: archive file, offset and length of the record, or `None` if none was written.
        record_id: of that record, `urn:uuid:...`, which no other has; empty without one.
    """

    at: float
    lease: Lease
    outcome: Outcome
    disposition: Disposition
    page: Page | None = None
    admitted: int = 0
    seen_before: bool = False
    twin: str = ""
    place: tuple[str, int, int] | None = None
    record_id: str = ""


class Rejected(msgspec.Struct, frozen=True):
    """A candidate was turned away at the door."""

    candidate: Candidate
    reason: Reason


class HostRested(msgspec.Struct, frozen=True):
    """A host must lie still for a reason beyond politeness."""

    queue_key: str
    seconds: float
    reason: Reason


class HostParked(msgspec.Struct, frozen=True):
    """A host failed for too long and is left alone."""

    queue_key: str
    reason: Reason


class Checkpointed(msgspec.Struct, frozen=True):
    """State and archive are safe on disk."""

    name: str
    seconds: float


class ProblemFound(msgspec.Struct, frozen=True):
    """Something of ours or of a plug-in went wrong and the crawl goes on.

    Attributes:
        plugin: code that was handed in raised; told once for each, the others are counted.
    """

    where: str
    detail: str
    plugin: bool = False


class NameAnswered(msgspec.Struct, frozen=True):
    """A name was resolved by the network (not from the cache)."""

    name: str
    addresses: tuple[str, ...]
    ttl: int
    server: str
    seconds: float
    at: float = 0.0  # wall time


class Stopped(msgspec.Struct, frozen=True):
    """The crawl ended, and this is why."""

    reason: Reason


Event = Visited | Rejected | HostRested | HostParked | Checkpointed | ProblemFound | NameAnswered | Stopped
