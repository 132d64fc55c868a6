"""A real nginx, for what is simple there."""

import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.audit_farm.behaviours import Home
from benchmarks.audit_farm.cases import Case
from benchmarks.audit_farm.conversation import page
from benchmarks.audit_farm.notes import Noted

_SETTINGS = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    log_format noted '$msec $request_time $status $request_method $request_uri';
    access_log {folder}/noted noted; default_type text/html;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    server {{ listen 127.0.0.1:{port}; root {folder}/root; index index.html; }}
}}
"""
_STARTS_WITHIN = 20.0


class RealServer:
    """The server, if it is installed.

    Attributes:
        port: on 127.0.0.1; 0 if there is none.
    """

    def __init__(self, folder: Path) -> None:
        """Everything lies below `folder`."""
        self._folder = folder / "nginx"
        self._root = self._folder / "root"
        self._root.mkdir(parents=True)
        self._read = 0
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if program is not None:
            self._start(program)

    def furnish(self, all_cases: Sequence[Case]) -> None:
        """Files for the cases that it serves: a page, a folder with one, a folder without."""
        for case in all_cases:
            if case.behaviour.home is Home.NGINX:
                (self._root / f"{case.name}.html").write_text(page(case.name))
                for ending in "de":
                    (self._root / (case.name + ending)).mkdir()
                (self._root / f"{case.name}d" / "index.html").write_text(page(case.name))

    def noted(self, host: str) -> list[Noted]:
        """What was asked since the last time."""
        if self._process is None:
            return []
        # Its clock is the wall's.
        behind = time.time() - time.monotonic()
        found = []
        lines = (self._folder / "noted").read_text().splitlines()
        for line in lines[self._read :]:
            end, took, status, method, target = line.split(" ", 4)
            until = float(end) - behind
            found.append(Noted(until - float(took), until, host, method, target, "", int(status)))
        self._read = len(lines)
        return found

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()

    def _start(self, program: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        settings = self._folder / "nginx.conf"
        settings.write_text(_SETTINGS.format(folder=self._folder, port=self.port))
        command = [
            program,
            "-e",
            str(self._folder / "error.log"),
            "-p",
            str(self._folder),
            "-c",
            str(settings),
        ]
        self._process = subprocess.Popen(command)
        until = time.monotonic() + _STARTS_WITHIN
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.02)
            else:
                return
