"""Are finite sites fetched whole, and does what is endless cost little?

`python -m benchmarks.completeness [--part finite|mixed|ends|idle ...] [--runs N] [--modules M ...] [--json]`.
Sites are those of `benchmarks.sites`, made by writers who did not look at the crawler. All crawls run with
default settings but for the rest between visits, and workers.

* `finite`: each finite site, in runs that differ in workers and rest; `finite_share` is the worst share of
the pages
  of a site that was fetched.
* `mixed`: the sites with endless parts in one crawl, at rest 0; `good_at_1_3` and `good_at_3` are the shares
of all
  good pages after 1.3 and 3 times as many fetches as there are good pages; `worst_at_3` is that of the worst
  site. The same with the mechanism off, and for Scrapy, breadth first and as it comes.
* `ends`: sites whose endless part says nothing new, each in a crawl of its own; `ends_beyond` lists those
that did not
  end by themselves, or spent more fetches than `max(600, 1.5 times the good pages)` on what is not good; of
  these `copies` were of parts that have an end.
* `idle`: of a crawl with more workers than hosts, how long hosts that had URLs left rested beyond their
politeness.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from benchmarks import measure
from benchmarks.site_web import FINITE, MIXED, Known, Served, load, served

PARTS = ("finite", "mixed", "ends", "idle")
RUN_SECONDS = 3_600.0
WORKERS = (8, 1, 3, 16, 32, 5, 12, 2, 24, 48)
"""Of the runs in turn: with other workers pages are settled in another order."""
ENDS_BEYOND = 600, 1.5
_CONFIG = """[politeness]
min_delay = {rest}
factor = 0

[fetch]
allow_private = true

[dns]
hosts_file = false
[engine]
guess_sitemap = false
"""
_visit = msgspec.json.Decoder(dict[str, Any])


class Crawl:
    """One crawl of sites by Gossamer, and what it fetched."""

    def __init__(
        self, known: Known, there: Served, names: Sequence[str], line: Sequence[str], rest: float
    ) -> None:
        crawler_core, _ = measure.cores()
        folder = Path(tempfile.mkdtemp(prefix="gossamer-whole-"))
        try:
            config = folder / "gossamer.toml"
            config.write_text(_CONFIG.format(rest=rest), encoding="utf-8")
            command = [sys.executable, "-m", "gossamer", "crawl", "--dir", str(folder / "crawl"), "--quiet"]
            command += ["--config", str(config), "--nameserver", there.nameserver, *line]
            command += [there.start(known.sites[name]) for name in names]
            usage = measure.run(command, log=folder / "log", core=crawler_core, timeout=RUN_SECONDS)
            if usage.status:
                raise RuntimeError((folder / "log").read_text(errors="replace")[-4_000:])
            self.visits = [
                visit
                for visit in map(_visit.decode, (folder / "crawl/crawl.log").read_bytes().splitlines())
                if visit.get("kind") != "robots"
            ]
            self.ended = json.loads((folder / "crawl/report.json").read_bytes()).get("ended", "")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        self.cpu_seconds = usage.cpu_seconds
        self.seconds = usage.seconds


def fetches(visits: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(name of the site, target) of each visit, in the order in which they were settled."""
    for visit in visits:
        if visit.get("status"):
            parts = urlsplit(visit["url"])
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            yield (parts.hostname or "").removesuffix(".test"), target


def shares(known: Known, names: Sequence[str], fetched: Iterator[tuple[str, str]]) -> dict[str, float]:
    """Share of each site's good pages that is among the fetches."""
    met: dict[str, set[str]] = defaultdict(set)
    for name, target in fetched:
        if (good := known.good(name, target)) is not None:
            met[name].add(good)
    return {name: len(met[name]) / len(known.sites[name].good) for name in names}


def in_all(known: Known, shares_of: dict[str, float]) -> float:
    """Share of all good pages."""
    total = sum(len(known.sites[name].good) for name in shares_of)
    return sum(share * len(known.sites[name].good) for name, share in shares_of.items()) / total


def finite(modules: Sequence[str], runs: int, rests: Sequence[float]) -> dict[str, Any]:
    """Every finite site whole, whatever the timing."""
    known = load(modules)
    names = [name for name, site in known.sites.items() if not site.traps]
    worst: dict[str, float] = dict.fromkeys(names, 1.0)
    pages = cpu = 0.0
    with served(modules, measure.cores()[1]) as there:
        for rest in rests:
            for run in range(runs):
                line = ["--workers", str(WORKERS[run % len(WORKERS)])]
                crawl = Crawl(known, there, names, line, rest)
                got = shares(known, names, fetches(crawl.visits))
                worst = {name: min(worst[name], got[name]) for name in names}
                pages, cpu = pages + len(crawl.visits), cpu + crawl.cpu_seconds
                print(f"finite, rest {rest}, {line[1]} workers: {min(got.values())}", file=sys.stderr)
    return {
        "finite_share": min(worst.values()),
        "sites": len(names),
        "pages": sum(len(known.sites[name].good) for name in names),
        "runs": runs * len(rests),
        "cpu_ms_per_page": round(cpu / pages * 1e3, 3),
        "incomplete": {name: round(share, 4) for name, share in worst.items() if share < 1},
    }


def mixed(modules: Sequence[str], *, peers: bool, line: Sequence[str]) -> dict[str, Any]:
    """Good pages beside endless ones, after so many fetches."""
    known = load(modules)
    names = [name for name, site in known.sites.items() if site.traps]
    good = sum(len(known.sites[name].good) for name in names)
    ways: dict[str, Any] = {}
    with served(modules, measure.cores()[1]) as there:
        limit = ["--max-pages", str(3 * good), "--workers", "8", *line]
        crawl = Crawl(known, there, names, limit, 0.0)
        ways["gossamer"] = list(fetches(crawl.visits)), crawl.cpu_seconds
        if peers:
            crawl = Crawl(known, there, names, [*limit, "--set", "branches.share=false"], 0.0)
            ways["off"] = list(fetches(crawl.visits)), crawl.cpu_seconds
            for order in ("breadth", "default"):
                ways[f"scrapy {order}"] = _scrapy(known, there, names, 3 * good, order), 0.0
    result: dict[str, Any] = {"sites": len(names), "good_pages": good, "ways": {}}
    for way, (fetched, cpu) in ways.items():
        at_1 = shares(known, names, islice(fetched, int(1.3 * good)))
        at_3 = shares(known, names, iter(fetched))
        result["ways"][way] = {
            "good_at_1_3": round(in_all(known, at_1), 4),
            "good_at_3": round(in_all(known, at_3), 4),
            "worst_at_3": round(min(at_3.values()), 4),
            "fetches": len(fetched),
            "cpu_ms_per_page": round(cpu / len(fetched) * 1e3, 3),
            "below": {name: round(share, 3) for name, share in sorted(at_3.items()) if share < 0.98},
        }
    return result | {key: value for key, value in result["ways"]["gossamer"].items() if key.count("_at_")}


def _scrapy(
    known: Known, there: Served, names: Sequence[str], pages: int, order: str
) -> list[tuple[str, str]]:
    folder = Path(tempfile.mkdtemp(prefix="scrapy-whole-"))
    try:
        line = [sys.executable, "-m", "benchmarks.scrapy_peer", "--folder", str(folder), "--order", order]
        line += ["--pages", str(pages), "--workers", "8", "--visits-per-host", "1"]
        starts = [there.start(known.sites[name]) for name in names]
        subprocess.run([*line, *starts], check=True, timeout=RUN_SECONDS, stderr=subprocess.DEVNULL)
        items = (folder / "items.jsonl").read_bytes().splitlines()
        return list(fetches([{**_visit.decode(item), "status": 200} for item in items]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def ends(modules: Sequence[str], line: Sequence[str]) -> dict[str, Any]:
    """Crawls that must end by themselves."""
    known = load(modules)
    names = [name for name, site in known.sites.items() if site.ends]
    found: dict[str, Any] = {}
    with served(modules, measure.cores()[1]) as there:
        for name in names:
            pages = len(known.sites[name].good)
            allowed = int(max(ENDS_BEYOND[0], ENDS_BEYOND[1] * pages))
            limit = ["--max-pages", str(pages + 4 * allowed), "--workers", "4", *line]
            crawl = Crawl(known, there, [name], limit, 0.0)
            targets = list(fetches(crawl.visits))
            got = Counter(known.good(*fetched) for fetched in targets)
            spent = len(crawl.visits) - len(got.keys() - {None})
            copies = {target for _, target in targets} & known.sites[name].copies
            found[name] = {
                "share": round(len(got.keys() - {None}) / pages, 4),
                "spent": spent,
                "copies": len(copies),
                "allowed": allowed,
                "ended": len(crawl.visits) < pages + 4 * allowed,
            }
            print(f"ends: {name} {found[name]}", file=sys.stderr)
    beyond = [name for name, end in found.items() if not end["ended"] or end["spent"] > end["allowed"]]
    return {"ends_beyond": beyond, "ends": found}


def idle(modules: Sequence[str], rest: float = 0.05) -> dict[str, Any]:
    """Hosts with URLs left must not rest longer than politeness says while a worker is free."""
    known = load(modules)
    names = [name for name, site in known.sites.items() if site.traps]
    with served(modules, measure.cores()[1]) as there:
        limit = ["--max-pages", str(200 * len(names)), "--workers", str(2 * len(names))]
        crawl = Crawl(known, there, names, limit, rest)
    last: dict[str, float] = {}
    gaps = []
    for visit in sorted(
        (each for each in crawl.visits if "started" in each), key=lambda each: float(each["started"])
    ):
        host = urlsplit(visit["url"]).hostname or ""
        if host in last:
            gaps.append(visit["started"] - last[host] - rest)
        last[host] = visit["started"] + visit["seconds"]
    gaps.sort()
    visits = Counter(urlsplit(visit["url"]).hostname for visit in crawl.visits)
    return {
        "idle_wait_p99": round(gaps[int(0.99 * len(gaps))], 4),
        "idle_wait_max": round(gaps[-1], 4),
        "visits_least": min(visits.values()),
        "visits_most": max(visits.values()),
    }


def main() -> int:
    """Measure the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.completeness", description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS, help="all, if none is named")
    parser.add_argument("--runs", type=int, default=10, help="of each finite site at each rest")
    parser.add_argument("--rest", action="append", type=float, help="of the finite sites; 0 and 0.05")
    parser.add_argument("--no-peers", action="store_true", help="mixed: neither without sharing, nor Scrapy")
    parser.add_argument("--modules", nargs="+", help="of sites, instead of ours")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    parts = arguments.part or PARTS
    line = [word for setting in arguments.settings for word in ("--set", setting)]
    result: dict[str, Any] = {}
    if "finite" in parts:
        result |= finite(arguments.modules or FINITE, arguments.runs, arguments.rest or (0.0, 0.05))
    if "mixed" in parts:
        result |= mixed(arguments.modules or MIXED, peers=not arguments.no_peers, line=line)
    if "ends" in parts:
        result |= ends(arguments.modules or MIXED, line)
    if "idle" in parts:
        result |= idle(arguments.modules or MIXED)
    print(json.dumps(result) if arguments.json else json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
