"""Tells a broken link from one that merely leads nowhere for us (robots files, scope, guesses of ours)."""

from gossamer.model.link import LinkKind

GUESSED_SITEMAP = "/sitemap.xml"
"""Asked for where a robots file names no sitemap; nobody has linked to it."""


def is_link(kind: LinkKind, via: str, target: str) -> bool:
    """Whether somebody has linked to a URL.

    Args:
        kind: how it was found.
        via: where; empty for a seed.
        target: its path and query.
    """
    guessed = kind is LinkKind.SITEMAP and target == GUESSED_SITEMAP and via.endswith("/robots.txt")
    return bool(via) and kind not in (LinkKind.ROBOTS, LinkKind.FOLDER, LinkKind.SPECULATIVE) and not guessed
