"""Who makes a request."""

import enum
from typing import Literal

import msgspec
from starlette.requests import HTTPConnection


class Role(enum.StrEnum):
    """What somebody who is logged in may do."""

    VIEWER = "viewer"
    """Look at everything, change nothing."""
    OPERATOR = "operator"
    """Also change jobs, limits and schedules. Accounts are changed on the command line only."""


LOCAL = "local"
"""Name of whoever asks a daemon that has no accounts."""


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody whom the gate let in."""

    name: str
    role: Role
    csrf: str
    """What a page's own unsafe requests must bring: form field `csrf` or header `X-CSRF-Token`.
    Empty for tokens, which no browser sends by itself."""
    by: Literal["session", "token", "local"]
    session: str = ""
    """Key of the session in the store."""

    @property
    def operates(self) -> bool:
        """Whether they may change things."""
        return self.role is Role.OPERATOR


_KEY = "gossamer.visitor"


def welcome(scope_state: dict[str, object], visitor: Visitor | None) -> None:
    """Note in a request's state who makes it."""
    scope_state[_KEY] = visitor


def visitor_of(request: HTTPConnection) -> Visitor | None:
    """Who makes this request; None only on the pages that are open to all (log-in)."""
    found = request.scope.get("state", {}).get(_KEY)
    assert found is None or isinstance(found, Visitor)
    return found


def known_visitor(request: HTTPConnection) -> Visitor:
    """Who makes this request, on a page that the gate does not open to all."""
    found = visitor_of(request)
    assert found is not None, "the gate lets nobody unknown through to here"
    return found
