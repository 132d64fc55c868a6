"""What a visit to a page that comes again does: how it asks, what it has seen, and where the page stands then."""

import msgspec
import pytest
from engine_world import SITE, START, fetched, link, page, parsed, visit
from msgspec.structs import replace

from gossamer.engine.enrolling import Enrolling
from gossamer.engine.settlement import revisits as revisits_module
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.visiting.visit import Compared
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Again, Blame, Done, Dropped, PageState, Parked, Retry
from gossamer.model.lease import Lease, Validators
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.codes import HoldCode, RetryCode
from gossamer.model.reasons.reason import Reason, text
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import UNREAD, History, Voice, unpack
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.trust import Source, Trust, trust_of, with_trust
from gossamer.policy.revisit.validity import Validity
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, VisitRecord

SPEED = 60.0
"""Seconds of the wall clock in one of the crawl's."""
DAY = 86_400.0
HOUR = 3_600
NOW = int(START)
ON = RevisitConfig(enabled=True, visits=100)
URL = f"{SITE}/x"
V = Validators('"v"', "")
PAYLOAD = fetched(body=b"as it was").exchange.body.sha256
LAST = NOW - 10 * HOUR


@pytest.fixture
def again_of(world_of):
    """Makes a world that visits again, whatever it is told otherwise."""

    def make(config=ON, **told):
        world = world_of(revisit=config, wall_speed=SPEED, **told)
        world.pace.record.cursor = None
        return world

    return make


@pytest.fixture
def world(again_of):
    return again_of()


def known(world, url=URL, history=None, **fields):
    """A page that was visited, with its entry if it comes again; its record."""
    made = {"payload": PAYLOAD, "visits": seen(200), "visits_made": 1} | fields
    record = PageRecord(url, PageState.DONE, **made, history=history.pack() if history else b"")
    fingerprint = world.identity.fingerprint(parsed(url))
    key, name = world.frontier.host_key(parsed(url))
    with world.frontier.changes() as batch:
        world.memory.put(fingerprint, record, batch)
        if history is not None:
            host = world.frontier.hosts.change(key, name)
            world.frontier.again.put(key, host, Again(record.history, fingerprint), batch)
    return record


def seen(*statuses):
    return tuple(VisitRecord(float(LAST), 1.0, status, size=70) for status in statuses)


def lease_of(url=URL, **fields):
    candidate = Candidate(parsed(url), **{"again": True} | fields)
    return Lease(candidate, candidate.url.host, b"t" * 12)


def settled(world, outcome, before, *, disposition=None, new=0, lease=None, read=None, **fields):
    """What becomes of a visit: (changed, history), or `None` if the page does not come again by it."""
    made = visit(lease or lease_of(), outcome, read, **{"elapsed": 2.0} | fields)
    judgement = Judgement(disposition or Done(), Tally())
    fingerprint = world.identity.fingerprint(made.lease.candidate.url)
    after = world.again.settle(made, judgement, fingerprint, before, new)
    if after == judgement:
        return None
    found = after.disposition.again
    assert found.page == fingerprint
    return found.changed, unpack(found.history)


# How it asks …


@pytest.mark.parametrize(
    ("fields", "host", "asks"),
    [
        ({}, Validity.UNKNOWN, V),
        ({"etag": "", "last_modified": "Mon"}, Validity.UNKNOWN, Validators("", "Mon")),
        ({"etag": ""}, Validity.UNKNOWN, None),
        ({"payload": b""}, Validity.UNKNOWN, None),
        ({"asked": b"ticket"}, Validity.UNKNOWN, None),
        ({"visits": ()}, Validity.UNKNOWN, None),
        ({"visits": seen(200, 404)}, Validity.UNKNOWN, None),
        ({"visits": seen(404, 304)}, Validity.UNKNOWN, V),
        ({"visits": seen(412, 200)}, Validity.UNKNOWN, None),
        ({"visits": seen(416, 200)}, Validity.PROVEN, None),
        ({"visits_made": 9}, Validity.UNKNOWN, None),
        ({"visits_made": 10}, Validity.UNKNOWN, V),
        ({"visits_made": 9}, Validity.PROVEN, V),
        ({}, Validity.FALSE, None),
    ],
)
def test_only_a_change_is_asked_for_where_that_is_believed(world, fields, host, asks):
    known(world, **{"etag": '"v"', "history": History(LAST, LAST)} | fields)
    with world.frontier.changes():
        world.frontier.hosts.change(*world.frontier.host_key(parsed(URL))).validators = host
    lease = lease_of()
    page = world.identity.fingerprint(lease.candidate.url) if asks else b""
    assert world.again.prepared(lease) == replace(lease, validators=asks, page=page)
    other = lease_of(f"{SITE}/other")
    assert world.again.prepared(other) == other, "of what nobody knows"
    elsewhere = lease_of("http://elsewhere.example/")
    known(world, "http://elsewhere.example/", etag='"v"')
    assert world.again.prepared(elsewhere) == elsewhere, "of a host that nobody knows"


# The first visit …


@pytest.mark.parametrize(
    ("outcome", "before", "presence"),
    [
        (fetched(), None, Presence.HERE),
        (fetched(status=404), None, Presence.NEVER),
        (fetched(status=500), None, Presence.NEVER),
        (Failed(Fault.TIMEOUT), None, Presence.NEVER),
        (fetched(status=404), {"visits": seen(200)}, Presence.MISSED),  # before pages came again
        (fetched(status=404), {"visits": seen(200, 404)}, Presence.GONE),
        (Failed(Fault.TIMEOUT), {"visits": seen(200)}, Presence.HERE),
    ],
)
def test_after_its_first_visit_a_page_comes_again(world, outcome, before, presence):
    before = before and known(world, **before)
    changed, history = settled(world, outcome, before)
    assert changed is None
    assert (history.last, history.since) == (NOW - 120, NOW - 120), "when it was seen: two seconds, so fast"
    assert (history.presence, history.text, history.same, history.changed) == (presence, UNREAD, 0, 0)
    assert history.place == classes.classify(
        Spread().believe(history), 1 / 16 if presence is Presence.GONE else 1.0
    )


def test_a_list_brings_eight_pages_until_it_is_known(world):
    dated = replace(link(f"{SITE}/a", LinkKind.SITEMAP), lastmod=1.0)
    assert settled(world, fetched(), None, read=page(URL, dated))[1].brings == 8
    assert settled(world, fetched(), None, read=page(URL, link(f"{SITE}/a")))[1].brings == 1
    assert settled(world, fetched(), None, read=None)[1].brings == 1


@pytest.mark.parametrize(
    ("outcome", "told", "comes"),
    [
        (fetched(), {"disposition": Dropped(text("d"))}, True),
        (fetched(), {"disposition": Retry(1.0, Blame.URL, text("r"))}, False),
        (fetched(), {"disposition": Parked(text("p"))}, False),
        (Refused(Rule.ROBOTS), {"disposition": Dropped(text("d"))}, False),
        (fetched(), {"lease": lease_of(f"{SITE}/robots.txt", kind=LinkKind.ROBOTS)}, False),
        (fetched(), {"lease": lease_of(origin=SITE)}, False),  # where a robots file is redirected to
        (fetched(), {"lease": lease_of(kind=LinkKind.SPECULATIVE, again=False)}, True),
        (fetched(status=404), {"lease": lease_of(kind=LinkKind.SPECULATIVE, again=False)}, False),
        (fetched(status=404), {"lease": lease_of(kind=LinkKind.SPECULATIVE)}, True),
    ],
)
def test_what_is_settled_comes_again_unless_nobody_has_said_that_it_is_there(world, outcome, told, comes):
    assert (settled(world, outcome, None, **told) is not None) == comes


def test_what_came_again_still_does_where_that_is_off_now(again_of):
    world = again_of(RevisitConfig())
    assert settled(world, fetched(), None) is None
    assert settled(world, fetched(), known(world)) is None
    before = known(world, history=History(LAST, LAST))
    assert settled(world, fetched(body=b"as it was"), before)[0] is False


# Visits after it …

HERE, MISSED, GONE, NEVER = Presence.HERE, Presence.MISSED, Presence.GONE, Presence.NEVER
SAME, OTHER = fetched(body=b"as it was"), fetched(body=b"another")


@pytest.mark.parametrize(
    ("before", "outcome", "conditional", "changed", "presence", "sums"),
    [
        (HERE, Failed(Fault.TIMEOUT), False, None, HERE, {}),
        (HERE, fetched(status=500), False, None, HERE, {}),
        (HERE, fetched(status=403), False, None, HERE, {}),
        (MISSED, fetched(status=403), False, None, MISSED, {}),
        (HERE, fetched(status=404), False, True, MISSED, {"changed": 1}),
        (HERE, fetched(status=410), False, True, MISSED, {"changed": 1}),
        (MISSED, fetched(status=404), False, False, GONE, {"gone": 1}),
        (GONE, fetched(status=404), False, False, GONE, {}),
        (NEVER, fetched(status=404), False, False, NEVER, {}),
        (MISSED, SAME, False, True, HERE, {"changed": 1}),
        (GONE, SAME, False, True, HERE, {"changed": 1, "returned": 1}),
        (NEVER, SAME, False, True, HERE, {"changed": 1}),
        (HERE, fetched(status=304, body=b""), True, False, HERE, {"not_modified": 1, "saved": 70}),
        (HERE, fetched(status=304, body=b""), False, None, HERE, {}),  # it says so to whoever asks
        (HERE, SAME, True, False, HERE, {"same_payload": 1}),
        (HERE, OTHER, True, True, HERE, {"changed": 1}),
        (HERE, fetched(status=301, body=b"", location="/y"), False, True, HERE, {"changed": 1}),
        (HERE, fetched(status=204, body=b""), False, True, HERE, {"changed": 1}),
    ],
)
def test_what_a_visit_has_seen(world, before, outcome, conditional, changed, presence, sums):
    old = History(LAST, LAST - HOUR, quiet=5.0, same=3, presence=before, text=b"text")
    record = known(world, history=old, visits=seen(200, 304))
    lease = replace(lease_of(), validators=V if conditional else None)
    found, history = settled(world, outcome, record, lease=lease)
    assert (found, history.presence) == (changed, presence)
    at = NOW - 120
    if changed is None:
        # It has had its turn all the same.
        assert (history.last, history.since) == (LAST, at)
        assert (history.quiet, history.same, history.changed) == (5.0, 3, 0)
    else:
        sums = {"visits": 1} | sums
        assert (history.last, history.since) == (at, at)
        assert (history.same, history.changed) == (3 + (not changed), int(changed))
        assert history.quiet == pytest.approx(5.0 if changed else 15.0, abs=0.05)
    counted = {name: getattr(world.pace.record, name) for name in SUMS}
    assert counted == dict.fromkeys(SUMS, 0) | sums
    assert world.pace.record.freshness.found == (found is True and not before.absent)
    # Its entry has gone out, and goes in with its disposition.
    assert (world.counters.enrolled, list(world.environment.scan(Family.AGAIN))) == (0, [])
    assert bool(world.host().spread) == (changed is not None)


SUMS = [
    "visits", "not_modified", "same_payload", "same_text", "changed", "announced", "gone", "returned", "saved",
]  # fmt: skip


@pytest.mark.parametrize(
    ("compared", "etag", "answers", "changed", "kept", "validators"),
    [
        (None, "", "", True, UNREAD, Validity.UNKNOWN),
        (Compared(False, b"same"), '"v"', '"v"', False, b"same", Validity.UNKNOWN),
        (
            Compared(True, b"new!"),
            "",
            "",
            True,
            b"new!",
            Validity.UNKNOWN,
        ),  # it gives none: that proves nothing
        (Compared(True, b"new!"), '"v"', '"w"', True, b"new!", Validity.PROVEN),
        (Compared(True, b"new!"), '"v"', '"v"', True, b"new!", Validity.FALSE),
        (Compared(True, b"new!"), '"v"', "", True, b"new!", Validity.PROVEN),
    ],
)
def test_another_payload_is_a_change_if_its_text_says_so(
    world, compared, etag, answers, changed, kept, validators
):
    record = known(world, history=History(LAST, LAST, text=b"text"), etag=etag)
    outcome = fetched(body=b"another", **({"etag": answers} if answers else {}))
    found, history = settled(world, outcome, record, compared=compared)
    assert (found, history.text) == (changed, kept)
    assert world.pace.record.same_text == (not changed)
    assert (world.host().validators, world.host().volatile) == (validators, b"")


def test_what_is_known_of_the_site_is_kept_with_the_host(world):
    record = known(world, history=History(LAST, LAST))
    settled(world, OTHER, record, compared=Compared(False, b"text", b"learned"))
    assert world.host().volatile == b"learned"


@pytest.mark.parametrize(
    ("dates", "new", "changed", "brings"),
    [
        ([LAST - 1.0], 0, False, 8),
        ([LAST + 1.0], 0, True, 4),
        ([LAST + 1.0] * 40, 0, True, 32),
        ([LAST + 1.0] * 3, 40, True, 32),
        ([LAST - 1.0], 1, True, 4),
    ],
)
def test_a_list_has_changed_if_it_says_something_new(world, dates, new, changed, brings):
    links = [replace(link(f"{SITE}/{n}", LinkKind.SITEMAP), lastmod=date) for n, date in enumerate(dates)]
    record = known(world, history=History(LAST, LAST, brings=8))
    found, history = settled(world, OTHER, record, new=new, read=page(URL, *links))
    assert (found, history.brings) == (changed, brings)


def test_dates_that_are_lies_bring_nothing(world):
    links = [replace(link(f"{SITE}/{n}", LinkKind.SITEMAP), lastmod=LAST + 1.0) for n in range(40)]
    record = known(world, history=History(LAST, LAST))
    with world.frontier.changes():
        host = world.frontier.hosts.change(*world.frontier.host_key(parsed(URL)))
        host.trusts = with_trust(host.trusts, Source.SITEMAP, Trust(lies=1))
    assert settled(world, OTHER, record, read=page(URL, *links))[0] is False


def test_what_a_page_leads_to_counts_when_it_has_changed(world):
    record = known(world, history=History(LAST, LAST))
    assert settled(world, SAME, record, new=40)[1].brings == 1
    record = known(world, history=History(LAST, LAST))
    assert settled(world, OTHER, record, new=40)[1].brings == 32


@pytest.mark.parametrize(("outcome", "right", "wrong"), [(OTHER, 1, 0), (SAME, 0, 1)])
def test_who_spoke_of_it_is_judged_by_what_was_seen(world, outcome, right, wrong):
    voices = (Voice(Source.PING, 2.0), Voice(Source.SITEMAP))
    record = known(world, history=History(LAST, LAST, voices=voices))
    changed, history = settled(world, outcome, record)
    trust = trust_of(world.host().trusts, Source.PING)
    assert (trust.right, trust.wrong) == (right, wrong)
    assert trust.days == pytest.approx((10 * HOUR - 120) / DAY)
    assert world.pace.record.announced == history.announced == right
    assert [voice.heard for voice in history.voices] == [0.0, 0.0]
    if changed:
        assert history.stirred == pytest.approx(0.5), "a quarter of the time until the ping"
    silent = trust_of(world.host().trusts, Source.SITEMAP)
    assert (silent.missed, silent.quiet) == (right, wrong)


def test_who_is_believed_most_tells_when_it_was(world):
    voices = (Voice(Source.PING, 2.0), Voice(Source.SITEMAP, 4.0))
    record = known(world, history=History(LAST, LAST, voices=voices))
    with world.frontier.changes():
        host = world.frontier.hosts.change(*world.frontier.host_key(parsed(URL)))
        host.trusts = with_trust(host.trusts, Source.PING, Trust(wrong=50.0, days=50.0))
    assert settled(world, OTHER, record)[1].stirred == pytest.approx(1.0)


# What is learned of a host …


def test_what_other_pages_do_is_believed_of_a_new_one(world):
    fresh = settled(world, fetched(), None, lease=lease_of(f"{SITE}/0"))[1].place
    for number in range(40):
        old = History(LAST, LAST, quiet=50_000.0, same=4)
        record = known(world, f"{SITE}/{number}", old)
        settled(world, SAME, record, lease=lease_of(f"{SITE}/{number}"))
    slow = settled(world, fetched(), None, lease=lease_of(f"{SITE}/new"))[1].place
    assert slow < fresh, "they hardly change"
    # What another agent, or another session, has written of the host is what holds.
    with world.frontier.changes():
        world.frontier.hosts.change(*world.frontier.host_key(parsed(URL))).spread = b""
    at_first = settled(world, fetched(), None, lease=lease_of(f"{SITE}/new"))[1].place
    assert slow < at_first <= fresh


def test_of_few_hosts_it_is_in_memory_and_the_crawl_hears_of_the_others(world, monkeypatch):
    monkeypatch.setattr(revisits_module, "SITES", 1)
    usual = world.pace.spread.pack()

    def seen_at(name):
        record = known(world, f"http://{name}/", History(LAST, LAST, quiet=1_000.0, same=4))
        settled(world, SAME, record, lease=lease_of(f"http://{name}/"))

    seen_at("a.example")
    seen_at("a.example")
    assert world.pace.spread.pack() == usual, "after some visits, or when it goes"
    seen_at("b.example")
    assert world.pace.spread.pack() != usual


# Where it stands …


@pytest.mark.parametrize(
    ("config", "heavy", "fixed"),
    [
        (ON, 1.0, None),
        (replace(ON, weight={"/x": 4.0}), 4.0, None),
        (replace(ON, weight={"/y": 4.0}), 1.0, None),
        (replace(ON, every={"/x": 3_600.0}, weight={"/x": 4.0}), 1.0, 3_600.0),
        (replace(ON, every={"/y": 3_600.0}), 1.0, None),
    ],
)
def test_it_stands_by_what_it_weighs_or_by_its_fixed_interval(again_of, config, heavy, fixed):
    world = again_of(config)
    for record in (None, known(world, history=History(LAST, LAST))):
        place = settled(world, fetched(), record)[1].place
        assert classes.wanted(place) == (fixed, heavy)


def test_what_is_told_of_need_not_be_looked_at_so_often(world):
    history = History(LAST, LAST, voices=(Voice(Source.PING),))
    record = known(world, history=history)
    alone = settled(world, SAME, record)[1].place
    with world.frontier.changes():
        host = world.frontier.hosts.change(*world.frontier.host_key(parsed(URL)))
        host.trusts = with_trust(host.trusts, Source.PING, Trust(right=90.0, quiet=90.0, days=90.0))
    record = known(world, history=history)
    told = settled(world, SAME, record)[1].place
    assert classes.rate(told, DAY) > classes.rate(alone, DAY), "its age counts for less"


# The walk over all that is there …


def test_the_walk_enrols_a_page_once_and_moves_it_only_if_that_is_wanted(again_of):
    world = again_of()
    record = known(world, visits=seen(200, 404))
    key = world.identity.fingerprint(parsed(URL))
    after = world.again.enrol(key, record)
    history = unpack(after.history)
    assert (history.last, history.since, history.presence) == (LAST, LAST, Presence.MISSED)
    assert (after.visits, world.counters.enrolled, world.host().enrolled) == (record.visits, 1, 1)
    assert world.again.enrol(key, after) is None, "it is where it belongs"
    world.pace.go_by(replace(ON, every={"/x": 3_600.0}))
    moved = world.again.enrol(key, after)
    assert classes.fixed_interval(unpack(moved.history).place) == 3_600.0
    assert (unpack(moved.history).last, world.counters.enrolled) == (LAST, 1)
    assert world.again.enrol(key, after) is None, "its turn has come: it has no entry by what was known"
    assert world.counters.enrolled == 1


@pytest.mark.parametrize(
    ("reason", "parked"), [(Reason(RetryCode.IN_A_ROW), False), (Reason(HoldCode.OPERATOR), True)]
)
def test_a_host_that_was_given_up_is_looked_at_again(world, reason, parked):
    record = known(world, history=History(LAST, LAST))
    world.frontier.park("site.example", reason)
    world.again.wake(record)
    assert bool(world.host().parked) == parked


@pytest.mark.parametrize(
    ("fields", "comes"),
    [
        ({}, True),
        ({"state": PageState.DROPPED}, True),
        ({"state": PageState.RETRY}, False),
        ({"state": PageState.REJECTED}, False),
        ({"visits": ()}, False),
        ({"hops": "PR"}, False),
        ({"kind": LinkKind.SPECULATIVE, "visits": seen(404)}, False),
        ({"kind": LinkKind.SPECULATIVE, "visits": seen(200, 404)}, True),
    ],
)
def test_pages_that_were_visited_to_the_end_come_again(world, fields, comes):
    fingerprint = world.identity.fingerprint(parsed(URL))
    with world.frontier.changes() as batch:
        world.memory.put(fingerprint, replace(known(world), **fields), batch)
    walk(world)
    assert bool(world.record(URL).history) == comes
    assert world.counters.enrolled == comes


def walk(world, *over):
    """As far as that: how often `over` says no."""
    world.pace.record.cursor = b"" if world.pace.record.cursor is None else world.pace.record.cursor
    enrolling = Enrolling(world.frontier, world.memory, world.pace, world.again)
    assert enrolling.pending
    answers = iter(over)
    enrolling.step(lambda: next(answers, False))
    return enrolling


def test_the_walk_goes_on_where_it_stood_and_ends_with_a_correction(world):
    for number in range(5):
        known(world, f"{SITE}/{number}")
    version = world.frontier.again.pace.version
    enrolling = walk(world, False, True)
    assert (world.counters.enrolled, enrolling.pending) == (2, True)
    assert world.frontier.again.pace.version == version
    pages = [key for key, _ in world.memory.all()]
    kept = world.pace.record.cursor
    assert kept == pages[1]
    assert msgspec.msgpack.decode(world.environment.get(Family.META, b"revisit"))[2] == kept
    walk(world)
    assert (world.counters.enrolled, enrolling.pending, world.pace.record.cursor) == (5, False, None)
    assert world.frontier.again.pace.version > version, "by how many pages there are"
    world.pace.go_by(RevisitConfig())
    world.pace.record.cursor = b""
    assert not enrolling.pending, "where that is off nothing is walked over"
