"""Tables that are made anew by other settings take the place of those before when they are whole."""

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra `documents` is not installed")

from exported import document

from gossamer.archive.follower import KEPT_ANEW, Mark
from gossamer.datasets.derived import DERIVED, Store, discard, rows_of


def _add(store: Store, number: int) -> None:
    rows = {table.name: [] for table in DERIVED} | {"documents": [document(number, store.state.made_of, "")]}
    store.commit(rows, Mark(0, number + 1), 0.0, ())


def _titles(folder: Path) -> list[str]:
    return [row["title"] for row in rows_of(folder, "documents")]


def test_tables_are_there_until_those_of_other_settings_are_whole(tmp_path: Path) -> None:
    store = Store(tmp_path, "old")
    for number in range(2):
        _add(store, number)
    store.close()
    for number in range(2):  # the second goes on where the first was stopped
        store = Store(tmp_path, "new")
        assert (store.is_anew, store.state.documents) == (True, number)
        _add(store, number)
        assert _titles(tmp_path) == ["old", "old"]
        store.close()
        assert _titles(tmp_path) == ["old", "old"]
    store = Store(tmp_path, "new")
    store.publish()
    assert (_titles(tmp_path), store.is_anew) == (["new", "new"], False)
    _add(store, 2)
    store.close()
    assert len(_titles(tmp_path)) == 3
    assert len(list(tmp_path.glob("*.parquet"))) == 3 * len(DERIVED)
    assert not (tmp_path / KEPT_ANEW).exists()
    store = Store(tmp_path, "third")
    _add(store, 0)
    store.close()
    store = Store(tmp_path, "new")
    assert (store.is_anew, store.state.documents) == (False, 3), "what was given up is gone"
    assert not (tmp_path / KEPT_ANEW).exists()
    store.close()
    discard(tmp_path)
    assert _titles(tmp_path) == []
