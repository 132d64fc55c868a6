"""Files of tables that are kept are made anew when their columns are others."""

import hashlib
from collections.abc import Sequence

import pytest

from gossamer.datasets import derived, snapshot
from gossamer.datasets.tables import DERIVED, INDEXED, OF_THE_CRAWL, Table
from gossamer.search.similar import state as similar

KEPT = {
    "datasets/snapshot.py": (OF_THE_CRAWL, snapshot.VERSION, (1, "780d5c857cc3ea9b")),
    "datasets/derived.py": (DERIVED, derived.VERSION, (1, "ddc3d8fb702213c5")),
    "search/similar/state.py": (INDEXED, similar.VERSION, (1, "839bc1f1f3c0dcbf")),
}
"""By the module that keeps them: tables, its `VERSION`, and the version that last had which columns."""


def hashed(tables: Sequence[Table]) -> str:
    """Of names and kinds of all columns in their order."""
    columns = [f"{table.name}.{column.name} {column.kind}" for table in tables for column in table.columns]
    return hashlib.sha256("\n".join(columns).encode()).hexdigest()[:16]


@pytest.mark.parametrize("module", KEPT)
def test_other_columns_are_another_version(module: str) -> None:
    tables, version, (known, columns) = KEPT[module]
    now = hashed(tables)
    assert version > known or now == columns, (
        f"the columns are others: raise VERSION in {module}, or crawls of before keep files without them, "
        f"and write ({version + 1}, {now!r}) here"
    )
    assert version == known, f"write ({version}, {now!r}) here"
