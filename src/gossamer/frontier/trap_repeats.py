"""Tells URLs that are known ones with a session id or once more round a cycle, while that holds (W16)."""

from collections.abc import Callable

from gossamer.frontier.visited import VisitedTable
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.canonical_rules import without_session
from gossamer.policy.url_pattern import MINTED, REPEATS, SESSION, UrlPattern, plainer
from gossamer.state.environment import Environment, Family
from gossamer.state.records import decode_page

LIKE = 0.1
"""Share of its text by which a page may differ in length from what is taken for the same page."""
MISTAKEN = 4_096
"""Patterns that are kept of which the guess was wrong."""
FIRST = 50_000
"""Addresses without ids of sessions that are kept, some 200 bytes each; what is forgotten looks new."""
_AGAIN = "again "  # no pattern of a target begins so


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
        self._young: dict[bytes, bytes] = {}
        self._old: dict[bytes, bytes] = {}

    def expected(self, host: bytes, pattern: UrlPattern, url: Url) -> bool:
        """Whether the plainer address is known, and no page of the pattern has turned out to be another."""
        if not pattern.doubts & REPEATS or (host, pattern.text) in self._mistaken:
            return False
        return bool(self._plainer(host, url))

    def found(self, host: bytes, pattern: UrlPattern, url: Url, page: Page | None) -> bool:
        """Whether a page is taken for what is at the plainer address; its pattern is judged by that.

        Before that one is visited every page is, and where it redirects, for it may lead here; then those
        that look like it. Of a renewed address the plainer one is that with the first id of a session.
        """
        renewed = is_renewed(pattern)
        if renewed:
            key = self._first(host, url)
        else:
            key = self._plainer(host, url) if pattern.doubts & REPEATS else b""
        data = self._environment.get(Family.PAGES, key) if key else None
        if data is None or page is None:
            return renewed or bool(key)
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

    def pattern(self, host: bytes, pattern: UrlPattern, url: Url) -> UrlPattern:
        """The pattern to judge a URL of `pattern` by: one of their own for those that differ from another URL
        asked about before by nothing but the id of a session.

        Where every answer begins a session all its links are new, and no plainer address is known; so pages
        that are new would be condemned with their copies.
        """
        if not pattern.doubts & (SESSION | MINTED):
            return pattern
        plain = without_session(url)
        if plain.text == url.text:
            return pattern
        key, own = host + self._url_hash(plain.text), self._url_hash(url.text)
        first = self._young.setdefault(key, self._old.get(key, own))
        if len(self._young) >= FIRST // 2:
            self._old, self._young = self._young, {}
        if first == own:
            return pattern
        again = _AGAIN + pattern.stem
        return UrlPattern(again, again, pattern.doubts)

    def _first(self, host: bytes, url: Url) -> bytes:
        """Fingerprint of the address that differed first by nothing but the id, or nothing."""
        key = host + self._url_hash(without_session(url).text)
        first = self._young.get(key) or self._old.get(key)
        return host + first if first else b""

    def _plainer(self, host: bytes, url: Url) -> bytes:
        """Fingerprint of the plainer address if that is known, or nothing."""
        target = plainer(url.target)
        if target is None:
            return b""
        key = host + self._url_hash(url.origin + target)
        return key if key in self._seen else b""


def is_renewed(pattern: UrlPattern) -> bool:
    """Whether it is the one for URLs that are known with another id of a session."""
    return pattern.text.startswith(_AGAIN)
