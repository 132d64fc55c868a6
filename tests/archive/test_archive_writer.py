import errno
import os
import re
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from archive_samples import STARTED_DATE, MemoryBody, assert_sound, exchange, only_file, open_writer

from gossamer.archive.config import ArchiveConfig
from gossamer.archive.reader import read_record
from gossamer.model.errors import InternalError, StorageError

NAME = r"gossamer-\d{17}-0000\d-[A-Za-z0-9-]+\.warc\.gz"


def test_a_file_is_named_open_until_it_is_finished(tmp_path):
    writer = open_writer(tmp_path)
    assert list(tmp_path.iterdir()) == []  # no record, no file
    placed = writer.append(exchange())
    assert only_file(tmp_path).name == placed.file + ".open"
    writer.close()
    assert only_file(tmp_path).name == placed.file
    assert re.fullmatch(NAME, placed.file)


def test_what_append_returned_has_reached_the_system(tmp_path):
    writer = open_writer(tmp_path)
    for number in range(3):
        placed = writer.append(exchange(b"%d" % number))
        assert read_record(tmp_path, placed.file, placed.offset).payload == b"%d" % number
        assert only_file(tmp_path).stat().st_size == writer.positions()[0].length
        assert placed.date == STARTED_DATE
    writer.abandon()


def test_rotation_by_size_between_groups(tmp_path):
    writer = open_writer(tmp_path, max_file_size=2000)
    files = []
    for _ in range(6):
        if writer.rotate_due:
            writer.rotate()
        files.append(writer.append(exchange(os.urandom(1500))).file)
    assert len(set(files)) == 6
    entries = {entry.name: entry for entry in writer.positions()}
    assert [entries[name].serial for name in files] == list(range(6))
    assert [entries[name].state for name in files] == ["closed"] * 5 + ["open"]
    writer.committed()
    assert [entry.name for entry in writer.positions()] == [files[-1]]
    writer.close()
    for path in tmp_path.iterdir():
        assert assert_sound(path)[0].kind == "warcinfo"


def test_rotating_nothing_is_nothing(tmp_path):
    writer = open_writer(tmp_path)
    assert not writer.rotate_due
    writer.rotate()
    writer.sync()
    writer.close()
    assert writer.positions() == []


def test_two_calls_at_once_are_refused(tmp_path):
    writer = open_writer(tmp_path, fault_point=lambda name: name == "archive.append" and writer.sync())
    with pytest.raises(InternalError, match="at once"):
        writer.append(exchange())
    writer.abandon()


@contextmanager
def file_size_limit(limit: int):
    """As a full disk: the system takes bytes up to `limit` of a file, part of a write included."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("size", [6000, 3 << 20], ids=["small", "streamed"])
def test_a_full_disk_leaves_a_whole_file_and_the_writer_goes_on(tmp_path, size):
    writer = open_writer(tmp_path)
    writer.append(exchange())
    before = writer.positions()
    with file_size_limit(before[0].length + 3000), pytest.raises(StorageError, match="Make room"):
        writer.append(exchange(os.urandom(size)))
    assert writer.positions() == before
    assert only_file(tmp_path).stat().st_size == before[0].length
    writer.append(exchange(b"there is room again"))
    writer.close()
    assert len(assert_sound(only_file(tmp_path))) == 5


def test_no_room_for_a_new_file(tmp_path):
    writer = open_writer(tmp_path)
    with file_size_limit(10), pytest.raises(StorageError, match="Make room"):
        writer.append(exchange())
    assert list(tmp_path.iterdir()) == []
    writer.append(exchange())
    writer.close()
    assert_sound(only_file(tmp_path))


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(options, check=False, capture_output=True).returncode:
        pytest.skip("may not mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_really_full_disk(small_disk):
    writer = open_writer(small_disk)
    count = 0
    with pytest.raises(StorageError, match=os.strerror(errno.ENOSPC)):
        while True:
            writer.append(exchange(os.urandom(20_000)))
            count += 1
    entries = writer.positions()
    writer.abandon()
    assert count > 5
    assert only_file(small_disk).stat().st_size == entries[0].length
    writer = open_writer(small_disk, entries)
    writer.close()
    assert len(assert_sound(only_file(small_disk))) == 1 + 2 * count


def test_short_writes_are_gone_on_with(tmp_path, monkeypatch):
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, offset: pwrite(file, data[:97], offset))
    writer = open_writer(tmp_path)
    writer.append(exchange())
    writer.close()
    assert len(assert_sound(only_file(tmp_path))) == 3


class ShrunkenBody(MemoryBody):
    """A spooled file that lost bytes on the disk."""

    @property
    def size(self) -> int:
        return super().size + 1


@pytest.mark.parametrize("size", [10, 2 << 20])
def test_a_spooled_body_that_lost_bytes_is_not_archived(tmp_path, size):
    writer = open_writer(tmp_path)
    writer.append(exchange())
    before = writer.positions()
    whole = exchange()
    damaged = type(whole)(
        whole.url, whole.started, b"", 200, whole.response_head, whole.headers, ShrunkenBody(bytes(size))
    )
    with pytest.raises(StorageError, match="1 bytes less"):
        writer.append(damaged)
    assert writer.positions() == before
    assert only_file(tmp_path).stat().st_size == before[0].length
    writer.close()
    assert_sound(only_file(tmp_path))


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="writable"):
        open_writer(tmp_path / "file" / "archive")


def test_host_names_and_prefixes_make_safe_names(tmp_path, monkeypatch):
    class Node:
        nodename = "../evil host.example.org"

    monkeypatch.setattr(os, "uname", Node)
    writer = open_writer(tmp_path / "archive", prefix="news.2026")
    placed = writer.append(exchange())
    writer.close()
    assert "/" not in placed.file and " " not in placed.file
    assert placed.file.startswith("news.2026-")
    assert Path(tmp_path / "archive" / placed.file).exists()


def test_the_defaults_are_valid():
    config = ArchiveConfig()
    assert config.max_file_size == 1_000_000_000
    assert {name.lower() for name in config.redact} >= {"authorization", "proxy-authorization", "cookie"}
