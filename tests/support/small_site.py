"""Web servers on loopback for a few answers given as values."""

import contextlib
import http.server
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from email.message import Message
from typing import Self

Answer = tuple[int, Mapping[str, str], str | bytes]
"""Status, header fields, body."""


@contextlib.contextmanager
def small_site(page: Callable[[str], str | Answer | None], host: str = "127.0.0.1") -> Iterator[str]:
    """The site's address, ending in `/`; `page` tells what is at a path without the first slash: HTML, if any."""

    def answer(_: str, path: str, __: Counter[tuple[str, str]]) -> Answer:
        found = page(path.removeprefix("/"))
        if isinstance(found, tuple):
            status, fields, body = found
            return status, {"Content-Type": "text/html; charset=utf-8", **fields}, body
        status = 200 if found is not None else 404
        return status, {"Content-Type": "text/html; charset=utf-8"}, "not here" if found is None else found

    with Site(answer, host) as site:
        yield site.address


class Site:
    """A server whose answers are a function of host, path and how often each was asked for."""

    def __init__(
        self,
        answer: Callable[[str, str, Counter[tuple[str, str]]], Answer],
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.asked: list[tuple[str, str]] = []
        self.headers: list[Message] = []  # of each request, in that order
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                key = self.headers["Host"], self.path
                site.asked.append(key)
                site.headers.append(self.headers)
                send(self, *answer(*key, Counter(site.asked)))

        self._serving = serving(Handler, host, port)

    def __enter__(self) -> Self:
        self.address = self._serving.__enter__()
        self.port = int(self.address.rstrip("/").rpartition(":")[2])
        return self

    def __exit__(self, *raised: object) -> None:
        self._serving.__exit__(None, None, None)


def send(
    handler: http.server.BaseHTTPRequestHandler, status: int, fields: Mapping[str, str], body: str | bytes
) -> None:
    """One answer, of which the server knows the length."""
    data = body.encode() if isinstance(body, str) else body
    handler.send_response(status)
    for name, value in {**fields, "Content-Length": str(len(data))}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


@contextlib.contextmanager
def serving(
    handler: type[http.server.BaseHTTPRequestHandler],
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """The address of a server that answers with `handler`, ending in `/`."""
    # Heads and bodies leave together, so that none waits for an acknowledgement; nothing is printed.
    quiet = type("Quiet", (handler,), {"wbufsize": -1, "log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer((host, port), quiet) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://{host}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
