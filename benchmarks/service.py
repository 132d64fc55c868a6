"""What the daemon and an open console cost a crawl that runs.

`python -m benchmarks.service [--quick] [--pairs N] [--pages N] [--seconds S] [--parts] [--json]`
"""

import argparse
import contextlib
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from benchmarks.daemons import LOOK_SECONDS, RUN_SECONDS, Daemon, address_of, pin, started
from benchmarks.viewers import Viewer, nobody, viewer_name, viewer_of
from benchmarks.webs import Web, simulated
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.daemon.jobs import folders

PAGES, QUICK_PAGES = 4_000, 400
SECONDS, QUICK_SECONDS = 60.0, 8.0
HOSTS = 20
PAIRS = 3
PAGE_BYTES = 35_000
WORKERS = 32
WINDOW = (0.2, 0.95)
"""Shares of the visits between which is measured: starting and ending are no part of a crawl that runs."""
JOB = "measured"
UNLIMITED = 1_250_000_000
"""Bytes a second that the job claims. With its default of 32 MB it would be slower than the crawl by hand,
and a crawl that has to wait again and again takes more time a page, whoever makes it wait (`limited`)."""
LIMITED = 32_000_000


class Arm(msgspec.Struct, frozen=True):
    """A way to run the same crawl.

    Attributes:
        name: in the figures.
        daemon: as a job of a daemon; else the same command by hand.
        watched: with the console open.
        shared: by hand, but with the table of politeness that a daemon's jobs share.
        speed: by hand, but with at most so many bytes a second; 0: no limit.
    """

    name: str
    daemon: bool = False
    watched: bool = False
    shared: bool = False
    speed: int = 0


ALONE, WATCHED = Arm("alone"), Arm("watched", daemon=True, watched=True)
PARTS = (Arm("shared", shared=True), Arm("daemon", daemon=True), Arm("limited", speed=LIMITED))
"""What of it is shared politeness, and what the daemon with nobody looking; what a limit of speed costs."""


class Plan(msgspec.Struct, frozen=True):
    """The crawl that is repeated.

    Attributes:
        pages: of the web, on `HOSTS` hosts.
        seconds: that rests make it take; 0: as fast as it goes.
        viewer: `chromium`, `stream`, or `auto`.
    """

    pages: int
    seconds: float
    viewer: str = "auto"

    @property
    def rest(self) -> float:
        """Seconds between visits to a host."""
        return round(self.seconds * HOSTS / self.pages, 4)

    def settings(self, web: Web) -> dict[str, Any]:
        """Of the crawl, as a tree."""
        return {
            "seeds": list(web.start),
            "politeness": {
                "min_delay": self.rest,
                "factor": 0.0,
                "visits_per_host": 1 if self.seconds else 16,
            },
            "engine": {"workers": WORKERS, "guess_sitemap": False},
            "fetch": {"allow_private": True},
            "dns": {"nameservers": [web.nameserver], "hosts_file": False},
        }


class Point(msgspec.Struct, frozen=True):
    """Sums so far: visits, and seconds of wall and processor time."""

    visits: int
    clock: float
    crawl: float
    daemon: float
    viewer: float
    updates: int


class Visits:
    """Counts the visits of a crawl from outside, by the lines of its log."""

    def __init__(self, crawl: Path) -> None:
        self._log = crawl / "crawl.log"
        self._read = 0
        self._lines = 0

    def count(self) -> int:
        """So far."""
        with contextlib.suppress(FileNotFoundError), self._log.open("rb") as log:
            log.seek(self._read)
            text = log.read()
            self._read += len(text)
            self._lines += text.count(b"\n")
        return self._lines


class Runner:
    """Runs the crawl in one folder that is removed afterwards."""

    def __init__(self, plan: Plan, web: Web, arm: Arm) -> None:
        self.plan = plan
        self.web = web
        self.arm = arm
        self.cores = measure.cores()

    def run(self) -> dict[str, Any]:
        """One crawl from nothing; its figures."""
        home = Path(tempfile.mkdtemp(prefix="gossamer-service-"))
        try:
            first, last = self._by_daemon(home) if self.arm.daemon else self._by_hand(home)
        except RuntimeError:
            print((home / "output.log").read_text(errors="replace")[-4000:], file=sys.stderr)
            raise
        finally:
            shutil.rmtree(home, ignore_errors=True)
        return figures(first, last)

    def _by_hand(self, home: Path) -> tuple[Point, Point]:
        settings = self.plan.settings(self.web)
        if self.arm.shared:
            settings["politeness"]["shared"] = str(home / "politeness")
        if self.arm.speed:
            settings["fetch"]["max_speed"] = self.arm.speed
        crawl = home / "crawl"
        folders.make(crawl, load(CrawlConfig, settings))
        # As the daemon starts its jobs.
        line = [sys.executable, "-P", "-m", "gossamer", "resume", "--quiet", str(crawl)]
        with started(line, home / "output.log", self.cores[0]) as process:
            points = self._window(Visits(crawl), process.pid, 0, nobody())
            if process.wait(RUN_SECONDS):
                raise RuntimeError(f"the crawl ended with status {process.returncode}")
        return points

    def _by_daemon(self, home: Path) -> tuple[Point, Point]:
        log = home / "output.log"
        line = [sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--port", "0"]
        line += ["--token-file", "none"]
        with contextlib.ExitStack() as stack:
            process = stack.enter_context(started(line, log, self.cores[1]))
            daemon = Daemon(address_of(log, process), JOB)
            claim = {"bandwidth": UNLIMITED}
            job = {"name": JOB, "settings": self.plan.settings(self.web), "claim": claim}
            daemon.ask("POST", "/jobs", job)
            viewer = nobody()
            if self.arm.watched:
                viewer = stack.enter_context(viewer_of(self.plan.viewer, daemon.url, JOB))
            stack.callback(daemon.kill_job)
            daemon.ask("POST", f"/jobs/{JOB}/start")
            crawler = daemon.wait_for_process()
            pin(crawler, self.cores[0])
            points = self._window(Visits(home / "jobs" / JOB), crawler, process.pid, viewer)
            daemon.wait_for_end()
        return points

    def _window(self, visits: Visits, crawler: int, daemon: int, viewer: Viewer) -> tuple[Point, Point]:
        """Sums at the beginning and at the end of what is measured."""
        begin, end = (int(share * self.plan.pages) for share in WINDOW)
        first: Point | None = None
        deadline = time.monotonic() + RUN_SECONDS
        while time.monotonic() < deadline:
            count = visits.count()
            if count >= (end if first else begin):
                point = _point(count, crawler, daemon, viewer)
                if first is not None:
                    return first, point
                pin(crawler, self.cores[0])  # threads that have joined since
                first = point
            viewer.look(LOOK_SECONDS)
        raise RuntimeError(f"the crawl made {visits.count()} visits of {self.plan.pages} in time")


def _point(visits: int, crawler: int, daemon: int, viewer: Viewer) -> Point:
    return Point(
        visits=visits,
        clock=time.monotonic(),
        crawl=measure.cpu_seconds(crawler),
        daemon=measure.cpu_seconds(daemon) if daemon else 0.0,
        viewer=viewer.cpu_seconds(),
        updates=viewer.updates,
    )


def figures(first: Point, last: Point) -> dict[str, Any]:
    """Of one run, between two points; and what it took once, to start, beside the pages before the first."""
    pages, seconds = last.visits - first.visits, last.clock - first.clock
    crawl = (last.crawl - first.crawl) / pages
    return {
        "pages": pages,
        "seconds": round(seconds, 2),
        "start_cpu_seconds": round(first.crawl - first.visits * crawl, 3),
        "crawl_ms": round(crawl * 1000, 4),
        "daemon_ms": round((last.daemon - first.daemon) / pages * 1000, 4),
        "daemon_cpu_share": round((last.daemon - first.daemon) / seconds, 5),
        "viewer_cpu_share": round((last.viewer - first.viewer) / seconds, 4),
        "updates": last.updates - first.updates,
    }


def overhead(without: dict[str, Any], watched: dict[str, Any], *, daemon: bool = True) -> float:
    """The share of its pages per second of processor time that a crawl loses."""
    dearer = watched["crawl_ms"] + (watched["daemon_ms"] if daemon else 0.0)
    return round(1.0 - float(without["crawl_ms"] / dearer), 4)


def compare(plan: Plan, web: Web, pairs: int, arms: Sequence[Arm]) -> dict[str, Any]:
    """Run the arms side by side, `pairs` times: so both meet the same speed of the machine."""
    warm = Plan(min(plan.pages, QUICK_PAGES), min(plan.seconds, QUICK_SECONDS / 2))
    if warm.pages == plan.pages:
        Runner(warm, web, ALONE).run()
    runs: dict[str, list[dict[str, Any]]] = {arm.name: [] for arm in arms}
    for turn in range(pairs):
        order = arms[:: 1 if turn % 2 == 0 else -1]
        with ThreadPoolExecutor(len(order)) as together:
            done = together.map(Runner.run, [Runner(plan, web, arm) for arm in order])
            for arm, run in zip(order, done, strict=True):
                runs[arm.name].append(run)
                print(f"{turn + 1} {arm.name}: {run}", file=sys.stderr)
    return summed_up(runs) | {"viewer": viewer_name(plan.viewer), "rest": plan.rest, "runs": runs}


def summed_up(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Medians over the runs and over the pairs."""
    pairs = list(zip(runs["alone"], runs["watched"], strict=True))
    overheads = [overhead(*pair) for pair in pairs]
    of_crawl = [overhead(*pair, daemon=False) for pair in pairs]

    def middle(arm: str, figure: str) -> float:
        return round(statistics.median(run[figure] for run in runs[arm]), 4)

    parts = {
        name: round(statistics.median(overhead(*pair) for pair in zip(runs["alone"], taken, strict=True)), 4)
        for name, taken in runs.items()
        if name not in ("alone", "watched")
    }
    return {
        "overhead": round(statistics.median(overheads), 4),
        "overheads": overheads,
        "overhead_in_crawl": round(statistics.median(of_crawl), 4),
        "overheads_in_crawl": of_crawl,
        "cpu_ms_per_page": {
            "without": middle("alone", "crawl_ms"),
            "with": middle("watched", "crawl_ms"),
            "daemon": middle("watched", "daemon_ms"),
        },
        "start_cpu_seconds": {
            "without": middle("alone", "start_cpu_seconds"),
            "with": middle("watched", "start_cpu_seconds"),
        },
        "daemon_cpu_share": middle("watched", "daemon_cpu_share"),
        "viewer_cpu_share": middle("watched", "viewer_cpu_share"),
        "updates": middle("watched", "updates"),
        "pages": int(middle("watched", "pages")),
        "seconds": middle("watched", "seconds"),
        **({"parts": parts} if parts else {}),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--pages", type=int, help=f"of the web; {PAGES}, {QUICK_PAGES} with --quick")
    parser.add_argument("--seconds", type=float, help=f"that rests make it take; {SECONDS:g}; 0: no rests")
    parser.add_argument("--pairs", type=int, help=f"runs of each; {PAIRS}, 1 with --quick")
    parser.add_argument("--viewer", choices=["auto", "chromium", "stream"], default="auto")
    parser.add_argument("--parts", action="store_true", help="measure also what makes up the overhead")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    quick = arguments.quick
    plan = Plan(
        pages=arguments.pages or (QUICK_PAGES if quick else PAGES),
        seconds=(QUICK_SECONDS if quick else SECONDS) if arguments.seconds is None else arguments.seconds,
        viewer=arguments.viewer,
    )
    arms = [ALONE, *(PARTS if arguments.parts else ()), WATCHED]
    with simulated(pages=plan.pages, hosts=HOSTS, page_bytes=PAGE_BYTES, core=measure.cores()[1]) as web:
        result = compare(plan, web, arguments.pairs or (1 if quick else PAIRS), arms)
    if arguments.json:
        print(json.dumps(result))
    else:
        print(*(f"{name:20} {value}" for name, value in result.items() if name != "runs"), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
