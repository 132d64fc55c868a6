"""A bounded cache of answers in the memory of one process."""

from collections import OrderedDict

import msgspec

from gossamer.model.name import Answer


class _Kept(msgspec.Struct, frozen=True, gc=False):
    answer: Answer
    since: float
    until: float


class PlainCache:
    """Keeps answers for their time to live, the least recently used leaving first (ports.NameCache, W12).

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
        if not kept.since <= now < kept.until:
            del self._kept[name]
            return None
        self._kept.move_to_end(name)
        return kept.answer

    def put(self, answer: Answer, now: float) -> None:
        """Keep the answer until `now + answer.ttl`."""
        self._kept.pop(answer.name, None)
        if answer.ttl <= 0 or self._entries == 0:
            return
        if len(self._kept) >= self._entries:
            self._kept.popitem(last=False)
        self._kept[answer.name] = _Kept(answer, now, now + answer.ttl)
