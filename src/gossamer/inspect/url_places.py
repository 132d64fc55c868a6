"""Finds what the state keeps of a URL: the key of its page record, and of the queue in which it waits."""

from gossamer.config.config import CrawlConfig
from gossamer.model.reasons.codes import MirrorCode
from gossamer.model.reasons.reason import Reason
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
        mirrors: the sites whose URLs are shared out among several addresses, if there are such.
    """

    def __init__(self, environment: Environment, prints: Fingerprints, config: CrawlConfig) -> None:
        self._environment = environment
        self._prints = prints
        self._queue_key = queue_key(config.engine.queue_key)
        self.canonical = Canonicaliser(config.canonical)
        self.mirrors = config.shared_out

    def host(self, url: Url) -> bytes:
        """The hash of the queue in which a URL waits."""
        return self._prints.host(self._queue_key(url))

    def fingerprint(self, url: Url) -> bytes:
        """The URL's key in the families `pages`, `seen` and `standings`."""
        canonical = self.canonical(url)
        return self.host(Url.from_serialised(canonical) or url) + self._prints.url(canonical)

    def where(self, url: Url) -> Url:
        """The URL at which the document of a URL was had, or is asked for: another one where its site has mirrors."""
        of_it = self.mirrors.all_of(url) if self.mirrors is not None else ()
        if not of_it or self._is_settled_at(url):
            return url
        return next((one for one in of_it if not self.passed_on(one)), of_it[-1])

    def _is_settled_at(self, url: Url) -> bool:
        return self.record(self.fingerprint(url)) is not None and not self.passed_on(url)

    def passed_on(self, url: Url) -> Reason | None:
        """Why another mirror was asked for what a URL did not give; `None` if none was."""
        record = self.record(self.fingerprint(url))
        if record is None or record.reason is None or record.reason.code != MirrorCode.NEXT:
            return None
        return record.reason

    def record(self, fingerprint: bytes) -> PageRecord | None:
        """What is remembered of a URL, if anything is."""
        data = self._environment.get(Family.PAGES, fingerprint)
        return None if data is None else decode_page(data)
