"""A full disk: exit 3 with one message and its remedy, nothing corrupt, and resume when there is room."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_disk import MIB, Disk
from torture_lives import Ended, Life, assert_complete, assert_sound, hurry, small_world, wait_for

from gossamer.simweb import SimulatedWeb


@pytest.fixture
def disks() -> Iterator[list[Disk]]:
    made: list[Disk] = []
    yield made
    for disk in made:
        disk.close()


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with SimulatedWeb(small_world()) as web:
        yield Life(web, tmp_path / "disk" / "crawl", {"engine.min_free_disk": "0B"})


def assert_clear(ended: Ended) -> None:
    """Exit 3, and one line that says what to do; no traceback."""
    messages = [line for line in ended.stderr.splitlines() if line.startswith("gossamer: ")]
    assert ended.status == 3, ended.stderr
    assert len(messages) == 1, ended.stderr
    assert "resume" in messages[0] and ("space" in messages[0] or "room" in messages[0]), messages
    assert "Traceback" not in ended.stderr and "Exception" not in ended.stderr, ended.stderr


@pytest.mark.slow
def test_it_stops_before_the_disk_is_full(tmp_path: Path, disks: list[Disk]) -> None:
    disk = Disk(tmp_path / "disk")
    disks.append(disk)
    with SimulatedWeb(small_world()) as web:
        life = Life(web, disk.place / "crawl", {"engine.min_free_disk": "8MiB"})
        disk.leave(9 * MIB)
        ended = life.crawl()
        assert_clear(ended)
        assert "min_free_disk" in ended.stderr
        assert (life.folder / "checkpoints").exists()
        assert_sound(life)
        again = life.resume()
        assert_clear(again)
        disk.give_back()
        assert life.resume().status == 0
        assert_complete(life)


@pytest.mark.slow
@pytest.mark.parametrize("room", [100_000, 400_000, 800_000, 1_200_000])
def test_one_disk_for_everything_fills_up(tmp_path: Path, disks: list[Disk], life: Life, room: int) -> None:
    disk = Disk(tmp_path / "disk")
    disks.append(disk)
    disk.leave(room)
    ended = life.crawl()
    assert_clear(ended)
    disk.grow(128 * MIB)
    resumed = life.resume()
    assert resumed.status == 0, resumed.stderr
    assert_complete(life)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "room"),
    [
        ("archive", 40_000),
        ("archive", 8_000),
        ("state", 60_000),
        ("state", 12_000),
        ("state", 0),
        ("crawl.log", 8_192),
        ("crawl.log", 0),
        ("tmp", 16_384),
        ("tmp", 0),
        ("checkpoints", 30_000),
    ],
)
def test_the_disk_of_one_part_is_full(
    tmp_path: Path, disks: list[Disk], life: Life, part: str, room: int
) -> None:
    life.settings["fetch.memory_body"] = "2KiB"  # longer bodies go to `tmp`
    life.settings["fetch.memory_bodies"] = "0"
    life.settings["engine.checkpoint_every"] = "1s"
    life.settings["politeness.min_delay"] = "200ms"  # or all may be over before it is killed
    life.folder.parent.mkdir()
    process = life.begin_crawl()
    wait_for(life, lambda log: len(log) > 60)
    assert life.kill_after(process, 0.0).killed
    hurry(life)
    disk = Disk(tmp_path / "part")
    disks.append(disk)
    move(life.folder / part, disk.place / part)
    disk.leave(room)
    ended = life.resume()
    assert_clear(ended)
    assert f"crawl/{part}" in ended.stderr.partition("gossamer: ")[2], ended.stderr
    disk.give_back()
    assert_consistent(life)
    resumed = life.resume()
    assert resumed.status == 0, resumed.stderr
    assert_complete(life)


def move(part: Path, target: Path) -> None:
    """Have a part of the folder on another disk."""
    if part.exists():
        shutil.move(part, target)
    else:
        target.mkdir()
    part.symlink_to(target)


def assert_consistent(life: Life) -> None:
    """What is committed is whole, though the process ended badly."""
    checked = life.run("check", str(life.folder))
    assert checked.status == 0, checked.stdout + checked.stderr
