"""Remembers over all hosts what stems of URL patterns brought, so that a new host's trap is soon known."""

from collections import OrderedDict

import msgspec

MOST_STEMS = 2_000
_FADING = 400
_LONGEST = 200


class Stems:
    """(pages judged, pages with yield) by stem, for the stems that were last met.

    One host counts for at most a quarter of what a stem may have, so that a single site speaks for no other.
    """

    def __init__(self, most: int = MOST_STEMS) -> None:
        self._most = most
        self._stems: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def get(self, stem: str) -> tuple[int, int]:
        """What pages of the stem brought on all hosts."""
        return self._stems.get(stem, (0, 0))

    def learn(self, stem: str, judged_here: int, *, good: bool) -> None:
        """A page was judged; `judged_here`: how many of the stem on this host before it."""
        if judged_here >= _FADING // 4 or len(stem) > _LONGEST:
            return
        tried, gained = self._stems.pop(stem, (0, 0))
        if tried >= _FADING:
            tried, gained = tried // 2, gained // 2
        self._stems[stem] = (tried + 1, gained + good)
        if len(self._stems) > self._most:
            self._stems.popitem(last=False)

    def state(self) -> bytes:
        """For `restore`; at most some 100 KB."""
        return msgspec.msgpack.encode(dict(self._stems))

    def restore(self, state: bytes) -> None:
        """Go on from `state`."""
        self._stems = OrderedDict(msgspec.msgpack.decode(state, type=dict[str, tuple[int, int]]))
