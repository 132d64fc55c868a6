"""One visit's way out: archive, page record, links, host and events, in one commit."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from engine_world import SITE, exchange, fetched, link, page, parsed, rules, visit
from msgspec.structs import replace
from warcio.archiveiterator import ArchiveIterator

from gossamer.archive.committed import archive_files
from gossamer.archive.config import ArchiveConfig
from gossamer.archive.placement import Placed
from gossamer.engine.admission.admission import Led
from gossamer.engine.admission.speculation import LINKED, Speculation
from gossamer.engine.settlement import archivist as archivist_module
from gossamer.engine.settlement import settlement as settlement_module
from gossamer.engine.settlement.archivist import Archivist, Kept
from gossamer.engine.settlement.changed import Changes
from gossamer.engine.settlement.doors import LinkRules
from gossamer.engine.settlement.long_pages import Followed
from gossamer.engine.settlement.page_memory import LONGEST_DETAIL, VISITS_KEPT, canonical_of, page_record
from gossamer.engine.settlement.revisits import Revisits
from gossamer.fetch.config import FetchConfig
from gossamer.model.disposition import Again, Blame, Done, Dropped, Parked, Retry
from gossamer.model.errors import InternalError
from gossamer.model.events import HostParked, HostRested, NameAnswered, Rejected, Visited
from gossamer.model.exchange import Truncation
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.page import Directives
from gossamer.model.raised import Raised
from gossamer.model.reasons.reason import text
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import History
from gossamer.policy.scope.scope import ScopeConfig
from gossamer.policy.speculation.config import SpeculationConfig
from gossamer.policy.speculation.form import question
from gossamer.state.environment import Family
from gossamer.state.keys import ticket
from gossamer.state.records import PageRecord, SharedDigestRecord, VisitRecord

OTHER = "http://other.example"


def events(world, kind):
    return [event for event in world.events if isinstance(event, kind)]


def lines(world):
    return [json.loads(line) for line in (world.path / "crawl.log").read_bytes().splitlines()]


# Page records …


PLACED = Placed("a.warc.gz", 10, 20, 0, "response", "urn:uuid:1", "2026-01-01T00:00:00Z", b"s" * 32)


def recorded(world, outcome, disposition=None, before=None, kept=None, reason=None, read=None, **lease):
    made = visit(world.lease(**lease), outcome, read, elapsed=2.0)
    return page_record(made.lease, made, disposition or Done(), before, kept, reason)


@pytest.mark.parametrize(
    ("disposition", "state", "reason"),
    [
        (Done(), "done", None),
        (Retry(5, Blame.URL, text("r")), "retry", text("r")),
        (Dropped(text("d")), "dropped", text("d")),
        (Parked(text("p")), "parked", text("p")),
    ],
)
def test_state_and_reason(world, disposition, state, reason):
    record = recorded(world, fetched(), disposition)
    assert (record.state, record.reason) == (state, reason)
    assert recorded(world, fetched(), disposition, reason=text("other")).reason == text("other")


def test_how_it_was_found(world):
    for _ in range(3):
        lease = world.lease(f"{SITE}/x", kind=LinkKind.ALTERNATE, depth=4, hops="LL", via="v")
    record = page_record(lease, visit(lease, fetched(f"{SITE}/x")), Done(), None, None, "")
    assert (record.url, record.kind, record.depth, record.hops, record.via) == (
        f"{SITE}/x", LinkKind.ALTERNATE, 4, "LL", "v",
    )  # fmt: skip
    assert (record.number, record.weight) == (3, 5)


@pytest.mark.parametrize(
    ("outcome", "visits", "status", "fault"),
    [
        (fetched(status=404), 1, 404, ""),
        (Failed(Fault.RESET, "d"), 1, 0, Fault.RESET),
        (Refused(Rule.ROBOTS), 0, None, None),
    ],
)
def test_visits_are_counted(world, outcome, visits, status, fault):
    record = recorded(world, outcome)
    assert record.visits_made == len(record.visits) == visits
    if visits:
        assert (record.visits[0].status, record.visits[0].fault) == (status, fault)
        assert record.visits[0].elapsed == 2.0


def test_the_last_visits_are_kept(world):
    known = PageRecord(
        "u", "retry", visits_made=9, visits=tuple(VisitRecord(float(at), 0.0) for at in range(5))
    )
    record = recorded(world, fetched(), before=known)
    assert (record.visits_made, len(record.visits)) == (10, VISITS_KEPT)
    assert [round(one.at) for one in record.visits] == [1, 2, 3, 4, 1_700_000_000]
    refused = recorded(world, Refused(Rule.SCOPE), before=known)
    assert (refused.visits_made, refused.visits) == (9, known.visits)
    turned_away = recorded(world, fetched(), before=PageRecord("u", "rejected", visits_made=9, title="old"))
    assert (turned_away.visits_made, turned_away.title) == (1, ""), "that was no visit"


def test_what_will_be_asked_for_again_leaves_the_validators(world):
    """The archive has the answer before, and what is said of it next must be said of that."""
    known = PageRecord("u", "done", etag='"v1"', payload=b"p" * 32, captured="2026-01-01T00:00:00Z")
    record = recorded(world, fetched(status=500, body=b"oops", etag='"oops"'), before=known)
    assert (record.etag, record.payload, record.captured) == (known.etag, known.payload, known.captured)


@pytest.mark.parametrize("truncated", [None, *Truncation])
def test_of_what_broke_off_the_rest_may_come_yet(world, truncated):
    record = recorded(world, fetched(body=b"abc", etag='"1"', last_modified="Mon", truncated=truncated))
    asks = truncated in (None, Truncation.LENGTH)
    assert (record.etag, record.last_modified) == (('"1"', "Mon") if asks else ("", "")), (
        "a 304 brings nothing"
    )


def test_what_a_response_brings(world):
    kept = Kept(PLACED, "http://twin.example/")
    outcome = fetched(body=b"abc", etag="e" * 1_000, last_modified="m" * 1_001, cache_control="max-age=60")
    record = recorded(world, outcome, kept=kept)
    assert (len(record.etag), record.last_modified) == (1_000, ""), "a part of a validator is another one"
    assert record.payload == outcome.exchange.body.sha256
    assert (record.place.file, record.place.offset, record.place.length) == ("a.warc.gz", 10, 20)
    assert (record.captured, record.twin) == (PLACED.date, "http://twin.example/")
    assert record.expires == pytest.approx(1_700_000_060.0)
    assert (record.visits[0].size, record.visits[0].at) == (3, 1_700_000_000.0)
    plain = recorded(world, outcome)
    assert (plain.place, plain.captured, plain.twin) == (None, "", "")


@pytest.mark.parametrize(
    ("body", "placed", "revisit", "moved"),
    [
        # What is written anew, or is something else, is where the page is found; a reference to what is found there
        # already is not, or readers would follow two.
        (b"abc", True, True, False),
        (b"abc", True, False, True),
        (b"abc", False, True, True),
        (b"xyz", True, True, True),
        (b"xyz", False, True, True),
    ],
)
def test_a_reference_to_the_same_answer_leaves_where_it_is(world, body, placed, revisit, moved):
    before = recorded(world, fetched(body=b"abc"), kept=Kept(PLACED, "") if placed else None)
    there = replace(
        PLACED, file="b.warc.gz", kind="revisit" if revisit else "response", date="2026-02-02T00:00:00Z"
    )
    record = recorded(world, fetched(body=body), before=before, kept=Kept(there, "http://twin.example/"))
    after = ("b.warc.gz", there.date, "http://twin.example/")
    assert (record.place.file, record.captured, record.twin) == (
        after if moved else ("a.warc.gz", PLACED.date, "")
    )


def test_unchanged_leaves_what_is_stored(world):
    before = recorded(world, fetched(body=b"abc", etag='"1"'), kept=Kept(PLACED, ""))
    record = recorded(world, fetched(status=304, body=b"", etag='"2"'), before=before, kept=Kept(PLACED, "x"))
    assert (record.etag, record.payload, record.twin) == ('"1"', before.payload, "")
    assert record.visits_made == 2
    unasked = recorded(world, fetched(status=304, body=b""), kept=Kept(PLACED, ""))
    assert (unasked.place.offset, unasked.payload, unasked.captured) == (10, b"", "")
    assert recorded(world, fetched(status=304, body=b"")).place is None


@pytest.mark.parametrize(
    ("outcome", "problems", "said"),
    [
        (fetched(), (), 0),
        (fetched(truncated=Truncation.TIME), (), 1),
        (fetched(status=301, location="http://[::1"), (), 1),
        (fetched(status=301, location="/fine"), (), 0),
        (fetched(), ("a", "b"), 2),
        (fetched(truncated=Truncation.TIME), ("a",), 2),
    ],
)
def test_what_status_and_size_do_not_say(world, outcome, problems, said):
    notes = recorded(world, outcome, read=page(problems=problems)).visits[0].notes
    assert len(notes) == said


@pytest.mark.parametrize(
    ("statuses", "presence", "gone", "since"),
    [
        ((200, 404, 404), Presence.GONE, 0, 20),
        ((404, 200, 404, 410), Presence.GONE, 0, 30),
        ((404, 500, 404), Presence.GONE, 0, 10),  # that says nothing
        ((404, 200), Presence.HERE, 0, 0),
        ((200, 404), Presence.MISSED, 0, 0),
        ((404, 404), Presence.GONE, 7, 7),  # it was known before
        ((404, 304), Presence.GONE, 0, 0),
    ],
)
def test_since_when_a_page_is_gone(world, statuses, presence, gone, since):
    visits = tuple(VisitRecord(10.0 * number, 1.0, status) for number, status in enumerate(statuses, 1))
    before = PageRecord("u", "done", visits=visits, gone=gone)
    again = Again(History(0, 0, presence=presence).pack(), b"p" * 16)
    record = recorded(world, Refused(Rule.ROBOTS), Dropped(text("d"), again=again), before)
    assert (record.gone, record.presence) == (since, presence)


@pytest.mark.parametrize(("changed", "when"), [(None, 5), (False, 5), (True, 1_700_000_000)])
def test_when_a_page_was_last_found_changed(world, changed, when):
    again = Again(History(0, 0).pack(), b"p" * 16, changed)
    before = PageRecord(
        "u", "done", changed=5, visits=(VisitRecord(1.0, 1.0, 200),), asked=b"ticket", number=9
    )
    record = recorded(world, fetched(), Done(again=again), before, again=True)
    assert record.changed == when
    assert [one.changed for one in record.visits] == [None, changed]
    assert (record.history, record.asked, record.number) == (again.history, b"", 9)
    still = recorded(world, fetched(), Retry(1.0, Blame.URL, text("r")), before)
    assert (still.asked, still.history, still.number) == (b"ticket", b"", 2), "it is not settled"


def test_details_are_cut(world):
    [note] = recorded(world, fetched(), read=page(problems=("x" * 900,))).visits[0].notes
    assert len(str(note)) == LONGEST_DETAIL == 500


def test_what_the_page_says(world):
    read = page(
        f"{SITE}/", link("/own", LinkKind.CANONICAL), digest=7, charset="utf-8", title="t", description="d",
        author="a", language="l", text_length=9,
    )  # fmt: skip
    record = recorded(world, fetched(), read=read)
    assert (record.content, record.media_type, record.charset, record.title) == (7, "text/html", "utf-8", "t")
    assert (record.description, record.author, record.language, record.text_length) == ("d", "a", "l", 9)
    assert (record.references, record.canonical) == (1, f"{SITE}/own")


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ((), ""),
        ((link("/x"),), ""),
        ((link("/", LinkKind.CANONICAL),), ""),
        ((link("/x"), link("/own", LinkKind.CANONICAL), link("/b", LinkKind.CANONICAL)), f"{SITE}/own"),
    ],
)
def test_the_url_a_page_says_is_its_own(links, said):
    assert canonical_of(page(f"{SITE}/", *links)) == said


# Settling …


@pytest.mark.parametrize(
    ("outcome", "state", "archived", "queued", "admitted"),
    [
        (fetched(), "done", 1, 0, 2),
        (fetched(status=404), "dropped", 1, 0, 2),
        (fetched(status=500), "retry", 0, 0, 0),
        (fetched(status=503), "retry", 0, 1, 0),
        (Failed(Fault.DECODING), "dropped", 0, 0, 0),
        (Refused(Rule.ROBOTS), "dropped", 0, 0, 0),
    ],
)
def test_all_that_follows_from_a_visit(world, outcome, state, archived, queued, admitted):
    lease = world.lease()
    world.settle(visit(lease, outcome, page(f"{SITE}/", link("/a"), link("/b"), link(f"{OTHER}/"))))
    record = world.record(f"{SITE}/")
    assert record.state == state
    assert (record.place is not None) is bool(archived)
    assert len([*world.archivist.captures()]) == archived
    assert len(world.queued()) == queued + admitted
    assert world.frontier.lent == 0
    (heard,) = events(world, Visited)
    assert (heard.lease, heard.outcome, heard.admitted) == (lease, outcome, admitted)
    assert type(heard.disposition).__name__.lower() == state
    assert (heard.place is not None) is bool(archived)
    (line,) = lines(world)
    assert (line["url"], line["became"], line["attempt"]) == (f"{SITE}/", state, 1)
    assert ("file" in line) is bool(archived)
    assert world.counters.visits == 1


@pytest.mark.parametrize("honour", [False, True])
def test_nofollow_is_honoured_where_that_is_set(world_of, honour):
    world = world_of(links=LinkRules(honour_nofollow=honour))
    world.settle(visit(world.lease(), fetched(), page(f"{SITE}/", link("/a", nofollow=True))))
    assert len(world.queued()) == (not honour)
    assert len(events(world, Rejected)) == honour


def test_rests_and_parkings_are_told(world):
    world.settle(visit(world.lease(), fetched(status=503)))
    assert [(event.queue_key, event.seconds) for event in events(world, HostRested)] == [
        ("site.example", 60.0)
    ]
    assert world.host().due == world.micros + 60_000_000
    assert world.host().reason
    host = world.frontier.hosts.change(world.frontier.host_hash("site.example"), "site.example")
    host.failures, host.failing_since = 9, 1.0
    world.pass_time(61)
    world.settle(visit(world.frontier.lend(), Failed(Fault.CONNECT)))
    assert [event.queue_key for event in events(world, HostParked)] == ["site.example"]
    assert len(events(world, HostRested)) == 1


def test_a_robots_file_is_settled_at_the_desk(world):
    lease = world.robots_lease()
    world.settle(visit(lease, fetched(location="/x"), robots=rules("User-agent: *\nDisallow: /")))
    host, _ = world.frontier.host_key(lease.candidate.url)
    assert world.frontier.robots.latest(host, SITE).record.state == "rules"
    record = world.record(f"{SITE}/robots.txt")
    assert (record.state, record.place is not None) == ("done", True)
    assert world.counters.pages == 0


@pytest.mark.parametrize(
    ("status", "location", "target"),
    [
        (301, "/new", f"{SITE}/new"),
        (302, f"{OTHER}/x", None),
        (301, "http://[::1", None),
        (200, "/new", None),
        (404, "/new", None),
        (304, "/new", None),
    ],
)
def test_redirects_are_links(world, status, location, target):
    lease = world.lease(f"{SITE}/x", kind=LinkKind.NAVIGATION, depth=1, hops="L")
    world.settle(visit(lease, fetched(f"{SITE}/x", status, location=location)))
    assert world.queued() == ([target] if target else [])
    assert events(world, Visited)[0].admitted == bool(target)


def test_a_redirected_robots_file_is_no_link(world):
    world.settle(visit(world.robots_lease(), fetched(status=302, location="/other.txt")))
    assert events(world, Visited)[0].admitted == 0
    world.pass_time(60)
    assert world.frontier.lend().candidate.kind is LinkKind.ROBOTS


@pytest.mark.parametrize("back", [False, True])
def test_a_redirect_to_where_its_chain_began(world_of, back):
    """A cookie may have been set on the way: with cookies kept it is fetched once more."""
    world = world_of(links=LinkRules(back=back))
    world.admit(f"{SITE}/a")
    for to in ("/b", "/c", "/a"):
        lease = world.frontier.lend()
        world.settle(visit(lease, fetched(lease.candidate.url.text, 302, location=to)))
        world.pass_time(60)
    lease = world.frontier.lend()
    assert (lease is not None) is back
    if back:
        assert (lease.candidate.url.text, lease.candidate.forced) == (f"{SITE}/a", True)


def test_only_its_own_chain_counts(world_of):
    world = world_of(links=LinkRules(back=True))
    world.admit(f"{SITE}/a")
    world.settle(visit(world.frontier.lend(), fetched(f"{SITE}/a", body=b"a"), page(f"{SITE}/a", link("/b"))))
    world.pass_time(60)
    world.settle(visit(world.frontier.lend(), fetched(f"{SITE}/b", 302, location="/a")))
    world.pass_time(60)
    assert world.frontier.lend() is None, "it was linked from there, not sent"


def test_what_was_turned_away_of_a_newcomer_is_let_in(world, monkeypatch):
    monkeypatch.setattr(settlement_module, "LINKS_AT_ONCE", 3)
    world.admit(f"{SITE}/")
    early = [f"{OTHER}/{number}" for number in range(7)]
    finder = world.lease(f"{SITE}/p").candidate
    with world.frontier.changes():
        world.admission.links(finder, [link(url) for url in early], honour_nofollow=True)
    assert world.record(early[0]).state == "rejected"
    lease = world.lease(f"{SITE}/home")
    world.settle(visit(lease, fetched(f"{SITE}/home", 301, location=f"{OTHER}/home")))
    assert {*early, f"{OTHER}/home"} <= set(world.queued())
    assert world.admission.newcomers == []


def test_failures_of_extractors_are_counted(world):
    raised = Raised("extractor x", "ValueError")
    for path in ("/a", "/b"):
        lease = world.lease(SITE + path)
        world.settle(visit(lease, fetched(SITE + path), page(SITE + path, raised=(raised,))))
    assert world.counters.raised == {"extractor x": 2}


def test_canonicals_and_copies_are_counted(world):
    own = link("/own", LinkKind.CANONICAL)
    for path, links in (("/a", (own,)), ("/b", ()), ("/c", ())):
        lease = world.lease(SITE + path)
        world.settle(visit(lease, fetched(SITE + path), page(SITE + path, *links, digest=9)))
    assert (world.counters.canonicals, world.counters.duplicates, world.counters.pages) == (1, 2, 3)
    assert [event.seen_before for event in events(world, Visited)] == [False, True, True]
    assert [event.twin for event in events(world, Visited)] == ["", f"{SITE}/a", f"{SITE}/a"]
    lease = world.lease(f"{SITE}/d")
    world.settle(visit(lease, fetched(f"{SITE}/d", 404, b"other"), page(f"{SITE}/d", own, digest=9)))
    assert world.counters.canonicals == 1, "that is no page"


@pytest.mark.parametrize(
    ("status", "again", "met"),
    [(200, False, True), (200, True, True), (404, False, False), (404, True, True)],
)
def test_what_counts_as_met_are_pages_and_what_is_visited_again(world, status, again, met):
    lease = world.lease(f"{SITE}/a", again=again)
    world.settle(visit(lease, fetched(f"{SITE}/a", status), page(f"{SITE}/a", digest=9)))
    assert world.archivist.met_at(page(f"{SITE}/b", digest=9)) == (f"{SITE}/a" if met else "")


@pytest.mark.parametrize("skip", [False, True])
def test_links_of_copies_where_that_is_set(world_of, skip):
    world = world_of(links=LinkRules(skip_duplicates=skip))
    for path, to in (("/a", "/1"), ("/b", "/2")):
        lease = world.lease(SITE + path)
        world.settle(visit(lease, fetched(SITE + path), page(SITE + path, link(to), digest=9)))
    assert (f"{SITE}/2" in world.queued()) is not skip
    assert f"{SITE}/1" in world.queued()


def test_sinks_get_what_is_committed_and_bodies_are_closed(world):
    got = []

    async def sink(event):
        got.append((event.lease.candidate.url.text, world.record(event.lease.candidate.url.text).state))

    outcomes = [fetched(f"{SITE}/{name}", body=name.encode()) for name in "abc"]
    visits = [
        visit(world.lease(f"{SITE}/{name}"), outcome) for name, outcome in zip("abc", outcomes, strict=True)
    ]
    world.settle(*visits, sinks=[sink])
    assert got == [(f"{SITE}/{name}", "done") for name in "abc"]
    for outcome in outcomes:
        with pytest.raises(InternalError, match="closed"):
            outcome.exchange.body.read()


@pytest.mark.parametrize("links", [50, 250, 1_600])
def test_pages_with_many_links_are_followed_whole(world, links):
    found = [link(f"/{number}") for number in range(links)]
    world.settle(visit(world.lease(), fetched(), page(f"{SITE}/", *found)))
    assert events(world, Visited)[0].admitted == links
    assert len(world.queued()) == links
    (line,) = lines(world)
    assert line["became"] == "done"


@pytest.mark.parametrize(("outcome", "admitted"), [(fetched(), 1_599), (fetched(status=500), 0)])
def test_long_pages_keep_to_the_same_rules(world_of, outcome, admitted):
    world = world_of(links=LinkRules(skip_duplicates=True))
    found = [link(f"/{number}", nofollow=number == 7) for number in range(1_600)]
    for path, expected in (("/a", admitted), ("/b", 0)):
        lease = world.lease(SITE + path)
        url = SITE + path
        status = outcome.exchange.status
        made = fetched(url, status)
        world.settle(visit(lease, made, page(url, *found, digest=5)))
        assert events(world, Visited)[-1].admitted == expected
    assert len([url for url in world.queued() if url not in (f"{SITE}/a", f"{SITE}/b")]) == admitted


# The archive …


def write(world, made, before=None):
    async def work():
        return await world.archivist.write(made, made.outcome.exchange, before)

    return asyncio.run(work())


def commit(world):
    with world.frontier.changes() as batch:
        world.archivist.enter(batch)
    asyncio.run(world.archivist.committed())


@pytest.mark.parametrize(
    ("first", "second", "twin"),
    [
        ({}, {}, True),
        ({}, {"body": b"other"}, False),
        ({"status": 404}, {"status": 404}, False),
        ({"status": 404}, {}, False),
        ({"body": b""}, {"body": b""}, False),
        ({"truncated": Truncation.TIME}, {"truncated": Truncation.TIME}, False),
        ({"truncated": Truncation.TIME}, {}, False),
        ({}, {"truncated": Truncation.LENGTH}, False),
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_a_payload_met_before_is_a_reference(world, first, second, twin, committed):
    a = write(world, visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a", **first)))
    assert a.placed.kind == "response" and a.twin == ""
    if committed:
        commit(world)
    b = write(world, visit(world.lease(f"{SITE}/b"), fetched(f"{SITE}/b", **second)))
    assert b.twin == (f"{SITE}/a" if twin else "")
    assert b.placed.kind == ("revisit" if twin else "response")
    assert world.counters.archived == a.placed.length + b.placed.length
    commit(world)
    assert len([*world.archivist.captures()]) == 2


def test_unchanged_refers_to_what_was_captured(world):
    url = f"{SITE}/a"
    first = visit(world.lease(url), fetched(url))
    kept = write(world, first)
    known = page_record(first.lease, first, Done(), None, kept, None)
    again = visit(world.lease(url), fetched(url, 304, b""))
    unchanged = write(world, again, known)
    assert (unchanged.placed.kind, unchanged.twin) == ("revisit", ""), "it is no copy of another"
    assert unchanged.placed.sha256 == kept.placed.sha256
    for before in (
        None,
        PageRecord(url, "done"),
        PageRecord(url, "done", captured="x"),
        PageRecord(url, "done", payload=b"x"),
    ):
        assert write(world, again, before).twin == ""
    # What was captured is a reference itself, and readers do not follow two.
    other = visit(world.lease(f"{SITE}/b"), fetched(f"{SITE}/b"))
    copy = page_record(other.lease, other, Done(), None, write(world, other), None)
    assert copy.twin == url
    referred = write(world, visit(world.lease(f"{SITE}/b"), fetched(f"{SITE}/b", 304, b"")), copy)
    assert referred.twin == url


def test_large_bodies_are_written_in_a_thread_all_the_same(world, monkeypatch):
    threads = []

    async def in_thread(work, *args):
        threads.append(work.__name__)
        return work(*args)

    monkeypatch.setattr(archivist_module, "in_thread", in_thread)
    size = archivist_module.THREAD_ABOVE
    for path, length in (("/a", size), ("/b", size + 1)):
        assert (
            write(
                world, visit(world.lease(SITE + path), fetched(SITE + path, body=b"x" * length))
            ).placed.kind
            == "response"
        )
    assert threads == ["append"] and size == 1 << 20


def test_content_is_met_by_its_digest(world):
    archivist = world.archivist
    a, b, nothing = page(f"{SITE}/a", digest=5), page(f"{SITE}/b", digest=5), page(f"{SITE}/c")
    assert archivist.met_at(a) == ""
    assert archivist.first_seen(a) == ""
    assert archivist.met_at(b) == archivist.first_seen(b) == f"{SITE}/a"
    assert archivist.first_seen(nothing) == archivist.first_seen(nothing) == ""
    commit(world)
    assert archivist.first_seen(b) == f"{SITE}/a"
    assert archivist.met_at(page(f"{SITE}/d", digest=6)) == ""
    # What another agent met counts, and is known from then on.
    met = SharedDigestRecord("http://theirs.example/")
    assert archivist.first_seen(page(f"{SITE}/e", digest=8), met) == "http://theirs.example/"
    assert archivist.met_at(page(f"{SITE}/f", digest=8)) == "http://theirs.example/"


class Together:
    """What all agents know."""

    def __init__(self, known=()):
        self.known = dict(known)
        self.asked = []
        self.told = []

    async def look_up(self, key):
        self.asked.append(key)
        return self.known.get(key)

    def learnt(self, key, record):
        self.told.append((key, record))


def told(world, *visits):
    """Settle as a cluster would; what others hear."""
    world.settle(*visits)
    return world.digests.told


def test_other_agents_are_asked_about_what_is_new_here(world):
    digest = b"c" + (5).to_bytes(8, "big")
    met = SharedDigestRecord("http://theirs.example/")
    together = world.digests = Together({digest: met})

    def looked_up(made):
        return asyncio.run(world.archivist.look_up(made)).met

    read = page(f"{SITE}/a", digest=5)
    assert looked_up(visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a"), read)) == met
    assert looked_up(visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a"))) is None
    payload = b"p" + exchange().body.sha256
    assert together.asked == [digest, payload]
    for made in (
        visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a", 404)),
        visit(world.lease(f"{SITE}/a"), Failed(Fault.RESET)),
        visit(world.robots_lease(), fetched()),
    ):
        assert looked_up(made) is None
    assert len(together.asked) == 2
    world.archivist.first_seen(read)
    looked_up(visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a"), read))
    assert len(together.asked) == 2, "it is known here"
    alone = Archivist(world.writer, world.log, world.environment, world.counters)
    made = visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a"))
    assert asyncio.run(alone.look_up(made)) is made


def test_other_agents_hear_of_what_is_new(world):
    world.digests = Together()
    heard = told(
        world,
        visit(world.lease(f"{SITE}/a"), fetched(f"{SITE}/a", body=b"1"), page(f"{SITE}/a", digest=5)),
        visit(world.lease(f"{SITE}/b"), fetched(f"{SITE}/b", body=b"2"), page(f"{SITE}/b", digest=5)),
        visit(world.lease(f"{SITE}/c"), fetched(f"{SITE}/c", body=b"3")),
        visit(world.lease(f"{SITE}/d"), fetched(f"{SITE}/d", body=b"3")),
        visit(world.lease(f"{SITE}/e"), fetched(f"{SITE}/e", 404)),
        visit(
            world.lease(f"{SITE}/f"),
            fetched(f"{SITE}/f", body=b"4", truncated=Truncation.LENGTH),
            page(f"{SITE}/f", digest=6),
        ),
        visit(world.lease(f"{SITE}/g"), Failed(Fault.RESET)),
    )
    assert [(key[:1], record.url, bool(record.payload)) for key, record in heard] == [
        (b"c", f"{SITE}/a", True),
        (b"p", f"{SITE}/c", True),
        (b"c", f"{SITE}/f", False),
    ]
    assert all(bool(record.date) == bool(record.record_id) == bool(record.payload) for _, record in heard)
    assert heard[0][1].payload == exchange(body=b"1").body.sha256


def test_what_another_agent_has_archived_is_referred_to(world):
    world.digests = Together()
    sha256 = exchange().body.sha256
    met = SharedDigestRecord("http://theirs.example/", sha256, "2026-01-01T00:00:00Z", "urn:uuid:1")
    for path, known, twin in (
        ("/a", SharedDigestRecord("http://theirs.example/", b"x" * 32, "d", "r"), ""),
        ("/b", met, f"{SITE}/a"),
    ):
        assert write(world, visit(world.lease(SITE + path), fetched(SITE + path), met=known)).twin == twin
    made = visit(world.lease(f"{SITE}/c"), fetched(f"{SITE}/c", body=b"new"))
    met = SharedDigestRecord(
        "http://theirs.example/", exchange(body=b"new").body.sha256, "2026-01-01T00:00:00Z", "urn:uuid:1"
    )
    assert write(world, visit(made.lease, made.outcome, met=met)).twin == "http://theirs.example/"
    assert write(world, made).twin == "http://theirs.example/", "kept, so that nobody is asked again"


# Names …


def answered(name, *addresses):
    return NameAnswered(name, addresses, 60, "server", 0.1, 1.0)


def records(world):
    """Types and targets in the archive."""
    found = []
    for path in sorted((world.path / "archive").iterdir()):
        with path.open("rb") as file:
            found += [
                (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
                for record in ArchiveIterator(file)
            ]
    return found


def test_names_are_archived_when_they_are_new(world):
    archivist = world.archivist
    for answer in (
        answered("a", "1"),
        answered("b"),
        answered("a", "1"),
        answered("c", "2", "1"),
        answered("c", "1", "2"),
    ):
        archivist.note_name(answer)
    archivist.write_names()
    commit(world)
    for answer in (answered("a", "1"), answered("a", "3"), answered("a", "1")):
        archivist.note_name(answer)
    archivist.write_names()
    commit(world)
    names = [target for kind, target in records(world) if kind == "resource"]
    assert names == ["dns:a", "dns:c", "dns:a", "dns:a"]


def test_so_many_names_at_a_time(world):
    archivist = world.archivist
    for number in range(5):
        archivist.note_name(answered(str(number), "1"))
    written = []
    for most in (2, 2):
        archivist.write_names(most)
        written.append(len([kind for kind, _ in records(world) if kind == "resource"]))
    assert written == [2, 4]
    archivist.close()
    assert len([kind for kind, _ in records(world) if kind == "resource"]) == 5


def test_files_are_known_and_change_when_they_are_full(world_of):
    world = world_of(archive=ArchiveConfig(max_file_size=1_024))
    for name in "abc":
        world.settle(
            visit(
                world.lease(f"{SITE}/{name}"),
                fetched(f"{SITE}/{name}", body=bytes(range(256)) * 8 + name.encode()),
            )
        )
    files = archive_files(world.environment)
    assert len(files) == 3
    for file in files[:-1]:
        assert file.state == "closed"
        assert (world.path / "archive" / file.name).stat().st_size == file.length
    assert world.archivist.repairs == []
    keys = [key for key, _ in world.environment.scan(Family.CAPTURES)]
    assert keys == sorted(keys) and len(keys) == 3


def test_metadata_names_the_way(world):
    read = replace(page(f"{SITE}/a", charset="utf-8"), directives=Directives(noarchive=True))
    lease = world.lease(f"{SITE}/a", via="http://via.example/", hops="LLE")
    world.settle(visit(lease, fetched(f"{SITE}/a"), read, elapsed=1.5), visit(world.lease(), fetched()))
    world.settle(visit(world.lease(f"{SITE}/a", again=True), fetched(f"{SITE}/a", 304, b"")))
    bodies = []
    for path in (world.path / "archive").iterdir():
        with path.open("rb") as file:
            bodies += [
                r.content_stream().read().decode() for r in ArchiveIterator(file) if r.rec_type == "metadata"
            ]
    assert len(bodies) == 2, "of a 304 it stands beside what that refers to"
    first = dict(line.split(": ", 1) for line in bodies[0].strip().splitlines())
    assert first["via"] == "http://via.example/" and first["hopsFromSeed"] == "LLE"
    assert (first["fetchTimeMs"], first["charsetForLinkExtraction"]) == ("1500", "utf-8")
    assert first["robotsDirective"] == "noarchive"
    second = dict(line.split(": ", 1) for line in bodies[1].strip().splitlines())
    assert not {"via", "hopsFromSeed", "charsetForLinkExtraction", "robotsDirective"} & set(second)


def test_scope_of_links_is_the_scope_of_the_crawl(world_of):
    world = world_of(scope=ScopeConfig(max_depth=1))
    world.settle(visit(world.lease(depth=1), fetched(), page(f"{SITE}/", link("/deep"))))
    assert world.queued() == [] and world.counters.turned_away == {Rule.DEPTH: 1}
    assert parsed(SITE).host == "site.example" and isinstance(world.archivist, Archivist) and ticket(0, 0)


# Due again, by a policy that was handed in …


class Policy:
    """Says that each page is due after a while, or never; remembers what it was asked."""

    def __init__(self, seconds):
        self.seconds, self.asked = seconds, []

    def again(self, lease, outcome, page, visits):
        self.asked.append((lease.candidate.url.text, page is not None, visits))
        return self.seconds


@pytest.mark.parametrize("seconds", [50, None])
def test_a_policy_is_asked_once_for_each_visit_that_settled_a_page(world, seconds):
    policy = Policy(seconds)
    world.doors = replace(world.doors, revisits=policy)
    before = PageRecord(f"{SITE}/known", "done", visits_made=4)
    with world.frontier.changes() as batch:
        world.memory.put(world.identity.fingerprint(parsed(f"{SITE}/known")), before, batch)
    world.settle(
        visit(world.lease(f"{SITE}/done"), fetched(f"{SITE}/done"), page(f"{SITE}/done")),
        visit(world.lease(f"{SITE}/known"), fetched(f"{SITE}/known", status=404)),
        visit(world.lease(f"{SITE}/retry"), fetched(f"{SITE}/retry", status=500)),
        visit(world.robots_lease(), fetched(f"{SITE}/robots.txt")),
    )
    assert policy.asked == [(f"{SITE}/done", True, 1), (f"{SITE}/known", False, 5)]
    assert world.counters.again == (2 if seconds else 0)


# Guesses …

GUESS = {"kind": LinkKind.SPECULATIVE, "element": "script:whole"}


@pytest.mark.parametrize(
    ("outcome", "read", "came"),
    [
        (fetched(f"{SITE}/g", body=b"new"), page(f"{SITE}/g", digest=8), (1, 0)),
        (fetched(f"{SITE}/g", body=b"new"), page(f"{SITE}/g", digest=7), (0, 1)),  # sites answer alike
        (fetched(f"{SITE}/g", status=404), None, (0, 1)),
        (fetched(f"{SITE}/g", status=301, location="/new"), None, (1, 0)),
        (fetched(f"{SITE}/g", status=301, location="/known"), None, (0, 1)),
        (fetched(f"{SITE}/g", status=500), None, None),
        (Refused(Rule.ROBOTS), None, None),
        (Refused(Rule.SPECULATIVE, LINKED), None, None),
    ],
)
def test_what_came_of_a_guess_is_counted_when_it_is_settled(world, outcome, read, came):
    guesses = Speculation(world.frontier, world.identity, world.counters, SpeculationConfig(follow=True))
    world.doors = replace(world.doors, speculation=guesses)
    world.settle(
        visit(world.lease(f"{SITE}/known"), fetched(f"{SITE}/known"), page(f"{SITE}/known", digest=7))
    )
    world.admit(f"{SITE}/known")
    world.settle(visit(world.lease(f"{SITE}/g", **GUESS), outcome, read))
    assert world.counters.speculative.get("script:whole") == came
    assert (world.record(f"{SITE}/g") is None) == (outcome == Refused(Rule.SPECULATIVE, LINKED))
    if came is not None:
        # What is known is no guess any more.
        once_more = visit(
            world.lease(f"{SITE}/g", **GUESS), fetched(f"{SITE}/g"), page(f"{SITE}/g", digest=9)
        )
        world.settle(once_more)
        assert world.counters.speculative["script:whole"] == came
    world.settle(visit(world.lease(f"{SITE}/linked", **GUESS), Refused(Rule.SPECULATIVE, LINKED)))
    assert world.record(f"{SITE}/linked") is None, "it leaves no trace"
    assert f"{SITE}/linked" not in world.queued()


@pytest.mark.parametrize(
    ("links", "news", "digest", "found"),
    [
        ([link("/new")], None, 8, True),
        ([link("/known"), link("/new")], 0.0, 8, True),
        ([link("/known")], None, 8, False),
        ([link("/f?q=word&p=2"), link("/f?q=Word&by=date")], None, 8, False),
        ([link("/new", LinkKind.REQUISITE)], None, 8, False),
        ([link(f"{OTHER}/new")], None, 8, False),
        ([link("/new")], 0.9, 7, False),  # a copy
        ([], settlement_module.NEWS, 8, True),
        ([], settlement_module.NEWS - 0.01, 8, False),
    ],
)
def test_a_form_has_answered_if_its_page_leads_on_or_says_something(world, links, news, digest, found):
    guesses = Speculation(world.frontier, world.identity, world.counters, SpeculationConfig())
    yields = SimpleNamespace(learn=lambda *_: news)
    world.doors = replace(world.doors, speculation=guesses, yields=yields)
    known = f"{SITE}/known"
    world.settle(visit(world.lease(known), fetched(known), page(known, digest=7)))
    world.admit(known)
    url, asked = f"{SITE}/f?q=word", question("form /f?q", "word")
    lease = world.lease(url, kind=LinkKind.SPECULATIVE, element=asked)
    world.settle(visit(lease, fetched(url, body=b"x"), page(url, *links, digest=digest)))
    assert world.counters.speculative == {"form": (int(found), int(not found))}


@pytest.mark.parametrize(
    ("to", "counted"),
    [
        ("/f/?q=Word", {}),  # it is seen there, and the form is told of it then
        ("/answers/1", {"form": (1, 0)}),
        ("/known", {"form": (0, 1)}),
        ("http://[::1", {"form": (0, 1)}),
        (f"{OTHER}/f?q=word", {"form": (0, 1)}),
    ],
)
def test_a_form_that_sends_elsewhere_has_answered_if_that_is_new(world, to, counted):
    guesses = Speculation(world.frontier, world.identity, world.counters, SpeculationConfig())
    world.doors = replace(world.doors, speculation=guesses)
    world.admit(f"{SITE}/known")
    url, asked = f"{SITE}/f?q=word", question("form /f?q", "word")
    lease = world.lease(url, kind=LinkKind.SPECULATIVE, hops="X", element=asked)
    world.settle(visit(lease, fetched(url, status=302, location=to)))
    assert world.counters.speculative == counted


def test_where_parts_of_a_page_have_led_adds_up():
    followed = Followed()
    for led, expected in (
        (Led(2, on=True), Led(2, on=True)),
        (Led(1, on=False), Led(3, on=True)),
        (Led(0, on=False), Led(3, on=True)),
    ):
        followed.note(led)
        assert followed.led == expected
    assert Followed().led == Led(0, on=False), "the next page begins anew"


@pytest.mark.parametrize(
    ("fields", "changed"), [({"again": True}, False), ({"forced": True}, False), ({}, True)]
)
def test_a_page_that_was_visited_is_compared_before_it_is_settled(world_of, fields, changed):
    world = world_of(revisit=RevisitConfig(enabled=True, visits=100))
    compares = Changes(world.path / "archive", world.frontier, world.memory, FetchConfig())
    again = Revisits(world.frontier, world.identity, world.memory, world.pace, lambda: compares)
    world.doors = replace(world.doors, again=again)
    for script, told in ((b"1", {}), (b"2", fields)):
        body = b"<script>%s</script><p>It says the same." % script
        made = fetched(f"{SITE}/x", body=body, content_type="text/html")
        world.settle(visit(world.lease(f"{SITE}/x", **told), made, page(f"{SITE}/x")))
    assert world.record(f"{SITE}/x").visits[-1].changed == changed
