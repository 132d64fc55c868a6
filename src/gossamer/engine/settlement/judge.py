"""Turns a visit into its disposition, its host's rest and its account."""

from collections import Counter
from collections.abc import Callable

import msgspec

from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Disposition, Done, Dropped, Parked, Retry
from gossamer.model.exchange import Exchange
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused, Rule
from gossamer.model.reasons.codes import MirrorCode, RetryCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.url import Url
from gossamer.policy.urls.mirrors import DOWN_AFTER, Mirrors
from gossamer.policy.visits.broken import is_link
from gossamer.policy.visits.politeness import PolitenessConfig, rest_after
from gossamer.policy.visits.retry import (
    HostFailures,
    RetryConfig,
    backoff,
    decide,
    is_host_failure,
    redirect_location,
    url_waits,
)

_ORIGIN_ONLY = frozenset({Fault.CONNECT, Fault.CONNECT_TIMEOUT, Fault.TLS, Fault.PROXY})
_UNANSWERED = frozenset({Fault.TIMEOUT, Fault.TOO_SLOW, Fault.RESET, Fault.PROTOCOL})


class Judgement(msgspec.Struct, frozen=True):
    """What settlement is to do.

    Attributes:
        disposition: of the URL.
        tally: what the visit adds to its host's account.
        host_rest: seconds its host must rest beyond politeness; 0 if it need not.
        park_host: why the host is to be left alone, if it is.
        archive: whether the response, if there is one, is kept.
        redirect: where the visit is sent to, if it is; robots files go their own way.
        elsewhere: the address of its site at which it is asked for next, if this one did not give it.
        down: seconds for which its mirror is left alone; 0 if it is not.
        why: why a mirror did not give it.
    """

    disposition: Disposition
    tally: Tally
    host_rest: float = 0.0
    park_host: Reason | None = None
    archive: bool = False
    redirect: Url | None = None
    elsewhere: Url | None = None
    down: float = 0.0
    why: Reason | None = None


class Judge:
    """Applies the retry and politeness tables to one visit."""

    def __init__(  # noqa: PLR0913 - what the tables hang on, made in one place only
        self,
        frontier: Frontier,
        robots: RobotsFiles,
        retry: Callable[[Url], RetryConfig],
        politeness: Callable[[Url, Exchange | None], PolitenessConfig],
        visit_speed: Callable[[str], float],
        *,
        every_attempt: bool,
        mirrors: Mirrors | None = None,
        untried: Callable[[Url], bool] | None = None,
    ) -> None:
        """`untried`: whether a URL was never asked for, where that is known of all hosts."""
        self._frontier = frontier
        self._robots = robots
        self._retry = retry
        self._politeness = politeness
        self._visit_speed = visit_speed
        self._every_attempt = every_attempt
        self._mirrors = mirrors
        self._untried = untried
        self._silent: Counter[bytes] = Counter()

    def judge(self, visit: Visit, now: float) -> Judgement:
        """Decide; `now` is crawl-clock seconds."""
        candidate = visit.lease.candidate
        outcome = visit.outcome
        host, _ = self._frontier.host_key(candidate.url)
        record = self._frontier.hosts.get(host)
        failures = HostFailures(record.failures, record.failing_since) if record else HostFailures()
        retry = self._retry(candidate.url)
        disposition = decide(outcome, candidate.attempts, failures, now, retry)
        if visit.is_condition_refused:
            disposition = Retry(0.0, Blame.URL, _reason(disposition))
        tally = self._tally(visit, disposition)
        lasting = self._frontier.again.pace.on and (
            candidate.again or (record is not None and record.pages > 0)
        )
        if lasting and isinstance(disposition, Parked) and disposition.blame is Blame.HOST:
            # Such a crawl has no next session that would try again: the host is asked now and then.
            disposition = Retry(retry.host_longest, Blame.HOST, disposition.reason)
        if candidate.kind is LinkKind.ROBOTS:
            return self._of_robots(visit, disposition, tally)
        archive = isinstance(outcome, Fetched) and (
            self._every_attempt or (isinstance(disposition, Done | Dropped) and disposition.archive)
        )
        redirect = _redirect(outcome, candidate.url)
        judgement = Judgement(disposition, tally, archive=archive, redirect=redirect)
        if self._mirrors is not None and self._mirrors.stand_on(candidate.url) and not _is_proxys(outcome):
            return self._of_mirror(visit, judgement, self._mirrors, failures.count + 1, retry)
        match disposition:
            case Retry(wait=wait, blame=Blame.HOST):
                return msgspec.structs.replace(judgement, host_rest=wait)
            case Parked(reason=reason, blame=Blame.HOST):
                # The host is given up, not the URL: it stays first in line for when the host is revived.
                back = Retry(0.0, Blame.HOST, reason)
                return msgspec.structs.replace(judgement, disposition=back, park_host=reason)
        return judgement

    def _of_mirror(
        self, visit: Visit, judgement: Judgement, mirrors: Mirrors, row: int, retry: RetryConfig
    ) -> Judgement:
        """The same for a host on which a mirror stands: it is never parked, for nothing must wait there for ever.

        While there is another mirror, what this one does not give is asked of that; then the URL waits by itself.
        `row`: failures of the host, with this visit if it is one.
        """
        candidate, disposition = visit.lease.candidate, judgement.disposition
        rest = down = 0.0
        match disposition:
            case Retry(wait=wait, blame=Blame.HOST):
                rest = wait
            case Parked(blame=Blame.HOST):
                rest = retry.host_longest
            case _ if (silent := self._silent_for(visit)) >= DOWN_AFTER:
                row, rest = silent, backoff(retry.host_first, retry.host_longest, silent + 1 - DOWN_AFTER)
        if rest and (self._robots.is_down_after(candidate.url, row, rest) or _has_no_name(visit.outcome)):
            rest, down = 0.0, rest
        why = (
            self._leads_back(visit, judgement.redirect, mirrors)
            if isinstance(disposition, Done)
            else disposition.reason
        )
        may_be = isinstance(disposition, Done) or _may_be_elsewhere(visit, disposition)
        elsewhere = mirrors.after(candidate.url, self._untried) if why is not None and may_be else None
        refused = isinstance(visit.outcome, Refused) and visit.outcome.rule is Rule.MIRROR
        if why is not None and elsewhere is not None:
            kept = not isinstance(disposition, Retry | Parked) and disposition.archive
            disposition = Dropped(because(MirrorCode.NEXT, why, elsewhere.text), archive=kept)
        elif why is not None and (rest or down or refused):
            disposition = url_waits(why, candidate.attempts, retry) or Parked(why)
        return msgspec.structs.replace(
            judgement, disposition=disposition, host_rest=rest, elsewhere=elsewhere, down=down, why=why
        )

    def _leads_back(self, visit: Visit, target: Url | None, mirrors: Mirrors) -> Reason | None:
        """Its status, if a visit redirects to where the document was asked for in vain, or for ever to itself."""
        candidate, outcome = visit.lease.candidate, visit.outcome
        if self._untried is None or candidate.again or not isinstance(outcome, Fetched):
            return None
        if target is None or not mirrors.same(target, candidate.url) or self._untried(target):
            return None
        if not candidate.forced and mirrors.canonical(target) == mirrors.canonical(candidate.url):
            return None  # it is asked for once more, now with the cookie that it may have set
        return because(RetryCode.STATUS, outcome.exchange.status)

    def _silent_for(self, visit: Visit) -> int:
        """How often in a row a host has taken a request and not answered it, each of which may cost a minute; as far as
        this session has seen."""
        host, outcome = self._frontier.host_hash(visit.lease.queue_key), visit.outcome
        if isinstance(outcome, Failed) and outcome.fault in _UNANSWERED:
            self._silent[host] += 1
            return self._silent[host]
        if isinstance(outcome, Fetched):
            del self._silent[host]
        return 0

    def _of_robots(self, visit: Visit, disposition: Disposition, tally: Tally) -> Judgement:
        """A robots file is never retried by itself: its origin is held, and asks again when that ends.

        A dead port says nothing about the host's other origins; a missing name or a "slow down" does.
        """
        outcome = visit.outcome
        rest, park = 0.0, None
        mirrored = self._mirrors is not None and self._mirrors.stand_on(visit.lease.candidate.url)
        if not mirrored and not (isinstance(outcome, Failed) and outcome.fault in _ORIGIN_ONLY):
            match disposition:
                case Retry(wait=wait, blame=Blame.HOST):
                    rest = wait
                case Parked(reason=reason, blame=Blame.HOST):
                    park = reason
        else:
            tally = msgspec.structs.replace(tally, host_failed=False)
        ended: Disposition = Done() if isinstance(outcome, Fetched) else Dropped(_reason(disposition))
        archive = (
            isinstance(outcome, Fetched)
            and outcome.exchange.is_recorded
            and (self._every_attempt or not visit.is_condition_refused)
        )
        return Judgement(ended, tally, rest, park, archive=archive)

    def _tally(self, visit: Visit, disposition: Disposition) -> Tally:
        outcome = visit.outcome
        lease = visit.lease
        if isinstance(outcome, Refused):
            return Tally()
        exchange = outcome.exchange if isinstance(outcome, Fetched) else None
        elapsed = exchange.timing.total if exchange else visit.elapsed
        politeness = self._politeness(lease.candidate.url, exchange)
        page = (
            exchange is not None
            and exchange.is_page
            and isinstance(disposition, Done)
            and lease.candidate.kind is not LinkKind.ROBOTS
            and not lease.candidate.again  # it was counted
        )
        rest = rest_after(politeness, elapsed, self._robots.crawl_delay(lease.candidate.url))
        speed = self._visit_speed(lease.queue_key)
        if speed and exchange:
            # So that the visit and the rest together keep to it.
            rest = max(rest, (len(exchange.response_head) + exchange.latest.size) / speed - elapsed)
        return Tally(
            rest=rest,
            pages=int(page),
            bytes=exchange.latest.size if exchange else 0,
            host_failed=is_host_failure(outcome),
            address=exchange.latest.address if exchange else "",
            certificate=exchange.certificate if exchange else b"",
        )


def _redirect(outcome: Outcome, asked: Url) -> Url | None:
    if not isinstance(outcome, Fetched):
        return None
    location = redirect_location(outcome.exchange.status, outcome.exchange.headers)
    return Url.parse(location, asked.text) if location is not None else None


def _is_proxys(outcome: Outcome) -> bool:
    """Whether it is no fault of the host's that there is no answer."""
    return isinstance(outcome, Failed) and outcome.fault is Fault.PROXY_DOWN


def _has_no_name(outcome: Outcome) -> bool:
    """Whether the host's name leads nowhere, which seldom changes soon."""
    return isinstance(outcome, Failed) and outcome.fault in (Fault.NAME_NOT_FOUND, Fault.NAME_DEFERRED)


def _may_be_elsewhere(visit: Visit, disposition: Disposition) -> bool:
    """Whether another mirror may give what this one did not.

    What comes again is asked of the mirror that had it, while that does not say that it is gone. What nobody mentions
    is not looked for further once it was missed.
    """
    candidate, outcome = visit.lease.candidate, visit.outcome
    if visit.is_condition_refused or candidate.is_guess:
        return False
    if candidate.again and not (isinstance(outcome, Fetched) and isinstance(disposition, Dropped)):
        return False
    if isinstance(outcome, Refused):
        return outcome.rule in (Rule.ROBOTS, Rule.MIRROR)
    mentioned = not candidate.via or is_link(candidate.kind, candidate.via, candidate.url.target)
    return mentioned or not isinstance(outcome, Fetched)


def _reason(disposition: Disposition) -> Reason:
    assert not isinstance(disposition, Done), "only a response ends well"
    return disposition.reason
