"""Decides what becomes of a job whose process has ended."""

from enum import StrEnum

import msgspec

from gossamer.daemon.config import RestartConfig
from gossamer.model.reasons.codes import JobCode, TextCode
from gossamer.model.reasons.ends import FAILED, INTERRUPTED, UNREACHABLE
from gossamer.model.reasons.reason import Reason, because

CONFIG, STORAGE = 2, 3
"""Exit statuses (docs/results.md)."""
STORAGE_WAIT = 30.0
"""Seconds at least before a crawl tries a disk again that has failed it."""


class Verdict(StrEnum):
    """What becomes of a job whose process ended."""

    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    AGAIN = "again"


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a process's end.

    Attributes:
        status: of the exit, negative for a signal; `None` of a process that was not our child.
        report: why the crawl ended, by the report that this process wrote, if it wrote one.
        stopped: it was told to stop, so that it stays stopped.
        progressed: a visit was settled while it ran.
        visited: a visit was ever settled.
        locked: another process had the folder; whoever that was has gone since.
        words: the last it said on standard error.
    """

    status: int | None
    report: Reason | None = None
    stopped: bool = False
    progressed: bool = False
    visited: bool = False
    locked: bool = False
    words: str = ""


class Sentence(msgspec.Struct, frozen=True):
    """What becomes of a job.

    Attributes:
        verdict: what.
        reason: why, if that is more than the verdict says.
        crashes: in a row, this one included.
        wait: seconds until it is started again.
    """

    verdict: Verdict
    reason: Reason | None
    crashes: int = 0
    wait: float = 0.0


def judge(ending: Ending, crashes: int, config: RestartConfig) -> Sentence:
    """Pass sentence.

    Args:
        crashes: in a row before this end.
    """
    if ending.report and ending.report not in (INTERRUPTED, FAILED, UNREACHABLE):
        return Sentence(Verdict.FINISHED, ending.report)
    if ending.stopped:
        return Sentence(Verdict.STOPPED, None if ending.report == INTERRUPTED else _how(ending))
    if ending.report == UNREACHABLE:
        if not ending.visited:
            return Sentence(Verdict.FAILED, _said(Reason(JobCode.NO_SEED), ending))
        # It has worked before, so it is the network that is away. That comes back.
        return Sentence(Verdict.AGAIN, Reason(JobCode.NO_SERVER), crashes + 1, _wait(config, crashes + 1))
    if ending.status == CONFIG and not ending.locked:
        return Sentence(Verdict.FAILED, _said(Reason(JobCode.MISCONFIGURED), ending))
    crashes = 1 if ending.progressed else crashes + 1
    how = _how(ending)
    if crashes >= config.give_up:
        return Sentence(Verdict.FAILED, because(JobCode.GIVEN_UP, crashes, how), crashes)
    wait = _wait(config, crashes)
    if ending.status == STORAGE:
        wait = max(wait, min(STORAGE_WAIT, config.longest_wait))
    return Sentence(Verdict.AGAIN, how, crashes, wait)


def _wait(config: RestartConfig, crashes: int) -> float:
    return float(min(config.first_wait * 2.0 ** min(crashes - 1, 60), config.longest_wait))


def _how(ending: Ending) -> Reason:
    """How a process ended that should not have."""
    status = ending.status
    if status is None:
        how = Reason(JobCode.DIED)
    elif status < 0:
        how = because(JobCode.KILLED, -status)
    elif ending.report == INTERRUPTED:
        how = Reason(JobCode.OUTSIDE)
    elif status == STORAGE:
        how = Reason(JobCode.DISK)
    else:
        how = because(JobCode.ENDED_WITH, status)
    return _said(how, ending)


def _said(what: Reason, ending: Ending) -> Reason:
    """With what the process said last."""
    return because(TextCode.BECAUSE, what, ending.words) if ending.words else what
