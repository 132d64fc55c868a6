"""What is shown while the daemon's disk takes nothing more, and what is left when it does again."""

import asyncio
import contextlib
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_client import CHEAP, PASSWORD, served
from service_world import LONG, SMALL, WHO, begun, job_settings, open_daemon, reach, until

from gossamer.daemon import store as store_module
from gossamer.daemon.allocation.claims import Claim
from gossamer.daemon.database import Database
from gossamer.daemon.jobs.job import Job, JobState
from gossamer.daemon.store import Store
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason, text
from gossamer.simweb import SimulatedWeb
from gossamer.web.security import sessions
from gossamer.web.security.visitor import Role


class FullDisk:
    """A connection whose disk takes nothing more."""

    def __init__(self, inner: sqlite3.Connection) -> None:
        self._inner = inner

    def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        if not statement.startswith("SELECT"):
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error
        return self._inner.execute(statement, values)


@contextlib.contextmanager
def full(database: Database) -> Iterator[None]:
    """Nothing can be written into a database."""
    inner = database._connection
    database._connection = FullDisk(inner)  # type: ignore[assignment]
    try:
        yield
    finally:
        database._connection = inner


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Database(tmp_path / "service.db")) as database:
        yield Store(database)


def kept(home: Path) -> dict[str, Job]:
    """The jobs as they are written down."""
    with contextlib.closing(Database(home / "service.db")) as database:
        return {job.name: job for job in Store(database).jobs()}


def job(name: str, **fields: Any) -> Job:
    claim = Claim(connections=1, bandwidth=2, memory=3, disk=4, files=5)
    return Job(name=name, folder=f"/{name}", claim=claim, created=0.0, **fields)


def test_what_cannot_be_written_is_written_later(store: Store, tmp_path: Path) -> None:
    store.save(job("gone"))
    with full(store.database):
        store.save(job("a", reason=Reason(EndCode.INTERRUPTED)))
        store.save(job("a", reason=Reason(EndCode.FINISHED)))
        store.note("alice", "stop", "a")
        store.forget("gone")
        store.keep_limits({"connections": 5})
        assert not store.catch_up()
    assert kept(tmp_path).keys() == {"gone"}
    assert store.catch_up()
    assert kept(tmp_path) == {"a": job("a", reason=Reason(EndCode.FINISHED))}
    assert [(line.who, line.action) for line in store.audit(None, 9)] == [("alice", "stop")]
    assert store.limits() == {"connections": 5}


def test_the_next_that_can_be_written_takes_the_rest_along(store: Store, tmp_path: Path) -> None:
    with full(store.database):
        store.save(job("a"))
    store.note("alice", "look")
    assert kept(tmp_path).keys() == {"a"}


def test_what_waits_to_be_written_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MOST_WAITING", 3)
    store = Store(store.database)
    with full(store.database):
        for number in range(9):
            store.note("alice", f"act {number}")
            store.save(job("a", reason=text(str(number))))
    store.catch_up()
    assert [line.action for line in store.audit(None, 9)] == ["act 8", "act 7", "act 6"]
    assert store.jobs() == [job("a", reason=text("8"))]


def test_a_job_that_dies_is_shown_so_and_an_order_holds(home: Path) -> None:
    async def story() -> None:
        with SimulatedWeb(SMALL) as web:
            async with open_daemon(home, restart={"first_wait": 100, "longest_wait": 100}) as daemon:
                await begun(daemon, web)
                pid = daemon.job("first").pid
                assert pid is not None
                with full(daemon.store.database):
                    os.kill(pid, signal.SIGKILL)
                    died = await reach(daemon, "first", JobState.QUEUED)
                    assert died.pid is None and "killed by signal 9" in died.reason
                    stopped = await daemon.stop("first", who=WHO)
                    assert stopped.wanted == "stop"
                    await reach(daemon, "first", JobState.STOPPED)
                    assert kept(home)["first"].state is JobState.RUNNING
                await until(lambda: kept(home)["first"].state is JobState.STOPPED)
                assert [line.action for line in daemon.audit()["items"]][:2] == ["stop", "crash"]

    asyncio.run(story())


def test_pages_are_shown_to_who_has_logged_in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a session was last used is noted; that it cannot be is no reason to refuse."""

    async def story() -> None:
        monkeypatch.setattr(sessions, "_USE_NOTED_EVERY", 0.0)
        monkeypatch.setattr("gossamer.web.security.accounts._USE_NOTED_EVERY", 0.0)
        async with served(home, security=CHEAP) as (daemon, client):
            accounts = client.app.state.door.accounts  # type: ignore[attr-defined]
            accounts.add("alice", Role.OPERATOR, PASSWORD)
            token = accounts.new_token("alice", Role.OPERATOR, "test")
            await client.post("/api/v1/session", json={"name": "alice", "password": PASSWORD})
            with full(daemon.store.database):
                assert (await client.get("/api/v1/jobs")).status_code == 200
                client.cookies.clear()
                bearer = {"Authorization": f"Bearer {token}"}
                assert (await client.get("/api/v1/jobs", headers=bearer)).status_code == 200

    asyncio.run(story())


@pytest.fixture
def small_disk(home: Path) -> Iterator[Path]:
    """A daemon's folder on a disk of 96 MiB of its own."""
    home.mkdir(parents=True)
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", str(home)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("disks cannot be mounted here")
    try:
        yield home
    finally:
        subprocess.run(["umount", "--lazy", str(home)], check=True)


def fill(folder: Path) -> Path:
    """Take all that is free."""
    path = folder / "filling"
    with path.open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    return path


@pytest.mark.slow
def test_a_full_disk_and_then_space(small_disk: Path) -> None:
    async def story() -> None:
        with SimulatedWeb(SMALL) as web:
            async with open_daemon(small_disk) as daemon:
                await begun(daemon, web)
                await daemon.create("later", job_settings(web, **LONG), who=WHO)
                pid = daemon.job("first").pid
                assert pid is not None
                filling = fill(small_disk)
                os.kill(pid, signal.SIGKILL)
                died = await reach(daemon, "first", JobState.QUEUED, JobState.FAILED)
                assert died.pid is None and died.reason
                await until(lambda: "No space left on device" in daemon.job("first").reason)
                await daemon.start("later", who=WHO)
                await until(lambda: "No space left on device" in daemon.job("later").reason)
                assert daemon.job("later").pid is None and daemon.job("first").pid is None
                filling.unlink()
                await reach(daemon, "first", JobState.RUNNING)
                await reach(daemon, "later", JobState.RUNNING)
                await until(lambda: kept(small_disk)["first"].process is not None)

    asyncio.run(story())
