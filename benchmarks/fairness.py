"""A crawl of one huge host and a thousand small ones: how much longer each small one takes than alone.

`python -m benchmarks.fairness [--quick] [--hosts N] [--pages-per-host N] [--huge N] [--workers N]
[--rest SECONDS] [--load SHARE] [--alone N] [--order NAME] [--set NAME=VALUE ...] [--json]`

First a crawl without rests measures the capacity in visits a second. Then hosts rest for so long that all of
them together ask for half of it, and everything is crawled at once, the huge host's URLs, all known from the
start, standing first. Alone a small host takes its pages times rest and answer; some are really crawled so,
to see that it is true. Times are the server's, from the first request of the crawl on.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from gossamer.simweb import SimulatedWeb, Visit, WorldSpec

HOSTS, QUICK_HOSTS = 1_000, 150
PAGES_PER_HOST, QUICK_PAGES_PER_HOST = 10, 5
HUGE, QUICK_HUGE = 50_000, 5_000
HUGE_HOST = "trap-calendar.sim.test"
"""A host of the simulated web with twelve million pages."""

PAGE_BYTES = 8_000
WORKERS = 64
LOAD = 0.5
ALONE, QUICK_ALONE = 3, 1
TOO_MUCH = 2.0
RUN_SECONDS = 1_200.0

_CONFIG = """[scope]
mode = "{scope}"

[politeness]
min_delay = {rest}
factor = 0

[fetch]
allow_private = true

[dns]
hosts_file = false

[host."{huge}"]
max_pages = {huge_pages}
[engine]
guess_sitemap = false
"""


class Plan(msgspec.Struct, frozen=True):
    """What is crawled, and how.

    Attributes:
        hosts: small ones.
        pages: of each of them.
        huge: URLs of the huge host known from the start.
        workers: visits at once.
        settings: further ones, as for `--set`.
    """

    hosts: int
    pages: int
    huge: int
    workers: int
    settings: Sequence[str] = ()

    @property
    def spec(self) -> WorldSpec:
        """The web; every host is of a registrable domain of its own, and a seed."""
        return WorldSpec(
            hosts=self.hosts, pages=self.hosts * self.pages, exponent=0.0, page_bytes=PAGE_BYTES, links=12,
            cross_links=0.05, seeds=self.hosts, domains=self.hosts, robots=("allow",),
            misbehaviours=("trap-calendar",),
        )  # fmt: skip

    def huge_urls(self, port: int) -> Iterator[str]:
        """URLs of the huge host."""
        for month in range(self.huge):
            yield f"http://{HUGE_HOST}:{port}/calendar/{1000 + month // 12:04}/{month % 12 + 1:02}/"


class Ran(msgspec.Struct, frozen=True):
    """What the server saw of a crawl.

    Attributes:
        started: moment of the first request.
        visits: by host, in the order in which they ended.
        response: mean seconds of an answer as the crawler measured it.
        cpu_seconds: of the crawler.
    """

    started: float
    visits: Mapping[str, Sequence[Visit]]
    response: float
    cpu_seconds: float

    def done_after(self, host: str) -> float:
        """Seconds from the start of the crawl to the host's last page."""
        return self.visits[host][-1].ended - self.started

    def span(self, host: str) -> float:
        """Seconds from the host's first request to its last page."""
        return self.visits[host][-1].ended - min(visit.started for visit in self.visits[host])


@contextmanager
def served(plan: Plan) -> Iterator[SimulatedWeb]:
    """The web on the second core."""
    with SimulatedWeb(plan.spec) as web:
        os.sched_setaffinity(web.pid, {measure.cores()[1]})
        yield web


def crawl(plan: Plan, rest: float, *, only: int | None = None, huge_pages: int = 0) -> Ran:
    """One crawl from nothing: of everything, or of small host `only`; with `huge_pages` of the huge host."""
    folder = Path(tempfile.mkdtemp(prefix="gossamer-fairness-"))
    try:
        with served(plan) as web:
            seeds = list(plan.huge_urls(web.http_port)) if huge_pages else []
            seeds += web.seeds if only is None else [web.seeds[only]]
            line = command(plan, folder, web.nameserver, rest, huge_pages, alone=only is not None)
            (folder / "seeds.txt").write_text("\n".join(seeds) + "\n", encoding="utf-8")
            log = folder / "output.log"
            usage = measure.run(line, log=log, core=measure.cores()[0], timeout=RUN_SECONDS)
            visits = web.log()
        if usage.status:
            print(log.read_text(errors="replace")[-4000:], file=sys.stderr)
            raise RuntimeError(f"gossamer ended with status {usage.status}")
        lines = (json.loads(line) for line in (folder / "crawl" / "crawl.log").read_bytes().splitlines())
        response = statistics.mean(line["seconds"] for line in lines if "seconds" in line)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    by_host = defaultdict(list)
    for visit in visits:
        by_host[visit.host].append(visit)
    return Ran(min(visit.started for visit in visits), by_host, response, usage.cpu_seconds)


def command(
    plan: Plan, folder: Path, nameserver: str, rest: float, huge_pages: int, *, alone: bool
) -> list[str]:
    """The command line of a crawl."""
    config = folder / "gossamer.toml"
    scope = "host" if alone else "any"
    # No page is 0 pages, which would be no limit; but then no URL leads there either.
    text = _CONFIG.format(scope=scope, rest=rest, huge=HUGE_HOST, huge_pages=max(huge_pages, 1))
    config.write_text(text, encoding="utf-8")
    line = [sys.executable, "-m", "gossamer", "crawl", "--dir", str(folder / "crawl"), "--quiet"]
    line += ["--config", str(config), "--seeds", str(folder / "seeds.txt"), "--nameserver", nameserver]
    line += ["--workers", str(plan.workers)]
    return [*line, *(part for setting in plan.settings for part in ("--set", setting))]


def capacity(ran: Ran) -> float:
    """Visits a second, the slow beginning and the thin end left out."""
    ends = sorted(visit.ended for visits in ran.visits.values() for visit in visits)
    first, last = len(ends) // 10, len(ends) * 9 // 10
    return (last - first) / (ends[last] - ends[first])


def figures(plan: Plan, ran: Ran, alone: float) -> dict[str, Any]:
    """How the small hosts fared against the seconds that each takes alone."""
    small = [host for host in ran.visits if host != HUGE_HOST]
    unfinished = plan.hosts - sum(len(ran.visits[host]) == plan.pages + 1 for host in small)
    if unfinished:
        raise RuntimeError(f"{unfinished} small hosts were not crawled to their end")
    ratios = sorted(ran.done_after(host) / alone for host in small)
    spans = sorted(ran.span(host) / alone for host in small)
    return {
        "worst_ratio": round(ratios[-1], 3),
        "median_ratio": round(statistics.median(ratios), 3),
        "worst_span_ratio": round(spans[-1], 3),
        "median_span_ratio": round(statistics.median(spans), 3),
        "distribution": {
            f"{share}%": round(ratios[math.ceil(len(ratios) * share / 100) - 1], 3)
            for share in (1, 10, 25, 50, 75, 90, 99, 100)
        },
        "hosts_beyond_2": sum(ratio > TOO_MUCH for ratio in ratios),
        "huge_pages_fetched": len(ran.visits[HUGE_HOST]) - 1,
        "cpu_seconds": round(ran.cpu_seconds, 2),
    }


def measured(plan: Plan, load: float, rest: float | None, sample: int) -> dict[str, Any]:
    """Capacity, then some hosts alone, then everything at once."""
    free = capacity(crawl(plan, 0.0))
    if rest is None:
        rest = round((plan.hosts + 1) / (free * load), 3)
    lonely = [crawl(plan, rest, only=number * plan.hosts // sample) for number in range(sample)]
    times = [ran.done_after(host) for ran in lonely for host in ran.visits]
    response = statistics.mean(ran.response for ran in lonely)
    alone = plan.pages * (rest + response)
    # The huge host goes on for longer than any small one may take.
    together = crawl(plan, rest, huge_pages=math.ceil(plan.pages * TOO_MUCH) + 1)
    return figures(plan, together, alone) | {
        "capacity_per_s": round(free, 1),
        "offered_per_s": round((plan.hosts + 1) / (rest + response), 1),
        "rest_seconds": rest,
        "response_seconds": round(response, 4),
        "alone_seconds": round(alone, 3),
        "alone_measured_seconds": [round(seconds, 3) for seconds in times],
    }


def main() -> int:
    """Print how the small hosts fared."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fairness", description=__doc__)
    parser.add_argument("--hosts", type=int, help=f"small ones; {HOSTS}, {QUICK_HOSTS} with --quick")
    parser.add_argument("--pages-per-host", type=int, help=f"{PAGES_PER_HOST}, or {QUICK_PAGES_PER_HOST}")
    parser.add_argument("--huge", type=int, help=f"URLs of the huge host; {HUGE}, or {QUICK_HUGE}")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--rest", type=float, help="seconds, instead of what the capacity says")
    parser.add_argument("--load", type=float, default=LOAD, help="share of the capacity that is asked for")
    parser.add_argument("--alone", type=int, help=f"hosts crawled alone; {ALONE}, or {QUICK_ALONE}")
    parser.add_argument("--order", default="bfs")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    quick = arguments.quick
    plan = Plan(
        hosts=arguments.hosts or (QUICK_HOSTS if quick else HOSTS),
        pages=arguments.pages_per_host or (QUICK_PAGES_PER_HOST if quick else PAGES_PER_HOST),
        huge=arguments.huge or (QUICK_HUGE if quick else HUGE),
        workers=arguments.workers,
        settings=[f"engine.order={arguments.order}", *arguments.settings],
    )
    sample = arguments.alone or (QUICK_ALONE if quick else ALONE)
    result = measured(plan, arguments.load, arguments.rest, sample)
    result |= {
        "hosts": plan.hosts,
        "pages_per_host": plan.pages,
        "huge_urls": plan.huge,
        "workers": plan.workers,
        "settings": plan.settings,
    }
    if arguments.json:
        print(json.dumps(result))
        return 0
    for name, value in result.items():
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
