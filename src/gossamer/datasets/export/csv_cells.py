"""Cells of CSV that no spreadsheet runs."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for a formula at the beginning of a cell."""


def csv_cell(value: object) -> object:
    """A value for Python's `csv`; a text that a spreadsheet would run as a formula gets an apostrophe before it.

    Source: OWASP, CSV Injection.
    """
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
