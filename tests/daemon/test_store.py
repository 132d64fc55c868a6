"""What the daemon remembers over its own death."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gossamer.daemon import store as store_module
from gossamer.daemon.allocation.claims import Claim
from gossamer.daemon.database import Database
from gossamer.daemon.jobs.confinement import change_problems
from gossamer.daemon.jobs.job import Job, JobState, Mark, Pending
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.daemon.store import Store
from gossamer.model.errors import StorageError

CLAIM = Claim(connections=1, bandwidth=2, memory=3, disk=4, files=5)
FULL = Job(
    name="a",
    folder="/somewhere/a",
    claim=CLAIM,
    held={"connections": 1},
    process=Mark(7, 8, "9"),
    created=1.5,
    state=JobState.RUNNING,
    wanted="run",
    schedule=Schedule(cron="0 3 * * *", quiet=("22:00-06:00",)),
    pending=Pending({"engine.workers": 3}, "alice", 2.5),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with contextlib.closing(Database(tmp_path / "service.db")) as database:
        yield Store(database)


def test_jobs_come_back_as_they_were(store: Store, tmp_path: Path) -> None:
    bare = Job(name="b", folder="/b", claim=CLAIM, created=0.0)
    for job in (bare, FULL):
        store.save(job)
    with contextlib.closing(Database(tmp_path / "service.db")) as again:
        assert Store(again).jobs() == [FULL, bare]
    store.forget("a")
    assert store.jobs() == [bare]


def test_the_file_is_for_its_owner_only(store: Store, tmp_path: Path) -> None:
    assert (tmp_path / "service.db").stat().st_mode & 0o777 == 0o600


def test_limits_come_back(store: Store) -> None:
    assert store.limits() == {}
    store.keep_limits({"connections": 5})
    assert store.limits() == {"connections": 5}


def test_the_audit_is_read_backwards_and_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MOST_AUDIT", 10)
    monkeypatch.setattr(store_module, "_TRIM_EVERY", 5)
    for number in range(30):
        store.note("alice", "act", "a" if number % 2 else "b", "x" * 10_000)
    lines = store.audit(None, 4)
    assert [line.id for line in lines] == [30, 29, 28, 27] and len(lines[0].details) == 4_000
    assert [line.id for line in store.audit(27, 2)] == [26, 25]
    assert {line.job for line in store.audit(None, 100, "a")} == {"a"}
    assert len(store.audit(None, 100)) == 10


def test_a_damaged_file_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "service.db").write_bytes(b"no database at all, " * 100)
    with pytest.raises(StorageError, match=r"service\.db"):
        Store(Database(tmp_path / "service.db"))


def test_a_damaged_record_is_told_of(store: Store) -> None:
    store.save(FULL)
    store.database.execute("UPDATE jobs SET record = '{}'")
    with pytest.raises(StorageError, match="job 'a' is damaged"):
        store.jobs()


def test_changes_of_a_running_crawl_are_confined(tmp_path: Path) -> None:
    changes = {"seeds_watch": "/etc/passwd", "politeness.shared": str(tmp_path), "engine.workers": 3}
    found = change_problems(changes, [tmp_path])
    assert sorted(problem.partition(":")[0] for problem in found) == ["politeness.shared", "seeds_watch"]
    assert change_problems({'"seeds_watch"': "/etc/passwd"}, [tmp_path])
    assert change_problems({'politeness."shared"': ""}, [tmp_path])
    assert change_problems({"seeds_watch": str(tmp_path / "new.txt")}, [tmp_path]) == []
    assert change_problems({"seeds_watch": None}, [tmp_path]) == []


def test_two_programs_open_what_a_killed_one_has_left(tmp_path: Path) -> None:
    """Again and again, for it is a race: each time one of them mends the file."""
    path = tmp_path / "service.db"
    write = "from gossamer.daemon.database import Database; import os, sys; d = Database(sys.argv[1]);"
    write += (
        "d.execute('CREATE TABLE IF NOT EXISTS t (x)'); d.execute('INSERT INTO t VALUES (1)'); os._exit(9)"
    )
    rounds = 4
    for _ in range(rounds):
        subprocess.run([sys.executable, "-c", write, str(path)], check=False)
        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(lambda _: _count(path), range(12)))
        assert len(set(counts)) == 1
    assert counts == [rounds] * 12


def _count(path: Path) -> int:
    with contextlib.closing(Database(path)) as database:
        found: int = database.query("SELECT count(*) FROM t")[0][0]
        return found
