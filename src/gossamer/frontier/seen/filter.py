"""A Bloom filter in memory in front of the seen set on disk: most of what is new needs no look-up."""

import contextlib
import struct
from collections.abc import Iterable
from functools import partial
from itertools import islice
from pathlib import Path

from rbloom import Bloom

from gossamer.frontier.seen import bloom_file
from gossamer.frontier.seen.bloom_size import bloom_filter
from gossamer.frontier.seen.large_pages import on_large_pages
from gossamer.state.environment import Environment, Family
from gossamer.state.records import COUNTERS, Counters, decode

HASHES = 5
"""Bits that each URL sets: of 8 bits of memory for each URL 2.2% of the new URLs are looked up in vain."""
READ_AT_ONCE = 2_000
"""Entries of the seen set that are read with each commit, in some 2 ms, while the filter is made anew."""
TABLE = "seen"
"""What the filter's file is named after."""


class SeenFilter:
    """Knows of a fingerprint for certain that it was never admitted, or knows nothing.

    Invariant: once it is complete, the hash of each fingerprint in the seen set is in it. What is in it
    beyond (batches that failed, hosts that went to another agent) costs a look-up, never a URL.

    It is saved when the crawl ends in order, under the last arrival number, and a start takes it only if
    nothing was admitted since; the file goes at each start, of sessions without a filter, too. After a kill
    it is made anew, a piece with each commit, and until that is done every fingerprint is looked up.
    """

    def __init__(self, environment: Environment, size: int) -> None:
        """`size` in bytes. It fills however many URLs come: then it rules out less."""
        self._environment = environment
        self._bits = size * 8
        self._after: bytes | None = b""
        """Entries of the seen set up to this key are in it; `None`: all are."""
        if (found := self._saved()) is not None:
            self._bloom, self._after = found, None
        else:
            self._bloom = on_large_pages(partial(bloom_filter, self._bits, HASHES), size)
            self.read_on()

    def rules_out(self, fingerprint: bytes) -> bool:
        """Whether it was certainly never added."""
        return self._after is None and _url_hash(fingerprint)[0] not in self._bloom

    def update(self, fingerprints: Iterable[bytes]) -> None:
        """These are seen from now on."""
        self._bloom.update([_url_hash(fingerprint)[0] for fingerprint in fingerprints])

    def read_on(self) -> None:
        """Between two commits: take in some more of the seen set, if something is missing."""
        if self._after is None:
            return
        entries = self._environment.scan(Family.SEEN, self._after + b"\0")
        keys = [key for key, _ in islice(entries, READ_AT_ONCE)]
        self.update(keys)
        self._after = keys[-1] if len(keys) == READ_AT_ONCE else None

    def save(self) -> None:
        """Let the next start go on from here; a disk that refuses only makes it read the seen set."""
        if self._after is None:
            with contextlib.suppress(OSError):
                bloom_file.save(self._bloom, self._stamp(), self._folder, TABLE)

    @property
    def _folder(self) -> Path:
        return self._environment.path.parent

    def _stamp(self) -> bloom_file.Saved:
        kept = self._environment.get(Family.META, COUNTERS)
        counters = decode(kept, Counters) if kept else Counters()
        return bloom_file.Saved(counters.sequence, counters.admitted, 0, self._bits, HASHES)

    def _saved(self) -> Bloom | None:
        load = partial(bloom_file.load, self._folder, TABLE, self._bits, HASHES)
        found = on_large_pages(load, self._bits // 8, filled=True)
        if found is None:
            return None
        bloom, saved = found
        stamp = self._stamp()
        return bloom if (saved.last, saved.urls) == (stamp.last, stamp.urls) else None


def forget_saved(environment: Environment) -> None:
    """Remove the file: a state that goes back to a checkpoint comes to the same arrival number again."""
    for older in bloom_file.files(environment.path.parent, TABLE):
        older.unlink()


_url_hash = struct.Struct("<8xQ").unpack
"""The hash of the URL alone, as in the Bloom table."""
