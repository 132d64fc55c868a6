"""Tells URLs that are known ones with a session id or once more round a cycle, while that holds (W16)."""

from collections.abc import Callable

from gossamer.frontier.visited import VisitedTable
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.url_pattern import REPEATS, UrlPattern, plainer
from gossamer.state.environment import Environment, Family
from gossamer.state.records import decode_page

LIKE = 0.1
"""Share of its text by which a page may differ in length from what is taken for the same page."""
MISTAKEN = 4_096
"""Patterns that are kept of which the guess was wrong."""


class Repeats:
    """Guesses by addresses, and by the page at the `plainer` one once that was visited.

    Shops list at `/item` what they show at `/item?id=`, with ids that look like those of sessions.
    """

    def __init__(
        self, environment: Environment, seen: VisitedTable, url_hash: Callable[[str], bytes]
    ) -> None:
        """`url_hash`: as `Fingerprints.url`."""
        self._environment = environment
        self._seen = seen
        self._url_hash = url_hash
        self._mistaken: set[tuple[bytes, str]] = set()

    def expected(self, host: bytes, pattern: UrlPattern, url: Url) -> bool:
        """Whether the plainer address is known, and no page of the pattern has turned out to be another."""
        if not pattern.doubts & REPEATS or (host, pattern.text) in self._mistaken:
            return False
        return bool(self._plainer(host, url))

    def found(self, host: bytes, pattern: UrlPattern, url: Url, page: Page | None) -> bool:
        """Whether a page is taken for what is at the plainer address; its pattern is judged by that.

        Before that one is visited every page is, and where it redirects, for it may lead here; then those
        that look like it.
        """
        key = self._plainer(host, url) if pattern.doubts & REPEATS else b""
        data = self._environment.get(Family.PAGES, key) if key else None
        if data is None or page is None:
            return bool(key)
        there = decode_page(data)
        if not there.visits or there.state == "retry" or 300 <= there.visits[-1].status < 400:
            return True
        near = abs(there.text_length - page.text_length) <= LIKE * page.text_length
        if near and there.title == page.title:
            self._mistaken.discard((host, pattern.text))
            return True
        if len(self._mistaken) >= MISTAKEN:
            self._mistaken.clear()  # it will be found out again
        self._mistaken.add((host, pattern.text))
        return False

    def _plainer(self, host: bytes, url: Url) -> bytes:
        """Fingerprint of the plainer address if that is known, or nothing."""
        target = plainer(url.target)
        if target is None:
            return b""
        key = host + self._url_hash(url.origin + target)
        return key if key in self._seen else b""
