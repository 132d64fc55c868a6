"""Answers one question in SQL in a process of its own: `python -m gossamer.datasets.answering`.

DuckDB's own limits of time and memory do not reach into a single function call (`repeat`, `lpad`, `range`), so
the kernel holds this process to both. It is told an `Asked` on its standard input and says frames on its
standard output: columns, rows some at a time, and how it ended.
"""

import io
import pickle
import resource
import signal
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from gossamer.model.command_line import command_line

HEAD = struct.Struct(">cQ")
"""Before each frame: its kind and its length."""
COLUMNS, ROWS, REFUSED, DAMAGED, LATE, MEMORY, END = b"C", b"R", b"Q", b"D", b"L", b"M", b"E"
GRACE = 0.5
"""Seconds after which the kernel ends a question that did not heed DuckDB's interruption."""
_FETCHED = 1_000
_PIECE = 8 << 20
"""Bytes of a frame of several rows."""
_READING = frozenset(("SELECT", "EXPLAIN"))
"""Types of statements as DuckDB names them; FROM, VALUES, DESCRIBE, SHOW and SUMMARIZE are SELECT to it."""


class Asked(msgspec.Struct, frozen=True):
    """A question, and what it may cost.

    Attributes:
        tables: Parquet files by the table's name.
        question: one statement of DuckDB's SQL.
        seconds: until it is ended.
        memory: what DuckDB keeps to by itself, as it writes it.
        space: bytes of address space.
        threads: it may take.
    """

    tables: dict[str, list[str]]
    question: str
    seconds: float
    memory: str
    space: int
    threads: int


class _RefusedError(Exception):
    pass


class _WithoutPandas(MetaPathFinder):
    """Arrow loads pandas where it is installed, which takes as long as all else here; nobody asks for it."""

    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("not in this process", name=fullname)


def main(asked: Asked, out: BinaryIO) -> None:
    """Say the answer on `out`."""
    late = threading.Event()
    try:
        for kind, body in _answer(asked, late):
            _say(out, kind, body)
        _say(out, END, b"")
    except _RefusedError as error:
        _say(out, REFUSED, str(error).encode(errors="replace"))
    except MemoryError:
        _say(out, MEMORY, b"")


def _say(out: BinaryIO, kind: bytes, body: bytes) -> None:
    out.write(HEAD.pack(kind, len(body)))
    out.write(body)
    out.flush()


def _answer(asked: Asked, late: threading.Event) -> Iterator[tuple[bytes, bytes]]:
    sys.meta_path.insert(0, _WithoutPandas())
    import duckdb
    import pyarrow
    from pyarrow import dataset

    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": asked.memory,
            "threads": asked.threads,
            "temp_directory": "",
            "python_enable_replacements": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        },
    )

    def end() -> None:
        late.set()
        connection.interrupt()

    for name, files in asked.tables.items():
        try:
            connection.register(name, dataset.dataset(files, format="parquet"))
        except (OSError, pyarrow.ArrowException) as error:
            folder = Path(files[0]).parent
            words = f"{folder}: is damaged ({error}). Delete it, then: {command_line('index', folder.parent)}"
            yield DAMAGED, words.encode(errors="replace")
            return
    for setting in ("enable_external_access = false", "lock_configuration = true"):
        connection.execute(f"SET {setting}")
    clock = threading.Timer(asked.seconds, end)
    clock.daemon = True
    clock.start()
    signal.setitimer(signal.ITIMER_REAL, asked.seconds + GRACE)
    try:
        statements = connection.extract_statements(asked.question)
        if not statements:
            raise _RefusedError("the question is empty")
        if len(statements) != 1:
            raise _RefusedError(f"one question at a time, not {len(statements)}")
        if statements[0].type.name not in _READING:
            raise _RefusedError("only questions (select ...); nothing can be changed here")
        answer = connection.execute(statements[0])
        described = answer.description or []
        names = _unique([one[0] for one in described])
        yield COLUMNS, _pickled((names, [str(one[1]) for one in described]))
        while rows := answer.fetchmany(_FETCHED):
            for piece in _pieces(rows):
                yield ROWS, piece
    except duckdb.OutOfMemoryException:
        yield MEMORY, b""
    except duckdb.Error as error:
        if late.is_set():
            yield LATE, b""
        else:
            raise _RefusedError(str(error).strip()) from None
    finally:
        clock.cancel()


def _unique(names: Sequence[str]) -> list[str]:
    """The names, later ones of equal names numbered as DuckDB does it: `url`, `url_1`."""
    taken, unique = set(names), []
    for name in names:
        number, new = 0, name
        while new in unique or (number and new in taken):
            number += 1
            new = f"{name}_{number}"
        unique.append(new)
    return unique


class _Pickler(pickle.Pickler):
    """Writes times of any zone as UTC."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, datetime) and value.tzinfo not in (None, UTC):
            return value.astimezone(UTC).__reduce_ex__(4)
        return NotImplemented


def _pickled(value: object) -> bytes:
    out = io.BytesIO()
    _Pickler(out, 4).dump(value)
    return out.getvalue()


def _pieces(rows: list[Any]) -> Iterator[bytes]:
    """The rows in frames that are not long unless one row is."""
    piece = _pickled(rows)
    if len(piece) <= _PIECE or len(rows) == 1:
        yield piece
        return
    del piece
    half = len(rows) // 2
    yield from _pieces(rows[:half])
    yield from _pieces(rows[half:])


def _confine(space: int) -> None:
    for one in (signal.SIGINT, signal.SIGALRM, signal.SIGPIPE):
        signal.signal(one, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError, ValueError):  # macOS knows no such limit
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        space = space if most == resource.RLIM_INFINITY else min(space, most)
        resource.setrlimit(resource.RLIMIT_AS, (space, space))


if __name__ == "__main__":
    told = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
    _confine(told.space)
    main(told, sys.stdout.buffer)
