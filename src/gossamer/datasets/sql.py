"""Answers questions in SQL over a crawl's tables, and does nothing else. Needs the extra 'sql'.

DuckDB gets the tables as Arrow data sets, so that it can be forbidden to touch any file or address itself.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from gossamer.datasets.parquet import needed
from gossamer.model.errors import ConfigError

MEMORY = "1GB"
SECONDS = 60.0
_FETCHED = 1_000


class SqlError(ConfigError):
    """A question that has no answer: what is wrong with it, and where."""


class Rows(msgspec.Struct, frozen=True):
    """Rows of an answer, to be read once.

    Attributes:
        columns: their names.
        types: as DuckDB names them.
        rows: values as Python has them.
    """

    columns: Sequence[str]
    types: Sequence[str]
    rows: Iterator[Sequence[object]]


@contextmanager
def asked(
    tables: Mapping[str, Sequence[Path]],
    question: str,
    *,
    seconds: float = SECONDS,
    memory: str = MEMORY,
    threads: int = 2,
) -> Iterator[Rows]:
    """The answer to one question.

    It can read `tables` only, writes nothing, and ends after `seconds`, the reading of its rows included.

    Args:
        tables: Parquet files by the table's name.
        question: one statement of DuckDB's SQL.
        seconds: it may take.
        memory: it may take, as DuckDB writes it.
        threads: it may take; with one, rows come in the same order again.

    Raises:
        ConfigError: the extra is not installed.
        SqlError: there is no answer.
    """
    arrow = needed()
    try:
        import duckdb
    except ImportError:
        raise ConfigError("questions in SQL need the extra 'sql': pip install 'gossamer[sql]'") from None
    from pyarrow import dataset

    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": memory,
            "threads": threads,
            "temp_directory": "",
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        connection.interrupt()

    clock = threading.Timer(seconds, end)
    clock.daemon = True
    try:
        for name, files in tables.items():
            try:
                connection.register(name, dataset.dataset([str(file) for file in files], format="parquet"))
            except (OSError, arrow.ArrowException) as error:
                folder = files[0].parent
                raise ConfigError(f"{folder}: is damaged ({error}); delete it, it is made again") from None
        for setting in ("enable_external_access = false", "lock_configuration = true"):
            connection.execute(f"SET {setting}")
        clock.start()
        try:
            statements = connection.extract_statements(question)
            if len(statements) != 1:
                raise SqlError(f"one question at a time, not {len(statements)}")
            asked_ = connection.execute(statements[0])
            described = asked_.description or []
            yield Rows([one[0] for one in described], [str(one[1]) for one in described], _rows(asked_))
        except duckdb.Error as error:
            raise SqlError(_words(error, seconds if late.is_set() else 0.0)) from None
    finally:
        clock.cancel()
        connection.close()


def _rows(connection: Any) -> Iterator[Sequence[object]]:
    while rows := connection.fetchmany(_FETCHED):
        yield from rows


def _words(error: Exception, late: float) -> str:
    """What is wrong, with the line and the place as the parser tells them."""
    if late:
        return f"no answer within {late:g} s; ask for less, or give it more time (--time)"
    return str(error).strip()
