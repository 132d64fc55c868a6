"""What becomes of a URL after a visit: `Disposition = Done | Retry | Dropped | Parked`."""

from enum import StrEnum

import msgspec

from gossamer.model.reasons.reason import Reason


class Blame(StrEnum):
    """Whether the URL or its whole host must wait."""

    URL = "url"
    HOST = "host"


class Again(msgspec.Struct, frozen=True):
    """It comes again when that is worth a visit.

    Attributes:
        history: what is kept of it, packed (`policy.revisit.history`): its class, and since when it waits.
        page: its fingerprint, 16 bytes, the key in the family `pages`.
        changed: the visit found another text than the one before; `None` if it could not tell.
    """

    history: bytes
    page: bytes
    changed: bool | None = None


class Done(msgspec.Struct, frozen=True):
    """The visit ended the URL's journey, well or with a definite status.

    Attributes:
        archive: whether the response is kept.
        again: seconds from now after which it is due again, or how it comes again; `None`: never.
    """

    archive: bool = True
    again: float | Again | None = None


class Retry(msgspec.Struct, frozen=True):
    """Ask again.

    Attributes:
        wait: seconds from now.
        blame: who waits. With `HOST` the attempt does not count against the URL.
        reason: for the log and for `why`.
    """

    wait: float
    blame: Blame
    reason: Reason


class Dropped(msgspec.Struct, frozen=True):
    """Given up. `archive` tells whether the last response is kept, `again` is as in `Done`."""

    reason: Reason
    archive: bool = False
    again: float | Again | None = None


class Parked(msgspec.Struct, frozen=True):
    """Kept, but not tried again in this crawl unless the operator says so.

    Attributes:
        reason: for the log and for `why`.
        blame: who is left alone. With `HOST` the URL stays first in line for when its host is revived; with
            `URL` it alone waits until `resume` takes it up.
    """

    reason: Reason
    blame: Blame = Blame.URL


Disposition = Done | Retry | Dropped | Parked


class PageState(StrEnum):
    """What became of a URL."""

    DONE = "done"
    RETRY = "retry"
    DROPPED = "dropped"
    PARKED = "parked"
    REJECTED = "rejected"


SETTLED = frozenset({PageState.DONE, PageState.DROPPED})
"""States of what was visited to the end."""


def page_state(disposition: Disposition) -> PageState:
    """What a URL is in the state after a visit."""
    match disposition:
        case Done():
            return PageState.DONE
        case Retry():
            return PageState.RETRY
        case Dropped():
            return PageState.DROPPED
        case Parked():
            return PageState.PARKED
