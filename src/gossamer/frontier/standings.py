"""The worth of each admitted URL under an ordering that changes as links arrive (K5, W16)."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, runtime_checkable

import msgspec

from gossamer.frontier.config import Session
from gossamer.model.candidate import Candidate
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Page
from gossamer.policy.ordering.ordering import GRADE_SHIFT
from gossamer.ports import ImportanceOrdering, LinkOrdering, MentionOrdering, OrderingPolicy
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import HASH_BYTES, TICKET_BYTES, split_ticket
from gossamer.state.records import encode

ORDER = b"order"
"""Key in `meta` of what the policy holds beside the worths."""
ORDER_NAME = b"order-name"
"""Key in `meta` of the ordering whose worths and `ORDER` these are; none in states of older versions."""

GATHERED = 50_000
"""Gifts kept for URLs known before, about 150 bytes each: the more, the more of them meet in one."""
DRAIN_EVERY = 1_000_000
"""Microseconds after which gifts are given even if they are few."""
DRAIN_SHARE = 50
"""Gifts are given when a fiftieth more pages have made some: a second is long in a small crawl, and what is
ordered without them goes by the first link alone. In a large one they are as many as a second's."""
GIVEN_AT_ONCE = 1_000
"""Gifts given without a pause, some 20 us each."""


@runtime_checkable
class MovingOrdering(Protocol):
    """An ordering that keeps account of all worths together, so that it must hear of those that move."""

    def arrivals(self, state: bytes) -> Callable[[Any], Any]:
        """What worths of another agent, whose `state()` this was, become here, one call for each."""

    def departed(self, worth: Any) -> None:
        """A worth is another agent's now."""


Standing = tuple[bytes, Any]
"""(place in the queue as last known, or empty; worth)"""


class Standings:
    """Worths on disk, gifts on their way to them in memory.

    A gift to a URL that is admitted by it is in the worth at once. One to a URL known before is merged with
    others in a buffer, and given with them in key order: links repeat, so most meet there, and a sorted
    batch reads neighbours from the same block. A crash loses what is in the buffer to its receivers; the
    policy's `restore` decides what becomes of it.

    Invariant: `worth(url) == worth on disk or in the open batch + gift in the buffer`.
    """

    def __init__(self, environment: Environment, ordering: LinkOrdering[Any, Any], session: Session) -> None:
        """Go on with what is kept; what another ordering kept is dropped, and this one begins anew."""
        self._environment = environment
        self.ordering = ordering
        self._now = session.now
        self._decode = msgspec.msgpack.Decoder(ordering.worth).decode
        self._gathering: dict[bytes, Any] = {}
        self._giving: dict[bytes, Any] = {}  # sorted, the next at the end
        self._last_drain = session.now()
        self._givers = self._next_drain = 0  # pages that gave something, since the start
        self._open: dict[bytes, Standing] = {}  # in the batch that is not committed
        self._begin(session.warn)

    def _begin(self, warn: Callable[[str], None]) -> None:
        environment, name = self._environment, self.ordering.name
        state, owner = environment.get(Family.META, ORDER), environment.get(Family.META, ORDER_NAME)
        ours = owner == name.encode()
        if owner is None:
            ours = self._restores(state)
        elif ours and state is not None:
            self.ordering.restore(state)
        if owner is not None and ours:
            return
        batch = environment.batch()
        if not ours:
            # The places in the queue stay: to find new ones the whole queue would have to be read.
            batch.delete_all(Family.STANDINGS)
            batch.delete(Family.META, ORDER)
            other = repr(owner.decode()) if owner else "another order"
            warn(
                f"the order is {name!r} from now on: what {other} knew of links is dropped, what waits stays"
            )
        batch.put(Family.META, ORDER_NAME, name.encode())
        environment.commit(batch)

    def _restores(self, state: bytes | None) -> bool:
        """Go on from a state that does not say whose it is, unless it cannot be this ordering's."""
        try:
            for _, data in self._environment.scan(Family.STANDINGS):
                split_standing(data, self._decode)
                break
            if state is not None:
                self.ordering.restore(state)
        except msgspec.MsgspecError:
            return False
        return True

    # Settling and admitting, within a batch …

    def admitted(self, fingerprint: bytes, candidate: Candidate, gift: Any) -> int:
        """The level at which a URL enters the queue; `place` is told next."""
        known = self.find(fingerprint) if candidate.forced else None
        if known is None:
            worth = self.ordering.admitted(candidate, gift)
        else:  # fetched again by force
            worth = known[1] if gift is None else self.ordering.give(known[1], gift)
        self._open[fingerprint] = b"", worth
        return self.ordering.waiting_level(candidate, worth)

    def place(self, fingerprint: bytes, place: bytes, batch: Batch) -> None:
        """Where the URL just admitted was put."""
        self.put(fingerprint, place, self._open[fingerprint][1], batch)

    def mention(self, fingerprint: bytes, gift: Any) -> None:
        """A gift to a URL known before."""
        before = self._gathering.get(fingerprint)
        self._gathering[fingerprint] = gift if before is None else self.ordering.merge(before, gift)

    def spread(
        self, fingerprint: bytes, finder: Candidate, targets: int, links: int, batch: Batch
    ) -> Any | None:
        """What a fetched page gives to each of `targets` links, of `links` to come; `None` if nothing.

        A page that was queued under another order is a seed of this one: its links would know nothing of
        importance if it had none.
        """
        if not targets:
            return None
        known = self._collect(fingerprint)
        if known is None:
            seed = msgspec.structs.replace(finder, kind=LinkKind.SEED)
            known = b"", self.ordering.admitted(seed, None)
        self._givers += 1
        worth, gift = self.ordering.spread(finder, known[1], targets, links)
        self.put(fingerprint, b"", worth, batch)
        return gift

    def appraise(self, fingerprint: bytes, finder: Candidate, page: Page) -> Callable[[Link], Any] | None:
        """What a page gives to each of its links, if the ordering tells them apart; once for each page."""
        if not isinstance(self.ordering, MentionOrdering):
            return None
        known = self._collect(fingerprint)
        worth = self.ordering.admitted(finder, None) if known is None else known[1]
        return self.ordering.appraise(finder, worth, page)

    def importance(self, fingerprint: bytes) -> float:
        """What a URL is worth as a multiple of the mean; 1 where the ordering does not say, or does not know it."""
        if not isinstance(self.ordering, ImportanceOrdering):
            return 1.0
        known = self.find(fingerprint)
        return 1.0 if known is None else self.ordering.importance(known[1])

    def figures(self) -> dict[str, float]:
        """What the policy has counted, for the report."""
        return self.ordering.figures() if isinstance(self.ordering, MentionOrdering) else {}

    def close(self, fingerprint: bytes, batch: Batch) -> None:
        """The URL is settled for good."""
        known = self._collect(fingerprint)
        if known is not None:
            self.put(fingerprint, b"", self.ordering.closed(known[1]), batch)

    def flush(self, batch: Batch) -> None:
        """Put changed sums into `batch`, which is committed next."""
        batch.put(Family.META, ORDER, self.ordering.state())
        self._open.clear()

    # Giving, in a batch of its own …

    @property
    def due(self) -> bool:
        """Gifts should be given now."""
        if self._giving or len(self._gathering) >= GATHERED:
            return True
        if not self._gathering:
            return False
        return self._givers > self._next_drain or self._now() - self._last_drain >= DRAIN_EVERY

    def give(
        self, find: Callable[[bytes, bytes], Candidate | None], batch: Batch
    ) -> Iterator[tuple[bytes, bytes, int]]:
        """Give a bounded number of gifts; yields (fingerprint, place, better level) of who should move.

        `find(host hash, place)` tells the candidate that waits there, or `None`. The caller answers each with
        `moved`.
        """
        if not self._giving:
            self._giving = dict(sorted(self._gathering.items(), reverse=True))
            self._gathering = {}
            self._last_drain = self._now()
            self._next_drain = self._givers + self._givers // DRAIN_SHARE
        for _ in range(min(GIVEN_AT_ONCE, len(self._giving))):
            fingerprint, gift = self._giving.popitem()
            known = self.find(fingerprint)
            if known is None:
                # Queued under another order, or never: a Bloom filter took it for one that was.
                self.ordering.lose(gift)
                continue
            place, worth = known
            worth = self.ordering.give(worth, gift)
            self.put(fingerprint, place, worth, batch)
            candidate = find(fingerprint[:HASH_BYTES], place) if place else None
            if candidate is None:
                continue
            before = split_ticket(place)[0]
            grade = before >> GRADE_SHIFT << GRADE_SHIFT
            level = grade | self.ordering.waiting_level(candidate, worth)
            if level < before:
                yield fingerprint, place, level

    def moved(self, fingerprint: bytes, place: bytes, batch: Batch) -> None:
        """The entry stands at `place` now."""
        self.put(fingerprint, place, self._open[fingerprint][1], batch)

    # Moving between agents …

    def arrivals(self, state: bytes | None) -> Callable[[bytes], bytes]:
        """What values of another frontier, that had this `ORDER`, become here; one call for each."""
        ordering = self.ordering
        if state is None or not isinstance(ordering, MovingOrdering):
            return _as_it_is
        arrived = ordering.arrivals(state)

        def enter(data: bytes) -> bytes:
            return data[:TICKET_BYTES] + encode(arrived(self._decode(data[TICKET_BYTES:])))

        return enter

    def departed(self, data: bytes) -> None:
        """A value is deleted here, because another frontier has it."""
        if isinstance(self.ordering, MovingOrdering):
            self.ordering.departed(self._decode(data[TICKET_BYTES:]))

    def forget(self, theirs: Callable[[bytes], bool]) -> None:
        """Gifts to pages of some hosts, told by keys that begin with their hashes, are lost."""
        for gifts in (self._giving, self._gathering):
            for fingerprint in [fingerprint for fingerprint in gifts if theirs(fingerprint)]:
                self.ordering.lose(gifts.pop(fingerprint))

    # The table …

    def _collect(self, fingerprint: bytes) -> Standing | None:
        """The standing with all that is under way to it."""
        known = self.find(fingerprint)
        for gifts in (self._giving, self._gathering):
            gift = gifts.pop(fingerprint, None)
            if gift is None:
                continue
            if known is None:
                self.ordering.lose(gift)
            else:
                known = known[0], self.ordering.give(known[1], gift)
        return known

    def find(self, fingerprint: bytes) -> Standing | None:
        """(place, worth) of a URL, if it has them."""
        known = self._open.get(fingerprint)
        if known is not None:
            return known
        data = self._environment.get(Family.STANDINGS, fingerprint)
        return None if data is None else split_standing(data, self._decode)

    def put(self, fingerprint: bytes, place: bytes, worth: Any, batch: Batch) -> None:
        """Set the place and worth of a URL; `place` is empty if it does not wait."""
        self._open[fingerprint] = place, worth
        batch.put(Family.STANDINGS, fingerprint, place.ljust(TICKET_BYTES, b"\0") + encode(worth))


def is_of_another(environment: Environment, ordering: OrderingPolicy) -> bool:
    """Whether the worths and `ORDER` of a state were kept by another ordering than this one."""
    owner = environment.get(Family.META, ORDER_NAME)
    return owner is not None and owner != ordering.name.encode()


def _as_it_is(data: bytes) -> bytes:
    return data


def split_standing(data: bytes, decode: Callable[[bytes], Any]) -> Standing:
    """(place, worth) of a value in `standings`; the place is empty if the URL does not wait."""
    place = data[:TICKET_BYTES]
    return (place if any(place) else b""), decode(data[TICKET_BYTES:])
