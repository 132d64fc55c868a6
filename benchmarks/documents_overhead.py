"""What do documents and search cost a crawl: links of PDF and the like on the road, text and an index made beside it?

`python -m benchmarks.documents_overhead [--way WAY]... [--pages N] [--pairs N] [--json]`. The same web (installed
documentation, see `docs_site`) is crawled in turn without documents, with their links, with `--documents`, and with
`--search`, on all processors, which the server shares. `pages_per_s` is of the crawl until its last page is archived;
`seconds_to_the_end` also counts what was left to be read of the archive then. Ratios are of pairs that followed each
other, to the crawl without.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.crawl import served
from benchmarks.crawlers import Work, command
from benchmarks.webs import Web

PAIRS = 3
RUN_SECONDS = 1800.0
WAYS = {
    "without": [],
    "links": ["--set", "documents.links=true"],
    "documents": ["--set", "documents.links=true", "--documents"],
    "search": ["--set", "documents.links=true", "--search"],
}
"""What is added to the command line of a crawl, by way."""
FIGURES = ("pages", "pages_per_s", "cpu_ms_per_page", "seconds_to_the_end", "peak_mb")


def run_once(way: str, web: Web, pages: int) -> dict[str, Any]:
    """One crawl from nothing; its figures."""
    folder = Path(tempfile.mkdtemp(prefix="gossamer-overhead-"))
    try:
        work = Work(start=web.start, folder=folder, pages=pages, nameserver=web.nameserver)
        line = [*command("gossamer", work), *WAYS[way]]
        usage = measure.run(line, log=work.log, timeout=RUN_SECONDS)
        if usage.status:
            print(work.log.read_text(errors="replace")[-4000:], file=sys.stderr)
            raise RuntimeError(f"{way}: gossamer ended with status {usage.status}")
        report = json.loads((work.crawl_folder / "report.json").read_bytes())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "pages": report["pages"],
        "pages_per_s": round(report["pages"] / report["seconds"], 1),
        "cpu_ms_per_page": round(usage.cpu_seconds / report["pages"] * 1000, 3),
        "seconds_to_the_end": round(usage.seconds, 2),
        "peak_mb": round(usage.peak_mb, 1),
    }


def compare(web: Web, pages: int, pairs: int, chosen: Sequence[str] = ()) -> dict[str, Any]:
    """Alternate the ways (`without`, and those that are chosen or all); medians, and the median of the ratios."""
    ways = [way for way in WAYS if way == "without" or not chosen or way in chosen]
    runs: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    run_once("without", web, min(pages, 500) or 500)
    for turn in range(pairs):
        for way in ways if turn % 2 == 0 else ways[::-1]:
            runs[way].append(run_once(way, web, pages))
    result: dict[str, Any] = {
        way: {figure: statistics.median(run[figure] for run in taken) for figure in FIGURES}
        for way, taken in runs.items()
    }
    for way in ways[1:]:
        each = [
            with_them["pages_per_s"] / without["pages_per_s"]
            for with_them, without in zip(runs[way], runs["without"], strict=True)
        ]
        result[f"{way}_ratio"] = round(statistics.median(each), 3)
        result[f"{way}_ratios"] = [round(ratio, 3) for ratio in each]
    return {**result, "web": web.kind, "pairs": pairs, "runs": runs}


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.documents_overhead", description=__doc__)
    parser.add_argument("--start", nargs="+", default=[], metavar="URL", help="crawl these hosts instead")
    parser.add_argument("--pages", type=int, default=0, help="limit; by default all")
    parser.add_argument("--way", action="append", choices=list(WAYS)[1:], help="repeatable; by default all")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="runs of each way")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    with served("docs", arguments.start, measure.cores()[1]) as web:
        result = compare(web, arguments.pages, arguments.pairs, arguments.way or ())
    if arguments.json:
        print(json.dumps(result))
        return 0
    print(f"{'':10}" + "".join(f"{figure:>20}" for figure in FIGURES))
    ways = [way for way in WAYS if way in result]
    for way in ways:
        print(f"{way:10}" + "".join(f"{result[way][figure]:>20}" for figure in FIGURES))
    print("ratio of pages/s: " + ", ".join(f"{way} {result[f'{way}_ratio']}" for way in ways[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
