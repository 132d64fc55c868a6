"""What is known of each origin's robots file: kept on disk, with the origins in use in memory."""

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from gossamer.policy.robots.file import RobotsRules
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import RobotsRecord, decode_robots, encode

_RULES = msgspec.msgpack.Decoder(RobotsRules).decode


class RobotsEntry(msgspec.Struct, frozen=True):
    """The record of one origin, with its rules ready for use (`None` unless `record.state` is `rules`)."""

    record: RobotsRecord
    rules: RobotsRules | None = None


class RobotsTable:
    """Robots records by host queue and origin (RFC 9309: rules hold for scheme, host and port)."""

    def __init__(self, environment: Environment, cache_bytes: int, now: Callable[[], int]) -> None:
        self._environment = environment
        self._limit = cache_bytes
        self._used = 0
        self._cache: OrderedDict[bytes, RobotsEntry | None] = OrderedDict()
        self._now = now

    def get(self, host: bytes, origin: str) -> RobotsEntry | None:
        """What is known of `origin`; `None` if it was never asked, or what was learned has expired.

        A hold that has ended counts as expired: it is time to ask again. Its count of failures is kept
        for the next `put`.
        """
        entry = self._load(host, origin)
        if entry is None or entry.record.until <= self._now():
            return None
        return entry

    def latest(self, host: bytes, origin: str) -> RobotsEntry | None:
        """What was last learned of `origin`, expired or not."""
        return self._load(host, origin)

    def put(self, host: bytes, origin: str, entry: RobotsEntry, batch: Batch) -> None:
        """Replace what is known of `origin`, within `batch`."""
        key = host + origin.encode()
        batch.put(Family.ROBOTS, key, encode(entry.record))
        self._keep(key, entry)

    def forget(self, theirs: Callable[[bytes], bool]) -> None:
        """Read again what is known of some hosts, told by keys that begin with their hashes."""
        for key in [key for key in self._cache if theirs(key)]:
            self._used -= _cost(self._cache.pop(key))

    def _load(self, host: bytes, origin: str) -> RobotsEntry | None:
        key = host + origin.encode()
        if key in self._cache:
            return self._cache[key]
        data = self._environment.get(Family.ROBOTS, key)
        return self._keep(key, robots_entry(decode_robots(data)) if data else None)

    def _keep(self, key: bytes, entry: RobotsEntry | None) -> RobotsEntry | None:
        self._used += _cost(entry)
        if key in self._cache:
            self._used -= _cost(self._cache.pop(key))
        while self._cache and self._used > self._limit:
            # The oldest goes first: what is still in use comes back from disk.
            self._used -= _cost(self._cache.popitem(last=False)[1])
        self._cache[key] = entry
        return entry


def _cost(entry: RobotsEntry | None) -> int:
    """Bytes of memory, roughly: rules ready for use take several times their packed size."""
    return 500 + (8 * len(entry.record.rules) if entry else 0)


def robots_entry(record: RobotsRecord) -> RobotsEntry:
    """The record with its rules ready for use."""
    return RobotsEntry(record, _RULES(record.rules) if record.state == "rules" else None)
