"""A single text of a Parquet file is what Arrow reads there."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="no extra that brings it is installed")
import pyarrow
from pyarrow import parquet

from gossamer.datasets.cells import TextColumn
from gossamer.datasets.parquet import parquet_writer


def _texts(seed: int, count: int) -> list[str | None]:
    chosen = random.Random(seed)
    made: list[str | None] = []
    while len(made) < count:
        run = chosen.randint(1, 40)
        match chosen.randrange(4):
            case 0:
                made += [None] * run
            case 1:
                made += [
                    "".join(chosen.choices("abc 书é\U0001f600", k=chosen.randint(0, 3_000)))
                    for _ in range(run)
                ]
            case 2:
                made += [chosen.choice([None, "x"]) for _ in range(run)]
            case _:
                made += [""]
    return made[:count]


@contextmanager
def _columns(path: Path) -> Iterator[list[tuple[list[str | None], TextColumn]]]:
    """Each row group's texts as Arrow has them, and the column."""
    with parquet.ParquetFile(path) as file, path.open("rb") as stream:
        yield [
            (
                file.read_row_group(group, ["text"]).column(0).to_pylist(),
                TextColumn(file, group, "text", stream),
            )
            for group in range(file.num_row_groups)
        ]


def _whole(column: TextColumn, row: int) -> str | None:
    """A text, read by its beginning first."""
    text = column.text(row, 500)
    if text is None or text.more is None:
        return text and text.beginning
    whole = text.more(1 << 20)
    assert whole.startswith(text.beginning) and 497 <= len(text.beginning.encode()) <= 500
    return whole


@pytest.mark.parametrize("seed", range(12))
def test_as_our_writer_makes_them(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    texts = _texts(seed, chosen.choice([1, 7, 8, 9, 300, 1_500]))
    table = pyarrow.table({"serial": list(range(len(texts))), "text": pyarrow.array(texts, pyarrow.string())})
    with parquet_writer(tmp_path / "t.parquet", table.schema) as out:
        out.write_table(table, row_group_size=chosen.choice([50, 10_000]))
    with _columns(tmp_path / "t.parquet") as columns:
        for expected, column in columns:
            column._file = None  # nothing is left to Arrow
            assert [_whole(column, row) for row in range(len(expected))] == expected


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "gzip"}, {"compression": "none"}, {"data_page_version": "2.0", "use_dictionary": False},
     {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}}],
)  # fmt: skip
def test_as_others_make_them(tmp_path: Path, options: dict[str, object]) -> None:
    texts = _texts(5, 400)
    table = pyarrow.table({"text": pyarrow.array(texts, pyarrow.string())})
    parquet.write_table(table, tmp_path / "t.parquet", **options)
    with _columns(tmp_path / "t.parquet") as columns:
        for expected, column in columns:
            assert [_whole(column, row) for row in (0, 7, 399, 200)] == [
                expected[row] for row in (0, 7, 399, 200)
            ]


def test_damage_is_an_error_of_arrow_or_another_text(tmp_path: Path) -> None:
    table = pyarrow.table(
        {"text": pyarrow.array([f"{number} " * 50 for number in range(400)], pyarrow.string())}
    )
    path = tmp_path / "t.parquet"
    with parquet_writer(path, table.schema) as out:
        out.write_table(table)
    whole = path.read_bytes()
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for place in range(4, end, max(end // 200, 1)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        with parquet.ParquetFile(path) as file, path.open("rb") as stream:
            column = TextColumn(file, 0, "text", stream)
            with suppress(OSError, pyarrow.ArrowException, UnicodeDecodeError):
                assert isinstance(_whole(column, 3), str | None)


def test_what_is_damaged_behind_the_beginning_is_told_when_it_is_asked_for(tmp_path: Path) -> None:
    text = "".join(random.Random(1).choices("abcdefgh ", k=600_000))
    path = tmp_path / "t.parquet"
    with parquet_writer(path, pyarrow.schema([("text", pyarrow.string())])) as out:
        out.write_table(pyarrow.table({"text": [text]}))
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 : len(whole) * 3 // 4] = bytes(len(whole) * 3 // 4 - len(whole) // 2)
    path.write_bytes(whole)
    with parquet.ParquetFile(path) as file, path.open("rb") as stream:
        found = TextColumn(file, 0, "text", stream).text(0, 500)
        assert found is not None and found.beginning == text[:500] and found.more is not None
        assert found.more(100_000)[:100_000] == text[:100_000]
        with pytest.raises((OSError, pyarrow.ArrowException)):
            found.more(600_000)
