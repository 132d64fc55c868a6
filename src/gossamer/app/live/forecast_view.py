"""The view of how long what is queued will take."""

from gossamer.app.forecast import Forecast, HostLoad, Situation, forecast
from gossamer.app.live.lookout import Lookout
from gossamer.app.live.protocol import Nothing
from gossamer.policy.host_overrides import overrides_for
from gossamer.policy.politeness import for_host

MOST = 200
"""Hosts reckoned with, those that take longest."""


def time_left(look: Lookout, _: Nothing) -> Forecast:
    """The forecast, by the rate of late if the crawl runs, else by that over all its time."""
    config, counters = look.config, look.counters()
    count = look.census.look(look.clock.micros())
    loads = [
        HostLoad.of(record, for_host(config.politeness, overrides_for(config.host, record.name)))
        for record in count.largest("seconds")[:MOST]
        if record.queued and not record.parked
    ]
    rate, busy = look.pulse()
    if rate <= 0 and counters.seconds > 0:
        rate = counters.visits / counters.seconds
    left = config.budget.max_pages
    situation = Situation(
        loads=loads,
        queued=counters.queued,
        rate=rate,
        workers=config.engine.workers,
        all_busy=busy,
        pages_left=max(0, left - counters.pages) if left else None,
    )
    return forecast(situation, estimated=not count.complete)
