"""What is wrong with one page by itself."""

from collections.abc import Iterator
from typing import Any

import msgspec

from gossamer.audit.page import AuditedPage, mixed
from gossamer.audit.rules import Rule

__all__ = ["Carried", "page_findings"]

LONGEST_TITLE = 70
LONGEST_DESCRIPTION = 320
"""Characters that search engines show; longer ones are cut there."""
LARGE = 2 << 20
"""Bytes of one document, without what it loads; the median of the web is 30 KB."""
SLOW = 3.0
"""Seconds for the document alone; W3C's and vendors' limits for the whole page are of that order."""
LEAST_COMPRESSED = 10 << 10
"""Bytes of text below which packing saves no packet worth speaking of."""
MOST_TOLD = 20

Finding = tuple[Rule, dict[str, Any]]


class Carried(msgspec.Struct, frozen=True):
    """How a page came.

    Attributes:
        size: bytes of its body as sent.
        seconds: that the visit took.
        content: bytes without content codings.
        packed: it came with a content coding.
    """

    size: int
    seconds: float
    content: int
    packed: bool


def page_findings(url: str, page: AuditedPage, carried: Carried) -> Iterator[Finding]:
    """What a page lacks, or has too much of."""
    yield from _of_transfer(carried)
    if page.problems:
        yield Rule.PAGE_UNREAD, {"why": page.problems}
    if "deep" in page.problems:
        return
    yield from _of_head(page)
    yield from _of_headings(page)
    yield from _of_structure(url, page)


def _of_transfer(carried: Carried) -> Iterator[Finding]:
    if carried.content > LARGE:
        yield Rule.PAGE_LARGE, {"bytes": carried.content}
    if carried.seconds > SLOW:
        yield Rule.PAGE_SLOW, {"seconds": round(carried.seconds, 1)}
    if carried.content > LEAST_COMPRESSED and not carried.packed:
        yield Rule.UNCOMPRESSED, {"bytes": carried.content}


def _of_head(page: AuditedPage) -> Iterator[Finding]:
    titles = [title for title in page.titles if title]
    if not titles:
        yield Rule.TITLE_MISSING, {}
    elif len(page.titles) > 1:
        yield Rule.TITLE_MANY, {"titles": page.titles[:MOST_TOLD]}
    if titles and len(titles[0]) > LONGEST_TITLE:
        yield Rule.TITLE_LONG, {"title": titles[0], "length": len(titles[0])}
    if not page.description:
        yield Rule.DESCRIPTION_MISSING, {}
    elif len(page.description) > LONGEST_DESCRIPTION:
        yield Rule.DESCRIPTION_LONG, {"length": len(page.description)}
    if not page.language.strip():
        yield Rule.LANG_MISSING, {}
    if len(set(page.canonical)) > 1:
        yield Rule.CANONICAL_MANY, {"canonical": sorted(set(page.canonical))[:MOST_TOLD]}


def _of_headings(page: AuditedPage) -> Iterator[Finding]:
    if not any(page.headings):
        yield Rule.H1_MISSING, {}
    elif len(page.headings) > 1:
        yield Rule.H1_MANY, {"headings": page.headings[:MOST_TOLD]}
    for before, level in zip(page.levels, page.levels[1:], strict=False):
        if level > before + 1:
            yield Rule.HEADING_SKIPPED, {"from": before, "to": level}
            return


def _of_structure(url: str, page: AuditedPage) -> Iterator[Finding]:
    if page.doubled:
        yield Rule.ID_DOUBLED, {"ids": page.doubled[:MOST_TOLD], "count": len(page.doubled)}
    if page.without_alt:
        yield Rule.ALT_MISSING, {"images": page.without_alt[:MOST_TOLD], "count": len(page.without_alt)}
    if page.wrong_tags:
        yield Rule.TAGS_WRONG, {"tags": page.wrong_tags[:MOST_TOLD], "count": len(page.wrong_tags)}
    loaded = list(mixed(url, page.links))
    for rule, active in ((Rule.MIXED_ACTIVE, True), (Rule.MIXED_CONTENT, False)):
        addresses = [link.url for link in loaded if link.active is active]
        if addresses:
            yield rule, {"loaded": addresses[:MOST_TOLD], "count": len(addresses)}
