"""Shares a limit among agents so that it is never exceeded, and is used to the end."""

from collections.abc import Iterable

__all__ = ["LEAST_SHARE", "Allowances"]

LEAST_SHARE = 16
"""Near the end the agents that were quick of late get so many each, and the others none: what little is left
should not lie with agents whose hosts rest."""


class _Holding:
    """What one agent may have: the most of what it holds, has used, and may yet be told."""

    __slots__ = ("allowance", "hungry", "most", "on_the_way", "rank", "used")

    def __init__(self) -> None:
        self.used = 0
        self.allowance = 0
        self.hungry = False
        self.rank = 0  # rises when it uses something
        self.on_the_way: dict[
            int, int
        ] = {}  # by number of the report answered: answers not known to have come
        self.most = 0

    def weigh(self) -> None:
        self.most = max(self.used, self.allowance, *self.on_the_way.values(), 0)


class Allowances:
    """The allowance of an agent is how many it may have in all; every answer renews it, up or down.

    Agents use no more than the allowance that they hold. Of their answers, numbered like the reports that
    they answer, those count that are later than the last that counted; a report tells which that was.

    Invariant: the sum over agents of the most that each may have, whichever answers arrive, is at most the
    limit (or what was used before it was lowered). So the limit is never exceeded, however messages are
    lost, late or double.

    A coordinator that begins anew does not know what agents hold: it gives nothing away until all have
    reported.
    """

    def __init__(self, limit: int, holders: Iterable[str] = ()) -> None:
        """`holders`: agents that may hold allowances which this process did not give."""
        self.limit = limit
        self._unheard = set(holders)
        self._holdings: dict[str, _Holding] = {}
        self._gone: dict[str, int] = {}
        self._gone_used = 0
        self._most = 0
        self._uses = 0
        self._shares: dict[str, int] = {}

    @property
    def used(self) -> int:
        """By all, as far as reported."""
        return self._gone_used + sum(holding.used for holding in self._holdings.values())

    @property
    def spent(self) -> bool:
        """Whether the whole limit has been used."""
        return self.used >= self.limit

    @property
    def free(self) -> int:
        """What nobody has and nobody may be told to have; 0 while there are agents that have not reported."""
        return 0 if self._unheard else max(0, self.limit - self._gone_used - self._most)

    def reported(self, agent: str, answered: int, used: int, allowance: int, hungry: bool) -> None:
        """What an agent says: the last answer that counted, and how things stand after it.

        Reports must be given in their order; one that is late must be left out.
        """
        self._unheard.discard(agent)
        self._back(agent)
        holding = self._holdings.setdefault(agent, _Holding())
        if used > holding.used:
            self._uses += 1
            holding.rank = self._uses
        holding.used = used
        holding.allowance = allowance
        holding.hungry = hungry
        for number in [number for number in holding.on_the_way if number <= answered]:
            del holding.on_the_way[number]
        self._weigh(holding)

    def began(self, agent: str) -> None:
        """A new process of the agent: answers to the old one reach nobody, what it used is to be heard."""
        if agent in self._holdings:
            holding = self._holdings[agent]
            holding.allowance = holding.most
            holding.on_the_way.clear()
            self._weigh(holding)

    def share(self) -> None:
        """Decide anew what everyone should have; once a second, say."""
        hungry = [(holding.rank, agent) for agent, holding in self._holdings.items() if holding.hungry]
        left = max(0, self.limit - self.used)
        share = max(left // max(1, len(hungry)), LEAST_SHARE)
        self._shares = {}
        for _, agent in sorted(hungry, reverse=True):
            self._shares[agent] = min(share, left)
            left -= self._shares[agent]

    def grant(self, agent: str, number: int) -> int:
        """The allowance to tell in the answer to report `number`; 0 if nothing was `reported` of the agent."""
        holding = self._holdings.get(agent)
        if holding is None:
            return 0
        wanted = holding.used + self._shares.get(agent, 0)
        granted = min(wanted, holding.most + self.free)
        holding.on_the_way[number] = granted
        self._weigh(holding)
        return granted

    def gone(self, agent: str, used: int) -> None:
        """The agent is no more; what it used counts as `used` says."""
        self._unheard.discard(agent)
        self._back(agent)
        holding = self._holdings.pop(agent, None)
        if holding is not None:
            self._most -= holding.most
        self._shares.pop(agent, None)
        self._gone[agent] = used
        self._gone_used += used

    def _back(self, agent: str) -> None:
        self._gone_used -= self._gone.pop(agent, 0)

    def _weigh(self, holding: _Holding) -> None:
        self._most -= holding.most
        holding.weigh()
        self._most += holding.most
