"""The host records: read on demand, changed in memory, written back with the next batch."""

from collections.abc import Iterator

from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import HostRecord, decode_host, encode


class HostTable:
    """Host records by host hash.

    Invariant: a record that was handed out for change is written by the next `flush`, and stays the only
    copy until then; records of hosts that are being served stay the only copy until `release`.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._held: dict[bytes, HostRecord] = {}
        self._changed: dict[bytes, HostRecord] = {}
        # What was read last is nearly always asked for again, to be changed; as it is there, or will be.
        self._last_key = b""
        self._last: HostRecord | None = None
        self.made = 0
        """Records that were new."""

    def get(self, key: bytes) -> HostRecord | None:
        """The record for reading, or `None`."""
        record = self._held.get(key) or self._changed.get(key)
        if record is None:
            if key != self._last_key:
                data = self._environment.get(Family.HOSTS, key)
                self._last_key, self._last = key, decode_host(data) if data else None
            record = self._last
        return record

    def change(self, key: bytes, name: str) -> HostRecord:
        """The record for changing; made, with `name`, if it is new."""
        record = self.get(key)
        if record is None:
            record = self._last = HostRecord(name)
            self.made += 1
        self._changed[key] = record
        return record

    def put(self, key: bytes, record: HostRecord) -> None:
        """Take in a record that another frontier has made."""
        self._changed[key] = record
        self._last_key = b""

    def forget(self, key: bytes) -> None:
        """The host is given away, its record is deleted in the open batch."""
        self._held.pop(key, None)
        self._changed.pop(key, None)
        self._last_key = b""

    def hold(self, key: bytes, record: HostRecord) -> None:
        """Keep the record in memory while its host is being served."""
        self._held[key] = record

    def release(self, key: bytes) -> None:
        """Its host is no longer served."""
        self._held.pop(key, None)
        if key == self._last_key:
            self._last_key = b""

    def flush(self, batch: Batch) -> None:
        """Put every changed record into `batch`."""
        for key, record in self._changed.items():
            batch.put(Family.HOSTS, key, encode(record))
        self._changed.clear()

    def scan(self) -> Iterator[tuple[bytes, HostRecord]]:
        """Every committed record, in key order."""
        for key, data in self._environment.scan(Family.HOSTS):
            yield key, self._held.get(key) or decode_host(data)
