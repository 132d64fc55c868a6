"""The result as one web page: no script, nothing loaded from anywhere, readable on a phone and in the dark."""

import base64
import hashlib
from collections.abc import Iterator
from itertools import groupby

from gossamer.audit.outputs.message import why
from gossamer.audit.result import AuditResult, Finding
from gossamer.report.markup import Html, address, element, foreign, join, text
from gossamer.report.style import PAGE_CSS
from gossamer.words.catalogue import Words

__all__ = ["as_html"]

_PAGES = 10
_ROWS = 1_000
"""Findings of one rule that are shown; a page of more is of no use to people, and JSON has all."""


def as_html(result: AuditResult, name: str, t: Words) -> Iterator[str]:
    """Pieces of the page; its own Content-Security-Policy allows its style sheet, by hash, and nothing else.

    Args:
        name: of what was audited.
        t: the language.
    """
    digest = base64.b64encode(hashlib.sha256(PAGE_CSS.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = t("audit_report.title", name=name)
    yield (
        f'<!DOCTYPE html>\n<html lang="{t.tag}"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{text(policy)}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="referrer" content="no-referrer"/><meta name="robots" content="noindex"/>'
        f'<meta name="color-scheme" content="light dark"/><title>{text(title)}</title>'
        f'<style>{PAGE_CSS}</style></head><body><main class="report"><h1>{text(title)}</h1>'
    )
    verdicts = result.verdicts
    yield element(
        "p",
        "sub",
        text(t("audit_report.lead", pages=t.number(result.pages), links=t.number(sum(verdicts.values())))),
    )
    counts = [(t.said("finding_level", level), count) for level, count in result.levels().items()]
    counts += [(t.said("link_verdict", verdict), count) for verdict, count in verdicts.items()]
    yield _tiles(counts, t)
    some = False
    for rule, findings in groupby(result.findings(), key=lambda finding: finding.rule):
        some = True
        yield from _rule(rule, findings, t)
    if not some:
        yield element("p", "lead", text(t("audit_report.none")))
    if result.ignored:
        yield element("p", "note", text(t("audit_report.ignored", n=result.ignored)))
    yield "</main></body></html>\n"


def _tiles(counts: list[tuple[str, int]], t: Words) -> Html:
    tiles = (
        element(
            "div", "tile", element("div", "what", text(said)), element("div", "much", text(t.number(count)))
        )
        for said, count in counts
    )
    return element("div", "tiles", *tiles)


def _rule(rule: str, findings: Iterator[Finding], t: Words) -> Iterator[str]:
    shown = 0
    for finding in findings:
        if not shown:
            level = element("span", "badge", text(t.said("finding_level", finding.level)))
            heading = element("h2", "", text(t.said("finding", rule)), Html(" "), level)
            yield f'<section id="{text(rule)}">{heading}{element("p", "sub", text(rule))}'
            yield '<div class="scroll"><table><thead><tr>'
            headings = t("audit_report.address"), t("audit_report.why"), t("audit_report.found_on")
            yield join(element("th", "", text(one)) for one in headings)
            yield "</tr></thead><tbody>"
        shown += 1
        if shown <= _ROWS:
            yield _row(finding, t)
    yield "</tbody></table></div>"
    if shown > _ROWS:
        yield element("p", "note", text(t("audit_report.more", n=shown - _ROWS)))
    yield "</section>"


def _row(finding: Finding, t: Words) -> str:
    pages = [
        element("div", "", address(page.url), Html(" "), foreign(page.text, 80) if page.text else Html(""))
        for page in finding.pages[:_PAGES]
    ]
    if len(finding.pages) > _PAGES:
        pages.append(element("div", "", text(t("audit_report.more", n=len(finding.pages) - _PAGES))))
    known = element("span", "badge", text(t("audit_report.known"))) if finding.known else Html("")
    return element(
        "tr",
        "",
        element("td", "", address(finding.url), known),
        element("td", "", foreign(why(finding, t))),
        element("td", "", *pages),
    )
