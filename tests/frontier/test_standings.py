"""Worths, gifts and moves, with an ordering that adds up what its links bring."""

from itertools import pairwise

import msgspec
import pytest
from frontier_world import ByDepth, FrontierWorld
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from test_frontier import HOSTS, VISITED, FrontierMachine, drain

from gossamer.frontier import standings
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.model.url import Url
from gossamer.policy.ordering.opic import Gift, Opic, OpicConfig
from gossamer.policy.ordering.ordering import LAST_LEVEL, ROBOTS_LEVEL
from gossamer.state.environment import Family
from gossamer.state.keys import split_ticket


class Sum(msgspec.Struct, array_like=True):
    held: int = 0


class Name(msgspec.Struct, array_like=True):
    word: str


class Adding:
    """The more coins a URL was given, the earlier; nothing is made and nothing disappears."""

    name = "adding"
    worth = Sum

    def __init__(self):
        self.lost = self.way = 0

    def level(self, candidate: Candidate) -> int:
        return LAST_LEVEL

    def restore(self, state: bytes) -> None:
        self.lost, way = msgspec.msgpack.decode(state)
        self.lost += way

    def state(self) -> bytes:
        return msgspec.msgpack.encode((self.lost, self.way))

    def admitted(self, candidate: Candidate, gift: int | None) -> Sum:
        self.way -= gift or 0
        return Sum(100 if gift is None else gift)

    def waiting_level(self, candidate: Candidate, worth: Sum) -> int:
        return 1_000 - worth.held

    def spread(self, finder: Candidate, worth: Sum, targets: int, links: int) -> tuple[Sum, int]:
        each = worth.held // links
        self.way += each * targets
        return Sum(worth.held - each * targets), each

    def closed(self, worth: Sum) -> Sum:
        self.lost += worth.held
        return Sum()

    def merge(self, one: int, other: int) -> int:
        return one + other

    def give(self, worth: Sum, gift: int) -> Sum:
        self.way -= gift
        return Sum(worth.held + gift)

    def lose(self, gift: int) -> None:
        self.way -= gift
        self.lost += gift

    def explain(self, candidate: Candidate, worth: Sum) -> dict[str, str]:
        return {"coins": str(worth.held)}


@pytest.fixture
def world(tmp_path):
    world = FrontierWorld(tmp_path / "state", ordering=Adding, buffer=3)
    yield world
    world.close()


def held(world) -> int:
    """Coins on disk, as committed."""
    family = world.environment.scan(standings.Family.STANDINGS)
    decode = msgspec.msgpack.Decoder(Sum).decode
    return sum(standings.split_standing(data, decode)[1].held for _, data in family)


def give(world, url: str, gift: int) -> None:
    world.frontier.ordering.way += gift
    assert not world.admit(url, gift=gift)


def test_an_urgent_url_overtakes_those_found_before_it(world):
    for number in range(20):
        world.admit(f"http://a/{number}")
    give(world, "http://a/17", 5)
    give(world, "http://a/9", 2)
    world.micros += standings.DRAIN_EVERY
    assert [url.rpartition("/")[2] for url in drain(world)][:4] == ["17", "9", "0", "1"]


def test_gifts_of_several_pages_meet_before_they_are_given(world):
    world.admit("http://a/0")
    world.admit("http://a/1")
    for _ in range(3):
        give(world, "http://a/1", 1)
    assert held(world) == 200
    world.micros += standings.DRAIN_EVERY
    assert drain(world) == ["http://a/1", "http://a/0"]
    assert held(world) == 203


def test_a_small_crawl_is_ordered_by_its_gifts_within_the_first_second(world):
    """A second is longer than the whole crawl of a few hundred pages."""
    for number in range(20):
        world.admit(f"http://a/{number}")
    lease = world.frontier.lend()
    with world.frontier.changes():
        gift = world.frontier.gift(world.fingerprint("http://a/0"), lease.candidate, 1, later=0)
        assert not world.admit("http://a/17", gift=gift)
        world.frontier.settle(lease, Done(), VISITED)
    assert drain(world)[0] == "http://a/17"


def test_gifts_are_given_less_often_the_more_pages_have_given(world):
    kept = world.frontier.standings
    given = []
    for page in range(1, 1_001):
        kept._givers += 1
        kept.mention(world.fingerprint("http://a/0"), 0)
        if kept.due:
            given.append(page)
            list(kept.give(lambda host, place: None, world.environment.batch()))
    assert given[0] == 1
    assert all(later == page + page // 50 + 1 for page, later in pairwise(given)), "a fiftieth more pages"


def test_a_page_shares_what_it_holds_also_what_is_still_under_way_to_it(world):
    world.admit("http://a/0")
    give(world, "http://a/0", 10)
    lease = world.frontier.lend()
    page = world.fingerprint("http://a/0")
    with world.frontier.changes() as batch:
        gift = world.frontier.gift(page, lease.candidate, 4, later=0)
        assert gift == 27
        for number in range(4):
            assert world.admit(f"http://b/{number}", gift=gift)
        world.frontier.settle(lease, Done(), VISITED)
        world.frontier.close(page, batch)
    assert held(world) == 108
    assert (world.frontier.ordering.lost, world.frontier.ordering.way) == (2, 0)


def test_a_page_with_very_many_links_gives_step_by_step(world):
    world.admit("http://a/0")
    lease = world.frontier.lend()
    page = world.fingerprint("http://a/0")
    assert world.frontier.gift(page, lease.candidate, 3, later=7) == 10
    assert world.frontier.gift(page, lease.candidate, 7, later=0) == 10


def test_a_host_with_a_better_url_goes_before_others(world):
    for host in "abc":
        world.admit(f"http://{host}/")
        world.admit(f"http://{host}/x")
    give(world, "http://c/x", 1)
    world.micros += standings.DRAIN_EVERY
    assert world.frontier.lend().candidate.url.text == "http://c/x"


def test_what_is_lent_or_waits_stays_in_its_place(world):
    world.admit("http://a/0")
    world.admit("http://a/1")
    lease = world.frontier.lend()
    give(world, "http://a/0", 1)
    world.micros += standings.DRAIN_EVERY
    assert world.frontier.lend() is None
    world.settle(lease, Retry(3.0, Blame.URL, text("x")), VISITED)
    give(world, "http://a/0", 1)
    world.micros += standings.DRAIN_EVERY
    assert drain(world) == ["http://a/1", "http://a/0"]


def test_a_kill_loses_only_the_gifts_under_way_and_the_policy_hears_of_them(world):
    world.admit("http://a/0")
    give(world, "http://a/0", 5)
    world.reopen()
    assert (world.frontier.ordering.lost, world.frontier.ordering.way) == (5, 0)
    assert held(world) == 100


def test_gifts_to_urls_queued_under_another_order_are_lost_to_them_not_to_the_policy(tmp_path):
    world = FrontierWorld(tmp_path / "state")
    world.admit("http://a/0")
    world.ordering = Adding
    world.reopen()
    give(world, "http://a/0", 5)
    world.micros += standings.DRAIN_EVERY
    assert drain(world) == ["http://a/0"]
    assert (world.frontier.ordering.lost, world.frontier.ordering.way) == (5, 0)
    world.close()


class Naming(Adding):
    """Another ordering, that keeps words where `Adding` keeps numbers."""

    name = "naming"
    worth = Name

    def restore(self, state: bytes) -> None:
        self.lost, self.way = msgspec.msgpack.decode(state, type=tuple[str, str])

    def state(self) -> bytes:
        return msgspec.msgpack.encode(("lost", "way"))

    def admitted(self, candidate: Candidate, gift: str | None) -> Name:
        return Name(gift or candidate.kind.value)

    def waiting_level(self, candidate: Candidate, worth: Name) -> int:
        return 500

    def spread(self, finder: Candidate, worth: Name, targets: int, links: int) -> tuple[Name, str]:
        return worth, worth.word


@pytest.mark.parametrize("is_old", [False, True], ids=["names its order", "of an older version"])
def test_another_order_begins_anew_and_what_waits_keeps_its_place(world, is_old):
    for url in ("http://a/0", "http://a/1"):
        world.admit(url)
    give(world, "http://a/1", 7)
    if is_old:
        with world.frontier.changes() as batch:
            batch.delete(Family.META, standings.ORDER_NAME)
    world.ordering = Naming
    world.reopen()
    assert (len(world.warnings), list(world.environment.scan(Family.STANDINGS))) == (1, [])
    finder = Candidate(Url.parse("http://a/0"), kind=LinkKind.REDIRECT)
    assert world.frontier.gift(world.fingerprint("http://a/0"), finder, 1, 0) == "seed"
    world.admit("http://a/2", gift="word")
    world.reopen()
    assert (len(world.warnings), world.frontier.ordering.way) == (1, "way")
    assert world.frontier.standings.find(world.fingerprint("http://a/2"))[1] == Name("word")
    assert drain(world) == ["http://a/2", "http://a/0", "http://a/1"]


def test_a_state_of_an_older_version_goes_on_with_its_order(world):
    world.admit("http://a/0")
    give(world, "http://a/0", 5)
    with world.frontier.changes() as batch:
        batch.delete(Family.META, standings.ORDER_NAME)
    world.reopen()
    assert (world.warnings, held(world), world.frontier.ordering.lost) == ([], 100, 5)
    assert world.environment.get(Family.META, standings.ORDER_NAME) == b"adding"


def test_an_order_without_worths_in_between_loses_none(world):
    world.admit("http://a/0")
    world.ordering = ByDepth
    world.reopen()
    world.admit("http://a/1")
    world.ordering = Adding
    world.reopen()
    assert (world.warnings, held(world)) == ([], 100)


class LinkMachine(FrontierMachine):
    """The same histories, with gifts at every moment; coins are conserved to the last one."""

    def __init__(self):
        super().__init__()
        self.world.close()
        self.world = FrontierWorld(self.folder / "links", max_hosts=8, ordering=Adding)
        self.given = 0

    @rule(host=st.sampled_from(HOSTS), page=st.integers(0, 6), gift=st.integers(1, 50))
    def mention(self, host, page, gift):
        url = f"http://{host}/{page}"
        if url in self.ever:
            give(self.world, url, gift)
            self.given += gift

    @rule()
    def give_now(self):
        self.world.micros += standings.DRAIN_EVERY
        self.lend()

    @invariant()
    def coins_are_conserved(self):
        ordering = self.world.frontier.ordering
        coins = held(self.world) + ordering.way + ordering.lost
        assert coins == 100 * len(self.ever) + self.given
        # Every waiting entry stands where its standing says; no gift moves what was demanded, for it stands first.
        for key, data in self.world.environment.scan(standings.Family.QUEUE):
            url = msgspec.msgpack.decode(data)[0]
            standing = self.world.environment.get(standings.Family.STANDINGS, self.world.fingerprint(url))
            place = key[8:]
            assert standing[:10] == (bytes(10) if split_ticket(place)[0] == ROBOTS_LEVEL else place), (
                Url.parse(url)
            )


TestLinkMachine = LinkMachine.TestCase
TestLinkMachine.settings = settings(max_examples=10, stateful_step_count=30, deadline=None, derandomize=True)


def test_importance_is_asked_of_orderings_that_tell_it(tmp_path):
    opic, adding = (
        FrontierWorld(tmp_path / name, ordering=make)
        for name, make in (("opic", lambda: Opic(OpicConfig())), ("adding", Adding))
    )
    for world in (opic, adding):
        world.admit("http://a/", kind=LinkKind.SEED)
        page = world.fingerprint("http://a/")
        assert world.frontier.standings.importance(page) == 1.0, "one page of one is the mean"
        assert world.frontier.standings.importance(b"x" * 16) == 1.0
    opic.admit("http://a/2", gift=Gift(0, 0))
    assert opic.frontier.standings.importance(opic.fingerprint("http://a/")) == 2.0
    assert opic.frontier.standings.importance(opic.fingerprint("http://a/2")) == 0.0
    for world in (opic, adding):
        world.close()
