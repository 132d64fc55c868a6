"""Memory of each of two agents: over a long crawl, and while the other one is stopped for a minute."""

import contextlib
import os
import signal
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.cluster_runs import ClusterRun, Tree, by_agents, resident
from benchmarks.webs import Web

WORKERS = 32
GROWTH = 0.10
STOP_AT = 0.3
"""Part of the pages after which one agent is stopped."""
STOP_SECONDS = 60.0
TAKEN_OVER_SECONDS = 20.0
"""After which the shards of a silent agent are another's, so that nobody owes it anything."""
RUN_SECONDS = 1_500.0
SHORTEST = 100
"""Samples without which nothing is said of growth."""


class Watch:
    """Resident memory of each agent's process against the pages of its crawl log."""

    def __init__(self) -> None:
        self._places: dict[str, int] = defaultdict(int)
        self._pages: dict[str, int] = defaultdict(int)
        self.samples: dict[str, list[tuple[float, int, float]]] = defaultdict(list)

    def __call__(self, tree: Tree, folder: Path) -> None:
        """Take a sample of all agents: time, pages, MiB."""
        for name, pid in tree.agents().items():
            mb = resident(pid)
            if mb:
                self.samples[name].append((time.monotonic(), self._count(folder, name), mb))

    def _count(self, folder: Path, name: str) -> int:
        log = folder / "agents" / name / "crawl.log"
        with contextlib.suppress(OSError), log.open("rb") as file:
            file.seek(self._places[name])
            fresh = file.read()
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self._places[name] += len(whole)
            self._pages[name] += sum(
                b'"status":200' in line and b'"kind":"robots"' not in line for line in whole.splitlines()
            )
        return self._pages[name]

    @property
    def pages(self) -> int:
        """Of all agents."""
        return sum(self._pages.values())

    def peak(self) -> dict[str, float]:
        """MiB at most, by agent."""
        return {
            name: round(max(mb for _, _, mb in samples), 1) for name, samples in sorted(self.samples.items())
        }

    def growth(self) -> dict[str, float]:
        """By how much an agent's last tenth of its pages takes more than the tenth before its first fifth."""
        found = {}
        for name, samples in sorted(self.samples.items()):
            pages = samples[-1][1]
            early = [mb for _, page, mb in samples if 0.1 * pages <= page <= 0.2 * pages]
            late = [mb for _, page, mb in samples if page >= 0.9 * pages]
            if early and len(samples) >= SHORTEST:
                found[name] = round(statistics.median(late) / statistics.median(early) - 1, 3)
        return found


class Stop(Watch):
    """Stops an agent once, for a while."""

    def __init__(self, pages: int, seconds: float) -> None:
        """`pages`: of all agents after which it is done."""
        super().__init__()
        self._at = pages
        self._seconds = seconds
        self._stopped = 0
        self.name = ""
        self.began = self.ended = 0.0
        self.outbox = 0

    def __call__(self, tree: Tree, folder: Path) -> None:
        """As before, with the signals where it is time."""
        super().__call__(tree, folder)
        now = time.monotonic()
        if not self.began and self.pages >= self._at:
            self.name, self._stopped = max(tree.agents().items())
            os.kill(self._stopped, signal.SIGSTOP)
            self.began = now
        elif self.began and not self.ended and now >= self.began + self._seconds:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._stopped, signal.SIGCONT)
            self.ended = now

    def sender(self) -> dict[str, Any]:
        """What the other one took before, at most during the stop, and how far it came meanwhile."""
        samples = next(samples for name, samples in self.samples.items() if name != self.name)
        ended = self.ended or samples[-1][0]  # a crawl may be over first
        before = [mb for at, _, mb in samples if self.began - 5 <= at < self.began]
        during = [(at, pages, mb) for at, pages, mb in samples if self.began <= at <= ended]
        owing = [mb for at, _, mb in during if at <= self.began + TAKEN_OVER_SECONDS]
        most, base = max(mb for _, _, mb in during), statistics.median(before)
        return {
            "sender_before_mb": round(base, 1),
            "sender_during_mb": round(most, 1),
            "sender_pages_meanwhile": during[-1][1] - during[0][1],
            "stopped_growth": round(most / base - 1, 3),
            "owing_growth": round(max(owing) / base - 1, 3),
            "stopped_seconds": round(ended - self.began, 1),
        }


def long_crawl(web: Web) -> dict[str, Any]:
    """All of it by two agents."""
    watch = Watch()
    run = by_agents(web, 2, WORKERS, RUN_SECONDS, watch=watch)
    growth = watch.growth()
    return {
        "peak_mb": watch.peak(),
        "growth": growth,
        "memory_pages": run.pages,
        "memory_ok": bool(growth) and max(growth.values()) <= GROWTH,
    }


def stopped_crawl(web: Web, pages: list[str], seconds: float = STOP_SECONDS) -> dict[str, Any]:
    """The same with one agent stopped in between; `pages`: what the crawl must bring."""
    stop = Stop(int(STOP_AT * len(pages)), seconds)
    run = by_agents(web, 2, WORKERS, RUN_SECONDS, watch=stop)
    found = stop.sender() | compared(run, pages)
    return {
        **found,
        "stopped_pages": run.pages,
        "stopped_ok": not (found["missing"] or found["extra"] or found["doubles"])
        and found["owing_growth"] <= GROWTH,
    }


def compared(run: ClusterRun, pages: list[str]) -> dict[str, int]:
    """How the collected index differs from the pages of a plain crawl."""
    wanted, got = set(pages), set(run.captures)
    return {
        "missing": len(wanted - got),
        "extra": len(got - wanted),
        "doubles": len(run.captures) - len(got),
    }
