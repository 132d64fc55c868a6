"""Writes CSV (RFC 4180) of what came from the network, for spreadsheets and terminals."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for a formula at the beginning of a cell."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters but tab and the ends of lines, which CSV quotes."""


def csv_line(values: Sequence[object]) -> str:
    """A line without its end; a formula gets an apostrophe before it, a control character is written `\\x1b`."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow([_cell(value) for value in values])
    return out.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    text = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", value)
    return f"'{text}" if text.startswith(_FORMULA) else text
