"""A simulated web in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from gossamer.simweb.servers.service import ANSWERS
from gossamer.simweb.servers.visits import Question, Visit, read_questions, read_visits
from gossamer.simweb.world.resource import Speech
from gossamer.simweb.world.spec import WorldSpec

_PATIENCE = 10.0  # seconds until a process that does not stop is killed
_ROOT = Path(__file__).resolve().parents[3]


class SimulatedWeb:
    """Serves a world until stopped; use it as a context manager.

    The process ends with its parent, however that ends, because it watches its standard input.

    Args:
        spec: what to serve; a friendly web if left out.
        http_port, dns_port: 0 lets the kernel choose.
        log: whether visits are written down (`log()`); costs some 10 microseconds a visit.
        answers: bytes of finished answers that are kept; making a page of 30 KB anew costs 200 microseconds.

    Attributes:
        http_port: of every host, once started.
        nameserver: `ADDRESS:PORT`, once started.
        seeds: where to begin, once started.
    """

    def __init__(
        self,
        spec: WorldSpec | None = None,
        *,
        http_port: int = 0,
        dns_port: int = 0,
        log: bool = True,
        answers: int = ANSWERS,
    ) -> None:
        self.spec = spec if spec is not None else WorldSpec.friendly()
        self.http_port = http_port
        self.nameserver = f"127.0.0.1:{dns_port}"
        self.seeds: list[str] = []
        self._dns_port = dns_port
        self._keeps_log = log
        self._answers = answers
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Of the serving process; 0 if there is none."""
        return self._process.pid if self._process else 0

    def start(self) -> Self:
        """Start serving; returns when everything answers. Raises RuntimeError with what the process said."""
        assert self._process is None, "already started"
        self._folder = tempfile.TemporaryDirectory(prefix="simweb-")
        spec = Path(self._folder.name, "spec.json")
        spec.write_text(self.spec.to_json())
        command = [
            sys.executable, "-m", "gossamer.simweb", "--spec", str(spec), "--announce",
            "--http-port", str(self.http_port), "--dns-port", str(self._dns_port),
            "--control", str(self._control), "--answers", str(self._answers),
            *(("--log", str(self._log)) if self._keeps_log else ()),
        ]  # fmt: skip
        path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self.stop()
            raise RuntimeError(f"the simulated web did not start (exit {status}); its message stands above")
        told = json.loads(line)
        self.http_port, self.nameserver, self.seeds = told["http_port"], told["nameserver"], told["seeds"]
        return self

    def stop(self) -> None:
        """Stop serving; harmless if not started."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.close()  # at which it ends
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def log(self) -> list[Visit]:
        """Visits so far, in the order in which they ended; can be read while running, not after `stop`."""
        return read_visits(self._log) if self._log.exists() else []

    def questions(self) -> list[Question]:
        """Questions to the name server so far."""
        return read_questions(self._log) if self._log.exists() else []

    def treat_names(self, speech: Speech | None) -> None:
        """Treat all questions about names so from now on, e.g. `Speech.SILENT`; `None`: as the spec says."""
        if speech is None:
            self._control.unlink(missing_ok=True)
            return
        written = self._control.with_suffix(".new")
        written.write_text(speech)
        written.replace(self._control)

    @property
    def _control(self) -> Path:
        assert self._folder is not None, "not started"
        return Path(self._folder.name, "names")

    @property
    def _log(self) -> Path:
        return Path(self._folder.name, "visits.jsonl") if self._folder else Path(os.devnull)
