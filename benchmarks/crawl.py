"""The same crawl by Gossamer and by a peer, in turn, each pinned to one core.

`python -m benchmarks.crawl [--peer scrapy] [--start URL...] [--order ORDER] [--quick] [--json]`
"""

import argparse
import contextlib
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.crawlers import Crawler, Work, command, fetched
from benchmarks.docs_site import MIXED, DocsSite, chosen
from benchmarks.webs import Web, simulated

PAGES = 4000
QUICK_PAGES = 500
PAIRS = 3
RUN_SECONDS = 900.0
FIGURES = ("pages", "pages_per_s", "cpu_ms_per_page", "peak_mb", "mean_page_bytes")


@contextlib.contextmanager
def served(kind: str, start: list[str], core: int) -> Iterator[Web]:
    """The web to crawl: given URLs, documentation if there is any, or the simulated web."""
    if start:
        yield Web("given", start)
        return
    trees = chosen(MIXED)
    if kind == "docs" and not trees:
        raise RuntimeError("no documentation is installed; run: python -m benchmarks.docs_site --install")
    if kind == "docs" or (kind == "auto" and trees):
        with DocsSite(trees, core=core) as site:
            yield Web("docs", site.seeds, server=site.pid)
    else:
        with simulated(pages=PAGES, hosts=20, page_bytes=35_000, core=core) as web:
            yield web


def run_once(crawler: Crawler, web: Web, pages: int, core: int, order: str) -> dict[str, Any]:
    """One crawl from nothing; its figures."""
    folder = Path(tempfile.mkdtemp(prefix=f"gossamer-crawl-{crawler}-"))
    try:
        work = Work(start=web.start, folder=folder, pages=pages, nameserver=web.nameserver, order=order)
        served_before = web.server_seconds()
        usage = measure.run(command(crawler, work), log=work.log, core=core, timeout=RUN_SECONDS)
        served_for = web.server_seconds() - served_before
        if usage.status:
            print(work.log.read_text(errors="replace")[-4000:], file=sys.stderr)
            raise RuntimeError(f"{crawler} ended with status {usage.status}")
        got = fetched(crawler, work)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not got:
        raise RuntimeError(f"{crawler} fetched no page")
    return {
        "pages": len(got),
        "pages_per_s": round(len(got) / usage.seconds, 1),
        "cpu_ms_per_page": round(usage.cpu_seconds / len(got) * 1000, 3),
        "peak_mb": round(usage.peak_mb, 1),
        "mean_page_bytes": sum(page.size for page in got) // len(got),
        "server_busy": round(served_for / usage.seconds, 3),
    }


def compare(web: Web, peer: Crawler | None, pages: int, pairs: int, order: str) -> dict[str, Any]:
    """Alternate the crawlers, `pairs` times each; medians, and the median of the pairs' ratios."""
    crawler_core, _ = measure.cores()
    crawlers: list[Crawler] = ["gossamer", *([peer] if peer else [])]
    runs: dict[str, list[dict[str, Any]]] = {crawler: [] for crawler in crawlers}
    # The first runs on an idle machine are dearer by a fifth for either: memory must be found for them.
    for crawler in crawlers:
        run_once(crawler, web, min(pages, QUICK_PAGES), crawler_core, order)
    for turn in range(pairs):
        for crawler in crawlers if turn % 2 == 0 else crawlers[::-1]:
            runs[crawler].append(run_once(crawler, web, pages, crawler_core, order))
    result: dict[str, Any] = {
        crawler: {figure: statistics.median(run[figure] for run in taken) for figure in FIGURES}
        for crawler, taken in runs.items()
    }
    if peer:
        pairs_taken = zip(runs[peer], runs["gossamer"], strict=True)
        ratios = [other["cpu_ms_per_page"] / ours["cpu_ms_per_page"] for other, ours in pairs_taken]
        result["cpu_ratio"] = round(statistics.median(ratios), 2)
        result["cpu_ratios"] = [round(ratio, 2) for ratio in ratios]
    return {**result, "web": web.kind, "pairs": pairs, "runs": runs}


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    parser.add_argument("--peer", choices=["scrapy", "none"], default="scrapy")
    parser.add_argument("--start", nargs="+", default=[], metavar="URL", help="crawl these hosts instead")
    parser.add_argument("--web", choices=["auto", "docs", "simweb"], default="auto")
    parser.add_argument("--pages", type=int, help=f"limit; by default all, {QUICK_PAGES} with --quick")
    parser.add_argument("--pairs", type=int, help=f"runs of each; {PAIRS} by default, 1 with --quick")
    parser.add_argument("--order", default="bfs", help="Gossamer's ordering policy")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    # Without a limit both fetch the same pages whatever their order; a stranger's web needs one.
    pages = arguments.pages or (QUICK_PAGES if arguments.quick else PAGES if arguments.start else 0)
    pairs = arguments.pairs or (1 if arguments.quick else PAIRS)
    peer: Crawler | None = None if arguments.peer == "none" else arguments.peer
    with served(arguments.web, arguments.start, measure.cores()[1]) as web:
        result = compare(web, peer, pages, pairs, arguments.order)
    if arguments.json:
        print(json.dumps(result))
        return 0
    print(f"{'':10}" + "".join(f"{figure:>18}" for figure in FIGURES))
    for crawler in ("gossamer", "scrapy"):
        if crawler in result:
            print(f"{crawler:10}" + "".join(f"{result[crawler][figure]:>18}" for figure in FIGURES))
    if peer:
        print(f"CPU of {peer} / CPU of gossamer, per page: {result['cpu_ratio']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
