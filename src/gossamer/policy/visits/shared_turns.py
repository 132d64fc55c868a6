"""Decides whose turn it is at a host that several crawls of one machine visit (decision 0018)."""

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
KEEP_AFTER = 4
"""Visits in a row after which a host that nobody else asks for is kept between visits, too."""
OWED_TIMES = 2
"""What a host is owed if the crawl that keeps it dies: that varies, and is not written at each visit."""


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
        alone: visits in a row that ended while nobody else had asked.
        keeps: since when the host is its own between visits, too (see `keep`); 0 if it is not.
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
    alone: int = 0
    keeps: int = 0

    @property
    def holds(self) -> bool:
        """Nobody else may tell from here what goes on at the host."""
        return bool(self.visits or self.keeps)

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
    def held(self) -> bool:
        """A visit is under way, or a crawl keeps the host."""
        return any(party.holds for party in self.parties)

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
        """When nothing of this need be known any more; `NEVER` while a visit is under way, or it is kept."""
        latest = free = self.free_at
        for party in self.parties:
            if party.holds:
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
    own.asked, own.keeps = now, 0
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


def end(turns: HostTurns, crawl: int, due: int, now: int, *, visited: bool, claimed: bool = True) -> None:
    """End a visit, after which the host rests until `due` at least; `visited` is false if none was made, and
    `claimed` if it had not been begun here."""
    for party in turns.parties:
        if claimed and party.crawl == crawl:
            party.visits = max(party.visits - 1, 0)
            if visited:
                party.alone = party.alone + 1 if len(turns.parties) == 1 else 0
            if visited or now - party.turn >= TURN:
                party.turn = 0
            elif party.visits == 0:
                party.waits, party.told = party.turn, now  # before those who came while it had its turn
    turns.due = max(turns.due, due)
    if visited:
        turns.ended = now


def keep(turns: HostTurns, crawl: int, now: int) -> bool:
    """Let a crawl have a host for itself, between its visits too, if only it has asked for it lately.

    It then goes by a copy of its own, and nobody else may visit before it has given the host up (`give_up`),
    which it does as soon as it notices that somebody waits. If it dies, what it owes at most is in `turns`.
    """
    own = turns.parties[0] if len(turns.parties) == 1 else None
    if own is None or own.crawl != crawl or own.alone < KEEP_AFTER:
        return False
    if not own.keeps:
        own.keeps = now
        own.owed = OWED_TIMES * max(own.owed, own.rest)
    return True


def begin_kept(turns: HostTurns, asker: Asker, now: int) -> bool:
    """Begin a visit to a host that the asker keeps, if that may be now; else nothing happens.

    As `ask` would, in a fraction of the time.
    """
    own = turns.parties[0]
    free = turns.due
    if turns.ended and turns.ended + asker.rest > free:
        free = turns.ended + asker.rest
    if now < free or own.visits >= asker.limit:
        return False
    own.asked, own.rest, own.owed = now, asker.rest, asker.owed
    own.visits += 1
    own.waits = own.told = own.missed = 0
    own.turn = own.turn or now
    return True


def give_up(turns: HostTurns, kept: HostTurns, crawl: int) -> None:
    """Put what happened to a host that `crawl` has kept, and who has asked meanwhile, together in `turns`."""
    own = _party(kept, crawl)
    own.keeps = 0
    turns.due = max(turns.due, kept.due)
    turns.ended = max(turns.ended, kept.ended)
    turns.parties = [own, *(party for party in turns.parties if party.crawl != crawl)]


def bury(turns: HostTurns, now: int, alive: Callable[[int], bool]) -> None:
    """Forget the crawls that do not run, or ask, any more.

    When the visits of a dead one ended nobody knows, so the host rests from now on. A crawl that was stopped
    (SIGSTOP) in the middle of a visit, or while it keeps the host, has it for `LONGEST_VISIT` at most.
    """
    kept = []
    for party in turns.parties:
        silent = now - party.asked
        gone = silent > (LONGEST_VISIT if party.holds else max(FORGET, 2 * party.rest))
        if not gone and alive(party.crawl):
            kept.append(party)
        elif party.holds:
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
    waited = now - own.waits if own.waits else 0
    if len(turns.parties) > 1 and any(party.keeps for party in turns.parties):
        return now + max(ASK_AGAIN, min(waited // 4, ASK_AGAIN_AT_MOST))
    if turns.visits >= limit:
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
