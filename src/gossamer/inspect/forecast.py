"""Reckons how long what is queued will take, what binds it, and what one change would bring."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from gossamer.inspect.hosts import doing
from gossamer.policy.visits.politeness import PolitenessConfig, rest_after
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord

LISTED = 10


class HostLoad(msgspec.Struct, frozen=True):
    """What is queued at one host, and how often it may be visited.

    Attributes:
        queued: URLs that will be visited; those that are set aside are not.
        rest: seconds after a visit, as the last one earned it.
        crawl_delay: what its robots file asks for; negative if nothing.
        politeness: as it stands for the host.
        held: seconds until its next visit may be: what is left of its rest, of a `Retry-After`, of a retry.
    """

    name: str
    queued: int
    rest: float
    crawl_delay: float
    politeness: PolitenessConfig
    held: float = 0.0

    @classmethod
    def of(cls, record: HostRecord, politeness: PolitenessConfig, now: int) -> "HostLoad":
        """The load of a host by its record at a crawl-clock microsecond."""
        rest = record.rest / 1e6 if record.visits else rest_after(politeness, 0.0, record.crawl_delay)
        state, held, _ = doing(record, now)
        # Where nothing but what was given up waits, no time will bring its turn.
        waiting = record.waiting if record.later_due < FOREVER else 0
        left = 0 if state == "parked" else record.queued - record.aside + waiting
        return cls(record.name, left, max(rest, 0.0), record.crawl_delay, politeness, held)

    @property
    def seconds(self) -> float:
        """Until its queue is empty, if nothing else holds it up. The first visit needs no whole rest."""
        visits = math.ceil(self.queued / self.politeness.visits_per_host)
        return self.held + max(0, visits - 1) * self.rest if visits else 0.0

    def under(self, politeness: PolitenessConfig) -> "HostLoad":
        """The load if this were its politeness: a rest that the least delay made changes with it.

        One that the factor or the robots file has made stays, but for what the new least delay adds.
        """
        rest = max(self.rest, politeness.min_delay)
        if self.rest <= max(self.politeness.min_delay, self.crawl_delay) + 1e-6:
            rest = max(politeness.min_delay, self.crawl_delay, 0.0)
        return msgspec.structs.replace(self, rest=rest, politeness=politeness)


class Binding(msgspec.Struct, frozen=True):
    """A host that takes long."""

    host: str
    queued: int
    delay: float
    seconds: float


class WhatIf(msgspec.Struct, frozen=True):
    """What one change would bring; `change` is what `set` takes."""

    change: dict[str, Any]
    words: str
    seconds_left: float | None


class Forecast(msgspec.Struct, frozen=True):
    """Time for what is queued now; what will still be found takes longer.

    Attributes:
        seconds_left: `None` if nothing tells how fast the crawl is.
        bound_by: `politeness` (the largest host takes longest), `speed` (as fast as of late), `budget`, or
            empty where nothing is queued.
        rate: visits a second that were reckoned with.
        estimated: not every host was looked at.
    """

    seconds_left: float | None
    bound_by: str
    rate: float
    queued: int
    binding: list[Binding]
    what_if: list[WhatIf]
    estimated: bool = False


class Situation(msgspec.Struct, frozen=True):
    """What a forecast is made from.

    Attributes:
        loads: of the hosts that take longest.
        rate: visits a second of late; 0 if nothing tells.
        pages_left: that the budget allows; `None` for no limit.
        workers, all_busy: how many there are, and whether more could do more.
    """

    loads: Sequence[HostLoad]
    queued: int
    rate: float
    workers: int
    all_busy: bool = False
    pages_left: int | None = None

    def time_left(self) -> tuple[float | None, str]:
        """(seconds, what binds) until the queue is empty."""
        if not self.queued:
            return 0.0, ""
        polite = max((load.seconds for load in self.loads), default=0.0)
        fast = self.queued / self.rate if self.rate > 0 else None
        budget = self.pages_left / self.rate if self.pages_left is not None and self.rate > 0 else None
        longest = max(polite, fast or 0.0)
        if budget is not None and budget < longest:
            return budget, "budget"
        if fast is None and polite <= 0:
            return None, ""
        return longest, "politeness" if polite >= (fast or 0.0) else "speed"


def forecast(now: Situation, *, estimated: bool = False) -> Forecast:
    """The forecast for a situation."""
    seconds, bound_by = now.time_left()
    longest = sorted(now.loads, key=lambda load: -load.seconds)[:LISTED]
    binding = [
        Binding(load.name, load.queued, round(load.rest, 3), round(load.seconds, 1))
        for load in longest
        if load.queued
    ]
    return Forecast(
        seconds_left=None if seconds is None else round(seconds, 1),
        bound_by=bound_by,
        rate=round(now.rate, 3),
        queued=now.queued,
        binding=binding,
        what_if=list(_what_if(now, longest[0] if binding else None)),
        estimated=estimated,
    )


def _what_if(now: Situation, worst: HostLoad | None) -> list[WhatIf]:
    found: list[WhatIf] = []

    def add(change: dict[str, Any], words: str, then: Situation) -> None:
        seconds = then.time_left()[0]
        found.append(WhatIf(change, words, None if seconds is None else round(seconds, 1)))

    if worst is not None:
        name, own = worst.name, worst.politeness
        if own.min_delay > 0:
            gentle = msgspec.structs.replace(own, min_delay=own.min_delay / 2)
            path = f'place."{name}".politeness.min_delay'
            add({path: gentle.min_delay}, f"half the delay at {name}", _with(now, worst, gentle))
            half = [load.under(_halved(load.politeness)) for load in now.loads]
            words = "half the least delay at all hosts"
            change = {"politeness.min_delay": own.min_delay / 2}
            add(change, words, msgspec.structs.replace(now, loads=half))
        twice = msgspec.structs.replace(own, visits_per_host=2 * own.visits_per_host)
        path = f'place."{name}".politeness.visits_per_host'
        words = f"{twice.visits_per_host} visits at once to {name} (only if its owner agrees)"
        add({path: twice.visits_per_host}, words, _with(now, worst, twice))
        rest = [load for load in now.loads if load is not worst]
        without = msgspec.structs.replace(now, loads=rest, queued=now.queued - worst.queued)
        add({"host_block": name}, f"without {name}", without)
    if now.all_busy:
        faster = msgspec.structs.replace(now, rate=2 * now.rate)
        add({"engine.workers": 2 * now.workers}, f"{2 * now.workers} workers (at best)", faster)
    return found


def _with(now: Situation, host: HostLoad, politeness: PolitenessConfig) -> Situation:
    loads = [load.under(politeness) if load is host else load for load in now.loads]
    return msgspec.structs.replace(now, loads=loads)


def _halved(politeness: PolitenessConfig) -> PolitenessConfig:
    return msgspec.structs.replace(politeness, min_delay=politeness.min_delay / 2)
