"""Two crawls of the same hosts at once, in one process: no host is visited more often than one crawl may."""

import asyncio
from itertools import groupby, pairwise
from pathlib import Path

from whole_crawl import QUICK

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge
from gossamer.crawling.run import run, start
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason
from gossamer.simweb import SimulatedWeb, WorldSpec

REST = 0.06
SPEC = WorldSpec(hosts=3, pages=20, page_bytes=1_000, misbehaviours=("throttle-503",), retry_after=1)


def test_two_crawls_share_their_rests(tmp_path: Path) -> None:
    with SimulatedWeb(SPEC) as web:
        agents = "one", "other"
        reasons = asyncio.run(both(web, tmp_path, agents))
        visits = sorted(web.log(), key=lambda visit: (visit.host, visit.started))
    assert reasons == [Reason(EndCode.FINISHED)] * 2
    for _, group in groupby(visits, key=lambda visit: visit.host):
        here = list(group)
        for before, after in pairwise(here):
            owed = 1.0 if before.status == 503 else REST
            # From start to start, because on a busy machine the server notes an end late, a start never.
            assert after.open == 1 and after.started - before.started >= owed, (before, after)
        by = [visit.fields["user-agent"].split("/")[0] for visit in here]
        assert set(by) == set(agents)
        # While both have something to ask for they take turns; one now and then comes late.
        first = max(by.index(agent) for agent in agents)
        both_ask = by[max(0, first - 1) : min(len(by) - by[::-1].index(agent) for agent in agents)]
        turns = sum(before != after for before, after in pairwise(both_ask))
        assert len(both_ask) > len(by) / 4 and turns >= 0.5 * (len(both_ask) - 1), by


async def both(web: SimulatedWeb, path: Path, agents: tuple[str, ...]) -> list[Reason]:
    crawls = []
    for agent in agents:
        settings = {
            **QUICK,
            "politeness.min_delay": REST,
            "politeness.shared": str(path / "shared"),
            "fetch.user_agent": agent + "/1",
            "engine.give_up_after": 2.5,
        }
        tree = merge({"seeds": list(web.seeds), "dns": {"nameservers": [web.nameserver]}}, settings)
        folder = CrawlFolder(path / agent)
        crawls.append(run(folder, start(folder, load(CrawlConfig, tree)), Extensions(), resumed=False))
    return list(await asyncio.gather(*crawls))
