"""A site with members on loopback: sessions that end, hidden fields, log-ins in one step or two, and ways out."""

import contextlib
import http.server
import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

from small_site import serving

NAME, PASSWORD = "ann", "5ecret-päss"


class MembersSite:
    """Pages `/`, `/p/0` to `/p/N`; each links to the next two and to `/logout`.

    Args:
        pages: how many.
        lasts: pages that a session lasts; 0: for ever.
        steps: of the log-in.
        redirects: guests are sent to the log-in; else they get a page for guests, with status 200.
    """

    def __init__(self, pages: int = 8, *, lasts: int = 0, steps: int = 1, redirects: bool = True) -> None:
        self.pages, self.lasts, self.steps, self.redirects = pages, lasts, steps, redirects
        self.asked: Counter[str] = Counter()
        self.as_member: Counter[str] = Counter()
        self.log_ins = 0
        self.log_outs = 0
        self.forms: dict[str, str] = {}  # in place of the one there is, by path
        self.robots = ""
        self.failing = 0  # answers of the log-in page with status 500 to begin with
        self.plain: set[str] = set()  # members' pages that do not say so
        self._sessions: dict[str, int] = {}
        self._tokens: set[str] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        """Its address, ending in `/`."""
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with site._lock:
                    self._send(*site.get(self.path, self._session()))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                sent = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
                with site._lock:
                    self._send(*site.post(self.path, sent))

            def _session(self) -> str:
                found = re.search(r"session=(\w+)", self.headers.get("Cookie", ""))
                return found[1] if found else ""

            def _send(self, status: int, fields: list[tuple[str, str]], body: str) -> None:
                content = body.encode()
                self.send_response(status)
                for name, value in ({"Content-Type": "text/html; charset=utf-8"} | dict(fields)).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        with serving(Handler, "127.0.0.1", 0) as address:
            yield address

    def get(self, path: str, session: str) -> tuple[int, list[tuple[str, str]], str]:
        """What is answered to a GET."""
        self.asked[path] += 1
        if path == "/robots.txt":
            return 200, [("Content-Type", "text/plain")], self.robots
        if path in self.forms:
            form = self.forms[path]
            return (
                200,
                [("Content-Type", "application/pdf" if form.startswith("%PDF") else "text/html")],
                form,
            )
        if path.startswith("/login"):
            self.failing -= 1
            if self.failing >= 0:
                return 500, [], "down"
            return 200, [], self._login(1)
        if path == "/logout":
            self.log_outs += 1
            self._sessions.pop(session, None)
            return 302, [("Location", "/login")], ""
        if path == "/manual.pdf":
            return 200, [("Content-Type", "application/pdf")], "%PDF-1.4 of members"
        left = self._sessions.get(session)
        if left is None or left == 0:
            self._sessions.pop(session, None)
            if self.redirects:
                return 302, [("Location", f"/login?next={path}")], ""
            return 200, [], f"<title>guest</title>for guests <a href='/login'>Log in</a> {self._links(0)}"
        self._sessions[session] = left - 1
        self.as_member[path] += 1
        number = int(path.rpartition("/")[2] or 0) if path.startswith("/p/") else 0
        hello = "" if path in self.plain else "<a class=out href='/logout'>Log out</a>"
        return 200, [], f"<title>member {path}</title>{hello} secret page {path} {self._links(number)}"

    def post(self, path: str, sent: dict[str, str]) -> tuple[int, list[tuple[str, str]], str]:
        """What is answered to a form."""
        self.asked[f"POST {path}"] += 1
        if sent.get("token") not in self._tokens:
            return 403, [], "forged"
        self._tokens.discard(sent["token"])
        if path == "/login/name":
            return 200, [], self._login(2)
        if (sent.get("user"), sent.get("word")) != (NAME, PASSWORD) or sent.get("go") != "1":
            return 200, [], "wrong " + self._login(1)
        self.log_ins += 1
        session = secrets.token_hex(8)
        self._sessions[session] = self.lasts or -1
        return 303, [("Location", "/home"), ("Set-Cookie", f"session={session}; HttpOnly; Path=/")], ""

    def _login(self, step: int) -> str:
        token = secrets.token_hex(8)
        self._tokens.add(token)
        hidden = f"<input type=hidden name=token value={token}>"
        button = "<button name=go value=1>Go</button>"
        search = "<form action=/find><input name=q></form>"
        if self.steps > step:
            return f"{search}<form method=post action=/login/name>{hidden}<input name=user>{button}</form>"
        who = f"<input type=hidden name=user value={NAME}>" if step == 2 else "<input name=user>"
        word = "<input type=password name=word>"
        return f"{search}<form method=post action=/login>{hidden}{who}{word}{button}</form>"

    def _links(self, number: int) -> str:
        further = [f"/p/{n}" for n in (number + 1, number + 2) if n <= self.pages]
        more = ["/logout", "/login", "/manual.pdf"]
        return "".join(f"<a href='{link}'>x</a>" for link in [*further, *more])

    @property
    def members_pages(self) -> set[str]:
        """All that members can see, without the page that the log-in leads to."""
        return {"/", *(f"/p/{n}" for n in range(1, self.pages + 1))}


def path_of(url: str) -> str:
    """Path and query."""
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")
