"""A bounded cache of answers in the memory of one process."""

import sys
from collections import OrderedDict

import msgspec

from gossamer.model.name import Answer, CacheCensus


class _Kept(msgspec.Struct, frozen=True, gc=False):
    answer: Answer
    since: float
    until: float


class PlainCache:
    """Keeps answers for their time to live, the least recently used leaving first (ports.NameCache, W12).

    Expired addresses stay until they are pushed out, for the day when no name server answers (RFC 8767).

    Invariant: at most `entries` answers are kept, and the dictionary's order is the order of last use.
    """

    def __init__(self, entries: int) -> None:
        self._entries = entries
        # A plain dict would also keep the order, but finding its first key passes over every deleted one.
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def __repr__(self) -> str:
        return f"<PlainCache {len(self._kept)} of {self._entries}>"

    def get(self, name: str, now: float) -> Answer | None:
        """The answer, if one is kept that has not expired at wall time `now`.

        A wall clock that went back behind the time of keeping makes an answer expire: how old it is
        can no longer be told.
        """
        kept = self._kept.get(name)
        if kept is None:
            return None
        if kept.since <= now < kept.until:
            self._kept.move_to_end(name)
            return kept.answer
        if now < kept.since or not kept.answer.addresses:
            del self._kept[name]
        return None

    def stale(self, name: str, now: float) -> Answer | None:
        """Addresses that have expired at wall time `now` but have not been pushed out yet."""
        kept = self._kept.get(name)
        if kept is None or now < kept.until or not kept.answer.addresses:
            return None
        return kept.answer

    def put(self, answer: Answer, now: float) -> None:
        """Keep the answer until `now + answer.ttl`."""
        self.keep(answer, now, answer.ttl)

    def keep(self, answer: Answer, now: float, seconds: float) -> None:
        """Keep the answer until `now + seconds`, whatever its time to live says."""
        self._kept.pop(answer.name, None)
        if seconds <= 0 or self._entries == 0:
            return
        if len(self._kept) >= self._entries:
            self._kept.popitem(last=False)
        if answer.seconds:  # from a cache, an answer takes no time
            answer = msgspec.structs.replace(answer, seconds=0.0)
        self._kept[answer.name] = _Kept(answer, now, now + seconds)

    def census(self) -> CacheCensus:
        """What is held now; walks over everything, and counts what others may hold too."""
        size = sys.getsizeof(self._kept) + sum(_size(kept) for kept in self._kept.values())
        negative = sum(not kept.answer.addresses for kept in self._kept.values())
        return CacheCensus(len(self._kept), size, negative)

    def close(self) -> None:
        """Forget every answer; there is nothing else to close."""
        self._kept.clear()


def _size(kept: _Kept) -> int:
    answer = kept.answer
    names = () if answer.aliases is None else (answer.aliases, *answer.aliases)
    parts = (
        kept, kept.since, kept.until, answer, answer.name, answer.ttl, answer.asked, answer.addresses,
        *answer.addresses, *names,
    )  # fmt: skip
    return sum(map(sys.getsizeof, parts))
