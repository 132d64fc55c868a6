"""A web server on loopback for a few pages given as text."""

import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def small_site(page: Callable[[str], str | None], host: str = "127.0.0.1") -> Iterator[str]:
    """The site's address, ending in `/`; `page` tells the HTML at a path without the first slash, if any."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = page(self.path.removeprefix("/"))
            body = (text or "not here").encode()
            self.send_response(200 if text is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with serving(Handler, host) as address:
        yield address


@contextlib.contextmanager
def serving(handler: type[http.server.BaseHTTPRequestHandler], host: str = "127.0.0.1") -> Iterator[str]:
    """The address of a server on loopback that answers with `handler`, ending in `/`."""
    with http.server.ThreadingHTTPServer((host, 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://{host}:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
