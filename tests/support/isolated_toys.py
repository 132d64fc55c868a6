"""Work for guarded processes: what behaves, and what does not. A worker process imports this."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from gossamer.model.document import Document, Findings
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url


class Asked(msgspec.Struct, frozen=True):
    what: str
    content: bytes = b""
    path: str = ""
    number: int = 0


class Told(msgspec.Struct, frozen=True):
    text: str
    process: int = 0


kept = []


def answer(asked: Asked) -> object:
    match asked.what:
        case "bytes":
            return Told(asked.content.decode(), os.getpid())
        case "file":
            return Told(Path(asked.path).read_text(), os.getpid())
        case "loop":
            while True:
                pass
        case "loop in C":  # holds the interpreter's lock: no thread of the process runs
            if asked.path:
                Path(asked.path).touch()
            ctypes.PyDLL(None).pause()
        case "sleep":
            time.sleep(600)
        case "starve":
            starve(0.5)
            return Told("starved", os.getpid())
        case "allocate":
            bytearray(10 << 30)
        case "leak":
            kept.append(bytearray(asked.number))
            return Told("leaked", os.getpid())
        case "abort":
            os.abort()
        case "abort if used":
            if kept:
                os.abort()
            kept.append(b"")
            return Told("fresh", os.getpid())
        case "exit":
            os._exit(7)
        case "long":
            return Told("x" * asked.number)
        case "wrong type":
            return [1, 2, 3]
        case "raise":
            raise LookupError("no table of contents")
        case "print":
            sys.stdout.write("chatter" * 100_000)
            os.write(1, b"more chatter")
            return Told("printed")
        case "child":
            started = subprocess.Popen(["sleep", "600"])
            Path(asked.path).write_text(str(started.pid))
            signal.pause()
        case "environment":
            return Told(" ".join(sorted(os.environ)))
    raise AssertionError(asked.what)


def starve(seconds: float) -> None:
    """Get no processor for so long."""
    subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -CONT {os.getpid()}"])
    os.kill(os.getpid(), signal.SIGSTOP)


class Starved:
    """Gets no processor for a while when it is loaded."""

    def __call__(self, asked: Asked) -> object:
        return answer(asked)

    def __getstate__(self) -> dict[str, bool]:
        return {"waits": True}

    def __setstate__(self, state: dict[str, bool]) -> None:
        starve(1.0)


class Sleeps:
    """Reads no document: waits for what never comes."""

    def __init__(self, *_: object) -> None:
        pass

    def __call__(self, _: object) -> object:
        time.sleep(600)
        raise AssertionError


class TableExtractor:
    """Reads `application/x-toy`: one link a line; a line that is a deed is done."""

    name = "toy"
    media_types = frozenset({"application/x-toy"})
    isolated = True

    def extract(self, document: Document) -> Findings:
        links = []
        for line in document.content.decode().split():
            if line.startswith("/"):
                url = Url.parse(line, document.url.text)
                assert url is not None
                links.append(Link(url, LinkKind.NAVIGATION, "toy"))
            else:
                answer(Asked(line))
        return Findings(title="a toy", links=tuple(links), fields={"process": os.getpid()})


class TitleExtractor:
    """Runs in our own process, beside the other."""

    name = "beside"
    media_types = frozenset({"application/x-toy"})

    def extract(self, document: Document) -> Findings:
        return Findings(author="nobody", fields={"here": os.getpid()})
