"""How long what is queued will take."""

import pytest

from gossamer.inspect.forecast import HostLoad, Situation, forecast
from gossamer.inspect.hosts import HostCount
from gossamer.model.reasons.reason import text
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord

POLITE = PolitenessConfig(min_delay=1.0)
NOW, SECOND = 10_000_000, 1_000_000


def left(**record: object) -> float | None:
    """Seconds until the queue of a host with this record is empty."""
    host = HostRecord("a.example", rest=SECOND, visits=3, pages=3, **record)  # type: ignore[arg-type]
    load = HostLoad.of(host, POLITE, NOW)
    return forecast(Situation([load], load.queued, rate=100.0, workers=4)).seconds_left


@pytest.mark.parametrize(
    ("record", "seconds"),
    [
        ({"queued": 10, "due": NOW - SECOND}, 9.0),  # ready: ten visits, nine rests between them
        ({"queued": 10, "due": NOW + SECOND}, 10.0),
        ({"queued": 10, "due": NOW + 3_600 * SECOND, "reason": text("Retry-After")}, 3_609.0),
        ({"queued": 1, "due": NOW + 60 * SECOND, "reason": text("no answer")}, 60.0),
        ({"waiting": 2, "due": NOW, "later_due": NOW + 30 * SECOND}, 31.0),  # retries with times of their own
        ({"waiting": 5, "later_due": FOREVER}, 0.0),  # given up
        ({"queued": 10, "parked": text("dead")}, 0.0),  # until somebody revives it
        ({"queued": 10, "aside": 10}, 0.0),
        ({"queued": 10, "aside": 8}, 1.0),
    ],
)
def test_a_host_takes_what_holds_it_and_its_rests(record, seconds):
    assert left(**record) == pytest.approx(seconds)


def test_a_host_that_is_held_long_is_among_those_that_take_longest():
    count = HostCount(lambda: NOW)
    for number in range(2_500):
        count.add(b"", HostRecord(f"h{number}.example", queued=50, rest=SECOND))
    count.add(b"", HostRecord("held.example", queued=1, rest=SECOND, due=NOW + 3_600 * SECOND))
    count.add(b"", HostRecord("dead.example", queued=7, parked=text("dead")))
    assert count.largest("seconds")[0].name == "held.example"
    assert count.left_alone == 7
