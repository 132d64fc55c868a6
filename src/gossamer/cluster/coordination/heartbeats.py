"""Keeps what agents said of themselves since the coordinator began, which it may forget."""

from typing import NamedTuple

from gossamer.cluster.agreement.allowance import Allowances
from gossamer.cluster.agreement.termination import Account, Termination
from gossamer.cluster.coordination.record import PRESENT, Record
from gossamer.cluster.protocol import UNLIMITED, Report

__all__ = ["Heartbeat", "Heartbeats"]


class Heartbeat(NamedTuple):
    """The latest report of an agent.

    Attributes:
        report: in the present incarnation.
        snapshot_at: when its latest snapshot was first heard of; `None` if with the first report.
    """

    report: Report
    snapshot_at: float | None


class Heartbeats:
    """Reports, and what is made of them: allowances, waves."""

    def __init__(self, record: Record, wave: int) -> None:
        """`wave`: above all that were told before."""
        config = record.config
        present = [agent.name for agent in record.present]
        self._term = record.term
        self._heard: dict[str, Heartbeat] = {}
        self._termination = Termination(wave)
        self._pages = Allowances(config.max_pages, present) if config.max_pages else None
        self._bytes = Allowances(config.max_bytes, present) if config.max_bytes else None
        for agent in record.agents.values():
            if agent.state not in PRESENT:
                self.gone(agent.name, agent.pages, agent.bytes)

    @property
    def wave(self) -> int:
        """Number of the count of messages to tell agents of."""
        return self._termination.wave

    @property
    def finished(self) -> bool:
        """Whether nobody has anything left to do."""
        return self._termination.over

    def spent(self) -> tuple[int, int]:
        """Pages and bytes that count towards the limits; 0 without a limit."""
        return (
            0 if self._pages is None else self._pages.used,
            0 if self._bytes is None else self._bytes.used,
        )

    def of(self, agent: str) -> Heartbeat | None:
        """What an agent said last, if it spoke since the coordinator and its own process began."""
        return self._heard.get(agent)

    def fresh(self, report: Report) -> bool:
        """Whether it is later than all before of its agent."""
        heard = self._heard.get(report.agent)
        return heard is None or report.number > heard.report.number

    def hear(self, report: Report, now: float) -> None:
        """Take note of a fresh report."""
        before = self._heard.get(report.agent)
        snapshot_at = None
        if before is not None:
            snapshot_at = now if report.snapshot != before.report.snapshot else before.snapshot_at
        self._heard[report.agent] = Heartbeat(report, snapshot_at)
        account = Account(report.incarnation, report.idle, report.owed, report.sent, report.received)
        self._termination.report(report.agent, report.wave, account)
        if report.term != self._term:
            return  # answers of the coordinator before this one may still be on the way to the agent
        if self._pages is not None:
            self._pages.reported(
                report.agent, report.answered, report.pages, report.page_allowance, not report.idle
            )
        if self._bytes is not None:
            self._bytes.reported(
                report.agent, report.answered, report.bytes, report.byte_allowance, not report.idle
            )

    def allowances(self, report: Report) -> tuple[int, int]:
        """Pages and bytes to allow in the answer to a report."""
        heard = report.term == self._term
        return (
            _granted(self._pages, report, report.page_allowance if not heard else None),
            _granted(self._bytes, report, report.byte_allowance if not heard else None),
        )

    def began(self, agent: str) -> None:
        """A new process of the agent."""
        self._heard.pop(agent, None)
        for allowances in (self._pages, self._bytes):
            if allowances is not None:
                allowances.began(agent)

    def gone(self, agent: str, pages: int, bytes_: int) -> None:
        """The agent is no more; its sums count as given."""
        self._heard.pop(agent, None)
        if self._pages is not None:
            self._pages.gone(agent, pages)
        if self._bytes is not None:
            self._bytes.gone(agent, bytes_)

    def share(self) -> None:
        """Share out anew what is left of the limits."""
        for allowances in (self._pages, self._bytes):
            if allowances is not None:
                allowances.share()

    def recount(self, record: Record) -> None:
        """Begin to count anew, among the agents of a record."""
        self._termination.restart(agent.name for agent in record.present)


def _granted(allowances: Allowances | None, report: Report, held: int | None) -> int:
    if allowances is None:
        return UNLIMITED
    return allowances.grant(report.agent, report.number) if held is None else held
