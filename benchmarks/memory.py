"""Memory of long crawls of the simulated web: the peak, and whether it grows.

`python -m benchmarks.memory [--order ORDER] [--quick] [--json]`; exit status 0 if within the limits, else 1.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.crawlers import Work, command, fetched
from benchmarks.webs import Web, simulated

PAGES = 50_000
HOSTS = 200_000
PAGE_BYTES = 8_000
QUICK_PART = 10
PEAK_MB = 300.0
GROWTH = 0.10
RUN_SECONDS = 1500.0


class Progress:
    """Resident memory against pages, the pages counted from the growing crawl log."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = 0
        self._pages = 0
        self.samples: list[tuple[int, float]] = []

    def sample(self, resident_mb: float) -> None:
        """Note the memory at the number of pages logged so far."""
        if self._log.exists():
            with self._log.open("rb") as file:
                file.seek(self._offset)
                fresh = file.read()
            whole = fresh[: fresh.rfind(b"\n") + 1]
            self._offset += len(whole)
            self._pages += sum(
                b'"status":200' in line and b'"kind":"robots"' not in line for line in whole.splitlines()
            )
        self.samples.append((self._pages, resident_mb))

    def around(self, page: int) -> float:
        """Median MiB over the tenth of the way that led to `page`, or else the first sample after it.

        The log grows by blocks, so in a short crawl no sample may fall into that tenth.
        """
        near = [mb for pages, mb in self.samples if page * 0.9 <= pages <= page]
        after = [mb for pages, mb in self.samples if pages > page]
        return statistics.median(near or after[:1] or [0.0])


def crawl(web: Web, pages: int, order: str, *, many_hosts: bool) -> dict[str, Any]:
    """Crawl so many pages; the figures. Growth is judged in whole crawls only: at first caches fill."""
    folder = Path(tempfile.mkdtemp(prefix="gossamer-memory-"))
    try:
        seeds = None
        if many_hosts:
            seeds = folder / "seeds.txt"
            seeds.write_text("\n".join(web.start) + "\n", encoding="utf-8")
        work = Work(
            start=web.start,
            folder=folder,
            pages=pages,
            workers=64,
            nameserver=web.nameserver,
            seeds_file=seeds,
            order=order,
        )
        progress = Progress(work.crawl_folder / "crawl.log")
        usage = measure.run(
            command("gossamer", work),
            log=work.log,
            core=measure.cores()[0],
            timeout=RUN_SECONDS,
            sampled=progress.sample,
        )
        if usage.status:
            print(work.log.read_text(errors="replace")[-4000:], file=sys.stderr)
            raise RuntimeError(f"gossamer ended with status {usage.status}")
        got = len(fetched("gossamer", work))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    early, late = progress.around(pages // 5), progress.around(pages)
    growth = late / early - 1 if early else 0.0
    return {
        "pages": got,
        "hosts": len(web.start),
        "peak_mb": round(usage.peak_mb, 1),
        "early_mb": round(early, 1),
        "late_mb": round(late, 1),
        "growth": round(growth, 3),
        "cpu_ms_per_page": round(usage.cpu_seconds / max(1, got) * 1000, 3),
        "seconds": round(usage.seconds, 1),
        "ok": got >= pages and usage.peak_mb < PEAK_MB and (pages < PAGES or growth <= GROWTH),
    }


def main() -> int:
    """Print both crawls' figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"a {QUICK_PART}th of everything")
    parser.add_argument("--only", choices=["pages", "hosts"])
    parser.add_argument("--order", default="bfs", help="ordering policy")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    part = QUICK_PART if arguments.quick else 1
    pages, hosts, core = PAGES // part, HOSTS // part, measure.cores()[1]
    result: dict[str, Any] = {}
    if arguments.only != "hosts":
        with simulated(pages=pages, hosts=20, page_bytes=PAGE_BYTES, core=core) as web:
            result["pages"] = crawl(web, pages, arguments.order, many_hosts=False)
    if arguments.only != "pages":
        with simulated(pages=hosts, hosts=hosts, page_bytes=PAGE_BYTES, core=core) as web:
            result["hosts"] = crawl(web, pages, arguments.order, many_hosts=True)
    result["ok"] = all(row["ok"] for row in result.values())
    print(json.dumps(result) if arguments.json else json.dumps(result, indent=2))
    return 0 if result["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
