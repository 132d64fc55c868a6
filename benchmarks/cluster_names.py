"""The same crawl by one agent and by several: how often a name server is asked.

`python -m benchmarks.cluster_names [--quick] [--pages N] [--pairs N] [--agents N] [--json]`. The simulated web's
own name server counts. Exit status 0 if several ask at most `RATIO` times as often as one, else 1. Needs the
extra `cluster`.
"""

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks import measure
from benchmarks.cluster import RUN_SECONDS, WORKERS, web_of
from benchmarks.cluster_runs import ClusterRun, by_agents
from benchmarks.webs import Web
from gossamer.simweb import SimulatedWeb
from gossamer.simweb.servers.visits import Question

PAGES, QUICK_PAGES = 4_000, 600
PAGE_BYTES = 4_000
PAIRS = 3
AGENTS = 4
RATIO = 1.1


def asked(web: SimulatedWeb, agents: int) -> tuple[ClusterRun, Sequence[Question]]:
    """A crawl of all of it, and what the name server was asked meanwhile."""
    before = len(web.questions())
    run = by_agents(Web("simweb", web.seeds, web.nameserver, web.pid), agents, WORKERS, RUN_SECONDS)
    return run, web.questions()[before:]


def counted(questions: Sequence[Question]) -> dict[str, int]:
    """Queries, different ones, and names that were asked for again, by whomever."""
    each = Counter((question.name, question.kind) for question in questions)
    again = {name for (name, _), times in each.items() if times > 1}
    return {"queries": len(questions), "different": len(each), "names_again": len(again)}


def compared(web: SimulatedWeb, agents: int, pairs: int) -> dict[str, Any]:
    """By one and by several in turn, so often; the ratio of their queries by pair."""
    runs: dict[int, list[tuple[ClusterRun, dict[str, int]]]] = {1: [], agents: []}
    for turn in range(pairs):
        for number in (1, agents) if turn % 2 == 0 else (agents, 1):
            run, questions = asked(web, number)
            runs[number].append((run, counted(questions)))
    one, several = runs[1], runs[agents]
    ratios = [more["queries"] / less["queries"] for (_, less), (_, more) in zip(one, several, strict=True)]
    wanted = set(one[0][0].captures)
    return {
        "agents": agents,
        "hosts": len(web.seeds),
        "pages": len(wanted),
        "one": [figures for _, figures in one],
        "several": [figures for _, figures in several],
        "hosts_by_agent": [sorted(run.hosts.values()) for run, _ in several],
        "ratios": [round(ratio, 3) for ratio in ratios],
        "query_ratio": round(statistics.median(ratios), 3),
        "all_the_same": all(set(run.captures) == wanted for run, _ in (*one, *several)),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_names", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small web, once")
    parser.add_argument("--pages", type=int, help=f"of the web; {PAGES:,}")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="how often")
    parser.add_argument("--agents", type=int, default=AGENTS, help="how many, against one")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    pages = arguments.pages or (QUICK_PAGES if arguments.quick else PAGES)
    with SimulatedWeb(web_of(pages, PAGE_BYTES), answers=2 * pages * PAGE_BYTES) as web:
        found = compared(web, arguments.agents, 1 if arguments.quick else arguments.pairs)
    print(json.dumps(found) if arguments.json else json.dumps(found, indent=2))
    return 0 if found["all_the_same"] and found["query_ratio"] <= RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
