"""Changes who may log in to the daemon, from the machine it runs on."""

import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table
from rich.text import Text

from gossamer.cli.terminal.printing import safe, say, show, show_json
from gossamer.cli.terminal.tables import Printer
from gossamer.daemon.config import ServiceFolder
from gossamer.daemon.database import Database
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.web.security.accounts import Accounts
from gossamer.web.security.passwords import Passwords
from gossamer.web.security.visitor import Role

_DAY = 86_400.0


def add_user(folder: Path, name: str, role: str) -> None:
    """Make an account; the password is asked for, or read from standard input."""
    with _accounts(folder) as accounts:
        accounts.add(name, Role(role), _new_password())
        left = _left(accounts, folder)
    say(f"{name} may log in as {role}.{left}")


def remove_user(folder: Path, name: str) -> None:
    """End an account with its tokens and sessions."""
    with _accounts(folder) as accounts:
        accounts.remove(name)
        left = _left(accounts, folder)
    say(f"{name} may log in no longer.{left}")


def change_password(folder: Path, name: str) -> None:
    """Set a new password; sessions under the old one end."""
    with _accounts(folder) as accounts:
        accounts.set_password(name, _new_password())
    say(f"{name} has a new password; who was logged in with the old one is not any more.")


def change_role(folder: Path, name: str, role: str) -> None:
    """Let somebody do more, or less."""
    with _accounts(folder) as accounts:
        accounts.set_role(name, Role(role))
        left = _left(accounts, folder)
    say(f"{name} is {role} now.{left}")


def make_token(folder: Path, name: str, *, role: str, label: str, days: float | None) -> None:
    """Print a token for a program; it cannot be shown again."""
    expires = None if days is None else time.time() + days * _DAY
    with _accounts(folder) as accounts:
        token = accounts.new_token(name, Role(role), label, expires)
    say("Send this as 'Authorization: Bearer ...'. It is not kept and cannot be shown again:")
    show(token)


def revoke_token(folder: Path, key: str) -> None:
    """End a token, so that nobody gets in by it."""
    with _accounts(folder) as accounts:
        accounts.revoke(key)
    say(f"Token {key} is worth nothing now.")


def list_users(folder: Path, *, as_json: bool) -> None:
    """Print accounts with their roles and tokens."""
    with _accounts(folder) as accounts:
        users, tokens = accounts.all(), accounts.tokens()
    if as_json:
        show_json({"accounts": users, "tokens": tokens})
        return
    if not users:
        say("Nobody has an account. gossamer serve-user add NAME --role operator makes one.")
        return
    table = Table("name", "role", "token", "for", "may", "expires", "last used", box=None)
    for user in users:
        table.add_row(user.name, user.role)
        for token in (token for token in tokens if token.account == user.name):
            days = (_day(token.expires), _day(token.used))
            table.add_row("", "", token.id, Text(safe(token.label)), token.role, *days)
    Printer().print(table)


def _left(accounts: Accounts, folder: Path) -> str:
    """What is to be known where nobody is left, or nobody who may change anything; a line of its own, or nothing."""
    if not accounts.any():
        return (
            "\nNobody has an account now: on loopback the daemon asks for none, elsewhere it lets nobody in."
        )
    if all(user.role != Role.OPERATOR for user in accounts.all()):
        way = command_line("serve-user", "add", "NAME", "--role", "operator", "--dir", folder)
        return f"\nNobody may change anything now. Who may: {way}"
    return ""


@contextmanager
def _accounts(folder: Path) -> Iterator[Accounts]:
    """The accounts of a daemon, which may be running: it looks with every request."""
    place = ServiceFolder(folder)
    place.create()
    config = place.read()
    database = Database(place.database)
    try:
        yield Accounts(database, Passwords(config.security))
    finally:
        database.close()


def _new_password() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password = getpass.getpass("Password: ")
    if getpass.getpass("Again: ") != password:
        raise ConfigError("the two passwords differ")
    return password


def _day(seconds: float | None) -> str:
    return "never" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
