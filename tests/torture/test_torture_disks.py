"""A crawl that lies on several file systems: killed at any moment it goes on, and none of them is filled up."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_disk import MIB, Disk
from torture_lives import Life, assert_complete, assert_sound, small_world

from gossamer.assembly.disks import LINKS
from gossamer.simweb import SimulatedWeb

NOT_BEGUN = ("start.created", "start.linked", "start.home:1", "start.home:3", "start.laid")
BEGUN = (
    "start.configured",
    "start.opened",
    "start.seeded",
    "settlement.applying:12",
    "archive.create.after_warcinfo:3",
    "archive.rotate.before_rename:2",
    "checkpoint.copied:1",
    "checkpoint.named:2",
    "end.committed",
)


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[dict[str, Disk]]:
    """A file system for each part."""
    made: dict[str, Disk] = {}
    try:
        for name in LINKS:
            made[name] = Disk(tmp_path / name)
        yield made
    finally:
        for disk in made.values():
            disk.close()


@pytest.fixture
def life(tmp_path: Path, disks: dict[str, Disk]) -> Iterator[Life]:
    with SimulatedWeb(small_world()) as web:
        places = {f"storage.{name}": str(disk.place) for name, disk in disks.items()}
        yield Life(web, tmp_path / "crawl", {"fetch.memory_body": "1KiB", **places})


def homes(life: Life) -> list[int]:
    """How many folders lie on each disk."""
    return [len(list((life.folder.parent / name).iterdir())) for name in LINKS]


@pytest.mark.slow
@pytest.mark.parametrize("point", NOT_BEGUN)
def test_killed_before_it_has_begun_it_is_begun_anew(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    assert not life.begun
    assert life.resume().status == 2
    assert life.crawl().status == 0
    assert_complete(life)
    assert homes(life) == [1] * len(LINKS)


@pytest.mark.slow
@pytest.mark.parametrize("point", BEGUN)
def test_killed_later_it_goes_on(life: Life, point: str) -> None:
    assert life.crawl(point).killed
    assert life.resume().status == 0
    assert_complete(life)
    assert homes(life) == [1] * len(LINKS)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["restore.copied", "restore.moved"])
def test_killed_on_its_way_back_to_a_checkpoint(life: Life, point: str) -> None:
    assert life.crawl("checkpoint.named:2").killed
    assert life.resume("--from-checkpoint", die_at=point).killed
    assert life.resume("--from-checkpoint").status == 0
    assert_complete(life)


@pytest.mark.slow
@pytest.mark.parametrize("name", LINKS)
def test_each_disk_is_watched(life: Life, disks: dict[str, Disk], name: str) -> None:
    life.settings["engine.min_free_disk"] = "8MiB"
    assert life.crawl("settlement.applying:12").killed
    disks[name].leave(8 * MIB - 65_536)
    ended = life.resume()
    assert ended.status == 3, ended.stderr
    assert "min_free_disk" in ended.stderr
    assert str(disks[name].place) in ended.stderr
    assert_sound(life)
    disks[name].give_back()
    assert life.resume().status == 0
    assert_complete(life)


@pytest.mark.slow
def test_a_disk_that_is_taken_away_is_waited_for(life: Life, disks: dict[str, Disk]) -> None:
    assert life.crawl("settlement.applying:12").killed
    place = disks["archive"].place
    aside = place.with_name("aside")
    aside.mkdir()
    disks["archive"].move(aside)
    ended = life.resume()
    assert ended.status == 3
    assert "Mount its disk" in ended.stderr
    assert not list(place.iterdir())
    disks["archive"].move(place)
    assert life.resume().status == 0
    assert_complete(life)
