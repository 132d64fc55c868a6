"""A large crawl that is visited again, round after round: what a visit costs, what a page takes, whether memory grows.

`python -m benchmarks.revisit_rounds [--pages N] [--rounds N] [--page-bytes N] [--minutes N] [--json]`; exit status 0
if within the limits, else 1.

The simulated web never changes, so that visits again are 304s, but those that ask without condition. First every page
is visited once, under the usual clock. Then the crawl is resumed under a fast one (`GOSSAMER_CLOCK`), with more visits
a day than can be made: each page is due again as soon as its host has time for it.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from benchmarks.webs import Web, simulated
from gossamer.state.environment import Environment, Family, StateConfig

PAGES = 100_000
HOSTS = 100
ROUNDS = 3
PAGE_BYTES = 8_000
"""Real pages are larger, and cost more at the first visit: of 499 of WCXB nine tenths have more than 41 KB."""
SPEED = 7_200
PEAK_MB = 300.0
GROWTH = 0.10
SHARE_OF_A_FIRST_VISIT = 0.5
BYTES_A_PAGE = 24 + 22
"""That may be kept of a page to visit it again: its history, its place in a queue."""
_WARM = 0.1
"""Of a round, after which it is measured: the start is no visit."""
_LOOK_SECONDS = 0.5
_ALL_BUT = 0.99
"""Share of 304s from which on a stretch tells what they cost. Each tenth visit to a page asks for all of it."""
_SMALL = 10_000
"""Bytes of a family that is not worth a word."""


class Mark(msgspec.Struct, frozen=True):
    """How far a crawl is. `cpu`: seconds of this process and its children; `visits`, `unchanged`: since the first."""

    visits: int
    unchanged: int
    cpu: float
    resident_mb: float
    peak_mb: float


class Log:
    """The visits in a log that grows, robots files left out."""

    def __init__(self, path: Path) -> None:
        self._path, self._offset = path, 0
        self.visits = self.unchanged = 0

    def read(self) -> None:
        """Count what is new."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            fresh = file.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = [line for line in whole.splitlines() if b'"kind":"robots"' not in line]
        self.visits += len(lines)
        self.unchanged += sum(b'"status":304' in line for line in lines)


class Crawl:
    """One folder, and the processes that crawl it."""

    def __init__(self, web: Web, folder: Path, pages: int, core: int) -> None:
        self.folder, self._core = folder, core
        self.log = Log(folder / "crawl.log")
        self._said = folder.with_suffix(".err")
        config = folder.with_suffix(".toml")
        settings = {
            "seeds": list(web.start),
            "scope.mode": "any",
            "fetch.allow_private": True,
            "dns.nameservers": [web.nameserver],
            "politeness.min_delay": "0s",
            "politeness.factor": 0.0,
            "engine.workers": 64,
            "engine.guess_sitemap": False,
            "engine.min_free_disk": "1MiB",
            "revisit.enabled": True,
            "revisit.visits": pages,
        }
        config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
        self._begin = ["crawl", "--config", str(config), "--dir", str(folder)]

    def until(self, visits: int, stop_at: float, *, resume: bool, marks: tuple[int, ...]) -> list[Mark]:
        """Crawl until so many visits are logged, or it is too late; how it stood at each of `marks` and at the end."""
        clock = {"GOSSAMER_CLOCK": f"{SPEED}@{time.time():.3f}"} if resume else {}
        visits_a_day = f"revisit.visits={1e9:.0f}"
        line = ["resume", str(self.folder), "--set", visits_a_day] if resume else self._begin
        found: list[Mark] = []
        with self._said.open("ab") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "gossamer", *line, "--quiet"],
                env={**os.environ, **clock},
                stdout=said, stderr=said,
                preexec_fn=measure.end_with_parent,  # noqa: PLW1509  no threads here
            )  # fmt: skip
        os.sched_setaffinity(process.pid, {self._core})
        try:
            while process.poll() is None and time.monotonic() < stop_at:
                self.log.read()
                if len(found) < len(marks) and self.log.visits >= marks[len(found)]:
                    found.append(self._mark(process.pid))
                if self.log.visits >= visits:
                    break
                time.sleep(_LOOK_SECONDS)
            if process.poll() is not None:
                raise RuntimeError(f"ended by itself: {self._said.read_text()[-2_000:]}")
            self.log.read()
            found.append(self._mark(process.pid))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(120)
        return found

    def disk(self) -> dict[str, int]:
        """Bytes of what grows with visits, as it lies on disk after a stop."""
        return {
            part.name: sum(path.stat().st_size for path in (part, *part.rglob("*")) if path.is_file())
            for part in (self.folder / "state", self.folder / "archive", self.folder / "crawl.log")
        }

    def tables(self) -> dict[str, int]:
        """Bytes of the state's larger families, with what is not merged yet: after some flushes a page stands there
        some times over."""
        environment = Environment.open_partial(self.folder / "state", StateConfig())
        try:
            sizes = {str(family): environment.disk_bytes(family) for family in Family}
        finally:
            environment.close()
        return {name: size for name, size in sizes.items() if size >= _SMALL}

    def _mark(self, pid: int) -> Mark:
        cpu, resident, peak = measure.cpu_seconds(pid), *_memory(pid)
        for child in _children(pid):
            cpu += measure.cpu_seconds(child)
            resident += _memory(child)[0]
        return Mark(self.log.visits, self.log.unchanged, cpu, round(resident, 1), round(peak, 1))


def _children(pid: int) -> list[int]:
    tasks = Path("/proc", str(pid), "task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _memory(pid: int) -> tuple[float, float]:
    """MiB resident now, and at most."""
    status = Path("/proc", str(pid), "status").read_text()
    now, most = (int(status.partition(f"{name}:")[2].split(None, 1)[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return now, most


def microseconds(*stretches: tuple[Mark, Mark]) -> float:
    """Of CPU a visit between such marks."""
    visits = sum(after.visits - before.visits for before, after in stretches)
    return round(sum(after.cpu - before.cpu for before, after in stretches) / max(1, visits) * 1e6, 1)


def _share(before: Mark, after: Mark) -> float:
    """Of 304s between two marks."""
    return (after.unchanged - before.unchanged) / max(1, after.visits - before.visits)


def growth(resident: list[float]) -> float:
    """By how much the later half of the rounds had more resident at most than the earlier half.

    RocksDB's buffers fill with the first 30,000 visits and are flushed in turns, and the caches of links with the first
    pages that a process reads: what levels off there is no growth.
    """
    middle = (len(resident) + 1) // 2
    return round(max(resident[middle:] or resident) / max(resident[:middle]) - 1, 3)


def run(
    pages: int, rounds: int, page_bytes: int, minutes: float, out: Callable[[str], None]
) -> dict[str, Any]:
    """The figures of a crawl of so many pages and rounds, the first visits one of them."""
    ours, theirs = measure.cores()
    stop_at = time.monotonic() + minutes * 60
    folder = Path(tempfile.mkdtemp(prefix="gossamer-rounds-"))
    try:
        with simulated(pages=pages, hosts=min(HOSTS, pages // 10), page_bytes=page_bytes, core=theirs) as web:
            crawl = Crawl(web, folder / "crawl", pages, ours)
            warm = round(pages * _WARM)
            first = crawl.until(pages, stop_at, resume=False, marks=(warm,))
            out(f"first visits: {first}")
            before = crawl.disk()
            ends = tuple(round(pages * number) + warm for number in range(1, rounds))
            later = crawl.until(rounds * pages, stop_at, resume=True, marks=ends)
            out(f"later: {later}")
            after, tables = crawl.disk(), crawl.tables()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    last = later[-1]
    not_modified = [two for two in pairwise(later) if _share(*two) >= _ALL_BUT]
    result = {
        "pages": pages,
        "rounds": round(last.visits / pages, 2),
        "first_us": microseconds((first[0], first[-1])),
        "again_us": microseconds((later[0], last)),
        "not_modified_us": microseconds(*not_modified),
        "unchanged": round(_share(later[0], last), 3),
        "first_peak_mb": first[-1].peak_mb,
        "peak_mb": last.peak_mb,
        "resident_mb": [mark.resident_mb for mark in later],
        "growth": growth([mark.resident_mb for mark in later]),
        "state_bytes_a_page": round(before["state"] / pages, 1),
        "state_bytes_a_page_after": round(after["state"] / pages, 1),
        "bytes_a_visit_again": {
            name: round((size - before[name]) / max(1, last.visits - pages), 1)
            for name, size in after.items()
        },
        "tables": tables,
    }
    result["ok"] = (
        result["not_modified_us"] <= SHARE_OF_A_FIRST_VISIT * result["first_us"]
        and last.peak_mb < PEAK_MB
        and result["growth"] <= GROWTH
        and last.visits >= rounds * pages
    )
    return result


def main() -> int:
    measure.hear_interrupts()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.revisit_rounds", description=__doc__)
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="the first visits are one")
    parser.add_argument("--page-bytes", type=int, default=PAGE_BYTES)
    parser.add_argument("--minutes", type=float, default=30.0, help="that it may take")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    told = parser.parse_args()
    measure.tidy_when_terminated()
    result = run(
        told.pages, told.rounds, told.page_bytes, told.minutes,
        lambda text: print(text, file=sys.stderr, flush=True),
    )  # fmt: skip
    print(json.dumps(result) if told.json else json.dumps(result, indent=2))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
