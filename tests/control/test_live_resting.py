"""One meaning of `resting`: in the history, in lists of hosts and in their counts."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from live_world import running
from test_queue_sizes import PRINTS, SMALL, Written

from gossamer.control.history import COLUMNS, HISTORY
from gossamer.control.views.sweep import Sweep
from gossamer.inspect import hosts
from gossamer.inspect.hosts import HostCount, doing, resting_hosts
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_host, encode

NOW = 1_000_000


@given(
    queued=some.integers(0, 2),
    waiting=some.integers(0, 2),
    due=some.sampled_from([0, NOW - 1, NOW, NOW + 1, NOW + 10**9]),
    later_due=some.sampled_from([0, NOW + 5, 1 << 62]),
    parked=some.sampled_from(["", "by the operator"]),
    reason=some.sampled_from(["", "503"]),
)
def test_what_rests_is_what_the_lists_call_resting(
    queued: int, waiting: int, due: int, later_due: int, parked: str, reason: str
) -> None:
    record = HostRecord(
        "a.test",
        queued=queued,
        waiting=waiting,
        due=due,
        later_due=later_due,
        parked=parked,
        reason=reason,
    )
    assert (not parked and queued > 0 and due > NOW) == (doing(record, NOW)[0] == "resting")


def test_some_of_many_hosts_stand_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "LOOKED_AT", 200)
    folder = Written(tmp_path / "crawl", {f"h{n}.test": [2] for n in range(600)}).folder
    environment = Environment.open(folder / "state", SMALL, create=False)
    batch = environment.batch()
    for number in range(0, 600, 3):
        key = PRINTS.host(f"h{number}.test")
        record = decode_host(environment.get(Family.HOSTS, key) or b"")
        record.due = NOW + 1
        batch.put(Family.HOSTS, key, encode(record))
    environment.commit(batch)
    try:
        assert Sweep(environment, lambda: HostCount(lambda: NOW)).look(seconds=600).by_state == {
            "resting": 200,
            "ready": 400,
        }
        assert resting_hosts(environment, NOW, 600) == pytest.approx(200, abs=50)
        monkeypatch.setattr(hosts, "LOOKED_AT", 1_000)
        assert resting_hosts(environment, NOW, 600) == 200
    finally:
        environment.close()


def test_the_history_says_what_the_status_says(tmp_path: Path) -> None:
    """Hosts that only wait, that are visited, or whose names are awaited are none that rest."""

    async def run() -> int:
        settings = {"politeness.min_delay": 30.0, "engine.give_up_after": 60.0}
        async with running(tmp_path / "crawl", web, settings) as live:
            status = await live.until(lambda found: found["hosts_by_state"].get("resting", 0) >= 4)
            return int(status["hosts_by_state"]["resting"])

    with SimulatedWeb(WorldSpec.plain(pages=60, hosts=6, page_bytes=2_000)) as web:
        resting_now = asyncio.run(run())
    last = json.loads((tmp_path / "crawl" / HISTORY).read_text().splitlines()[-1])
    assert 4 <= resting_now <= last[COLUMNS.index("resting")] <= 6
