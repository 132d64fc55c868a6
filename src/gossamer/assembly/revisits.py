"""How visits again fare, in figures: for status, report and closing words."""

import math
from collections.abc import Iterable

import msgspec

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import activity_of
from gossamer.policy.revisit.config import DAY, RevisitConfig
from gossamer.policy.revisit.threshold import step_of, worth_of_step
from gossamer.state.keys import unpack_heads
from gossamer.state.records import RevisitRecord


class RevisitSums(msgspec.Struct, frozen=True):
    """Sums of a crawl that visits again, or did.

    Attributes:
        on: whether it does.
        pages: that come again.
        visits: that said whether a page had changed; the five after it are parts of them.
        not_modified: 304.
        same_payload: 200, with the payload of the last capture.
        same_text: another payload that says the same.
        changed: `announced`: of these, somebody had said so.
        gone: pages found gone; `returned`: of these, are there again.
        saved: bytes of bodies that a 304 made unnecessary.
        visits_a_day: that may be made; `intervals`: beside those to pages whose interval is fixed.
        threshold: seconds of freshness that a visit must bring.
        next_due: seconds until the next one is due, if the threshold stays; `None`: nothing is to come.
    """

    on: bool
    pages: int
    visits: int
    not_modified: int
    same_payload: int
    same_text: int
    changed: int
    announced: int
    gone: int
    returned: int
    saved: int
    visits_a_day: float
    intervals: bool
    threshold: float
    next_due: float | None = None


class FirstDue:
    """The first page of all hosts that is due, by what each host knows of its classes."""

    def __init__(self, record: RevisitRecord) -> None:
        self._step = step_of(record.level)
        self._longest = classes.LONGEST * record.fair
        self._power = record.freshness.activity_power
        self._first = math.inf

    def add(self, heads: bytes, activity: bytes) -> None:
        """Take note of a host, by what its record has of both."""
        factor = activity_of(activity).factor(self._power)
        for place, since in unpack_heads(heads):
            self._first = min(self._first, classes.due(place, since, self._step, self._longest, factor))

    def seconds(self, now: float) -> float | None:
        """Seconds from wall time `now`; `None` if there is no page."""
        return None if self._first == math.inf else max(0.0, self._first - now)


def revisit_sums(
    record: RevisitRecord | None,
    config: RevisitConfig,
    pages: int,
    hosts: Iterable[tuple[bytes, bytes]],
    now: float,
) -> RevisitSums | None:
    """The sums; `None` of a crawl that never visited again.

    Args:
        record: what the crawl keeps of it.
        config: in force.
        pages: that come again.
        hosts: `heads` and `activity` of each record, from which follows what is due next.
        now: wall time.
    """
    if record is None:
        return None
    first = FirstDue(record)
    if config.enabled:
        for heads, activity in hosts:
            first.add(heads, activity)
    return RevisitSums(
        on=config.enabled,
        pages=pages,
        visits=record.visits,
        not_modified=record.not_modified,
        same_payload=record.same_payload,
        same_text=record.same_text,
        changed=record.changed,
        announced=record.announced,
        gone=record.gone,
        returned=record.returned,
        saved=record.saved,
        visits_a_day=(record.rate or config.rate(pages)) * DAY,
        intervals=bool(config.every),
        threshold=worth_of_step(step_of(record.level)),
        next_due=first.seconds(now),
    )
