"""Lines of CSV (RFC 4180), and cells in them that no spreadsheet runs and that steer no terminal."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for a formula at the beginning of a cell."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters but tab and the ends of lines, which CSV quotes."""


def csv_cell(value: object) -> object:
    """A value for Python's `csv`; a text that a spreadsheet would run as a formula gets an apostrophe before it,
    a control character is written `\\x1b`.

    Source: OWASP, CSV Injection.
    """
    if not isinstance(value, str):
        return "" if value is None else value
    text = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def csv_lines(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A line for each row, without its end; of cells as `csv_cell` makes them."""
    out = io.StringIO()
    # Older versions of Python quote those ends of lines only that they write themselves.
    write = csv.writer(out, lineterminator="\r\n").writerow
    for row in rows:
        out.seek(0)
        out.truncate()
        write(map(csv_cell, row))
        yield out.getvalue().removesuffix("\r\n")


def csv_line(row: Sequence[object]) -> str:
    """One such line, without its end."""
    return next(csv_lines((row,)))
