"""Which URLs are one and the same: canonical form and fingerprint."""

from collections.abc import Callable

from gossamer.frontier.frontier import Frontier
from gossamer.model.url import Url


class Identity:
    """Maps a URL to the key under which it is seen and remembered (families `seen` and `pages`)."""

    def __init__(
        self,
        canonical: Callable[[Url], str],
        frontier: Frontier,
        known_as: Callable[[Url], Url] | None = None,
    ) -> None:
        """`known_as`: makes one of the URLs of a document at several addresses; without it each is its own."""
        self.canonical = canonical
        self._known_as = known_as
        self._frontier = frontier

    def fingerprint(self, url: Url, mark: str = "") -> bytes:
        """16 bytes: hash of the canonical URL's host queue, hash of the canonical URL and of a mark behind it."""
        canonical = self.canonical(url)
        if canonical != url.text:
            # A rule may change the host too (`www.`): what is the same must have the same key.
            url = Url.from_serialised(canonical) or url
        host, _ = self._frontier.host_key(url)
        return self._frontier.fingerprint(host, canonical + mark)

    def document(self, url: Url) -> bytes:
        """As `fingerprint`, the same for all URLs of a document whose site has mirrors."""
        return self.fingerprint(url if self._known_as is None else self._known_as(url))

    def speculative(self, url: Url) -> bytes:
        """The key under which a speculative link to a URL is seen, as long as it is no more than that."""
        return self.fingerprint(url, " speculative")

    def same(self, one: Url, other: Url) -> bool:
        """Whether both have one canonical form."""
        return self.canonical(one) == self.canonical(other)
