"""Puts rows into a database: SQLite by Python's own library, PostgreSQL by pg8000 (extra 'export').

A table of the export's name is made if there is none. Rows that are there are replaced by key, and how many
rows of which export are in is kept in `gossamer_exports`, in the same transaction as the rows; so a killed
export goes on behind the last batch and no row is there twice.
"""

import io
import json
import socket
import sqlite3
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from gossamer.datasets.export.forms import without_nul
from gossamer.datasets.export.keys import ID, KEYS, keyed
from gossamer.datasets.export.rows import Source
from gossamer.datasets.tables import Column, Kind
from gossamer.model.errors import ConfigError, StorageError

PROGRESS = "gossamer_exports"
_ROWS, _BYTES = 1_000, 4 << 20
"""Of one transaction, at most, or one row."""


class Loaded(msgspec.Struct):
    """What an export to a database did.

    Attributes:
        to: the address, without its password.
        table: or index, that has the rows now.
        rows: of the export.
        written: of them now; the others were there.
        problems: rows that were refused, the first of them.
    """

    to: str
    table: str
    rows: int = 0
    written: int = 0
    problems: list[str] = []


Batch = list[tuple[str, dict[str, Any]]]


class Database(Protocol):
    """A database that is open."""

    address: str

    def prepare(self, table: str, columns: Sequence[Column]) -> bool:
        """Make the table if there is none; whether there was one."""

    def progress(self, table: str) -> tuple[str, int]:
        """(what the export was of, its rows that are in) of the last one; empty if there was none."""

    def put(self, table: str, columns: Sequence[Column], batch: Batch, progress: tuple[str, int]) -> None:
        """Insert or replace rows, and keep the progress, together."""

    def close(self) -> None:
        """Let go of the database."""


def batches_of(
    rows: Iterator[tuple[str, dict[str, Any]]], most_rows: int = _ROWS, most_bytes: int = _BYTES
) -> Iterator[Batch]:
    """Rows together, up to a number and roughly a size."""
    held: Batch = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(len(value) for value in row[1].values() if isinstance(value, str))
        if len(held) >= most_rows or size >= most_bytes:
            yield held
            held, size = [], 0
    if held:
        yield held


def required_keys(source: Source) -> None:
    """Refuse columns without those that tell the rows apart.

    Raises:
        ConfigError: some are missing.
    """
    names = {column.name for column in source.table.columns}
    if missing := [name for name in KEYS[source.what] if name not in names]:
        raise ConfigError(f"--columns: {source.what} need {', '.join(missing)}, too, to tell the rows apart")


def load(source: Source, database: Database) -> Loaded:
    """Bring all rows of a source into a database.

    Raises:
        ConfigError: columns are missing, or the table there has others.
        StorageError: the database refuses; what was put stays.
    """
    required_keys(source)
    table, columns = source.what, source.table.columns
    names = [column.name for column in columns]
    of = json.dumps([source.made_of, names, source.where])
    known = database.prepare(table, columns)
    last, done = database.progress(table) if known else ("", 0)
    done = done if last == of else 0
    loaded = Loaded(database.address, table, rows=done, problems=[])
    for batch in batches_of(keyed(source, done)):
        loaded.rows += len(batch)
        loaded.written += len(batch)
        # A key that comes twice in one batch (of agents that fetched the same) is one row.
        database.put(table, columns, list(dict(batch).items()), (of, loaded.rows))
    return loaded


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_SQLITE: dict[Kind, str] = {
    "text": "text", "whole": "integer", "number": "real", "yes": "boolean", "time": "text",
}  # fmt: skip


class Sqlite:
    """A file of SQLite; times are text, ISO 8601, UTC."""

    def __init__(self, address: str) -> None:
        """Args:
        address: `sqlite:///file.db`, or `sqlite:////folder/file.db` from the root on.

        Raises:
            ConfigError: it names no file.
            StorageError: it cannot be opened.
        """
        self.address = address
        path = unquote(address.removeprefix("sqlite://").removeprefix("/"))
        if not path or not address.startswith("sqlite:///"):
            raise ConfigError(f"--to {address}: write sqlite:///file.db, or sqlite:////folder/file.db")
        with self._naming():
            self._base = sqlite3.connect(Path(path), isolation_level=None, timeout=30.0)

    def _naming(self) -> "_Naming":
        return _Naming(self.address, sqlite3.Error)

    def prepare(self, table: str, columns: Sequence[Column]) -> bool:
        """Make the table if there is none; whether there was one."""
        with self._naming():
            self._base.execute(
                f"create table if not exists {PROGRESS} (name text primary key, made_of text, done integer)"
            )
            found = [row[1] for row in self._base.execute(f"pragma table_info({_quoted(table)})")]
            if not found:
                parts = [f"{ID} text primary key"]
                parts += [f"{_quoted(column.name)} {_SQLITE[column.kind]}" for column in columns]
                self._base.execute(f"create table {_quoted(table)} ({', '.join(parts)})")
        _same_columns(self.address, table, found, columns)
        return bool(found)

    def progress(self, table: str) -> tuple[str, int]:
        """(what the export was of, its rows that are in) of the last one; empty if there was none."""
        with self._naming():
            found = self._base.execute(
                f"select made_of, done from {PROGRESS} where name = ?",  # noqa: S608 - a name of ours
                (table,),
            ).fetchone()
        return found or ("", 0)

    def put(self, table: str, columns: Sequence[Column], batch: Batch, progress: tuple[str, int]) -> None:
        """Insert or replace rows, and keep the progress, together."""
        names = [ID, *(column.name for column in columns)]
        marks = ", ".join("?" * len(names))
        listed = ", ".join(map(_quoted, names))
        rows = [[key, *(_storable(row[name]) for name in names[1:])] for key, row in batch]
        with self._naming():
            self._base.execute("begin immediate")
            try:
                self._base.executemany(
                    f"insert or replace into {_quoted(table)} ({listed}) values ({marks})",  # noqa: S608 - as above
                    rows,
                )
                self._base.execute(
                    f"insert or replace into {PROGRESS} values (?, ?, ?)",  # noqa: S608 - as above
                    (table, *progress),
                )
                self._base.execute("commit")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._base.execute("rollback")
                raise

    def ask(self, question: str) -> list[tuple[Any, ...]]:
        """Rows that answer a question in SQL.

        Raises:
            StorageError: there is no answer.
        """
        with self._naming():
            return [tuple(row) for row in self._base.execute(question)]

    def close(self) -> None:
        """Let go of the database."""
        self._base.close()


class _Naming:
    """Names the database in what its library raises."""

    def __init__(
        self, address: str, *errors: type[Exception], said: Callable[[Exception], str] = str
    ) -> None:
        self._address = address
        self._errors = errors
        self._said = said

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, self._errors):
            raise StorageError(
                f"{self._address}: {self._said(error)}. What was put before stays; the same command goes on."
            ) from error


def _same_columns(address: str, table: str, found: Sequence[str], columns: Sequence[Column]) -> None:
    wanted = [ID, *(column.name for column in columns)]
    if found and sorted(found) != sorted(wanted):
        raise ConfigError(
            f"{address}: the table {table} has other columns ({', '.join(found)}). Drop or rename it, or choose the"
            " same with --columns."
        )


def _storable(value: object) -> object:
    return without_nul(value) if isinstance(value, str) else value


_POSTGRESQL: dict[Kind, str] = {
    "text": "text", "whole": "bigint", "number": "double precision", "yes": "boolean", "time": "timestamptz",
}  # fmt: skip


class PostgreSql:
    """A PostgreSQL server; rows come by COPY into a temporary table and from there, by key, into the table."""

    def __init__(self, address: str) -> None:
        """Args:
        address: `postgresql://user:password@host:port/database`; `?host=/run/postgresql` for a Unix socket,
            `?sslmode=` as libpq has it: `disable`, `prefer`, `require` or `verify-full`.

        Raises:
            ConfigError: the extra is not installed, or it is no such address.
            StorageError: the server cannot be reached, or refuses.
        """
        try:
            import pg8000.native
        except ImportError:
            raise ConfigError("PostgreSQL needs pg8000: pip install 'gossamer[export]'") from None
        parts = urlsplit(address)
        asked = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.address = f"postgresql://{parts.hostname or asked.get('host', 'localhost')}{parts.path}"
        mode = asked.pop("sslmode", "prefer")
        folder = asked.pop("host", "")
        if asked or mode not in _MODES:
            raise ConfigError(
                f"--to {self.address}: after '?' only host=/folder and sslmode={', '.join(_MODES)}"
            )
        port = parts.port or 5432
        self._naming = _Naming(
            self.address, pg8000.native.Error, pg8000.native.InterfaceError, OSError, said=_told
        )
        with self._naming, ExitStack() as stack:
            # Of our own, because pg8000 leaves its open when the server refuses.
            if folder:
                link = stack.enter_context(socket.socket(socket.AF_UNIX))
                link.connect(f"{folder}/.s.PGSQL.{port}")
            else:
                link = stack.enter_context(
                    socket.create_connection((parts.hostname or "localhost", port), 30)
                )
                link.settimeout(None)
            self._run = pg8000.native.Connection(
                unquote(parts.username or "postgres"),
                host=parts.hostname or "localhost",
                database=unquote(parts.path.removeprefix("/")) or None,
                password=unquote(parts.password) if parts.password else None,
                sock=link,
                ssl_context=_tls(mode),
                application_name="gossamer",
            )
            stack.pop_all()

    def prepare(self, table: str, columns: Sequence[Column]) -> bool:
        """Make the table if there is none; whether there was one."""
        run = self._run.run
        with self._naming:
            run(f"create table if not exists {PROGRESS} (name text primary key, made_of text, done bigint)")
            rows = run(
                "select attname from pg_attribute where attrelid = to_regclass(:name) and attnum > 0"
                " and not attisdropped",
                name=_quoted(table),
            )
            found = [row[0] for row in rows]
            parts = [f"{ID} text primary key"]
            parts += [f"{_quoted(column.name)} {_POSTGRESQL[column.kind]}" for column in columns]
            if not found:
                run(f"create table {_quoted(table)} ({', '.join(parts)})")
            run("drop table if exists pg_temp.gossamer_batch")
            run(f"create temporary table gossamer_batch ({', '.join(parts)}) on commit delete rows")
        _same_columns(self.address, table, found, columns)
        return bool(found)

    def progress(self, table: str) -> tuple[str, int]:
        """(what the export was of, its rows that are in) of the last one; empty if there was none."""
        with self._naming:
            rows = self._run.run(
                f"select made_of, done from {PROGRESS} where name = :name",  # noqa: S608 - a name of ours
                name=table,
            )
        return (rows[0][0], rows[0][1]) if rows else ("", 0)

    def put(self, table: str, columns: Sequence[Column], batch: Batch, progress: tuple[str, int]) -> None:
        """Insert or replace rows, and keep the progress, together."""
        names = [column.name for column in columns]
        listed = ", ".join([ID, *map(_quoted, names)])
        replaced = ", ".join(f"{_quoted(name)} = excluded.{_quoted(name)}" for name in names)
        lines = "".join(
            "\t".join([key, *(_copied(row[name]) for name in names)]) + "\n" for key, row in batch
        )
        run = self._run.run
        with self._naming:
            run("begin")
            try:
                run(f"copy gossamer_batch ({listed}) from stdin", stream=io.BytesIO(lines.encode()))
                run(
                    f"insert into {_quoted(table)} ({listed}) select {listed} from gossamer_batch"  # noqa: S608 - as above
                    f" on conflict ({ID}) do update set {replaced}"
                )
                run(
                    f"insert into {PROGRESS} values (:name, :of, :done)"  # noqa: S608 - as above
                    " on conflict (name) do update set made_of = excluded.made_of, done = excluded.done",
                    name=table,
                    of=progress[0],
                    done=progress[1],
                )
                run("commit")
            except BaseException:
                with suppress(Exception):
                    run("rollback")
                raise

    def ask(self, question: str) -> list[tuple[Any, ...]]:
        """Rows that answer a question in SQL.

        Raises:
            StorageError: there is no answer.
        """
        with self._naming:
            return [tuple(row) for row in self._run.run(question) or ()]

    def close(self) -> None:
        """Let go of the database."""
        with suppress(Exception):
            self._run.close()


_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\N{REPLACEMENT CHARACTER}"}
)


def _copied(value: object) -> str:
    """A value in COPY's text format (PostgreSQL's documentation, COPY, File Formats)."""
    if value is None:
        return "\\N"
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)


_MODES = ("disable", "prefer", "require", "verify-full")


def _tls(mode: str) -> ssl.SSLContext | bool | None:
    """As pg8000 takes it: false for none, `None` for TLS if the server has it."""
    if mode in ("disable", "prefer"):
        return False if mode == "disable" else None
    context = ssl.create_default_context()
    if mode == "require":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _told(error: Exception) -> str:
    """The server's words; pg8000 gives them as a table of fields."""
    first = error.args[0] if error.args else ""
    return str(first.get("M", first)) if isinstance(first, dict) else str(error)
