"""Names that show one site: what is learned from each visit, which URLs are left out, what survives an end."""

from types import SimpleNamespace

import msgspec
import pytest
from engine_world import fetched, page, parsed, visit
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.control.changes import preview
from gossamer.engine.settlement import twins as room
from gossamer.engine.settlement.twins import Twins, pairs_in
from gossamer.model.disposition import PageState
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.codes import HoldCode, TwinCode
from gossamer.model.reasons.reason import Reason
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.twins import CHECKED, LEAST
from gossamer.state.keys import HASH_BYTES

A, B, C = "http://a.example", "http://b.example", "https://c.example"
LONG = b"text " * 100


@pytest.fixture
def names_of(world_of):
    """A world in which names are watched, and what visits to them are."""

    def make(*, skip=True, seeds=(f"{A}/",)):
        world = world_of(scope=ScopeConfig(mode="any"), seeds=list(seeds))
        open_again(world, skip=skip)
        return world

    return make


def open_again(world, *, skip):
    """As a new session does."""
    world.twins = Twins(world.frontier, world.identity, world.admission, world.memory, skip=skip)
    world.doors = msgspec.structs.replace(world.doors, twins=world.twins)


def lease_of(world, url, **fields):
    return world.lease(url, **{"kind": LinkKind.NAVIGATION} | fields)


def of(world, url, digest=0, status=200, **fields):
    """A visit to a URL."""
    body = LONG if digest else b"short"
    lease = lease_of(world, url, **fields)
    return visit(lease, fetched(url, status, body), page(url, digest=digest) if status == 200 else None)


def see(world, url, digest=0, status=200, **fields):
    world.settle(of(world, url, digest, status, **fields))


def show_alike(world, *origins, first=1, last=LEAST):
    for number in range(first, last + 1):
        for origin in origins:
            see(world, f"{origin}/{number}", number)


def pairs(world):
    return [(pair.goes, pair.stays, pair.alike, pair.unlike) for pair in pairs_in(world.environment)]


def plain(world, origin, start):
    """A URL that is not one of those that are visited all the same, so that a mistake is noticed."""
    return next(
        url
        for number in range(start, start + 10)
        if int.from_bytes(world.identity.fingerprint(parsed(url := f"{origin}/{number}"))[-4:], "big")
        % CHECKED
    )


def refusal(world, url, **fields):
    return world.twins.refusal(lease_of(world, url, **fields))


def test_it_takes_so_many_different_pages(names_of):
    world = names_of()
    show_alike(world, A, B, last=LEAST - 1)
    see(world, f"{B}/again", LEAST - 1)
    see(world, f"{A}/again", LEAST - 1)
    assert pairs(world) == []
    show_alike(world, A, B, first=LEAST)
    assert pairs(world) == [(B, A, LEAST, 0)]


def test_pages_of_one_group_are_compared_with_each_other(names_of):
    world = names_of()
    for first in range(1, LEAST + 1, 4):
        world.settle(*(of(world, f"{origin}/{n}", n) for n in range(first, first + 4) for origin in (A, B)))
    assert pairs(world) == [(B, A, LEAST, 0)]


@pytest.mark.parametrize(
    "other",
    [
        {"status": 404},
        {"digest": 0},
        {"again": True},
    ],
)
def test_what_is_no_evidence(names_of, other):
    world = names_of()
    for number in range(1, 2 * LEAST):
        see(world, f"{A}/{number}", number)
        see(world, f"{B}/{number}", **{"digest": number} | other)
    assert pairs(world) == []


def test_what_is_no_page_is_not_even_counted(names_of):
    world = names_of()
    for origin in (A, B):
        url = f"{origin}/style.css"
        found = page(url, digest=5, media_type="text/css")
        world.settle(visit(lease_of(world, url, kind=LinkKind.REQUISITE), fetched(url, 200, LONG), found))
    assert list(pairs_in(world.environment, room._MET)) == []


def test_what_the_one_that_goes_was_not_asked_for_yet_says_nothing(names_of):
    world = names_of()
    for number in range(100, 130):
        see(world, f"{A}/{number}", number)
    show_alike(world, A, B)
    assert pairs(world) == [(B, A, LEAST, 0)]


def test_the_first_page_of_a_name_is_always_looked_at(names_of, monkeypatch):
    monkeypatch.setattr(room, "LOOKED_AT", LEAST - 1)
    world = names_of()
    names = (f"http://n{number}.example" for number in range(1_000))
    late = next(name for name in names if world.identity.fingerprint(parsed(f"{name}/"))[HASH_BYTES] > 250)
    see(world, f"{B}/", 1_000)
    see(world, f"{late}/", 1_000, kind=LinkKind.SEED)
    show_alike(world, B)
    show_alike(world, late)
    assert [pair[:2] for pair in pairs(world)] == [(B, late)], "a seed's"


def test_the_same_at_other_paths_or_on_another_port_is_none(names_of):
    world = names_of()
    for number in range(1, 2 * LEAST):
        see(world, f"{A}/{number}", number)
        see(world, f"{B}/x{number}", number)
        see(world, f"{A}:8080/{number}", number)
        see(world, f"https{A[4:]}/{number}", number)
    assert pairs(world) == []


@pytest.mark.parametrize(
    ("seeded", "first", "stays"), [("", A, A), ("", B, B), (A, A, A), (A, B, A), (B, A, B), (B, B, B)]
)
def test_the_seeds_name_stays_else_the_one_seen_first(names_of, seeded, first, stays):
    world = names_of()
    for number in range(1, LEAST + 1):
        for origin in (first, B if first == A else A):
            kind = LinkKind.SEED if origin == seeded and number == 5 else LinkKind.NAVIGATION
            see(world, f"{origin}/{number}", number, kind=kind)
    assert [pair[1] for pair in pairs(world)] == [stays]


def test_what_contradicts_counts_from_before_it_was_looked_for(names_of):
    """Five paths with other pages, then eight alike."""
    world = names_of()
    for number in range(100, 105):
        see(world, f"{A}/{number}", number)
        see(world, f"{B}/{number}", number + 1_000)
    show_alike(world, A, B)
    assert pairs(world) == []


@pytest.mark.parametrize(
    ("known", "fields", "left_out"),
    [
        ("shown", {}, True),
        ("waits", {}, True),
        ("", {}, False),
        ("missing", {}, False),
        ("failed", {}, False),
        ("moved", {}, False),
        ("parked", {}, False),
        ("shown", {"kind": LinkKind.SEED}, False),
        ("shown", {"kind": LinkKind.DEMAND}, False),
        ("shown", {"kind": LinkKind.ROBOTS}, False),
        ("shown", {"kind": LinkKind.REQUISITE}, True),
        ("shown", {"kind": LinkKind.SITEMAP}, True),
        ("waits", {"kind": LinkKind.SITEMAP}, False),
        ("shown", {"again": True}, False),
        ("shown", {"forced": True}, False),
    ],
)
def test_which_urls_are_left_out(names_of, known, fields, left_out):
    world = names_of()
    show_alike(world, A, B)
    target = plain(world, B, 100).removeprefix(B)
    match known:
        case "shown":
            see(world, A + target, 100)
        case "waits":
            world.admit(A + target)
        case "missing":
            see(world, A + target, status=404)
        case "moved":
            see(world, A + target, status=301)
        case "parked":
            world.admit(A + target)
            world.settle(visit(lease_of(world, A + target), Refused(Rule.BUDGET)))
        case "failed":
            world.settle(visit(lease_of(world, A + target), Failed(Fault.ADDRESS_FORBIDDEN)))
    refused = refusal(world, B + target, **fields)
    assert (refused is not None) is left_out
    if refused is not None:
        assert refused.rule is Rule.TWIN
        assert refused.detail.values == (A + target, LEAST, LEAST)
    assert refusal(world, A + target) is None, "the other stays"


def test_only_who_is_to_skip_leaves_out(names_of):
    world = names_of(skip=False)
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    assert refusal(world, url) is None


def test_a_host_that_is_given_up_keeps_nobody_waiting(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    world.admit(url.replace(B, A))
    with world.frontier.changes():
        world.frontier.park("a.example", Reason(HoldCode.OPERATOR))
    assert refusal(world, url) is None


def test_one_in_so_many_is_visited_all_the_same(names_of):
    world = names_of()
    show_alike(world, A, B)
    urls = [f"{B}/{number}" for number in range(1_000, 1_400)]
    for url in urls:
        world.admit(url.replace(B, A))
    lease = lease_of(world, urls[0])
    candidates = [msgspec.structs.replace(lease.candidate, url=parsed(url)) for url in urls]
    leases = [msgspec.structs.replace(lease, candidate=candidate) for candidate in candidates]
    visited = sum(world.twins.refusal(each) is None for each in leases)
    assert 1 <= visited <= 30


def leave_out(world, url):
    lease = lease_of(world, url)
    world.frontier.claim(world.identity.fingerprint(parsed(url)), lease.ticket)
    refused = world.twins.refusal(lease)
    assert refused is not None
    return visit(lease, refused)


@pytest.mark.parametrize("together", [False, True, "turned round"])
def test_what_the_other_fails_to_show_after_it_was_left_out_has_its_turn(names_of, together):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    world.admit(url.replace(B, A))
    missing = of(world, url.replace(B, A), status=404)
    left_out = leave_out(world, url)
    if together:
        world.settle(*((missing, left_out) if together is True else (left_out, missing)))
    else:
        world.settle(left_out)
        assert world.record(url).state == PageState.DROPPED
        world.settle(missing)
    record = world.record(url)
    assert (record.state, record.reason.code) == (PageState.RETRY, TwinCode.BACK)
    assert world.queued().count(url) == 1


def test_what_the_other_does_not_have_is_asked_of_who_may(names_of):
    world = names_of()
    show_alike(world, A, B)
    see(world, f"{A}/500", status=404)
    see(world, f"{A}/501", status=404, kind=LinkKind.FOLDER)
    see(world, f"{A}/502", status=301)
    world.settle(visit(lease_of(world, f"{A}/503"), Refused(Rule.ROBOTS)))
    assert [url for url in world.queued() if url.startswith(B)] == [f"{B}/500"]
    open_again(world, skip=False)
    see(world, f"{A}/504", status=404)
    assert f"{B}/504" not in world.queued(), "only who leaves something out owes it"


def test_who_turns_out_to_be_another_is_fetched_whole(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    world.settle(leave_out(world, url))
    see(world, f"{A}/600", 600)
    see(world, f"{B}/600", 601)
    assert pairs(world) == []
    assert world.record(url).state == PageState.RETRY
    assert refusal(world, url) is None
    open_again(world, skip=True)
    assert refusal(world, url) is None, "also in the next session"


@pytest.mark.parametrize("changed", [A, B])
def test_who_becomes_another_later_is_fetched_whole(names_of, changed):
    """A domain is sold, and its pages come again: whichever of the two it is."""
    world = names_of()
    show_alike(world, A, B, last=3 * LEAST)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    world.settle(leave_out(world, url))
    for number in range(1, LEAST + 1):
        assert len(pairs(world)) == 1
        see(world, f"{changed}/{number}", 1_000 + number, again=True)
    assert pairs(world) == []
    assert world.record(url).state == PageState.RETRY


def test_pages_that_change_on_one_name_before_the_other_make_no_other_site(names_of):
    world = names_of()
    show_alike(world, A, B, last=3 * LEAST)
    for change in range(1, 3 * LEAST):
        for name in (A, B):
            see(world, f"{name}/1", 1_000 + change, again=True)
    assert pairs(world) == [(B, A, 3 * LEAST - 1, 1)], "compared anew, once for so many that differed"


def test_a_page_that_is_as_it_was_is_shown(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    see(world, url.replace(B, A), status=304, again=True)
    world.settle(leave_out(world, url))
    see(world, url.replace(B, A), status=304, again=True)
    assert world.record(url).state == PageState.DROPPED
    see(world, url.replace(B, A), status=404, again=True)
    assert world.record(url).state == PageState.RETRY, "the other name shows it no more"


def test_pages_that_are_as_they_were_are_evidence(names_of):
    world = names_of()
    for number in range(1, LEAST):
        see(world, f"{A}/{number}", number)
        see(world, f"{A}/{number}", status=304, again=True)
    show_alike(world, B)
    show_alike(world, A, first=LEAST)
    assert pairs(world) == [(B, A, LEAST, 0)]


def test_what_was_under_way_when_that_turned_out_is_fetched_too(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    under_way = leave_out(world, url)
    see(world, f"{A}/600", 600)
    see(world, f"{B}/600", 601)
    assert pairs(world) == []
    world.settle(under_way)
    assert world.record(url).state == PageState.RETRY


def test_three_names_lead_to_one_and_no_circle_to_none(names_of):
    world = names_of()
    show_alike(world, A, B, C, last=4 * LEAST)
    assert {(goes, stays) for goes, stays, *_ in pairs(world)} == {(B, A), (C, A)}
    url = plain(world, A, 700)
    for origin in (B, C):
        world.admit(url.replace(A, origin))
    assert refusal(world, url) is None
    world.admit(url)
    assert refusal(world, url.replace(A, B)) is not None
    assert refusal(world, url.replace(A, C)) is not None


def test_what_was_met_on_one_that_goes_counts_for_the_one_that_stays(names_of):
    world = names_of()
    show_alike(world, A, B)
    show_alike(world, B, A, C, first=20, last=20 + LEAST)
    assert {(goes, stays) for goes, stays, *_ in pairs(world)} == {(B, A), (C, A)}
    show_alike(world, B, C, first=50, last=50)
    assert [pair for pair in pairs_in(world.environment, room._MET) if pair.goes == pair.stays] == []


def test_who_goes_goes_to_one(names_of):
    """Two pairs with one name in common are compared after one commit."""
    world = names_of()
    for number in range(1, LEAST + 1):
        kinds = {A: LinkKind.SEED, C: LinkKind.SEED, B: LinkKind.NAVIGATION}
        visits = [of(world, f"{origin}/{number}", number, kind=kinds[origin]) for origin in (B, C, A)]
        world.settle(*visits)
    assert len([goes for goes, *_ in pairs(world) if goes == B]) == 1


def test_what_leads_on_leads_to_the_end(names_of):
    """The name that stays goes itself, once a seed shows the same."""
    world = names_of()
    show_alike(world, A, B)
    for number in range(1, LEAST + 1):
        see(world, f"{C}/{number}", number, kind=LinkKind.SEED)
    assert {(goes, stays) for goes, stays, *_ in pairs(world)} == {(B, A), (A, C)}
    url = next(
        url for n in range(100, 200, 10) if (url := plain(world, A, n)) == plain(world, B, n).replace(B, A)
    )
    see(world, url.replace(A, C), 100)
    world.settle(leave_out(world, url))
    assert refusal(world, url.replace(A, B)) is not None


def test_a_walk_that_a_kill_broke_off_is_made_in_the_next_session(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    world.settle(leave_out(world, url))
    world.twins._withdraw(next(iter(world.twins._found.values())))
    open_again(world, skip=True)
    see(world, f"{A}/900", 900)
    assert world.record(url).state == PageState.RETRY
    assert [pair.withdrawn for pair in pairs_in(world.environment, room._MET)] == [False]


def test_what_is_not_in_scope_any_more_does_not_come_back(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    world.admit(url.replace(B, A))
    missing = of(world, url.replace(B, A), status=404)
    world.settle(leave_out(world, url))
    world.admission.change_scope(world.scope_of(ScopeConfig(mode="host")))
    world.settle(missing)
    assert world.record(url).state == PageState.DROPPED


def test_another_scope_alone_brings_nothing_back_that_a_name_shows(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    world.settle(leave_out(world, url))
    everything = Scope(ScopeConfig(mode="any"), [])
    assert preview._coming(SimpleNamespace(environment=world.environment), everything) == 0


def test_what_counts_as_one_url_is_no_reason_to_leave_it_out(names_of):
    world = names_of()
    show_alike(world, A, B)
    url = plain(world, B, 100)
    see(world, url.replace(B, A), 100)
    lease = lease_of(world, url)
    world.identity.canonical = lambda one: one.text.replace(B, A)
    assert world.twins.refusal(lease) is None


def test_what_was_met_survives_the_end_of_a_session(names_of):
    world = names_of()
    for number in range(1, LEAST + 1):
        for origin in (A, B):
            see(world, f"{origin}/{number}", number)
            open_again(world, skip=True)
    assert pairs(world) == [(B, A, LEAST, 0)]
    see(world, f"{A}/50", 50)
    see(world, f"{B}/50", 50)
    assert pairs(world) == [(B, A, LEAST + 1, 0)]


def test_of_a_farm_no_more_is_kept_than_there_is_room_for(names_of, monkeypatch):
    monkeypatch.setattr(room, "MOST_MET", 4)
    world = names_of()
    see(world, f"{A}/", 1)
    for number in range(12):
        see(world, f"http://n{number}.example/", 1)
    assert len(list(pairs_in(world.environment, room._MET))) == len(world.twins._met) == 4
    assert pairs(world) == []


shows = st.tuples(st.sampled_from([200, 200, 200, 404]), st.integers(1, 12))


@settings(
    max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(shows, shows), min_size=10, max_size=40), st.randoms(use_true_random=False))
def test_no_page_is_ever_lost(names_of, at_paths, order):
    """Whatever two names show, what one does not is fetched from the other."""
    world = names_of()
    urls = [
        (f"{origin}/{n}", *one[side]) for n, one in enumerate(at_paths) for side, origin in enumerate((A, B))
    ]
    order.shuffle(urls)
    told = {url: (status, digest) for url, status, digest in urls}
    for url in told:
        world.admit(url, kind=LinkKind.NAVIGATION)
    fetched_urls = set()
    for _ in range(4 * len(urls)):
        world.pass_time(100)
        lease = world.frontier.lend()
        if lease is None:
            break
        url = lease.candidate.url.text
        refused = world.twins.refusal(lease)
        if refused is not None:
            world.settle(visit(lease, refused))
            continue
        fetched_urls.add(url)
        status, digest = told[url]
        found = page(url, digest=digest) if status == 200 else None
        world.settle(visit(lease, fetched(url, status, LONG), found))
    for url in set(told) - fetched_urls:
        other = url.replace(B, A)
        assert url != other
        assert other in fetched_urls
        assert told[other][0] == 200
