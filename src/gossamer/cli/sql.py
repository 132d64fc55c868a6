"""Answers a question in SQL about a crawl."""

import contextlib
import sys
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec
from rich.table import Table as Grid
from rich.text import Text

from gossamer.assembly.private import keep_private
from gossamer.cli.behind import say_behind
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show
from gossamer.cli.terminal.tables import Printer
from gossamer.config.units import parse_duration
from gossamer.datasets.all_tables import being_read
from gossamer.datasets.export.csv_cells import csv_line
from gossamer.datasets.sql import Rows, asked, tables_in
from gossamer.datasets.tables import DERIVED, INDEXED, OF_THE_CRAWL, TABLES
from gossamer.model.errors import ConfigError
from gossamer.search.similar.table import tables_of

Form = Literal["table", "jsonl", "csv"]
MOST_SHOWN = 1_000
"""Rows of a table for people, whose columns are as wide as their widest value."""
_WIDTH = 2_000
"""Characters of a line that goes to no terminal: addresses stand there whole, for grep; a text is broken."""


def run_sql(path: Path, question: str, form: Form, time: str) -> None:
    """Print the rows that answer a question.

    Raises:
        ConfigError: no crawl lives in `path`, the extra is not installed, or the question has no answer.
    """
    try:
        seconds = parse_duration(time)
    except ValueError as error:
        raise ConfigError(f"--time: {error}") from None
    keep_private()
    with contextlib.ExitStack() as held:
        with looked_into(path) as inspection:
            held.enter_context(being_read(inspection))
            if tables_in(question) & {table.name for table in (*DERIVED, *INDEXED)}:
                say_behind(inspection, path, "these tables")
            files = tables_of(inspection)
        _tell(held.enter_context(asked(files, question, seconds=seconds)), form)


def _tell(answer: Rows, form: Form) -> None:
    match form:
        case "table":
            _table(answer)
        case "jsonl":
            for row in answer.rows:
                show(msgspec.json.encode(dict(zip(answer.columns, row, strict=True)), enc_hook=str).decode())
        case "csv":
            show(csv_line(answer.columns))
            for row in answer.rows:
                show(csv_line([v if isinstance(v, int | float | Decimal) else _exact(v) for v in row]))


def show_tables() -> None:
    """Print which tables there are, and what their columns mean."""
    for table in TABLES:
        made = "" if table in OF_THE_CRAWL else " (after 'gossamer index')"
        show(f"{table.name}: {table.row}{made}")
        width = max(14, *(len(column.name) for column in table.columns))
        for column in table.columns:
            show(f"  {column.name:<{width}} {column.meaning}")


def _table(answer: Rows) -> None:
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for name, kind in zip(answer.columns, answer.types, strict=True):
        numeric = any(word in kind for word in ("INT", "DOUBLE", "DECIMAL", "NUMBER"))
        grid.add_column(safe(name), justify="right" if numeric else "left", overflow="fold")
    count = 0
    for row in answer.rows:
        count += 1
        if count > MOST_SHOWN:
            say(f"only the first {MOST_SHOWN:,} rows are shown; --format csv or jsonl gives all")
            break
        grid.add_row(*[Text(safe(_cell(value))) for value in row])
    Printer(highlight=False, width=None if sys.stdout.isatty() else _WIDTH).print(grid)
    say(plural(min(count, MOST_SHOWN), "row"))


def _exact(value: object) -> str:
    """A value for programs: a time with the parts of its second."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat() + ("Z" if value.tzinfo else "")
    return _cell(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S") + ("Z" if value.tzinfo else "")
    return str(value)
