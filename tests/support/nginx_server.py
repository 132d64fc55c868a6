"""A real nginx on loopback, with a configuration of the test's own."""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from free_ports import free_port
from patience import PATIENCE

_WHOLE = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log {folder}/access.log; default_type text/html;
    client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
    server {{ listen 127.0.0.1:{port} {listen}; root {folder}/root; {server} }}
}}
"""


@contextlib.contextmanager
def nginx(folder: Path, server: str, pages: dict[str, str], *, listen: str = "") -> Iterator[int]:
    """Serve `pages` (by path) with the directives `server`; gives the port. `listen`: such as `ssl http2`."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("nginx is not installed")
    for name, text in pages.items():
        place = folder / "root" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    port = free_port()
    settings = folder / "nginx.conf"
    settings.write_text(_WHOLE.format(folder=folder, port=port, listen=listen, server=server))
    with subprocess.Popen(
        [program, "-e", str(folder / "error.log"), "-p", str(folder), "-c", str(settings)]
    ) as process:
        try:
            _wait(process, port, folder)
            yield port
        finally:
            process.terminate()


def _wait(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert process.poll() is None, (folder / "error.log").read_text()
            assert time.monotonic() < deadline, "nginx does not answer"
            time.sleep(0.02)
        else:
            return
