"""Reads from a crawl's folder how its last process ended."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec

from gossamer.assembly.disks import elsewhere
from gossamer.assembly.folder import CrawlFolder
from gossamer.control.changes.change_log import read_changes
from gossamer.daemon.jobs.job import Job
from gossamer.daemon.jobs.process import last_words
from gossamer.daemon.jobs.restart import CONFIG, STORAGE, Ending
from gossamer.model.errors import StorageError
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason

_LARGEST = 16 << 20
LOCKED = "another process is crawling into this folder"
"""What a crawl says that finds its folder taken."""

FULL = "no space left on device"
_LEAST_FREE = 1 << 20


class Beginning(msgspec.Struct, frozen=True):
    """What lay in a folder when a process began.

    Attributes:
        log_size: bytes of `crawl.log`: one line for each visit.
        report: which `report.json` was there, or empty.
    """

    log_size: int
    report: str


def beginning(folder: Path) -> Beginning:
    """What lies in the folder before a process begins."""
    paths = CrawlFolder(folder)
    size = 0
    with contextlib.suppress(OSError):
        size = paths.log.stat().st_size
    return Beginning(size, _identity(paths.report))


def read_report(folder: Path) -> dict[str, Any] | None:
    """The figures of the last end; `None` if there are none to be read."""
    path = CrawlFolder(folder).report
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError):
        return None


def ending_of(job: Job, status: int | None, errors: Path, *, stopped: bool) -> Ending:
    """What is known of the end of a job's process.

    Args:
        job: with what lay there when the process began.
        status: of its exit, if it was our child.
        errors: its standard error.
        stopped: it was told to stop and is to stay so.
    """
    folder = Path(job.folder)
    now = beginning(folder)
    report = (read_report(folder) or {}) if now.report and now.report != job.report_was else {}
    words = last_words(errors)
    if status == STORAGE and not words and _is_full(folder):  # what it said last found no room either
        words = FULL
    return Ending(
        status=status,
        report=_ended(report),
        stopped=stopped,
        progressed=now.log_size > job.log_size,
        visited=now.log_size > 0,
        locked=status == CONFIG and LOCKED in words.rpartition(" / ")[2],
        words=words,
    )


def _ended(report: dict[str, Any]) -> Reason | None:
    """Why a crawl ended by its report; those of older versions have the words alone."""
    if "why" in report:
        try:
            return msgspec.convert(report["why"], Reason)
        except msgspec.ValidationError:
            return None
    return told_before(str(report["ended"])) if report.get("ended") else None


def stopped_by_hand(job: Job) -> bool:
    """Somebody told the crawl to stop, past the daemon: that is a wish, not a crash."""
    try:
        changes = read_changes(Path(job.folder))
    except StorageError:
        return False
    last = changes[-1] if changes else None
    return last is not None and last.path == "stop" and last.when >= (job.started or 0.0)


def _is_full(folder: Path) -> bool:
    try:
        return any(shutil.disk_usage(place).free < _LEAST_FREE for place in (folder, *elsewhere(folder)))
    except OSError:
        return False


def _identity(path: Path) -> str:
    """Which file this is: each report is a new one, put in the place of the old."""
    try:
        status = os.stat(path)  # noqa: PTH116 - one call for all
    except OSError:
        return ""
    return f"{status.st_ino}:{status.st_mtime_ns}:{status.st_size}"
