"""Counts the new URLs that a page leads to, for the trap learner."""

import msgspec

from gossamer.policy.trap_learner import PatternRecord, is_open, is_proven
from gossamer.policy.url_pattern import UrlPattern, marches


class LinkCount(msgspec.Struct, gc=False):
    """The new URLs that a page led to.

    Attributes:
        pattern, target: of the page.
        proven, open: as `Evidence.links` and `Evidence.open_links`.
        own, stem: of its own kind, as `Evidence.bred`.
    """

    pattern: UrlPattern
    target: str
    proven: int = 0
    open: int = 0
    own: int = 0
    stem: int = 0

    def add(self, own: PatternRecord, stem: PatternRecord, pattern: UrlPattern, target: str) -> None:
        """A new URL with its pattern, and the records of that and, unless it is proven, of its stem."""
        page = self.pattern
        if pattern.text != page.text:
            self.proven += is_proven(own)
            self.open += is_open(own, stem)
        if pattern.stem == page.stem and pattern.doubts and marches(page, pattern, self.target, target):
            self.stem += 1
            self.own += pattern.text == page.text


class LinkCounter:
    """Says where new URLs are counted just now: `with counter.to(count):`."""

    __slots__ = ("_next", "current")

    def __init__(self) -> None:
        self.current: LinkCount | None = None
        self._next: LinkCount | None = None

    def to(self, count: LinkCount) -> "LinkCounter":
        """Count in `count` inside the block; blocks are not nested."""
        self._next = count
        return self

    def __enter__(self) -> None:
        self.current = self._next

    def __exit__(self, *_: object) -> None:
        self.current = None
