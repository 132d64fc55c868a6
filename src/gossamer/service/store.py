"""Keeps jobs, limits and the record of who did what in the daemon's database."""

import time
from typing import Any

import msgspec

from gossamer.model.errors import StorageError
from gossamer.service.claims import Amounts
from gossamer.service.database import Database
from gossamer.service.jobs import Job

LIMITS = "limits"
MOST_AUDIT = 100_000
"""Lines of the record that are kept."""
_TRIM_EVERY = 1_000
_LONGEST = 4_000
"""Characters of one audit line: a pasted configuration is not a line."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS jobs (name TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS audit (id INTEGER PRIMARY KEY AUTOINCREMENT, time REAL NOT NULL,"
    " who TEXT NOT NULL, job TEXT NOT NULL, action TEXT NOT NULL, details TEXT NOT NULL) STRICT",
)


class AuditLine(msgspec.Struct, frozen=True):
    """Somebody did something.

    Attributes:
        id: rises.
        time: seconds of the wall clock.
        who: a user, `cli`, or `daemon`.
        job: the job's name, or empty.
        action: a word.
        details: for people.
    """

    id: int
    time: float
    who: str
    job: str
    action: str
    details: str


class Store:
    """Jobs by name, a few values, the audit.

    Raises:
        StorageError: of any method: see `Database`.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._lines = 0
        for table in _TABLES:
            database.execute(table)

    # Jobs

    def jobs(self) -> list[Job]:
        """All, by name."""
        found = self.database.query("SELECT name, record FROM jobs ORDER BY name")
        return [_read(name, record) for name, record in found]

    def save(self, job: Job) -> None:
        """Write a job's record, new or not."""
        record = msgspec.json.encode(job).decode()
        self.database.execute("INSERT OR REPLACE INTO jobs (name, record) VALUES (?, ?)", (job.name, record))

    def forget(self, name: str) -> None:
        """Remove a job's record."""
        self.database.execute("DELETE FROM jobs WHERE name = ?", (name,))

    # Limits that were changed while the daemon ran

    def limits(self) -> Amounts:
        """Those that are not as in `service.toml`."""
        found = self.database.query("SELECT value FROM kept WHERE name = ?", (LIMITS,))
        return msgspec.json.decode(found[0][0], type=Amounts) if found else {}

    def keep_limits(self, limits: Amounts) -> None:
        """Remember them for the next daemon."""
        value = msgspec.json.encode(limits).decode()
        self.database.execute("INSERT OR REPLACE INTO kept (name, value) VALUES (?, ?)", (LIMITS, value))

    # The audit

    def note(self, who: str, action: str, job: str = "", details: str = "") -> None:
        """Add a line; the oldest go when there are too many."""
        self.database.execute(
            "INSERT INTO audit (time, who, job, action, details) VALUES (?, ?, ?, ?, ?)",
            (time.time(), who[:200], job[:200], action[:200], details[:_LONGEST]),
        )
        self._lines += 1
        if self._lines % _TRIM_EVERY == 0:
            self.database.execute(
                "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?", (MOST_AUDIT,)
            )

    def audit(self, before: int | None, limit: int, job: str = "") -> list[AuditLine]:
        """Lines with smaller numbers than `before`, the newest first; of one job, if it is named."""
        found: list[tuple[Any, ...]] = self.database.query(
            "SELECT id, time, who, job, action, details FROM audit"
            " WHERE id < ? AND (? = '' OR job = ?) ORDER BY id DESC LIMIT ?",
            (before if before is not None else 1 << 62, job, job, limit),
        )
        return [AuditLine(*line) for line in found]


def _read(name: str, record: str) -> Job:
    try:
        return msgspec.json.decode(record, type=Job)
    except msgspec.MsgspecError as error:
        raise StorageError(f"service.db: the record of job {name!r} is damaged: {error}.") from None
