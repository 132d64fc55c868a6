"""Decides whose turn it is at a host that several crawls of one machine visit (DESIGN 1.3)."""

from collections.abc import Callable

import msgspec

GRACE = 500_000
"""Microseconds for which a turn is kept for the crawl that waited longest; doubled for each one missed."""
MOST_MISSED = 6
"""Doublings of the grace: a crawl whose workers are all busy elsewhere has at most 32 s to come."""
ASK_AGAIN = 20_000
"""Microseconds, at least, after which a crawl asks again while another visits."""
ASK_AGAIN_AT_MOST = 1_000_000
"""The same at most, where nobody owes the host a rest: else the rest is what there is to wait for."""
TURN = 1_000_000
"""Microseconds for which a turn lasts that has made no visit yet: URLs that robots rules forbid are many."""
FORGET = 60_000_000
"""Microseconds after which a crawl that does not ask has no say in the rest any more."""
LONGEST_VISIT = 7_200_000_000
"""Microseconds after which a visit that did not end counts as over: its process was stopped, not killed."""
NEVER = (1 << 64) - 1


class Party(msgspec.Struct, array_like=True, gc=False):
    """One crawl's account with one host. Times are microseconds since the machine was started.

    Attributes:
        crawl: its number, given once only.
        rest: microseconds that it lets the host lie still after any visit.
        owed: the same after the visit under way, if the crawl dies before it can say more.
        visits: under way.
        asked: when it asked last.
        waits: since when it waits for a turn; 0 if it does not.
        told: when it was told to come back.
        missed: turns kept for it in vain since its last visit.
        turn: when its turn began, of which no visit has ended; 0 if it has none.
    """

    crawl: int
    rest: int = 0
    owed: int = 0
    visits: int = 0
    asked: int = 0
    waits: int = 0
    told: int = 0
    missed: int = 0
    turn: int = 0

    def kept_until(self, free_at: int) -> int:
        """When a turn at a host that is free at `free_at` is kept for it no longer."""
        return max(self.told, free_at) + (GRACE << self.missed)


class HostTurns(msgspec.Struct, array_like=True, gc=False):
    """What the crawls of one machine know together of one host.

    Attributes:
        due: no visit may begin before.
        ended: when the last visit ended; 0 if there was none.
        parties: the crawls that lately asked for it.
    """

    due: int = 0
    ended: int = 0
    parties: list[Party] = []

    @property
    def visits(self) -> int:
        """Under way, of all crawls."""
        return sum([party.visits for party in self.parties])

    @property
    def rest(self) -> int:
        """The longest that any crawl lets the host lie still."""
        return max([party.rest for party in self.parties], default=0)

    @property
    def free_at(self) -> int:
        """When the next visit may begin, if none is under way."""
        return max(self.due, self.ended + self.rest) if self.ended else self.due

    @property
    def idle_from(self) -> int:
        """When nothing of this need be known any more; `NEVER` while a visit is under way."""
        latest = free = self.free_at
        for party in self.parties:
            if party.visits:
                return NEVER
            latest = max(latest, party.asked + FORGET, party.kept_until(free))
        return latest


class Asker(msgspec.Struct, frozen=True, gc=False):
    """The crawl that wants to visit; `limit` is how many visits it allows at once, of all crawls."""

    crawl: int
    rest: int
    owed: int
    limit: int = 1


def ask(turns: HostTurns, asker: Asker, now: int, alive: Callable[[int], bool]) -> int:
    """Begin a visit if the host is free and it is the asker's turn.

    Who is refused waits in line; nobody who comes in time is passed by the same crawl twice. `alive` says
    whether a crawl still runs, by its number.

    Returns:
        0, and the visit counts as begun; or when to ask again.
    """
    own = _party(turns, asker.crawl)
    own.asked = now
    if len(turns.parties) > 1:
        bury(turns, now, lambda crawl: crawl == asker.crawl or alive(crawl))
    own.rest, own.owed = asker.rest, asker.owed
    until = _obstacle(turns, own, asker.limit, now)
    if until:
        own.waits = own.waits or now
        own.told = until
        return until
    free = turns.free_at
    for party in turns.parties:
        if party.waits and now >= party.kept_until(free) and party is not own:
            party.waits, party.missed = 0, min(party.missed + 1, MOST_MISSED)
    own.visits += 1
    own.waits = own.told = own.missed = 0
    own.turn = own.turn or now
    return 0


def end(turns: HostTurns, crawl: int, due: int, now: int, *, visited: bool) -> None:
    """End a visit, after which the host rests until `due` at least; `visited` is false if none was made."""
    for party in turns.parties:
        if party.crawl == crawl:
            party.visits = max(party.visits - 1, 0)
            if visited or now - party.turn >= TURN:
                party.turn = 0
            elif party.visits == 0:
                party.waits, party.told = party.turn, now  # before those who came while it had its turn
    turns.due = max(turns.due, due)
    if visited:
        turns.ended = now


def bury(turns: HostTurns, now: int, alive: Callable[[int], bool]) -> None:
    """Forget the crawls that do not run, or ask, any more.

    When the visits of a dead one ended nobody knows, so the host rests from now on. A crawl that was stopped
    in the middle of a visit (SIGSTOP) keeps the host for `LONGEST_VISIT` at most.
    """
    kept = []
    for party in turns.parties:
        silent = now - party.asked
        gone = silent > (LONGEST_VISIT if party.visits else max(FORGET, 2 * party.rest))
        if not gone and alive(party.crawl):
            kept.append(party)
        elif party.visits:
            turns.due = max(turns.due, now + party.owed)
            turns.ended = now
    turns.parties = kept


def _party(turns: HostTurns, crawl: int) -> Party:
    for party in turns.parties:
        if party.crawl == crawl:
            return party
    party = Party(crawl)
    turns.parties.append(party)
    return party


def _obstacle(turns: HostTurns, own: Party, limit: int, now: int) -> int:
    """When to ask again, if `own` may not visit now; else 0."""
    if turns.visits >= limit:
        waited = now - own.waits if own.waits else 0
        return max(_after_others(turns, now), now + min(waited // 4, ASK_AGAIN_AT_MOST))
    free = turns.free_at
    if now < free:
        return free
    if len(turns.parties) == 1:
        return 0
    place = _place(own) if own.waits and not own.visits else (now, own.crawl)
    for party in turns.parties:
        # One who was told to come much later does not keep others from a host that is free earlier.
        comes = party.waits and not party.visits and party.told <= now + ASK_AGAIN_AT_MOST
        if comes and now < party.kept_until(free) and _place(party) < place:
            return min(party.kept_until(free), max(_after_others(turns, now), party.told + turns.rest))
    return 0


def _after_others(turns: HostTurns, now: int) -> int:
    """When we may be next: after what is under way, or comes first, the host rests, so nobody is late."""
    return now + max(turns.rest, ASK_AGAIN)


def _place(party: Party) -> tuple[int, int]:
    """Where it stands among those that wait."""
    return party.waits, party.crawl
