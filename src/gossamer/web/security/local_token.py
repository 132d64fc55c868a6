"""The token that a daemon without accounts demands where others can log in to its machine."""

import hashlib
import hmac
import os
import pwd
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from gossamer.assembly.private import OTHERS
from gossamer.model.errors import ConfigError
from gossamer.web.security.sessions import NewSession
from gossamer.web.security.visitor import LOCAL, Role, Visitor

AUTO, NONE = "auto", "none"
TOKEN = "token"  # noqa: S105 - a file's name, and a parameter's
_FIRST_PERSON = 1_000
_NOBODY = 65_534
_NO_SHELLS = ("nologin", "false", "sync")
_GOOD = re.compile(r"[A-Za-z0-9_-]{32,256}")


def is_shared(users: Iterable[pwd.struct_passwd], own: int) -> bool:
    """Whether somebody besides user `own` can log in: a person's number, and a shell that is one."""
    return any(
        _FIRST_PERSON <= user.pw_uid != own
        and user.pw_uid != _NOBODY
        and not user.pw_shell.endswith(_NO_SHELLS)
        for user in users
    )


def token_file(choice: str, folder: Path) -> Path | None:
    """Where the token lies; none is demanded without such a file.

    Args:
        choice: `auto`: in the folder, if the machine is shared; `none`; or a path.
        folder: the daemon's.
    """
    if choice == AUTO:
        return folder / TOKEN if is_shared(pwd.getpwall(), os.geteuid()) else None
    return None if choice == NONE else Path(choice)


def read_token(path: Path) -> str:
    """The token in a file, which is made if it is not there.

    Raises:
        ConfigError: others may know it, it is none, or the file cannot be had.
    """
    try:
        if not os.path.lexists(path):
            _make(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(f"{path}: the token cannot be had ({error.strerror})") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        text = file.read(1_000) if ours else b""
    token = text.decode("ascii", "replace").strip()
    if not ours or found.st_mode & OTHERS or not _GOOD.fullmatch(token):
        why = "it is too short, or holds other characters than letters, digits, - and _"
        if not ours or found.st_mode & OTHERS:
            why = "others may have read or written it"
        raise ConfigError(f"{path}: will not do as a token: {why}. Remove it, and a new one is made.")
    return token


def _make(path: Path) -> None:
    """Whole or not at all; never over another file."""
    partial = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")
            file.flush()
            os.fsync(descriptor)
        os.link(partial, path)
    finally:
        partial.unlink()


class LocalToken:
    """What the token opens: programs send it, browsers change it for a cookie.

    Nothing is stored of that. The cookie tells since when it holds, under a keyed hash, so it outlives the
    daemon as the token does, and ends with the token.
    """

    def __init__(self, token: str, life: float, clock: Callable[[], float] = time.time) -> None:
        self._token = token.encode()
        self._life = life
        self._clock = clock

    def program(self, given: str) -> Visitor | None:
        """Whoever sends the token itself."""
        if not self._is_right(given):
            return None
        return Visitor(name=LOCAL, role=Role.OPERATOR, csrf="", by="token")

    def begin(self, given: str) -> NewSession | None:
        """A session for a browser that brings the token."""
        if not self._is_right(given):
            return None
        since = str(int(self._clock()))
        return NewSession(f"{since}.{self._hash('cookie', since)}", self._visitor(since))

    def find(self, cookie: str) -> Visitor | None:
        """Whose cookie it is; None: nobody's, or no longer."""
        since, _, mark = cookie.partition(".")
        if not (since.isascii() and since.isdigit() and len(since) < 13 and mark.isascii()):
            return None
        if not hmac.compare_digest(mark, self._hash("cookie", since)):
            return None
        return self._visitor(since) if int(since) <= self._clock() < int(since) + self._life else None

    def _is_right(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token)

    def _visitor(self, since: str) -> Visitor:
        return Visitor(name=LOCAL, role=Role.OPERATOR, csrf=self._hash("csrf", since), by="session")

    def _hash(self, purpose: str, since: str) -> str:
        return hmac.new(self._token, f"{purpose} {since}".encode(), hashlib.sha256).hexdigest()
