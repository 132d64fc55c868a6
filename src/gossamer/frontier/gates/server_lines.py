"""Which servers a visit goes to, and when which of the hosts that wait for one of them may ask for it.

Thousands of hosts may be on one address. If all that wait asked whenever it is free, each visit would cost as
many questions. So who is refused gets an appointment behind those of the others. Nobody is woken, so a host that
leaves memory, or has nothing to lend any more, only leaves a gap.
"""

from collections.abc import Callable

import msgspec

from gossamer.frontier.gates.name_gate import Names
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.records import HostRecord

LEAST_PACE = 20_000
"""Microseconds, at least, from one appointment to the next."""
NAME_WAIT = 500_000
"""Microseconds after which a host asks again whose addresses are not at hand."""
LINES = 4_096
"""Lines that are kept; one that is forgotten makes those that wait in it ask more often."""
MARK = "@"
"""Begins the name of a server in the table of rests, as no host's name does."""
_SATURATED, _SPARE = 1.1, 0.95
"""By how much appointments are wider apart than turns came, so that who is late gets through; and how much closer
they move with each who came in time."""


class ServerClaim(msgspec.Struct, frozen=True, gc=False):
    """What a visit wants of a server.

    Attributes:
        name: in the table of rests.
        rest: microseconds that it lies still after the visit.
        limit: visits to it at once.
    """

    name: str
    rest: int
    limit: int

    @property
    def reason(self) -> Reason:
        """Why a host waits for it."""
        return because(HoldCode.SERVER, self.name.removeprefix(MARK))


Claims = tuple[ServerClaim, ...]
"""Of the servers of one visit, each once, in the order of their names."""


class _Line(msgspec.Struct, gc=False):
    """Those who wait for one server.

    Attributes:
        until: when the next appointment is that nobody has; microseconds.
        pace: microseconds from one to the next.
        turn: when somebody had a turn last.
        late: who had an appointment was refused since.
    """

    until: int = 0
    pace: float = LEAST_PACE
    turn: int = 0
    late: bool = False

    def took_turn(self, now: int, least: float) -> None:
        """Somebody did, at `now`: appointments are to be as far apart as turns come, `least` at least."""
        if not self.late:
            self.pace *= _SPARE
        elif self.turn:
            self.pace += (_SATURATED * (now - self.turn) - self.pace) / 4
        self.pace = max(self.pace, least)
        self.turn, self.late = now, False


class ServerLines:
    """Who waits for which server. A host has an appointment if it rests for that reason (`HoldCode.SERVER`).

    A server is what an operator has named one, else each address that the name of the host has: whichever of them
    the visit goes to was free. The one that answers rests, too, if it is another: a connection that was kept open leads
    to where the name led before.
    """

    def __init__(
        self,
        politeness: Callable[[Url, str], PolitenessConfig],
        names: Names | None,
        now: Callable[[], int],
    ) -> None:
        """
        Args:
            politeness: (URL, address) as it stands there; the address is empty where none is known.
            names: `None` where addresses are not known: only servers that the operator has named count.
            now: microseconds.
        """
        self._politeness = politeness
        self._names = names
        self._now = now
        self._lines: dict[str, _Line] = {}
        self._visited: dict[bytes, list[tuple[Url, Claims]]] = {}

    def claims(self, queue: HostQueue) -> Claims | None:
        """What the next visit to a host wants; `None` if that is not known yet, and is being found out."""
        assert queue.first is not None
        url = queue.first[1].url
        addresses = self._names.addresses(url.host) if self._names is not None and url.host else ()
        if addresses is None:
            assert self._names is not None
            self._names.offer(url.host, first=True)
            return None
        found = {claim.name: claim for address in addresses or ("",) if (claim := self._claim(url, address))}
        return tuple(found[name] for name in sorted(found))

    def _claim(self, url: Url, address: str) -> ServerClaim | None:
        politeness = self._politeness(url, address)
        server = politeness.server or address
        if not (server and politeness.by_server):
            return None
        limit = politeness.visits_per_address or 1
        return ServerClaim(MARK + server, int(politeness.address_delay * 1e6), limit)

    def appointment(self, record: HostRecord, claims: Claims) -> tuple[ServerClaim, int] | None:
        """The server that a host has to wait for, and microseconds until its appointment; `None` if it may ask."""
        if not self._lines or _is_expected(record):
            return None
        now = self._now()
        for claim in claims:
            line = self._lines.get(claim.name)
            if line is not None and line.until > now:
                return claim, self._append(line)
        return None

    def refused(self, record: HostRecord, claim: ServerClaim, wait: int) -> int:
        """The server is not free for `wait` microseconds; after how many the host may ask again."""
        line = self._lines.get(claim.name) or self._make(claim)
        if _is_expected(record):  # it stays the first
            line.late = True
            return wait
        line.until = max(line.until, self._now() + wait)
        return self._append(line)

    def begin(self, queue: HostQueue, claims: Claims) -> None:
        """The visit has begun."""
        assert queue.first is not None
        self._visited.setdefault(queue.key, []).append((queue.first[1].url, claims))
        for claim in claims if self._lines else ():
            if (line := self._lines.get(claim.name)) is not None:
                line.took_turn(self._now(), max(LEAST_PACE, claim.rest / claim.limit))
        if _is_expected(queue.record):
            queue.record.reason = None

    def end(self, queue: HostQueue, address: str) -> list[tuple[ServerClaim, bool]]:
        """The servers of a visit that is over, and whether they were claimed for it; `address` answered."""
        visits = self._visited[queue.key]
        url, claims = visits.pop(0)
        if not visits:
            del self._visited[queue.key]
        ended = [(claim, True) for claim in claims]
        other = self._claim(url, address) if address else None
        if other is not None and all(claim.name != other.name for claim in claims):
            ended.append((other, False))
        return ended

    def _append(self, line: _Line) -> int:
        """Microseconds until one more appointment."""
        wait = line.until - self._now()
        line.until += int(line.pace)
        return wait

    def _make(self, claim: ServerClaim) -> _Line:
        """A line of those who wait for a server for which nobody did."""
        if len(self._lines) >= LINES:
            now = self._now()
            over = [name for name, line in self._lines.items() if line.until <= now]
            for name in over or list(self._lines)[: LINES // 4]:
                del self._lines[name]
        line = self._lines[claim.name] = _Line(pace=max(LEAST_PACE, claim.rest / claim.limit))
        return line


def _is_expected(record: HostRecord) -> bool:
    """A host whose turn it is had an appointment."""
    return record.reason is not None and record.reason.code == HoldCode.SERVER
