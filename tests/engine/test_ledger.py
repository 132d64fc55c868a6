"""The sums of a crawl, as a table of visits."""

import pytest
from engine_world import SITE, fetched, visit

from gossamer.dns.statistics import NameStatistics
from gossamer.engine.settlement import ledger as ledger_module
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.settlement.ledger import MOST_FIELDS, MOST_TYPES, Ledger
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Done, Dropped, PageState, Retry
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.page import Page
from gossamer.model.reasons.ends import FINISHED
from gossamer.model.reasons.reason import text
from gossamer.model.url import Url
from gossamer.state.records import Counters, PageRecord

FOUND = {"kind": LinkKind.NAVIGATION, "via": f"{SITE}/"}


def known(media_type=""):
    """A page after its visit."""
    return PageRecord(SITE, PageState.DONE, media_type=media_type)


@pytest.mark.parametrize(
    ("outcome", "disposition", "lease", "sums"),
    [
        (fetched(), Done(), {}, {"statuses": {"200": 1}}),
        (fetched(status=301), Done(), {}, {"statuses": {"301": 1}}),
        (fetched(status=499), Dropped(text("x")), {}, {"statuses": {"499": 1}, "dropped": 1}),
        (
            fetched(status=500),
            Retry(1, Blame.URL, text("x")),
            {},
            {"statuses": {"500": 1}, "faults": {"server": 1}},
        ),
        (
            fetched(status=503),
            Retry(1, Blame.HOST, text("x")),
            {},
            {"statuses": {"503": 1}, "faults": {"throttled": 1}},
        ),
        (
            fetched(status=429),
            Retry(1, Blame.HOST, text("x")),
            {},
            {"statuses": {"429": 1}, "faults": {"throttled": 1}},
        ),
        (Failed(Fault.RESET), Retry(1, Blame.URL, text("x")), {}, {"failed": 1, "faults": {"reset": 1}}),
        (Failed(Fault.RESET), Dropped(text("x")), {}, {"failed": 1, "faults": {"reset": 1}, "dropped": 1}),
        (
            Failed(Fault.RESET),
            Dropped(text("x")),
            FOUND,
            {"failed": 1, "faults": {"reset": 1}, "dropped": 1, "broken": 1},
        ),
        (fetched(status=404), Dropped(text("x")), FOUND, {"statuses": {"404": 1}, "dropped": 1, "broken": 1}),
        (fetched(status=404), Done(), FOUND, {"statuses": {"404": 1}}),
        (
            Refused(Rule.ROBOTS),
            Dropped(text("x")),
            FOUND,
            {"refused": 1, "faults": {"refused: robots": 1}, "dropped": 1},
        ),
    ],
)
def test_what_a_visit_adds(world, outcome, disposition, lease, sums):
    counters = Counters()
    ledger = Ledger(counters, world.clock)
    ledger.count(
        visit(world.lease(**lease), outcome), Judgement(disposition, Tally()), known(), is_copy=False
    )
    expected = {"visits": 1, **sums}
    found = {
        name: getattr(counters, name)
        for name in (
            "visits",
            "pages",
            "bytes",
            "statuses",
            "faults",
            "failed",
            "refused",
            "dropped",
            "broken",
        )
    }
    assert {name: value for name, value in found.items() if value} == expected


def test_pages_bytes_and_their_types_add_up(world):
    counters = Counters()
    ledger = Ledger(counters, world.clock)
    for kind, pages in (("text/html", 1), ("text/html", 1), ("image/png", 1), ("text/css", 0), ("", 1)):
        judgement = Judgement(Done(), Tally(pages=pages, bytes=10))
        ledger.count(visit(world.lease(), fetched()), judgement, known(kind), is_copy=False)
    assert (counters.visits, counters.pages, counters.bytes) == (5, 4, 50)
    assert counters.media_types == {"text/html": 2, "image/png": 1}


def test_copies_are_counted_when_they_are_met_first(world):
    counters = Counters()
    ledger = Ledger(counters, world.clock)
    for again, is_copy in ((False, True), (True, True), (False, False)):
        made = visit(world.lease(again=again), fetched())
        ledger.count(made, Judgement(Done(), Tally(pages=1)), known(), is_copy=is_copy)
    assert counters.duplicates == 1


def test_a_hostile_site_cannot_invent_any_number_of_types(world):
    counters = Counters()
    ledger = Ledger(counters, world.clock)
    lease = world.lease()
    for number in range(MOST_TYPES + 5):
        ledger.count(
            visit(lease, fetched()), Judgement(Done(), Tally(pages=1)), known(f"x/{number}"), is_copy=False
        )
    ledger.count(visit(lease, fetched()), Judgement(Done(), Tally(pages=1)), known("x/1"), is_copy=False)
    assert len(counters.media_types) == MOST_TYPES + 1 == 201
    assert (counters.media_types["other"], counters.media_types["x/1"]) == (5, 2)


def test_pages_are_counted_by_the_fields_that_they_have(world):
    counters = Counters()
    ledger = Ledger(counters, world.clock)
    for fields, pages in (("ab", 1), ("a", 1), ("c", 0), (map(str, range(1_100)), 1)):
        page = Page(Url.parse(SITE), fields=dict.fromkeys(fields, 1))
        made = visit(world.lease(), fetched(), page)
        ledger.count(made, Judgement(Done(), Tally(pages=pages)), known(), is_copy=False)
    ledger.count(made, Judgement(Done(), Tally(pages=1)), known(), is_copy=False)
    assert (counters.fields["a"], counters.fields["b"], "c" in counters.fields) == (2, 1, False)
    assert len(counters.fields) == MOST_FIELDS == 1_000 and counters.fields["0"] == 2


def test_time_stands_still_in_a_pause(world, monkeypatch):
    seconds = [1_000.0]
    monkeypatch.setattr(ledger_module.time, "monotonic", lambda: seconds[0])
    ledger = Ledger(Counters(seconds=50.0), world.clock)
    seconds[0] += 7
    assert ledger.seconds == 57
    ledger.hold()
    seconds[0] += 100
    ledger.hold()
    assert ledger.seconds == 57
    ledger.go_on()
    seconds[0] += 3
    ledger.go_on()
    assert ledger.seconds == 60


def test_sums_survive(world):
    assert Ledger.load(world.environment, world.clock).ended is None
    ledger = Ledger(world.counters, world.clock, names=NameStatistics(queries=3))
    world.counters.pages = 7
    with world.frontier.changes() as batch:
        ledger.enter(batch, ended=FINISHED)
    again = Ledger.load(world.environment, world.clock)
    assert (again.ended, again.counters.pages, again.names.queries) == (FINISHED, 7, 3)
    assert again.seconds == pytest.approx(world.counters.seconds, abs=60)
    with world.frontier.changes() as batch:
        again.enter(batch)
    assert Ledger.load(world.environment, world.clock).ended is None
