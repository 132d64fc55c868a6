"""What is known of URL patterns: records by host on disk, what stems brought on all hosts."""

from collections.abc import Callable
from typing import Any

import msgspec

from gossamer.policy.trap_learner import PatternRecord, found
from gossamer.policy.trap_stems import Stems
from gossamer.policy.url_pattern import UrlPattern
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import encode

KEPT = 8_000
"""Records kept in memory at most, some 500 bytes each."""
STEMS = b"trap-stems"
"""Key in `meta` of the stems."""
STEMS_EVERY = 2_000_000
"""Microseconds after which they are written again; a crash loses what was learned since, of other hosts."""

Key = tuple[bytes, str]
"""(hash of a host queue, pattern)"""

_TURNED_AWAY = 1 << 32
"""Counts one URL that was turned away, beside those that were not."""
_PREFIX = "pattern "  # no canonical URL begins so
decode_pattern = msgspec.msgpack.Decoder(PatternRecord).decode


class PatternTable:
    """Pattern records, read on demand, written back with the frontier's batch.

    Invariant: a record that was changed is written by the next `flush`, and stays the only copy until then.
    """

    def __init__(
        self, environment: Environment, hashed: Callable[[str], bytes], now: Callable[[], int]
    ) -> None:
        """`hashed`: a keyed hash of 8 bytes, as `Fingerprints.url`; `now`: crawl-clock microseconds."""
        self._environment = environment
        self._hashed = hashed
        self._now = now
        self._changed: dict[Key, PatternRecord] = {}
        self._found: dict[Key, int] = {}
        self._young: dict[Key, PatternRecord] = {}
        self._old: dict[Key, PatternRecord] = {}
        self._stems_written = now()
        self._stems_changed = False
        self.stems = Stems()
        state = environment.get(Family.META, STEMS)
        if state is not None:
            self.stems.restore(state)

    def get(self, host: bytes, pattern: str) -> PatternRecord:
        """The record of a pattern, or of a stem; a fresh one if nothing is known."""
        key = host, pattern
        record = self._young.get(key)
        if record is None:
            record = self._changed.get(key) or self._old.get(key) or self._read(key)
            self._keep(key, record)
        return record

    def put(self, host: bytes, record: PatternRecord) -> None:
        """Replace the record of its pattern."""
        key = host, record.pattern
        self._changed[key] = record
        self._keep(key, record)

    def count(self, host: bytes, pattern: UrlPattern, *, turned_away: bool) -> None:
        """A new URL of the pattern, and of its stem. Records tell of it from the next `flush` on."""
        for text in (pattern.text, pattern.stem):
            key = host, text
            self._found[key] = self._found.get(key, 0) + (_TURNED_AWAY if turned_away else 1)
            if pattern.stem == pattern.text:
                return

    def learn_stem(self, stem: str, judged_here: int, *, good: bool) -> None:
        """As `Stems.learn`."""
        self.stems.learn(stem, judged_here, good=good)
        self._stems_changed = True

    def forget(self, theirs: Callable[[bytes], bool]) -> None:
        """Read again what is known of some hosts, told by their hashes; what was not flushed is lost."""
        tables: tuple[dict[Key, Any], ...] = (self._changed, self._found, self._young, self._old)
        for table in tables:
            for key in [key for key in table if theirs(key[0])]:
                del table[key]

    def flush(self, batch: Batch) -> None:
        """Put every changed record into `batch`."""
        for (host, pattern), number in self._found.items():
            away, rest = divmod(number, _TURNED_AWAY)
            self.put(host, found(self.get(host, pattern), away + rest, turned_away=away))
        self._found.clear()
        for (host, pattern), record in self._changed.items():
            batch.put(Family.PATTERNS, pattern_key(host, pattern, self._hashed), encode(record))
        self._changed.clear()
        if self._stems_changed and self._now() - self._stems_written >= STEMS_EVERY:
            batch.put(Family.META, STEMS, self.stems.state())
            self._stems_written, self._stems_changed = self._now(), False

    def _read(self, key: Key) -> PatternRecord:
        data = self._environment.get(Family.PATTERNS, pattern_key(*key, self._hashed))
        return decode_pattern(data) if data else PatternRecord(key[1])

    def _keep(self, key: Key, record: PatternRecord) -> None:
        """In two generations: what was asked for since the last change of generation is not forgotten."""
        if len(self._young) >= KEPT // 2:
            self._old, self._young = self._young, {}
        self._young[key] = record


def pattern_key(host: bytes, pattern: str, hashed: Callable[[str], bytes]) -> bytes:
    """Key in `patterns`: all of one host stand together."""
    return host + hashed(_PREFIX + pattern)[:HASH_BYTES]
