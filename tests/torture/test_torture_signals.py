"""SIGINT, SIGTERM, SIGHUP: once finishes what is lent, twice stops now; both can be resumed."""

import asyncio
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torture_lives import (
    Life,
    Manners,
    assert_complete,
    assert_sound,
    fetched_in_vain,
    rude_visits,
    small_world,
    wait_for,
)

from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import NotRunning
from gossamer.simweb import SimulatedWeb
from gossamer.simweb.servers.visits import Visit

SLOW = 8.0
"""Seconds a visit to the slow host takes; on a busy machine a crawl needs some of them to say that it stops."""


@pytest.fixture(autouse=True)
def signals_are_heard() -> Iterator[None]:
    """What a shell starts in the background ignores SIGINT, what nohup starts SIGHUP; children, too."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    spec = small_world(misbehaviours=("slow-host",), slow_seconds=SLOW)
    with SimulatedWeb(spec) as web:
        settings = {"politeness.min_delay": "60ms", "politeness.factor": 0.0, "engine.give_up_after": "30s"}
        yield Life(web, tmp_path / "crawl", settings)


def status(life: Life) -> dict[str, Any]:
    """What the running crawl says of itself; nothing as long as it does not listen."""
    try:
        return asyncio.run(ask(life.folder, "status"))
    except NotRunning:
        return {}


def a_slow_visit(life: Life) -> None:
    """Wait until one is under way: something is out with a worker, and nothing comes back for a while.

    Where pages are visited again all the time something always comes back; but then a slow host that has been visited
    once is visited again as soon as it has rested, which takes a hundredth of the visit.
    """
    if life.revisits:
        wait_for(life, lambda log: any(visit.ended - visit.started >= SLOW for visit in log))
        time.sleep(0.5)
        return

    def out(_: list[Visit]) -> bool:
        before = len(life.web.log())
        if not status(life).get("lent"):
            return False
        time.sleep(0.5)
        return len(life.web.log()) == before and status(life).get("lent", 0) > 0

    wait_for(life, out)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_once_finishes_what_is_lent(life: Life, number: signal.Signals) -> None:
    process = life.begin_crawl()
    a_slow_visit(life)
    process.send_signal(number)
    sent = time.monotonic()
    ended = life.end(process)
    assert ended.status == 130, ended.stderr
    assert f"gossamer resume {life.folder}" in ended.stderr
    assert "Traceback" not in ended.stderr
    log = life.web.log()
    assert any(visit.started < sent < visit.ended for visit in log), "the slow visit was not waited for"
    assert all(visit.whole for visit in log)
    assert_sound(life)
    assert [path for path in life.archive_files if path.name.endswith(".open")] == []
    command = re.search(r"gossamer (resume \S+)", ended.stderr)
    assert command is not None
    resumed = life.run(*command[1].split())
    assert resumed.status == 0, resumed.stderr
    assert not resumed.repairs
    assert_complete(life)
    assert not fetched_in_vain(life)
    assert not rude_visits(life, Manners(min_delay=0.06, factor=0.0))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_twice_stops_now(life: Life, number: signal.Signals) -> None:
    process = life.begin_crawl()
    a_slow_visit(life)
    process.send_signal(number)
    wait_for(life, lambda _: status(life).get("state") == "stopping")  # or it might take the two for one
    process.send_signal(number)
    ended = life.end(process)
    assert ended.status == 130, ended.stderr
    assert f"gossamer resume {life.folder}" in ended.stderr
    assert "Traceback" not in ended.stderr
    wait_for(life, lambda log: not all(visit.whole for visit in log))  # the slow one is not waited for
    assert life.run("check", str(life.folder)).status == 0
    assert life.resume().status == 0
    assert_complete(life)
    assert not rude_visits(life, Manners(min_delay=0.06, factor=0.0))


@pytest.mark.slow
def test_at_start_up_it_can_be_interrupted(tmp_path: Path) -> None:
    with SimulatedWeb(small_world()) as web:
        interrupt_early(Life(web, tmp_path / "crawl"))


def interrupt_early(life: Life) -> None:
    for delay in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8):
        process = life.begin_crawl() if not life.begun else life.begin_resume()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        ended = life.end(process)
        # Python itself dies of the signal until the command has taken over: of site, of codecs, of streams.
        if ended.status == 1 and "Fatal Python error" in ended.stderr:
            continue
        assert ended.status in (130, -signal.SIGINT), (delay, ended)
        assert ended.status == -signal.SIGINT or "Traceback" not in ended.stderr
    assert life.end(life.begin_resume() if life.begun else life.begin_crawl()).status == 0
    assert_complete(life)
