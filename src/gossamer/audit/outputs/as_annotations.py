"""The findings as workflow commands of GitHub Actions, which shows them beside a run.

GitHub shows ten of each level for a step and fifty for a run, so the gravest come first and what is known is left out.
"""

from collections.abc import Iterator

from gossamer.audit.outputs.message import message
from gossamer.audit.result import AuditResult, Finding
from gossamer.words.catalogue import Words

__all__ = ["as_annotations"]

MOST = 50
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def as_annotations(result: AuditResult, t: Words) -> Iterator[str]:
    """A line for each of the first findings, without line end."""
    told = 0
    for finding in result.findings():
        if finding.known:
            continue
        if told >= MOST:
            return
        told += 1
        yield _line(finding, t)


def _line(finding: Finding, t: Words) -> str:
    where = f" [{finding.pages[0].url}]" if finding.pages else ""
    said = _data(f"{message(finding, t)}{where}")
    return f"::{_COMMANDS[finding.level]} title={_property(finding.rule)}::{said}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
