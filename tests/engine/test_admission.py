"""The one door in: what is queued, what is turned away, and what is remembered of both."""

import pytest
from engine_world import SITE, fetched, link, page, parsed, visit

from gossamer.engine.admission.admission import NEWCOMERS
from gossamer.model.candidate import Candidate
from gossamer.model.events import Rejected
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Rule
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.scope.scope import ScopeConfig
from gossamer.policy.urls.canonical import CanonicalConfig
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import SCOPE_HOSTS

OTHER = "http://other.example"
FINDER = Candidate(parsed(f"{SITE}/"), depth=2, hops="LL", via="v")


@pytest.fixture(params=["bfs", "opic"])
def any_world(request, world_of):
    """The same decisions under an ordering that hears of every link, and one that does not."""

    def make(**told):
        return world_of(**told, **({"ordering": Opic(OpicConfig())} if request.param == "opic" else {}))

    return make


def follow(world, *links, finder=FINDER, honour_nofollow=True, **more):
    """The page `finder` is fetched and names these; how many were new."""
    world.admit(finder.url.text)
    with world.frontier.changes():
        return world.admission.links(finder, links, honour_nofollow=honour_nofollow, **more).admitted


def found(world, url):
    while (lease := world.frontier.lend()) is not None:
        if lease.candidate.url.text == url:
            return lease.candidate
    raise AssertionError(f"{url} was not lent")


def test_what_is_new_and_in_scope_is_queued_once(any_world):
    world = any_world()
    assert world.admit(f"{SITE}/a")
    assert not world.admit(f"{SITE}/a")
    assert not world.admit(f"{SITE}/a#fragment"), "the same page"
    assert not world.admit(f"{OTHER}/")
    assert world.queued() == [f"{SITE}/a"]
    assert (world.counters.admitted, world.counters.rejected) == (1, 1)


def test_what_is_forced_is_queued_though_it_was_seen(any_world):
    world = any_world()
    world.admit(f"{SITE}/a")
    assert world.admit(f"{SITE}/a", forced=True)
    assert not world.admit(f"{OTHER}/", forced=True)
    assert world.queued() == [f"{SITE}/a"] * 2


@pytest.mark.parametrize(
    ("kind", "nofollow", "honoured", "admitted", "depth", "hops"),
    [
        (LinkKind.NAVIGATION, False, True, True, 3, "LLL"),
        (LinkKind.NAVIGATION, True, True, False, None, None),
        (LinkKind.NAVIGATION, True, False, True, 3, "LLL"),
        (LinkKind.CANONICAL, False, True, True, 3, "LLL"),
        (LinkKind.ALTERNATE, False, True, True, 3, "LLL"),
        (LinkKind.SITEMAP, False, True, True, 2, "LLM"),
        (LinkKind.REQUISITE, False, True, False, None, None),
    ],
)
def test_links_of_a_page(any_world, kind, nofollow, honoured, admitted, depth, hops):
    world = any_world()
    one = link("/x", kind, nofollow=nofollow)
    assert follow(world, one, honour_nofollow=honoured) == admitted
    if admitted:
        candidate = found(world, f"{SITE}/x")
        assert (candidate.depth, candidate.hops, candidate.via) == (depth, hops, f"{SITE}/")
        assert candidate.kind is kind
    else:
        assert world.record(f"{SITE}/x").state == "rejected"
        assert world.counters.rejected == 1


def test_nofollow_is_told_by_its_rule_and_another_link_may_do(any_world):
    world = any_world()
    assert follow(world, link("/x", nofollow=True)) == 0
    assert world.counters.turned_away == {Rule.DIRECTIVE: 1}
    assert follow(world, link("/x")) == 1
    assert follow(world, link("/x", nofollow=True)) == 0
    assert world.counters.rejected == 1
    assert [url for url in world.queued() if url.endswith("/x")] == [f"{SITE}/x"]


@pytest.mark.parametrize(
    ("depth", "max_depth", "admitted"),
    [(0, None, True), (2, 3, True), (3, 3, False), (9, None, True), (0, 0, False)],
)
def test_the_depth_rule(any_world, depth, max_depth, admitted):
    world = any_world(scope=ScopeConfig(max_depth=max_depth))
    finder = Candidate(parsed(f"{SITE}/"), depth=depth)
    assert follow(world, link("/x"), finder=finder) == admitted
    assert world.counters.turned_away == ({} if admitted else {Rule.DEPTH: 1})


def test_too_deep_here_may_be_right_elsewhere(any_world):
    """Depth and hops say something of the way, not of the URL: it is judged again on another."""
    world = any_world(scope=ScopeConfig(max_depth=3))
    deep, near = (Candidate(parsed(f"{SITE}/"), depth=depth) for depth in (3, 2))
    assert follow(world, link("/x"), finder=deep) == 0
    assert follow(world, link("/x"), finder=near) == 1


def test_out_of_scope_is_judged_once_lately(any_world):
    world = any_world()
    for _ in range(3):
        assert follow(world, link(f"{OTHER}/x")) == 0
    assert world.counters.rejected == 1
    assert follow(world, link(f"{OTHER}/x", LinkKind.ALTERNATE)) == 0
    # Under an ordering that hears of every link another way is judged anew.
    assert world.counters.rejected == 1 + (world.frontier.standings is not None)


def test_the_same_links_again_admit_nothing(any_world):
    world = any_world()
    links = [link(f"/{number}") for number in range(5)]
    assert follow(world, *links) == 5
    assert follow(world, *links) == 0
    assert follow(world, *links[:2], link("/new")) == 1


def test_what_is_rejected_is_remembered_with_its_finder(world):
    with world.frontier.changes():
        world.admission.admit(Candidate(parsed(f"{OTHER}/x"), LinkKind.NAVIGATION, 3, "LLL", f"{SITE}/"))
    record = world.record(f"{OTHER}/x")
    assert (record.state, record.url) == ("rejected", f"{OTHER}/x")
    assert (record.kind, record.depth, record.hops, record.via) == (LinkKind.NAVIGATION, 3, "LLL", f"{SITE}/")
    (event,) = world.events
    assert isinstance(event, Rejected)
    assert event.candidate.url.text == f"{OTHER}/x"
    assert world.counters.turned_away == {Rule.SCOPE: 1}


def test_what_was_admitted_is_not_overwritten_by_a_rejection(any_world):
    world = any_world(scope=ScopeConfig(max_depth=3))
    assert follow(world, link("/x")) == 1
    world.admit(f"{SITE}/x", depth=9, forced=True)
    assert world.record(f"{SITE}/x") is None
    assert world.counters.rejected == 1


def test_nothing_is_remembered_where_that_is_switched_off(world_of):
    world = world_of(record_rejected=False)
    world.admit(f"{OTHER}/x")
    assert world.record(f"{OTHER}/x") is None
    assert world.counters.rejected == 1
    assert len(world.events) == 1


def test_a_rule_that_raises_says_no_and_is_heard_of(world_of):
    def broken(candidate):
        raise RuntimeError("broken")

    world = world_of(rules=[broken])
    assert not world.admit(f"{SITE}/x")
    assert len(world.raised) == 1
    assert world.counters.turned_away == {Rule.PLUGIN: 1}


def test_robots_files_are_never_seen(world):
    for _ in range(2):
        assert world.admit(f"{SITE}/robots.txt", kind=LinkKind.ROBOTS, origin=SITE)
    assert world.queued() == [f"{SITE}/robots.txt"] * 2
    assert world.admit(f"{OTHER}/robots.txt", kind=LinkKind.ROBOTS, origin=SITE), "out of scope or not"


def test_a_queue_of_its_own_for_what_canonical_rules_bring_under_another_host(world_of):
    world = world_of(
        canonical=CanonicalConfig(also=("strip-www",)), seeds=[f"{SITE}/", "http://www.site.example/"]
    )
    assert world.admit("http://www.site.example/x")
    assert not world.admit(f"{SITE}/x")
    assert world.identity.same(parsed("http://www.site.example/x"), parsed(f"{SITE}/x"))
    assert not world.identity.same(parsed(f"{SITE}/y"), parsed(f"{SITE}/x"))
    host = world.frontier.host_hash("site.example")
    assert world.identity.fingerprint(parsed("http://www.site.example/x"))[:HASH_BYTES] == host
    assert len(world.identity.fingerprint(parsed(f"{SITE}/x"))) == 2 * HASH_BYTES


# Redirects …


def redirect(world, finder, to, **more):
    with world.frontier.changes():
        return world.admission.redirect(finder, parsed(to), **more).admitted == 1


@pytest.mark.parametrize(
    ("finder_forced", "to", "again", "admitted", "forced"),
    [
        (False, f"{SITE}/new", False, True, False),
        (False, f"{SITE}/new", True, True, True),
        (False, f"{SITE}/", False, True, True),  # to its own canonical form
        (True, f"{SITE}/", False, False, None),  # never twice in a row
        (True, f"{SITE}/new", False, True, False),
        (True, f"{SITE}/new", True, True, False),
        (False, f"{SITE}/seen", False, False, None),
        (False, f"{SITE}/seen", True, True, True),
    ],
)
def test_a_redirect_is_a_link_that_adds_a_hop(any_world, finder_forced, to, again, admitted, forced):
    world = any_world()
    world.admit(f"{SITE}/")
    world.admit(f"{SITE}/seen")
    for _ in range(2):
        world.frontier.lend()
    finder = Candidate(parsed(f"{SITE}/"), LinkKind.NAVIGATION, 2, "LL", "v", forced=finder_forced)
    assert redirect(world, finder, to, again=again) is admitted
    if admitted:
        candidate = found(world, to)
        assert (candidate.kind, candidate.depth, candidate.hops) == (LinkKind.REDIRECT, 2, "LLR")
        assert (candidate.via, candidate.forced, candidate.origin) == (f"{SITE}/", forced, "")


@pytest.mark.parametrize(("to", "back"), [(f"{SITE}/", False), (f"{SITE}/seen", True)])
def test_a_page_that_is_led_back_at_each_visit_is_no_further_away(world, to, back):
    """A cookie that ends before the next visit: after 20 of them the page would have been too many redirects away."""
    world.admit(f"{SITE}/")
    world.admit(f"{SITE}/seen")
    for _ in range(2):
        world.frontier.lend()
    finder = Candidate(parsed(f"{SITE}/"), LinkKind.REDIRECT, 2, "LLR", f"{SITE}/", again=True)
    assert redirect(world, finder, to, again=back)
    assert found(world, to).hops == "LLR"


def test_a_robots_file_that_is_redirected_stays_one(world):
    finder = Candidate(parsed(f"{SITE}/robots.txt"), LinkKind.ROBOTS, 0, "P", origin=SITE)
    assert redirect(world, finder, f"{OTHER}/rules.txt")
    candidate = found(world, f"{OTHER}/rules.txt")
    assert (candidate.kind, candidate.origin, candidate.hops) == (LinkKind.ROBOTS, SITE, "PR")


@pytest.mark.parametrize("record_rejected", [False, True])
def test_where_a_seed_leads_joins_the_scope(world_of, record_rejected):
    world = world_of(record_rejected=record_rejected)
    assert follow(world, link(f"{OTHER}/early")) == 0
    assert redirect(world, Candidate(parsed(f"{SITE}/")), f"{OTHER}/home")
    assert world.scope.hosts == ("other.example",)
    assert world.meta(SCOPE_HOSTS, list[str]) == ["other.example"]
    host = world.identity.fingerprint(parsed(f"{OTHER}/"))[:HASH_BYTES]
    assert world.admission.newcomers == [host] == world.meta(NEWCOMERS, list[bytes])
    assert world.admit(f"{OTHER}/later")
    # Without a record of it nothing brings it back, so it is judged anew when it is met again.
    assert follow(world, link(f"{OTHER}/early")) == (not record_rejected)
    with world.frontier.changes() as batch:
        world.admission.let_in(host, batch)
    assert world.admission.newcomers == [] == world.meta(NEWCOMERS, list[bytes])


def test_what_a_page_leads_to_does_not_join(world):
    assert not redirect(world, Candidate(parsed(f"{SITE}/x"), LinkKind.NAVIGATION, 1, "L"), f"{OTHER}/home")
    assert world.scope.hosts == () and world.admission.newcomers == []


def test_places_of_other_agents_join(world):
    follow(world, link(f"{OTHER}/early"))
    with world.frontier.changes():
        world.admission.add_places(["other.example", "third.example"])
    assert world.scope.hosts == ("other.example", "third.example")
    assert len(world.admission.newcomers) == 2
    assert follow(world, link(f"{OTHER}/early")) == 1
    with world.frontier.changes():
        world.admission.add_places(["third.example", "other.example"])
    assert len(world.admission.newcomers) == 2


def test_another_seed_widens_the_scope(world):
    follow(world, link(f"{OTHER}/early"))
    assert not world.admission.add_seed(parsed(f"{SITE}/more"))
    assert follow(world, link(f"{OTHER}/early")) == 0
    assert world.admission.add_seed(parsed(f"{OTHER}/"))
    assert world.admission.is_in_scope(Candidate(parsed(f"{OTHER}/x")))
    assert follow(world, link(f"{OTHER}/early")) == 1


def test_another_scope_judges_anew(any_world):
    world = any_world()
    assert follow(world, link(f"{OTHER}/x"), link("/y")) == 1
    wide = world.scope_of(ScopeConfig(mode="any", exclude=("/y",)))
    world.admission.change_scope(wide)
    assert world.admission.scope is wide
    assert follow(world, link(f"{OTHER}/x")) == 1
    assert not world.admission.is_in_scope(Candidate(parsed(f"{SITE}/y")))
    rejected = world.counters.rejected
    assert follow(world, link("/y")) == 0
    if world.frontier.standings is not None:
        assert world.counters.rejected == rejected + 1


def test_what_was_turned_away_is_reconsidered(world):
    candidate = Candidate(parsed(f"{OTHER}/x"))
    with world.frontier.changes():
        assert not world.admission.reconsider(candidate)
        world.scope.add_host("other.example")
        assert world.admission.reconsider(candidate)
        assert not world.admission.reconsider(candidate), "it is queued"
    assert world.queued() == [f"{OTHER}/x"]
    assert world.counters.rejected == 0 and world.events == []


# Folders above …


def test_the_folders_above_a_page_are_tried(world_of):
    world = world_of(scope=ScopeConfig(path_ascending=True))
    assert world.admit(f"{SITE}/a/b/page", depth=1, hops="L")
    assert sorted(world.queued()) == [f"{SITE}/", f"{SITE}/a/", f"{SITE}/a/b/", f"{SITE}/a/b/page"]
    candidate = found(world, f"{SITE}/a/")
    assert (candidate.kind, candidate.depth, candidate.hops) == (LinkKind.FOLDER, 2, "LI")
    assert not world.admit(f"{SITE}/a/b/page")
    assert world.admit(f"{SITE}/a/c/page")
    assert world.counters.admitted == 6


def test_folders_are_left_alone_otherwise(world):
    world.admit(f"{SITE}/a/b/page")
    assert world.queued() == [f"{SITE}/a/b/page"]


# What is for other agents of a cluster …


class Agents:
    """Takes what belongs to one host, and hears of it."""

    def __init__(self, world, host):
        self._mine = world.frontier.host_hash(host)
        self.taken = []

    def takes(self, key, candidate, gift):
        theirs = key[:HASH_BYTES] == self._mine
        if theirs:
            self.taken.append((candidate.url.text, len(key), gift))
        return theirs

    def takes_robots(self, host, origin, entry):
        theirs = host == self._mine
        if theirs:
            self.taken.append((origin, entry.record.state))
        return theirs


def test_what_is_anothers_leaves_and_is_not_queued(world_of):
    world = world_of(scope=ScopeConfig(mode="any"))
    agents = world.admission.other_agents = Agents(world, "other.example")
    assert follow(world, link("/here"), link(f"{OTHER}/there")) == 1
    assert agents.taken == [(f"{OTHER}/there", 2 * HASH_BYTES, None)]
    assert f"{OTHER}/there" not in world.queued()
    for site, taken in ((SITE, False), (OTHER, True)):
        world.admit(f"{site}/robots.txt", kind=LinkKind.ROBOTS, origin=site)
        assert (f"{site}/robots.txt" in world.queued()) is not taken
    assert agents.taken[1] == (f"{OTHER}/robots.txt", HASH_BYTES, None)


def test_what_canonical_rules_move_is_asked_for_under_one_host(world_of):
    world = world_of(canonical=CanonicalConfig(also=("strip-www",)), scope=ScopeConfig(mode="any"))
    agents = world.admission.other_agents = Agents(world, "other.example")
    world.admit("http://www.other.example/x")
    assert agents.taken[0][0] == f"{OTHER}/x"
    world.admit("http://www.site.example/x")
    assert world.queued() == [f"{SITE}/x"]


def test_what_another_has_found_is_queued_if_it_is_new(world):
    with world.frontier.changes():
        receive = world.admission.receive
        assert receive(Candidate(parsed(f"{OTHER}/x"), LinkKind.NAVIGATION, 1, "L"), None), (
            "it was judged there"
        )
        assert not receive(Candidate(parsed(f"{OTHER}/x"), LinkKind.NAVIGATION, 1, "L"), None)
        assert receive(Candidate(parsed(f"{SITE}/robots.txt"), LinkKind.ROBOTS, origin=SITE), None)
    assert sorted(world.queued()) == [f"{OTHER}/x", f"{SITE}/robots.txt"]
    assert world.counters.rejected == 0


def test_rules_of_anothers_robots_file_are_not_kept_here(world):
    agents = world.admission.other_agents = Agents(world, "other.example")
    lease = world.robots_lease(f"{OTHER}/robots.txt", origin=SITE)
    with world.frontier.changes():
        world.context.settle(visit(lease, fetched(), page()))
    assert agents.taken[-1] == (OTHER, "rules")
    latest = world.frontier.robots.latest
    assert latest(world.frontier.host_hash("other.example"), OTHER) is None
    assert latest(world.frontier.host_hash("site.example"), SITE).record.state == "rules"


# Gifts …


def test_gifts_reach_what_was_seen_already(world_of):
    """Under an ordering by links every mention counts, also of what is known, and of what is met lately."""
    world = world_of(ordering=Opic(OpicConfig()))
    a, b = link("/a"), link("/b")
    follow(world, a, b)
    for number in range(20):
        world.admit(f"{SITE}/from{number}")
        follow(world, b, finder=Candidate(parsed(f"{SITE}/from{number}"), depth=1))
    world.pass_time(2)
    order = []
    while (lease := world.frontier.lend()) is not None:
        order.append(lease.candidate.url.text)
    assert order.index(f"{SITE}/b") < order.index(f"{SITE}/a")


def test_each_link_may_bring_its_own(world_of):
    world = world_of(ordering=Opic(OpicConfig()))
    world.admit(f"{SITE}/")
    with world.frontier.changes():
        give = world.frontier.gift(world.identity.fingerprint(FINDER.url), FINDER, 2, 0)
        asked = []

        def gift_to(one):
            asked.append(one.url.text)
            return give

        admitted = world.admission.links(
            FINDER, [link("/a"), link("/b"), link(f"{OTHER}/")], honour_nofollow=True, gift_to=gift_to
        ).admitted
    assert admitted == 2
    assert asked == [f"{SITE}/a", f"{SITE}/b"], "for what is in scope"


@pytest.mark.parametrize("to", ["links", "redirect"])
def test_linkers_are_counted_where_budgets_go_by_them(world, to):
    heard = []

    class Listening:
        """The frontier, where it counts who links to whom."""

        counts_linkers = True

        def __getattr__(self, name):
            return getattr(world.frontier, name)

        def linked(self, hosts, finder):
            heard.append((sorted(hosts), finder))

    world.admission._frontier = Listening()
    if to == "links":
        follow(world, link("/a"), link(f"{OTHER}/b"), link("http://third.example/", nofollow=True))
        assert heard == [(["other.example", "site.example"], "site.example")]
        follow(world, link("http://third.example/", nofollow=True), honour_nofollow=False)
        assert heard[1] == (["third.example"], "site.example")
    else:
        redirect(world, FINDER, f"{OTHER}/b")
        redirect(world, Candidate(parsed(f"{SITE}/robots.txt"), LinkKind.ROBOTS, origin=SITE), f"{OTHER}/r")
        assert heard == [(["other.example"], "site.example")]
