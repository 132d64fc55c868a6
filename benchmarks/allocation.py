"""What the test of safety costs for 1,000 processes and 8 kinds of resource, in states easy and hard.

`python -m benchmarks.allocation [--quick] [--json]`. Milliseconds of processor time on one core: the median
and the largest of the runs. `check_*` is the whole order in which all can end; `request_*` and `give_back_*`
are calls of the allocator. `typical`: random claims and holdings; `tight`: the same with a quarter as much
free; `chain`: each end frees just enough for the next.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import numpy as np

from gossamer.daemon.allocation.allocator import Allocator
from gossamer.daemon.allocation.safety import Matrix, Vector, finishing_order

PROCESSES = 1000
KINDS = 8
RUNS = 30
State = tuple[Vector, Matrix, Matrix]


def typical(random: np.random.Generator) -> State:
    """(available, needed, allocated): claims up to 100 of each, up to half of them held, 150 free."""
    claims = random.integers(1, 100, (PROCESSES, KINDS))
    held = (claims * random.random((PROCESSES, KINDS)) / 2).astype(np.int64)
    return np.full(KINDS, 150), claims - held, held


def tight(random: np.random.Generator) -> State:
    """The same with hardly anything free, so that few can end at first."""
    free, needed, held = typical(random)
    return free // 4, needed, held


def chain(random: np.random.Generator) -> State:
    """Each holds one of each kind, and its need is met when all before it have ended."""
    places = random.permutation(PROCESSES) + 1
    return (
        np.ones(KINDS, np.int64),
        np.repeat(places[:, None], KINDS, axis=1),
        np.ones((PROCESSES, KINDS), int),
    )


STATES: dict[str, Callable[[np.random.Generator], State]] = {
    "typical": typical,
    "tight": tight,
    "chain": chain,
}


def allocator_of(state: State) -> Allocator:
    """An allocator in that state."""
    free, needed, held = state
    names = [f"kind{kind}" for kind in range(KINDS)]
    allocator = Allocator(dict(zip(names, (free + held.sum(axis=0)).tolist(), strict=True)))
    for row, (most, has) in enumerate(zip((needed + held).tolist(), held.tolist(), strict=True)):
        allocator.join(f"p{row}", dict(zip(names, most, strict=True)))
        assert allocator.request(f"p{row}", dict(zip(names, has, strict=True)))
    return allocator


def milliseconds(works: Sequence[Callable[[], object]]) -> dict[str, float]:
    """Median and largest of the calls, one after the other."""
    spent = []
    for work in works:
        started = time.process_time()
        work()
        spent.append((time.process_time() - started) * 1000)
    return {"median": round(median(spent), 3), "largest": round(max(spent), 3)}


def measured(runs: int) -> dict[str, dict[str, float]]:
    """All figures."""
    random = np.random.default_rng(0)
    figures = {}
    for name, make in STATES.items():
        states = [make(random) for _ in range(runs)]
        assert all(len(finishing_order(*state)) == PROCESSES for state in states)
        figures[f"check_{name}"] = milliseconds([partial(finishing_order, *state) for state in states])
        request, back = calls(allocator_of(states[0]), random, runs)
        figures |= {f"request_{name}": request, f"give_back_{name}": back}
    return figures


def calls(
    allocator: Allocator, random: np.random.Generator, runs: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Requests of one unit; and, when everybody has asked for one, gifts back of one, with how many wait."""
    one = {"kind0": 1}
    processes = [f"p{row}" for row in random.permutation(PROCESSES).tolist()]
    asking = [name for name in processes if needs(allocator, name)]
    request = milliseconds([partial(allocator.request, name, one) for name in asking[:runs]])
    for name in asking[runs:]:
        allocator.request(name, one)
    waiting = len(allocator.waiting())
    holding = [name for name in processes if gives(allocator, name)]
    back = milliseconds([partial(allocator.give_back, name, one) for name in holding[:runs]])
    return request, back | {"waiting": waiting}


def needs(allocator: Allocator, process: str) -> bool:
    holdings = allocator.holdings()
    return bool(holdings.needed[holdings.row(process), 0])


def gives(allocator: Allocator, process: str) -> bool:
    holdings = allocator.holdings()
    return bool(holdings.allocated[holdings.row(process), 0])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="five runs of each instead of thirty")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    figures = measured(5 if options.quick else RUNS)
    if options.json:
        print(json.dumps({"processes": PROCESSES, "kinds": KINDS, **figures}))
    else:
        for name, row in figures.items():
            print(f"{name:20}", *(f"{key} {value:g}" for key, value in row.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
