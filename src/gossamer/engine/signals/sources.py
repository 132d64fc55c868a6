"""Numbers those who say that pages of a host have changed; each is trusted by itself, host by host.

Beside the kinds of `policy.revisit.trust.Source` each feed has a number of its own, by the hash of its address: so no
table of them is needed, and two feeds of a site that meet at one number are trusted together.
"""

import zlib

from gossamer.policy.revisit.trust import Source

INDEXNOW = 6
WEBSUB = 7
_FEEDS = range(8, 16)
"""Few, because what is learned of a number takes 24 bytes at each host, and those before it too."""
_KINDS = frozenset(Source)
assert not _KINDS & {INDEXNOW, WEBSUB, *_FEEDS}


def feed(address: str) -> int:
    """Number of the feed at `address`."""
    return _FEEDS[zlib.crc32(address.encode()) % len(_FEEDS)]
