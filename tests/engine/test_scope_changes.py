"""After a change of scope: what waits is judged again, what was turned away comes back."""

import msgspec
import pytest
from engine_world import SITE, fetched, parsed, rules, visit

from gossamer.engine.admission import reclaim
from gossamer.engine.admission.reclaim import RECLAIM, Reclaim, Walk, turned_away
from gossamer.engine.admission.rejudging import JUDGED, JudgedBy, Rejudging, may_widen, scope_digest
from gossamer.engine.visiting.prefetch_checks import PrefetchChecks
from gossamer.frontier.steering import Steering
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Dropped, PageState
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.reason import because, text
from gossamer.policy.scope.scope import ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import ticket
from gossamer.state.records import PageRecord, decode, encode

OTHER = "http://other.example"
NARROW = ScopeConfig(exclude=("/private",))
TRAPS = TrapConfig()


def rejudging(world, config=ScopeConfig(), traps=TRAPS):  # noqa: B008 - frozen
    return Rejudging(world.environment, world.scope_of(config), (config, traps))


def begun(world, config, sequence=0):
    found = rejudging(world, config)
    with world.frontier.changes() as batch:
        found.begin(sequence, batch)
    return found


def lease(path="/private", sequence=0, kind=LinkKind.NAVIGATION, level=5, branch=3):
    origin = SITE if kind is LinkKind.ROBOTS else ""
    return Lease(
        Candidate(parsed(SITE + path), kind, origin=origin), "site.example", ticket(level, sequence, branch)
    )


# Rejudging …


def test_while_the_scope_has_never_changed_nothing_is_asked(world):
    first = rejudging(world)
    assert (first.changed, first.active) == (False, False)
    begun(world, ScopeConfig(), 41)
    again = rejudging(world)
    assert (again.changed, again.active) == (False, False)
    assert world.meta(JUDGED, JudgedBy) == JudgedBy(scope_digest((ScopeConfig(), TRAPS)), 0)


@pytest.mark.parametrize(("sequence", "refused"), [(0, True), (41, True), (42, False), (99, False)])
def test_what_was_admitted_under_another_scope_is_judged_again(world, sequence, refused):
    begun(world, ScopeConfig())
    changed = rejudging(world, NARROW)
    assert changed.changed
    with world.frontier.changes() as batch:
        changed.begin(41, batch)
    assert (changed.changed, changed.active) == (False, True)
    found = changed.refusal(lease(sequence=sequence))
    assert (found is not None and found.rule is Rule.SCOPE) is refused
    assert changed.refusal(lease("/open", sequence)) is None
    later = rejudging(world, NARROW)
    assert (later.changed, later.active) == (False, True)
    assert (later.refusal(lease(sequence=sequence)) is not None) is refused


def test_a_change_in_mid_crawl(world):
    found = begun(world, ScopeConfig())
    found.change(world.scope_of(NARROW), (NARROW, TRAPS))
    assert found.changed
    with world.frontier.changes() as batch:
        found.begin(7, batch)
    assert (found.changed, found.active) == (False, True)
    assert found.refusal(lease(sequence=7)) is not None
    assert found.refusal(lease(sequence=8)) is None
    assert world.meta(JUDGED, JudgedBy) == JudgedBy(scope_digest((NARROW, TRAPS)), 8)


def test_a_blocked_host_is_not_even_asked_for_its_robots_file(world):
    config = ScopeConfig(block=("site.example",))
    found = begun(world, config)
    assert found.active, "also if it has never changed"
    assert found.refusal(lease(sequence=50, kind=LinkKind.ROBOTS)) is not None
    assert found.refusal(lease(sequence=50)) is None, "this was judged as it was admitted"
    found.change(world.scope_of(ScopeConfig()), (ScopeConfig(), TRAPS))
    with world.frontier.changes() as batch:
        found.begin(60, batch)
    assert found.refusal(lease(kind=LinkKind.ROBOTS)) is None


def test_a_rule_that_raises_refuses_and_is_heard_of(world):
    def broken(candidate):
        raise RuntimeError("broken")

    heard = []
    found = Rejudging(
        world.environment,
        world.scope_of(ScopeConfig(), rules=[broken]),
        (ScopeConfig(), TRAPS),
        heard.append,
    )
    assert found.judge(lease().candidate).rule is Rule.PLUGIN
    assert len(heard) == 1


@pytest.mark.parametrize(
    ("theirs", "sequence", "before"),
    [
        (None, 9, 0),  # they know of no change, as we
        (JudgedBy(b"other", 0), 9, 10),  # by another scope
        (JudgedBy(b"other", 99), 9, 10),
        ("ours, before 5", 9, 5),
    ],
)
def test_what_came_from_another_agent_is_judged_as_that_says(world, tmp_path, theirs, sequence, before):
    found = begun(world, ScopeConfig())
    digest = scope_digest((ScopeConfig(), TRAPS))
    source = Environment.open(tmp_path / "theirs", world.environment.config)
    try:
        if theirs is not None:
            kept = JudgedBy(digest, 5) if isinstance(theirs, str) else theirs
            batch = source.batch()
            batch.put(Family.META, JUDGED, encode(kept))
            source.commit(batch)
        with world.frontier.changes() as batch:
            found.doubt(source, sequence, batch)
    finally:
        source.close()
    assert found.active is (before > 0)
    assert world.meta(JUDGED, JudgedBy) == JudgedBy(digest, before)


@pytest.mark.parametrize(
    ("before", "after", "wider"),
    [
        ({}, {}, False),
        ({}, {"exclude": ("a",)}, False),
        ({"exclude": ("a",)}, {}, True),
        ({"exclude": ("a",)}, {"exclude": ("a", "b")}, False),
        ({"exclude": ("a",)}, {"exclude": ("b",)}, True),
        ({"block": ("a.example",)}, {}, True),
        ({}, {"block": ("a.example",)}, False),
        ({}, {"include": ("a",)}, True),
        ({"include": ("a",)}, {}, False),
        ({"include": ("a", "b")}, {"include": ("a",)}, False),
        ({"max_depth": 3}, {"max_depth": 4}, True),
        ({"max_depth": 3}, {"max_depth": 3}, False),
        ({"max_depth": 3}, {"max_depth": 2}, False),
        ({"max_depth": 3}, {"max_depth": None}, True),
        ({"max_depth": None}, {"max_depth": 3}, False),
        ({"max_depth": None}, {"max_depth": None, "exclude": ("a",)}, False),
        ({}, {"mode": "domain"}, True),
        ({}, {"hosts": ("a.example",)}, True),
        ({"requisites": "host"}, {"requisites": "off"}, True),  # whatever else changed may widen
    ],
)
def test_what_may_widen_a_scope(before, after, wider):
    assert may_widen(ScopeConfig(**before), ScopeConfig(**after)) is wider


def test_settings_make_the_digest():
    some = {
        scope_digest(settings)
        for settings in ((ScopeConfig(), TRAPS), (NARROW, TRAPS), (ScopeConfig(), TrapConfig(max_segments=5)))
    }
    assert len(some) == 3
    assert scope_digest((NARROW, TRAPS)) == scope_digest((ScopeConfig(exclude=("/private",)), TrapConfig()))


# Permits …


def test_permits_ask_the_scope_and_then_the_robots_file(world):
    begun(world, ScopeConfig())
    robots = world.robots_lease()
    with world.frontier.changes():
        world.context.settle(
            visit(robots, fetched(etag='"1"'), robots=rules("User-agent: *\nDisallow: /forbidden"))
        )
    calm = PrefetchChecks(world.context, rejudging(world), world.again)
    assert calm.refusal(lease("/private")) is None
    assert calm.refusal(lease("/forbidden")).rule is Rule.ROBOTS
    narrow = begun(world, NARROW, sequence=10)
    prefetch_checks = PrefetchChecks(world.context, narrow, world.again)
    assert prefetch_checks.refusal(lease("/private")).rule is Rule.SCOPE
    assert prefetch_checks.refusal(lease("/private", 11)) is None
    visited = lease("/private", 11)
    visited = msgspec.structs.replace(
        visited, candidate=msgspec.structs.replace(visited.candidate, again=True)
    )
    assert prefetch_checks.refusal(visited).rule is Rule.SCOPE, "the number is that of its turn"
    assert prefetch_checks.refusal(lease("/forbidden")).rule is Rule.ROBOTS
    assert prefetch_checks.prepared(world.robots_lease()).validators.etag == '"1"'


def test_the_robots_file_of_a_host_out_of_scope_is_as_one_at_a_forbidden_address(world):
    """So that its URLs need not wait for it, and are refused one by one."""
    prefetch_checks = PrefetchChecks(
        world.context, begun(world, ScopeConfig(block=("site.example",))), world.again
    )
    found = prefetch_checks.refusal(lease("/robots.txt", kind=LinkKind.ROBOTS))
    assert isinstance(found, Failed) and found.fault is Fault.ADDRESS_FORBIDDEN


# Reclaiming …

OUTSIDE = because(Rule.SCOPE, "not here")


def rejected(world, *urls, reason=OUTSIDE, state="rejected"):
    with world.frontier.changes() as batch:
        for url in urls:
            record = PageRecord(url, state, "", LinkKind.NAVIGATION, 1, "L", f"{SITE}/", reason=reason)
            batch.put(Family.PAGES, world.identity.fingerprint(parsed(url)), encode(record))


def reclaiming(world):
    return Reclaim(world.environment, world.frontier, world.admission, Steering(world.frontier))


def walked(world, walk):
    """Walk to the end, as often as it takes."""
    while walk.pending:
        walk.step(lambda: False)


@pytest.mark.parametrize(
    ("state", "reason", "back"),
    [
        *(
            (
                "rejected",
                because(rule, "x"),
                rule in (Rule.SCOPE, Rule.DEPTH, Rule.HOPS, Rule.TOO_LONG, Rule.TRAP, Rule.TWIN),
            )
            for rule in Rule
        ),
        ("dropped", because(Rule.SCOPE, "x"), True),
        ("dropped", because(Rule.TWIN, "x"), True),
        ("dropped", text("404"), False),
        ("dropped", because(Rule.ROBOTS, "x"), False),
        ("done", because(Rule.SCOPE, "x"), False),
        ("retry", because(Rule.SCOPE, "x"), False),
    ],
)
def test_what_the_scope_kept_out_comes_back(world, state, reason, back):
    rejected(world, f"{SITE}/x", state=state, reason=reason)
    walk = reclaiming(world)
    walk.begin()
    walked(world, walk)
    assert (f"{SITE}/x" in world.queued()) is back
    if back:
        lease = world.frontier.lend()
        assert (lease.candidate.depth, lease.candidate.hops, lease.candidate.via) == (1, "L", f"{SITE}/")
    if state == "dropped":
        assert world.record(f"{SITE}/x").state == ("retry" if back else "dropped")


@pytest.mark.parametrize("state", ["rejected", "dropped"])
def test_what_the_scope_of_now_would_not_have_stays_out(world, state):
    rejected(world, f"{OTHER}/x", state=state)
    walk = reclaiming(world)
    walk.begin()
    walked(world, walk)
    assert world.queued() == []
    assert world.record(f"{OTHER}/x").state == state


def test_what_was_dropped_is_visited_again(world):
    """From the queue through a refusal and back."""
    world.admit(f"{SITE}/x")
    world.settle(visit(world.frontier.lend(), Refused(Rule.SCOPE, "not now")))
    assert world.record(f"{SITE}/x").state == Dropped.__name__.lower()
    assert world.queued() == []
    walk = reclaiming(world)
    walk.begin()
    assert walk.found == 0
    walked(world, walk)
    assert world.frontier.lend().candidate.url.text == f"{SITE}/x"


def test_who_was_turned_away_is_told_from_the_record():
    outside = because(Rule.SCOPE, "x")
    record = PageRecord(
        f"{SITE}/x", PageState.REJECTED, "", LinkKind.ALTERNATE, 4, "LLLL", "v", reason=outside
    )
    assert turned_away(record) == Candidate(parsed(f"{SITE}/x"), LinkKind.ALTERNATE, 4, "LLLL", "v")
    assert turned_away(PageRecord(f"{SITE}/x", PageState.DROPPED, reason=outside)) is None
    assert turned_away(PageRecord(f"{SITE}/x", PageState.REJECTED, reason=text("404"))) is None
    assert turned_away(PageRecord("no url", PageState.REJECTED, reason=outside)) is None


def test_a_walk_goes_on_where_it_was_after_a_crash(world):
    urls = [f"{SITE}/{number}" for number in range(5)]
    rejected(world, *urls, "http://second.example/x")
    walk = reclaiming(world)
    walk.begin()
    found = []
    while walk.pending:
        walk = reclaiming(world)  # as another process would
        walk.step(lambda: True)
        found.append(walk.found)
        stored = world.environment.get(Family.META, RECLAIM)
        assert (stored is not None) is walk.pending
    assert sorted(url for url in world.queued() if SITE in url) == urls
    # The host that is not in scope counts for nothing; each step takes one.
    assert len(found) == 7 and max(found) == 5
    assert reclaiming(world).pending is False


def test_some_hosts_only(world_of):
    world = world_of(scope=ScopeConfig(mode="any"))
    hosts = [f"http://h{number}.example" for number in range(4)]
    rejected(world, *(f"{host}/{number}" for host in hosts for number in range(2)))
    key = [world.frontier.host_hash(f"h{number}.example") for number in range(4)]
    walk = reclaiming(world)
    walk.begin([])
    assert not walk.pending
    walk.begin([key[1]])
    walk.begin([key[2], key[1]])
    assert decode(world.environment.get(Family.META, RECLAIM), Walk).hosts == (key[2], key[1])
    walk.step(lambda: False)
    assert walk.found == 2
    walked(world, walk)
    assert sorted(world.queued()) == sorted(f"{hosts[at]}/{number}" for at in (1, 2) for number in range(2))
    assert not walk.pending and walk.found == 0


def test_all_hosts_include_some_and_very_many_are_all(world, monkeypatch):
    monkeypatch.setattr(reclaim, "MOST_HOSTS", 3)
    keys = [world.frontier.host_hash(str(number)) for number in range(4)]

    def hosts():
        return decode(world.environment.get(Family.META, RECLAIM), Walk).hosts

    walk = reclaiming(world)
    walk.begin(keys[:3])
    assert hosts() == tuple(keys[:3])
    walk.begin([keys[3]])
    assert hosts() == ()
    walk.begin([keys[0]])
    assert hosts() == (), "that walk has begun anew"
    walk.begin()
    assert hosts() == () and walk.pending
