"""A crawl's archive with its state, in short: lives that end by a kill, and what the next one finds."""

import os
import random
import shutil
import signal
from pathlib import Path

import msgspec
from archive_samples import exchange, open_writer

from gossamer.archive.placement import ArchiveFile, Placed
from gossamer.archive.verify import Problem, RecordSummary, verify_file
from gossamer.archive.writer import ArchiveWriter

MAX_FILE_SIZE = 4096
LARGE = random.Random(1).randbytes((1 << 20) + 1000)


class Ledger(msgspec.Struct):
    """What the state would hold."""

    files: dict[str, ArchiveFile] = {}
    placed: list[Placed] = []


class Killed(BaseException):
    """The process is gone."""


class Life:
    """One process: it appends, commits and rotates until it ends."""

    def __init__(self, folder: Path, fault_point) -> None:
        self.folder = folder
        self.ledger = load(folder)
        self.pending: list[Placed] = []
        self.writer: ArchiveWriter = open_writer(
            folder / "archive",
            list(self.ledger.files.values()),
            fault_point=fault_point,
            max_file_size=MAX_FILE_SIZE,
        )

    def append(self, *, large: bool = False) -> None:
        self.pending.append(self.writer.append(exchange(LARGE if large else os.urandom(400)), [("via", "x")]))

    def commit(self) -> None:
        for entry in self.writer.positions():
            self.ledger.files[entry.name] = entry
        self.ledger.placed += self.pending
        self.pending = []
        save(self.folder, self.ledger)
        self.writer.committed()

    def run(self, steps: str) -> None:
        """`a`ppend, append `l`arge, `c`ommit, `r`otate if due, `R`otate, `e`nd."""
        for step in steps:
            if step in "al":
                self.append(large=step == "l")
            elif step == "c":
                self.commit()
            elif step == "R" or (step == "r" and self.writer.rotate_due):
                self.writer.rotate()
            elif step == "e":
                self.writer.close()
                self.commit()


def load(folder: Path) -> Ledger:
    path = folder / "ledger"
    return msgspec.msgpack.decode(path.read_bytes(), type=Ledger) if path.exists() else Ledger()


def save(folder: Path, ledger: Ledger) -> None:
    (folder / "ledger.new").write_bytes(msgspec.msgpack.encode(ledger))
    (folder / "ledger.new").replace(folder / "ledger")


def check(folder: Path) -> None:
    """After recovery the folder holds exactly what was committed, every record of it sound."""
    ledger = load(folder)
    found: dict[str, tuple[str, int, int]] = {}
    on_disk = {path.name for path in (folder / "archive").iterdir()}
    for entry in ledger.files.values():
        closed = entry.name in on_disk
        path = folder / "archive" / (entry.name if closed else entry.name + ".open")
        on_disk.remove(path.name)
        for item in verify_file(path, entry.length):
            assert not isinstance(item, Problem), item
            assert isinstance(item, RecordSummary)
            if item.kind == "response":
                assert item.record_id not in found
                found[item.record_id] = (entry.name, item.offset, item.length)
    assert not on_disk
    assert found == {p.record_id: (p.file, p.offset, p.length) for p in ledger.placed}


def live_until_killed(folder: Path, steps: str, kill_at: int, tail: bytes = b"") -> list[str]:
    """Run `steps` and kill the process at the `kill_at`-th fault point; give the points that were passed.

    The folder is left as it was at that very moment, plus `tail` on the youngest file: bytes of a write that
    did not come to its end. (A kill leaves what the system has, so a copy of the folder is the truth.)
    """
    passed: list[str] = []
    frozen = folder.with_name(folder.name + ".frozen")

    def fault_point(name: str) -> None:
        passed.append(name)
        if len(passed) == kill_at:
            shutil.copytree(folder, frozen)
            raise Killed

    life = None
    try:
        life = Life(folder, fault_point)
        life.run(steps)
        shutil.copytree(folder, frozen)
    except Killed:
        pass
    finally:
        if life is not None:
            life.writer.abandon()
    shutil.rmtree(folder)
    frozen.rename(folder)
    still_open = sorted((folder / "archive").glob("*.open"))
    if still_open and tail:
        with still_open[-1].open("ab") as youngest:
            youngest.write(tail)
    return passed


def main(folder: str, steps: str, point: str, nth: str) -> None:
    """Live in a process of its own and be killed at the `nth` time at `point`."""
    left = int(nth)

    def fault_point(name: str) -> None:
        nonlocal left
        if name == point:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    Life(Path(folder), fault_point).run(steps)
