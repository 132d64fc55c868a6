"""The order in which hosts on disk fall due, so that a million hosts need no scan."""

from collections.abc import Container, Iterator

from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import split_wake, wake_key
from gossamer.state.records import HostRecord

_NEVER = 1 << 63


class WakeIndex:
    """One `wake` entry for each host with work, at a time not later than it falls due.

    Invariant: every entry before the cursor belongs to a host that is being served now. So the next
    scan starts at the cursor and never steps over the deleted entries of the past.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._cursor = b""
        self._scanned_due = 0
        self._set_due = _NEVER
        self._sharp = False  # `next_due` is no bound but the moment itself

    @property
    def next_due(self) -> int:
        """No entry of a host that is not being served falls due before this."""
        return min(self._scanned_due, self._set_due)

    def set(self, key: bytes, record: HostRecord, due: int, batch: Batch) -> None:
        """Wake the host at `due`, instead of when its entry says now."""
        due = max(due, 1)  # 0 stands for "no entry"
        self._sharp = False
        if record.wake != due:
            if record.wake:
                batch.delete(Family.WAKE, wake_key(record.wake, key))
            record.wake = due
            batch.put(Family.WAKE, wake_key(due, key), b"")
        self._cursor = min(self._cursor, wake_key(due, key))
        self._set_due = min(self._set_due, due)

    def clear(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """The host has no work, or is left alone."""
        self._sharp = False
        if record.wake:
            batch.delete(Family.WAKE, wake_key(record.wake, key))
            record.wake = 0

    def due(self, now: int, served: Container[bytes]) -> Iterator[bytes]:
        """Hosts that are not being served and may fall due by `now`; consume it no further than needed.

        The caller serves each host it gets, or sets a later time for it, before it asks for the next.
        """
        self._set_due = _NEVER  # what was set until now, the scan will meet
        for entry, _ in self._environment.scan(Family.WAKE, self._cursor):
            due, key = split_wake(entry)
            self._scanned_due = due
            if due > now:
                # The cursor stays: what was set during this scan may stand before this entry.
                return
            self._cursor = entry
            if key not in served:
                yield key
        self._scanned_due = _NEVER

    def sharpen(self, served: Container[bytes]) -> None:
        """Make `next_due` the moment itself: entries that it was reckoned from may be gone.

        Steps over entries of hosts in `served`, so these should be few; nothing may be left to commit.
        """
        if self._sharp:
            return
        self._sharp, self._set_due, self._scanned_due = True, _NEVER, _NEVER
        for entry, _ in self._environment.scan(Family.WAKE, self._cursor):
            due, key = split_wake(entry)
            if key not in served:
                self._scanned_due = due
                return
