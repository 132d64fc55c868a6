"""Tells the life of one URL, or why it was not crawled."""

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice

import msgspec

from gossamer.archive.reader import read_record
from gossamer.assembly.seeds import Seeds
from gossamer.config.effective import minute_of_day
from gossamer.config.explained import explained
from gossamer.frontier.robots_table import RobotsTable
from gossamer.frontier.seen.bloom import BloomTable
from gossamer.frontier.seen.bloom_size import expected_rate
from gossamer.inspect.archive.reference_counts import references
from gossamer.inspect.archive.reread import referrers
from gossamer.inspect.hosts import doing
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.soft_missing import SoftMissing
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.inspect.why.again import about_again
from gossamer.inspect.why.by_place import told_of
from gossamer.inspect.why.place import COUNTED, SCANNED, QueueView, Waiting, Whereabouts, place_of
from gossamer.inspect.why.priority import Priority, Ranks, told_parts
from gossamer.inspect.why.sentences import Clause, Told, clause, in_english
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import PageState
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.exchange import StatusAction
from gossamer.model.link import LinkKind
from gossamer.model.reasons.codes import ProblemCode, RetryCode
from gossamer.model.reasons.reason import Reason, because, together
from gossamer.model.url import Url
from gossamer.policy.places.place import Asked
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.scope.scope import Scope
from gossamer.policy.speculation.belief import Tried, TriedKind
from gossamer.policy.speculation.form import group_of, is_question, word_of
from gossamer.policy.visits.retry import redirect_location, status_action
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, HASH_BYTES
from gossamer.state.records import (
    SCOPE_HOSTS,
    PageRecord,
    QueueRecord,
    VisitRecord,
    decode,
    decode_host,
    decode_page,
)
from gossamer.words.amounts import moment

MOST_COMPARED = 5_000
MOST_NEAR = 3
REFERRERS = 5
"""Pages named that still link to one that is gone."""


class Fact(msgspec.Struct, frozen=True):
    """One sentence of the story, under its heading."""

    about: str
    told: Told

    @property
    def text(self) -> str:
        """The sentence in English words."""
        return in_english(self.told)


def fact(about: str, *told: Clause | None) -> Fact:
    """A fact of the clauses that there are."""
    return Fact(about, tuple(one for one in told if one is not None))


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
        prints = fingerprints_of(self._environment)
        if prints is None:
            raise ConfigError(because(ProblemCode.NOT_BEGUN_AT, str(inspection.folder.path)))
        config = inspection.config
        self._places = UrlPlaces(self._environment, prints, config)
        self._canonical = self._places.canonical
        self._filtered = config.frontier.visited == "bloom"
        self._queues = QueueView(self._environment, self._canonical)
        self._ranks = Ranks(self._environment, config.engine.order, config.order)
        joined = self._environment.get(Family.META, SCOPE_HOSTS)
        hosts = decode(joined, tuple[str, ...]) if joined else ()
        seeds = Seeds(config, inspection.folder.path)
        self._scope = Scope(
            config.scope,
            seeds,
            hosts,
            (),
            config.traps,
            config.local.scope_places,
            config.sessions,
            config.known_as,
        )
        self._soft = SoftMissing(self._environment)
        self._robots = RobotsTable(self._environment, 1 << 20, inspection.clock.micros)

    def tell(self, text: str) -> Story:
        """The story of a URL; one that begins with a slash is of the first seed's host.

        Raises:
            ConfigError: it is no URL.
        """
        url = url_of(self._inspection, text)
        shared, url = list(self._about_mirrors(url)), self._places.where(url)
        host = self._places.host(url)
        fingerprint, record, waiting = self._find(url, host)
        standing = self._ranks.standing(fingerprint)
        rank = self._ranks.rank(waiting, standing) if waiting is not None else None
        facts = [*shared, *self._about_canonical(url), *self._about_origin(record, waiting)]
        facts += self._about_references(url)
        if record is not None and (record.presence is Presence.GONE or self._soft(fingerprint, record)):
            facts += self._about_referrers(url)
        if record is not None:
            facts += _about_record(record)
            if self._soft(fingerprint, record):
                facts.append(fact("outcome", clause("outcome.soft")))
            facts += self._about_redirect(url, record)
            again = about_again(self._inspection, host, fingerprint, url, record)
            facts += (fact("visited again", told) for told in again)
        if waiting is not None and rank is not None:
            facts += self._about_waiting(waiting)
            facts += (Fact("priority", told) for told in rank.sentences)
        elif record is not None:
            parts = self._ranks.parts(_candidate(url, record), standing)
            facts += (Fact("worth", told) for told in told_parts(parts))
        if waiting is not None or record is None:
            facts += self._about_scope(url, record, waiting)
        if waiting is None and (record is None or record.state == PageState.REJECTED):
            facts += self._about_filter(fingerprint)
        facts += self._about_places(url, record)
        facts += self._about_robots(host, url)
        facts += self._about_host(host)
        return Story(url.text, _state(record, waiting), facts, record, rank.priority if rank else None)

    def nearest(self, address: str) -> list[str]:
        """Known URLs of the same host that are spelt almost like one, the most alike first."""
        url = Url.parse(address)
        if url is None:
            return []
        host = self._places.host(url)
        records = self._environment.scan(Family.PAGES, prefix=host)
        known = [decode_page(data).url for _, data in islice(records, MOST_COMPARED)]
        return get_close_matches(url.text, known, MOST_NEAR)

    def _find(self, url: Url, host: bytes) -> tuple[bytes, PageRecord | None, Waiting | None]:
        """Fingerprint of a URL, what is remembered of it, and where it waits; `host` is its queue's hash."""
        canonical = self._canonical(url)
        fingerprint = self._places.fingerprint(url)
        record = self._places.record(fingerprint)
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
        settled = record is not None and record.state != PageState.RETRY
        if record is not None and record.asked:
            tickets.append(record.asked)
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
            yield fact("visited table", clause("visited.admitted", scanned=SCANNED))
        else:
            rate = expected_rate(table.figures())
            yield fact("visited table", clause("visited.false", rate=rate))

    def _about_mirrors(self, url: Url) -> Iterator[Fact]:
        """Which of the mirrors were asked for a document, and why not the first alone."""
        mirrors = self._places.mirrors
        of_it = mirrors.all_of(url) if mirrors is not None else ()
        if of_it:
            yield fact("mirrors", clause("mirrors.shared", first=of_it[0].text, mirrors=len(of_it)))
        for one in of_it:
            if (why := self._places.passed_on(one)) is None:
                break
            yield fact("mirrors", clause("mirrors.passed", url=one.text, reason=why))

    def _about_canonical(self, url: Url) -> Iterator[Fact]:
        for rule, before, after in self._canonical.explain(url):
            yield fact("canonical form", clause("canonical.rule", rule=rule, before=before, after=after))

    def _about_origin(self, record: PageRecord | None, waiting: Waiting | None) -> Iterator[Fact]:
        known = record or (waiting.entry if waiting else None)
        if known is None:
            yield fact("found", clause("found.nowhere"))
        elif not known.via:
            yield fact("found", clause("found.seed"))
        else:
            link = clause("found.link", kind=str(known.kind), via=known.via, depth=known.depth)
            yield fact("found", link, clause("found.hops", hops=known.hops) if known.hops else None)
            if known.kind is LinkKind.SPECULATIVE:
                yield self._about_speculation(known)

    def _about_speculation(self, known: PageRecord | QueueRecord) -> Fact:
        """Where a speculative link stood, and how far such ones are believed on its host now."""
        data = self._environment.get(Family.HOSTS, self._places.host(url_of(self._inspection, known.url)))
        tried = Tried.unpacked(decode_host(data).speculation if data else b"")
        group = group_of(known.element)
        kind = tried.kinds.get(group, TriedKind())
        if is_question(known.element):
            word = word_of(known.element)
            told = clause("found.form", form=group, word=word, found=kind.found, missing=kind.missing)
        else:
            told = clause(
                "found.speculative",
                element=group,
                belief=tried.belief(group),
                found=kind.found,
                missing=kind.missing,
            )
        return fact("found", told)

    def _about_references(self, url: Url) -> Iterator[Fact]:
        """K7's hit count, from the link graph that was written last."""
        known = references(self._inspection.links, self._inspection.config.document_name(url))
        if known is None:
            yield fact("references", clause("references.uncounted"))
        else:
            yield fact("references", clause("references.pages", pages=known.pages, when=known.when))

    def _about_referrers(self, url: Url) -> Iterator[Fact]:
        """Who still links to what is gone: some of them, by the same graph."""
        for one in referrers(self._inspection, url).listed[:REFERRERS]:
            yield fact("references", clause("references.from", kind=str(one.kind), url=one.url))

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
        location = redirect_location(status, stored.headers)
        target = Url.parse(location, url.text) if location is not None else None
        if target is not None:
            _, found, waiting = self._find(target, self._places.host(target))
            state = _state(found, waiting)
            yield fact("redirect", clause("redirect.target", target=target.text, state=state))

    def _about_waiting(self, waiting: Waiting) -> Iterator[Fact]:
        entry = waiting.entry
        if waiting.due is None:
            if not waiting.ahead:
                yield fact("queue", clause("queue.first"))
                return
            if waiting.more_ahead:
                yield fact("queue", clause("queue.far_behind", ahead=COUNTED))
            else:
                yield fact("queue", clause("queue.behind", ahead=waiting.ahead))
            yield fact("queue", clause("queue.head", url=waiting.first))
        elif entry.again:
            seconds = (waiting.due - self._inspection.clock.micros()) / 1e6
            yield fact("queue", clause("queue.again", seconds=max(seconds, 0.0)))
        elif waiting.due >= FOREVER:
            yield fact("queue", clause("queue.parked", reason=entry.reason or RETRY))
        else:
            seconds = (waiting.due - self._inspection.clock.micros()) / 1e6
            reason, visits = entry.reason or RETRY, entry.attempts
            if seconds > 0:
                yield fact("queue", clause("queue.for", seconds=seconds, reason=reason, visits=visits))
            else:
                yield fact("queue", clause("queue.turn", reason=reason, visits=visits))

    def _about_scope(self, url: Url, record: PageRecord | None, waiting: Waiting | None) -> Iterator[Fact]:
        known = record or (waiting.entry if waiting else None)
        verdict = self._scope.judge(_candidate(url, known))
        if verdict.admitted:
            yield fact("scope", clause("scope.inside", detail=verdict.why))
        else:
            yield fact("scope", clause("scope.outside", detail=verdict.why))

    def _about_places(self, url: Url, record: PageRecord | None) -> Iterator[Fact]:
        """What is otherwise where it lies, by what its last visit told of address and media type."""
        if not self._inspection.config.place:
            return
        visit = record.visits[-1] if record is not None and record.visits else None
        asked = Asked(
            url.host,
            url,
            "" if visit is None else visit.address,
            "" if record is None else record.media_type,
            minute_of_day(),
        )
        for one in explained(self._inspection.config, asked):
            if one.place:
                yield Fact("place", told_of(one))

    def _about_robots(self, host: bytes, url: Url) -> Iterator[Fact]:
        if not self._inspection.config.robots.obey:
            yield fact("robots", clause("robots.ignored"))
            return
        entry = self._robots.latest(host, url.origin)
        if entry is None:
            return
        record = entry.record
        if entry.rules is not None:
            allowed, line = entry.rules.allows(url.target)
            if not line:
                yield fact("robots", clause("robots.allowed") if allowed else clause("robots.forbidden"))
            elif allowed:
                yield fact("robots", clause("robots.allowed_by", line=line))
            else:
                yield fact("robots", clause("robots.forbidden_by", line=line))
        else:
            left = (record.until - self._inspection.clock.micros()) / 1e6
            asks = record.state in ("hold", "pending") and left > 0
            state = clause("robots.state", robots=record.state, detail=record.reason or "")
            yield fact("robots", state, clause("robots.again", seconds=left) if asks else None)

    def _about_host(self, host: bytes) -> Iterator[Fact]:
        data = self._environment.get(Family.HOSTS, host)
        if data is None:
            yield fact("host", clause("host.unknown"))
            return
        record = decode_host(data)
        state, seconds, reason = doing(record, self._inspection.clock.micros())
        yield fact(
            "host",
            clause("host.state", host=record.name, state=state),
            clause("host.for", seconds=seconds) if seconds else None,
            clause("host.reason", reason=reason) if reason else None,
            clause(
                "host.counts",
                queued=record.queued,
                waiting=record.waiting,
                visits=record.visits,
                failures=record.failures,
            ),
            clause("host.rest", seconds=record.rest / 1e6) if record.visits else None,
            clause("host.servers", servers=servers) if (servers := together(record.servers)) else None,
        )


RETRY = Reason(RetryCode.RETRY)


def url_of(inspection: Inspection, text: str) -> Url:
    """The URL that somebody means: a whole one, one without its scheme, or a path on the first seed's host.

    Raises:
        ConfigError: it is no URL.
    """
    if not text.startswith("/") or text.startswith("//"):
        url = Url.parse(text if "://" in text else f"http://{text}")
    else:
        seed = next(iter(Seeds(inspection.config, inspection.folder.path)), None)
        url = None if seed is None else Url.parse(text, seed.text)
    if url is None:
        raise ConfigError(because(ProblemCode.NO_URL, text))
    return url


def _candidate(url: Url, known: PageRecord | QueueRecord | None) -> Candidate:
    """The candidate that a URL is, or was."""
    if known is None:
        return Candidate(url)
    return Candidate(url, known.kind, known.depth, known.hops, known.via, element=known.element)


def _state(record: PageRecord | None, waiting: Waiting | None) -> str:
    if waiting is not None and not (record is not None and waiting.due is not None and waiting.entry.again):
        return "queued" if waiting.due is None else "waiting"
    return record.state if record else "unknown"


def _about_record(record: PageRecord) -> Iterator[Fact]:
    if record.state == PageState.REJECTED:
        yield fact("admission", clause("admission.rejected", reason=record.reason or RETRY))
        return
    if record.number:
        yield fact("admission", clause("admission.number", number=record.number, level=record.weight))
    yield from map(_about_visit, record.visits)
    reason = clause("outcome.reason", reason=record.reason) if record.reason else None
    yield fact("outcome", clause("outcome.state", state=record.state), reason)
    if record.media_type:
        kind = clause("page.type", type=record.media_type, charset=record.charset, links=record.references)
        yield fact("page", kind, clause("page.title", title=record.title) if record.title else None)
    if record.payload and record.place:
        digest = clause("digest.sha256", digest=record.payload.hex())
        yield fact("digest", digest, clause("digest.twin", twin=record.twin) if record.twin else None)
    if record.canonical:
        yield fact("canonical link", clause("canonical.own", canonical=record.canonical))
    if record.place:
        yield fact(
            "archive",
            clause(
                "archive.place",
                file=record.place.file,
                offset=record.place.offset,
                length=record.place.length,
                captured=record.captured,
            ),
        )


def _about_visit(visit: VisitRecord) -> Fact:
    when = f"{moment(visit.at)} UTC"
    if visit.status:
        what = clause("visit.answer", when=when, status=visit.status, size=visit.size)
    elif visit.said:
        what = clause("visit.result", when=when, said=visit.said, size=visit.size)
    else:
        what = clause("visit.fault", when=when, fault=visit.fault)
    remarks = together(visit.remarks)
    return fact(
        "visit",
        what,
        clause("visit.address", address=visit.address) if visit.address else None,
        clause("visit.took", seconds=visit.elapsed),
        _found(visit),
        clause("visit.detail", detail=remarks) if remarks else None,
    )


def _found(visit: VisitRecord) -> Clause | None:
    """Whether it found another text than the one before; nothing if it could not tell."""
    if visit.changed is None:
        return None
    return clause("visit.changed") if visit.changed else clause("visit.unchanged")
