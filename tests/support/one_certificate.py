"""Hosts on addresses of their own that show one certificate, as a server with many names does."""

import http.server
import ssl
import time
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self

from fetch_servers import certificate, tls_server_context
from small_site import send, serving

from gossamer.simweb import WorldSpec


class Visit(NamedTuple):
    """One answer; times of `time.monotonic`."""

    host: str
    path: str
    status: int
    started: float
    ended: float


class OneCertificate:
    """`hosts` hosts, 127.0.0.1 and on, each with a home page that links to `pages` more.

    Stands for a simulated web where only seeds, log and the number of pages are needed.
    """

    nameserver = "127.0.0.1:9"
    """Nobody is asked: the hosts are addresses."""

    def __init__(self, folder: Path, hosts: int, pages: int) -> None:
        self._hosts = [f"127.0.0.{number}" for number in range(1, hosts + 1)]
        self.spec = WorldSpec(hosts=hosts, pages=hosts * (1 + pages))
        self._visits: list[Visit] = []
        self._lock = Lock()
        names = ",IP:".join(self._hosts)
        self.ca_file, key = certificate(folder, f"one.example,IP:{names}")
        links = "".join(f'<a href="/{page}">{page}</a>' for page in range(pages))
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                started = time.monotonic()
                status = (
                    404 if self.path == "/robots.txt" else 304 if "If-None-Match" in self.headers else 200
                )
                headers = {"Content-Type": "text/html", "ETag": '"always"'}
                send(self, status, headers, "" if status == 304 else links)
                self.wfile.flush()
                host = self.headers["Host"].partition(":")[0]
                with web._lock:
                    web._visits.append(Visit(host, self.path, status, started, time.monotonic()))

        self._serving = serving(Handler, "0.0.0.0", tls=self._tls(key))

    def _tls(self, key: Path) -> ssl.SSLContext:
        return tls_server_context(self.ca_file, key)

    def __enter__(self) -> Self:
        port = self._serving.__enter__().rstrip("/").rpartition(":")[2]
        self.seeds = [f"https://{host}:{port}/" for host in self._hosts]
        return self

    def __exit__(self, *raised: object) -> None:
        self._serving.__exit__(None, None, None)

    def log(self) -> list[Visit]:
        """Visits in the order in which they began."""
        with self._lock:
            return sorted(self._visits, key=lambda visit: visit.started)
