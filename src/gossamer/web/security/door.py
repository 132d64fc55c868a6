"""Recognises who makes a request, and lets people log in and out."""

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence

import msgspec
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from gossamer.daemon.database import Database
from gossamer.daemon.security_config import SecurityConfig
from gossamer.web.security.accounts import Accounts
from gossamer.web.security.local_token import LocalToken
from gossamer.web.security.own_name import is_loopback
from gossamer.web.security.passwords import Passwords
from gossamer.web.security.sessions import NewSession, Sessions
from gossamer.web.security.throttle import LoginThrottle
from gossamer.web.security.visitor import LOCAL, Role, Visitor

_HASHES_WAITING = 8
_THROUGH_PROXY = (b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip")

Headers = Sequence[tuple[bytes, bytes]]
Note = Callable[[str, str, str, str], None]
"""Who, action, job, details: for the daemon's record of who did what."""


class Wrong(msgspec.Struct, frozen=True):
    """No such account, or not its password: which of them is not told."""


class TryLater(msgspec.Struct, frozen=True):
    """Too many attempts: come back then."""

    seconds: float


class Door:
    """Tells visitors from strangers.

    Whoever reaches a daemon without accounts is `local`, an operator, if and only if it listens on loopback
    only, is called by no other name, and the request came through no proxy; and who brings its token, if it
    has one.

    Args:
        token: that is demanded while there are no accounts; empty: nobody need bring any.
    """

    def __init__(
        self,
        database: Database,
        config: SecurityConfig,
        listen: str,
        *,
        note: Note = lambda *_: None,
        clock: Callable[[], float] = time.time,
        token: str = "",
    ) -> None:
        self._note = note
        self.passwords = Passwords(config)
        self.accounts = Accounts(database, self.passwords, clock)
        self.sessions = Sessions(database, config, clock)
        self._private = is_loopback(listen) and not config.allowed_hosts
        self._throttle = LoginThrottle(config)
        self._life = int(config.session)
        self._local = Visitor(name=LOCAL, role=Role.OPERATOR, csrf=secrets.token_urlsafe(32), by="local")
        self._token = LocalToken(token, config.session, clock) if token else None
        self._one_hash = asyncio.Semaphore(1)  # each takes `hash_memory`
        self._hashes = 0

    def knows(self, headers: Headers, scheme: str, port: int) -> Visitor | None:
        """Who sends these headers; None: somebody who must log in."""
        given = [value for name, value in headers if name == b"authorization"]
        open_to_local = not self.accounts.any()
        if open_to_local and (not self._private or any(name in _THROUGH_PROXY for name, _ in headers)):
            return None
        if given:
            return self._bearer(given, self._token if open_to_local else None)
        if open_to_local and self._token is None:
            return self._local
        cookie = _cookie(headers, cookie_name(scheme, port))
        if self._token is not None and open_to_local:
            return self._token.find(cookie)
        return self.sessions.find(cookie) if cookie else None

    @property
    def wants_token(self) -> bool:
        """It is the token, and no account, that lets people in."""
        return self._token is not None and not self.accounts.any()

    def change_token(self, token: str, address: str) -> NewSession | Wrong | TryLater:
        """A session for the token, while there are no accounts.

        Wrong ones are slowed down for the sake of the record only: there is nothing to guess. The right one
        never is, for all users of this machine come from one address.
        """
        session = self._token.begin(token) if self._token is not None and self.wants_token else None
        if session is not None:
            self._note(LOCAL, "log-in", "", f"by token, from {address}")
            return session
        now = time.monotonic()
        if (wait := self._throttle.wait(address, LOCAL, now)) > 0:
            return TryLater(wait)
        self._throttle.tried(address, LOCAL, now)
        self._note(LOCAL, "log-in refused", "", f"by token, from {address}")
        return Wrong()

    def _bearer(self, given: list[bytes], local: LocalToken | None) -> Visitor | None:
        kind, _, token = given[0].decode("latin-1").partition(" ")
        if len(given) > 1 or kind.lower() != "bearer":
            return None
        if local is not None:
            return local.program(token.strip())
        found = self.accounts.bearer(token.strip())
        return None if found is None else Visitor(name=found[0], role=found[1], csrf="", by="token")

    async def log_in(self, name: str, password: str, address: str) -> NewSession | Wrong | TryLater:
        """Compare, slowly; a session if it is right. Without accounts the token is the password."""
        if self.wants_token:
            return self.change_token(password, address)
        now = time.monotonic()
        if (wait := self._throttle.wait(address, name, now)) > 0:
            return TryLater(wait)
        if self._hashes >= _HASHES_WAITING:
            return TryLater(1.0)
        self._throttle.tried(address, name, now)
        kept = self.accounts.password_hash(name)
        self._hashes += 1
        try:
            async with self._one_hash:
                right = await asyncio.to_thread(self.passwords.matches, kept, password)
        finally:
            self._hashes -= 1
        session = self.sessions.begin(name) if right else None
        if session is None:
            self._note(name[:64], "log-in refused", "", f"from {address}")
            return Wrong()
        self._note(name, "log-in", "", f"from {address}")
        self._throttle.succeeded(address, name)
        return session

    def give_cookie(self, response: Response, request: HTTPConnection, session: NewSession) -> None:
        """Let the browser keep a log-in: out of reach of scripts, of other sites' requests, of plain HTTP."""
        scheme, port = _door_of(request)
        response.set_cookie(
            cookie_name(scheme, port),
            session.cookie,
            max_age=self._life,
            path="/",
            secure=scheme == "https",
            httponly=True,
            samesite="strict",
        )

    def log_out(self, response: Response, request: HTTPConnection, visitor: Visitor) -> None:
        """End a session, here and in the browser."""
        if visitor.session:
            self.sessions.end(visitor.session)
            self._note(visitor.name, "log-out", "", "")
        scheme, port = _door_of(request)
        response.delete_cookie(
            cookie_name(scheme, port), path="/", secure=scheme == "https", httponly=True, samesite="strict"
        )


def cookie_name(scheme: str, port: int) -> str:
    """Cookies do not know ports: two daemons on one machine must not log each other out. Over TLS the name
    makes the browser refuse it from anywhere but this very host (RFC 6265bis, section 4.1.3.2)."""
    return f"__Host-gossamer-{port}" if scheme == "https" else f"gossamer-{port}"


def safe_next(target: str) -> str:
    """Where to go after a log-in: a path of ours, whatever was asked for."""
    plain = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if plain and target.isascii() else "/"


def address_of(request: HTTPConnection) -> str:
    """Of whoever asks, for the throttle."""
    return request.client.host if request.client is not None else ""


def _door_of(request: HTTPConnection) -> tuple[str, int]:
    return request.scope["scheme"], server_port(request.scope)


def server_port(scope: Scope) -> int:
    """Port on which the request came in."""
    server = scope.get("server")
    return int(server[1] or 0) if server else 0


def _cookie(headers: Headers, name: str) -> str:
    """Value of a cookie; empty: not sent, or sent twice (one of them is not ours)."""
    found = []
    for header, value in headers:
        if header == b"cookie":
            for pair in value.decode("latin-1").split(";"):
                key, _, content = pair.strip().partition("=")
                if key == name:
                    found.append(content)
    return found[0] if len(found) == 1 else ""
