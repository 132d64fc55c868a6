"""A job's life under a daemon, on the simulated web."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from patience import PATIENCE
from service_world import (
    LONG,
    SMALL,
    WHO,
    answering,
    begun,
    crawlers,
    job_settings,
    open_daemon,
    reach,
    report,
    service_config,
    until,
)

from gossamer.control.socket.client import ask
from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.model.errors import ConfigError
from gossamer.simweb import SimulatedWeb


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(SMALL) as simulated:
        yield simulated


def actions(daemon: Daemon) -> list[str]:
    return [line.action for line in daemon.audit()["items"]][::-1]


def test_a_job_runs_to_its_end(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            made = await daemon.create("first", job_settings(web), who=WHO)
            assert made.state == "new" and made.pid is None and "start" in made.can
            await daemon.start("first", who=WHO)
            view = await reach(daemon, "first", "finished")
            assert view.reason == "finished" and view.pid is None and view.wanted == "stop"
            assert not any(view.held.values())
            assert view.report is not None and view.report["pages"] > 8
            assert actions(daemon) == ["create", "start"], daemon.audit()["items"]
            figures = await daemon.ask("first", "status", who=WHO)
            assert figures["state"] == "stopped" and figures["sums"]["pages"] == view.report["pages"]

    asyncio.run(live())
    assert report(home, "first")["ended"] == "finished"


@pytest.mark.slow
def test_pause_gives_back_what_others_can_use_and_going_on_takes_it_again(
    web: SimulatedWeb, home: Path
) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web)
            assert daemon.job("first").held["connections"] == 4
            await daemon.pause("first", who=WHO)
            view = await reach(daemon, "first", "paused")
            assert view.pid is not None and "unpause" in view.can and view.reason == f"paused by {WHO}"
            assert (view.held["connections"], view.held["bandwidth"]) == (0, 0) and view.held["memory"]
            assert (await daemon.figures("first"))["state"] == "paused"
            await daemon.unpause("first", who=WHO)
            view = await reach(daemon, "first", "running")
            assert view.held["connections"] == 4
            assert (await daemon.ask("first", "status", who=WHO))["state"] in ("running", "paused")
            await until(lambda: is_crawling(daemon, "first"))
            await daemon.checkpoint("first", who=WHO)
            await daemon.stop("first", who=WHO)
            view = await reach(daemon, "first", "stopped")
            assert view.pid is None and view.report is not None and view.report["ended"] == "interrupted"
            assert crawlers(home) == []

    asyncio.run(live())


async def is_crawling(daemon: Daemon, name: str) -> bool:
    return bool((await daemon.figures(name))["state"] == "running")


@pytest.mark.slow
def test_a_new_daemon_adopts_what_runs_and_resumes_what_has_died(web: SimulatedWeb, home: Path) -> None:
    async def first() -> dict[str, int | None]:
        async with open_daemon(home) as daemon:
            for name in ("lives", "dies"):
                await begun(daemon, web, name)
            return {view.name: view.pid for view in daemon.jobs()}

    async def second(pids: dict[str, int | None]) -> None:
        async with open_daemon(home) as daemon:
            lives = daemon.job("lives")
            assert lives.pid == pids["lives"] and lives.held["connections"] == 4
            await answering(daemon, "dies")
            dies = await reach(daemon, "dies", "running")
            assert dies.pid not in (None, pids["dies"]) and dies.started is not None
            assert "crash" in actions(daemon)
            for name in ("lives", "dies"):
                await daemon.stop(name, who=WHO)
                assert (await reach(daemon, name, "stopped")).crashes == 0

    pids = asyncio.run(first())
    assert sorted(crawlers(home)) == sorted(pid for pid in pids.values() if pid)
    assert pids["dies"] is not None
    os.kill(pids["dies"], signal.SIGKILL)
    asyncio.run(second(pids))


@pytest.mark.slow
def test_a_lost_database_costs_no_crawl(web: SimulatedWeb, home: Path) -> None:
    async def first() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web, "running")
            await daemon.create("idle", job_settings(web), who=WHO)

    async def second() -> None:
        async with open_daemon(home) as daemon:
            view = await reach(daemon, "running", "running")
            assert view.pid == crawlers(home)[0]
            assert daemon.job("idle").state == "stopped"
            await daemon.stop("running", who=WHO)
            await reach(daemon, "running", "stopped")

    asyncio.run(first())
    for path in home.glob("service.db*"):
        path.unlink()
    asyncio.run(second())


@pytest.mark.slow
def test_a_crawl_that_was_started_by_hand_is_adopted(web: SimulatedWeb, home: Path, tmp_path: Path) -> None:
    by_hand = tmp_path / "mine" / "crawl"
    by_hand.parent.mkdir()
    settings = [f"--set={name}={json.dumps(value)}" for name, value in job_settings(web, **LONG).items()]
    command = [sys.executable, "-m", "gossamer", "crawl", "--quiet", "--dir", str(by_hand)]
    seeds = [setting for setting in settings if not setting.startswith("--set=seeds")]
    process = subprocess.Popen([*command, *seeds, *web.seeds])

    async def live() -> None:
        async with open_daemon(home, roots=[str(by_hand.parent)]) as daemon:
            with pytest.raises(ServiceError, match="does not lie below"):
                await daemon.adopt("etc", "/etc", who=WHO)
            await until(lambda: (by_hand / "control.sock").exists())
            await daemon.adopt("mine", str(by_hand), who=WHO)
            view = await reach(daemon, "mine", "running")
            assert view.pid == process.pid and view.adopted and view.held["connections"] == 4
            await daemon.stop("mine", who=WHO)
            await reach(daemon, "mine", "stopped")
            await daemon.delete("mine", confirm="mine", who=WHO)
            assert by_hand.exists()

    try:
        asyncio.run(live())
    finally:
        process.kill()
        with contextlib.suppress(ChildProcessError):
            process.wait()


@pytest.mark.slow
def test_quiet_hours_pause_a_job_and_keep_another_from_starting(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        always = Schedule(quiet=("00:00-24:00",))
        async with open_daemon(home) as daemon:
            await begun(daemon, web)
            await daemon.schedule("first", always, who=WHO)
            view = await reach(daemon, "first", "paused")
            assert view.reason == "quiet hours" and view.wanted == "run"
            await daemon.create("late", job_settings(web), who=WHO)
            await daemon.schedule("late", always, who=WHO)
            await daemon.start("late", who=WHO)
            assert (await reach(daemon, "late", "scheduled")).pid is None
            await daemon.schedule("first", None, who=WHO)
            await reach(daemon, "first", "running")
            await daemon.stop("first", who=WHO, now=True)
            await reach(daemon, "first", "stopped")

    asyncio.run(live())


def test_a_scheduled_job_starts_by_itself_even_if_its_time_came_while_no_daemon_ran(
    web: SimulatedWeb, home: Path
) -> None:
    async def make() -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("nightly", job_settings(web), who=WHO)
            await daemon.schedule("nightly", Schedule(cron="0 3 * * *"), who=WHO)
            view = daemon.job("nightly")
            assert view.state == "new" and view.next_run == view.next_runs[0]

    async def missed() -> None:
        daemon = Daemon.prepare(home, service_config())
        daemon._roster.change("nightly", next_run=1.0)
        await daemon.begin()
        try:
            await until(lambda: daemon.job("nightly").wanted == "run")
            next_run = daemon.job("nightly").next_run
            assert next_run is not None and next_run > 1e9
            assert "scheduled start" in actions(daemon)
            await daemon.stop("nightly", who=WHO, now=True)
            await reach(daemon, "nightly", "stopped", "finished")
        finally:
            await daemon.close()

    asyncio.run(make())
    asyncio.run(missed())


@pytest.mark.slow
def test_hours_for_visiting_again_end_and_a_run_by_hand_has_none(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web, "fresh")
            assert daemon._roster.get("fresh").until is None
            daemon._roster.change("fresh", revisits=True, until=1.0)
            daemon._supervisor.wake("fresh")
            view = await reach(daemon, "fresh", "stopped")
            assert view.reason == "its hours for visiting pages again are over"
            assert "scheduled stop" in actions(daemon)
            job = daemon._roster.get("fresh")
            assert (job.revisits, job.until, job.wanted) == (False, None, "stop")

    asyncio.run(live())


@pytest.mark.slow
def test_a_schedule_that_says_revisit_goes_on_with_the_same_folder(web: SimulatedWeb, home: Path) -> None:
    """It is stopped when its hours are over, by the daemon that is there then."""

    async def live() -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("fresh", job_settings(web), who=WHO)
            await daemon.start("fresh", who=WHO)
            pages = (await reach(daemon, "fresh", "finished")).report["pages"]
            await daemon.schedule("fresh", Schedule(cron="0 3 1 1 *", how="revisit", hours=2), who=WHO)
            before = time.time()
            daemon._roster.change("fresh", next_run=1.0)
            daemon._supervisor.wake("fresh")
            await reach(daemon, "fresh", "running")
            job = daemon._roster.get("fresh")
            assert job.revisits and before + 7_200 <= job.until <= time.time() + 7_200
            await answering(daemon, "fresh")
            assert [one.name for one in daemon.jobs()] == ["fresh"]
            described = await daemon.ask("fresh", "settings", who=WHO)
            assert described["settings"]["revisit"]["enabled"] is True
            # All pages are there, to be visited again; the crawl does not end by itself.
            assert (await daemon.ask("fresh", "status", who=WHO))["sums"]["pages"] == pages
            daemon._roster.change("fresh", until=1.0)
            daemon._supervisor.wake("fresh")
            assert (await reach(daemon, "fresh", "stopped")).reason.startswith("its hours")

    asyncio.run(live())


def test_a_start_that_a_wrong_clock_has_put_far_off_comes_in_time(home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("nightly", job_settings(None, seeds=["http://nowhere.test/"]), who=WHO)
            soon = (await daemon.schedule("nightly", Schedule(cron="0 3 1 1 *"), who=WHO)).next_run
            assert soon is not None
            daemon._roster.change("nightly", next_run=soon + 1e9)
            daemon._supervisor.wake("nightly")
            await until(lambda: daemon.job("nightly").next_run == soon)

    asyncio.run(live())


def test_making_copying_and_removing(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            seeds = "".join(f"{seed}\n" for seed in web.seeds)
            settings = job_settings(web)
            del settings["seeds"]
            await daemon.create("first", settings, who=WHO, claim={"connections": 9}, seeds=seeds)
            await daemon.clone("first", "second", who=WHO)
            for name in ("first", "second"):
                view = daemon.job(name)
                assert view.claim.connections == 9 and view.seeds == tuple(web.seeds[:3])
                assert 'seeds_file = "seeds.txt"' in daemon.configuration(name)
                assert (home / "jobs" / name / "seeds.txt").read_text() == seeds
            with pytest.raises(ServiceError, match="must be the name"):
                await daemon.delete("first", confirm="second", who=WHO)
            await daemon.delete("first", confirm="first", who=WHO)
            assert [view.name for view in daemon.jobs()] == ["second"]
            await until(lambda: list((home / "tmp").iterdir()) == [])
            assert not (home / "jobs" / "first").exists()
            with pytest.raises(ServiceError) as caught:
                daemon.job("first")
            assert caught.value.code == "not_found"

    asyncio.run(live())


@pytest.mark.parametrize("name", [".", "..", "../up", "a/b", "A", "-x", ".hidden", "x" * 65, "a\n", "ü"])
def test_a_name_does_not_lead_out_of_the_folder(home: Path, name: str) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            with pytest.raises(ServiceError) as caught:
                await daemon.create(name, {"seeds": ["https://example.org/"]}, who=WHO)
            assert caught.value.code == "invalid" and caught.value.details[0].startswith("name: ")
            assert daemon.jobs() == []

    asyncio.run(live())


def test_what_makes_no_sense_now_is_refused(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("first", job_settings(web), who=WHO)
            for order in (daemon.pause, daemon.unpause, daemon.stop, daemon.checkpoint, daemon.withdraw):
                with pytest.raises(ServiceError) as caught:
                    await order("first", who=WHO)
                assert caught.value.code == "conflict"
            with pytest.raises(ServiceError) as caught:
                await daemon.create("first", job_settings(web), who=WHO)
            assert caught.value.details == ("name: there is a job 'first' already",)
            with pytest.raises(ServiceError, match="start it first"):
                await daemon.ask("first", "host_rest", {"name": "a", "seconds": 1}, who=WHO)
            with pytest.raises(ServiceError) as caught:
                await daemon.ask("first", "limits", {"files": 1}, who=WHO)
            assert caught.value.code == "not_found"

    asyncio.run(live())


def test_a_job_that_does_not_run_can_be_changed_in_everything(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("first", job_settings(web), who=WHO)
            changes = {"engine.workers": 7, "archive.prefix": "mine", "host.example.org.min_delay": "9s"}
            made = await daemon.ask("first", "set", {"changes": changes}, who="alice")
            assert {change.path: (change.old, change.new) for change in made}["engine.workers"] == (4, 7)
            text = daemon.configuration("first")
            assert "workers = 7" in text and '[place."example.org"' in text
            listed = (await daemon.ask("first", "changes", who=WHO))["items"]
            assert len(listed) == 3 and listed[0]["who"] == "alice"
            shown = await daemon.ask("first", "settings", who=WHO)
            assert shown["settings"]["engine"]["workers"] == 7
            assert (await daemon.figures("first"))["sums"]["pages"] == 0
            bad = {"engine.workers": 700, "seeds_file": "/etc/passwd", "fetch.ca_file": "/etc/passwd"}
            with pytest.raises(ServiceError) as caught:
                await daemon.ask("first", "set", {"changes": bad}, who=WHO)
            assert len(caught.value.details) >= 3
            assert daemon.configuration("first") == text

    asyncio.run(live())


def test_one_daemon_to_a_folder(home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home):
            with pytest.raises(ConfigError, match="another daemon"):
                await Daemon.open(home, service_config())

    asyncio.run(live())


def test_claims_and_limits_change_and_are_remembered(web: SimulatedWeb, home: Path) -> None:
    async def first() -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("first", job_settings(web), who=WHO)
            await daemon.set_claim("first", {"connections": 20}, who=WHO)
            with pytest.raises(ServiceError, match="less than the 4"):
                await daemon.set_claim("first", {"connections": 3}, who=WHO)
            view = await daemon.set_limits({"connections": 16}, who=WHO)
            assert view.targets[view.resources.index("connections")] == 16
            with pytest.raises(ServiceError, match="above the limit of 16"):
                await daemon.start("first", who=WHO)
            with pytest.raises(ServiceError) as caught:
                await daemon.set_limits({"connections": -1, "wishes": 2}, who=WHO)
            assert len(caught.value.details) == 2

    async def second() -> None:
        async with open_daemon(home) as daemon:
            assert daemon.job("first").claim.connections == 20
            view = daemon.allocation()
            assert view.totals[view.resources.index("connections")] == 16

    asyncio.run(first())
    asyncio.run(second())


def test_listeners_hear_of_changes_and_slow_ones_miss_the_oldest(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            events = daemon.events()
            heard = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0)
            await daemon.create("first", job_settings(web), who=WHO)
            event = await heard
            assert (event.kind, event.name) == ("job", "first") and event.job is not None
            for count in range(300):
                await daemon.schedule("first", Schedule(quiet=(f"{count % 9}:00-9:00",)), who=WHO)
            await daemon.delete("first", confirm="first", who=WHO)
            kinds = [(await anext(events)).kind for _ in range(256)]
            assert kinds[-1] == "gone"
            await events.aclose()  # type: ignore[attr-defined]

    asyncio.run(live())


@pytest.mark.slow
def test_a_change_that_needs_more_waits_survives_the_daemon_and_is_made_when_there_is_more(
    web: SimulatedWeb, home: Path
) -> None:
    async def first() -> None:
        async with open_daemon(home, limits={"connections": 10}) as daemon:
            await begun(daemon, web, "one", engine__workers=6, claim=6)
            await begun(daemon, web, "two")
            answer = await daemon.ask("two", "set", {"changes": {"engine.workers": 7}}, who="alice")
            assert answer["waits"].missing == {"connections": 3}
            view = daemon.job("two")
            assert view.waits is not None and view.waits.waits_for == ("one",) and view.pending is not None
            with pytest.raises(ServiceError, match="withdraw"):
                await daemon.ask("two", "set", {"changes": {"engine.workers": 5}}, who=WHO)
            await daemon.withdraw("two", who=WHO)
            assert daemon.job("two").waits is None and daemon.allocation().waiting == []
            await daemon.ask("two", "set", {"changes": {"engine.workers": 7}}, who="alice")

    async def second() -> None:
        async with open_daemon(home, limits={"connections": 10}) as daemon:
            await until(lambda: daemon.job("two").waits, daemon=daemon)
            # Fewer workers give back what they held, as soon as their visits have ended.
            await daemon.ask("one", "set", {"changes": {"engine.workers": 2}}, who=WHO)
            await until(lambda: daemon.job("two").pending is None, daemon=daemon)
            assert daemon.job("one").held["connections"] == 2
            assert daemon.job("two").held["connections"] == 7
            assert (await daemon.figures("two"))["workers"]["wanted"] == 7
            made = (await daemon.ask("two", "changes", who=WHO))["items"]
            assert [(one["who"], one["new"]) for one in made if one["path"] == "engine.workers"] == [
                ("alice", 7)
            ]
            for name in ("one", "two"):
                await daemon.stop(name, who=WHO, now=True)
                await reach(daemon, name, "stopped")

    asyncio.run(first())
    asyncio.run(second())


@pytest.mark.slow
def test_what_is_done_by_hand_to_a_crawl_is_taken_for_the_operator_s_wish(
    web: SimulatedWeb, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.daemon.jobs.run_control.BY_HAND", 0.2)

    async def live() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web)
            folder = home / "jobs" / "first"
            await ask(folder, "pause", who="bob")
            view = await reach(daemon, "first", "paused")
            assert view.wanted == "pause" and view.held["connections"] == 0
            await ask(folder, "unpause", who="bob")
            view = await reach(daemon, "first", "running")
            assert view.wanted == "run" and view.held["connections"] == 4
            await ask(folder, "stop", who="bob")
            assert (await reach(daemon, "first", "stopped")).wanted == "stop"

    asyncio.run(live())


@pytest.mark.slow
def test_a_job_that_takes_more_memory_than_it_may_begins_anew(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web)
            view = daemon.job("first")
            # A claim that the process has outgrown; nobody could set it while it runs.
            small = msgspec.structs.replace(view.claim, memory=view.memory - (1 << 20))
            daemon._roster.change("first", claim=small)
            await until(lambda: daemon.job("first").pid not in (view.pid, None))
            assert "MiB of memory" in daemon.audit(job="first")["items"][0].details
            await daemon.set_claim("first", {"memory": view.claim.memory}, who=WHO)
            await answering(daemon, "first")
            await daemon.stop("first", who=WHO, now=True)
            assert (await reach(daemon, "first", "stopped")).crashes <= 1

    asyncio.run(live())


@pytest.mark.slow
def test_the_command_serves_until_it_is_told_to_stop(home: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--port", "0"]
    command += ["--token-file", "none"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert line.startswith("gossamer serves http://127.0.0.1:"), line + process.stderr.read()
        with urllib.request.urlopen(line.split()[2] + "healthz") as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, process.stderr.read()
        assert "[listen]" in (home / "service.toml").read_text()
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
