"""A crawl of many hosts behind a slow name server that loses questions, and behind a perfect one.

`python -m benchmarks.slow_names [--quick] [--outage] [--hosts N] [--pages-per-host N] [--seeds N]
[--workers N] [--rest SECONDS] [--pairs N] [--set NAME=VALUE ...] [--json]`
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from benchmarks.crawlers import Work, fetched
from gossamer.simweb import Question, SimulatedWeb, WorldSpec

HOSTS, QUICK_HOSTS = 5_000, 300
PAGES_PER_HOST = 8
PAGE_BYTES = 8_000
SEEDS = 500
WORKERS = 64
REST_SECONDS = 1.0
DELAY_SECONDS = 0.3
LOSS = 0.05
OUTAGE = (
    1.0,
    60.0,
)  # seconds after the first question, while most names are still to be asked, and for so long
RUN_SECONDS = 1_200.0
FIGURES = ("seconds", "cpu_seconds", "names", "questions", "lost_questions", "urls_lost")

_CONFIG = """[scope]
mode = "any"

[politeness]
min_delay = {rest}

[fetch]
allow_private = true

[dns]
cache = "{cache}"
prefetch = {prefetch}
hosts_file = false
[engine]
guess_sitemap = false
"""


class Names(msgspec.Struct, frozen=True):
    """How a crawl keeps names: `[dns] cache`, and whether it resolves ahead."""

    cache: str
    prefetch: bool


class Plan(msgspec.Struct, frozen=True):
    """The crawl that is repeated.

    Attributes:
        spec: the web, behind a perfect name server.
        workers: visits at once.
        rest: seconds between visits to a host.
        settings: further ones, as for `--set`.
    """

    spec: WorldSpec
    workers: int
    rest: float
    settings: Sequence[str] = ()

    @property
    def slow(self) -> WorldSpec:
        """The same web behind a slow name server that loses questions."""
        return replace(self.spec, name_delay=DELAY_SECONDS, name_loss=LOSS)


OURS = Names("compact", prefetch=True)
PLAIN = Names("plain", prefetch=False)


def run_once(plan: Plan, spec: WorldSpec, names: Names) -> dict[str, Any]:
    """One crawl from nothing; its figures."""
    crawler_core, server_core = measure.cores()
    folder = Path(tempfile.mkdtemp(prefix="gossamer-slow-names-"))
    try:
        # Names come from a process of their own: one that serves pages too answers late when it is busy, in
        # the crawl behind the perfect name server most of all, and the ratio would flatter us.
        with SimulatedWeb(plan.spec, log=False) as web, SimulatedWeb(spec) as names_web:
            for server in (web, names_web):
                os.sched_setaffinity(server.pid, {server_core})
            work = Work(start=web.seeds, folder=folder, workers=plan.workers, nameserver=names_web.nameserver)
            usage = measure.run(
                command(plan, work, names), log=work.log, core=crawler_core, timeout=RUN_SECONDS
            )
            questions = names_web.questions()
        if usage.status:
            print(work.log.read_text(errors="replace")[-4000:], file=sys.stderr)
            raise RuntimeError(f"gossamer ended with status {usage.status}")
        got = {page.url for page in fetched("gossamer", work)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = {"seconds": round(usage.seconds, 2), "cpu_seconds": round(usage.cpu_seconds, 2)}
    return figures | count(questions) | {"urls_lost": spec.pages - len(got)}


def command(plan: Plan, work: Work, names: Names) -> list[str]:
    """The command line of the crawl."""
    config = work.folder / "gossamer.toml"
    prefetch = json.dumps(names.prefetch)
    config.write_text(_CONFIG.format(rest=plan.rest, cache=names.cache, prefetch=prefetch), encoding="utf-8")
    seeds = work.folder / "seeds.txt"
    seeds.write_text("\n".join(work.start) + "\n", encoding="utf-8")
    line = [sys.executable, "-m", "gossamer", "crawl", "--dir", str(work.crawl_folder), "--quiet"]
    line += ["--config", str(config), "--workers", str(work.workers), "--seeds", str(seeds)]
    line += ["--nameserver", work.nameserver]
    return [*line, *(part for setting in plan.settings for part in ("--set", setting))]


def count(questions: Sequence[Question]) -> dict[str, Any]:
    """What the name server was asked.

    A name is resolved as often as its question for IPv4 was answered. What two record types and the
    losses make necessary is two questions a name, and another for each that was lost.
    """
    names = len({question.name for question in questions})
    lost = sum(not question.answered for question in questions)
    answered = sum(question.answered and question.kind == "A" for question in questions)
    return {
        "names": names,
        "questions": len(questions),
        "lost_questions": lost,
        "resolutions_per_name": round(answered / max(names, 1), 4),
        "queries_per_name": round(len(questions) / max(names, 1), 4),
        "queries_by_necessary": round(len(questions) / max(2 * names + lost, 1), 4),
    }


def compare(plan: Plan, pairs: int) -> dict[str, Any]:
    """Each kind of crawl `pairs` times behind both name servers, in turn; ratios are medians."""
    runs: dict[str, list[dict[str, Any]]] = {"perfect": [], "slow": [], "plain_perfect": [], "plain_slow": []}
    for _ in range(pairs):
        for prefix, names in (("", OURS), ("plain_", PLAIN)):
            runs[f"{prefix}perfect"].append(run_once(plan, plan.spec, names))
            runs[f"{prefix}slow"].append(run_once(plan, plan.slow, names))
    slow = runs["slow"]
    return {
        "wall_ratio": ratio(runs["slow"], runs["perfect"]),
        "wall_ratio_plain": ratio(runs["plain_slow"], runs["plain_perfect"]),
        "resolutions_per_name": max(run["resolutions_per_name"] for run in slow),
        "queries_per_name": max(run["queries_per_name"] for run in slow),
        "queries_by_necessary": max(run["queries_by_necessary"] for run in slow),
        "urls_lost": max(run["urls_lost"] for crawls in runs.values() for run in crawls),
        "runs": runs,
    }


def ratio(slow: Sequence[dict[str, Any]], perfect: Sequence[dict[str, Any]]) -> float:
    """Median of the pairs' ratios of wall time."""
    both = zip(slow, perfect, strict=True)
    return round(statistics.median(one["seconds"] / other["seconds"] for one, other in both), 3)


def outage(plan: Plan) -> dict[str, Any]:
    """A crawl whose name server is dead for a while and returns."""
    run = run_once(plan, replace(plan.spec, name_outage=OUTAGE), OURS)
    if not run["lost_questions"]:
        raise RuntimeError(
            "the name server died when all names were known: it proves nothing; take more --hosts"
        )
    return {"outage_seconds": OUTAGE[1], "outage_urls_lost": run["urls_lost"], "outage_run": run}


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_names", description=__doc__)
    parser.add_argument("--hosts", type=int, help=f"{HOSTS} by default, {QUICK_HOSTS} with --quick")
    parser.add_argument("--pages-per-host", type=int, default=PAGES_PER_HOST)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="hosts that the crawl begins with")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--rest", type=float, default=REST_SECONDS, help="seconds between visits to a host")
    parser.add_argument("--pairs", type=int, default=1, help="runs of each kind")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--outage", action="store_true", help="also a name server that dies for a minute")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    hosts = arguments.hosts or (QUICK_HOSTS if arguments.quick else HOSTS)
    spec = WorldSpec(
        hosts=hosts, pages=hosts * arguments.pages_per_host, exponent=0.0, page_bytes=PAGE_BYTES,
        links=12, cross_links=0.3, seeds=min(arguments.seeds, hosts), robots=("allow",),
    )  # fmt: skip
    plan = Plan(spec, arguments.workers, arguments.rest, arguments.settings)
    written_down = {
        "hosts": hosts,
        "pages_per_host": arguments.pages_per_host,
        "seeds": spec.seeds,
        "workers": plan.workers,
        "rest_seconds": plan.rest,
        "delay_seconds": DELAY_SECONDS,
        "loss": LOSS,
        "settings": plan.settings,
    }
    result = compare(plan, arguments.pairs) | written_down
    if arguments.outage:
        result |= outage(plan)
    if arguments.json:
        print(json.dumps(result))
        return 0
    print(f"{'':14}" + "".join(f"{figure:>16}" for figure in FIGURES))
    for kind, crawls in result["runs"].items():
        print(f"{kind:14}" + "".join(f"{crawls[0][figure]:>16}" for figure in FIGURES))
    for name, value in result.items():
        if name not in ("runs", "outage_run"):
            print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
