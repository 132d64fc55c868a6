"""The clocks of a crawl whose state is looked at, as they go now."""

import os

from gossamer.state.clock import CrawlClock, WallClock
from gossamer.state.environment import Environment, Family
from gossamer.state.records import CLOCK, ClockRecord, decode


def crawl_clock(environment: Environment) -> CrawlClock:
    """What everything on disk is due by."""
    last = environment.get(Family.META, CLOCK)
    return CrawlClock(decode(last, ClockRecord) if last else None)


def wall_clock(environment: Environment) -> WallClock:
    """What histories of pages go by: the crawl's, and not that of the machine, which may have jumped since."""
    return WallClock.of(os.environ, crawl_clock(environment).now)
