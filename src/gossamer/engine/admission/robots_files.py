"""Robots files: refuses what they forbid, and turns a fetched one into rules for its origin."""

from collections.abc import Callable

import msgspec

from gossamer.engine.admission.admission import Admission
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate
from gossamer.model.exchange import StatusAction, Truncation
from gossamer.model.lease import Lease, Validators
from gossamer.model.link import LinkKind, further
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused, Rule
from gossamer.model.reasons.codes import MirrorCode, RobotsCode
from gossamer.model.reasons.reason import Reason, because, text
from gossamer.model.url import Url
from gossamer.policy.robots.access import (
    AllowAll,
    Hold,
    KeepRules,
    RobotsConfig,
    UseBody,
    access_for,
    effective_crawl_delay,
)
from gossamer.policy.robots.file import RobotsRules
from gossamer.policy.urls.mirrors import DOWN_AFTER, LONGEST_WAIT, Mirrors
from gossamer.policy.visits.broken import GUESSED_SITEMAP
from gossamer.policy.visits.politeness import retry_after
from gossamer.policy.visits.retry import redirect_location
from gossamer.state.records import RobotsRecord, encode

LONGEST_VALIDATOR = 1_000
PENDING_SECONDS = 3600.0
"""How long a redirected robots file may wait for its new host's turn before it is asked for again."""


class RobotsFiles:
    """Keeps what robots files say, per origin (RFC 9309), and answers for each lease."""

    def __init__(  # noqa: PLR0913 - what its rules hang on, made in one place only
        self,
        frontier: Frontier,
        admission: Admission,
        config: RobotsConfig,
        now: Callable[[], int],
        *,
        sitemaps: bool,
        guess_sitemap: bool,
        mirrors: Mirrors | None = None,
    ) -> None:
        self._frontier = frontier
        self._admission = admission
        self._config = config
        self._now = now
        self._sitemaps = sitemaps
        self._guess_sitemap = guess_sitemap
        self._mirrors = mirrors

    def refusal(self, lease: Lease, sent: Url | None = None) -> Refused | Failed | None:
        """What forbids the visit, if anything does: a robots rule, an address that is out of bounds, or a mirror
        that is down.

        `sent`: the URL that is asked, where that of the lease only stands for it.
        """
        candidate = lease.candidate
        if candidate.kind is LinkKind.ROBOTS:
            return None
        if self._mirrors is None and not self._config.obey:
            return None
        host, _ = self._frontier.host_key(candidate.url)
        entry = self._frontier.robots.latest(host, candidate.url.origin)
        if entry is not None and entry.record.state == "closed":
            return Failed(Fault.ADDRESS_FORBIDDEN, entry.record.reason or "")
        if self._mirrors is not None and entry is not None and self._is_down(entry):
            return Refused(Rule.MIRROR, because(MirrorCode.DOWN, entry.record.reason or ""))
        if entry is None or entry.rules is None or not self._config.obey:
            return None
        allowed, line = entry.rules.allows((sent or candidate.url).target)
        return None if allowed else Refused(Rule.ROBOTS, line)

    def _is_down(self, entry: RobotsEntry) -> bool:
        return entry.record.state == "down" and entry.record.until > self._now()

    def is_down_after(self, url: Url, failures: int, rest: float) -> bool:
        """Whether a mirror that has failed so often in a row, and is to rest so many seconds, is down.

        At once only while another is well: if none is, our own network may have failed, and all would lose its turn.
        """
        if self._mirrors is None or not self._mirrors.stand_on(url):
            return False
        return failures >= DOWN_AFTER or (
            rest > LONGEST_WAIT and any(map(self._is_well, self._mirrors.beside(url)))
        )

    def _is_well(self, url: Url) -> bool:
        """Whether nothing has failed of late at a mirror, as far as is known here."""
        host = self.host_of(url)
        record, entry = self._frontier.hosts.get(host), self._frontier.robots.latest(host, url.origin)
        return not (record is not None and record.failures) and not (
            entry is not None and entry.record.failures
        )

    def take_down(self, url: Url, seconds: float, reason: Reason) -> None:
        """Leave a mirror alone: what waits there has its turn at once, to be asked for elsewhere.

        When the time is over its robots file is asked for first, as if nothing were known of it.
        """
        host = self._frontier.hosts.get(self.host_of(url))
        failures = host.failures if host is not None else 0
        until = self._now() + int(seconds * 1e6)
        self.keep(url.origin, url, RobotsEntry(RobotsRecord("down", until, b"", failures, reason=reason)))

    def with_validators(self, lease: Lease) -> Lease:
        """The lease, conditional if it asks again for the very file the origin's rules came from."""
        candidate = lease.candidate
        asked = Url.from_serialised(candidate.origin + "/") if candidate.origin else None
        if asked is None:
            return lease
        host, _ = self._frontier.host_key(asked)
        entry = self._frontier.robots.latest(host, candidate.origin)
        if entry is None or entry.rules is None or entry.record.source != candidate.url.text:
            return lease
        validators = Validators(entry.record.etag, entry.record.last_modified)
        return msgspec.structs.replace(lease, validators=validators)

    def crawl_delay(self, url: Url) -> float | None:
        """Seconds the origin of `url` asks for between visits, capped."""
        host, _ = self._frontier.host_key(url)
        entry = self._frontier.robots.latest(host, url.origin)
        return effective_crawl_delay(entry.rules, self._config) if entry and entry.rules else None

    def settle(self, visit: Visit) -> Reason:
        """Learn from the visit of a robots file; what it means.

        Where the file of one origin redirects to another, the rules hold for the first (RFC 9309
        2.3.1.2); if it is the other's own robots file, they are the other's rules too, and it need not
        be asked again.
        """
        candidate = visit.lease.candidate
        asked = Url.from_serialised(candidate.origin + "/")
        assert asked is not None
        if self._redirected(visit, asked):
            return Reason(RobotsCode.REDIRECTED)
        origins = {candidate.origin: asked}
        if candidate.url.target == "/robots.txt" and not visit.is_condition_refused:
            origins[candidate.url.origin] = candidate.url
        entry = RobotsEntry(RobotsRecord("open", 0))
        for origin, url in origins.items():
            entry = self._learned(visit, origin, url)
            self._store(origin, url, entry)
            self._admit_sitemaps(visit, url, entry)
        meaning = _MEANINGS[entry.record.state]
        return because(meaning, entry.record.reason) if entry.record.reason else Reason(meaning)

    def _learned(self, visit: Visit, origin: str, url: Url) -> RobotsEntry:
        host, _ = self._frontier.host_key(url)
        before = self._frontier.robots.latest(host, origin)
        failures = before.record.failures if before else 0
        now = self._now()
        fresh_until = now + int(self._config.max_age * 1e6)
        if visit.is_condition_refused and before is not None:
            # No "there is none": the rules hold until it is asked without condition, which is at once.
            bare = msgspec.structs.replace(before.record, until=now, etag="", last_modified="")
            return RobotsEntry(bare, before.rules)
        status, fault = _answer(visit)
        if fault is Fault.ADDRESS_FORBIDDEN and isinstance(visit.outcome, Failed):
            # The address will not become a better one: its URLs are told so, one by one, instead of waiting.
            return RobotsEntry(RobotsRecord("closed", fresh_until, reason=_forbidden(visit.outcome)))
        if fault is Fault.PROXY_DOWN and isinstance(visit.outcome, Failed):
            # It was not asked, which is nothing to be counted.
            until = now + int((visit.outcome.wait or self._config.hold_first) * 1e6)
            reason = because(RobotsCode.UNREACHABLE, Reason(fault))
            return RobotsEntry(RobotsRecord("hold", until, b"", failures, reason=reason))
        answer = visit.outcome.exchange if isinstance(visit.outcome, Fetched) else None
        said = answer.said if answer is not None and answer.result is not None else ""
        asked = _retry_after(visit.outcome, now / 1e6)
        match access_for(status, fault, failures, self._config, asked, said):
            case UseBody():
                assert visit.robots is not None
                return self._rules(visit, visit.robots, fresh_until)
            case KeepRules() if before is not None and before.rules is not None:
                renewed = msgspec.structs.replace(before.record, until=fresh_until, failures=0)
                return RobotsEntry(renewed, before.rules)
            case KeepRules():
                return RobotsEntry(RobotsRecord("open", fresh_until, reason=Reason(RobotsCode.UNCHANGED)))
            case AllowAll(reason=reason):
                return RobotsEntry(RobotsRecord("open", fresh_until, reason=reason))
            case Hold(wait=wait, reason=reason):
                state = "down" if self.is_down_after(url, failures + 1, wait) else "hold"
                return RobotsEntry(
                    RobotsRecord(state, now + int(wait * 1e6), b"", failures + 1, reason=reason)
                )

    def _rules(self, visit: Visit, rules: RobotsRules, until: int) -> RobotsEntry:
        assert isinstance(visit.outcome, Fetched)
        headers = visit.outcome.exchange.headers
        record = RobotsRecord(
            "rules",
            until,
            encode(rules),
            source=visit.lease.candidate.url.text,
            etag=headers.get("etag")[:LONGEST_VALIDATOR],
            last_modified=headers.get("last-modified")[:LONGEST_VALIDATOR],
        )
        return RobotsEntry(record, rules)

    def _redirected(self, visit: Visit, asked: Url) -> bool:
        """Send a redirected robots file on its way, unless it went too far or its end is known."""
        candidate = visit.lease.candidate
        if not isinstance(visit.outcome, Fetched):
            return False
        exchange = visit.outcome.exchange
        location = redirect_location(exchange.status, exchange.headers)
        if location is None or len(candidate.hops.rpartition("P")[2]) >= self._config.max_redirects:
            return False
        target = Url.parse(location, candidate.url.text)
        if target is None:
            return False
        if target.target == "/robots.txt" and target.origin != candidate.origin:
            host, _ = self._frontier.host_key(target)
            known = self._frontier.robots.get(host, target.origin)
            if known is not None and known.record.state in ("rules", "open"):
                self._store(candidate.origin, asked, known)
                return True
        until = self._now() + int(PENDING_SECONDS * 1e6)
        moved = because(RobotsCode.MOVED, target.text)
        self._store(candidate.origin, asked, RobotsEntry(RobotsRecord("pending", until, reason=moved)))
        self._admission.redirect(candidate, target)
        return True

    def _store(self, origin: str, url: Url, entry: RobotsEntry) -> None:
        host, _ = self._frontier.host_key(url)
        other_agents = self._admission.other_agents
        if other_agents is None or not other_agents.takes_robots(host, origin, entry):
            self.keep(origin, url, entry)

    def host_of(self, url: Url) -> bytes:
        """Hash of the host queue of `url`, 8 bytes."""
        return self._frontier.host_key(url)[0]

    def keep(self, origin: str, url: Url, entry: RobotsEntry) -> None:
        """Go by what the robots file of `origin`, of which `url` is any address, says."""
        host, name = self._frontier.host_key(url)
        with self._frontier.changes() as batch:
            self._frontier.robots.put(host, origin, entry, batch)
            delay = effective_crawl_delay(entry.rules, self._config) if entry.rules else None
            if delay is not None:
                changed = self._frontier.hosts.change(host, name)
                changed.crawl_delay = max(changed.crawl_delay, delay)
                # The visit that brought the file was judged without it.
                rest = int(delay * 1e6)
                changed.due = max(changed.due, self._now() + rest)
                self._frontier.longest_rest = max(self._frontier.longest_rest, rest)
            if entry.record.state in ("rules", "open", "closed", "down"):
                self._frontier.release(name, origin)

    def _admit_sitemaps(self, visit: Visit, site: Url, entry: RobotsEntry) -> None:
        """Those that the file names; if it names none, the one that most sites have."""
        if not self._sitemaps or entry.record.state not in ("rules", "open"):
            return
        finder = visit.lease.candidate
        named = entry.rules.sitemaps if entry.rules else ()
        urls = [Url.parse(text, finder.url.text) for text in named]
        if not named and self._guess_sitemap and site.scheme in ("http", "https"):
            urls = [Url.parse(GUESSED_SITEMAP, site.text)]
        hops = further(finder.hops, "M")
        for url in urls:
            if url is not None:
                self._admission.admit(Candidate(url, LinkKind.SITEMAP, finder.depth, hops, finder.url.text))


_LIKE = {
    StatusAction.PROCESS: 200,
    StatusAction.UNCHANGED: 304,
    StatusAction.NOTHING: 404,
    StatusAction.DROP: 404,
}
"""RFC 9309 speaks of HTTP: which of its cases an answer by another protocol is. The rest is "unreachable"."""
_MEANINGS = {
    "rules": RobotsCode.RULES,
    "open": RobotsCode.OPEN,
    "hold": RobotsCode.HOLD,
    "closed": RobotsCode.CLOSED,
    "down": RobotsCode.DOWN,
}


def _forbidden(outcome: Failed) -> Reason:
    return outcome.detail if isinstance(outcome.detail, Reason) else text(outcome.detail)


def _answer(visit: Visit) -> tuple[int | None, Fault | None]:
    """Status and fault of the visit; a body cut on the way may lack rules, so that is a fault."""
    match visit.outcome:
        case Fetched(exchange=exchange):
            status = exchange.status
            if exchange.result is not None:
                status = _LIKE.get(exchange.result.asks, 503)
            if visit.robots is None and 200 <= status < 300:
                return status, Fault.DECODING
            cut = {Truncation.TIME: Fault.TIMEOUT, Truncation.DISCONNECT: Fault.RESET}
            return status, cut.get(exchange.truncated) if exchange.truncated else None
        case Failed(fault=fault):
            return None, fault
        case Refused():
            return None, Fault.UNSUPPORTED


def _retry_after(outcome: Outcome, now: float) -> float | None:
    return retry_after(outcome.exchange.headers, now) if isinstance(outcome, Fetched) else None
