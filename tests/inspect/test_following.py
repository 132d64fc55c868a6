"""A toy follows a crawl that runs; both are killed, and the crawl goes back: it has each record once."""

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import title_follower
from patience import PATIENCE
from torture_lives import Life, small_world

from gossamer.archive.verify import RecordSummary, verify_file
from gossamer.engine.checkpoints import names
from gossamer.simweb import SimulatedWeb

PROGRAM = title_follower.__file__
MAIN = ("response", "revisit", "resource")


def begin(life: Life, database: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with database.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, PROGRAM, str(life.folder), str(database)], env=environment, stderr=log
        )


def copied(database: Path) -> list[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(database)) as opened:
        try:
            return opened.execute("select record, url from titles order by serial, place").fetchall()
        except sqlite3.OperationalError:  # it is being made
            return []


def lines(life: Life) -> int:
    log = life.folder / "crawl.log"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def until(condition: Callable[[], object], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.01)


def stored(life: Life) -> list[tuple[str, str]]:
    items = [item for path in life.archive_files for item in verify_file(path)]
    return [
        (item.record_id, item.target_uri)
        for item in items
        if isinstance(item, RecordSummary) and item.kind in MAIN
    ]


def part_of_a_life(
    life: Life, crawl: subprocess.Popen[str], database: Path, visits: int, *, saved: bool
) -> None:
    """Kill the crawl after some visits, of which the follower has copied some; `saved`: and a checkpoint."""
    logged, known = lines(life), len(copied(database))
    until(
        lambda: lines(life) >= logged + visits and len(copied(database)) > known, database.with_suffix(".log")
    )
    until(lambda: not saved or names(life.folder / "checkpoints"), database.with_suffix(".log"))
    crawl.kill()
    assert life.end(crawl).killed


@pytest.mark.slow
def test_each_record_once_over_kills_of_either_side(tmp_path):
    dice = random.Random(4)
    database = tmp_path / "titles"
    with SimulatedWeb(small_world(hosts=6, pages=100, misbehaviours=())) as web:
        life = Life(
            # Slow, or it is over before a follower that is slow to begin has copied anything.
            web,
            tmp_path / "crawl",
            {"engine.checkpoint_every": "100ms", "politeness.min_delay": "1s"},
        )
        crawl = life.begin_crawl()
        follower = begin(life, database)
        for back in (False, True, True):
            part_of_a_life(life, crawl, database, dice.randint(2, 9), saved=back)
            follower.kill()
            follower.wait()
            follower = begin(life, database)
            crawl = life.begin_resume(*(("--from-checkpoint",) if back else ()))
        faster = ("set", str(life.folder), "politeness.min_delay=20ms")
        until(lambda: life.run(*faster).status == 0, database.with_suffix(".log"))
        ended = life.end(crawl)
        assert ended.status == 0, ended.stderr
        follower.kill()
        follower.wait()
    title_follower.main(life.folder, database, once=True)
    assert copied(database) == stored(life)
    with contextlib.closing(sqlite3.connect(database)) as opened:
        assert opened.execute("select count(*) from titles where title != ''").fetchone()[0] > 20
