"""What was met lately of the links of a site, so that what stands on every page is judged once."""

from collections.abc import Iterable

from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url

KNOWN = 30_000


class Recent:
    """A bounded memory of keys met lately, in two generations; forgetting costs time, never a page.

    What is kept is the interpreter's 64-bit hash of a key (SipHash, by a secret of the process): some 64
    bytes in place of 200. That chance loses one of 10^9 links has odds of 1 in 10,000 with a million kept.
    """

    def __init__(self, entries: int) -> None:
        self._limit = entries // 2
        self._young: set[int] = set()
        self._old: set[int] = set()

    def unmet(self, links: Iterable[Link]) -> list[Link]:
        """The links whose URLs were not met lately as navigation; most links of a page end here, at once."""
        young = self._young
        return [link for link in links if hash(link.url.text) not in young]

    def met(self, key: str) -> bool:
        """Whether `key` was met lately; it has been, from now on."""
        number = hash(key)
        if number in self._young:
            return True
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, set()
        self._young.add(number)
        return number in self._old

    def forget(self, key: str) -> None:
        """`key` was turned away for the way it was found; another way may do."""
        self._young.discard(hash(key))
        self._old.discard(hash(key))


def way(kind: LinkKind, url: Url) -> str:
    """Key in `Recent` of a URL met in one way; for navigation, by far the most frequent, the URL itself."""
    return url.text if kind is LinkKind.NAVIGATION else f"{kind} {url.text}"


class Judged:
    """A bounded memory of the fingerprints of URLs that lately turned out to be in scope."""

    def __init__(self, entries: int = KNOWN) -> None:
        self._limit = entries // 2
        self._young: dict[str, bytes] = {}
        self._old: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """The fingerprint, or `None` if it is not remembered."""
        known = self._young.get(key)
        if known is None:
            known = self._old.get(key)
            if known is not None:
                self.put(key, known)
        return known

    def put(self, key: str, fingerprint: bytes) -> None:
        """Remember that `key` is in scope."""
        if len(self._young) >= self._limit:
            self._old, self._young = self._young, {}
        self._young[key] = fingerprint
