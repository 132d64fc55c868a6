"""The lease: one URL on loan to one worker."""

import msgspec

from gossamer.model.candidate import Candidate


class Validators(msgspec.Struct, frozen=True, gc=False):
    """What a conditional request sends back, byte for byte as the server gave it (RFC 9110 13.1)."""

    etag: str = ""
    last_modified: str = ""


class Lease(msgspec.Struct, frozen=True):
    """One candidate on loan. Holding it is the right to talk to its host.

    Invariant: a host has no more leases out than `visits_per_host` allows; each lease is
    settled exactly once.

    Attributes:
        candidate: what to visit.
        queue_key: name of the queue it waits in (the host name by default).
        ticket: the queue entry's key, which settlement removes.
        validators: of the last visit, if the URL was fetched before.
        page: under which the visits of its document are remembered; empty if that was not looked up.
    """

    candidate: Candidate
    queue_key: str
    ticket: bytes
    validators: Validators | None = None
    page: bytes = b""

    @property
    def is_conditional(self) -> bool:
        """Whether only a change is asked for."""
        return self.validators is not None and bool(self.validators.etag or self.validators.last_modified)
