"""Tells the life of one URL, or why it was not crawled."""

import time
from collections.abc import Iterator

import msgspec

from gossamer.app.build import SECRET
from gossamer.app.inspection import Inspection
from gossamer.app.seeds import Seeds
from gossamer.app.why_priority import Priority, Ranks, about_priority
from gossamer.app.why_queue import COUNTED, SCANNED, QueueView, Waiting, Whereabouts, place_of
from gossamer.archive.reader import read_record
from gossamer.engine.admission import SCOPE_HOSTS
from gossamer.frontier.robots_table import RobotsTable
from gossamer.frontier.seen_bloom import BloomTable, expected_rate
from gossamer.model.candidate import Candidate
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.url import Url
from gossamer.policy.canonical import Canonicaliser
from gossamer.policy.queue_key import queue_key
from gossamer.policy.retry import StatusAction, redirect_location, status_action
from gossamer.policy.scope import Scope
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, HASH_BYTES, Fingerprints
from gossamer.state.records import PageRecord, QueueRecord, decode, decode_host, decode_page


class Fact(msgspec.Struct, frozen=True):
    """One sentence of the story, under its heading."""

    about: str
    text: str


class Story(msgspec.Struct, frozen=True):
    """The answer: one word for what became of the URL, and how it came about.

    `state` is `done`, `retry`, `dropped`, `parked`, `rejected`, `queued`, `waiting` or `unknown`.
    """

    url: str
    state: str
    facts: list[Fact]
    record: PageRecord | None = None
    priority: Priority | None = None  # if it waits


class Storyteller:
    """Answers for any URL from the state of one crawl."""

    def __init__(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._environment = inspection.environment
        secret = self._environment.get(Family.META, SECRET)
        if secret is None:
            raise ConfigError(
                f"{inspection.folder.path}: nothing has been crawled yet. Run 'gossamer resume' first."
            )
        config = inspection.config
        self._prints = Fingerprints(secret)
        self._canonical = Canonicaliser(config.canonical)
        self._filtered = config.frontier.visited == "bloom"
        self._queues = QueueView(self._environment, self._canonical)
        self._ranks = Ranks(self._environment, config.engine.order, config.order)
        self._queue_key = queue_key(config.engine.queue_key)
        joined = self._environment.get(Family.META, SCOPE_HOSTS)
        hosts = decode(joined, tuple[str, ...]) if joined else ()
        seeds = Seeds(config, inspection.folder.path)
        self._scope = Scope(config.scope, seeds, hosts, (), config.traps)
        self._robots = RobotsTable(self._environment, 1 << 20, inspection.clock.micros)

    def tell(self, text: str) -> Story:
        """The story of a URL.

        Raises:
            ConfigError: it is no URL.
        """
        url = Url.parse(text if "://" in text else f"http://{text}")
        if url is None:
            raise ConfigError(
                f"{text!r} is not a URL of a known scheme. Write it like https://example.org/page"
            )
        host = self._prints.host(self._queue_key(url))
        fingerprint, record, waiting = self._find(url, host)
        standing = self._ranks.standing(fingerprint)
        priority = self._ranks.priority(waiting, standing) if waiting is not None else None
        facts = [*self._about_canonical(url), *self._about_origin(record, waiting)]
        if record is not None:
            facts += _about_record(record)
            facts += self._about_redirect(url, record)
        if waiting is not None and priority is not None:
            facts += self._about_waiting(waiting)
            facts += (Fact("priority", text) for text in about_priority(priority))
        elif record is not None:
            parts = self._ranks.parts(_candidate(url, record), standing)
            facts += (Fact("worth", f"{name}: {part}") for name, part in parts.items())
        if waiting is not None or record is None:
            facts += self._about_scope(url, record, waiting)
        if waiting is None and (record is None or record.state == "rejected"):
            facts += self._about_filter(fingerprint)
        facts += self._about_robots(host, url)
        facts += self._about_host(host)
        return Story(url.text, _state(record, waiting), facts, record, priority)

    def _find(self, url: Url, host: bytes) -> tuple[bytes, PageRecord | None, Waiting | None]:
        """Fingerprint of a URL, what is remembered of it, and where it waits; `host` is its queue's hash."""
        canonical = self._canonical(url)
        same = Url.from_serialised(canonical) or url
        fingerprint = self._prints.host(self._queue_key(same)) + self._prints.url(canonical)
        data = self._environment.get(Family.PAGES, fingerprint)
        record = decode_page(data) if data else None
        hosts = (host,) if fingerprint.startswith(host) else (host, fingerprint[:HASH_BYTES])
        return (
            fingerprint,
            record,
            self._queues.find(self._whereabouts(hosts, fingerprint, canonical, record)),
        )

    def _whereabouts(
        self, hosts: tuple[bytes, ...], fingerprint: bytes, canonical: str, record: PageRecord | None
    ) -> Whereabouts:
        """Where a URL may wait: its standing knows the place of now, the seen set that of its admission."""
        data = [self._environment.get(family, fingerprint) for family in (Family.STANDINGS, Family.SEEN)]
        tickets = [place_of(value) for value in data if value]
        settled = record is not None and record.state != "retry"
        known = tuple(dict.fromkeys(ticket for ticket in tickets if ticket))
        return Whereabouts(hosts, canonical, known, (bool(tickets) or self._filtered) and not settled)

    def _about_filter(self, fingerprint: bytes) -> Iterator[Fact]:
        """What a Bloom table says of a URL that nothing else tells of; it is rebuilt to be asked."""
        if not self._filtered:
            return
        config = self._inspection.config.frontier
        table = BloomTable(self._environment, config.bloom_urls, config.bloom_error, lambda _: None)
        if fingerprint not in table:
            return
        if table.admitted(fingerprint):
            text = f"it was admitted, but is not among the first {SCANNED:,} URLs that wait at its host"
        else:
            text = (
                "the Bloom table takes it for visited though it was never admitted (a false positive): it is "
                f"lost to this crawl, as about {expected_rate(table.figures()):.2g} of all new URLs now are"
            )
        yield Fact("visited table", text)

    def _about_canonical(self, url: Url) -> Iterator[Fact]:
        for rule, before, after in self._canonical.explain(url):
            yield Fact("canonical form", f"rule {rule} turns {before} into {after}")

    def _about_origin(self, record: PageRecord | None, waiting: Waiting | None) -> Iterator[Fact]:
        known = record or (waiting.entry if waiting else None)
        if known is None:
            yield Fact("found", "no page that was read mentions it, and it is no seed")
        elif not known.via:
            yield Fact("found", "it is a seed")
        else:
            hops = f", hop path {known.hops}" if known.hops else ""
            yield Fact("found", f"as {known.kind} on {known.via}, depth {known.depth}{hops}")

    def _about_redirect(self, url: Url, record: PageRecord) -> Iterator[Fact]:
        """Where it was sent, as its record in the archive has it; nothing if that was moved away."""
        place = record.place
        status = record.visits[-1].status if record.visits else 0
        if place is None or status_action(status) is not StatusAction.REDIRECT:
            return
        try:
            stored = read_record(self._inspection.folder.archive, place.file, place.offset, 0)
        except StorageError:
            return
        location = redirect_location(status, stored.http_fields)
        target = Url.parse(location, url.text) if location is not None else None
        if target is not None:
            _, found, waiting = self._find(target, self._prints.host(self._queue_key(target)))
            yield Fact("redirect", f"leads to {target.text}: {_state(found, waiting)}")

    def _about_waiting(self, waiting: Waiting) -> Iterator[Fact]:
        entry = waiting.entry
        if waiting.due is None:
            if not waiting.ahead:
                yield Fact("queue", "waits in its host's queue, the first of it")
                return
            ahead = f"more than {COUNTED:,}" if waiting.more_ahead else f"{waiting.ahead:,}"
            yield Fact("queue", f"waits in its host's queue, {ahead} before it")
            yield Fact("queue", f"the first of its host's queue is {waiting.first}")
        elif waiting.due >= FOREVER:
            yield Fact("queue", f"parked: {entry.reason}")
        else:
            seconds = (waiting.due - self._inspection.clock.micros()) / 1e6
            when = f"for {seconds:.0f} s more" if seconds > 0 else "until its host's turn"
            yield Fact("queue", f"waits {when}: {entry.reason or 'retry'} (visits so far: {entry.attempts})")

    def _about_scope(self, url: Url, record: PageRecord | None, waiting: Waiting | None) -> Iterator[Fact]:
        known = record or (waiting.entry if waiting else None)
        verdict = self._scope.judge(_candidate(url, known))
        yield Fact("scope", f"{'in scope' if verdict.admitted else 'not in scope'}: {verdict.detail}")

    def _about_robots(self, host: bytes, url: Url) -> Iterator[Fact]:
        if not self._inspection.config.robots.obey:
            yield Fact("robots", "robots files are ignored in this crawl")
            return
        entry = self._robots.latest(host, url.origin)
        if entry is None:
            return
        record = entry.record
        if entry.rules is not None:
            allowed, line = entry.rules.allows(url.target)
            why = f" by '{line}'" if line else ", no rule matches"
            yield Fact("robots", f"{'allowed' if allowed else 'forbidden'}{why}")
        else:
            left = (record.until - self._inspection.clock.micros()) / 1e6
            until = (
                f", asks again in {left:.0f} s" if record.state in ("hold", "pending") and left > 0 else ""
            )
            yield Fact("robots", f"{record.state}: {record.detail}{until}")

    def _about_host(self, host: bytes) -> Iterator[Fact]:
        data = self._environment.get(Family.HOSTS, host)
        if data is None:
            yield Fact("host", "its host is not known to this crawl")
            return
        record = decode_host(data)
        line = self._inspection.host_line(record)
        rest = f" for {line.seconds:.0f} s" if line.seconds else ""
        why = f": {line.reason}" if line.reason else ""
        last = f", last rest {record.rest / 1e6:.1f} s" if record.visits else ""
        yield Fact(
            "host",
            f"{record.name} is {line.state}{rest}{why}; queued {record.queued}, waiting {record.waiting}, "
            f"visits {record.visits}, failures in a row {record.failures}{last}",
        )


def _candidate(url: Url, known: PageRecord | QueueRecord | None) -> Candidate:
    """The candidate that a URL is, or was."""
    if known is None:
        return Candidate(url)
    return Candidate(url, known.kind, known.depth, known.hops, known.via)


def _state(record: PageRecord | None, waiting: Waiting | None) -> str:
    if waiting is not None:
        return "queued" if waiting.due is None else "waiting"
    return record.state if record else "unknown"


def _about_record(record: PageRecord) -> Iterator[Fact]:
    if record.state == "rejected":
        yield Fact("admission", f"turned away: {record.reason}")
        return
    if record.number:
        yield Fact("admission", f"number {record.number} at level {record.weight}")
    for visit in record.visits:
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(visit.at))
        what = f"status {visit.status}, {visit.size} bytes" if visit.status else f"fault {visit.fault}"
        detail = f" ({visit.detail})" if visit.detail else ""
        address = f" from {visit.address}" if visit.address else ""
        yield Fact("visit", f"{when}: {what}{address} in {visit.elapsed:.2f} s{detail}")
    reason = f": {record.reason}" if record.reason else ""
    yield Fact("outcome", f"{record.state}{reason}")
    if record.media_type:
        title = f", titled {record.title!r}" if record.title else ""
        yield Fact("page", f"{record.media_type} {record.charset}, {record.references} links{title}")
    if record.payload and record.place:
        twin = f", same payload as {record.twin}" if record.twin else ""
        yield Fact("digest", f"sha256:{record.payload.hex()}{twin}")
    if record.place:
        yield Fact(
            "archive",
            f"{record.place.file} at {record.place.offset}, {record.place.length} bytes, {record.captured}",
        )
