"""Sums the URLs left by registrable domain, in bounded memory."""

import math

import msgspec

from gossamer.policy.urls.registrable import registrable_domain
from gossamer.state.records import HostRecord

HOSTS_READ = 20_000
"""Hosts whose domains are looked up, some 14 us each; at most twice as many."""
DOMAINS_LISTED = 10


class DomainLine(msgspec.Struct, frozen=True):
    """What is left of one registrable domain.

    Attributes:
        hosts: its hosts with URLs left; `None` if they were not all counted.
        error: standard error of `queued + waiting`; 0 if every host was counted.
    """

    name: str
    queued: int
    waiting: int
    hosts: int | None
    error: int


class DomainSizes(msgspec.Struct, frozen=True):
    """The domains with the most URLs left.

    Of `hosts` that have URLs left `hosts_read` were looked at. Those with at least `sure_from` URLs are all
    among them; the others stand for their like.
    """

    hosts: int
    hosts_read: int
    sure_from: int
    domains: list[DomainLine]


class _Sum:
    __slots__ = ("hosts", "queued", "variance", "waiting")

    def __init__(self, variance: float) -> None:
        self.queued = self.waiting = 0.0
        self.hosts = 0
        self.variance = variance


class DomainCensus:
    """Is told of every host in the order of their keys; keeps sums of at most `2 * HOSTS_READ` domains.

    A host with at least `step` URLs is counted. Smaller ones are drawn systematically, one for every `step`
    URLs, and the one drawn stands for `step`. Keys are keyed hashes, so the order of hosts is random.
    """

    def __init__(self, hosts: int, urls: int) -> None:
        """For a crawl of about `hosts` hosts with `urls` URLs left."""
        self._step = 1 if hosts <= HOSTS_READ else max(1, math.ceil(urls / HOSTS_READ))
        self._passed = self._step // 2
        # Small hosts of a domain that were not drawn leave no trace in its sum: one draw's worth of doubt.
        self._unseen = 0.0 if self._step == 1 else float(self._step**2)
        self._sums: dict[str, _Sum] = {}
        self._hosts = self._read = 0

    def add(self, record: HostRecord) -> None:
        """Take a host into account."""
        size = record.queued + record.waiting
        if size <= 0:
            return
        self._hosts += 1
        step = self._step
        factor, variance = 1.0, 0.0
        if size < step:
            self._passed += size
            if self._passed < step:
                return
            self._passed -= step
            factor = step / size
            variance = step * (step - size)
        self._read += 1
        domain = registrable_domain(record.name)
        entry = self._sums.get(domain)
        if entry is None:
            entry = self._sums[domain] = _Sum(self._unseen)
        entry.queued += factor * record.queued
        entry.waiting += factor * record.waiting
        entry.hosts += 1
        entry.variance += variance

    def sizes(self) -> DomainSizes:
        """The largest domains so far."""
        largest = sorted(self._sums.items(), key=lambda item: (-item[1].queued - item[1].waiting, item[0]))
        lines = [
            DomainLine(
                name,
                round(left.queued),
                round(left.waiting),
                left.hosts if self._step == 1 else None,
                round(left.variance**0.5),
            )
            for name, left in largest[:DOMAINS_LISTED]
        ]
        return DomainSizes(self._hosts, self._read, self._step, lines)
