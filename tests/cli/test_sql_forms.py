"""Rows of an answer in SQL, as people and programs are given them."""

from datetime import UTC, datetime

import pytest

from gossamer.cli.sql import _tell
from gossamer.datasets.sql import Rows

ADDRESS = "https://example.org/" + "a-long-way-to-the-page/" * 12
MOMENT = datetime(2026, 11, 27, 7, 47, 59, 538_000, tzinfo=UTC)


def _rows(*rows: tuple[object, ...]) -> Rows:
    return Rows(("url", "time", "text"), ("VARCHAR", "TIMESTAMP WITH TIME ZONE", "VARCHAR"), iter(rows))


def test_in_csv_times_have_the_parts_of_their_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    _tell(_rows((ADDRESS, MOMENT, None), (ADDRESS, MOMENT.replace(microsecond=0, tzinfo=None), "x")), "csv")
    times = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()]
    assert times == ["time", "2026-11-27T07:47:59.538000Z", "2026-11-27T07:47:59"]


def test_where_no_terminal_is_an_address_stands_whole_beside_a_long_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _tell(_rows((ADDRESS, MOMENT, "words " * 5_000)), "table")
    lines = capsys.readouterr().out.splitlines()
    assert sum(ADDRESS in line for line in lines) == 1, "grep finds it"
    assert max(map(len, lines)) <= 2_000
