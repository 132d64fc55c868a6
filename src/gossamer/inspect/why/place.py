"""Finds where a URL waits."""

from collections.abc import Callable

import msgspec

from gossamer.model.url import Url
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES, TICKET_BYTES, split_later
from gossamer.state.records import QueueRecord, decode_host, decode_queue

SCANNED = 200_000
"""Entries looked at, some 5 us each, where no table knows the place."""
COUNTED = 100_000
"""Entries counted before a URL, some 2 us each."""


class Waiting(msgspec.Struct, frozen=True):
    """An entry in the queue, or in `later`."""

    entry: QueueRecord
    ticket: bytes
    due: int | None = None
    """Microseconds, if it waits for a time of its own."""
    ahead: int = 0
    """Entries of its host before it in the queue, `COUNTED` at most."""
    more_ahead: bool = False
    """There are more than `ahead`."""
    first: str = ""
    """URL of the first entry of its host's queue."""


class Whereabouts(msgspec.Struct, frozen=True):
    """What is known of a URL before it is looked for.

    Attributes:
        hosts: hashes of the queues in which it may wait.
        canonical: its canonical form.
        tickets: places at which it was put.
        anywhere: it may also wait where no table says.
    """

    hosts: tuple[bytes, ...]
    canonical: str
    tickets: tuple[bytes, ...]
    anywhere: bool


class QueueView:
    """Looks into the queues of one crawl."""

    def __init__(self, environment: Environment, canonical: Callable[[Url], str]) -> None:
        self._environment = environment
        self._canonical = canonical

    def find(self, known: Whereabouts) -> Waiting | None:
        """The entry of a URL, if it has one and it is not too far back for a search."""
        for host in known.hosts:
            for ticket in known.tickets:
                data = self._environment.get(Family.QUEUE, host + ticket)
                if data is not None:
                    return self._placed(host, ticket, decode_queue(data))
        families = [Family.LATER] if known.tickets or known.anywhere else []
        if known.anywhere:
            families.append(Family.QUEUE)
        for host in known.hosts:
            for family in families:
                found = self._search(family, host, known)
                if found is not None:
                    return found
        return None

    def _search(self, family: Family, host: bytes, known: Whereabouts) -> Waiting | None:
        for number, (key, data) in enumerate(self._environment.scan(family, prefix=host)):
            if number == SCANNED:
                break
            entry = decode_queue(data)
            if family is Family.LATER:
                if entry.ticket in known.tickets or (known.anywhere and self._same(entry, known)):
                    return Waiting(entry, entry.ticket, split_later(key)[0])
            elif self._same(entry, known):
                return self._placed(host, key[HASH_BYTES:], entry)
        return None

    def _same(self, entry: QueueRecord, known: Whereabouts) -> bool:
        return self._canonical(entry.candidate().url) == known.canonical

    def _placed(self, host: bytes, ticket: bytes, entry: QueueRecord) -> Waiting:
        """With what stands before it; from the head on, for deleted entries lie before that."""
        data = self._environment.get(Family.HOSTS, host)
        head = decode_host(data).head if data else b""
        ahead, first = 0, entry.url
        for key, value in self._environment.scan(Family.QUEUE, host + head, host):
            if key[HASH_BYTES:] >= ticket or ahead == COUNTED:
                return Waiting(entry, ticket, None, ahead, key[HASH_BYTES:] < ticket, first)
            if not ahead:
                first = decode_queue(value).url
            ahead += 1
        return Waiting(entry, ticket, None, ahead, False, first)


def place_of(value: bytes) -> bytes:
    """The ticket in a value of `seen` or `standings`; empty if there is none."""
    place = value[:TICKET_BYTES]
    return place if any(place) else b""
