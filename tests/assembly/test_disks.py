"""Parts of a crawl on other disks: made at its beginning, never anew, and removed only if they are its own."""

import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from gossamer.assembly import disks
from gossamer.assembly.disks import (
    LINKS,
    OWNER,
    claim,
    elsewhere,
    lay,
    prove_own,
    prove_places,
    prove_there,
    unmoved,
    whole_paths,
)
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.storage_config import StorageConfig
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason
from gossamer.state.environment import Environment, StateConfig

NAMES = ("archive", "log", "state", "temporary")
ALL = {name for names in LINKS.values() for name in names}


@pytest.fixture
def places(tmp_path: Path) -> StorageConfig:
    """A folder for each, as if on a disk of its own."""
    for name in NAMES:
        (tmp_path / name).mkdir()
    return StorageConfig(**{name: str(tmp_path / name) for name in NAMES})


@pytest.fixture
def folder(tmp_path: Path, places: StorageConfig) -> Path:
    """Of a crawl that has begun with them, and has something at each."""
    begun = tmp_path / "crawl"
    begun.mkdir()
    lay(begun, places)
    (begun / "crawl.toml").touch()
    fill(begun)
    return begun


def fill(folder: Path) -> None:
    for name in ALL:
        (folder / name).resolve().write_text(name)


def home_of(folder: Path, name: str) -> Path:
    return (folder / name).resolve().parent


def codes(error: ConfigError | StorageError) -> list[str]:
    """Of all problems, without the paths of the settings that they concern."""
    return [part.code for reason in error.reasons for part in reason.parts() if part.code != ProblemCode.OF]


def test_every_part_lies_on_its_disk_in_a_private_folder_of_its_own(folder: Path, tmp_path: Path) -> None:
    for setting, names in LINKS.items():
        for name in names:
            home = home_of(folder, name)
            assert home.parent == tmp_path / setting
            assert home.name.startswith("crawl-")
            assert home.stat().st_mode & 0o777 == 0o700
            assert (home / OWNER).read_text() == f"{folder}\n"
            assert (folder / name).read_text() == name
    assert set(elsewhere(folder)) == {(folder / name).resolve() for name in ALL}


def test_without_settings_there_are_no_links(tmp_path: Path) -> None:
    lay(tmp_path, StorageConfig())
    assert not list(tmp_path.iterdir())
    assert not elsewhere(tmp_path)


def test_crawls_of_one_name_do_not_meet_and_two_parts_may_share_a_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    for parent in ("one", "two"):
        (tmp_path / parent / "crawl").mkdir(parents=True)
        lay(tmp_path / parent / "crawl", StorageConfig(archive=str(disk), log=str(disk)))
        fill_one = tmp_path / parent / "crawl" / "archive"
        fill_one.resolve().write_text(parent)
    assert len(list(disk.iterdir())) == 2
    assert [(tmp_path / parent / "crawl" / "archive").read_text() for parent in ("one", "two")] == [
        "one",
        "two",
    ]


def test_a_name_of_any_length_fits(tmp_path: Path, places: StorageConfig) -> None:
    folder = tmp_path / ("\U00010000" * 63)
    folder.mkdir()
    lay(folder, places)
    prove_there(folder)


Usage = namedtuple("Usage", "free")


@pytest.mark.parametrize("free", [99, 100])
def test_every_place_that_cannot_be_used_is_named_at_once(
    tmp_path: Path, places: StorageConfig, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    folder = tmp_path / "archive"
    monkeypatch.setattr(disks.shutil, "disk_usage", lambda _: Usage(free))
    monkeypatch.setattr(disks.os, "access", lambda path, how: Path(path).name != "state" or not how & os.W_OK)
    (tmp_path / "log").rmdir()
    (tmp_path / "log").touch()
    with pytest.raises(ConfigError) as caught:
        prove_places(places, folder, 100)
    found = dict(
        zip((str(reason.values[0]) for reason in caught.value.reasons), codes(caught.value), strict=True)
    )
    wanted = {
        "storage.archive": ProblemCode.DISK_INSIDE,
        "storage.log": ProblemCode.DISK_NOWHERE,
        "storage.state": ProblemCode.DISK_UNWRITABLE,
    }
    assert found == wanted | ({"storage.temporary": ProblemCode.DISK_LITTLE} if free < 100 else {})


def test_a_place_below_the_folder_is_within_it_by_a_link_too(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    (folder / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder / "deep")
    with pytest.raises(ConfigError):
        prove_places(StorageConfig(state=str(tmp_path / "link")), folder, 0)
    prove_places(StorageConfig(state=str(tmp_path)), folder, 0)  # around it is fine


def test_paths_become_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    given = StorageConfig(archive="a", log="~/l", state="~nobody-of-that-name/s")
    assert whole_paths(given) == StorageConfig(
        archive=f"{tmp_path}/a", log="/home/somebody/l", state=f"{tmp_path}/~nobody-of-that-name/s"
    )


def test_links_do_not_lead_through_the_folder_that_a_path_was_given_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, disk = tmp_path / "here", tmp_path / "disk"
    (here / "crawl").mkdir(parents=True)
    disk.mkdir()
    (tmp_path / "linked").symlink_to(disk)
    monkeypatch.chdir(here)
    config = whole_paths(StorageConfig(archive="../disk", state="../linked", log=f"{tmp_path}/linked"))
    assert config == StorageConfig(archive=str(disk), state=str(disk), log=f"{tmp_path}/linked")
    lay(here / "crawl", config)
    fill(here / "crawl")
    (here / "crawl").rename(tmp_path / "crawl")
    here.rmdir()
    assert (tmp_path / "crawl" / "archive").read_text() == "archive"
    claim(tmp_path / "crawl")


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_disk_that_is_not_mounted_is_no_empty_one(folder: Path, name: str) -> None:
    home_of(folder, name).rename(folder.parent / "unplugged")
    for prove in (prove_there, claim):
        with pytest.raises(StorageError) as caught:
            prove(folder)
        assert set(codes(caught.value)) == {ProblemCode.DISK_ABSENT}
        assert f"{home_of(folder, name)}, " in str(caught.value)


def test_what_is_gone_with_one_disk_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "disk").mkdir()
    lay(tmp_path / "crawl", StorageConfig(**dict.fromkeys(NAMES, str(tmp_path / "disk"))))
    (tmp_path / "disk").rename(tmp_path / "unplugged")
    with pytest.raises(StorageError) as caught:
        prove_there(tmp_path / "crawl")
    told = str(caught.value)
    assert len(caught.value.reasons) == 1 and f"{tmp_path / 'disk'}" in told
    assert all(f"{tmp_path / 'crawl' / name}" in told for name in ALL)


def test_what_is_not_made_yet_is_made_through_its_link(tmp_path: Path, places: StorageConfig) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    folder.path.mkdir()
    lay(folder.path, places)
    claim(folder.path)
    assert not folder.has_results
    Environment.open(folder.state, StateConfig()).close()
    folder.clear_tmp()
    (folder.tmp / "left").touch()
    folder.clear_tmp()
    assert not list(folder.tmp.iterdir())
    for name in ("state", "tmp"):
        assert (folder.path / name).is_symlink()
        assert (home_of(folder.path, name) / name).is_dir()


def test_what_somebody_has_moved_and_linked_anew_is_his_word(folder: Path, tmp_path: Path) -> None:
    moved = tmp_path / "another" / "name"
    moved.parent.mkdir()
    (folder / "archive").resolve().rename(moved)
    (folder / "archive").unlink()
    (folder / "archive").symlink_to(moved)
    claim(folder)
    (folder / "tmp").unlink()
    (folder / "tmp").symlink_to(moved.parent)
    CrawlFolder(folder).clear_tmp()
    CrawlFolder(folder).discard()
    assert moved.read_text() == "archive", "it was not made by us"


def test_a_moved_folder_takes_its_homes_along(folder: Path) -> None:
    moved = folder.rename(folder.with_name("moved"))
    prove_own(moved)
    claim(moved)
    assert {(home_of(moved, name) / OWNER).read_text() for name in ALL} == {f"{moved}\n"}


def test_a_copy_with_links_is_not_taken_for_the_crawl(folder: Path) -> None:
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy, symlinks=True)
    for prove in (prove_own, claim):
        with pytest.raises(ConfigError) as caught:
            prove(copy)
        assert codes(caught.value) == [ProblemCode.DISK_OF_ANOTHER]
    prove_there(copy)  # who only looks may
    CrawlFolder(copy).discard()
    assert not copy.exists()
    claim(folder)
    assert (folder / "archive").read_text() == "archive"


def test_a_name_may_end_in_a_newline(tmp_path: Path, places: StorageConfig) -> None:
    folder = tmp_path / "crawl\n"
    folder.mkdir()
    lay(folder, places)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy, symlinks=True)
    fill(folder)
    with pytest.raises(ConfigError):
        claim(copy)
    claim(folder)


def test_a_copy_of_the_contents_is_a_crawl(folder: Path) -> None:
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    claim(copy)
    CrawlFolder(copy).discard()
    claim(folder)


def test_with_a_crawl_goes_what_was_made_for_it_and_no_more(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "archive" / "of the operator").touch()
    CrawlFolder(folder).discard()
    left = {path.name for name in NAMES for path in (tmp_path / name).iterdir()}
    assert left == {"of the operator"}
    assert not folder.exists()


def test_a_crawl_that_was_put_aside_is_still_its_owner(folder: Path, tmp_path: Path) -> None:
    aside = folder.rename(tmp_path / "crawl.0123")
    CrawlFolder(aside).discard()
    assert not [path for name in NAMES for path in (tmp_path / name).iterdir()]


def test_settings_do_not_move_what_has_begun(
    folder: Path, places: StorageConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    assert unmoved(places, StorageConfig(**dict(zip(NAMES, NAMES, strict=True))), folder) == places
    with pytest.raises(ConfigError) as caught:
        unmoved(places, StorageConfig(archive="elsewhere", log=places.log, state=places.state), folder)
    assert caught.value.reasons == (
        Reason(
            ProblemCode.OF, ("storage.archive", Reason(ProblemCode.DISK_MOVES, (str(folder / "archive"),)))
        ),
        Reason(ProblemCode.OF, ("storage.temporary", Reason(ProblemCode.DISK_MOVES, (str(folder / "tmp"),)))),
    )


@pytest.mark.parametrize("left", ["links", "homes", "partial", "owners"])
def test_a_start_that_was_killed_is_cleared_away_by_the_next(
    tmp_path: Path, places: StorageConfig, left: str
) -> None:
    """What each moment of the killed start leaves."""
    folder = CrawlFolder(tmp_path / "crawl")
    folder.create()
    folder.release()
    lay(folder.path, places)
    for home in {home_of(folder.path, name) for name in ALL}:
        if left != "owners":
            (home / OWNER).unlink()
        if left == "partial":
            (home / f"{OWNER}.partial").touch()
        if left == "links":
            home.rmdir()
    folder.create()
    try:
        lay(folder.path, StorageConfig(log=places.log))
    finally:
        folder.release()
    assert list(folder.path.iterdir()) == [folder.log]
    left_over = [path for name in NAMES for path in (tmp_path / name).iterdir()]
    assert left_over == [home_of(folder.path, "crawl.log")]


def test_a_folder_with_results_behind_its_links_is_not_begun_in(folder: Path) -> None:
    for name in ("crawl.toml", "state"):
        (folder / name).unlink()
    with pytest.raises(ConfigError, match="not an empty folder"):
        CrawlFolder(folder).create()


def test_a_disk_that_refuses_is_told_of(
    tmp_path: Path, places: StorageConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    shutil.rmtree(places.state)
    with pytest.raises(ConfigError, match=r"storage: .*No such file or directory"):
        lay(folder, places)


def test_a_ring_of_links_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "archive").symlink_to("archive")
    with pytest.raises(StorageError):
        prove_there(tmp_path)
