"""The result as JUnit XML: links and rules as test cases, for CI servers that show such.

Source: the schema of Jenkins' JUnit plug-in and that of Surefire, as far as both agree: `testsuites`, `testsuite`,
`testcase` with `failure` or `skipped`. What is broken fails; what nobody could find out was skipped.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from gossamer.audit.outputs.message import message
from gossamer.audit.result import LINK_RULES, AuditResult, Finding
from gossamer.audit.rules import Level, Rule
from gossamer.words.catalogue import Words

__all__ = ["as_junit"]

_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PAGES = 20


def as_junit(result: AuditResult, t: Words) -> Iterator[str]:
    """Pieces of the document, in order."""
    links, pages = _counts(result, True), _counts(result, False)
    well = result.verdicts["well"]
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    total = [a + b for a, b in zip(links, pages, strict=True)]
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="gossamer audit" tests="{total[0] + 1}" failures="{total[1]}" errors="0" time="0">\n'
    for name, of_links, (tests, failures, skipped) in (("links", True, links), ("pages", False, pages)):
        yield (
            f'<testsuite name="{name}" tests="{tests + of_links}" failures="{failures}" errors="0" skipped="{skipped}"'
            f' time="0" timestamp="{now}" hostname="localhost">\n'
        )
        if of_links:
            yield f'<testcase classname="link-well" name="{well} links" time="0"/>\n'
        for finding in result.findings():
            if (finding.rule in LINK_RULES) is of_links:
                yield _case(finding, t)
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _counts(result: AuditResult, of_links: bool) -> tuple[int, int, int]:
    """Cases, failures, and what was skipped."""
    tests = failures = skipped = 0
    for finding in result.findings(pages=False):
        if (finding.rule in LINK_RULES) is of_links:
            tests += 1
            failures += _fails(finding)
            skipped += _is_skipped(finding)
    return tests, failures, skipped


def _fails(finding: Finding) -> bool:
    return finding.level == Level.ERROR and not finding.known


def _is_skipped(finding: Finding) -> bool:
    return finding.known or finding.rule in (Rule.LINK_REFUSED, Rule.LINK_UNKNOWN, Rule.ROBOTS_FORBIDS)


def _case(finding: Finding, t: Words) -> str:
    said = message(finding, t)
    opening = f'<testcase classname={_quoted(finding.rule)} name={_quoted(finding.url)} time="0"'
    if _fails(finding):
        pages = "\n".join(f"{page.url}  {page.text}".rstrip() for page in finding.pages[:_PAGES])
        failure = f"<failure message={_quoted(said)} type={_quoted(finding.rule)}>{_text(pages)}</failure>"
        return f"{opening}>{failure}</testcase>\n"
    if _is_skipped(finding):
        return f"{opening}><skipped message={_quoted(said)}/></testcase>\n"
    return f"{opening}><system-out>{_text(said)}</system-out></testcase>\n"


def _text(words: str) -> str:
    return escape(_NO_XML.sub("\ufffd", words))


def _quoted(words: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", words))
