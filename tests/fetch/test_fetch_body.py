"""A body is written once and read by many, in memory or from a file."""

import hashlib
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.body import BodyWriter, SpooledBody
from gossamer.model.errors import InternalError, StorageError
from gossamer.model.exchange import Body


def _write(folder: Path, chunks: list[bytes], memory_limit: int = 100) -> SpooledBody:
    writer = BodyWriter(folder, memory_limit)
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
    writer = BodyWriter(tmp_path, 10)
    writer.write(b"x" * 100)
    assert list(tmp_path.iterdir())
    writer.discard()
    writer.discard()
    assert not list(tmp_path.iterdir())


def test_discarding_after_the_end_keeps_the_body(tmp_path: Path) -> None:
    writer = BodyWriter(tmp_path, 10)
    writer.write(b"x" * 100)
    body = writer.finish()
    writer.discard()
    assert body.read() == b"x" * 100
    body.close()


def test_a_full_disk_is_a_storage_error(tmp_path: Path) -> None:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    writer = BodyWriter(tmp_path, 10)
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
    writer = BodyWriter(tmp_path, 10)
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
        BodyWriter(tmp_path / "absent", 10).write(b"x" * 100)
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
