"""What visits brought: which texts are looked at, what is learned, which parameters make no difference."""

import pytest
from engine_world import SITE, fetched, page, parsed, visit

from gossamer.engine.settlement import drop_one as drop_one_module
from gossamer.engine.settlement.drop_one import TESTS
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.settlement.yields import LOOKED_AT, SHORT_TEXT, Yields
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Dropped, Parked, Retry
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.reason import text
from gossamer.policy.branches.novelty import LONGEST_TEXT, Said, pieces
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.speculation.form import question
from gossamer.policy.urls.parameters import DropTest, HostTests, ParameterConfig
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, encode

WORDS = " ".join(f"word{number}le" for number in range(80))
OTHER = "http://other.example"


def said(text=WORDS):
    return Said(pieces(f"<p>{text}".encode(), "/", ()))


class Queues:
    """The queues of a frontier, with branches as a test wants them."""

    def __init__(self, real):
        self._real = real
        self.doubtful = False
        self.learned = []

    def __getattr__(self, name):
        return getattr(self._real, name)

    def is_doubtful(self, host, ticket):
        return self.doubtful

    def learn(self, host, ticket, value):
        self.learned.append(value)
        return self.doubtful

    def value(self, host, said):
        return 0.75


@pytest.fixture
def branched(world):
    """A world whose host is seen as branches, as far as yields ask."""
    world.frontier.queues = Queues(world.frontier.queues)
    world.yields = Yields(world.frontier, None)
    return world


def look_at(world, lease, size):
    made = visit(lease, fetched(body=b"x" * size), page(), said=said())
    world.yields.learn(made, Judgement(Done(), Tally()), None, "")


@pytest.mark.parametrize(
    ("doubtful", "looked", "longest"),
    [
        (None, 0, 0),  # the host has no branches
        (False, 0, LONGEST_TEXT),
        (True, 0, LONGEST_TEXT),
        (False, LONGEST_TEXT, SHORT_TEXT),
        (True, LONGEST_TEXT, SHORT_TEXT),
        (False, 50_000, LONGEST_TEXT - 50_000 + LOOKED_AT[0]),
        (True, 50_000, LONGEST_TEXT - 50_000 + LOOKED_AT[1]),
    ],
)
def test_how_long_a_text_is_looked_at(branched, doubtful, looked, longest):
    branched.frontier.queues.doubtful = doubtful
    lease = branched.lease()
    look_at(branched, lease, looked)
    assert branched.yields.longest_text(lease) == longest


def test_credit_comes_back_with_each_visit_and_is_not_saved_up(branched):
    lease = branched.lease()
    branched.frontier.queues.doubtful = True
    look_at(branched, lease, LONGEST_TEXT)
    texts = [branched.yields.longest_text(lease) for _ in range(60)]
    assert texts[:5] == [SHORT_TEXT] * 4 + [5 * LOOKED_AT[1]]
    assert texts[-1] == LONGEST_TEXT
    # The two sorts of branches have credits of their own.
    branched.frontier.queues.doubtful = False
    assert branched.yields.longest_text(lease) == LONGEST_TEXT


def test_nobody_looks_at_robots_files(branched):
    assert branched.yields.longest_text(branched.robots_lease()) == 0


@pytest.mark.parametrize(
    ("disposition", "before", "learned"),
    [
        (Done(), None, True),
        (Dropped(text("404")), None, True),
        (Retry(1, Blame.URL, text("")), None, False),
        (Parked(text("")), None, False),
        (Done(), "rejected", True),
        (Done(), "retry", True),
        (Done(), "done", False),
        (Done(), "dropped", False),
    ],
)
def test_only_the_first_end_of_a_url_counts(branched, disposition, before, learned):
    made = visit(branched.lease(), fetched(), page())
    known = None if before is None else PageRecord(f"{SITE}/", before)
    branched.yields.learn(made, Judgement(disposition, Tally()), known, "")
    assert bool(branched.frontier.queues.learned) is learned


def test_robots_files_teach_nothing(branched):
    branched.yields.learn(visit(branched.robots_lease(), fetched()), Judgement(Done(), Tally()), None, "")
    assert branched.frontier.queues.learned == []


@pytest.mark.parametrize(
    ("outcome", "read", "what", "first_seen", "value"),
    [
        (Failed(Fault.RESET), None, None, "", 0.0),
        (fetched(), None, None, "", 0.0),
        (fetched(), page(), None, "", None),  # not looked at
        (fetched(), page(), said(), "", 0.75),
        (fetched(), page(), said(), f"{SITE}/before", 0.0),  # a copy
        (fetched(), page(), said(), f"{OTHER}/before", 0.75),  # a mirror
        (fetched(), page(), Said(size=9), "", 0.75),
    ],
)
def test_what_a_visit_was_worth(branched, outcome, read, what, first_seen, value):
    made = visit(branched.lease(), outcome, read, said=what)
    branched.yields.learn(made, Judgement(Done(), Tally()), None, first_seen)
    assert branched.frontier.queues.learned == [value]


@pytest.mark.parametrize(
    ("outcome", "elsewhere"),
    [(Refused(Rule.MIRROR), None), (Refused(Rule.TWIN), None), (fetched(status=404), parsed(f"{OTHER}/"))],
)
def test_what_is_asked_for_elsewhere_says_nothing_of_its_branch(branched, outcome, elsewhere):
    """A mirror that is down would be left for an endless one, with all that waits for it."""
    judgement = Judgement(Dropped(text("x")), Tally(), elsewhere=elsewhere)
    assert branched.yields.learn(visit(branched.lease(), outcome), judgement, None, "") is None
    assert branched.frontier.queues.learned == [None]


@pytest.mark.parametrize(("what", "spent"), [(said(), 40_000), (Said(size=40_000), 0)])
def test_texts_that_were_looked_at_are_paid_for(branched, what, spent):
    lease = branched.lease()
    made = visit(lease, fetched(body=b"x" * 40_000), page(), said=what)
    branched.yields.learn(made, Judgement(Done(), Tally()), None, "")
    assert branched.yields.longest_text(lease) == LONGEST_TEXT - spent + (LOOKED_AT[0] if spent else 0)


def test_branches_of_a_real_site_learn(world_of):
    world = world_of(branches=BranchConfig(begin=1))
    for number in range(3):
        world.admit(f"{SITE}/a/{number}")
    lease = world.lease(f"{SITE}/a/page")
    assert world.yields.longest_text(lease) > 0
    world.settle(visit(lease, fetched(f"{SITE}/a/page"), page(f"{SITE}/a/page"), said=said()))
    assert world.host().branched


# Leaving out one parameter …


@pytest.fixture
def tester(world_of):
    def make(**told):
        return world_of(parameters=ParameterConfig(**told))

    return make


def settle(world, path, text=WORDS, status=200, digest=0, **lease):
    url = SITE + path
    world.settle(
        visit(world.lease(url, **lease), fetched(url, status), page(url, digest=digest),
              said=said(text) if text else None)
    )  # fmt: skip


def samples_of(world, url=SITE):
    kept = world.meta(TESTS + world.frontier.host_hash(parsed(url + "/").host), HostTests)
    return {test.name: (test.alike, test.different, test.lost) for test in kept.tests} if kept else {}


@pytest.mark.parametrize(
    ("base", "whole", "found"),
    [
        ({"digest": 5}, {"digest": 5}, (1, 0, 0)),
        ({"digest": 5}, {"digest": 6}, (0, 1, 0)),
        ({"status": 404}, {"digest": 6}, (0, 0, 1)),
        ({"status": 500}, {"digest": 6}, None),  # it will be asked again
        ({"digest": 5}, {"status": 404}, None),
    ],
)
def test_pages_fetched_anyway_are_compared(tester, base, whole, found):
    world = tester()
    settle(world, "/p", text="", **base)
    settle(world, "/p?sid=1", text="", **whole)
    assert samples_of(world) == ({"sid": found} if found else {})


def test_the_other_order_is_compared_where_it_led_there(tester):
    world = tester()
    settle(world, "/p?sid=1", text="", digest=5)
    settle(world, "/p", text="", digest=5, via=f"{SITE}/p?sid=1")
    assert samples_of(world) == {"sid": (1, 0, 0)}
    settle(world, "/q?sid=2", text="", digest=5)
    settle(world, "/q", text="", digest=5, via=f"{OTHER}/q?sid=2")
    settle(world, "/r", text="", digest=5, via=f"{SITE}/q?sid=2")
    assert samples_of(world) == {"sid": (1, 0, 0)}


def test_failures_teach_nothing(tester):
    world = tester()
    settle(world, "/p", text="", digest=5)
    lease = world.lease(f"{SITE}/p?sid=1")
    world.settle(visit(lease, Failed(Fault.RESET)))
    assert samples_of(world) == {}


@pytest.mark.parametrize("test", [False, True])
def test_pages_are_asked_for_where_that_is_switched_on(tester, test):
    world = tester(test=test)
    settle(world, "/p?sid=1", hops="L", depth=2)
    assert (f"{SITE}/p" in world.queued()) is test
    if test:
        world.pass_time(60)
        candidate = world.frontier.lend().candidate
        assert candidate == Candidate(parsed(f"{SITE}/p"), LinkKind.NAVIGATION, 2, "LL", f"{SITE}/p?sid=1")
        assert world.drop_one.wants_text(parsed(f"{SITE}/p"))
        assert world.yields.longest_text(world.lease(f"{SITE}/p")) == LONGEST_TEXT


@pytest.mark.parametrize(
    ("text", "found"), [(WORDS, (1, 0, 0)), ("Something else entirely, as different as can be.", (0, 1, 0))]
)
def test_texts_are_compared_when_the_page_comes(tester, text, found):
    world = tester(test=True)
    settle(world, "/p?sid=1", digest=1)
    settle(world, "/p", text=text, digest=2, via=f"{SITE}/p?sid=1")
    assert samples_of(world) == {"sid": found}


def test_texts_are_wanted_while_samples_are(tester):
    world = tester(test=True, samples=3)
    plain, asked = parsed(f"{SITE}/x"), parsed(f"{SITE}/x?a=1")
    assert not world.drop_one.wants_text(plain)
    assert world.drop_one.wants_text(asked)
    for number in range(3):
        settle(world, f"/{number}", text="", digest=5)
        settle(world, f"/{number}?a={number}", text="", digest=5)
    assert samples_of(world) == {"a": (3, 0, 0)}
    assert not world.drop_one.wants_text(asked)
    assert not tester(test=False).drop_one.wants_text(asked)


def test_so_many_are_asked_for_of_each_parameter(tester):
    world = tester(test=True, samples=3)
    for number in range(9):
        settle(world, f"/{number}?sid={number}")
    assert len([url for url in world.queued() if "?" not in url]) == 6
    settle(world, "/x?other=1")
    assert len([url for url in world.queued() if "?" not in url]) == 7


def test_what_is_asked_for_already_is_not_counted(tester):
    world = tester(test=True, samples=3)
    for path in ("/0?sid=1", "/0?sid=2", "/0?sid=3"):
        settle(world, path)
    assert [url for url in world.queued() if "?" not in url] == [f"{SITE}/0"]
    assert world.drop_one._asked[world.frontier.host_hash("site.example"), "sid"] == 1


def test_bounds(tester, monkeypatch):
    monkeypatch.setattr(drop_one_module, "MOST_NAMES", 2)
    monkeypatch.setattr(drop_one_module, "_TEXTS_KEPT", 4)
    monkeypatch.setattr(drop_one_module, "_MOST_ASKED", 2)
    monkeypatch.setattr(drop_one_module, "_HOSTS_KEPT", 1)
    world = tester(test=True)
    for name in "abcd":
        settle(world, f"/{name}", text="", digest=5)
        settle(world, f"/{name}?{name}=1", text="", digest=5)
    assert sorted(samples_of(world)) == ["a", "b"]
    for number in range(4):
        settle(world, f"/n{number}?a={number}")
    assert len(world.drop_one._said) == 4
    assert len(world.drop_one._asked) == 1
    world.drop_tests.plain(Candidate(parsed(f"{OTHER}/x?a=1")))
    assert len(world.drop_tests._tests) == 1
    # What was pushed out comes back from disk.
    assert sorted(world.drop_tests.of(world.frontier.host_hash("site.example"))) == ["a", "b"]
    for number in range(3):
        settle(world, f"/m{number}?{number}x=1")
    assert sorted(samples_of(world)) == ["a", "b"]


@pytest.mark.parametrize("apply", [False, True])
def test_what_makes_no_difference_is_left_out_of_links(tester, apply):
    world = tester(apply=apply, samples=3)
    for number in range(3):
        settle(world, f"/{number}", text="", digest=5)
        settle(world, f"/{number}?sid={number}", text="", digest=5)
    one = Candidate(parsed(f"{SITE}/x?a=1&sid=9"), LinkKind.NAVIGATION, 1, "L", "v")
    assert world.drop_tests.plain(one) == Candidate(parsed(f"{SITE}/x?a=1"), LinkKind.NAVIGATION, 1, "L", "v")
    for same in (
        Candidate(parsed(f"{SITE}/x?a=1")),
        Candidate(parsed(f"{SITE}/x")),
        Candidate(parsed(f"{OTHER}/?sid=1")),
    ):
        assert world.drop_tests.plain(same) is same
    assert (world.drop_tests.for_links is None) is not apply


def test_it_survives_a_restart(tester):
    world = tester()
    with world.frontier.changes() as batch:
        kept = HostTests("site.example", (DropTest("sid", 5, values=(1, 2)),))
        batch.put(Family.META, TESTS + world.frontier.host_hash("site.example"), encode(kept))
    plain = world.drop_tests.plain(Candidate(parsed(f"{SITE}/x?sid=1")))
    assert plain.url.text == f"{SITE}/x"


@pytest.mark.parametrize(
    ("first_seen", "what", "news"), [("", None, None), ("", said(), 0.75), (f"{SITE}/b", None, None)]
)
def test_what_a_form_answers_says_nothing_of_its_branch(branched, first_seen, what, news):
    """Its own yield is learned elsewhere; a site must not seem a trap because of words that we ask."""
    lease = branched.lease(kind=LinkKind.SPECULATIVE, element=question("form /find?q", "word"))
    made = visit(lease, fetched(), page(), said=what)
    assert branched.yields.learn(made, Judgement(Done(), Tally()), None, first_seen) == news
    assert branched.frontier.queues.learned == [None]
