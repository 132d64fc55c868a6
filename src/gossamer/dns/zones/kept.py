"""An answer with the time for which it is kept, as both zones hold it."""

import sys
from itertools import chain

import msgspec

from gossamer.model.name import Answer


class Kept(msgspec.Struct, frozen=True, gc=False):
    """An answer, good from wall time `since` (when it was put) until before `until`."""

    answer: Answer
    since: float
    until: float

    @classmethod
    def of(cls, answer: Answer, now: float) -> "Kept":
        """The answer, kept from `now` on; from a cache, an answer takes no time."""
        if answer.seconds:
            answer = msgspec.structs.replace(answer, seconds=0.0)
        return cls(answer, now, now + answer.ttl)

    def fresh(self, now: float) -> bool:
        """Whether it may be used at wall time `now`.

        A clock that went back behind the time of keeping makes an answer expire: how old it is can no
        longer be told.
        """
        return self.since <= now < self.until

    def spent(self, now: float) -> bool:
        """Whether it is of no more use, not even as a stale answer."""
        return not self.answer.addresses and not self.fresh(now)

    def room(self) -> int:
        """Bytes it takes with everything only it holds."""
        answer = self.answer
        own = (self, self.until, answer, answer.name, answer.ttl, answer.asked, answer.addresses)
        names = () if answer.aliases is None else (answer.aliases, *answer.aliases)
        return sum(map(sys.getsizeof, chain(own, answer.addresses, names)))
