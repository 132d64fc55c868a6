"""Links: what a page mentions, and how."""

from enum import StrEnum

import msgspec

from gossamer.model.url import Url


class LinkKind(StrEnum):
    """How a URL was mentioned; decides whether scope follows it and its letter in the hop path."""

    SEED = "seed"
    NAVIGATION = "navigation"  # a, area, form GET, frame, iframe, meta refresh, rel=next, ...
    REQUISITE = "requisite"  # what a browser loads to show the page: img, script, style, ...
    CANONICAL = "canonical"  # rel=canonical
    ALTERNATE = "alternate"  # rel=alternate: feeds, translations
    REDIRECT = "redirect"
    SITEMAP = "sitemap"
    ROBOTS = "robots"
    FOLDER = "folder"  # above a page, mentioned by nobody (path-ascending)
    SPECULATIVE = "speculative"  # a string that may be an address, or what a search form may answer
    DEMAND = "demand"  # somebody asked for it: the API, or a program by the proxy
    MIRROR = "mirror"  # another address of its site did not give it


HOP_LETTERS = {
    LinkKind.SEED: "",
    LinkKind.NAVIGATION: "L",
    LinkKind.REQUISITE: "E",
    LinkKind.CANONICAL: "L",
    LinkKind.ALTERNATE: "L",
    LinkKind.REDIRECT: "R",
    LinkKind.SITEMAP: "M",
    LinkKind.ROBOTS: "P",
    LinkKind.FOLDER: "I",
    LinkKind.SPECULATIVE: "X",
    LinkKind.DEMAND: "S",
    LinkKind.MIRROR: "",
}
"""Letters of the hop path; R, M and P add a hop but no depth."""


HOPS_KEPT = 50
"""Letters of a hop path that are kept; of longer ones the number of those before, as `7+LLL...` (as
Heritrix)."""


def further(hops: str, letter: str) -> str:
    """The hop path one hop on. A chain may be of any length, and each of its pages has a path."""
    if len(hops) < HOPS_KEPT or not letter:
        return hops + letter
    before, _, kept = hops.rpartition("+")
    dropped = len(kept) + 1 - HOPS_KEPT
    return f"{int(before or 0) + dropped}+{kept[dropped:]}{letter}" if dropped > 0 else f"{hops}{letter}"


def hop_count(hops: str) -> int:
    """Hops from the seed along a hop path."""
    before, _, kept = hops.rpartition("+")
    return int(before or 0) + len(kept)


def listed(hops: str) -> bool:
    """Whether a robots file or a sitemap led along this hop path to its end, which may be a sitemap then."""
    return hops.rstrip("R").endswith("M")


class Link(msgspec.Struct, frozen=True, gc=False):
    """One mention of a URL in a page.

    Attributes:
        url: resolved against the page's base.
        kind: how it was mentioned.
        element: where it stood, e.g. `a@href`, `img@srcset`, `css`.
        nofollow: the link itself says `rel=nofollow`.
        text: what a reader sees of it, at most 200 characters; empty unless `extract.anchor_text` is on.
        lastmod: when the page it leads to changed, as a sitemap or feed says; seconds since 1970, 0: not said.
    """

    url: Url
    kind: LinkKind
    element: str
    nofollow: bool = False
    text: str = ""
    lastmod: float = 0.0


def ends_at_robots(hops: str) -> bool:
    """Whether hops lead to a robots file, or to where one redirects."""
    return hops.rstrip("R").endswith("P")
