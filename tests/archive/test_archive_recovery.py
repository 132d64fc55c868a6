import multiprocessing
import signal
from pathlib import Path

import archive_lives
import pytest
from archive_lives import Life, check, live_until_killed, load
from archive_samples import exchange, open_writer
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from patience import PATIENCE

from gossamer.archive.file import no_fault
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.recovery import recover
from gossamer.model.errors import StorageError

STEPS = "aacralcraaaaaaaacracrlcre"
POINTS = [
    "archive.create",
    "archive.create.after_warcinfo",
    "archive.append.before_write",
    "archive.append.piece",
    "archive.append",
    "archive.rotate.before_sync",
    "archive.rotate.before_rename",
    "archive.rotate.after_rename",
]


PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["gossamer.archive.writer"])  # each that is killed need not import it anew


def killed(*arguments: str) -> bool:
    """Whether a process that lives (`archive_lives.main`) is killed at its fault point."""
    process = PROCESSES.Process(target=archive_lives.main, args=arguments)
    process.start()
    process.join(PATIENCE)
    return process.exitcode == -signal.SIGKILL


def resume(folder: Path, steps: str = "e") -> list[str]:
    """Live on without faults to a good end; give what had to be repaired."""
    life = Life(folder, no_fault)
    check(folder)
    life.run(steps)
    check(folder)
    assert not list((folder / "archive").glob("*.open"))
    return life.writer.repairs


def test_the_steps_pass_every_fault_point(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    passed = live_until_killed(folder, STEPS, kill_at=0)
    assert set(passed) == {*POINTS, "archive.recover.after_removal"}
    assert len(load(folder).files) >= 3


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("point", POINTS)
def test_a_real_kill_at_each_fault_point(tmp_path, point, nth):
    assert killed(str(tmp_path), STEPS, point, str(nth))
    repairs = resume(tmp_path, "aacraace")
    assert repairs or (point, nth) in {
        ("archive.append.before_write", 2),  # nothing was written since the commit, or not yet
        ("archive.rotate.before_sync", 1),
        ("archive.rotate.before_sync", 2),
        ("archive.rotate.before_rename", 1),
        ("archive.rotate.before_rename", 2),
    }


@pytest.mark.parametrize("point", ["archive.recover", "archive.recover.after_removal"])
def test_a_real_kill_while_recovering(tmp_path, point):
    assert killed(str(tmp_path), STEPS, "archive.rotate.after_rename", "2")
    for _ in range(2):
        assert killed(str(tmp_path), STEPS, point, "1")
    resume(tmp_path, "aacraace")


def test_a_kill_in_mid_record_is_cut(tmp_path):
    folder = tmp_path / "crawl"
    folder.mkdir()
    Life(folder, no_fault).run("ac")
    passed = live_until_killed(folder, "lc", kill_at=4)
    assert passed[-2:] == ["archive.append.before_write", "archive.append.piece"]
    (repair,) = resume(folder)
    assert "never committed" in repair


@settings(max_examples=examples(120), deadline=None)
@given(
    st.lists(
        st.tuples(st.text("aaaaccrRl", max_size=14), st.integers(1, 40), st.binary(max_size=3)),
        min_size=1,
        max_size=5,
    )
)
def test_any_history_of_kills_loses_and_doubles_nothing(tmp_path_factory, lives):
    folder = tmp_path_factory.mktemp("history") / "crawl"
    folder.mkdir()
    for steps, kill_at, tail in lives:
        committed = load(folder).placed
        live_until_killed(folder, steps, kill_at, tail)
        assert load(folder).placed[: len(committed)] == committed
        ledger = load(folder)
        first = recover(folder / "archive", ledger.files.values())
        assert recover(folder / "archive", first.files).repairs == []  # running it twice does no more
        check(folder)
    resume(folder, "ace")


def entry(name: str, length: int, state: str = "open", serial: int = 0) -> ArchiveFile:
    return ArchiveFile(name, length, state, serial, "urn:uuid:x")


def test_half_done_renames_are_finished(tmp_path):
    (tmp_path / "a.warc.gz").write_bytes(b"12345")
    (tmp_path / "b.warc.gz.open").write_bytes(b"12345")
    recovery = recover(tmp_path, [entry("a.warc.gz", 4), entry("b.warc.gz", 5, "closed", 1)])
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.warc.gz", "b.warc.gz"]
    assert [file.state for file in recovery.files] == ["closed", "closed"]
    assert recovery.changed == [entry("a.warc.gz", 4, "closed")]
    assert (tmp_path / "a.warc.gz").read_bytes() == b"1234"
    assert len(recovery.repairs) == 3


def test_only_archive_files_that_nobody_knows_are_removed(tmp_path):
    for name in ("x.warc.gz", "y.warc.gz.open", "notes.txt", "x.warc.gz.bak", "z.cdxj"):
        (tmp_path / name).write_bytes(b"1")
    (tmp_path / "folder.warc.gz").mkdir()
    repairs = recover(tmp_path, []).repairs
    assert len(repairs) == 2
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["folder.warc.gz", "notes.txt", "x.warc.gz.bak", "z.cdxj"]


def test_a_finished_file_may_have_been_moved_away(tmp_path):
    recovery = recover(tmp_path, [entry("gone.warc.gz", 5, "closed")])
    assert recovery.repairs == ["gone.warc.gz: not in the folder; moved away since it was closed"]
    assert recovery.changed == []


@pytest.mark.parametrize("state", ["open", "closed"])
def test_missing_committed_bytes_are_an_error_that_names_the_remedy(tmp_path, state):
    (tmp_path / ("a.warc.gz" + (".open" if state == "open" else ""))).write_bytes(b"123")
    with pytest.raises(StorageError, match=r"3 of the 5 bytes.*--from-checkpoint"):
        recover(tmp_path, [entry("a.warc.gz", 5, state)])


def test_a_missing_open_file_is_an_error(tmp_path):
    with pytest.raises(StorageError, match="0 of the 5 bytes"):
        recover(tmp_path, [entry("a.warc.gz", 5)])


def test_going_back_to_a_checkpoint(tmp_path):
    """The state of a checkpoint knows less than the folder: later files go, later bytes are cut."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    life = Life(folder, no_fault)
    life.run("aac")
    life.writer.sync()
    checkpoint = (folder / "ledger").read_bytes()
    life.run("aacRaacRaae")
    (folder / "ledger").write_bytes(checkpoint)
    repairs = resume(folder, "ae")
    assert len(load(folder).placed) == 3
    assert len(repairs) == 4  # one cut and closed, two removed


def test_the_same_file_goes_on_after_a_kill(tmp_path):
    writer = open_writer(tmp_path)
    writer.append(exchange())
    files = writer.positions()
    writer.abandon()
    writer = open_writer(tmp_path, files)
    placed = writer.append(exchange())
    writer.close()
    assert (placed.file, placed.offset) == (files[0].name, files[0].length)
    assert writer.repairs == []


def test_other_settings_begin_another_file(tmp_path):
    """The warcinfo record must be true of everything in its file."""
    writer = open_writer(tmp_path)
    writer.append(exchange())
    files = writer.positions()
    writer.abandon()
    writer = open_writer(tmp_path, files, info=[("software", "gossamer next")])
    placed = writer.append(exchange())
    states = {file.name: file.state for file in writer.positions()}
    writer.close()
    assert placed.file != files[0].name
    assert placed.serial == 1
    assert states == {files[0].name: "closed", placed.file: "open"}
