"""The compact name cache: the shared store, the filter of names that do not exist, recent failures."""

import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from gossamer.dns.cache import PlainCache
from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.compact.entry import CHECK_BYTES, Entry, pack_entry, unpack_entry
from gossamer.dns.compact.folder import CacheFolder
from gossamer.dns.compact.key import Keys
from gossamer.dns.compact.negative import NotFoundNames
from gossamer.dns.compact.store import SECRET_BYTES, NameStore, Unusable, close_store, open_store
from gossamer.dns.queries.reply import NXDOMAIN
from gossamer.model.name import Answer, CacheCensus
from gossamer.model.outcome import Fault

DEFERRED = "held as not existing until the filter is emptied"
_DIGEST_BYTES = 16
_ASKED_AGAIN = 1 << 10
"""Names whose keys are remembered, some 250 bytes each: those of hosts in visit are asked for at each visit."""


class KeptName(msgspec.Struct, frozen=True, gc=False):
    """An entry without its name, which only a hash is kept of.

    Attributes:
        key: `gossamer.dns.compact.key` says how it is made.
        tld: top-level domain; empty if the table does not know it.
        addresses: numeric, in the order to try.
        ttl: seconds, whole minutes.
        expires: wall time in seconds; the entry may have expired.
    """

    key: bytes
    tld: str
    addresses: tuple[str, ...]
    ttl: int
    expires: int


class CompactCache:
    """Addresses in a file that all crawler processes share, failures in memory (ports.NameCache, D1-D6).

    An entry counts for a name only if it carries the check over the full name, a hash keyed with a secret
    of the file: whatever collides, by chance or by craft, is a miss. Names that do not exist (NXDOMAIN)
    go into a filter of this process, never saved and emptied as a whole; one that it holds is answered
    `NAME_DEFERRED` unless the store has an entry of it. Other failures are kept for their time to live.
    Where the file cannot be used, `problems` says so and addresses are kept with the failures.
    """

    def __init__(self, folder: Path, config: CompactConfig) -> None:
        """Open the cache in `folder`, which is made if it is not there.

        Raises:
            ConfigError: the folder belongs to somebody else, or others may write into it.
        """
        self._path = folder
        self._keys = Keys()
        self._problems: list[str] = []
        self._store = self._open(config)
        secret = self._store.secret if self._store is not None else os.urandom(SECRET_BYTES)
        self._hash = blake2b(digest_size=_DIGEST_BYTES, key=secret)
        self._marks = lru_cache(maxsize=_ASKED_AGAIN)(self._marks_of)
        self._not_found = NotFoundNames(config.negative_names, config.negative_error, config.negative_seconds)
        self._memory = PlainCache(config.failures)

    def __repr__(self) -> str:
        return f"<CompactCache {self._path}>"

    def _open(self, config: CompactConfig) -> NameStore | None:
        try:
            store = open_store(CacheFolder(self._path), config.max_bytes, self._keys.table.digest)
        except (Unusable, OSError) as error:
            self._problems.append(f"{self._path}: the name cache is not used: {error}")
            return None
        if store.started_anew:
            self._problems.append(f"{self._path}: the name cache was started anew: {store.started_anew}")
        return store

    @property
    def problems(self) -> list[str]:
        """What went wrong with the file so far, a line each."""
        if self._store is not None and self._store.problem:
            return [*self._problems, f"{self._path}: the name cache is not used: {self._store.problem}"]
        return list(self._problems)

    # The port …

    def get(self, name: str, now: float) -> Answer | None:
        """The answer, if one is kept that has not expired at wall time `now`."""
        entry = self._entry(name)
        if entry is not None and now < entry.expires and entry.credible(now):
            return _answer(name, entry, now)
        failure = self._memory.get(name, now)
        if failure is not None:
            return failure
        # An entry, though expired, is younger than what the filter knows: the name has existed since.
        if entry is None and self._not_found:
            wait = self._not_found.held(_number(self._digest(name)), now)
            if wait > 0:
                return Answer(name, (), wait, Fault.NAME_DEFERRED, DEFERRED, asked=now)
        return None

    def stale(self, name: str, now: float) -> Answer | None:
        """Addresses that have expired at wall time `now` but have not been evicted yet."""
        entry = self._entry(name)
        if entry is not None and entry.expires <= now:
            return _answer(name, entry, now)
        return self._memory.stale(name, now)

    def put(self, answer: Answer, now: float) -> None:
        """Keep the answer until `now + answer.ttl`; of a name that does not exist, until the emptying."""
        if answer.fault is None and answer.addresses:
            self._keep(answer, now)
        elif answer.fault is Fault.NAME_NOT_FOUND:
            self._forget(answer.name)
            exact = answer.detail == NXDOMAIN
            if not (exact and self._not_found.add(_number(self._digest(answer.name)), now)):
                self._memory.put(answer, now)
        elif answer.fault is Fault.NAME_FAILED:
            self._memory.put(answer, now)

    def census(self) -> CacheCensus:
        """What is held now, the file and this process's failures; walks over the failures."""
        memory = self._memory.census()
        filtered = self._not_found.room
        return CacheCensus(
            entries=memory.entries + (len(self._store) if self._store is not None else 0),
            bytes=memory.bytes + filtered + (self._store.room if self._store is not None else 0),
            negative=memory.negative + len(self._not_found),
            negative_bytes=filtered,
        )

    def close(self) -> None:
        """Let go of the file and of the filter; nothing may be asked afterwards."""
        if self._store is not None:
            close_store(self._store)
            self._store = None
        self._not_found.clear()
        self._memory.close()

    # By prefix (D3) …

    def under(self, domain: str = "") -> Iterator[KeptName]:
        """Entries of names under `domain`, itself included, expired ones too.

        Names are hashed: entries come without them, in the order of their keys. `Keys.range` says what
        `domain` may be, and that two domains of one range cannot be told apart.
        """
        if self._store is None:
            return
        for key, value in self._store.entries(self._keys.range(domain)):
            entry = unpack_entry(value)
            if entry is not None:
                yield KeptName(key, self._keys.tld(key), entry.addresses, entry.ttl, entry.expires)

    def count(self, domain: str = "") -> int:
        """Number of names under `domain`, as `under` gives them."""
        if self._store is None:
            return 0
        return sum(1 for _ in self._store.entries(self._keys.range(domain))) if domain else len(self._store)

    def counts_by_tld(self) -> dict[str, int]:
        """Number of names under each top-level domain; those without a code stand under the empty name."""
        if self._store is None:
            return {}
        return Counter(self._keys.tld(key) for key, _ in self._store.entries(self._keys.range("")))

    # Parts …

    def _digest(self, name: str) -> bytes:
        keyed = self._hash.copy()
        keyed.update(name.encode())
        return keyed.digest()

    def _entry(self, name: str) -> Entry | None:
        """The name's own entry, never that of another with the same key."""
        if self._store is None:
            return None
        key, check = self._marks(name)
        value = self._store.get(key)
        entry = unpack_entry(value) if value is not None else None
        return entry if entry is not None and entry.check == check else None

    def _marks_of(self, name: str) -> tuple[bytes, bytes]:
        """Under which key a name stands, and by which check its entry is known."""
        return self._keys.key(name), self._digest(name)[:CHECK_BYTES]

    def _keep(self, answer: Answer, now: float) -> None:
        if answer.ttl <= 0:
            self._forget(answer.name)
        elif self._stored(answer, now):
            self._memory.keep(answer, now, 0)
        else:
            self._memory.put(answer, now)

    def _stored(self, answer: Answer, now: float) -> bool:
        if self._store is None:
            return False
        key, check = self._marks(answer.name)
        value = pack_entry(now, answer.ttl, check, answer.addresses, answer.aliases)
        return value is not None and self._store.put(key, value, now)

    def _forget(self, name: str) -> None:
        self._memory.keep(Answer(name), 0, 0)
        if self._store is not None and self._entry(name) is not None:
            self._store.delete(self._marks(name)[0])


def _answer(name: str, entry: Entry, now: float) -> Answer:
    ttl = entry.ttl or max(0.0, entry.expires - now)
    return Answer(name, entry.addresses, ttl, asked=min(now, entry.expires - ttl), aliases=entry.aliases)


def _number(digest: bytes) -> int:
    return int.from_bytes(digest, "little", signed=True)
