"""A name cache that keeps fast answers in one zone, slow ones with failures in another."""

from itertools import chain

from gossamer.dns.zones.backward import BackwardZone
from gossamer.dns.zones.config import ZonesConfig
from gossamer.dns.zones.forward import ForwardZone
from gossamer.dns.zones.kept import Kept
from gossamer.model.name import Answer, CacheCensus


class ZonedCache:
    """Keeps answers for their time to live, in the zone that their resolution earned (ports.NameCache, Z3).

    | what comes | where it goes |
    |---|---|
    | addresses, in less than `fast_below` | forward zone |
    | addresses, more slowly | backward zone |
    | NXDOMAIN, no address, failure of the name servers | backward zone |

    Invariant: a name stands in one zone at most.
    """

    def __init__(self, config: ZonesConfig) -> None:
        self._fast_below = config.fast_below
        self._forward = ForwardZone(config.forward_names, config.third_level_names)
        self._backward = BackwardZone(config.backward_names, config.renewal_period, config.removal_every)

    def __len__(self) -> int:
        return len(self._forward) + len(self._backward)

    def __repr__(self) -> str:
        return f"<ZonedCache {len(self._forward)} forward, {len(self._backward)} backward>"

    def get(self, name: str, now: float) -> Answer | None:
        """The answer, as it was, if one is kept that has not expired at wall time `now`."""
        self._backward.tidy(now)
        kept = self._forward.get(name, now) or self._backward.get(name, now)
        return kept.answer if kept is not None else None

    def stale(self, name: str, now: float) -> Answer | None:
        """Addresses that have expired at wall time `now` but have not had to leave yet."""
        kept = self._forward.stale(name, now) or self._backward.stale(name, now)
        return kept.answer if kept is not None else None

    def put(self, answer: Answer, now: float) -> None:
        """Keep the answer until `now + answer.ttl`; `answer.seconds` must say how long it took."""
        self._backward.tidy(now)
        if answer.addresses and answer.seconds < self._fast_below and answer.ttl > 0:
            self._backward.remove(answer.name)
            self._forward.put(Kept.of(answer, now), now)
            return
        self._forward.remove(answer.name)
        if answer.ttl > 0:
            self._backward.put(Kept.of(answer, now), answer.seconds, now)
        else:
            self._backward.remove(answer.name)

    def census(self) -> CacheCensus:
        """What is held now; walks over everything."""
        kept = chain(self._forward.kept(), self._backward.kept())
        negative = sum(not each.answer.addresses for each in kept)
        return CacheCensus(len(self), self._forward.room() + self._backward.room(), negative)

    def close(self) -> None:
        """Forget the answers of both zones."""
        self._forward.clear()
        self._backward.clear()
