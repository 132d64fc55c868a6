"""A crawl of a web a third of whose URLs lie in traps, and a naive breadth-first crawl with the same budget.

`python -m benchmarks.traps [--quick] [--seed N] [--order NAME] [--workers N] [--rest SECONDS]
[--set NAME=VALUE ...] [--json]`. The web is that of `benchmarks.trap_web`; the budget is 1.05 times its good
pages. `good_share` is the share of the good pages that was fetched, `trap_fetch_share` the share of the
fetches that went into traps.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from benchmarks.crawlers import Work, fetched
from benchmarks.trap_web import FULL, QUICK, TrapWeb, TrapWebSpec, breadth_first

BUDGET = 1.05
WORKERS = 8
RUN_SECONDS = 900.0

_CONFIG = """[scope]
mode = "any"

[politeness]
min_delay = {rest}
factor = 0

[fetch]
allow_private = true

[dns]
hosts_file = false
[engine]
guess_sitemap = false
"""


class Plan(msgspec.Struct, frozen=True):
    """The crawls that are compared.

    Attributes:
        spec: the web.
        order: of the crawl that learns; empty: the default one.
        workers: visits at once.
        rest: seconds between visits to a host.
        settings: further ones of the crawl that learns, as for `--set`.
    """

    spec: TrapWebSpec
    order: str
    workers: int
    rest: float
    settings: Sequence[str] = ()


class Served(msgspec.Struct, frozen=True):
    """A web that answers.

    Attributes:
        web: the truth about it.
        nameserver: `address:port`.
        seeds: where to begin.
    """

    web: TrapWeb
    nameserver: str
    seeds: Sequence[str]


@contextlib.contextmanager
def served(spec: TrapWebSpec, core: int) -> Iterator[Served]:
    """The web in a process of its own, which ends with this one."""
    line = [
        sys.executable,
        "-m",
        "benchmarks.trap_web",
        "--serve",
        "--spec",
        msgspec.json.encode(spec).decode(),
    ]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    os.sched_setaffinity(process.pid, {core})
    try:
        told = json.loads(process.stdout.readline())
        yield Served(TrapWeb(spec, told["http_port"]), told["nameserver"], told["seeds"])
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def crawl(plan: Plan, budget: int, good: set[str], *, naive: bool) -> dict[str, Any]:
    """One crawl from nothing; its figures. `good` are the good URLs on the usual port."""
    crawler_core, server_core = measure.cores()
    folder = Path(tempfile.mkdtemp(prefix="gossamer-traps-"))
    try:
        with served(plan.spec, server_core) as there:
            work = Work(
                start=there.seeds,
                folder=folder,
                pages=budget,
                workers=plan.workers,
                nameserver=there.nameserver,
            )
            line = command(plan, work, naive=naive)
            usage = measure.run(line, log=work.log, core=crawler_core, timeout=RUN_SECONDS)
            if usage.status:
                print(work.log.read_text(errors="replace")[-4000:], file=sys.stderr)
                raise RuntimeError(f"gossamer ended with status {usage.status}")
            got = [page.url for page in fetched("gossamer", work)]
            kinds = Counter(map(there.web.kind, got))
            port = there.web.url("", "").removeprefix("http://").rstrip("/")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "fetches": len(got),
        "good_share": round(len(good & {url.replace(port, "", 1) for url in got}) / len(good), 4),
        "trap_fetch_share": round(1 - kinds["good"] / max(len(got), 1), 4),
        "kinds": dict(kinds),
        "seconds": round(usage.seconds, 2),
        "cpu_seconds": round(usage.cpu_seconds, 2),
    }


def command(plan: Plan, work: Work, *, naive: bool) -> list[str]:
    """The command line of the crawl."""
    config = work.folder / "gossamer.toml"
    config.write_text(_CONFIG.format(rest=plan.rest), encoding="utf-8")
    line = [sys.executable, "-m", "gossamer", "crawl", "--dir", str(work.crawl_folder), "--quiet"]
    line += ["--config", str(config), "--workers", str(work.workers), "--max-pages", str(work.pages)]
    line += ["--nameserver", work.nameserver]
    settings = [f"branches.share={str(not naive).lower()}", *(() if naive else plan.settings)]
    order = "bfs" if naive else plan.order
    line += ["--order", order] if order else []
    return [*line, *(part for setting in settings for part in ("--set", setting)), *work.start]


def compare(plan: Plan) -> dict[str, Any]:
    """Both crawls, and what a walk on paper would find."""
    web = TrapWeb(plan.spec)
    good = web.good_urls()
    budget = int(BUDGET * len(good))
    on_paper = breadth_first(web, budget)
    runs = {
        "gossamer": crawl(plan, budget, good, naive=False),
        "bfs": crawl(plan, budget, good, naive=True),
    }
    return {
        "good_share": {name: run["good_share"] for name, run in runs.items()},
        "trap_fetch_share": {name: run["trap_fetch_share"] for name, run in runs.items()},
        "good_pages": len(good),
        "budget": budget,
        "discovered_in_traps": round(on_paper.trap_share, 4),
        "runs": runs,
    }


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traps", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=FULL.seed, help="another web of the same kind")
    parser.add_argument("--order", default="", help="of the crawl that learns; the default one if left out")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--rest", type=float, default=0.0, help="seconds between visits to a host")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    spec = msgspec.structs.replace(QUICK if arguments.quick else FULL, seed=arguments.seed)
    plan = Plan(spec, arguments.order, arguments.workers, arguments.rest, arguments.settings)
    result = compare(plan)
    result |= {"web": msgspec.to_builtins(spec), "workers": plan.workers, "rest_seconds": plan.rest}
    if arguments.json:
        print(json.dumps(result))
        return 0
    print(f"{'':10}{'fetches':>10}{'good_share':>12}{'trap_fetch_share':>18}{'cpu_seconds':>13}")
    for name, run in result["runs"].items():
        shares = f"{run['good_share']:>12}{run['trap_fetch_share']:>18}"
        print(f"{name:10}{run['fetches']:>10}{shares}{run['cpu_seconds']:>13}  {run['kinds']}")
    print(f"{result['discovered_in_traps']:.3f} of what a naive crawl discovers lies in traps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
