"""Finds what is to be shown of a URL at a time, and reads it."""

import re
import time
from collections import OrderedDict
from contextlib import ExitStack
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import read_capture
from gossamer.archive.surt import surt
from gossamer.inspect.archive.captures import Capture
from gossamer.inspect.archive.lookup import (
    Indexed,
    captures_of,
    content_of,
    instant,
    nearest_in_time,
    read_back,
)
from gossamer.inspect.clusters.whole import inspect_whole
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import UnreadableError
from gossamer.model.exchange import Headers
from gossamer.model.url import Url
from gossamer.state.environment import Family

__all__ = ["Archive", "Shown", "best_at"]

_PASSING = frozenset({429, *range(500, 600)})
"""Failures of the moment: a capture of what was there is nearer to what the page looked like."""
_UNMODIFIED = 304
_BUSTERS = re.compile(
    r"_|_?t|_?ts|_?time|timestamp|cb|cachebuster|cache|nocache|rand|random|rnd|r|v|ver|version|\d+"
)
"""Arguments that scripts and pages add so that no cache answers; as they are called, or mere numbers."""
MOST_LIKE = 2_000
"""Captures of one path with other queries that are looked at for one that differs in such arguments alone."""
KEPT_BYTES = 64 << 20
"""Bodies that are kept because a player asks for one in pieces."""
_LOOK_AGAIN = 10.0
"""Seconds after which a crawl that runs is opened anew, so that its new captures are seen."""
MOST_ORIGINS = 256


class Shown(msgspec.Struct, frozen=True):
    """What there is of a URL.

    Attributes:
        capture: by the index.
        url: of the capture.
        status: of the response; 200 for other protocols.
        headers: as archived.
        content: its content codings undone, unless `packed`.
        packed: it does not decode, and is as it came.
        truncated: the archive does not hold all of it.
    """

    capture: Indexed
    url: Url
    status: int
    headers: Headers
    content: bytes
    packed: bool = False
    truncated: bool = False


class Archive:
    """The captures of a crawl, or of a cluster's on this machine, for one thread at a time.

    A crawl that runs is looked at anew every some seconds.
    """

    def __init__(self, path: Path, at: str = "") -> None:
        """Open it.

        Args:
            path: the crawl's folder.
            at: the time that is looked at, as `gossamer get --at` has it; empty: the last.

        Raises:
            ConfigError: no crawl lives there, or `at` is no time.
            StorageError: its state is damaged.
        """
        self.path = path
        self.at = int(instant(at)) if at else 0
        self._open = ExitStack()
        self.inspection: Inspection = self._open.enter_context(inspect_whole(path))
        self._opened = time.monotonic()
        self._kept: OrderedDict[tuple[str, int], Shown] = OrderedDict()

    def close(self) -> None:
        """Let go of the folder; nothing is asked any more."""
        self._open.close()

    def look(self) -> Inspection:
        """The crawl as it is now."""
        if time.monotonic() - self._opened > _LOOK_AGAIN:
            if self.inspection.folder.in_use():
                self.look_again()
            self._opened = time.monotonic()
        return self.inspection

    def look_again(self) -> None:
        """See what was captured up to now; takes some 50 ms."""
        self._open.close()
        self.inspection = self._open.enter_context(inspect_whole(self.path))
        self._opened = time.monotonic()

    def captures(self, url: Url) -> list[Indexed]:
        """All of a URL, or of its like: over the other of http and https, with or without `www.`."""
        return captures_of(self.look(), url)

    def find(self, url: Url, at: int = 0) -> Indexed | None:
        """The capture that shows best how a URL looked at a time.

        That nearest in time of those that were answered; if it was never captured, one of the same URL but for
        arguments that only keep caches from answering.

        Args:
            url: wanted.
            at: seconds since 1970; 0: the time of the whole view.
        """
        found = self.captures(url) or self._alike(url)
        if not found:
            return None
        return best_at(found, at or self.at)

    def read(self, one: Indexed) -> Shown | None:
        """A capture with its content; `None` if the server only said that nothing had changed since another
        that is not here.

        Raises:
            StorageError: the archive is damaged there.
        """
        key = one.file, one.offset
        if (kept := self._kept.get(key)) is not None:
            self._kept.move_to_end(key)
            return kept
        inspection = self.inspection
        shown = _shown(inspection, one, read_back(inspection, one))
        if shown is not None and len(shown.content) <= KEPT_BYTES:
            self._kept[key] = shown
            while sum(len(each.content) for each in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return shown

    def origins(self) -> list[str]:
        """Origins of which something was captured, some hundred at most: `https://example.org`."""
        found: dict[str, None] = {}
        for inspection in self.look().together:
            start = b""
            while len(found) < MOST_ORIGINS:
                key, data = next(inspection.environment.scan(Family.CAPTURES, start), (b"", b""))
                if not key:
                    break
                url = Url.from_serialised(read_capture(data).url)
                if url is not None:
                    found[url.origin] = None
                # The next host: the key of each begins with its name up to a bracket.
                start = key[: key.find(b")") + 1 or len(key)] + b"\xff"
        return list(found)

    def _alike(self, url: Url) -> list[Indexed]:
        """Captures of the same path whose query differs in nothing that matters."""
        wanted = _telling(url.query)
        candidates = [_with_query(url, "")] if not wanted else []
        base = surt(_with_query(url, ""))
        seen: dict[str, None] = {}
        for inspection in self.inspection.together:
            for number, (_, data) in enumerate(
                inspection.environment.scan(Family.CAPTURES, prefix=f"{base}?".encode("ascii"))
            ):
                if number >= MOST_LIKE:
                    break
                seen[read_capture(data).url] = None
        for text in seen:
            other = Url.from_serialised(text)
            same = other is not None and (other.host, other.path) == (url.host, url.path)
            if other is not None and same and _telling(other.query) == wanted:
                candidates.append(other)
        for candidate in candidates:
            if found := captures_of(self.inspection, candidate):
                return found
        return []


def best_at(captures: list[Indexed], at: int) -> Indexed:
    """Of captures of one URL the nearest to a time (0: the last) of those that were answered, if any were."""
    answered = [one for one in captures if one.status not in _PASSING] or captures
    return nearest_in_time(answered, time.strftime("%Y%m%d%H%M%S", time.gmtime(at)) if at else "")


def _shown(inspection: Inspection, one: Indexed, capture: Capture) -> Shown | None:
    exchange = capture.exchange
    if capture.unmodified or exchange.status == _UNMODIFIED:
        return None
    status = exchange.status or 200
    try:
        decoded = content_of(inspection, capture)
    except UnreadableError:
        content, part = exchange.body.read(), exchange.is_part
        return Shown(one, exchange.url, status, exchange.headers, content, packed=True, truncated=part)
    return Shown(one, exchange.url, status, exchange.headers, decoded.content, truncated=decoded.truncated)


def _arguments(query: str) -> list[str]:
    return sorted(part for part in query.split("&") if part)


def _telling(query: str) -> list[str]:
    """The arguments that may choose what is answered."""
    return [part for part in _arguments(query) if not _BUSTERS.fullmatch(part.partition("=")[0].lower())]


def _with_query(url: Url, query: str) -> Url:
    text = url.text.partition("?")[0] + (f"?{query}" if query else "")
    return Url.from_serialised(text) or url
