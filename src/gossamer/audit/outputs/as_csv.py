"""The findings as CSV (RFC 4180), a line for each page concerned."""

import csv
import io
from collections.abc import Iterator, Sequence

from gossamer.audit.result import AuditResult
from gossamer.audit.store import Holder
from gossamer.datasets.export.csv_cells import csv_cell

__all__ = ["COLUMNS", "as_csv"]

COLUMNS = ("level", "rule", "url", "code", "status", "target", "page", "text", "known")


def as_csv(result: AuditResult) -> Iterator[str]:
    """Lines with their ends; cells run in no spreadsheet."""
    yield _line(COLUMNS)
    for finding in result.findings():
        detail = finding.detail
        told = [
            finding.level,
            finding.rule,
            finding.url,
            *(detail.get(name, "") for name in ("code", "status", "target")),
        ]
        for page in finding.pages or [Holder("", "")]:
            yield _line([*told, page.url, page.text, "yes" if finding.known else ""])


def _line(values: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(map(csv_cell, values))
    return out.getvalue()
