"""Answers questions in SQL over a crawl's tables, and does nothing else. Needs the extra 'sql'.

DuckDB runs in a process of its own (answering.py) and gets the tables as Arrow data sets, so that it can be
forbidden to touch any file or address itself, and the kernel ends what exceeds its time or memory.
"""

import io
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import msgspec

from gossamer.datasets import answering
from gossamer.datasets.answering import Asked
from gossamer.datasets.parquet import needed
from gossamer.model.errors import ConfigError

MEMORY = "1GB"
SECONDS = 60.0
SPACE = 4 << 30
"""Bytes of address space of the process; Python, Arrow and DuckDB take 2.2 GiB of it before any question."""
_PLAIN = {
    ("datetime", "date"), ("datetime", "datetime"), ("datetime", "time"), ("datetime", "timedelta"),
    ("datetime", "timezone"), ("decimal", "Decimal"), ("uuid", "UUID"), ("uuid", "SafeUUID"),
}  # fmt: skip
"""What values are made of besides Python's own types; nothing else is believed."""


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


def tables_in(question: str) -> frozenset[str]:
    """Names of the tables that a question is about, in lower case; none if it cannot be parsed."""
    if find_spec("duckdb") is None:
        return frozenset()
    import duckdb

    try:
        with duckdb.connect() as connection:
            return frozenset(name.lower() for name in connection.get_table_names(question))
    except duckdb.Error:
        return frozenset()


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
        memory: DuckDB keeps to, as it writes it; the kernel holds the process to `SPACE`.
        threads: it may take; with one, rows come in the same order again.

    Raises:
        ConfigError: the extra is not installed.
        SqlError: there is no answer.
    """
    needed()
    if find_spec("duckdb") is None:
        raise ConfigError("questions in SQL need the extra 'sql': pip install 'gossamer[sql]'")
    files = {name: [str(file) for file in paths] for name, paths in tables.items()}
    order = msgspec.json.encode(
        Asked(files, question.encode(errors="replace").decode(), seconds, memory, SPACE, threads)
    )
    command = [sys.executable, "-m", "gossamer.datasets.answering"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:  # noqa: S603 (our own)
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.write(order)
                process.stdin.close()
            frames = _frames(process, process.stdout, seconds)
            columns, types = next(frames)
            yield Rows(columns, types, (row for rows in frames for row in rows))
        finally:
            process.kill()


def _frames(process: subprocess.Popen[bytes], said: IO[bytes], seconds: float) -> Iterator[Any]:
    """The columns and their types, then rows some at a time."""
    while True:
        head = said.read(answering.HEAD.size)
        kind, length = answering.HEAD.unpack(head) if len(head) == answering.HEAD.size else (b"", 0)
        body = said.read(length)
        if kind == answering.END:
            return
        late = kind == answering.LATE
        if not kind or len(body) < length:
            code = process.wait()
            late = code == -signal.SIGALRM
            if not late and code not in (-signal.SIGABRT, -signal.SIGKILL):
                raise SqlError(f"the process that answers has ended ({code})")
        if late:
            raise SqlError(f"no answer within {seconds:g} s; ask for less, or give more --time")
        if kind == answering.DAMAGED:
            raise ConfigError(body.decode())
        if kind == answering.REFUSED:
            raise SqlError(body.decode())
        if kind not in (answering.COLUMNS, answering.ROWS):
            raise SqlError("it wants more memory than a question may have; ask for less")
        yield _Plain(io.BytesIO(body)).load()


class _Plain(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise SqlError(f"a value of {module}.{name} cannot be shown; cast it to text")
