"""Servers on loopback that answer links in all the ways that checkers of links get wrong."""

import contextlib
import http.server
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from small_site import serving

Said = tuple[int, Mapping[str, str], str]
"""Status, fields, body."""
Behaviour = Callable[[str, int], "Said | None"]
"""(method, how often the path was asked for) -> what is said; `None`: the connection is closed."""

HTML = {"Content-Type": "text/html; charset=utf-8"}


def page(body: str, status: int = 200, **fields: str) -> Behaviour:
    """The same to whoever asks."""
    told = {name.replace("_", "-"): value for name, value in fields.items()}
    return lambda _method, _times: (status, {**HTML, **told}, body)


def to(location: str, status: int = 301, **fields: str) -> Behaviour:
    """A redirect."""
    return page("", status, Location=location, **fields)


def head_lies(status: int, then: Behaviour) -> Behaviour:
    """Says `status` to HEAD, and the truth to GET."""
    return lambda method, times: (status, HTML, "") if method == "HEAD" else then(method, times)


class Farm:
    """What was asked, in order: (method, path), and when."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[tuple[str, str]] = []
        self.times: list[float] = []

    def count(self, path: str) -> int:
        return sum(asked == path for _, asked in self.asked)


@contextlib.contextmanager
def link_farm(
    behaviours: Mapping[str, Behaviour], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[Farm]:
    """Answers at paths without their first slash; 404 at all others."""
    farm = Farm("")
    counts: Counter[str] = Counter()
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            with lock:
                farm.asked.append((self.command, self.path))
                farm.times.append(time.monotonic())
                counts[self.path] += 1
                times = counts[self.path]
            behaviour = behaviours.get(self.path.removeprefix("/"), page("not here", 404))
            said = behaviour(self.command, times)
            if said is None:
                self.close_connection = True
                return
            status, fields, body = said
            data = body.encode()
            self.send_response(status)
            for name, value in {**fields, "Content-Length": str(len(data))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        do_GET = do_HEAD = _answer  # noqa: N815

    with serving(Handler, host, tls=tls) as address:
        farm.address = address
        yield farm
