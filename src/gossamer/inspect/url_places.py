"""Finds what the state keeps of a URL: the key of its page record, and of the queue in which it waits."""

from gossamer.config.config import CrawlConfig
from gossamer.model.url import Url
from gossamer.policy.urls.canonical import Canonicaliser
from gossamer.policy.urls.queue_key import queue_key
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import Fingerprints
from gossamer.state.records import SECRET, PageRecord, decode_page


def fingerprints_of(environment: Environment) -> Fingerprints | None:
    """The hashes of a crawl; `None` if nothing has been crawled yet."""
    secret = environment.get(Family.META, SECRET)
    return None if secret is None else Fingerprints(secret)


class UrlPlaces:
    """Keys of URLs in one crawl.

    Attributes:
        canonical: gives the canonical form of a URL.
    """

    def __init__(self, environment: Environment, prints: Fingerprints, config: CrawlConfig) -> None:
        self._environment = environment
        self._prints = prints
        self._queue_key = queue_key(config.engine.queue_key)
        self.canonical = Canonicaliser(config.canonical)

    def host(self, url: Url) -> bytes:
        """The hash of the queue in which a URL waits."""
        return self._prints.host(self._queue_key(url))

    def fingerprint(self, url: Url) -> bytes:
        """The URL's key in the families `pages`, `seen` and `standings`."""
        canonical = self.canonical(url)
        return self.host(Url.from_serialised(canonical) or url) + self._prints.url(canonical)

    def record(self, fingerprint: bytes) -> PageRecord | None:
        """What is remembered of a URL, if anything is."""
        data = self._environment.get(Family.PAGES, fingerprint)
        return None if data is None else decode_page(data)
