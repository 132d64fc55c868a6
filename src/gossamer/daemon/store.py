"""Keeps jobs, limits and the record of who did what in the daemon's database."""

import time
from collections import OrderedDict, deque
from typing import Any, TypeAlias

import msgspec

from gossamer.daemon.allocation.claims import Amounts
from gossamer.daemon.database import Database, FullDiskError
from gossamer.daemon.jobs.job import Job
from gossamer.model.errors import StorageError
from gossamer.model.reasons.reason import Reason

LIMITS = "limits"
MOST_AUDIT = 100_000
"""Lines of the record that are kept."""
MOST_WAITING = 1_000
"""Lines of the record that wait for space on the disk; the oldest are lost."""
_TRIM_EVERY = 1_000
_LONGEST = 4_000
"""Characters of one audit line: a pasted configuration is not a line."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS jobs (name TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL,"
    " who TEXT NOT NULL, job TEXT NOT NULL, action TEXT NOT NULL, details TEXT NOT NULL) STRICT",
)

_Write: TypeAlias = tuple[str, tuple[Any, ...]]
"""A statement and its values."""


class AuditLine(msgspec.Struct, frozen=True):
    """Somebody did something.

    Attributes:
        id: rises.
        time: seconds of the wall clock.
        who: a user, `cli`, or `daemon`.
        job: the job's name, or empty.
        action: a word.
        details: for people; `why` is the same as a value, where it is a reason.
    """

    id: int
    time: float
    who: str
    job: str
    action: str
    details: str
    why: Reason | None = None


class Store:
    """Jobs by name, a few values, the audit.

    What a full disk does not take waits in memory, and is written once there is space: what is true of a job
    is shown nevertheless, and a crawl can be stopped then, above all.

    Raises:
        StorageError: of any method: see `Database`; never because the disk is full.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._lines = 0
        self._records: OrderedDict[str, _Write] = OrderedDict()
        self._audit: deque[_Write] = deque(maxlen=MOST_WAITING)
        for table in _TABLES:
            database.execute(table)
        if not any(column[1] == "why" for column in database.query("PRAGMA table_info(audit)")):
            database.execute("ALTER TABLE audit ADD COLUMN why TEXT NOT NULL DEFAULT ''")

    # Jobs

    def jobs(self) -> list[Job]:
        """All jobs on record, by name."""
        found = self.database.query("SELECT name, record FROM jobs ORDER BY name")
        return [_read(name, record) for name, record in found]

    def save(self, job: Job) -> None:
        """Write a job's record, new or not."""
        record = msgspec.json.encode(job).decode()
        statement = "INSERT OR REPLACE INTO jobs (name, record) VALUES (?, ?)"
        self._keep(f"job {job.name}", statement, (job.name, record))

    def forget(self, name: str) -> None:
        """Remove the record of a job."""
        self._keep(f"job {name}", "DELETE FROM jobs WHERE name = ?", (name,))

    # Limits that were changed while the daemon ran

    def limits(self) -> Amounts:
        """Those that are not as in `service.toml`."""
        found = self.database.query("SELECT value FROM kept WHERE name = ?", (LIMITS,))
        return msgspec.json.decode(found[0][0], type=Amounts) if found else {}

    def keep_limits(self, limits: Amounts) -> None:
        """Remember them for the next daemon."""
        value = msgspec.json.encode(limits).decode()
        self._keep(LIMITS, "INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)", (LIMITS, value))

    def _keep(self, what: str, statement: str, values: tuple[Any, ...]) -> None:
        """Write the newest that is known of something; what was known before need not be."""
        self._records[what] = (statement, values)
        self.catch_up()

    def catch_up(self) -> bool:
        """Write what waits for space on the disk; whether nothing is left."""
        try:
            while self._records:
                self.database.execute(*next(iter(self._records.values())))
                self._records.popitem(last=False)
            while self._audit:
                self.database.execute(*self._audit[0])
                self._audit.popleft()
        except FullDiskError:
            return False
        return True

    # The audit

    def note(self, who: str, action: str, job: str = "", details: Reason | str = "") -> None:
        """Add a line; the oldest go when there are too many."""
        statement = "INSERT INTO audit (time, who, job, action, details, why) VALUES (?, ?, ?, ?, ?, ?)"
        why = msgspec.json.encode(details).decode() if isinstance(details, Reason) else ""
        line = (time.time(), who[:200], job[:200], action[:200], str(details)[:_LONGEST], why)
        self._audit.append((statement, line))
        self._lines += 1
        if self.catch_up() and self._lines % _TRIM_EVERY == 0:
            self.database.execute(
                "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?", (MOST_AUDIT,)
            )

    def audit(self, before: int | None, limit: int, job: str = "") -> list[AuditLine]:
        """Lines with smaller numbers than `before`, the newest first; of one job, if it is named."""
        found: list[tuple[Any, ...]] = self.database.query(
            "SELECT id, time, who, job, action, details, why FROM audit"
            " WHERE id < ? AND (? = '' OR job = ?) ORDER BY id DESC LIMIT ?",
            (before if before is not None else 1 << 62, job, job, limit),
        )
        return [_audit_line(row) for row in found]


_decode = msgspec.json.Decoder(Reason).decode


def _audit_line(row: tuple[Any, ...]) -> AuditLine:
    number, when, who, job, action, details, why = row
    return AuditLine(number, when, who, job, action, details, _decode(why) if why else None)


def _read(name: str, record: str) -> Job:
    try:
        return msgspec.json.decode(record, type=Job)
    except msgspec.MsgspecError as error:
        raise StorageError(f"service.db: the record of job {name!r} is damaged: {error}.") from None
