"""What becomes of a URL after a visit: `Disposition = Done | Retry | Dropped | Parked`."""

from enum import StrEnum

import msgspec


class Blame(StrEnum):
    """Whether the URL or its whole host must wait."""

    URL = "url"
    HOST = "host"


class Done(msgspec.Struct, frozen=True):
    """The visit ended the URL's journey, well or with a definite status.

    Attributes:
        archive: whether the response is kept.
        again: seconds from now after which it is due again; `None`: never.
    """

    archive: bool = True
    again: float | None = None


class Retry(msgspec.Struct, frozen=True):
    """Ask again.

    Attributes:
        wait: seconds from now.
        blame: who waits. With `HOST` the attempt does not count against the URL.
        reason: for the log and for `why`.
    """

    wait: float
    blame: Blame
    reason: str


class Dropped(msgspec.Struct, frozen=True):
    """Given up. `archive` tells whether the last response is kept, `again` is as in `Done`."""

    reason: str
    archive: bool = False
    again: float | None = None


class Parked(msgspec.Struct, frozen=True):
    """Kept, but not tried again in this crawl unless the operator says so."""

    reason: str


Disposition = Done | Retry | Dropped | Parked
