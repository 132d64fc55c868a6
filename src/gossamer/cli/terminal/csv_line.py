"""Writes a line of CSV (RFC 4180) of what came from the network, for spreadsheets and terminals."""

import csv
import io
from collections.abc import Sequence

from gossamer.datasets.export.csv_cells import csv_cell


def csv_line(values: Sequence[object]) -> str:
    """A line without its end; its cells run in no spreadsheet and steer no terminal (`csv_cell`)."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(map(csv_cell, values))
    return out.getvalue()
