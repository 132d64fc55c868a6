"""What shared politeness costs each visit: one claim, and its share of giving a group back.

`python -m benchmarks.shared_rests [--quick] [--json]`. Microseconds of processor time, the median of the
runs: of one process alone, and of one among others that do the same (`wall_among` is what the event loop
loses then, waits for the lock included); `refused` is a claim of a host that rests.
"""

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from gossamer.frontier.gates.shared_rests import Return, SharedRests

HOSTS = 20_000
GROUP = 8
"""Visits settled together, as they are on a busy crawl."""
OTHERS = 3
SECOND = 1_000_000


def visits(table: SharedRests, first: int, number: int, rest: int = SECOND) -> None:
    """Visit so many hosts, one after the other."""
    group: list[Return] = []
    for host in range(first, first + number):
        name = f"www.host-{host % HOSTS}.example"
        if not table.claim(name, rest, rest, 1):
            group.append(Return(name, rest, True))
        if len(group) == GROUP:
            table.give_back(group)
            group = []
    table.give_back(group)


def neighbour(folder: str, number: int, until: float) -> None:
    """Visit hosts of its own, without a rest, until the moment has come."""
    table = SharedRests(Path(folder))
    while time.monotonic() < until:
        for host in range(200):
            name = f"{number}.{host}"
            if not table.claim(name, 0, 0, 1):
                table.give_back([Return(name, 0, True)])
            time.sleep(0.002)
    table.close()


def measured(table: SharedRests, runs: int, each: int, rest: int) -> tuple[float, float]:
    """(processor, wall) microseconds for each visit."""
    processor, wall = [], []
    for run in range(runs):
        began, cpu = time.perf_counter(), time.process_time()
        visits(table, run * each, each, rest)
        processor.append((time.process_time() - cpu) / each * 1e6)
        wall.append((time.perf_counter() - began) / each * 1e6)
    return median(processor), median(wall)


def bench(folder: Path, runs: int, each: int) -> dict[str, float]:
    """All figures."""
    table = SharedRests(folder)
    visits(table, 0, HOSTS, 0)
    figures = {"alone": measured(table, runs, each, 0)[0]}
    context = multiprocessing.get_context("spawn")
    until = time.monotonic() + 3 + runs * each * 60e-6
    others = [context.Process(target=neighbour, args=(str(folder), n, until)) for n in range(OTHERS)]
    for process in others:
        process.start()
    time.sleep(1.5)
    figures["among"], figures["wall_among"] = measured(table, runs, each, 0)
    for process in others:
        process.join()
    visits(table, 0, HOSTS, 1_000 * SECOND)
    figures["refused"] = measured(table, runs, each, SECOND)[0]
    table.close()
    return figures


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = bench(Path(folder) / "shared", 3 if options.quick else 15, 2_000)
    rounded = {name: round(figure, 1) for name, figure in figures.items()}
    print(json.dumps(rounded) if options.json else "\n".join(f"{n:12} {f:8}" for n, f in rounded.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
