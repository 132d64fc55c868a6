"""What one visit adds to its host's account."""

import msgspec

from gossamer.state.records import HostRecord, Octets


class Tally(msgspec.Struct, frozen=True):
    """What one visit adds to its host's account.

    `host_failed` is `None` where the visit says nothing about the host (no visit was made); `address` is the one that
    answered, empty if none did, or a proxy; `certificate` is what it showed (`Exchange.certificate`).
    """

    rest: float = 0.0
    pages: int = 0
    bytes: int = 0
    host_failed: bool | None = None
    address: str = ""
    certificate: Octets = b""

    def enter(self, record: HostRecord, now: int) -> None:
        """Add it to the account; the rest is counted from `now`, microseconds."""
        record.pages += self.pages
        record.bytes += self.bytes
        if self.host_failed is None:
            return
        record.visits += 1
        record.last_visit = now
        record.rest = int(self.rest * 1e6)
        record.due = max(record.due, now + record.rest)
        if not self.host_failed:
            record.failures = 0
            if record.due == now + record.rest:  # else it rests on for what was the reason
                record.reason = None
            return
        if not record.failures:
            record.failing_since = now / 1e6
        record.failures += 1
