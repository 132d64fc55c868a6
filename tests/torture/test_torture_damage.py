"""Folders that are taken, unwritable or damaged: one message that names the remedy, and the remedy works."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from torture_lives import Ended, Life, assert_complete, hurry, small_world, wait_for

from gossamer.engine.checkpoints import names as checkpoints_in
from gossamer.simweb import SimulatedWeb
from gossamer.simweb.servers.visits import Visit

pytestmark = pytest.mark.slow


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    with SimulatedWeb(small_world()) as web:
        yield Life(web, tmp_path / "crawl", {"politeness.min_delay": "80ms"})


def assert_refused(ended: Ended, status: int, *words: str) -> None:
    """One message, with the words in it, and nothing of a traceback."""
    messages = [line for line in ended.stderr.splitlines() if line.startswith("gossamer: ")]
    assert (ended.status, len(messages)) == (status, 1), ended.stderr
    assert "Traceback" not in ended.stderr, ended.stderr
    for word in words:
        assert word in messages[0], messages


# Folders that are not ours to take …


def test_a_second_process_on_the_folder_is_refused_and_harms_nothing(life: Life) -> None:
    life.settings["politeness.min_delay"] = "5s"
    process = life.begin_crawl()
    wait_for(life, lambda log: len(log) > 15)
    settings = (life.folder / "crawl.toml").read_bytes()
    assert_refused(life.resume(), 2, "another process")
    assert_refused(life.resume("--set", "engine.workers=3"), 2, "another process")
    assert_refused(life.resume("--from-checkpoint"), 2, "another process")
    assert_refused(life.crawl(), 2, "holds another crawl", "gossamer resume")
    assert (life.folder / "crawl.toml").read_bytes() == settings
    assert process.poll() is None, "the first crawl was over too soon to prove anything"
    assert life.run("status", str(life.folder)).status == 0
    assert life.run("check", str(life.folder)).status == 0
    assert process.poll() is None, "the first crawl was over too soon to prove anything"
    assert life.run("set", str(life.folder), "politeness.min_delay=20ms").status == 0
    assert life.end(process).status == 0
    assert_complete(life)


def test_folders_in_use_are_refused(life: Life) -> None:
    life.folder.mkdir()
    (life.folder / "letter.txt").write_text("keep me")
    assert_refused(life.crawl(), 2, "not an empty folder", "--dir")
    assert_refused(life.resume(), 2, "holds no crawl", "gossamer crawl")
    assert [path.name for path in life.folder.iterdir()] == ["letter.txt"]
    for way in ("letter.txt", "letter.txt/beyond"):
        seed, place = life.web.seeds[0], life.folder / way
        assert_refused(life.run("crawl", seed, "--dir", str(place)), 2, "--dir")


def test_a_read_only_disk_is_refused(life: Life, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("a read-only mount needs root")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "--bind", str(place), str(place)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounts are not allowed here")
    try:
        life.folder = place / "crawl"
        process = life.begin_crawl()
        wait_for(life, lambda log: len(log) > 10)
        assert life.kill_after(process, 0).killed
        subprocess.run(["mount", "-o", "remount,bind,ro", str(place)], check=True)
        assert_refused(life.resume(), 2, "cannot be written", "--dir")
        other = life.run("crawl", life.web.seeds[0], "--dir", str(place / "other"))
        assert_refused(other, 2, "cannot be written", "--dir")
        subprocess.run(["mount", "-o", "remount,bind,rw", str(place)], check=True)
        assert life.resume().status == 0
        assert_complete(life)
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_folder_without_permission_is_refused(life: Life, tmp_path: Path) -> None:
    without = "-dac_override,-dac_read_search"
    powerless = ["setpriv", f"--inh-caps={without}", f"--bounding-set={without}"]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None or subprocess.run([*powerless, "true"]).returncode:
            pytest.skip("root may write everywhere, and cannot give that up here")
        life.command = [*powerless, *life.command]
    shut, unreadable = tmp_path / "shut", tmp_path / "unreadable"
    shut.mkdir(mode=0o500)
    unreadable.mkdir(mode=0o000)
    for place in (shut, shut / "crawl", unreadable / "crawl"):
        ended = life.run("crawl", life.web.seeds[0], "--dir", str(place))
        assert_refused(ended, 2, "cannot be written (Permission denied)" if place != shut else "", "--dir")


# Damage …


@pytest.fixture
def killed(life: Life) -> Life:
    """A crawl that was killed in the middle, with two checkpoints and work done since the newer one."""
    life.settings["politeness.min_delay"] = "400ms"
    process = life.begin_crawl()
    seen: tuple[list[str], int, int] = [], 0, 0

    def has_gone_on(log: list[Visit]) -> bool:
        """Since its newest checkpoint; on a busy machine the next one may have come meanwhile."""
        nonlocal seen
        process.send_signal(signal.SIGSTOP)
        known = checkpoints_in(life.folder / "checkpoints")
        stored = sum(path.stat().st_size for path in life.archive_files)
        if known != seen[0]:
            seen = known, stored, len(log)
        if len(known) == 2 and stored > seen[1] and len(log) > seen[2] + 10:
            return True
        process.send_signal(signal.SIGCONT)
        return False

    wait_for(life, has_gone_on)
    assert life.kill_after(process, 0).killed
    hurry(life)
    return life


def tables(state: Path) -> list[Path]:
    return sorted(state.glob("*.sst"))


def manifest(state: Path) -> Path:
    return next(state.glob("MANIFEST-*"))


def spoil(path: Path) -> None:
    """Flip bits in the first half, where the data is; in a file of its own, as copies are elsewhere."""
    content = bytearray(path.read_bytes())
    for at in range(0, len(content) // 2, 50):
        content[at] ^= 0xFF
    path.unlink()
    path.write_bytes(content)


def cut(path: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content[: len(content) // 2])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "tables spoilt": lambda state: [spoil(table) for table in tables(state)],
    "tables cut": lambda state: [cut(table) for table in tables(state)],
    "table gone": lambda state: max(tables(state), key=lambda path: path.stat().st_size).unlink(),
    "manifest cut": lambda state: cut(manifest(state)),
    "manifest gone": lambda state: manifest(state).unlink(),
    "current empty": lambda state: (state / "CURRENT").write_bytes(b""),
    "current gone": lambda state: (state / "CURRENT").unlink(),
    "everything gone": lambda state: [path.unlink() for path in state.iterdir()],
    "folder gone": lambda state: shutil.rmtree(state),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_goes_back_to_its_checkpoint(killed: Life, damage: str) -> None:
    archive = [path.stat().st_size for path in killed.archive_files]
    DAMAGES[damage](killed.folder / "state")
    assert_refused(killed.resume(), 3, "state", f"gossamer resume {killed.folder} --from-checkpoint")
    assert [path.stat().st_size for path in killed.archive_files] == archive, "the archive was touched"
    visits = len(killed.web.log())
    back = killed.resume("--from-checkpoint")
    assert back.status == 0, back.stderr
    assert "went back to checkpoint" in back.stderr
    assert back.cuts and len(killed.web.log()) > visits
    assert_complete(killed)


def test_where_checkpoints_share_the_damage_an_older_one_is_taken(killed: Life) -> None:
    older, newer = sorted((killed.folder / "checkpoints").glob("*[0-9]"))
    shared = {path.stat().st_ino for path in tables(older)}
    spoilt = [path for path in tables(newer) if path.stat().st_ino not in shared]
    assert spoilt
    for path in spoilt:
        with path.open("r+b") as file:  # in place, so that every link to it is damaged
            file.write(b"\0" * (path.stat().st_size // 2))
    (killed.folder / "state" / "CURRENT").unlink()
    assert_refused(killed.resume(), 3, "--from-checkpoint")
    back = killed.resume("--from-checkpoint")
    assert back.status == 0, back.stderr
    assert f"went back to checkpoint {older.name}" in back.stderr
    assert_complete(killed)


def test_where_every_checkpoint_is_damaged_nothing_is_thrown_away(killed: Life) -> None:
    for checkpoint in (killed.folder / "checkpoints").iterdir():
        cut(manifest(checkpoint))
    cut(manifest(killed.folder / "state"))
    before = sorted(path.relative_to(killed.folder) for path in killed.folder.rglob("*"))
    assert_refused(killed.resume("--from-checkpoint"), 3, "no checkpoint can be read", "another folder")
    assert sorted(path.relative_to(killed.folder) for path in killed.folder.rglob("*")) == before
    shutil.rmtree(killed.folder / "checkpoints")
    assert_refused(killed.resume("--from-checkpoint"), 2, "no checkpoint", "another folder")


@pytest.mark.parametrize("point", ["restore.copied", "restore.moved"])
def test_killed_while_it_goes_back_it_can_go_back_again(killed: Life, point: str) -> None:
    cut(manifest(killed.folder / "state"))
    assert killed.resume("--from-checkpoint", die_at=point).killed
    assert_refused(killed.resume(), 3, "--from-checkpoint")
    back = killed.resume("--from-checkpoint")
    assert back.status == 0, back.stderr
    assert_complete(killed)


def test_going_back_by_choice_fetches_again_what_came_later(killed: Life) -> None:
    for _ in range(2):
        back = killed.resume("--from-checkpoint", "--set", "budget.max_pages=100")
        assert back.status == 0 and "went back" in back.stderr, back.stderr
    assert killed.resume("--set", "budget.max_pages=0").status == 0
    assert_complete(killed)


def test_a_damaged_configuration_is_refused_and_can_be_mended(killed: Life) -> None:
    config = killed.folder / "crawl.toml"
    whole = config.read_text()
    config.write_text(whole[: len(whole) // 2].rstrip() + "\n[[[")
    assert_refused(killed.resume(), 2, "crawl.toml")
    config.write_text(whole + "\n[engine_]\nworkers = 3\n")
    assert_refused(killed.resume(), 2, "engine_")
    config.write_text(whole)
    assert killed.resume().status == 0
    assert_complete(killed)


def test_a_committed_archive_file_that_was_cut_is_told_of(killed: Life) -> None:
    committed = killed.archive_files[0]
    os.truncate(committed, 100)
    assert_refused(killed.resume(), 3, committed.name, "--from-checkpoint")
