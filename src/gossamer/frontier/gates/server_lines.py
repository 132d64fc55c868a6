"""Which servers a visit goes to, and when which of the hosts that wait for one of them may ask for it.

Thousands of hosts may be on one address. If all that wait asked the table whenever it is free, each visit would cost as
many transactions. So they stand in line, and only the first ask it; the others are told to come when it may be their
turn, rather too early. Nobody is woken, and who does not come in time loses its place. A server that is free before
the first is to come does not wait for it: who has waited and comes asks instead, and the first stays the first.
"""

from collections.abc import Callable, Iterator

import msgspec

from gossamer.frontier.gates.name_gate import Names
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.tally import Tally
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.visits.politeness import PolitenessConfig

LEAST_PACE = 2_000
"""Microseconds, at least, from one turn to the next, as far as anybody is told when to come."""
NAME_WAIT = 500_000
"""Microseconds after which a host asks again whose addresses are not at hand."""
COMES_AGAIN = 20_000_000
LEAST_APART = 8_000
"""Microseconds after which one comes at the latest, for turns may have become shorter; where more than 2,500 stand
in line, so many for each."""
GRACE = 1_000_000
"""Microseconds after which who has not come has lost its place."""
IN_LINE = 16_384
"""Hosts in all lines; those beyond come when the line is over, for a place in it."""
MARK = "@"
"""Begins the name of a server in the table of rests, as no host's name does."""
_EARLY = 0.75
"""Share of the expected wait after which to come: who comes early asks once more, for little, and who comes late
leaves the server idle."""
_SOONER = 4
_LATER = 16
"""Turns after which the pace is about that of the last ones: one that took long is rather taken for an exception."""
_CLOSER = 0.9
"""By how much turns are taken to be closer after one that nobody had to wait for."""


_SHOWN = HoldCode.SERVER_CERTIFICATE
SERVER_CODES = frozenset({HoldCode.SERVER, HoldCode.SERVER_CNAME, _SHOWN})
"""Of hosts that wait for others on their server."""


class ServerClaim(msgspec.Struct, frozen=True, gc=False):
    """What a visit wants of a server.

    Attributes:
        name: in the table of rests.
        rest: microseconds that it lies still after the visit.
        limit: visits to it at once.
        code: by what evidence it is one.
    """

    name: str
    rest: int
    limit: int
    code: HoldCode

    @property
    def reason(self) -> Reason:
        """Why a host waits for it."""
        return because(self.code, self.name.removeprefix(MARK))

    def strictest(self, other: "ServerClaim") -> "ServerClaim":
        """Of two claims of one server, by places of several addresses: the longer rest, and fewer visits at once."""
        rest, limit = max(self.rest, other.rest), min(self.limit, other.limit)
        return ServerClaim(self.name, rest, limit, self.code)


Claims = tuple[ServerClaim, ...]
"""Of the servers of one visit, each once, in the order of their names."""


class _Line:
    """Those who wait for one server, and how long its turns take."""

    __slots__ = ("_last", "_tickets", "busy_until", "due", "pace", "refused")

    def __init__(self, pace: float) -> None:
        """`pace`: microseconds from one turn to the next, to begin with."""
        self.due: dict[str, tuple[int, int]] = {}  # (ticket, when it is to come), first come first
        self.pace = max(pace, LEAST_PACE)
        self.refused = True  # somebody, since the last turn: the server was not idle
        self.busy_until = 0  # as the table has said
        self._tickets = 0
        self._last = 0

    def drop_missed(self, name: str, now: int) -> int:
        """Let the first go that have not come, down to `name` at most; how many."""
        missed = 0
        while self.due:
            first = next(iter(self.due))
            if first == name or now <= self.due[first][1] + GRACE:
                break
            del self.due[first]
            missed += 1
        return missed

    def ahead(self, name: str) -> int:
        """How many stand before `name`, about; all, if it does not stand here."""
        if name not in self.due:
            return len(self.due)
        return self.due[name][0] - next(iter(self.due.values()))[0]

    def is_idle(self, now: int) -> bool:
        """The first comes later than need be, or waits for another server: who stands here, and has come, may ask."""
        return self.busy_until <= now < next(iter(self.due.values()), (0, 0))[1]

    def expect(self, name: str, due: int) -> None:
        """`name` stands here, and comes at `due`."""
        known = self.due.get(name)
        if known is None:
            self._tickets += 1
        self.due[name] = (self._tickets if known is None else known[0], due)

    def took_turn(self, now: int) -> None:
        """Somebody has a turn."""
        if not self.refused:
            self.pace = max(self.pace * _CLOSER, LEAST_PACE)  # else what was idle would make it idler
        elif self._last:
            taken = (
                min(now, self.busy_until) - self._last
            )  # without the time in which it was free and nobody came
            longer = max(taken, LEAST_PACE) - self.pace
            self.pace += longer / (_LATER if longer > 0 else _SOONER)
        self._last, self.refused = now, False


class ServerLines:
    """Who waits for which server.

    A server is what an operator has named one, else what evidence shows (`PolitenessConfig.server_by`): each address
    that the name of the host has, whichever of them the visit goes to; each name that it leads to by CNAME, its own
    among them, as others may lead to it; the certificate that the host has shown. What only the visit shows rests, too,
    from its end on: another address, where a connection that was kept open leads, or another certificate.
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
        self._lines: dict[str, _Line] = {}  # where somebody waits
        self._waiting = 0
        self._visited: dict[bytes, list[tuple[Url, Claims]]] = {}

    def claims(self, queue: HostQueue) -> Claims | None:
        """What the next visit to a host wants; `None` if that is not known yet, and is being found out."""
        assert queue.first is not None
        url = queue.first[1].url
        addresses: tuple[str, ...] = ()
        led: tuple[str, ...] = ()
        if self._names is not None and url.host:
            answer = self._names.at_hand(url.host)
            if answer is None:
                self._names.offer(url.host, first=True)
                return None
            addresses, led = answer.addresses, (url.host, *(answer.aliases or ()))
        certificate = next((str(each.values[0]) for each in queue.record.servers if each.code == _SHOWN), "")
        found: dict[str, ServerClaim] = {}
        for address in addresses or ("",):
            for claim in self._claims(url, address, led, certificate):
                found[claim.name] = claim.strictest(found.get(claim.name, claim))
        return tuple(found[name] for name in sorted(found))

    def _claims(
        self, url: Url, address: str, led: tuple[str, ...], certificate: str
    ) -> Iterator[ServerClaim]:
        """Of the servers that an address, the names that lead there and a certificate are evidence of."""
        politeness = self._politeness(url, address)
        if not politeness.by_server:
            return
        evidence: dict[str, HoldCode] = {}
        if politeness.server:
            evidence[politeness.server] = HoldCode.SERVER
        else:
            if "certificate" in politeness.evidence:
                evidence[certificate] = _SHOWN
            if "cname" in politeness.evidence:
                evidence |= dict.fromkeys(led, HoldCode.SERVER_CNAME)
            if "address" in politeness.evidence:
                evidence[address] = HoldCode.SERVER
            evidence.pop("", None)
        rest, limit = int(politeness.address_delay * 1e6), politeness.visits_per_address or 1
        for server, code in evidence.items():
            yield ServerClaim(MARK + server, rest, limit, code)

    def wait(self, name: str, claims: Claims) -> tuple[ServerClaim, int] | None:
        """The server for which others are before the host, and microseconds after which to come; `None`: it may ask."""
        now = self._now()
        for claim in claims if self._lines else ():
            line = self._lines.get(claim.name)
            if line is None:
                continue
            self._waiting -= line.drop_missed(name, now)
            ahead = line.ahead(name)
            stands = name in line.due
            if ahead >= (claim.limit if stands else 1) and not (stands and line.is_idle(now)):
                before = max(ahead - claim.limit + 1, 1)
                wait = min(int(_EARLY * before * line.pace), max(COMES_AGAIN, before * LEAST_APART))
                wait = max(wait, LEAST_PACE)
                self._expect(line, name, claims, now + wait)
                return claim, wait
        return None

    def refused(self, name: str, claims: Claims, claim: ServerClaim, wait: int) -> None:
        """The server of one of the claims is not free for `wait` microseconds: the host stands in line until then."""
        line = self._lines.get(claim.name)
        if line is None:
            line = self._lines[claim.name] = _Line(claim.rest / claim.limit)
        line.refused = True
        line.busy_until = self._now() + wait
        self._expect(line, name, claims, line.busy_until)

    def _expect(self, line: _Line, name: str, claims: Claims, due: int) -> None:
        """`name` comes at `due`, and not before in the other lines that it stands in: those need not wait for it."""
        for claim in claims:
            other = self._lines.get(claim.name)
            if other is not None and other is not line and name in other.due:
                other.expect(name, due)
        if name in line.due or not line.due or self._waiting < IN_LINE:
            self._waiting += name not in line.due
            line.expect(name, due)

    def begin(self, queue: HostQueue, claims: Claims) -> None:
        """A visit to a host that has claimed its servers begins: it stands in no line any more."""
        assert queue.first is not None
        record = queue.record
        self._visited.setdefault(queue.key, []).append((queue.first[1].url, claims))
        for claim in claims if self._lines else ():
            line = self._lines.get(claim.name)
            if line is None:
                continue
            line.took_turn(self._now())
            self._waiting -= line.due.pop(record.name, None) is not None
            if not line.due:
                del self._lines[claim.name]
        if record.reason is not None and record.reason.code in SERVER_CODES:
            record.reason = None

    def end(self, queue: HostQueue, tally: Tally) -> list[tuple[ServerClaim, bool]]:
        """The servers of a visit that is over, and whether they were claimed for it."""
        visits = self._visited[queue.key]
        url, claims = visits.pop(0)
        if not visits:
            del self._visited[queue.key]
        certificate = f"sha256:{tally.certificate.hex()}" if tally.certificate else ""
        claimed = {claim.name for claim in claims}
        others = [
            claim for claim in self._claims(url, tally.address, (), certificate) if claim.name not in claimed
        ]
        replaced = {claim.code for claim in others} & {_SHOWN}  # a certificate by another
        kept = (claim for claim in claims if claim.code not in replaced)
        queue.record.servers = tuple(claim.reason for claim in (*kept, *others))
        return [*((claim, True) for claim in claims), *((claim, False) for claim in others)]
