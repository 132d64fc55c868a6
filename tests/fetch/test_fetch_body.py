"""A body is written once and read by many, in memory or from a file."""

import hashlib
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.body import LONGEST_HELD, BodyMemory, BodyWriter, SpooledBody
from gossamer.model.errors import InternalError, StorageError
from gossamer.model.exchange import Body


def _write(folder: Path, chunks: list[bytes], memory_limit: int = 100) -> SpooledBody:
    writer = BodyWriter(folder, memory_limit, BodyMemory(0))
    for chunk in chunks:
        writer.write(chunk)
    return writer.finish()


@given(st.lists(st.binary(max_size=80), max_size=8), st.integers(1, 50), st.integers(0, 300))
def test_reads_what_was_written(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], piece: int, limit: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "spool"
    folder.mkdir(exist_ok=True)
    content = b"".join(chunks)
    body: Body = _write(folder, chunks)
    assert len(list(folder.iterdir())) == (len(content) > 100)
    assert body.size == len(content)
    assert body.sha256 == hashlib.sha256(content).digest()
    assert body.read() == content
    assert body.read(limit) == content[:limit]
    assert b"".join(body.chunks(piece)) == content
    assert all(0 < len(chunk) <= piece for chunk in body.chunks(piece))
    with body.open() as first, body.open() as second:
        assert first.read(7) == content[:7]
        assert second.read() == content
        assert first.read() == content[7:]
    body.close()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("size", [10, 1000])
def test_readers_outlive_the_body(size: int, tmp_path: Path) -> None:
    body = _write(tmp_path, [b"x" * size])
    with body.open() as reader:
        body.close()
        body.close()
        assert reader.read() == b"x" * size
    with pytest.raises(InternalError):
        body.read()


def test_discarding_leaves_nothing(tmp_path: Path) -> None:
    writer = BodyWriter(tmp_path, 10, BodyMemory(0))
    writer.write(b"x" * 100)
    assert list(tmp_path.iterdir())
    writer.discard()
    writer.discard()
    assert not list(tmp_path.iterdir())


def test_discarding_after_the_end_keeps_the_body(tmp_path: Path) -> None:
    writer = BodyWriter(tmp_path, 10, BodyMemory(0))
    writer.write(b"x" * 100)
    body = writer.finish()
    writer.discard()
    assert body.read() == b"x" * 100
    body.close()


def test_a_full_disk_is_a_storage_error(tmp_path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writer = BodyWriter(tmp_path, 10, BodyMemory(0))
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, old[1]))
        with pytest.raises(StorageError, match="cannot be written"):
            for _ in range(100):
                writer.write(b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.iterdir())


def test_a_disk_that_takes_a_part(tmp_path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writer = BodyWriter(tmp_path, 10, BodyMemory(0))
    writer.write(b"x" * 5_000)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, old[1]))
        with pytest.raises(StorageError, match="cannot be written"):
            writer.write(b"x" * 20_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.iterdir())


def test_an_absent_folder_and_a_lost_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be created"):
        BodyWriter(tmp_path / "absent", 10, BodyMemory(0)).write(b"x" * 100)
    body = _write(tmp_path, [b"x" * 1000])
    next(tmp_path.iterdir()).unlink()
    assert body.read() == b"x" * 1000, "whoever cleans the folder cannot take it away"
    with pytest.raises(StorageError, match="cannot be read"):
        body.open()
    body.close()
    with pytest.raises(InternalError):
        body.read()


def test_repr_tells_where_it_is(tmp_path: Path) -> None:
    small, large = _write(tmp_path, [b"x"]), _write(tmp_path, [b"x" * 1000])
    assert repr(small) == "<SpooledBody 1 bytes>"
    assert repr(large).startswith("<SpooledBody 1000 bytes in body-")
    large.close()
    small.close()
    assert repr(small) == "<SpooledBody closed>"


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from(["finish", "close", "discard"])), max_size=12))
def test_longer_bodies_share_memory_and_give_it_back(
    tmp_path_factory: pytest.TempPathFactory, bodies: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "shared"
    folder.mkdir(exist_ok=True)
    shared = BodyMemory(500)
    kept: list[tuple[SpooledBody, int]] = []
    for size, then in bodies:
        room = shared.left
        writer = BodyWriter(folder, 100, shared)
        for start in range(0, size, 70):
            writer.write(b"x" * min(70, size - start))
        assert 0 <= shared.left == (room - max(0, size - 100) if size <= 100 + room else room)
        if then == "discard":
            writer.discard()
            assert shared.left == room
            continue
        body = writer.finish()
        writer.discard()
        assert body.read() == b"x" * size
        kept.append((body, size))
        if then == "close":
            kept.pop()
            body.close()
            body.close()
            assert shared.left == room
    in_files = len(list(folder.iterdir()))
    assert in_files + sum(not body._path for body, _ in kept) == len(kept)
    for body, _ in kept:
        body.close()
    assert shared.left == 500
    assert not list(folder.iterdir())


def test_the_longest_bodies_always_go_to_a_file(tmp_path: Path) -> None:
    shared = BodyMemory(4 * LONGEST_HELD)
    writer = BodyWriter(tmp_path, 100, shared)
    writer.write(b"x" * LONGEST_HELD)
    assert not list(tmp_path.iterdir())
    writer.write(b"x")
    assert len(list(tmp_path.iterdir())) == 1
    assert shared.left == 4 * LONGEST_HELD
    body = writer.finish()
    assert body.read() == b"x" * (LONGEST_HELD + 1)
    body.close()


def test_a_body_that_nobody_closes_gives_its_memory_back(tmp_path: Path) -> None:
    shared = BodyMemory(1000)
    for end in (BodyWriter.finish, BodyWriter.discard):
        writer = BodyWriter(tmp_path, 100, shared)
        writer.write(b"x" * 600)
        assert shared.left == 500
        end(writer)
        assert shared.left == 1000
