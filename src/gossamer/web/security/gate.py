"""The one layer that every request passes before any route sees it."""

import hmac
import re
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.daemon.security_config import SecurityConfig
from gossamer.web.api.problem import problem
from gossamer.web.security.body import (
    FORM,
    JSON,
    Arriving,
    BadBodyError,
    again,
    check_json,
    read_body,
    read_form,
)
from gossamer.web.security.door import Door, address_of, safe_next, server_port
from gossamer.web.security.headers import with_safety
from gossamer.web.security.local_token import TOKEN
from gossamer.web.security.own_name import OwnName, same_origin
from gossamer.web.security.sessions import NewSession
from gossamer.web.security.strangers import NOBODY, Strangers
from gossamer.web.security.visitor import Visitor, welcome

API = "/api/"
LOGIN_PAGE = "/login"
_OPEN = frozenset({LOGIN_PAGE, "/api/v1/session", "/healthz", "/favicon.ico"})
_OPEN_BELOW = "/static/"
"""What strangers may see: how to log in, and files that are the same for everybody."""
_VIEWERS_MAY_POST = frozenset({LOGIN_PAGE, "/logout", "/preferences", "/api/v1/session"})
"""Everything else that is not a GET is for operators, so that no route can forget to ask."""
_ASKS = re.compile(r"(?:/api/v1)?/jobs/[^/]+/sql")
"""But for a question, which changes nothing and is sent by POST because it may be long."""
_READS = frozenset({"GET", "HEAD"})
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_MOST_TARGET = 8192
"""Bytes of path and query."""
_OWN_REQUESTS = frozenset({"same-origin", "none"})

Headers = dict[str, list[str]]


class _RefusedError(Exception):
    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class Gate:
    """Lets a request through if and only if it is meant for us, small enough, from somebody we know, sent by
    their own doing, and allowed to their role; puts the headers of `headers.py` on every answer.
    """

    def __init__(
        self, app: ASGIApp, door: Door, own: OwnName, config: SecurityConfig, strangers: Strangers = NOBODY
    ) -> None:
        self._app = app
        self._strangers = strangers
        self._door = door
        self._own = own
        self._config = config

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        headers, receive = _by_name(scope), Arriving(receive)
        send = _safely(_heard(receive, headers, send), scope["scheme"])
        try:
            self._check_address(scope, headers)
            self._take_token(scope)
            visitor = self._admit(scope, headers)
            welcome(scope.setdefault("state", {}), visitor)
            if scope["method"] in _WRITES:
                receive = await self._take_body(scope, receive, headers, visitor)
        except _RefusedError as refused:
            await refused.response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_address(self, scope: Scope, headers: Headers) -> None:
        """It is meant for us, and something we understand."""
        hosts = headers.get("host", [])
        if len(hosts) != 1:
            raise _refuse(scope, 400, "a request needs one Host header")
        if not self._own.is_own(hosts[0]):
            raise _refuse(
                scope,
                421,
                "this name is not ours: use our address, or add the name to security.allowed_hosts",
            )
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _MOST_TARGET:
            raise _refuse(scope, 414, f"path and query may have {_MOST_TARGET:,} bytes")
        if scope["method"] not in _READS | _WRITES:
            raise _RefusedError(
                problem(
                    405, "not a method of any of our pages", headers={"Allow": "GET, HEAD, POST, PUT, DELETE"}
                )
            )
        self._check_origin(scope, headers)

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """No page but our own made a browser send it; programs send neither of these headers."""
        foreign = [site for site in headers.get("sec-fetch-site", []) if site not in _OWN_REQUESTS]
        if foreign:
            followed = headers.get("sec-fetch-mode") == ["navigate"] and scope["method"] == "GET"
            if not followed or headers.get("sec-fetch-dest") != ["document"] or _of_programs(scope):
                raise _refuse(scope, 403, "another site's page may not ask this")
        origins = headers.get("origin", [])
        host = headers["host"][0]
        if any(not same_origin(origin, scope["scheme"], host) for origin in origins):
            raise _refuse(scope, 403, "another site's page may not ask this")

    def _take_token(self, scope: Scope) -> None:
        """Change the token of an address for a cookie, and lead on without it: addresses are kept."""
        if scope["method"] != "GET" or _of_programs(scope) or not self._door.wants_token:
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = [(name, value) for name, value in query if name != TOKEN]
        if len(rest) == len(query):
            return
        path = quote(safe_next(scope["path"]), safe="/")
        answer = RedirectResponse(f"{path}?{urlencode(rest)}" if rest else path, 303)
        given = next(value for name, value in query if name == TOKEN)
        asks = HTTPConnection(scope)
        found = self._door.change_token(given, address_of(asks))
        if isinstance(found, NewSession):
            self._door.give_cookie(answer, asks, found)
        raise _RefusedError(answer)

    def _admit(self, scope: Scope, headers: Headers) -> Visitor | None:
        """We know who asks, and their role allows it."""
        path: str = scope["path"]
        if self._strangers.hears(path):
            return None
        visitor = self._door.knows(scope["headers"], scope["scheme"], server_port(scope))
        if visitor is None:
            file = path.startswith(_OPEN_BELOW) and ".." not in path
            if path in _OPEN or (file and scope["method"] in _READS):
                return None
            raise self._to_log_in(scope, headers)
        if not visitor.operates and _is_for_operators(scope["method"], path):
            raise _refuse(scope, 403, f"{visitor.name} may look, not change: ask an operator")
        return visitor

    def _to_log_in(self, scope: Scope, headers: Headers) -> _RefusedError:
        wants_page = any("text/html" in value for value in headers.get("accept", []))
        if wants_page and scope["method"] == "GET" and not _of_programs(scope):
            target = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
            if scope["query_string"]:
                target += "?" + scope["query_string"].decode("latin-1")
            return _RefusedError(RedirectResponse(f"{LOGIN_PAGE}?next={quote(target, safe='/')}", 303))
        return _RefusedError(
            problem(401, "log in, or send a token", headers={"WWW-Authenticate": 'Bearer realm="gossamer"'})
        )

    async def _take_body(
        self, scope: Scope, receive: Receive, headers: Headers, visitor: Visitor | None
    ) -> Receive:
        """Its body is small and well formed, and the visitor meant to send it."""
        lengths = headers.get("content-length", [])
        kind = _media_type(headers)
        fields: dict[str, str] = {}
        if self._strangers.hears(scope["path"]):
            return receive  # of any kind and length; whoever hears it bounds and proves it
        try:
            body = await read_body(receive, lengths, self._config.max_body, self._config.body_time)
            if body and kind == FORM and not scope["path"].startswith(API):
                fields = read_form(body, scope["state"])
            elif body and kind == JSON:
                check_json(body)
            elif body:
                raise BadBodyError(415, f"send {JSON}")
        except BadBodyError as error:
            raise _refuse(scope, error.status, str(error)) from None
        brought = headers.get("x-csrf-token", [fields.get("csrf", "")])[0]
        if visitor is not None and not _meant(scope, kind, visitor, brought):
            raise _refuse(
                scope, 403, f"load the page again (programs: send {JSON}, or header X-CSRF-Token)", "csrf"
            )
        return again(body, receive)


def _is_for_operators(method: str, path: str) -> bool:
    if method not in _WRITES or path in _VIEWERS_MAY_POST:
        return False
    return method != "POST" or not _ASKS.fullmatch(path)


def _meant(scope: Scope, kind: str, visitor: Visitor, brought: str) -> bool:
    """The visitor wanted it, not some page of somebody else's.

    A token is never sent by a browser on its own. The local visitor, who has no cookie, may leave out the
    secret in requests that a foreign page cannot make without asking first (Fetch, section 2.2.2: other
    methods, other media types), and we never answer that question with yes.
    """
    if visitor.by == "token":
        return True
    if hmac.compare_digest(brought.encode(), visitor.csrf.encode()):
        return True
    return visitor.by == "local" and (kind == JSON or scope["method"] != "POST")


def _by_name(scope: Scope) -> Headers:
    found: Headers = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _media_type(headers: Headers) -> str:
    return headers.get("content-type", [""])[0].partition(";")[0].strip().lower()


def _of_programs(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.startswith(API) or path == "/metrics"


def _refuse(scope: Scope, status: int, sentence: str, code: str = "") -> _RefusedError:
    """Whoever sent a body that was not read may not go on talking on this connection."""
    close = {"Connection": "close"} if scope["method"] in _WRITES else {}
    return _RefusedError(problem(status, sentence, code=code, headers=close))


def _heard(arriving: Arriving, headers: Headers, send: Send) -> Send:
    """Whoever is refused in the middle of what he sends has said it before he is answered, if it is short."""

    async def afterwards(message: Message) -> None:
        if (b"connection", b"close") in message.get("headers", ()) and "expect" not in headers:
            await arriving.rest(headers.get("content-length", []))
        await send(message)

    return afterwards


def _safely(send: Send, scheme: str) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": with_safety(list(message.get("headers", [])), scheme)}
        await send(message)

    return with_headers
