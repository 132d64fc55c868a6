"""The same crawl by agents that share their digests and by agents that do not: what a page costs more.

`python -m benchmarks.cluster_digests [--quick] [--pages N] [--pairs N] [--agents N] [--json]`. No page of the
web is a copy, so each is asked for in vain: the whole price, and no gain. Needs the extra `cluster`. With
`--exchange` only asking, answering and announcing, by two agents in this process, without Ray and any page.
"""

import argparse
import asyncio
import json
import secrets
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.cluster import PAGE_BYTES, RUN_SECONDS, WORKERS, web_of
from benchmarks.cluster_runs import AGENT, ClusterRun, by_agents, served
from benchmarks.cluster_timed import DIGESTS, QUESTIONS
from benchmarks.webs import Web
from gossamer.cluster.agent import digest_exchange
from gossamer.cluster.agent.between import Inquiry, question_in
from gossamer.cluster.agent.digest_exchange import DigestExchange
from gossamer.cluster.agent.digest_table import DigestTable
from gossamer.cluster.protocol import agent_name
from gossamer.state.environment import Environment, StateConfig
from gossamer.state.records import SharedDigestRecord

PAGES, QUICK_PAGES = 6_000, 600
PAIRS = 3
AGENTS = 2
BITS = 10
CONTENTS, QUICK_CONTENTS = 40_000, 4_000
ASKED_AT_ONCE = 40
"""Pages of 0.2 s of an agent that makes 200 a second."""


def costs(web: Web, agents: int, pairs: int) -> dict[str, Any]:
    """Without and with, in turn, so often; at last with, and with clocks."""
    runs: dict[bool, list[ClusterRun]] = {False: [], True: []}
    for turn in range(pairs):
        for shared in (False, True) if turn % 2 == 0 else (True, False):
            runs[shared].append(by_agents(web, agents, WORKERS, RUN_SECONDS, shared_digests=shared))
    timed = by_agents(web, agents, WORKERS, RUN_SECONDS, timed=True, shared_digests=True)
    return compared(runs[False], runs[True]) | asked(timed) | {"agents": agents, "hosts": len(web.start)}


def compared(own: list[ClusterRun], shared: list[ClusterRun]) -> dict[str, Any]:
    """CPU of the agents' processes, start-up left out, in ms a page; the ratio by pair."""
    spent = {"own": [_spent(run) for run in own], "shared": [_spent(run) for run in shared]}
    ratios = [more / less for less, more in zip(spent["own"], spent["shared"], strict=True)]
    wanted = set(own[0].captures)
    return {
        "cpu_ms_per_page": {name: round(statistics.median(each), 3) for name, each in spent.items()},
        "runs": {name: [round(cpu, 3) for cpu in each] for name, each in spent.items()},
        "cpu_ratio": round(statistics.median(ratios), 3),
        "ratios": [round(ratio, 3) for ratio in ratios],
        "crawl_seconds": {
            "own": [round(run.seconds, 1) for run in own],
            "shared": [round(run.seconds, 1) for run in shared],
        },
        "pages": len(wanted),
        "all_the_same": all(set(run.captures) == wanted for run in (*own, *shared)),
    }


def asked(timed: ClusterRun) -> dict[str, Any]:
    """Messages of a page, and what only the digests took by the agents' own clocks."""
    pages = len(timed.captures)
    calls = sum(process["calls"].get(QUESTIONS, 0) for process in timed.clocks)
    seconds = sum(process["seconds"].get(DIGESTS, 0.0) for process in timed.clocks)
    return {
        "messages_per_page": round(calls / pages, 4),
        "clocks_ms_per_page": round(seconds / pages * 1000, 4),
        "pages_a_second_of_an_agent": round(pages / timed.seconds / len(timed.pages), 1),
    }


def _spent(run: ClusterRun) -> float:
    return (run.cpu[AGENT] - run.start) / len(run.captures) * 1000


class _Tenancy:
    """Every other shard is ours."""

    peers = {agent_name(1): 1, agent_name(2): 1}

    def __init__(self, number: int) -> None:
        self._number = number

    def owner(self, shard: int) -> int:
        return shard % 2 + 1

    def owns_shard(self, shard: int) -> bool:
        return self.owner(shard) == self._number


class Pair:
    """Two agents, of which the first meets content after content that nobody knows."""

    def __init__(self, folder: Path) -> None:
        self.messages = 0
        self._agents: dict[str, DigestExchange] = {}
        self.environments = []
        secret = secrets.token_bytes(16)
        for number in (1, 2):
            environment = Environment.open(folder / str(number), StateConfig())
            self.environments.append(environment)
            name, table = agent_name(number), DigestTable(environment)
            leases_held: Any = _Tenancy(number)
            self._agents[name] = DigestExchange(name, BITS, secret, leases_held, table, self._consult)

    async def _consult(self, name: str, data: bytes) -> bytes:
        self.messages += 1
        question = question_in(data)
        assert isinstance(question, Inquiry)
        return await self._agents[name].receive(question)

    async def crawl(self, contents: int) -> None:
        """Ask for each, some at a time; announce them, a second's at a time."""
        ours = self._agents[agent_name(1)]
        for start in range(0, contents, ASKED_AT_ONCE):
            keys = [secrets.token_bytes(33) for _ in range(ASKED_AT_ONCE)]
            await asyncio.gather(*map(ours.look_up, keys))
            for place, key in enumerate(keys, start):
                url = f"http://host-{place % 97}.example/a/path/of/the/usual/length/{place:07}.html"
                ours.learnt(
                    key,
                    SharedDigestRecord(url, key[1:], "2026-01-02T03:04:05.678901Z", f"urn:uuid:{place:036}"),
                )
            if start // ASKED_AT_ONCE % 5 == 4:
                ours.announcements.cover(ours.announcements.committed)
                await ours.tell()


def exchange_costs(contents: int) -> dict[str, Any]:
    """CPU of a content, both sides, and messages; Ray's call is not in it (`cluster_costs`: `call_us`)."""
    digest_exchange.PATIENCE_SECONDS = 0.0
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(Path(folder))
        started = time.process_time()
        asyncio.run(pair.crawl(contents))
        spent = time.process_time() - started
        for environment in pair.environments:
            environment.close()
    return {
        "contents": contents,
        "exchange_us": round(spent / contents * 1e6, 1),
        "messages_per_content": round(pair.messages / contents, 4),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster_digests", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small web, once")
    parser.add_argument("--pages", type=int, help=f"of the web; {PAGES:,}")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="how often")
    parser.add_argument("--agents", type=int, default=AGENTS, help="how many")
    parser.add_argument("--exchange", action="store_true", help="only what the digests themselves take")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    arguments = parser.parse_args()
    measure.tidy_when_terminated()
    if arguments.exchange:
        found = exchange_costs(QUICK_CONTENTS if arguments.quick else CONTENTS)
        print(json.dumps(found) if arguments.json else json.dumps(found, indent=2))
        return 0
    pages = arguments.pages or (QUICK_PAGES if arguments.quick else PAGES)
    with served(web_of(pages, PAGE_BYTES)) as web:
        found = costs(web, arguments.agents, 1 if arguments.quick else arguments.pairs)
    print(json.dumps(found) if arguments.json else json.dumps(found, indent=2))
    return 0 if found["all_the_same"] else 1


if __name__ == "__main__":
    sys.exit(main())
