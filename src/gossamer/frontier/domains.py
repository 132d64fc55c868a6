"""The records of registrable domains, kept where budgets go by domain."""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache

from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import Reason
from gossamer.policy import distinct
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.policy.visits import star
from gossamer.policy.visits.budget import BudgetConfig, Spent, domain_limit_reached
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import DomainRecord, decode_domain, encode

KEPT = 20_000
"""Records kept in memory at most, some 300 bytes each; others are read from disk when they are asked for."""

DOMAIN_OUT_SECONDS = 1.0
"""Rest of a host while what its domain may still have is out with other hosts."""

_PREFIX = "domain "  # no name of a host queue holds a blank


class DomainTable:
    """Domain records by name, read on demand, written back with the frontier's batch.

    A domain is known from the first URL of it that is admitted; links to others are not counted, so nothing
    is kept of what lies out of scope. A link that is counted gives nothing to URLs that wait already: the
    budget decides the round of those to come.

    Invariant: a record that was changed is written by the next `flush`, and stays the only copy until then.
    """

    def __init__(
        self, environment: Environment, hashed: Callable[[str], bytes], config: BudgetConfig
    ) -> None:
        """`hashed`: a keyed hash of 8 bytes, as `Fingerprints.host`."""
        self._environment = environment
        self._config = config
        self._key = lru_cache(maxsize=1 << 14)(lambda name: hashed(_PREFIX + name))
        self._changed: dict[str, DomainRecord] = {}
        self._young: dict[str, DomainRecord | None] = {}
        self._old: dict[str, DomainRecord | None] = {}
        self._lent: Counter[str] = Counter()

    # For reading …

    def get(self, name: str) -> DomainRecord | None:
        """What is known of a registrable domain, or `None`."""
        if (record := self._changed.get(name)) is not None:
            return record
        if name in self._young:
            return self._young[name]
        if name in self._old:
            record = self._old[name]
        else:
            data = self._environment.get(Family.DOMAINS, self._key(name))
            record = decode_domain(data) if data else None
        self._keep(name, record)
        return record

    def budget_of(self, record: DomainRecord) -> int:
        """URLs of its first round, by the links so far."""
        return star.star_budget(self._config, record.linkers, seeded=record.seeded)

    def round_of(self, record: DomainRecord) -> int:
        """The round of the next URL that is admitted; always 0 without `star`."""
        return star.round_of(record.admitted, self.budget_of(record)) if self._config.star else 0

    @property
    def counts_linkers(self) -> bool:
        """Whether `linked` is to be called for each page."""
        return self._config.star

    # Admitting …

    def admitted(self, candidate: Candidate) -> int:
        """Count a URL that is being queued; its round."""
        name = registrable_domain(candidate.url.host)
        record = self._change(name) or self._make(name)
        if not candidate.hops.strip("R") and candidate.kind in (LinkKind.SEED, LinkKind.REDIRECT):
            record.seeded = True
        grade = self.round_of(record)
        record.admitted += 1
        return grade

    def linked(self, hosts: Iterable[str], finder: str) -> None:
        """A page of the host `finder` links to `hosts`."""
        own = registrable_domain(finder)
        item = self._key(own)[: distinct.HASH_BYTES]
        for name in {registrable_domain(host) for host in hosts}:
            record = None if name == own else self.get(name)
            if record is None:
                continue
            linkers = distinct.add(record.linkers, item)
            if linkers is not record.linkers:
                record.linkers = linkers
                self._changed[name] = record

    # Lending and settling: `queue` is the name of a host queue, all of whose hosts share one domain …

    def spent(self, queue: str) -> Reason | None:
        """Which limit its domain has reached if all that is lent counts, if any."""
        name = registrable_domain(queue)
        record = self.get(name)
        if record is None:
            return None
        spent = Spent(record.pages + self._lent[name], record.bytes)
        return domain_limit_reached(self._config, spent)

    def lent(self, queue: str) -> int:
        """Leases out in its domain."""
        return self._lent[registrable_domain(queue)]

    def lend(self, queue: str) -> None:
        """Note that a lease of a host goes out."""
        self._lent[registrable_domain(queue)] += 1

    def settle(self, queue: str, tally: Tally) -> None:
        """Note that a lease comes back, and what it took."""
        name = registrable_domain(queue)
        self._lent[name] -= 1
        if not self._lent[name]:
            del self._lent[name]
        if (tally.pages or tally.bytes) and (record := self._change(name)) is not None:
            record.pages += tally.pages
            record.bytes += tally.bytes

    def take_in(self, record: DomainRecord) -> None:
        """Add what another frontier knows of a domain to what is known here."""
        ours = self._change(record.name) or self._make(record.name)
        ours.admitted += record.admitted
        ours.linkers = distinct.union(ours.linkers, record.linkers)
        ours.seeded = ours.seeded or record.seeded
        ours.pages += record.pages
        ours.bytes += record.bytes

    def give_away(self, name: str, batch: Batch) -> None:
        """Forget a domain that another agent has now."""
        batch.delete(Family.DOMAINS, self._key(name))
        for table in (self._changed, self._young, self._old):
            table.pop(name, None)

    def flush(self, batch: Batch) -> None:
        """Put every changed record into `batch`."""
        for name, record in self._changed.items():
            batch.put(Family.DOMAINS, self._key(name), encode(record))
        self._changed.clear()

    def _change(self, name: str) -> DomainRecord | None:
        record = self.get(name)
        if record is not None:
            self._changed[name] = record
        return record

    def _make(self, name: str) -> DomainRecord:
        record = self._changed[name] = DomainRecord(name)
        self._keep(name, record)
        return record

    def _keep(self, name: str, record: DomainRecord | None) -> None:
        """In two generations: what was asked for since the last change of generation is not forgotten."""
        if len(self._young) >= KEPT // 2:
            self._old, self._young = self._young, {}
        self._young[name] = record
