"""How long after its visit can a page be found, while the crawl goes on, and what does that cost?

`python -m benchmarks.follow [--rate N] [--seconds S] [--json]`. Installed documentation (see `docs_site`) is crawled
with `--search` at so many pages a second, each host resting as long as that takes. Every page's visit stands in the
log with its place in the archive; the marks of tables, words and near-duplicates are looked at four times a second, so
that it is known when each of them had a page. `cpu_ms_per_page` is of the process beside the crawl with its readers.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks import measure
from benchmarks.docs_site import DocsSite, chosen
from benchmarks.planted import gossamer
from gossamer.datasets import derived
from gossamer.inspect.inspection import inspect
from gossamer.search.similar import state as similar
from gossamer.search.text import kept

LOOK_SECONDS = 0.25
TREES = ("python", "postgresql", "apache", "rust", "java", "libstdc++", "sqlite", "django", "gtk", "gio")
"""Those with pages enough for some minutes."""
Place = tuple[int, int]
Marks = dict[str, Callable[[Path], Place | None]]


def _tables(crawl: Path) -> Place | None:
    state = derived.state_of(crawl / derived.FOLDER)
    return None if state is None else state.mark.place


def _words(crawl: Path) -> Place | None:
    with contextlib.suppress(kept.Damage):
        found = kept.read_kept(crawl / kept.FOLDER)
        return None if found is None else found.mark.place
    return None


def _similar(crawl: Path) -> Place | None:
    state = similar.state_of(crawl / similar.FOLDER)
    return None if state is None else state.mark.place


MARKS: Marks = {"tables": _tables, "search": _words, "similar": _similar}
"""What follows, and how far it has come."""


def follow(rate: float, seconds: float, folder: Path) -> dict[str, Any]:
    """Crawl for so long, then wait until all is found."""
    crawl, seen, cpu = folder / "crawl", [], _Cpu()
    with DocsSite(chosen(TREES), core=measure.cores()[1]) as site:
        line = gossamer("crawl", "--search", "--quiet", "--dir", str(crawl), "--max-time", f"{seconds:g}s")
        line += ["--min-delay", f"{len(site.trees) / rate:g}s", "--set", "engine.guess_sitemap=false"]
        with (folder / "crawl.log").open("wb") as log:
            process = subprocess.Popen(
                [*line, *site.seeds], stdout=log, stderr=log, preexec_fn=measure.end_with_parent,  # noqa: PLW1509
            )  # fmt: skip
            try:
                while process.poll() is None:
                    now = time.time()
                    seen.append((now, {name: of(crawl) for name, of in MARKS.items()}))
                    cpu.look(process.pid)
                    time.sleep(LOOK_SECONDS)
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                    process.wait()
        if process.returncode:
            raise RuntimeError((folder / "crawl.log").read_text(errors="replace")[-2_000:])
    visits = list(_visits(crawl))
    lasted = visits[-1][0] - visits[0][0]
    seen.append((time.time(), {name: of(crawl) for name, of in MARKS.items()}))
    return {
        "pages": len(visits),
        "pages_per_s": round(len(visits) / lasted, 1),
        "cpu_ms_per_page": round(1e3 * cpu.seconds / len(visits), 2),
        "cpu_ms_per_page_of_readers": round(1e3 * cpu.of_readers / len(visits), 2),
        "load": [round(one, 1) for one in os.getloadavg()],
        **{name: _behind(visits, [(at, marks[name]) for at, marks in seen]) for name in MARKS},
    }


def _visits(crawl: Path) -> Iterator[tuple[float, Place]]:
    """When each page with status 200 was settled, and its place; in the order of the archive."""
    with inspect(crawl) as inspection:
        from gossamer.archive.committed import committed

        serials = {file.name: file.serial for file in committed(inspection.environment).files}
    found = []
    for line in (crawl / "crawl.log").read_bytes().splitlines():
        said = msgspec.json.decode(line)
        if said.get("status") == 200 and said.get("file") in serials:
            found.append((said["at"], (serials[said["file"]], said["offset"])))
    yield from sorted(found, key=lambda one: one[1])


def _behind(visits: list[tuple[float, Place]], seen: list[tuple[float, Place | None]]) -> dict[str, float]:
    """Seconds from a visit until a mark stands behind it."""
    lags, at = [], 0
    places = [(when, place or (0, 0)) for when, place in seen]
    for settled, place in visits:
        while at < len(places) - 1 and places[at][1] <= place:
            at += 1
        lags.append(places[at][0] - settled)
    return {
        "median": round(float(np.median(lags)), 1),
        "p90": round(float(np.percentile(lags, 90)), 1),
        "worst": round(max(lags), 1),
    }


class _Cpu:
    """CPU time of `gossamer index` below a crawl, and of the processes below that."""

    def __init__(self) -> None:
        self._by_process: dict[int, float] = {}
        self._index = 0

    def look(self, crawl: int) -> None:
        """Note what each has taken by now."""
        if not self._index:
            self._index = next((one for one in _children(crawl) if b"\0index\0" in _line(one)), 0)
        for one in [self._index, *_children(self._index)] if self._index else []:
            with contextlib.suppress(OSError):
                self._by_process[one] = measure.cpu_seconds(one)

    @property
    def seconds(self) -> float:
        """Of all."""
        return sum(self._by_process.values())

    @property
    def of_readers(self) -> float:
        """Of those that read documents."""
        return self.seconds - self._by_process.get(self._index, 0.0)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path("/proc", str(pid), "task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _line(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path("/proc", str(pid), "cmdline").read_bytes()
    return b""


def main() -> int:
    """Print what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.follow", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--rate", type=float, default=50.0, help="pages a second")
    parser.add_argument("--seconds", type=float, default=120.0, help="of crawling")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    with tempfile.TemporaryDirectory(prefix="gossamer-follow-") as place:
        found = follow(arguments.rate, arguments.seconds, Path(place))
    if arguments.json:
        print(json.dumps(found))
        return 0
    for name, value in found.items():
        print(f"{name:28} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
