"""Tells the frontier what each visit brought, so that it can share out a host's visits by it (W16)."""

from gossamer.engine.settlement.drop_one import DropOne
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.model.disposition import Done, Dropped
from gossamer.model.lease import Lease
from gossamer.model.outcome import Fetched, Refused, Rule
from gossamer.model.url import Url
from gossamer.policy.branches.novelty import LONGEST_TEXT
from gossamer.policy.ordering.ordering import is_robots
from gossamer.policy.speculation.form import is_question
from gossamer.state.records import PageRecord

SHORT_TEXT = 8 << 10
"""Bytes of pages that are always looked at, some 15 ns each: what is passed over sounds new in its copies."""
LOOKED_AT = 256, 2 << 10
"""Bytes of longer ones that are looked at for each visit, in branches that go well and in doubtful ones."""
_ENDS = Done, Dropped


class Yields:
    """Judges what visits brought by what their hosts have said before."""

    def __init__(self, frontier: Frontier, drop_one: DropOne | None) -> None:
        self._frontier = frontier
        self._drop_one = drop_one
        self._credit = [LONGEST_TEXT, LONGEST_TEXT]

    def longest_text(self, lease: Lease) -> int:
        """Bytes of a page up to which it is to be known what it says; 0: of none."""
        candidate = lease.candidate
        if self._drop_one is not None and self._drop_one.wants_text(candidate.url):
            return LONGEST_TEXT
        doubtful = self._frontier.queues.is_doubtful(self._frontier.host_hash(lease.queue_key), lease.ticket)
        if doubtful is None or is_robots(candidate):
            return 0
        self._credit[doubtful] = min(self._credit[doubtful] + LOOKED_AT[doubtful], LONGEST_TEXT)
        return max(self._credit[doubtful], SHORT_TEXT)

    def learn(
        self, visit: Visit, judgement: Judgement, before: PageRecord | None, first_seen: str
    ) -> float | None:
        """Learn from a visit that is being settled, if it is the first that the URL came to an end with.

        How much of what it says is new on its host, as far as that was looked at. What a form answers says nothing of
        its branch: nobody but us leads there, and `policy.speculation` knows when it is enough.

        `first_seen`: a URL at which its content was met before; on its own host that makes it a copy.
        """
        ended = isinstance(judgement.disposition, _ENDS)
        if self._drop_one is not None and ended:
            self._drop_one.settled(visit)
        lease = visit.lease
        if not ended or is_robots(lease.candidate):
            return None
        if lease.candidate.again or (before is not None and before.state not in ("rejected", "retry")):
            return None
        host = self._frontier.host_hash(lease.queue_key)
        said, queues = visit.said, self._frontier.queues
        value: float | None = None
        outcome = visit.outcome
        shown_elsewhere = isinstance(outcome, Refused) and outcome.rule in (Rule.TWIN, Rule.MIRROR)
        if shown_elsewhere or judgement.elsewhere is not None:
            queues.learn(host, lease.ticket, None)  # it says nothing of what is there
        elif is_question(lease.candidate.element):
            value = queues.value(host, said) if said is not None else None
            queues.learn(host, lease.ticket, None)
        elif not isinstance(visit.outcome, Fetched) or visit.page is None or self._is_copy(host, first_seen):
            queues.learn(host, lease.ticket, 0.0)
        elif said is None:
            queues.learn(host, lease.ticket, None)
        else:
            value = queues.value(host, said)
            doubtful = queues.learn(host, lease.ticket, value)
            if not said.size:
                self._credit[bool(doubtful)] -= visit.outcome.exchange.body.size
        return value

    def _is_copy(self, host: bytes, first_seen: str) -> bool:
        """Whether its host has said the same before; who says what another does would be a mirror."""
        first = Url.from_serialised(first_seen) if first_seen else None
        return first is not None and self._frontier.host_key(first)[0] == host
