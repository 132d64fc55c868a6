"""The visit log: what each visitor asked for and when, as measured at the server."""

import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Visit:
    """One request with its answer. Moments are `time.monotonic()`, which all processes of a machine share.

    Attributes:
        host: of the Host field, without port, lower case.
        target: path and query as asked for.
        started: when the request head was complete.
        ended: when the last byte was handed to the kernel, or the connection was gone.
        status: sent; 0 if none was.
        sent: bytes handed to the kernel, head included.
        whole: whether all that was to be sent was sent.
        client: address and port of the visitor.
        address: of the server that was talked to.
        open: visits to this host in progress when this one started, itself included.
        method: of the request.
        fields: of the request, names in lower case.
    """

    host: str
    target: str
    started: float
    ended: float
    status: int
    sent: int
    whole: bool
    client: str
    address: str
    open: int
    method: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """One question to the name server.

    Attributes:
        name: asked for, lower case.
        kind: `A`, `AAAA` or a number.
        asked: moment of `time.monotonic()`.
        transport: `udp` or `tcp`.
        answered: or else lost.
    """

    name: str
    kind: str
    asked: float
    transport: str
    answered: bool = True


class Ledger:
    """Appends visits and questions to a file, each in one write, so that readers see whole lines at once."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._open: Counter[str] = Counter()

    def begin(self, host: str) -> tuple[float, int]:
        """Moment of the start, and visits to `host` now open."""
        self._open[host] += 1
        return time.monotonic(), self._open[host]

    def end(self, visit: dict[str, Any]) -> None:
        """Write a visit that has `begun`; its attributes, `ended` only if that was before now."""
        host = visit["host"]
        self._open[host] -= 1
        if not self._open[host]:
            del self._open[host]
        visit.setdefault("ended", time.monotonic())
        self._write("visit", visit)

    def ask(self, name: str, kind: str, transport: str, *, answered: bool) -> None:
        """Write a question for a name into the log."""
        question = {"name": name, "kind": kind, "asked": time.monotonic(), "transport": transport}
        self._write("question", question | {"answered": answered})

    def close(self) -> None:
        """Give up the file of the log."""
        os.close(self._file)

    def _write(self, what: str, values: dict[str, Any]) -> None:
        os.write(self._file, json.dumps({what: values}).encode() + b"\n")


def read_visits(path: Path) -> list[Visit]:
    """Visits so far, in the order in which they ended."""
    return [Visit(**values["visit"]) for values in _read(path) if "visit" in values]


def read_questions(path: Path) -> list[Question]:
    """Questions so far, in order."""
    return [Question(**values["question"]) for values in _read(path) if "question" in values]


def _read(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as lines:
        return [json.loads(line) for line in lines if line.endswith(b"\n")]
