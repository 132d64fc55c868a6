"""Numbers those who say that pages of a host have changed; each is trusted by itself, host by host.

Beside the kinds of `policy.revisit.trust.Source` each feed has a number of its own, by the hash of its address: so no
table of them is needed, and two feeds of a site that meet at one number are trusted together.
"""

import zlib

from gossamer.model.link import LinkKind
from gossamer.model.page import Page
from gossamer.policy.revisit.trust import Source

INDEXNOW = 6
WEBSUB = 7
_FEEDS = range(8, 16)
"""Few, because what is learned of a number takes 24 bytes at each host, and those before it too."""
_KINDS = frozenset(Source)
_LOOKED_AT = 50
"""Links of a page by which it is told whether it is a list: those of a feed come before its first entry."""
_NUMBERS = {int, float}
assert not _KINDS & {INDEXNOW, WEBSUB, *_FEEDS}


def feed(address: str) -> int:
    """Number of the feed at `address`."""
    return _FEEDS[zlib.crc32(address.encode()) % len(_FEEDS)]


def is_list(page: Page) -> bool:
    """Whether a page is a sitemap or a feed that dates what it lists.

    One whose dates are no numbers, as an extractor from elsewhere may give them, is none.
    """
    links = page.links if _is_sitemap(page) else page.links[:_LOOKED_AT]
    if not any(link.lastmod for link in links):
        return False
    return {type(link.lastmod) for link in page.links} <= _NUMBERS


def source_of(page: Page) -> int:
    """The number of a sitemap or feed."""
    return Source.SITEMAP if _is_sitemap(page) else feed(page.url.text)


def _is_sitemap(page: Page) -> bool:
    return bool(page.links) and page.links[0].kind is LinkKind.SITEMAP
