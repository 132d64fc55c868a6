"""The same crawl by two agents, by one, and by a process without any: what a page costs, and who took it.

Nothing is bound to a core, as with whoever starts an agent for each core of a machine. `strangers_ratio` is
what two crawls that know nothing of each other take at once, by one: so much of `cpu_ratio` is no cost of the
cluster. With `--one-core` both agents have to take turns on one, and the web is on another.

`python -m benchmarks.cluster [--quick] [--pages N] [--pairs N] [--one-core] [--memory] [--json]`; exit
status 0 if within the limits, else 1. Needs the extra `cluster`.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks import measure
from benchmarks.cluster_memory import long_crawl, stopped_crawl
from benchmarks.cluster_runs import AGENT, ClusterRun, by_agents, by_one_process, by_two_strangers, served
from benchmarks.cluster_timed import CHECKS, EXCHANGE
from benchmarks.webs import Web
from gossamer.simweb import WorldSpec

PAGES, QUICK_PAGES = 16_000, 600
PAGES_PER_HOST = 10
MEMORY_PAGES_PER_HOST = 25
PAGE_BYTES = 30_000
CROSS_LINKS = 0.3
MEMORY_PAGES = 100_000
"""50,000 for each of two agents."""
MEMORY_PAGE_BYTES = 8_000
PAIRS = 3
WORKERS = 32
RUN_SECONDS = 900.0
RATIO, SHARE, BALANCE = 1.15, 0.10, 0.10
ONES = ("plain", "one", "two", "strangers")


def web_of(pages: int, page_bytes: int, pages_per_host: int = PAGES_PER_HOST) -> WorldSpec:
    """Many hosts, so that each agent has its half, with links between them."""
    hosts = max(20, pages // pages_per_host)
    return WorldSpec.plain(pages=pages, hosts=hosts, page_bytes=page_bytes, cross_links=CROSS_LINKS)


def costs(web: Web, pairs: int, core: int | None) -> dict[str, Any]:
    """All in turn, so often; at last two agents with clocks. `core`: which they share, or any."""
    by_one_process(web, WORKERS, RUN_SECONDS, core)  # the web makes its pages
    spent: dict[str, list[float]] = {name: [] for name in ONES}
    runs: dict[str, list[ClusterRun]] = {"one": [], "two": []}
    wanted: set[str] = set()
    for turn in range(pairs):
        for name in ONES if turn % 2 == 0 else ONES[::-1]:
            if name == "plain":
                usage, urls = by_one_process(web, WORKERS, RUN_SECONDS, core)
                spent[name].append(usage.cpu_seconds / len(urls) * 1000)
                wanted = set(urls)
            elif name == "strangers":
                spent[name].append(by_two_strangers(web, WORKERS, RUN_SECONDS, core) * 1000)
            else:
                run = by_agents(web, ONES.index(name), WORKERS, RUN_SECONDS, core=core)
                runs[name].append(run)
                spent[name].append(run.cpu[AGENT] / len(run.captures) * 1000)
    timed = by_agents(web, 2, WORKERS, RUN_SECONDS, core=core, timed=True)
    whole = [*runs["one"], *runs["two"], timed]
    return summed_up(spent, runs) | {
        **exchange(timed, runs["one"][-1]),
        "strangers_ratio": round(
            statistics.median(two / one for one, two in zip(spent["plain"], spent["strangers"], strict=True)),
            3,
        ),
        "pages": len(wanted),
        "hosts": len(web.start),
        "pairs": pairs,
        "all_the_same": all(
            set(run.captures) == wanted and len(run.captures) == len(wanted) for run in whole
        ),
    }


def summed_up(spent: Mapping[str, list[float]], runs: Mapping[str, list[ClusterRun]]) -> dict[str, Any]:
    """Medians, ratios by pair, who took what."""
    ratios = [two / one for one, two in zip(spent["one"], spent["two"], strict=True)]
    return {
        "cpu_ms_per_page": {name: round(statistics.median(taken), 3) for name, taken in spent.items()},
        "runs": {name: [round(each, 3) for each in taken] for name, taken in spent.items()},
        "cpu_ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "cpu_ratio_without_start": round(
            statistics.median(
                (two.cpu[AGENT] - two.start) / (one.cpu[AGENT] - one.start)
                for one, two in zip(runs["one"], runs["two"], strict=True)
            ),
            3,
        ),
        "start_seconds": {
            name: round(statistics.median(run.start for run in runs[name]), 2) for name in runs
        },
        "ray_cpu_seconds": {
            name: {role: round(seconds, 2) for role, seconds in runs[name][-1].cpu.items() if role != AGENT}
            for name in runs
        },
        "balance": {
            "pages": round(max(spread(run.pages) for run in runs["two"]), 3),
            "hosts": round(max(spread(run.hosts) for run in runs["two"]), 3),
        },
        "crawl_seconds": {name: [round(run.seconds, 1) for run in runs[name]] for name in runs},
    }


def spread(shares: Mapping[str, int]) -> float:
    """By how much the largest is above the mean."""
    return max(shares.values()) * len(shares) / sum(shares.values()) - 1


def exchange(two: ClusterRun, one: ClusterRun) -> dict[str, Any]:
    """What only the exchange took of the agents' time, by their own clocks; Ray's threads beside it."""
    whole = sum(process["cpu"] for process in two.clocks)
    only = sum(process["seconds"].get(part, 0.0) for process in two.clocks for part in (EXCHANGE, CHECKS))
    ray = max(0.0, _ray_threads(two) - _ray_threads(one))
    return {
        "exchange_share": round((only + ray) / whole, 4),
        "exchange_clocks_share": round(only / whole, 4),
        "exchange_ray_share": round(ray / whole, 4),
        "exchange_messages": sum(process["calls"].get("admission", 0) for process in two.clocks),
    }


def _ray_threads(run: ClusterRun) -> float:
    """Seconds of threads beside crawl and state, start-up left out.

    Threads have the title that their process had when they began: an agent's crawl has the name of its slot,
    what Ray began on its own has that of the process or one of Ray's own.
    """
    return (
        sum(
            seconds
            for name, seconds in run.threads.items()
            if not name.startswith(("ray::gossamer", "rocksdb:"))
        )
        - run.start
    )


def judged(found: Mapping[str, Any]) -> bool:
    """Whether the figures are within the limits."""
    return bool(
        found["cpu_ratio"] <= RATIO
        and found["exchange_share"] <= SHARE
        and max(found["balance"].values()) <= BALANCE
        and found["all_the_same"]
    )


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small web, once")
    parser.add_argument("--pages", type=int, help=f"of the web; {PAGES:,}, for --memory {MEMORY_PAGES:,}")
    parser.add_argument("--one-core", action="store_true", help="both agents on one, the web on another")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="how often")
    parser.add_argument("--memory", action="store_true", help="memory instead of processor time")
    parser.add_argument("--only", choices=["long", "stopped"], help="of --memory")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    found: dict[str, Any] = {}
    if arguments.memory:
        pages = arguments.pages or (QUICK_PAGES if arguments.quick else MEMORY_PAGES)
        with served(web_of(pages, MEMORY_PAGE_BYTES, MEMORY_PAGES_PER_HOST)) as web:
            if arguments.only != "stopped":
                found |= long_crawl(web)
            if arguments.only != "long":
                _, urls = by_one_process(web, WORKERS, RUN_SECONDS)
                found |= stopped_crawl(web, urls)
        found["ok"] = all(found[name] for name in ("memory_ok", "stopped_ok") if name in found)
    else:
        pages = arguments.pages or (QUICK_PAGES if arguments.quick else PAGES)
        agents, server = measure.cores() if arguments.one_core else (None, None)
        with served(web_of(pages, PAGE_BYTES), server) as web:
            found = costs(web, 1 if arguments.quick else arguments.pairs, agents)
        found["ok"] = judged(found)
    print(json.dumps(found) if arguments.json else json.dumps(found, indent=2))
    return 0 if found["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
