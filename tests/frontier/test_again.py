"""Pages that come again: never lost, never twice, one a host at a time, over kills at each commit."""

import random
from collections import Counter

import msgspec
import pytest
from examples import examples
from frontier_world import FrontierWorld
from hypothesis import given, settings
from hypothesis import strategies as some
from test_moves import depart, move

from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Again, Blame, Done, Dropped, PageState, Retry
from gossamer.model.reasons.codes import BudgetCode, HoldCode, RetryCode
from gossamer.model.reasons.reason import Reason
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import Activity
from gossamer.policy.revisit.history import History, standing, unpack
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.threshold import starting_level
from gossamer.policy.revisit.trust import Signal, Source, Trust, with_trust
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, split_again, unpack_heads
from gossamer.state.records import PageRecord, decode_host, decode_page, decode_queue, encode

SECOND = 1_000_000
DAY = 86_400.0
BELIEF = Spread().believe(History(0, 0))
VISITED = Tally(rest=1.0, pages=0, host_failed=False)


class Wall:
    """A wall clock that goes with the crawl clock of the tests, a day of it in a second."""

    speed = DAY

    def __init__(self, world):
        self.world = world

    def now(self):
        return 1_700_000_000 + (self.world.micros - 1_000_000_000) / 1e6 * self.speed

    def of_date(self, date):
        return date

    date_of = of_date


class AgainWorld(FrontierWorld):
    """Settles as the crawler does, with pages in a record each."""

    def __init__(self, path, visits_a_day=1000.0, **settings):
        self.rate = visits_a_day / DAY
        self.visited = Counter()
        self.share = 0.5
        super().__init__(path, **settings)

    def open(self):
        super().open()
        again = self.frontier.again
        again.wall = Wall(self)
        again.pace.earned = again.wall.now()
        again.pace.on, again.pace.rate, again.pace.share = True, self.rate, self.share
        again.pace.fair = 4 * DAY
        start = classes.classify(BELIEF)
        again.pace.step = round(starting_level(classes.worth_after(start, 2 * DAY)) * 24)
        self.frontier.repace()

    @property
    def wall(self):
        return self.frontier.again.wall.now()

    def page(self, url):
        data = self.environment.get(Family.PAGES, self.fingerprint(url))
        return decode_page(data) if data else None

    def finish(self, lease, disposition=Done, place=None, changed=False, pages=0):
        """Settle a lease so that its page comes again."""
        url = lease.candidate.url.text
        fingerprint, known = self.fingerprint(url), self.page(url)
        now = self.wall
        if known is not None and known.history:
            history = unpack(known.history).visited(now, changed=changed)
        else:
            history = History(int(now), int(now), place=classes.classify(BELIEF))
        if place is not None:
            history = history.__class__(int(now), int(now), place=place)
        again = Again(history.pack(), fingerprint)
        with self.frontier.changes() as batch:
            record = PageRecord(url, PageState.DONE, history=again.history)
            batch.put(Family.PAGES, fingerprint, encode(record))
            made = Done(again=again) if disposition is Done else disposition(again)
            self.frontier.settle(lease, made, msgspec.structs.replace(VISITED, pages=pages))
        self.visited[url] += 1

    def standing(self):
        """How often each page stands somewhere: in `again`, `queue` or `later`."""
        found = Counter()
        for key, elsewhere in self.environment.scan(Family.AGAIN):
            place, since, url = split_again(key)
            data = self.environment.get(Family.PAGES, (elsewhere or key[:8]) + url)
            record = decode_page(data)
            assert standing(record.history) == (since, place)
            found[record.url] += 1
        for family in (Family.QUEUE, Family.LATER):
            for _, data in self.environment.scan(family):
                found[decode_queue(data).url] += 1
        return found

    def assert_sound(self):
        entries, firsts = Counter(), {}
        for key, _ in self.environment.scan(Family.AGAIN):
            place, since, _ = split_again(key)
            entries[key[:8]] += 1
            firsts.setdefault((key[:8], place), since)
        assert self.counters.enrolled == entries.total()
        for key, data in self.environment.scan(Family.HOSTS):
            record = decode_host(data)
            assert record.enrolled == entries[key]
            heads = dict(unpack_heads(record.heads))
            for (host, place), since in firsts.items():
                assert host != key or heads[place] <= since
            if record.enrolled and not record.parked:
                assert key in self.frontier.schedule.served or 0 < record.wake < FOREVER


@pytest.fixture
def world(tmp_path):
    made = AgainWorld(tmp_path / "state")
    yield made
    made.close()


def drain(world, seconds, settle=None):
    """Visit whatever is lent for so long; (url, conditional) in order."""
    order = []
    until = world.micros + int(seconds * SECOND)
    while world.micros < until:
        while (lease := world.frontier.lend()) is not None:
            order.append(lease.candidate)
            (settle or world.finish)(lease)
        due = min(max(world.frontier.next_due(), world.micros + 1), until)
        world.micros = due
    return order


def test_pages_that_were_brought_at_once_are_lent_without_another_batch(world, monkeypatch):
    for number in range(4):
        world.admit(f"http://a/{number}")
    drain(world, 20)
    world.micros += 30 * SECOND
    commit, committed = world.environment.commit, []
    monkeypatch.setattr(world.environment, "commit", lambda batch: (committed.append(batch), commit(batch)))
    assert [c.again for c in drain(world, 3.5)] == [True] * 4
    assert len(committed) == 1 + 4, "one brought them, and each visit was settled"
    world.assert_sound()


def test_a_page_comes_again_when_it_is_due_and_not_before(world):
    world.admit("http://a/")
    assert [c.again for c in drain(world, 0.5)] == [False]
    due = world.frontier.next_due()
    # A page like any other is worth the threshold after two days, two seconds of this clock.
    assert world.micros + SECOND < due <= world.micros + 2.3 * SECOND
    again = drain(world, 2.5)
    assert [(c.url.text, c.again) for c in again] == [("http://a/", True)]
    world.assert_sound()


def test_over_and_over_none_is_lost_and_each_has_its_turn(world):
    urls = [f"http://{host}/{number}" for host in "abc" for number in range(7)]
    for url in urls:
        world.admit(url)
    drain(world, 60)
    world.assert_sound()
    assert world.standing() == Counter(urls)
    assert min(world.visited.values()) > 5
    assert max(world.visited.values()) - min(world.visited.values()) <= 3, "all are alike"


def test_what_is_off_stays_where_it_is(world):
    world.admit("http://a/")
    drain(world, 0.5)
    world.frontier.again.pace.on = False
    world.frontier.repace()
    assert drain(world, 100) == []
    assert world.frontier.next_due() >= FOREVER
    world.frontier.again.pace.on = True
    world.frontier.repace()
    assert len(drain(world, 1)) == 1


def test_without_visits_left_nothing_is_due(world):
    for number in range(8):
        world.admit(f"http://{number}/")
    drain(world, 0.5)
    pace = world.frontier.again.pace
    pace.rate, pace.saved, pace.earned = 1 / DAY, 0.0, world.wall
    world.micros += 10 * SECOND
    pace.earned = world.wall
    pace.saved = 0.0
    world.frontier.repace()
    # A visit a day, that is a second.
    assert 9 <= len(drain(world, 10)) <= 11
    world.assert_sound()


def test_new_urls_and_due_ones_share_the_turns(world):
    world.share = world.frontier.again.pace.share = 0.25
    world.admit("http://a/0")
    for number in range(1, 9):
        world.admit(f"http://a/{number}")
    drain(world, 9)
    world.micros += 20 * SECOND
    for number in range(100, 140):
        world.admit(f"http://a/{number}", depth=1)
    order = drain(world, 24)
    assert 5 <= sum(c.again for c in order) <= 7, [c.again for c in order]


@pytest.mark.parametrize(("saved", "taken"), [(6.0, 3), (100.0, 8)])
def test_a_host_takes_half_of_what_may_be_spent_and_eight_at_once(world, saved, taken):
    for number in range(12):
        world.admit(f"http://a/{number}")
    pace = world.frontier.again.pace
    pace.on = False
    drain(world, 20)
    assert (world.counters.queued, world.counters.enrolled) == (0, 12)
    pace.on, pace.rate, pace.saved, pace.earned = True, 0.0, saved, world.wall
    world.frontier.repace()
    world.micros = max(world.micros, world.frontier.next_due())
    assert world.frontier.lend().candidate.again
    assert (world.counters.queued, world.counters.enrolled) == (taken, 12 - taken)


def test_how_late_a_visit_is_counts_from_when_its_host_had_rested(world):
    world.admit("http://a/")
    drain(world, 0.5)
    with world.frontier.changes():
        world.frontier.rest("a", 8.0, Reason(HoldCode.OPERATOR))
    world.micros += int(8.25 * SECOND)
    assert world.frontier.lend().candidate.again
    pace = world.frontier.again.pace
    assert (pace.lent, pace.late) == (1, pytest.approx(DAY / 4))


def test_fixed_intervals_are_kept(world):
    world.admit("http://a/news")
    place = classes.fixed(3 * DAY)
    order = drain(world, 30.5, lambda lease: world.finish(lease, place=place))
    assert 10 <= len(order) <= 11
    world.frontier.again.pace.rate = 0.0
    world.frontier.again.pace.saved = 0.0
    world.frontier.repace()
    assert len(drain(world, 9, lambda lease: world.finish(lease, place=place))) == 3, "of no allowance"


def test_a_lower_threshold_makes_it_due_sooner(world):
    world.admit("http://a/")
    drain(world, 0.1)
    before = world.frontier.next_due()
    world.frontier.again.pace.step -= 48
    world.frontier.repace()
    assert world.frontier.next_due() < before


def enrolled(world, url, place, days):
    """A page that waits in a class since so many days ago."""
    world.admit(url)
    world.finish(world.frontier.lend())
    known = world.page(url)
    at = int(world.wall - days * DAY)
    moved = History(at, at, place=place)
    with world.frontier.changes() as batch:
        key = world.fingerprint(url)[:8]
        record = world.frontier.hosts.change(key, "")
        world.frontier.again.take_out(key, record, world.fingerprint(url), known.history, batch)
        world.frontier.again.put(key, record, Again(moved.pack(), world.fingerprint(url)), batch)
        stored = msgspec.structs.replace(known, history=moved.pack())
        batch.put(Family.PAGES, world.fingerprint(url), encode(stored))
        world.frontier.comes_again(key, record, batch)


def stirred(world, url, activity):
    with world.frontier.changes():
        world.frontier.hosts.change(world.fingerprint(url)[:8], "").activity = activity.pack()


def test_among_hosts_who_is_worth_most_goes_first_not_who_has_waited(world):
    """While the threshold is on its way up more is due than can be visited."""
    usual = classes.classify(BELIEF)
    for number in range(4):
        enrolled(world, f"http://h{number}/", usual, 12 + number)
    enrolled(world, "http://news/", classes.classify(BELIEF, weight=16), 6)
    world.frontier.repace()
    world.frontier.again.pace.saved = 1.0
    world.micros += 2 * SECOND
    first = world.frontier.lend().candidate.url.text
    assert first == "http://news/"


def test_at_a_site_that_changes_more_than_usual_pages_are_due_sooner(world):
    world.admit("http://a/")
    world.admit("http://b/")
    drain(world, 0.5)
    stirred(world, "http://b/", Activity(found=12.0))
    world.frontier.again.pace.activity_power = 1.0
    world.frontier.repace()
    assert [each.url.text for each in drain(world, 1.2)] == ["http://b/"]
    stirred(world, "http://b/", Activity())
    stirred(world, "http://a/", Activity(expected=30.0))
    world.frontier.repace()
    assert [each.url.text for each in drain(world, 2.2)] == ["http://b/"], "and at a quiet one later"
    world.assert_sound()


def test_hosts_on_disk_are_looked_at_before_they_are_due(tmp_path):
    world = AgainWorld(tmp_path / "state", max_hosts=8)
    urls = [f"http://h{number}/" for number in range(40)]
    for url in urls:
        world.admit(url)
    drain(world, 60)
    world.assert_sound()
    assert world.standing() == Counter(urls)
    assert min(world.visited.values()) >= 3
    world.close()


def test_news_brings_a_page_sooner(world):
    for url in ("http://a/1", "http://a/2"):
        world.admit(url)
    drain(world, 2.5)
    page = world.fingerprint("http://a/2")
    last = unpack(world.page("http://a/2").history).last
    assert world.frontier.told([Signal(page, last - 5, Source.SITEMAP)]) == 0, (
        "it speaks of the page, no more"
    )
    assert [voice.source for voice in unpack(world.page("http://a/2").history).voices] == [Source.SITEMAP]
    before = world.page("http://a/2").history
    assert standing(before)[0] == last
    assert world.frontier.told([Signal(page, last + 5, Source.SITEMAP)]) == 1
    assert standing(world.page("http://a/2").history)[0] < last
    assert unpack(world.page("http://a/2").history).heard > 0
    assert world.frontier.told([Signal(b"x" * 16, last + 5, Source.PING)]) == 0
    world.assert_sound()
    assert world.standing() == Counter(["http://a/1", "http://a/2"])
    assert drain(world, 2.5)[0].url.text == "http://a/2"
    world.assert_sound()


def test_who_is_not_believed_makes_nothing_due_sooner(world):
    world.admit("http://a/")
    drain(world, 2.5)
    page, key = world.fingerprint("http://a/"), world.fingerprint("http://a/")[:8]
    with world.frontier.changes():
        record = world.frontier.hosts.change(key, "a")
        record.trusts = with_trust(record.trusts, Source.SITEMAP, Trust(lies=1))
    since = standing(world.page("http://a/").history)[0]
    assert world.frontier.told([Signal(page, world.wall, Source.SITEMAP)]) == 0
    history = world.page("http://a/").history
    assert unpack(history).heard > 0, "it is remembered, to be judged by the next visit"
    assert standing(history)[0] == since
    world.assert_sound()


def test_a_date_to_come_says_nothing(world):
    world.admit("http://a/")
    drain(world, 0.5)
    page = world.fingerprint("http://a/")
    world.frontier.told([Signal(page, world.wall + 10 * DAY, Source.FEED)])
    assert unpack(world.page("http://a/").history).heard == 0


def test_refetch_gives_a_turn_at_once_and_counts_once(world):
    for url in ("http://a/1", "http://a/2"):
        world.admit(url)
    drain(world, 1.5)
    page = world.fingerprint("http://a/1")
    nobody = world.fingerprint("http://a/3")
    told = world.frontier.refetch([page, page, nobody])
    assert (told.queued, told.waiting, told.unknown) == (1, 0, 1)
    assert world.page("http://a/1").asked
    told = world.frontier.refetch([page])
    assert (told.queued, told.waiting) == (0, 1)
    world.assert_sound()
    assert world.standing() == Counter(["http://a/1", "http://a/2"])
    order = drain(world, 1.2)
    assert [(c.url.text, c.again) for c in order] == [("http://a/1", True)]


def test_refetch_of_what_has_its_turn_already(world):
    for url in ("http://a/1", "http://a/2"):
        world.admit(url)
    drain(world, 1.5)
    world.micros += 9 * SECOND
    lease = world.frontier.lend()
    other = "http://a/1" if lease.candidate.url.text == "http://a/2" else "http://a/2"
    told = world.frontier.refetch([world.fingerprint(other)])
    assert (told.queued, told.waiting) == (0, 1)
    assert world.page(other).asked
    world.finish(lease)
    world.assert_sound()
    assert world.standing() == Counter(["http://a/1", "http://a/2"])


def test_refetch_without_visits_again(tmp_path):
    world = FrontierWorld(tmp_path / "state")
    world.admit("http://a/")
    lease = world.frontier.lend()
    world.settle(lease, Done(), VISITED)
    page = world.fingerprint("http://a/")
    with world.frontier.changes() as batch:
        batch.put(Family.PAGES, page, encode(PageRecord("http://a/", PageState.DONE)))
    assert world.frontier.refetch([page]).queued == 1
    world.reopen()
    assert world.frontier.refetch([page]).waiting == 1, "it survives a kill"
    world.micros += 2 * SECOND
    lease = world.frontier.lend()
    assert lease.candidate.again
    world.settle(lease, Done(), VISITED)
    world.micros += 2 * SECOND
    assert world.frontier.lend() is None
    assert world.counters.queued == 0
    world.close()


@pytest.mark.parametrize("code", [RetryCode.IN_A_ROW, BudgetCode.PAGES_PER_HOST, HoldCode.OPERATOR])
def test_a_page_that_is_asked_for_is_tried_though_its_host_was_given_up_but_not_set_aside(tmp_path, code):
    world = FrontierWorld(tmp_path / "state")
    spent = Reason(code)
    for url in ("http://a/1", "http://a/2"):
        world.admit(url)
    world.settle(world.frontier.lend(), Done(), Tally(rest=1.0, pages=1, host_failed=False))
    page = world.fingerprint("http://a/1")
    with world.frontier.changes() as batch:
        batch.put(Family.PAGES, page, encode(PageRecord("http://a/1", PageState.DONE)))
    world.frontier.park("a", spent)
    if code is BudgetCode.PAGES_PER_HOST:
        world.policy = msgspec.structs.replace(world.policy, budget_spent=lambda *_: spent)
    world.reopen()
    world.frontier.refetch([page])
    world.micros += 2 * SECOND
    order = drain(world, 4.5, lambda lease: world.settle(lease, Done(), VISITED))
    left_alone = {RetryCode.IN_A_ROW: 0, BudgetCode.PAGES_PER_HOST: 1, HoldCode.OPERATOR: 2}[code]
    assert [c.url.text for c in order] == ["http://a/1", "http://a/2"][: 2 - left_alone]
    assert (world.counters.queued, world.counters.hosts_parked) == (left_alone, bool(left_alone))
    world.close()


def test_a_spent_budget_of_a_host_does_not_keep_its_pages_from_coming_again(tmp_path):
    world = AgainWorld(tmp_path / "state")
    spent = Reason(BudgetCode.PAGES_PER_HOST, (2,))
    world.policy = msgspec.structs.replace(
        world.policy, budget_spent=lambda name, pages, _: spent if pages >= 2 else None
    )
    world.reopen()
    for number in range(5):
        world.admit(f"http://a/{number}")

    def settle(lease):
        world.finish(lease, pages=0 if lease.candidate.again else 1)

    drain(world, 30, settle)
    assert len(world.visited) == 2, "what is new is left"
    assert min(world.visited.values()) >= 4
    assert not world.frontier.hosts.get(world.frontier.host_hash("a")).parked
    world.assert_sound()
    world.frontier.again.pace.on = False
    world.frontier.repace()
    drain(world, 30, settle)
    assert world.frontier.hosts.get(world.frontier.host_hash("a")).parked.code == BudgetCode.PAGES_PER_HOST
    world.close()


def test_pages_move_with_their_host(tmp_path):
    one, two = AgainWorld(tmp_path / "one"), AgainWorld(tmp_path / "two")
    urls = [f"http://a.example/{number}" for number in range(4)]
    for url in [*urls, "http://b.example/"]:
        one.admit(url)
    drain(one, 4.5)
    before = one.frontier.hosts.get(one.frontier.host_hash("a.example")).heads
    move(one, two)
    depart(one)
    two.micros = one.micros
    for world, there in ((one, ["http://b.example/"]), (two, urls)):
        assert world.standing() == Counter(there)
        assert world.counters.enrolled + world.counters.queued == len(there)
        world.assert_sound()
    assert two.frontier.hosts.get(two.frontier.host_hash("a.example")).heads == before
    drain(two, 40)
    assert min(two.visited[url] for url in urls) >= 2
    for world in (one, two):
        world.close()


@settings(deadline=None, max_examples=examples(40))
@given(seed=some.integers(0, 1 << 32))
def test_never_lost_never_twice_over_kills(tmp_path_factory, seed):
    """Whatever happens, each page stands in one place, and no host has two leases."""
    random_ = random.Random(seed)
    world = AgainWorld(tmp_path_factory.mktemp("state"), max_hosts=8)
    urls = [f"http://h{number % 11}/{number}" for number in range(30)]
    for url in urls:
        world.admit(url)
    out = []
    for step in range(300):
        match random_.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                if (lease := world.frontier.lend()) is not None:
                    assert all(lease.queue_key != other.queue_key for other in out)
                    out.append(lease)
            case 5 | 6 | 7 | 8 if out:
                lease = out.pop(random_.randrange(len(out)))
                end = random_.choice([Done, Done, Done, drop, "retry"])
                if end == "retry":
                    world.settle(lease, Retry(1.0, Blame.URL, Reason(RetryCode.RETRY)), VISITED)
                else:
                    world.finish(lease, end, changed=random_.random() < 0.3)
            case 9:
                page = world.fingerprint(random_.choice(urls))
                world.frontier.refetch([page])
            case 10:
                page = world.fingerprint(random_.choice(urls))
                world.frontier.told([Signal(page, world.wall - random_.random() * DAY, 1)])
            case 11:
                if random_.random() < 0.2:
                    world.reopen()
                    out.clear()
                elif random_.random() < 0.3:
                    world.frontier.again.pace.step += random_.randrange(-24, 24)
                    world.frontier.repace()
        world.micros += random_.randrange(SECOND)
        if step % 5 == 0 or not out:  # what is lost stays so; after each kill nothing is out
            assert world.standing() == Counter(urls)
            world.assert_sound()
    world.reopen()
    world.visited.clear()
    for _ in range(60):
        if set(world.visited) != set(urls):
            drain(world, 2)
    assert set(world.visited) == set(urls), "none is forgotten"
    world.close()


def drop(again):
    return Dropped(Reason(RetryCode.STATUS, {"status": 404}), again=again)


@pytest.mark.parametrize(
    ("from_last", "ahead", "heard"),
    [(-5, None, False), (0, None, False), (1, None, True), (None, DAY, True), (None, DAY + 1, False)],
)
def test_which_dates_of_a_change_say_something(world, from_last, ahead, heard):
    """After the last visit, and at most a day ahead: clocks of other zones."""
    world.admit("http://a/")
    drain(world, 0.5)
    last = standing(world.page("http://a/").history)[0]
    date = world.wall + ahead if from_last is None else last + from_last
    world.frontier.told([Signal(world.fingerprint("http://a/"), date, Source.SITEMAP)])
    assert (unpack(world.page("http://a/").history).heard > 0) is heard
