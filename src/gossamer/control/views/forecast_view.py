"""The view of how long what is queued will take."""

from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.lookout import Lookout
from gossamer.inspect.forecast import Forecast, HostLoad, Situation, forecast

MOST = 200
"""Hosts reckoned with, those that take longest."""


def time_left(look: Lookout, _: Nothing) -> Forecast:
    """The forecast, by the rate of late if the crawl runs, else by that over all its time."""
    config, counters, now = look.config, look.counters(), look.clock.micros()
    count = look.census.look()
    loads = [
        HostLoad.of(record, config.politeness_of(record.name), now)
        for record in count.largest("seconds")[:MOST]
    ]
    rate, busy = look.pulse()
    if rate <= 0 and counters.seconds > 0:
        rate = counters.visits / counters.seconds
    left = config.budget.max_pages
    situation = Situation(
        loads=loads,
        queued=max(0, counters.queued - counters.aside - count.left_alone),
        rate=rate,
        workers=config.engine.workers,
        all_busy=busy,
        pages_left=max(0, left - counters.pages) if left else None,
    )
    return forecast(situation, estimated=not count.complete)
