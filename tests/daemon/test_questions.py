"""A question in SQL has the seconds it was given, whatever else the machine does."""

import contextlib
import time
from collections.abc import Iterator

import pytest

from gossamer.daemon.reading import worker
from gossamer.daemon.reading.orders import SqlOrder
from gossamer.datasets.sql import Rows


def test_the_time_that_the_answering_process_takes_to_begin_is_not_the_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends: list[float] = []

    @contextlib.contextmanager
    def slow_to_begin(*_: object, **__: object) -> Iterator[Rows]:
        time.sleep(0.05)
        assert time.monotonic() < ends[-1], "the kernel would have ended the worker"
        yield Rows(["n"], ["INTEGER"], iter([(1,)]))

    monkeypatch.setattr(worker, "limit_time", lambda seconds: ends.append(time.monotonic() + seconds))
    monkeypatch.setattr(worker, "asked", slow_to_begin)
    monkeypatch.setattr(worker, "GRACE", 0.0)
    order = SqlOrder("", seconds=0.01, memory=0, question="", rows=9, for_tables=0.0, sql_memory="")
    assert worker._answer_from({}, order).rows == [[1]]
