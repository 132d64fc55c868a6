"""Keeps traps back: sets aside URLs whose pattern yields nothing, puts suspects behind all others (W16)."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import NamedTuple

import xxhash

from gossamer.frontier.config import HostPolicy, Session
from gossamer.frontier.domains import DomainTable
from gossamer.frontier.host_queue import HostQueue
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.later import TRAP, Later
from gossamer.frontier.link_count import LinkCount, LinkCounter
from gossamer.frontier.patterns import PatternTable
from gossamer.frontier.serving import Serving
from gossamer.frontier.trap_repeats import Repeats, is_renewed
from gossamer.frontier.trap_return import TrapReturn
from gossamer.frontier.trap_turns import FIRST_SUSPECT, SuspectTurns
from gossamer.frontier.turn import Turn
from gossamer.frontier.visited import VisitedTable
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy import distinct
from gossamer.policy.farms import farm_handicap
from gossamer.policy.ordering import is_robots
from gossamer.policy.registrable import registrable_domain
from gossamer.policy.scope_rules import is_requisite
from gossamer.policy.trap_learner import (
    GOOD,
    SUSPECT,
    Evidence,
    PatternRecord,
    Verdict,
    demoted,
    handicap_of,
    head_start,
    is_trusted,
    judge,
    learn,
    wants_sketch,
    yields,
)
from gossamer.policy.url_pattern import ODD, REPEATS, UrlPattern, url_pattern
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import FOREVER, split_ticket, ticket
from gossamer.state.records import Counters, QueueRecord, encode

PAUSE = 1_000
"""Microseconds that a host rests when all its entries in memory had to move, so that others have turns."""
ASK_AGAIN = 500_000
"""Microseconds after which a suspect that waits asks again."""
READ_AT_ONCE = 32
"""Entries of a suspect host that are read from disk to see whether they are suspects still."""
SMALL = 16
"""Entries and visits of a host up to which no URL of it is put behind others."""
_REDUNDANT = Verdict("admit", SUSPECT + 1, "the same is known without session id or cycle")
ASKED_AT_ONCE = 4
"""Pages of a pattern whose text is asked for before the first of them is judged."""


class Queues(NamedTuple):
    """The frontier's parts that a gate works on."""

    environment: Environment
    later: Later
    hosts: HostTable
    serving: Serving
    counters: Counters
    changes: Callable[[], AbstractContextManager[Batch]]
    seen: VisitedTable


class TrapGate:
    """Judges URLs when they are found and again when their turn comes; learns from what they brought.

    Seeds and what they redirect to, robots files and requisites are never held back. Nothing is lost: what
    is set aside lies in `later` until its pattern is let out.
    """

    def __init__(
        self,
        policy: HostPolicy,
        queues: Queues,
        session: Session,
        domains: DomainTable | None,
    ) -> None:
        """`domains`: helps to tell link farms, where the policy says that they are looked for."""
        assert policy.traps is not None
        self._config = policy.traps
        self._queues = queues
        self._now = session.now
        self.host_hash = lru_cache(maxsize=1 << 14)(session.fingerprints.host)
        """Hash of the name of a queue, as `Frontier.host_key` has it."""
        self._farms = domains if policy.farms else None
        self._table = PatternTable(queues.environment, session.fingerprints.url, session.now)
        self._repeats = Repeats(queues.environment, queues.seen, session.fingerprints.url)
        self._returning = TrapReturn(*queues[:4])
        # From outside it cannot be told which URLs of a trap are probed.
        self._seed = int.from_bytes(session.fingerprints.url("probes"), "big")
        self._turns = SuspectTurns(policy.traps.suspects, policy.rest, queues.serving.rota, session.now)
        self._approved = False
        self._lessons = 0
        self._convicted = (b"", 0)
        # Often a URL has its turn and is settled soon after it was found.
        self._pattern = lru_cache(maxsize=4_096)(url_pattern)
        self._asked: Counter[tuple[bytes, str]] = Counter()
        self.counter = LinkCounter()
        self._held: HostQueue | None = None

    # Admitting …

    def admitted(self, host: bytes, candidate: Candidate) -> tuple[int, str]:
        """(handicap, why it is to be set aside or empty) of a new URL, which is counted."""
        if _exempt(candidate):
            return 0, ""
        url = candidate.url
        pattern = self._pattern_of(host, url)
        own = self._table.get(host, pattern.text)
        verdict = self._judge(host, own, pattern, candidate)
        away = verdict.action == "quarantine"
        self._table.count(host, pattern, turned_away=away)
        if self.counter.current is not None and not is_renewed(pattern):
            stem = own if own.proven else self._table.get(host, pattern.stem)
            self.counter.current.add(own, stem, pattern, url.target)
        return verdict.handicap, TRAP + verdict.reason if away else ""

    def set_aside(
        self, host: tuple[bytes, str], candidate: Candidate, level: int, reason: str, batch: Batch
    ) -> bytes:
        """Let a new URL wait until its pattern is let out; the place in the queue that it would have had.

        `host`: hash and name of its queue.
        """
        later, hosts, serving, counters = self._queues[1:5]
        counters.sequence += 1
        place = ticket(level, counters.sequence)
        counters.hosts += hosts.get(host[0]) is None
        record = hosts.change(*host)
        later.set_aside(host[0], record, QueueRecord.of(candidate, reason, place), batch)
        if not record.wake and not record.parked:
            serving.wake.set(host[0], record, FOREVER, batch)
        return place

    # Lending …

    @property
    def holding_back(self) -> bool:
        """A suspect waits because there is something better to wait for, and was not taken away meanwhile."""
        return self._held is not None and self._held.placed is not None

    def begin(self, queue: HostQueue) -> Turn:
        """Whether a host may have its turn: a suspect waits while there is something better to wait for."""
        if self._farms is not None:
            behind = self._farm(queue)
            if behind != queue.behind:
                queue.behind = behind
                return Turn.NEXT
        if queue.first_ticket < FIRST_SUSPECT:
            self._approved, self._held = False, None
            return Turn.GO
        if queue.has_entry and self._let_forward(queue):
            return Turn.NEXT
        self._approved = self._turns.allows(queue.record.name)
        self._held = None if self._approved else queue
        return Turn.GO if self._approved else Turn.WAIT

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the first entry may go by what is known now; moves entries back until the first one may."""
        place, candidate = queue.buffer[0]
        handicap = place[0] >> 4
        if not _exempt(candidate):
            verdict = self._verdict(queue.key, candidate)
            if verdict is not GOOD and _is_worse(verdict, handicap):
                self._move_back(queue)
                return Turn.WAIT
        return Turn.WAIT if handicap >= SUSPECT and not self._approved else Turn.GO

    def lent(self, queue: HostQueue, place: bytes) -> None:
        """A lease goes out."""
        self._turns.lent(queue, place)

    def settled(self, host: bytes, place: bytes) -> None:
        """It comes back."""
        self._turns.settled(host, place)

    def _move_back(self, queue: HostQueue) -> None:
        """Move entries from the front to where they belong now, as many as are in memory."""
        with self._queues.changes() as batch:
            self._queues.hosts.change(queue.key, queue.record.name)
            place = b""
            for _ in range(2 * len(queue.buffer)):
                place, candidate = queue.buffer[0]
                level, sequence = split_ticket(place)
                verdict = self._verdict(queue.key, candidate)
                away = verdict.action == "quarantine"
                if _exempt(candidate) or not _is_worse(verdict, handicap_of(level)):
                    break
                del queue.buffer[0]
                if away:
                    self._queues.later.put(queue, place, candidate, FOREVER, TRAP + verdict.reason, batch)
                else:
                    worse = ticket(demoted(level, verdict.handicap), sequence)
                    batch.delete(Family.QUEUE, queue.key + place)
                    batch.put(Family.QUEUE, queue.key + worse, encode(QueueRecord.of(candidate)))
                    queue.insert(worse, candidate, len(queue.buffer) + 1)
                queue.set_head(place)
                if not queue.buffer:
                    queue.record.due = max(queue.record.due, self._now() + PAUSE)
                    break

    def _let_forward(self, queue: HostQueue) -> bool:
        """Move entries in memory that were taken for suspects, and are none any more, to their places."""
        state = queue.key, self._lessons
        if state == self._convicted:
            return False  # it asked before, and nothing was learned since
        self._convicted = state
        if not queue.buffer:
            queue.fill(self._queues.environment, READ_AT_ONCE)
        place, candidate = queue.buffer[0]
        if place[0] >> 4 < SUSPECT or not self._is_cleared(queue.key, candidate):
            return False
        with self._queues.changes() as batch:
            self._queues.hosts.change(queue.key, queue.record.name)
            entries = []
            for old, candidate in queue.buffer:
                place = old
                if old[0] >> 4 >= SUSPECT and self._is_cleared(queue.key, candidate):
                    level, sequence = split_ticket(old)
                    place = ticket(demoted(level, self._verdict(queue.key, candidate).handicap), sequence)
                    batch.delete(Family.QUEUE, queue.key + old)
                    batch.put(Family.QUEUE, queue.key + place, encode(QueueRecord.of(candidate)))
                entries.append((place, candidate))
            queue.buffer[:] = sorted(entries, key=lambda entry: entry[0])
            queue.set_head(queue.buffer[0][0])
        return True

    def _is_cleared(self, host: bytes, candidate: Candidate) -> bool:
        verdict = self._verdict(host, candidate)
        return verdict.action == "admit" and verdict.handicap < SUSPECT

    def _farm(self, queue: HostQueue) -> int:
        """The handicap of a host for what its domain is."""
        assert self._farms is not None
        name = queue.record.name
        domain = self._farms.get(registrable_domain(name))
        if domain is None:
            return 0
        visits = domain.pages + self._farms.lent(name)
        if visits < self._config.farm_visits:
            return 0
        return farm_handicap(visits, distinct.count(domain.linkers), self._config, seeded=domain.seeded)

    # Letting out …

    @property
    def lets_out(self) -> bool:
        """`let_out` has something to do."""
        return self._returning.due

    def let_out(self, batch: Batch) -> None:
        """Bring back some of what was set aside and need not be any more."""
        self._returning.run(
            lambda host, candidate: self._verdict(host, candidate).action == "quarantine", batch
        )

    def next_due(self, due: int) -> int:
        """`due`, or when a suspect that is held back asks again, or now if something may be let out."""
        if self._returning.due:
            return min(due, self._now())
        return min(due, self._now() + ASK_AGAIN) if self.holding_back else due

    def forget(self, theirs: Callable[[bytes], bool]) -> None:
        """Some hosts, told by their hashes, are given away, or have come from elsewhere."""
        self._table.forget(theirs)
        self._returning.forget(theirs)

    def look_again(self, host: bytes, name: str) -> None:
        """Of a host that has come from elsewhere, something set aside is to be brought back."""
        self._returning.ask(host, name)

    def flush(self, batch: Batch) -> None:
        """`batch` is committed next."""
        self._table.flush(batch)
        self._returning.flush(batch)

    # Settling …

    def count_for(self, candidate: Candidate) -> LinkCount:
        """For counting the links of a page."""
        return LinkCount(self._pattern(candidate.url.target), candidate.url.target)

    def wants_sketch(self, host: bytes, candidate: Candidate) -> bool:
        """Whether a page is to be judged by its text."""
        url = candidate.url
        pattern = self._pattern_of(host, url)
        own = self._table.get(host, pattern.text)
        if not wants_sketch(own, pattern.doubts, hash(url.text)):
            return False
        if is_robots(candidate) or is_requisite(candidate):
            return False
        key = host, pattern.text
        if self._asked[key] >= ASKED_AT_ONCE and not pattern.doubts & ODD and (own.gained or not own.tried):
            return False  # it is going well, and what is under way will tell
        self._asked[key] += 1
        return True

    def answered(self, host: bytes, candidate: Candidate) -> None:
        """A page for which `wants_sketch` was asked is being settled, whatever came of it."""
        self._asked.pop((host, self._pattern_of(host, candidate.url).text), None)

    def learn(self, host: bytes, name: str, candidate: Candidate, evidence: Evidence) -> None:
        """Learn from a page, within a batch; if its pattern is let out, what was set aside comes back."""
        config, table = self._config, self._table
        self._lessons += 1
        pattern = self._pattern_of(host, candidate.url)
        own = table.get(host, pattern.text)
        stem = own if pattern.stem == pattern.text else table.get(host, pattern.stem)
        start = head_start(pattern.doubts, table.stems.get(pattern.stem), config)
        table.learn_stem(pattern.stem, stem.tried, good=yields(evidence, config))
        for record, more in zip((own, stem) if stem is not own else (own,), evidence.bred, strict=False):
            learned = learn(record, evidence, start, more, config)
            table.put(host, learned)
            if record.quarantined and not learned.quarantined:
                self._returning.ask(host, name)

    # Looking …

    def _pattern_of(self, host: bytes, url: Url) -> UrlPattern:
        return self._repeats.pattern(host, self._pattern(url.target), url)

    def _verdict(self, host: bytes, candidate: Candidate) -> Verdict:
        pattern = self._pattern_of(host, candidate.url)
        return self._judge(host, self._table.get(host, pattern.text), pattern, candidate)

    def _judge(self, host: bytes, own: PatternRecord, pattern: UrlPattern, candidate: Candidate) -> Verdict:
        if is_trusted(own) and not pattern.doubts & REPEATS:
            return GOOD
        stem = self._table.get(host, pattern.stem)
        mark = self._mark(candidate) if own.quarantined or stem.quarantined else 0
        elsewhere = self._table.stems.get(pattern.stem)
        verdict = judge(own, stem, pattern.doubts, mark, elsewhere, self._config)
        if verdict.action != "admit" or own.released or stem.released:
            return verdict
        if self._repeats.expected(host, pattern, candidate.url):
            return max(verdict, _REDUNDANT, key=lambda one: one.handicap)
        if verdict.handicap and not pattern.doubts & ODD and self._is_small(host):
            return GOOD
        return verdict

    def repeats(self, host: bytes, candidate: Candidate, page: Page | None) -> bool:
        """Whether a page is taken for what is known without the session id, or without going round."""
        url = candidate.url
        return self._repeats.found(host, self._pattern_of(host, url), url, page)

    def _is_small(self, host: bytes) -> bool:
        """Whether so little is known of a host that there is no reason to change its order."""
        record = self._queues.hosts.get(host)
        return record is None or record.queued + record.waiting + record.visits < SMALL

    def _mark(self, candidate: Candidate) -> int:
        return xxhash.xxh3_64_intdigest(candidate.url.text.encode(), self._seed)


def _exempt(candidate: Candidate) -> bool:
    """Seeds with what they redirect to, robots files, requisites, and what is fetched by force."""
    if candidate.forced or not candidate.hops.strip("R"):
        return True
    if candidate.kind is LinkKind.NAVIGATION:  # nearly all
        return bool(candidate.origin)
    return is_robots(candidate) or is_requisite(candidate)


def _is_worse(verdict: Verdict, handicap: int) -> bool:
    """Whether an entry belongs further back, and so far that it is worth moving."""
    if verdict.action == "quarantine" or verdict.handicap >= SUSPECT > handicap:
        return True
    return verdict.handicap > handicap + (handicap < SUSPECT)
