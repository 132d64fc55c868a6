"""Finds the places that hold for a URL among very many, in time that hardly grows with their number.

Where a place lies is looked up: the host and the names above it in a table, the path in a sorted list of prefixes of
which each knows the longest shorter one. What else a place asks is tried only for those that one of their conditions
points to: a word of the URL that the expression needs, the network, the media type, the port, the minute.
"""

import socket
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gossamer.model.url import Url
from gossamer.policy.places.place import Asked, PlaceRule, Reach, address_of, in_hours
from gossamer.policy.places.words import word_of, words_of
from gossamer.policy.scope.patterns import Patterns

Ranks = list[int]
"""Numbers of places by their order, 0 for the narrowest."""
_NONE: Ranks = []
_FEW = 4
"""Words that are sooner looked for one by one than a URL is cut into all of its own."""
MOST_REMEMBERED = 16_384
"""Hosts, and addresses, of which is remembered what is said; the memory is emptied when full."""


class PlaceIndex:
    """Some places, looked for all at once.

    Args:
        places: in any order.
    """

    def __init__(self, places: Iterable[PlaceRule]) -> None:
        self.places: tuple[PlaceRule, ...] = tuple(sorted(places, key=lambda place: place.width))
        """The narrowest first."""
        by_host: dict[tuple[Reach, str], Ranks] = {}
        for rank, place in enumerate(self.places):
            by_host.setdefault((place.reach, place.host), []).append(rank)
        self._tables = {key: _Paths(self.places, ranks) for key, ranks in by_host.items()}
        above = (place.host for place in self.places if place.host and place.reach is not Reach.HOST)
        self._deepest = max((name.count(".") + 1 for name in above), default=0)
        self._of_host: dict[str, tuple[_Paths, ...]] = {}

    def matching(self, asked: Asked) -> tuple[int, ...]:
        """The numbers of the places that hold, the narrowest first."""
        found: Ranks = []
        shelves = self._of_host.get(asked.host)
        if shelves is None:
            shelves = self._remember(asked.host)
        for paths in shelves:
            paths.find(asked, found)
        if len(found) > 1:
            found.sort()
        return tuple(found)

    def _remember(self, name: str) -> "tuple[_Paths, ...]":
        if len(self._of_host) >= MOST_REMEMBERED:
            self._of_host.clear()
        found = self._of_host[name] = tuple(self._for_host(name.removesuffix(".")))
        return found

    def _for_host(self, host: str) -> "Iterator[_Paths]":
        """What is said of all hosts, of one, and of the names above it, as far down as any place reaches."""
        tables = self._tables
        if (Reach.DOMAIN, "") in tables:
            yield tables[Reach.DOMAIN, ""]
        if (Reach.HOST, host) in tables:
            yield tables[Reach.HOST, host]
        dot = len(host)
        for _ in range(self._deepest):
            dot = host.rfind(".", 0, dot)
            name = host[dot + 1 :]
            if (Reach.DOMAIN, name) in tables:
                yield tables[Reach.DOMAIN, name]
            if dot < 0:
                return
            if (Reach.BELOW, name) in tables:
                yield tables[Reach.BELOW, name]


class _Paths:
    """The places of one name of hosts, by what the path begins with.

    Of two prefixes that a target has, one begins the other; so all of them are the longest, the longest that
    begins it, and so on. The longest is the last in order that is not behind the target, or one that begins it.
    """

    __slots__ = ("_prefixes", "_shelves", "_shorter")

    def __init__(self, places: Sequence[PlaceRule], ranks: Ranks) -> None:
        by_target: dict[str, Ranks] = {}
        for rank in ranks:
            by_target.setdefault(places[rank].target, []).append(rank)
        self._prefixes = sorted(by_target)
        self._shelves = [_Shelf(places, by_target[prefix]) for prefix in self._prefixes]
        self._shorter: list[int] = []
        open_: list[int] = []
        for number, prefix in enumerate(self._prefixes):
            while open_ and not prefix.startswith(self._prefixes[open_[-1]]):
                open_.pop()
            self._shorter.append(open_[-1] if open_ else -1)
            open_.append(number)

    def find(self, asked: Asked, found: Ranks) -> None:
        """Add those that hold."""
        prefixes, shorter = self._prefixes, self._shorter
        number, target = 0, "" if asked.url is None else asked.url.target
        if len(prefixes) > 1 or prefixes[0]:
            number = bisect_right(prefixes, target) - 1
            while number >= 0 and not target.startswith(prefixes[number]):
                number = shorter[number]
        while number >= 0:
            self._shelves[number].find(asked, found)
            number = shorter[number]


class _Shelf:
    """The places of one name and one path, by the condition that singles them out best."""

    __slots__ = (
        "_always",
        "_at_minute",
        "_by_network",
        "_by_port",
        "_by_type",
        "_by_word",
        "_compiled",
        "_few",
        "_minute",
        "_of_address",
        "_of_urls",
        "_places",
        "_plain",
        "_timed",
        "_wordless",
        "_words",
    )

    def __init__(self, places: Sequence[PlaceRule], ranks: Ranks) -> None:
        self._places = places
        self._compiled: dict[int, Any] = {}
        self._always: Ranks = []
        self._by_word: dict[bytes, Ranks] = {}
        self._by_network: dict[tuple[int, int], dict[int, Ranks]] = {}
        self._by_type: dict[str, Ranks] = {}
        self._by_port: dict[int, Ranks] = {}
        self._timed: Ranks = []
        self._minute, self._at_minute = -1, Ranks()
        wordless: Ranks = []
        for rank in ranks:
            self._file(rank, places[rank], wordless)
        self._wordless = (
            (Patterns([places[rank].pattern for rank in wordless]), wordless) if wordless else None
        )
        self._words = frozenset(self._by_word)
        self._few = [(word.decode(), ranks) for word, ranks in self._by_word.items()][:_FEW]
        self._of_urls = bool(self._by_port or self._by_word or self._wordless)
        self._of_address: dict[str, Ranks] = {}
        self._plain = len(self._always) == len(ranks)

    def _file(self, rank: int, place: PlaceRule, wordless: Ranks) -> None:
        if place.pattern:
            word = word_of(place.pattern).encode()
            (self._by_word.setdefault(word, []) if word else wordless).append(rank)
        elif place.network is not None:
            network = place.network
            shift = network.max_prefixlen - network.prefixlen
            key = int(network.network_address) >> shift
            self._by_network.setdefault((network.version, shift), {}).setdefault(key, []).append(rank)
        elif place.media_type:
            self._by_type.setdefault(place.media_type, []).append(rank)
        elif place.port or place.scheme:
            self._by_port.setdefault(place.port, []).append(rank)
        elif place.hours is not None:
            self._timed.append(rank)
        else:
            self._always.append(rank)

    def find(self, asked: Asked, found: Ranks) -> None:
        """Add those that hold."""
        found += self._always
        if self._plain:
            return
        if self._timed:
            if asked.minute != self._minute:  # changes once a minute
                self._minute, self._at_minute = asked.minute, self._within(asked.minute)
            found += self._at_minute
        maybe: Ranks = []
        if asked.url is not None and self._of_urls:
            self._of_url(asked.url, maybe)
        if self._by_network and asked.address:
            known = self._of_address.get(asked.address)
            maybe += self._in_networks(asked.address) if known is None else known
        if self._by_type and asked.media_type:
            maybe += self._by_type.get(asked.media_type, _NONE)
            maybe += self._by_type.get(asked.media_type.partition("/")[0] + "/*", _NONE)
        for rank in maybe:
            if self._holds(rank, asked):
                found.append(rank)

    def _within(self, minute: int) -> Ranks:
        hours = ((rank, self._places[rank].hours) for rank in self._timed)
        return [rank for rank, some in hours if some is not None and in_hours(some, minute)]

    def _of_url(self, url: Url, maybe: Ranks) -> None:
        """Add those that a URL's port points to, or a word of it."""
        if self._by_port:
            maybe += self._by_port.get(url.port, _NONE)
            maybe += self._by_port.get(0, _NONE)
        if len(self._words) > _FEW:
            words = words_of(url.text)
            if not self._words.isdisjoint(words):
                for word in self._words.intersection(words):
                    maybe += self._by_word[word]
        else:
            for few, ranks in self._few:
                if few in url.text:
                    maybe += ranks
        if self._wordless is not None and self._wordless[0].found_in(url.text):
            maybe += self._wordless[1]

    def _in_networks(self, text: str) -> Ranks:
        """Those in whose network an address lies, remembered: a site has few addresses and many pages."""
        if len(self._of_address) >= MOST_REMEMBERED:
            self._of_address.clear()
        version, number, found = *_number_of(text), Ranks()
        for (its_version, shift), table in self._by_network.items():
            if its_version == version:
                found += table.get(number >> shift, _NONE)
        self._of_address[text] = found
        return found

    def _holds(self, rank: int, asked: Asked) -> bool:
        """Whether all holds that a place asks beside host and path."""
        place, url = self._places[rank], asked.url
        if place.scheme or place.port or place.pattern:
            if url is None or (place.scheme and url.scheme != place.scheme):
                return False
            if place.port and url.port != place.port:
                return False
            if place.pattern and self._expression(rank).search(url.text) is None:
                return False
        if place.network is not None and place.pattern:  # else it was found by its network
            address = address_of(asked.address)
            if address is None or address not in place.network:
                return False
        if place.media_type and not _is_of_type(asked.media_type, place.media_type):
            return False
        return place.hours is None or in_hours(place.hours, asked.minute)

    def _expression(self, rank: int) -> Any:
        """Compiled when first needed: ten thousand would take long, and most of them never are."""
        known = self._compiled.get(rank)
        if known is None:
            import re2  # a library of 1 MB, which most crawls need not load

            known = self._compiled[rank] = re2.compile(self._places[rank].pattern)
        return known


def _number_of(address: str) -> tuple[int, int]:
    """Version and number; 0 for what is none. A tenth of the time that `ipaddress` takes."""
    version, family = (6, socket.AF_INET6) if ":" in address else (4, socket.AF_INET)
    try:
        return version, int.from_bytes(socket.inet_pton(family, address))
    except (OSError, ValueError):
        return 0, 0


def _is_of_type(media_type: str, wanted: str) -> bool:
    return media_type == wanted or (wanted.endswith("/*") and media_type.startswith(wanted[:-1]))
