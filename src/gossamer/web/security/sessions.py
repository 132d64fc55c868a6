"""Keeps who is logged in, so that it outlives the daemon and ends when an account does."""

import contextlib
import hashlib
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from gossamer.daemon.database import Database, FullDiskError
from gossamer.daemon.security_config import SecurityConfig
from gossamer.web.security.visitor import Role, Visitor

_MOST_OF_ONE = 20
"""Log-ins of one account at once; the one that was longest unused makes room."""
_USE_NOTED_EVERY = 60.0
"""Seconds; a session's last use is not written more often."""

_TABLE = """CREATE TABLE IF NOT EXISTS sessions (
    key TEXT PRIMARY KEY, account TEXT NOT NULL, password TEXT NOT NULL, csrf TEXT NOT NULL,
    created REAL NOT NULL, used REAL NOT NULL)"""


class NewSession(NamedTuple):
    """What a fresh log-in gives the browser."""

    cookie: str
    """Value of the cookie; the store has only its hash, so a stolen store logs nobody in."""
    visitor: Visitor


class Sessions:
    """Log-ins.

    A session holds if and only if its account is there with the password it was made under, and neither
    `session` since its start nor `idle` since its last use has passed.
    """

    def __init__(
        self, database: Database, config: SecurityConfig, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._config = config
        self._clock = clock
        database.execute(_TABLE)

    def begin(self, account: str) -> NewSession | None:
        """A session for somebody whose password was right; None: the account went meanwhile."""
        rows = self._database.query("SELECT password, role FROM accounts WHERE name = ?", (account,))
        if not rows:
            return None
        [(password, role)] = rows
        now = self._clock()
        self._forget_old(account, now)
        cookie, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        key = _digest(cookie)
        self._database.execute(
            "INSERT INTO sessions (key, account, password, csrf, created, used) VALUES (?, ?, ?, ?, ?, ?)",
            (key, account, _digest(password), csrf, now, now),
        )
        visitor = Visitor(name=account, role=Role(role), csrf=csrf, by="session", session=key)
        return NewSession(cookie, visitor)

    def find(self, cookie: str) -> Visitor | None:
        """Whose cookie it is; None: nobody's, or no longer."""
        if not cookie.isascii() or len(cookie) > 100:
            return None
        key = _digest(cookie)
        rows = self._database.query(
            "SELECT accounts.name, accounts.role, accounts.password, sessions.password, sessions.csrf,"
            " sessions.created, sessions.used"
            " FROM sessions JOIN accounts ON accounts.name = sessions.account WHERE sessions.key = ?",
            (key,),
        )
        if not rows:
            return None
        [(name, role, password, made_under, csrf, created, used)] = rows
        now = self._clock()
        held = created <= now < created + self._config.session and now < used + self._config.idle
        if not held or _digest(password) != made_under:
            self.end(key)
            return None
        if now - used >= _USE_NOTED_EVERY:
            with contextlib.suppress(FullDiskError):  # that it was used now may be lost
                self._database.execute("UPDATE sessions SET used = ? WHERE key = ?", (now, key))
        return Visitor(name=name, role=Role(role), csrf=csrf, by="session", session=key)

    def end(self, key: str) -> None:
        """Log out; harmless if it ended already."""
        self._database.execute("DELETE FROM sessions WHERE key = ?", (key,))

    def _forget_old(self, account: str, now: float) -> None:
        self._database.execute(
            "DELETE FROM sessions WHERE created <= ? OR used <= ?"
            " OR account NOT IN (SELECT name FROM accounts)",
            (now - self._config.session, now - self._config.idle),
        )
        self._database.execute(
            "DELETE FROM sessions WHERE account = ? AND key NOT IN"
            " (SELECT key FROM sessions WHERE account = ? ORDER BY used DESC LIMIT ?)",
            (account, account, _MOST_OF_ONE - 1),
        )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
