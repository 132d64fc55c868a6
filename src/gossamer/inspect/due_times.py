"""Says when pages are due for another visit, by the threshold of now."""

import math

from gossamer.config.config import CrawlConfig
from gossamer.inspect.clocks import wall_clock
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import activity_of
from gossamer.policy.revisit.history import unpack
from gossamer.policy.revisit.threshold import Threshold
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import REVISIT, PageRecord, RevisitRecord, decode, decode_host


class DueTimes:
    """Due times of one crawl's pages; a page that is due waits for the visits that may be made, and for its host."""

    def __init__(self, environment: Environment, config: CrawlConfig) -> None:
        stored = environment.get(Family.META, REVISIT)
        record = decode(stored, RevisitRecord) if stored else RevisitRecord()
        self._on = config.revisit.enabled and bool(stored)
        self._step = Threshold(record.level, record.corrected).step
        self._longest = classes.LONGEST * record.fair
        self._power = record.freshness.activity_power
        self._wall = wall_clock(environment)
        self._environment = environment
        self._host, self._factor = b"", 1.0

    def __call__(self, fingerprint: bytes, page: PageRecord) -> float | None:
        """Date; 0 of a page that was asked for; `None` of one that does not come again."""
        if page.asked:
            return 0.0
        if not self._on or not page.history:
            return None
        host = fingerprint[:HASH_BYTES]
        if host != self._host:  # in a list the pages of a host stand together
            stored = self._environment.get(Family.HOSTS, host)
            activity = activity_of(decode_host(stored).activity if stored else b"")
            self._host, self._factor = host, activity.factor(self._power)
        due = classes.due_of(unpack(page.history), self._step, self._longest, self._factor)
        return self._wall.date_of(due) if math.isfinite(due) else None
