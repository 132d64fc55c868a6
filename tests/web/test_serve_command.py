"""`gossamer serve` as a process: what it says, and how it ends."""

import contextlib
import http.client
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from patience import PATIENCE
from service_world import no_survivors


@contextlib.contextmanager
def serving(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address it says."""
    command = [sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--port", "0"]
    command += ["--token-file", "none"]
    with no_survivors(home):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            assert line.startswith("gossamer serves http"), line + process.stderr.read()
            yield process, line.split()[2]
        finally:
            process.kill()
            process.wait()
            process.stderr.close()


@pytest.mark.slow
def test_an_open_stream_does_not_hold_up_the_end(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as (process, address):
        place = urlsplit(address)
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE)
        connection.request("GET", "/api/v1/events")
        with contextlib.closing(connection), connection.getresponse() as answer:
            assert answer.readline().startswith(b"retry:")
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert "graceful shutdown exceeded" not in process.stderr.read(), "it lost patience with the stream"


@pytest.mark.slow
def test_with_a_certificate_the_address_says_so(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    file, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=console.test -keyout {key} -out {file}"
    subprocess.run([openssl, *words.split()], check=True, capture_output=True)
    settings = f'[security]\ncertificate = "{file}"\nprivate_key = "{key}"\n'
    (home / "service.toml").write_text(settings)
    with serving(home) as (_, address):
        assert address.startswith("https://127.0.0.1:")
