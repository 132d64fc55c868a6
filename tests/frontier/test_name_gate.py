"""Hosts wait for their names without a worker, and nobody waits for ever."""

import pytest
from frontier_world import FrontierWorld
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.frontier.queues.host_schedule import NEVER
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Done
from gossamer.model.reasons.reason import text

VISITED = Tally(rest=0.0, pages=1, bytes=10, host_failed=False)


class Book:
    """Names as the frontier sees them; a test says when one is answered."""

    def __init__(self, *known, room=100):
        self.answered = set(known)
        self.offered = []
        self.room = room

    def known(self, host):
        return host in self.answered

    def offer(self, host, *, first=False):
        if host in self.offered:
            return True
        if len(self.offered) >= self.room:
            return False
        self.offered.append(host)
        return True


@pytest.fixture
def make(tmp_path):
    worlds = []

    def world(book, **options):
        worlds.append(FrontierWorld(tmp_path / str(len(worlds)), rest=0.0, names=book, **options))
        return worlds[-1]

    yield world
    for each in worlds:
        each.close()


def lent(world):
    return [lease.queue_key for lease in iter(world.frontier.lend, None)]


def test_hosts_with_known_names_go_first_and_the_others_hold_no_lease(make):
    book = Book("b")
    world = make(book)
    for host in "abc":
        world.admit(f"http://{host}/")
    assert lent(world) == ["b"]
    assert world.frontier.under_way == 3, "one lease, two names"
    assert book.offered == ["a", "c"]
    world.frontier.name_landed("c")
    assert lent(world) == ["c"]
    world.frontier.name_landed("a")
    assert lent(world) == ["a"]
    assert world.frontier.under_way == 3


def test_names_are_asked_for_before_their_turn(make):
    book = Book()
    world = make(book)
    world.admit("http://a/")
    assert book.offered == ["a"]


def test_hosts_taken_from_disk_are_looked_ahead_too(make):
    book = Book(*(f"h{number}" for number in range(8)))
    world = make(book)
    for number in range(12):
        world.admit(f"http://h{number}/")
    assert len(lent(world)) == 8, "memory is full"
    world.reopen()
    world.micros += 5_000_000
    assert lent(world)
    assert set(book.offered) <= {f"h{number}" for number in range(8, 12)}


def test_the_answer_of_a_failed_name_is_at_hand_too(make):
    book = Book()
    world = make(book)
    world.admit("http://a/")
    assert lent(world) == []
    world.frontier.name_landed("a")  # and yet `known` says no: nothing was kept
    assert lent(world) == ["a"]


def test_without_room_for_a_name_the_worker_asks(make):
    world = make(Book(room=0))
    world.admit("http://a/")
    assert lent(world) == ["a"]


def test_hosts_without_names_leave_room_in_memory_for_those_that_have_one(make):
    book = Book("k0", "k1")
    world = make(book, max_hosts=8)
    for number in range(40):
        world.admit(f"http://n{number}/")
    for page in range(3):
        for host in ("k0", "k1"):
            world.admit(f"http://{host}/{page}", depth=1)
    visited = []
    for _ in range(20):
        world.micros += 200_000
        for lease in iter(world.frontier.lend, None):
            visited.append(lease.candidate.url.text)
            world.settle(lease, Done(), VISITED)
    assert len(visited) == 6, "with all of the memory taken by hosts that wait for names, none"


def test_a_host_set_aside_for_its_name_is_served_as_soon_as_it_lands(make):
    book = Book()
    world = make(book, max_hosts=8)
    for number in range(40):
        world.admit(f"http://n{number}/")
    for _ in range(20):
        world.micros += 200_000
        assert lent(world) == []
    assert len(book.offered) == 40, "also the names of those that were set aside"
    book.answered |= {"n38", "n39"}
    world.frontier.park("n38", text("dead"))
    for host in ("n38", "n39"):
        world.frontier.name_landed(host)
    assert lent(world) == ["n39"]
    assert not any(queue.record.parked for queue in world.frontier.schedule.served.values())


def test_names_linked_to_are_told_apart(tmp_path):
    told = []

    class Listening(Book):
        def offer(self, host, *, first=False):
            told.append((host, first))
            return super().offer(host)

    world = FrontierWorld(tmp_path / "state", max_hosts=8, names=Listening(), linked_names_first=True)
    for number in range(9):
        world.admit(f"http://h{number}/")
    assert ("h8", True) in told, "also where memory has no room for the host"
    world.close()


def test_a_parked_host_does_not_come_back_with_its_name(make):
    world = make(Book())
    world.admit("http://a/")
    assert lent(world) == []
    world.frontier.park("a", text("dead"))
    world.frontier.name_landed("a")
    assert lent(world) == [] and world.frontier.under_way == 0


def test_nothing_is_due_any_more_when_a_host_set_aside_for_its_name_is_done(make):
    book = Book()
    world = make(book, max_hosts=8)
    for number in range(12):
        world.admit(f"http://h{number}/")
    visited = 0
    for _ in range(100):
        if book.offered:
            world.frontier.name_landed(book.offered.pop(0))
        for lease in iter(world.frontier.lend, None):
            world.settle(lease, Done(), VISITED)
            visited += 1
        world.micros += 100_000
    assert visited == 12
    assert world.frontier.next_due() == NEVER, "or the crawl would not end until they were to be looked at"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 14), st.booleans()), max_size=60), st.integers(0, 4))
def test_whatever_the_order_everything_is_visited(tmp_path_factory, steps, room):
    book = Book(room=room)
    world = FrontierWorld(tmp_path_factory.mktemp("gate"), rest=0.0, names=book)
    admitted, visited = set(), []

    def visit_all():
        for lease in iter(world.frontier.lend, None):
            visited.append(lease.candidate.url.text)
            world.settle(lease, Done(), VISITED)

    for number, land in steps:
        url = f"http://h{number % 5}/{number}"
        if world.admit(url):
            admitted.add(url)
        if land and book.offered:
            world.frontier.name_landed(book.offered.pop(0))
        visit_all()
    while world.frontier.under_way or world.frontier.next_due() < NEVER:
        world.micros = max(world.micros, min(world.frontier.next_due(), world.micros + 1_000_000))
        if book.offered:
            world.frontier.name_landed(book.offered.pop(0))
        visit_all()
    assert sorted(visited) == sorted(admitted)
    world.close()
