"""Says how long an agent may act as owner without asking, so that no two ever do at once (W6, W15).

An agent's *tenure* is renewed by its coordinator. Nobody needs to agree on the time, only on how fast it
goes by: every clock is off by at most `DRIFT` (quartz is off by 0.02%; NTP slews by 0.05%). The clocks must
go on while the machine sleeps (CLOCK_BOOTTIME).

The agent counts from the moment a report was *sent* whose answer arrived; the coordinator from the moment it
*answered*, which is later. So whatever delays a message, or loses it, makes the agent's tenure end earlier:

    sent <= answered
    the agent lends       until  sent + lease                    by its clock
    its visits are over at       sent + end + exit               by its clock (the process is gone)
    others may own from          answered + give_away            by the coordinator's clock

so that nobody meets anybody if `(end + exit) / (1 - DRIFT) <= give_away / (1 + DRIFT)`. An answer that comes
late is no danger: its report was sent before it was answered.

The end must come from outside of the agent's event loop: a timer of the kernel that kills (`setitimer`,
SIGALRM with its default action, armed anew by each renewal) works while Python is stuck in C, and strikes a
process that was stopped before it runs again.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import SECONDS

__all__ = ["DRIFT", "Silence", "Tenure", "TenureConfig"]

DRIFT = 0.01
"""How much faster or slower than true time a clock may go."""

NEVER = float("-inf")


class TenureConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long agents own their shards without hearing from their coordinator."""

    lease: Annotated[
        float,
        Meta(
            gt=0, extra=SECONDS, description="an agent that hears nothing for this long begins no more visits"
        ),
    ] = 10.0
    end: Annotated[
        float,
        Meta(gt=0, extra=SECONDS, description="its process ends then, and drops the visits that are open"),
    ] = 15.0
    exit: Annotated[
        float, Meta(ge=0, extra=SECONDS, description="the longest that the end of a process may take")
    ] = 2.0
    give_away: Annotated[
        float,
        Meta(gt=0, extra=SECONDS, description="its hosts are given to others then; sooner risks rudeness"),
    ] = 20.0

    def __post_init__(self) -> None:
        if not self.lease < self.end:
            raise ValueError("lease must be shorter than end, so that open visits may finish")
        if (self.end + self.exit) / (1 - DRIFT) > self.give_away / (1 + DRIFT):
            least = (self.end + self.exit) * (1 + DRIFT) / (1 - DRIFT)
            raise ValueError(
                f"give_away must be at least {least:.1f} s: end, exit, clocks off by {DRIFT:.0%}"
            )


class Tenure:
    """What an agent may do, by its own clock (seconds).

    Invariant: it may lend only if a report of its process, sent less than `lease` ago, was answered.
    """

    def __init__(self) -> None:
        self._lends_until = NEVER
        self._ends = float("inf")

    def renewed(self, sent: float, lease: float, end: float) -> None:
        """A report that left at `sent` was answered; `lease` and `end` are the seconds granted.

        Answers may come in any order; a lease of 0 adds nothing to what was granted before.
        """
        if lease > 0:
            self._lends_until = max(self._lends_until, sent + lease)
        self._ends = sent + end if self._ends == float("inf") else max(self._ends, sent + end)

    def fenced(self) -> None:
        """Somebody else owns what it owned."""
        self._lends_until = NEVER
        self._ends = NEVER

    def may_lend(self, now: float) -> bool:
        """Whether a visit may begin at `now`; ask right before it does."""
        return now < self._lends_until

    def left(self, now: float) -> float:
        """Seconds until open connections must be dropped; infinite before the first renewal."""
        return self._ends - now


class Silence:
    """Since when the coordinator has not answered an agent, by its own clock (seconds).

    A coordinator that begins, for the first time or again, may have answered anyone just before: until
    proof of the contrary everyone was answered when it began.
    """

    def __init__(self, began: float, give_away: float) -> None:
        self._began = began
        self._give_away = give_away
        self._answered: dict[str, float] = {}

    def answered(self, agent: str, now: float) -> None:
        """A renewal is being answered."""
        self._answered[agent] = max(now, self._answered.get(agent, now))

    def since(self, agent: str) -> float | None:
        """When it was answered last; `None` if not since this coordinator began."""
        return self._answered.get(agent)

    def free_at(self, agent: str) -> float:
        """When what the agent owns may be given away if nothing more is heard."""
        return max(self._began, self._answered.get(agent, self._began)) + self._give_away

    def may_give_away(self, agent: str, now: float) -> bool:
        """Whether the agent has surely ended."""
        return now >= self.free_at(agent)

    def forget(self, agent: str) -> None:
        """The agent is no more."""
        self._answered.pop(agent, None)
