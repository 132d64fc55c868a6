"""Says when suspects may be visited: behind all that can be visited before long, but never behind less."""

from collections.abc import Callable

from gossamer.frontier.host_queue import HostQueue
from gossamer.frontier.rota import Rota
from gossamer.policy.trap_learner import SUSPECT
from gossamer.policy.trap_quota import SuspectQuota

PATIENCE = 3_000_000
"""Microseconds within which something better must come for suspects to wait for it: an ordinary rest."""
LONGEST_PATIENCE = 10_000_000
"""The same where hosts are told to rest for longer than `PATIENCE`."""
LOOK_AGAIN = 100_000
"""Microseconds after which something better is looked for again where there was nothing."""
LOOKED_AT = 2_000
"""Resting hosts among which it is looked for."""

FIRST_SUSPECT = bytes((SUSPECT << 4,))
"""No ticket of a suspect stands before this."""

Visit = tuple[bytes, bytes]
"""(host queue, ticket) of a lease."""


class SuspectTurns:
    """Counts leases by whether they are suspects'; looks which hosts will have had their rest soon.

    Something better is a host whose rest ends within the patience, or a visit under way that is younger:
    then its host, or what it leads to, comes soon. A visit that hangs is none, nor is a host that fails or
    rests for a reason of its own: that may go on for hours, a visit every few seconds. And when nothing
    better was lent for as long as the patience, whatever the reason, nothing is waited for.

    What is ready is always lent before suspects are asked about. A visit is as old as the first question that
    a suspect asked after it had begun, so that visits cost no look at the clock while none asks.
    """

    __slots__ = ("_better", "_lent", "_lent_at", "_look_at", "_now", "_quota", "_rest", "_rota")

    def __init__(
        self, share: float, rest: Callable[[str], float], rota: Rota, now: Callable[[], int]
    ) -> None:
        """`share`: of all visits, for suspects that wait; `rest(name)`: of a host, seconds, as configured."""
        self._quota = SuspectQuota(share)
        self._rest = rest
        self._rota = rota
        self._now = now
        self._better: dict[Visit, int] = {}  # leases out that are no suspects', since when; 0: nobody asked
        self._lent = True  # something better, since the last question
        self._lent_at = 0
        self._look_at = 0

    def allows(self, name: str) -> bool:
        """Whether a suspect of the host `name`, which is ready, may be visited now."""
        return self._quota.allows(others=self._waits(name))

    def lent(self, queue: HostQueue, place: bytes) -> None:
        """A lease goes out."""
        suspect = max(place[0] >> 4, queue.behind) >= SUSPECT
        self._quota.count(suspect=suspect)
        record = queue.record
        if not (suspect or record.failures or record.reason):
            self._better[queue.key, place] = 0
            self._lent = True

    def settled(self, host: bytes, place: bytes) -> None:
        """It comes back."""
        self._better.pop((host, place), None)

    def _waits(self, name: str) -> bool:
        now = self._now()
        if self._lent:
            self._note(now)
        patience = min(max(PATIENCE, int(self._rest(name) * 1e6)), LONGEST_PATIENCE)
        if now - self._lent_at > patience:
            return False
        if self._better and now - self._better[next(reversed(self._better))] <= patience:
            return True
        if now < self._look_at:
            return False
        # Ready hosts need not be looked at: the best of them is the suspect that is asked about.
        for queue in self._rota.rested_by(now + patience, LOOKED_AT):
            record = queue.record
            if record.failures or record.reason or not queue.has_entry:
                continue
            if queue.first_ticket < FIRST_SUSPECT:
                return True
        self._look_at = now + LOOK_AGAIN
        return False

    def _note(self, now: int) -> None:
        """Something better was lent since the last question."""
        self._lent, self._lent_at, self._look_at = False, now, 0
        for visit in reversed(self._better):
            if self._better[visit]:
                return
            self._better[visit] = now
