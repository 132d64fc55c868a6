"""Files that grow are cut into few pieces, of which nearly all stay."""

import os
import tempfile
from pathlib import Path

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.cluster.snapshots import pieces
from gossamer.cluster.snapshots.manifest import digest_of
from gossamer.cluster.snapshots.pieces import Cut, Local, cut
from gossamer.model.errors import StorageError

FULL = 64


def content(path: Path, made: Cut) -> bytes:
    """What the pieces say that the file is."""
    data, at = path.read_bytes(), 0
    for piece in made.pieces:
        assert digest_of(data[at : at + piece.size]) == piece.object
        at += piece.size
    return data[:at]


@settings(deadline=None, max_examples=examples(60))
@given(growth=st.lists(st.integers(0, 200), max_size=20), seed=st.integers(0, 9))
def test_pieces_of_a_file_that_grows(growth, seed):
    before, pieces.PIECE = pieces.PIECE, FULL
    try:
        with tempfile.TemporaryDirectory() as folder:
            path, written, travelled, stored = Path(folder) / "file", b"", 0, ()
            path.touch()
            for number, size in enumerate(growth):
                written += bytes((seed + number + n) % 251 for n in range(size))
                path.write_bytes(written + b"not committed")
                made = cut(Local("file", path, len(written), grows=True), None, stored)
                assert content(path, made) == written
                travelled += sum(piece.size for piece in made.pieces if piece not in stored)
                stored = made.pieces
                assert max((piece.size for piece in stored), default=0) <= FULL
                small = [piece for piece in stored if piece.size < FULL // 2]
                assert len(small) <= len(stored) / 2 + 7
            assert travelled <= len(written) * 8
    finally:
        pieces.PIECE = before


def test_what_was_cut_back_and_has_grown_again_is_another_file(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", FULL)
    path = tmp_path / "file"
    path.write_bytes(first := os.urandom(500))
    stored = cut(Local("file", path, 500, grows=True), None, ()).pieces
    for kept in (0, 10, 64, 250, 430, 499, 500):
        path.write_bytes(again := first[:kept] + os.urandom(700 - kept))
        made = cut(Local("file", path, 700, grows=True), None, stored)
        assert content(path, made) == again
        made = cut(Local("file", path, 300, grows=True), None, stored)
        assert content(path, made) == again[:300]


def test_a_file_that_is_the_same_still_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1_000)
    made = cut(Local("file", path, 900), None, ())
    monkeypatch.setattr(pieces, "_digest", None)
    assert cut(Local("file", path, 900), made, ()) == made
    monkeypatch.undo()
    assert cut(Local("file", path, 901), made, ()) != made
    os.utime(path, ns=(1, 1))
    again = cut(Local("file", path, 900), made, ())
    assert again.pieces == made.pieces
    assert again.changed == 1


def test_less_than_what_was_committed_is_an_error(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10)
    with pytest.raises(StorageError, match="has 10 of the 20 bytes"):
        cut(Local("file", path, 20), None, ())
    with pytest.raises(StorageError, match="No such file"):
        cut(Local("file", tmp_path / "none", 20), None, ())
