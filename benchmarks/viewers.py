"""Somebody who looks at a job of a daemon: a browser without a window, or a program that reads its stream."""

import contextlib
import http.client
import os
import shutil
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from benchmarks import measure

CHROMIUM = shutil.which("chromium")
SIZE = {"width": 1280, "height": 860}


class Viewer(Protocol):
    """Who looks.

    Attributes:
        updates: how often the figures have come anew.
    """

    updates: int

    def look(self, seconds: float) -> None:
        """Go on looking for so long."""

    def cpu_seconds(self) -> float:
        """Processor time that looking has taken."""


class Nobody:
    """Nobody looks."""

    updates = 0

    def look(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def cpu_seconds(self) -> float:
        """None."""
        return 0.0


class Browser:
    """Chromium on the page of the job, which keeps itself up to date."""

    def __init__(self, page: Any) -> None:
        self.updates = 0
        self._page = page
        page.on("response", self._heard)

    def _heard(self, response: Any) -> None:
        self.updates += "part=live" in response.url and response.status == 200

    def look(self, seconds: float) -> None:
        """Let the browser do what it does."""
        self._page.wait_for_timeout(seconds * 1000)

    def cpu_seconds(self) -> float:
        """Of all its processes that live."""
        return sum(map(_cpu_seconds, _browsers(os.getpid())))


class Reader(threading.Thread):
    """A program that reads the server-sent events of the job."""

    def __init__(self, url: str, job: str) -> None:
        super().__init__(daemon=True)
        self.updates = 0
        self._cpu = 0.0
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(str(place.hostname), place.port)
        self._connection.request("GET", f"/api/v1/jobs/{job}/events")
        self._answer = self._connection.getresponse()

    def run(self) -> None:
        """Read until the stream ends."""
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            while line := self._answer.readline():
                self.updates += line.startswith(b"event: status")
                self._cpu = time.thread_time()

    def look(self, seconds: float) -> None:
        """The thread looks."""
        time.sleep(seconds)

    def cpu_seconds(self) -> float:
        """Of the thread."""
        return self._cpu

    def close(self) -> None:
        """Look no more."""
        with contextlib.suppress(OSError, AttributeError):
            self._connection.sock.shutdown(2)
        self.join(measure.GRACE_SECONDS)
        self._connection.close()


def nobody() -> Viewer:
    """Nobody looks."""
    return Nobody()


def viewer_name(wanted: str) -> str:
    """`chromium` or `stream`, by what is wanted and by what is installed.

    Raises:
        RuntimeError: there is no browser.
    """
    there = CHROMIUM is not None and find_spec("playwright") is not None
    if wanted == "auto":
        return "chromium" if there else "stream"
    if wanted == "chromium" and not there:
        raise RuntimeError("chromium needs Debian's package of that name, and playwright (extra `test`)")
    return wanted


@contextlib.contextmanager
def viewer_of(wanted: str, url: str, job: str) -> Iterator[Viewer]:
    """Somebody who looks at the job as long as the block lasts."""
    if viewer_name(wanted) == "stream":
        reader = Reader(url, job)
        reader.start()
        try:
            yield reader
        finally:
            reader.close()
        return
    from playwright.sync_api import sync_playwright  # not installed everywhere

    with sync_playwright() as playwright:
        # As root Chromium has no sandbox; it is shown nothing but our own pages.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            page = browser.new_page(viewport=SIZE)
            page.goto(f"{url}/jobs/{job}")
            yield Browser(page)
        finally:
            browser.close()


def _browsers(root: int) -> Iterator[int]:
    """Processes below one that are Chromium's."""
    waiting = [root]
    while waiting:
        folder = Path("/proc", str(waiting.pop()))
        with contextlib.suppress(OSError, ValueError):
            for task in (folder / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
            if (folder / "comm").read_text().startswith("chrom"):
                yield int(folder.name)


def _cpu_seconds(pid: int) -> float:
    try:
        return measure.cpu_seconds(pid)
    except OSError:
        return 0.0
