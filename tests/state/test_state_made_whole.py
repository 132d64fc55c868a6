"""A state is made whole or not at all: who reads it never meets one without some of its families."""

import threading
from pathlib import Path

import pytest

from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment, Family, StateConfig


def test_a_reader_meets_no_half_made_state(tmp_path: Path) -> None:
    met, over = [], threading.Event()

    def read() -> None:
        number = 0
        while not over.is_set():
            for path in tmp_path.glob("crawl-*/state"):
                number += 1
                try:
                    Environment.open_secondary(path, tmp_path / f"look-{number}", StateConfig()).close()
                except StorageError as error:
                    met.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(12):
            (tmp_path / f"crawl-{number}").mkdir()
            Environment.open(tmp_path / f"crawl-{number}" / "state", StateConfig()).close()
    finally:
        over.set()
        reader.join()
    assert met == []


def test_what_a_kill_left_half_made_is_made_anew(tmp_path: Path) -> None:
    left = tmp_path / "state.new"
    left.mkdir()
    (left / "CURRENT").write_bytes(b"MANIFEST-000009\n")
    environment = Environment.open(tmp_path / "state", StateConfig())
    batch = environment.batch()
    batch.put(Family.META, b"a", b"b")
    environment.commit(batch)
    environment.close()
    assert not left.exists()


def test_where_nothing_can_be_made_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StorageError, match="file"):
        Environment.open(tmp_path / "file" / "state", StateConfig())


def test_each_new_state_is_empty_and_its_own(tmp_path: Path) -> None:
    for name in ("one", "other"):
        environment = Environment.open(tmp_path / name, StateConfig())
        assert [list(environment.scan(family)) for family in Family] == [[] for _ in Family]
        batch = environment.batch()
        for family in Family:
            batch.put(family, name.encode(), b"")
        environment.commit(batch)
        environment.close()
    for name in ("one", "other"):
        environment = Environment.open(tmp_path / name, StateConfig(), create=False)
        assert [list(environment.scan(family)) for family in Family] == [
            [(name.encode(), b"")] for _ in Family
        ]
        environment.close()
