"""Log in, log out, and who is asking."""

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gossamer.web.api.bodies import LogIn
from gossamer.web.api.problem import problem
from gossamer.web.api.shapes import Routes, Shapes, answer, sent
from gossamer.web.security.door import Door, TryLater, Wrong, address_of
from gossamer.web.security.visitor import Role, Visitor, visitor_of

_PATH = "/session"


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asking. `csrf` is sent as header `X-CSRF-Token` with whatever is not a GET."""

    name: str
    role: Role
    csrf: str


class SessionRoutes:
    """Sessions for programs that keep cookies; others send a token as `Authorization: Bearer`."""

    def __init__(self, door: Door, shapes: Shapes) -> None:
        self._door = door
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes by which one logs in and out."""
        routes = Routes("session", self._shapes, self._shapes.answers(SessionView, "who is asking"))
        routes.add("GET", _PATH, self.who, "Who is asking")
        routes.add("POST", _PATH, self.log_in, "Log in; the session is a cookie", brings=LogIn)
        routes.add_silent("DELETE", _PATH, self.log_out, "End the session")
        return routes.router

    async def who(self, request: Request) -> Response:
        """Name, role and CSRF token."""
        visitor = visitor_of(request)
        return answer(_view(visitor)) if visitor else _stranger()

    async def log_in(self, request: Request) -> Response:
        """Compare name and password; wrong ones are slowed down."""
        given = await sent(request, LogIn)
        found = await self._door.log_in(given.name, given.password, address_of(request))
        match found:
            case TryLater():
                wait = str(int(found.seconds) + 1)
                return problem(429, f"try again in {wait} s", headers={"Retry-After": wait})
            case Wrong():
                return problem(401, "no such account, or not its password")
        response = answer(_view(found.visitor))
        self._door.give_cookie(response, request, found)
        return response

    async def log_out(self, request: Request) -> Response:
        """Forget the session, here and in the browser."""
        visitor = visitor_of(request)
        if visitor is None:
            return _stranger()
        response = Response(status_code=204)
        self._door.log_out(response, request, visitor)
        return response


def _view(visitor: Visitor) -> SessionView:
    return SessionView(name=visitor.name, role=visitor.role, csrf=visitor.csrf)


def _stranger() -> Response:
    return problem(401, "log in, or send a token", headers={"WWW-Authenticate": 'Bearer realm="gossamer"'})
