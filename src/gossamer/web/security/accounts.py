"""Keeps accounts and their tokens in the service's database."""

import contextlib
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.daemon.database import Database, FullDiskError
from gossamer.model.errors import ConfigError, StorageError
from gossamer.web.security.passwords import Passwords
from gossamer.web.security.visitor import LOCAL, Role

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_RESERVED = (LOCAL, "gossamer", "daemon")
_TOKEN_SIGN = "gossamer"  # noqa: S105 (so that tools which look for leaked secrets know it)
MARK = "log-ins"
_MOST_TOKENS = 100
_USE_NOTED_EVERY = 60.0
"""Seconds; a token's last use is not written more often."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS accounts (
        name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL, created REAL NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS tokens (
        id TEXT PRIMARY KEY, account TEXT NOT NULL, label TEXT NOT NULL, role TEXT NOT NULL,
        digest TEXT NOT NULL, created REAL NOT NULL, expires REAL, used REAL)""",
)


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who may log in."""

    name: str
    role: Role
    created: float


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A program's way in; the secret itself is not kept."""

    id: str
    account: str
    label: str
    role: Role
    created: float
    expires: float | None
    used: float | None


class Accounts:
    """Accounts and tokens. May be open in several processes at once: the command line changes what the
    daemon reads, and the daemon reads it anew with every request."""

    def __init__(
        self, database: Database, passwords: Passwords, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._passwords = passwords
        self._clock = clock
        for table in _TABLES:
            database.execute(table)

    # Accounts

    def any(self) -> bool:
        """Somebody has an account, so everybody must log in."""
        return bool(self._database.query("SELECT 1 FROM accounts LIMIT 1"))

    @property
    def mark(self) -> Path:
        """A file that is there while there are accounts: a database that was lost is not taken for none."""
        return self._database.folder / MARK

    def note(self) -> None:
        """Keep the mark as it should be.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            if self.any():
                self.mark.touch(mode=0o600)
            else:
                self.mark.unlink(missing_ok=True)
        except OSError as error:
            raise StorageError(f"{self.mark}: cannot be written ({error.strerror}).") from None

    def all(self) -> list[Account]:
        """Every account, sorted by name."""
        rows = self._database.query("SELECT name, role, created FROM accounts ORDER BY name")
        return [Account(name=name, role=Role(role), created=created) for name, role, created in rows]

    def role_of(self, name: str) -> Role | None:
        """An account's role; none: there is no such account."""
        rows = self._database.query("SELECT role FROM accounts WHERE name = ?", (name,))
        return Role(rows[0][0]) if rows else None

    def add(self, name: str, role: Role, password: str) -> None:
        """Make an account.

        Raises:
            ConfigError: the name is taken or will not do, or the password will not do.
        """
        problems = []
        if not _NAME.fullmatch(name) or name in _RESERVED:
            problems.append(
                f"name: {name!r} will not do: 1 to 32 of a-z 0-9 . _ -, a letter or digit first, none of "
                + ", ".join(_RESERVED)
            )
        elif self.role_of(name) is not None:
            problems.append(f"name: {name!r} has an account already")
        if (problem := self._passwords.problem(name, password)) is not None:
            problems.append(problem)
        if problems:
            raise ConfigError(*problems)
        self._database.execute(
            "INSERT INTO accounts (name, role, password, created) VALUES (?, ?, ?, ?)",
            (name, role.value, self._passwords.hash(password), self._clock()),
        )
        self.note()

    def remove(self, name: str) -> None:
        """End an account with its tokens and sessions.

        Raises:
            ConfigError: no such account.
        """
        self._must_exist(name)
        self._database.execute("DELETE FROM accounts WHERE name = ?", (name,))
        self._database.execute("DELETE FROM tokens WHERE account = ?", (name,))
        self.note()

    def set_role(self, name: str, role: Role) -> None:
        """Raises ConfigError: no such account."""
        self._must_exist(name)
        self._database.execute("UPDATE accounts SET role = ? WHERE name = ?", (role.value, name))

    def set_password(self, name: str, password: str) -> None:
        """Change a password; sessions under the old one end (`sessions.Sessions` looks at the hash).

        Raises:
            ConfigError: no such account, or the password will not do.
        """
        self._must_exist(name)
        if (problem := self._passwords.problem(name, password)) is not None:
            raise ConfigError(problem)
        self._database.execute(
            "UPDATE accounts SET password = ? WHERE name = ?", (self._passwords.hash(password), name)
        )

    def password_hash(self, name: str) -> str | None:
        """What to compare a password with (`Passwords.matches`, in a thread); None: no such account."""
        rows = self._database.query("SELECT password FROM accounts WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else None

    # Tokens

    def new_token(self, account: str, role: Role, label: str, expires: float | None = None) -> str:
        """The token, told this once; it may never do more than its account.

        Raises:
            ConfigError: no such account, or it has too many tokens.
        """
        self._must_exist(account)
        [(count,)] = self._database.query("SELECT count(*) FROM tokens WHERE account = ?", (account,))
        if count >= _MOST_TOKENS:
            raise ConfigError(f"{account} has {count} tokens: revoke some")
        key, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        self._database.execute(
            "INSERT INTO tokens (id, account, label, role, digest, created, expires)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (key, account, label[:100], role.value, _digest(secret), self._clock(), expires),
        )
        return f"{_TOKEN_SIGN}_{key}_{secret}"

    def tokens(self) -> list[Token]:
        """Tokens by account, the oldest first."""
        rows = self._database.query(
            "SELECT id, account, label, role, created, expires, used FROM tokens ORDER BY account, created"
        )
        return [
            Token(id=key, account=account, label=label, role=Role(role), created=made, expires=end, used=used)
            for key, account, label, role, made, end, used in rows
        ]

    def revoke(self, key: str) -> None:
        """Raises ConfigError: no such token."""
        if not self._database.query("SELECT 1 FROM tokens WHERE id = ?", (key,)):
            raise ConfigError(f"{key}: no such token")
        self._database.execute("DELETE FROM tokens WHERE id = ?", (key,))

    def bearer(self, token: str) -> tuple[str, Role] | None:
        """(account, role) of a token; None: not one of ours, revoked or expired.

        A secret of 256 random bits needs no slow hash: there is nothing to guess.
        """
        sign, _, rest = token.partition("_")
        key, _, secret = rest.partition("_")
        if sign != _TOKEN_SIGN or not secret.isascii():
            return None
        rows = self._database.query(
            "SELECT tokens.digest, tokens.role, tokens.expires, tokens.used, accounts.name, accounts.role"
            " FROM tokens JOIN accounts ON accounts.name = tokens.account WHERE tokens.id = ?",
            (key,),
        )
        if not rows:
            return None
        [(digest, role, expires, used, account, most)] = rows
        now = self._clock()
        if not hmac.compare_digest(digest, _digest(secret)) or (expires is not None and expires <= now):
            return None
        if used is None or not 0 <= now - used < _USE_NOTED_EVERY:
            with contextlib.suppress(FullDiskError):
                self._database.execute("UPDATE tokens SET used = ? WHERE id = ?", (now, key))
        both = Role(role) is Role.OPERATOR and Role(most) is Role.OPERATOR
        return account, Role.OPERATOR if both else Role.VIEWER

    def _must_exist(self, name: str) -> None:
        if self.role_of(name) is None:
            raise ConfigError(f"{name}: no such account")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
