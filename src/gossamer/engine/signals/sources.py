"""Numbers those who say that pages of a host have changed; each is trusted by itself, host by host.

A number is kept with each page (`policy.revisit.history`) and has six bits. Feeds share those that are left by the hash
of their address, so that no table of them is needed; two feeds of a site that meet there are trusted together.
"""

import zlib

SITEMAP = 1
PING = 2
"""Whoever may change the crawl."""
INDEXNOW = 3
WEBSUB = 4
_FEEDS = range(8, 64)


def feed(address: str) -> int:
    """Number of the feed at `address`."""
    return _FEEDS[zlib.crc32(address.encode()) % len(_FEEDS)]
