"""Turns a visit into its disposition, its host's rest and its account."""

from collections.abc import Callable

import msgspec

from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Disposition, Done, Dropped, Parked, Retry
from gossamer.model.exchange import Exchange
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Fetched, Refused
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.visits.politeness import PolitenessConfig, rest_after
from gossamer.policy.visits.retry import HostFailures, RetryConfig, decide, is_host_failure

_ORIGIN_ONLY = frozenset({Fault.CONNECT, Fault.CONNECT_TIMEOUT, Fault.TLS, Fault.PROXY})


class Judgement(msgspec.Struct, frozen=True):
    """What settlement is to do.

    Attributes:
        disposition: of the URL.
        tally: what the visit adds to its host's account.
        host_rest: seconds its host must rest beyond politeness; 0 if it need not.
        park_host: why the host is to be left alone, if it is.
        archive: whether the response, if there is one, is kept.
    """

    disposition: Disposition
    tally: Tally
    host_rest: float = 0.0
    park_host: Reason | None = None
    archive: bool = False


class Judge:
    """Applies the retry and politeness tables to one visit."""

    def __init__(
        self,
        frontier: Frontier,
        robots: RobotsFiles,
        retry: Callable[[Url], RetryConfig],
        politeness: Callable[[Url, Exchange | None], PolitenessConfig],
        visit_speed: Callable[[str], float],
        *,
        every_attempt: bool,
    ) -> None:
        self._frontier = frontier
        self._robots = robots
        self._retry = retry
        self._politeness = politeness
        self._visit_speed = visit_speed
        self._every_attempt = every_attempt

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
        match disposition:
            case Retry(wait=wait, blame=Blame.HOST):
                return Judgement(disposition, tally, wait, archive=archive)
            case Parked(reason=reason, blame=Blame.HOST):
                # The host is given up, not the URL: it stays first in line for when the host is revived.
                back = Retry(0.0, Blame.HOST, reason)
                return Judgement(back, tally, park_host=reason, archive=archive)
        return Judgement(disposition, tally, archive=archive)

    def _of_robots(self, visit: Visit, disposition: Disposition, tally: Tally) -> Judgement:
        """A robots file is never retried by itself: its origin is held, and asks again when that ends.

        A dead port says nothing about the host's other origins; a missing name or a "slow down" does.
        """
        outcome = visit.outcome
        rest, park = 0.0, None
        if not (isinstance(outcome, Failed) and outcome.fault in _ORIGIN_ONLY):
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


def _reason(disposition: Disposition) -> Reason:
    assert not isinstance(disposition, Done), "only a response ends well"
    return disposition.reason
