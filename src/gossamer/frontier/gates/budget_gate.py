"""Lets a host have its turn while its budget and its domain's last."""

from collections.abc import Callable

from gossamer.frontier.config import HostPolicy
from gossamer.frontier.domains import DOMAIN_OUT_SECONDS, DomainTable
from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.model.reasons.reason import Reason


class BudgetGate:
    """Parks hosts whose budget is spent; they rest where pages of theirs come again, which cost none of it."""

    def __init__(
        self,
        policy: HostPolicy,
        domains: DomainTable | None,
        rest: Callable[[str, float, Reason], None],
        park: Callable[[str, Reason], None],
        again: Callable[[HostQueue], float | None] = lambda _: None,
    ) -> None:
        """`rest(name, seconds, reason)` and `park(name, reason)`, as of the frontier; `again(queue)`: seconds until a
        page of the host comes again, `None` if none does."""
        self._policy = policy
        self._domains = domains
        self._rest = rest
        self._park = park
        self._again = again

    def judge(self, queue: HostQueue) -> Turn:
        """Whether one more lease may go out; it need not be known which."""
        record = queue.record
        spent = self._policy.budget_spent(record.name, record.pages + len(queue.lent), record.bytes)
        if not spent and self._domains is not None:
            spent = self._domains.spent(record.name)
            if spent and not queue.lent and self._domains.lent(record.name):
                # What other hosts of the domain have out may not count as pages: the turn may come yet.
                self._rest(record.name, DOMAIN_OUT_SECONDS, spent)
                return Turn.WAIT
        if spent and not queue.lent:
            seconds = self._again(queue)
            if seconds is None:
                self._park(record.name, spent)
            else:
                queue.credit = max(queue.credit, 1.0)  # what is new does not go first, it does not go at all
                self._rest(record.name, seconds, spent)
        return Turn.WAIT if spent else Turn.GO
