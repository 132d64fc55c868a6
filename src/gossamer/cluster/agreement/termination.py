"""Finds out that a crawl by many agents is over, by counting twice (K17; Mattern's double count, 1987)."""

from collections.abc import Iterable

import msgspec

__all__ = ["Account", "Termination"]


class Account(msgspec.Struct, frozen=True):
    """What an agent says in one wave; all read at one moment after it heard of the wave.

    Attributes:
        incarnation: counts its processes: one that came back may have an older state.
        idle: nothing to do now, and nothing will fall due unless a message comes.
        owed: messages it sent that their receivers, as they are now, have not said to have applied.
        sent: messages it sent, ever.
        received: messages of others it applied, ever.
    """

    incarnation: int
    idle: bool
    owed: int
    sent: int
    received: int

    @property
    def quiet(self) -> bool:
        """Whether it waits for others only, and nobody for it."""
        return self.idle and self.owed == 0


class Termination:
    """Waves of questions to all agents, until two in a row have the same answers, all of them quiet.

    **Protocol.** A wave is a number, told to every agent with everything else it is told. An agent's account
    belongs to a wave if it was read after the agent heard of it. A wave is complete when every member has
    given an account in it; only then the next one begins. `restart` forgets all waves: it must be called
    when members, their incarnations, or owners of shards change, and whenever something from outside makes
    work.

    **The crawl is over** if in two successive complete waves every agent was quiet, and its account the same.

    **Argument.** Let t be a moment after the last account of the first wave, and before the second was told
    to anyone. Each agent's first account was read before t, its second after t, and `sent` and `received`
    only grow within an incarnation; they are equal, so between its two accounts each agent neither sent nor
    applied anything. It was idle at the first, and only a message makes an idle agent work; so at t it was
    idle. Nothing was owed to anyone at its first account, and it sent nothing until its second; so at t no
    message was on its way. At t, then, nobody was working and there was nothing that could wake anyone: so
    it is for ever.

    Why not compare the sums of sent and received (four counters)? Because an agent that is lost takes its
    counts back to its last snapshot, while others have applied what it sent after: the sums would never
    agree again. `owed` is true for each sender by itself, whatever was lost: a receiver that went back says
    so, by another incarnation or another owner of the shard, and its senders owe again what no snapshot
    covers.

    **Losses.** An agent that is lost, or comes back, after t goes back to a state in which there was work.
    It is known by its incarnation or its silence; so who uses the verdict must have every agent confirm its
    end with a last snapshot, and go on (`restart`) if one is lost before.

    Attributes:
        wave: the number to tell; rises, 0 is none.
        over: the verdict. Stays true until `restart`.
    """

    def __init__(self, wave: int = 1) -> None:
        """`wave`: the first; greater than any that may still be echoed."""
        self.wave = wave
        self.over = False
        self._members: frozenset[str] = frozenset()
        self._told: dict[str, Account] = {}
        self._before: dict[str, Account] | None = None

    def restart(self, members: Iterable[str]) -> None:
        """Begin anew, with these agents."""
        self.wave += 1
        self.over = False
        self._members = frozenset(members)
        self._told = {}
        self._before = None

    def report(self, agent: str, wave: int, account: Account) -> None:
        """An agent's account; those of other waves than this one, or of strangers, do not count."""
        if wave != self.wave or agent not in self._members or self.over:
            return
        self._told[agent] = account
        if len(self._told) == len(self._members):
            self._complete()

    def _complete(self) -> None:
        quiet = all(account.quiet for account in self._told.values())
        self.over = quiet and self._told == self._before
        self._before = self._told if quiet else None
        self._told = {}
        self.wave += 1
