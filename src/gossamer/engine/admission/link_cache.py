"""What was met lately of the links of a site, so that what stands on every page is judged once."""

from collections.abc import Iterable

from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url
from gossamer.state.hash_table import hash_table

KNOWN = 1 << 15


class LinkCache:
    """A bounded memory of keys met lately; forgetting costs time, never a page.

    What is kept is the interpreter's 64-bit hash of a key (SipHash, by a secret of the process). A key has
    two places, which its hash names; the one met later stands first, and pushes out the second. That chance
    loses one of 10^9 links has odds of 1 in 1,000 with 16 million kept.
    """

    def __init__(self, entries: int) -> None:
        """Keeps the largest power of two that is at most `entries`, from 2 on."""
        places = 1 << max(2, entries).bit_length() - 1
        self._pairs = places - 2  # mask: the first place of a pair is even
        self._hashes = hash_table(places).cast("q")

    def unmet(self, links: Iterable[Link]) -> list[Link]:
        """The links whose URLs were not met lately as navigation; most links of a page end here, at once."""
        hashes, pairs = self._hashes, self._pairs
        return [
            link
            for link in links
            if hashes[place := (number := hash(link.url.text)) & pairs] != number
            and hashes[place + 1] != number
        ]

    def met(self, key: str) -> bool:
        """Whether `key` was met lately; it has been, from now on."""
        number = hash(key)
        place, hashes = number & self._pairs, self._hashes
        first = hashes[place]
        if first == number:
            return True
        known = hashes[place + 1] == number
        hashes[place], hashes[place + 1] = number, first
        return known

    def forget(self, key: str) -> None:
        """`key` was turned away for the way it was found; another way may do."""
        number = hash(key)
        place, hashes = number & self._pairs, self._hashes
        for at in (place, place + 1):
            if hashes[at] == number:
                hashes[at] = 0

    def __len__(self) -> int:
        """Keys remembered. Reads the whole table."""
        return sum(map(bool, self._hashes))


def way(kind: LinkKind, url: Url) -> str:
    """Key in `LinkCache` of a URL met in one way; for navigation, by far the most frequent, the URL itself."""
    return url.text if kind is LinkKind.NAVIGATION else f"{kind} {url.text}"


class ScopeCache:
    """A bounded memory of the fingerprints of URLs that lately turned out to be in scope.

    Kept as in `LinkCache`, each hash with a fingerprint beside it: a table of the URLs themselves would take
    several times as much, and grow for long.
    """

    def __init__(self, entries: int = KNOWN) -> None:
        places = 1 << max(2, entries).bit_length() - 1
        self._pairs = places - 2
        self._hashes = hash_table(places).cast("q")
        self._fingerprints = [b""] * places

    def get(self, key: str) -> bytes | None:
        """The fingerprint, or `None` if it is not remembered."""
        number = hash(key)
        place, hashes = number & self._pairs, self._hashes
        if hashes[place] == number:
            return self._fingerprints[place]
        return self._fingerprints[place + 1] if hashes[place + 1] == number else None

    def put(self, key: str, fingerprint: bytes) -> None:
        """Remember that `key`, which is not remembered, is in scope."""
        number = hash(key)
        place, hashes, kept = number & self._pairs, self._hashes, self._fingerprints
        hashes[place], hashes[place + 1] = number, hashes[place]
        kept[place], kept[place + 1] = fingerprint, kept[place]
