"""How good the estimate of the stale share is: against worlds whose truth is known.

`python -m benchmarks.freshness [--histories DIR] [--pages N] [--json]`: pages that change at random, and with
`--histories` documents that changed as they did, without signals, with signals, and with signals of which half the
sites' are lies, at three budgets. Every 25 days, from eight visits a page on, the share that `policy.revisit.freshness`
estimates is compared with the true one; its error in the mean, and in the mean of its size. The goal is for pages that
change at random: where a handful changes together, one course of events is no mean.
"""

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.revisit import BUDGETS, LIES, MUTE, QUIET, TOLD, Account
from benchmarks.revisit_road import Road
from benchmarks.revisit_worlds import DAY, Noise, Signals, World, histories, poisson
from gossamer.policy.revisit.freshness import Freshness, Share

EPOCH = 1_600_000_000
GOAL = 0.02
"""Error in the mean of a run."""


class Told(msgspec.Struct):
    """What a run has shown: true and estimated stale shares by day, and the figures at the end."""

    true: list[float]
    estimated: list[float]
    figures: Freshness
    real_delay: float
    by_site: dict[int, tuple[list[float], list[float]]]


def run(world: World, budget: float, noise: Noise = QUIET, signals: Signals = MUTE) -> Told:
    """The policy visits a world; every 25 days its share is compared, from eight visits a page on."""
    account, turns = Account(world), noise.of(world)
    generator = np.random.default_rng(7)
    heard = signals.heard(world) if signals.covered else []
    rate = world.size / budget / DAY
    sites = world.sites.tolist()
    road = Road(sites, [1.0] * world.size, signals.listed(world).tolist(), rate, EPOCH)
    figures, delays, told = Freshness(), [], Told([], [], Freshness(), 0.0, {})
    next_change = world.first_change(np.arange(world.size), 0.0)
    for day in range(1, math.ceil(world.days)):
        now = EPOCH + day * DAY
        for page in heard[day].tolist() if heard else ():
            road.hear(page, now)
        road.earn(DAY)
        pages = np.array(road.lend(now), dtype=np.int64)
        if len(pages):
            changed = account.visit(pages, float(day))
            delays += (day - next_change[pages[changed]]).tolist()
            next_change[pages] = world.first_change(pages, float(day))
            seen = changed | (generator.random(len(pages)) < turns[pages])
            for page, new in zip(pages.tolist(), seen.tolist(), strict=True):
                figures.note(road.history(page), now, changed=new)
                road.settle(page, now, changed=new)
        road.correct(now)
        if day >= min(8 * budget, 500) and day % 25 == 0:
            stale, share = next_change < day, Share()
            for page in range(world.size):
                history = road.history(page)
                share.add(history, figures.stale(history, now))
                true, estimated = told.by_site.setdefault(sites[page], ([], []))
                true.append(float(stale[page]))
                estimated.append(figures.stale(history, now))
            told.true.append(float(stale.mean()))
            told.estimated.append(share.plain or 0.0)
    told.figures, told.real_delay = figures, statistics.fmean(delays) * DAY
    return told


def rows(folder: Path | None, pages: int) -> Iterator[dict[str, float | str]]:
    """A line for each world, budget and kind of signals."""
    worlds = [poisson(seed, pages) for seed in (1, 6)]
    if folder is not None:
        worlds += [next(histories(path, pages)) for path in sorted(folder.glob("*.json*"))]
    for world in worlds:
        for budget in BUDGETS:
            for name, signals in (("none", MUTE), ("true", TOLD), ("half lies", LIES)):
                told = run(world, budget, signals=signals)
                errors = [one - other for one, other in zip(told.estimated, told.true, strict=True)]
                yield {
                    "world": world.name,
                    "budget": budget,
                    "signals": name,
                    "true": round(statistics.fmean(told.true), 4),
                    "error": round(statistics.fmean(errors), 4),
                    "size": round(statistics.fmean(map(abs, errors)), 4),
                    "delay_days": round((told.figures.mean_delay or 0.0) / DAY, 2),
                    "true_delay_days": round(told.real_delay / DAY, 2),
                    "brier": round(told.figures.brier_score or 0.0, 4),
                }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--histories", type=Path, help="a folder of change histories")
    parser.add_argument("--pages", type=int, default=250, help="of a world at most")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = []
    for row in rows(arguments.histories, arguments.pages):
        found.append(row)
        print("  ".join(f"{name} {value}" for name, value in row.items()), file=sys.stderr, flush=True)
    worst = max(abs(float(row["error"])) for row in found if str(row["world"]).startswith("poisson"))
    report = {"rows": found, "worst": worst, "goal": GOAL, "ok": worst <= GOAL}
    print(json.dumps(report) if arguments.json else f"worst error {worst:.4f}, wanted at most {GOAL}")
    return 0 if report["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
