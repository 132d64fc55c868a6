"""The findings as CSV (RFC 4180), a line for each page concerned."""

from collections.abc import Iterator

from gossamer.audit.result import AuditResult
from gossamer.audit.store import Holder
from gossamer.datasets.export.csv_cells import csv_line

__all__ = ["COLUMNS", "as_csv"]

COLUMNS = ("level", "rule", "url", "code", "status", "target", "page", "text", "known")


def as_csv(result: AuditResult) -> Iterator[str]:
    """Lines with their ends; cells run in no spreadsheet."""
    yield f"{csv_line(COLUMNS)}\r\n"
    for finding in result.findings():
        detail = finding.detail
        told = [
            finding.level,
            finding.rule,
            finding.url,
            *(detail.get(name, "") for name in ("code", "status", "target")),
        ]
        for page in finding.pages or [Holder("", "")]:
            line = csv_line([*told, page.url, page.text, "yes" if finding.known else ""])
            yield f"{line}\r\n"
