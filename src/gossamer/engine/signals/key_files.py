"""Proves that whoever announces changes of a host by IndexNow can put a file there that holds their key.

The file is visited as any page is, by the host's rest and robots rules, and archived; there is one question a host at a
time, and the answer holds for a while.
"""

from collections import OrderedDict

import msgspec

from gossamer.engine.visiting.visit import Visit
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.model.outcome import Fetched
from gossamer.model.url import Url

HOLDS = 7 * 86_400.0
"""Seconds for which a proved key is taken without a look."""
REFUSED = 3_600.0
"""Seconds for which a host whose key was not there is not asked again."""
PATIENCE = 86_400.0
"""Seconds after which a visit that has not come is given up."""
MOST_HOSTS = 1_000
_LONGEST = 1_024
"""Bytes of such a file, with whatever stands around the key."""
MOST_HELD = 100_000
"""URLs that wait for proofs."""


class _Question(msgspec.Struct):
    """Of one host; `until`: how long the answer holds, 0: there is none yet, negative: the key was not there."""

    key: str
    location: str
    asked: float
    until: float = 0.0
    held: dict[str, Url] = {}
    new: bool = False


class Proved(msgspec.Struct, frozen=True):
    """What was announced with a key that has turned out right; `new`: it may be admitted as new."""

    urls: list[Url]
    new: bool


class KeyFiles:
    """Questions that are open, and what they have come to, by host and port; who was quiet longest is forgotten."""

    def __init__(self) -> None:
        self._questions: OrderedDict[str, _Question] = OrderedDict()
        self._held = 0
        self.proved = 0
        self.refused = 0

    def holds(self, key: str, location: Url, now: float) -> bool:
        """Whether the key was proved by that file lately."""
        one = self._questions.get(_authority(location))
        return one is not None and (one.key, one.location) == (key, location.text) and 0 < now < one.until

    def ask(self, key: str, location: Url, urls: list[Url], now: float, *, new: bool) -> tuple[int, bool]:
        """Keep URLs of a host until their key is proved: how many, and whether its file is to be visited now.

        `new` is given back with them. Nothing is kept while another key of the host is in question, or after one
        was not there.
        """
        host = _authority(location)
        one = self._questions.get(host)
        if one is not None and one.until == 0 and now < one.asked + PATIENCE:
            same = (one.key, one.location) == (key, location.text)
            return (self._hold(one, urls) if same else 0), False
        if one is not None and one.until < 0 and now < one.asked + REFUSED:
            return 0, False
        self._drop(host)
        one = self._questions[host] = _Question(key, location.text, now, new=new)
        while len(self._questions) > MOST_HOSTS:
            self._drop(next(iter(self._questions)))
        return self._hold(one, urls), True

    def _hold(self, one: _Question, urls: list[Url]) -> int:
        for url in urls[: MOST_HELD - self._held]:
            if url.text not in one.held:
                one.held[url.text] = url
                self._held += 1
        return min(len(urls), MOST_HELD)

    def _drop(self, host: str) -> None:
        one = self._questions.pop(host, None)
        if one is not None:
            self._held -= len(one.held)

    def refuse(self, location: Url, now: float) -> None:
        """The file cannot be visited, or does not show the key."""
        one = self._questions[_authority(location)]
        self._held -= len(one.held)
        one.held, one.until, one.asked = {}, -1.0, now
        self.refused += 1

    @property
    def in_question(self) -> bool:
        """Whether a visit may prove anything."""
        return bool(self._questions)

    def visited(self, visit: Visit, now: float) -> Proved | None:
        """After any visit: what was announced, if it has proved it."""
        url = visit.lease.candidate.url
        one = self._questions.get(_authority(url))
        if one is None or one.until or one.location != url.text:
            return None
        if not _shows(visit, one.key):
            self.refuse(url, now)
            return None
        held, one.held = list(one.held.values()), {}
        self._held -= len(held)
        one.until = now + HOLDS
        self.proved += 1
        return Proved(held, one.new)


def speaks_for(location: Url, url: Url) -> bool:
    """Whether a key in the file at `location` speaks for `url` (indexnow.org/documentation, "Verifying ownership").

    That is the same host and port, or the usual ports of http and https, and nothing above the file's folder. An
    address with a query is no file's: a page that says again what it is asked would show any key.
    """
    folder = location.path[: location.path.rfind("/") + 1]
    return (
        {location.scheme, url.scheme} <= {"http", "https"}
        and "?" not in location.text
        and _authority(location) == _authority(url)
        and url.path.startswith(folder)
    )


def _authority(url: Url) -> str:
    """Host and port, one for both schemes where the port is the usual one."""
    return url.origin.partition("://")[2]


def _shows(visit: Visit, key: str) -> bool:
    """Whether the answer is the key, and nothing else but a mark and blanks."""
    if not isinstance(visit.outcome, Fetched) or visit.outcome.exchange.status != 200:
        return False
    exchange = visit.outcome.exchange
    if exchange.body.size > _LONGEST:
        return False
    decoded = decode_content(exchange.body, exchange.headers, FetchConfig(), _LONGEST)
    if not isinstance(decoded, Decoded):
        return False
    return decoded.content.removeprefix(b"\xef\xbb\xbf").strip() == key.encode()
