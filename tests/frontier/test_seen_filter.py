"""The filter in front of the seen set: it never costs a URL, whatever was lost, and spares look-ups."""

import random
import shutil

import msgspec
import pytest
from examples import examples
from frontier_world import SMALL, FrontierWorld
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.frontier.seen import bloom_file
from gossamer.frontier.seen import filter as seen_filter
from gossamer.frontier.seen.filter import SeenFilter
from gossamer.model.errors import ConfigError
from gossamer.state.environment import Family

FILTERED = msgspec.structs.replace(SMALL, seen_filter=10_000)


def world_in(path, state=FILTERED):
    return FrontierWorld(path / "state", state=state)


def close_in_order(world):
    world.frontier.seen.save()
    world.close()


def filled(path, urls):
    world = world_in(path)
    with world.frontier.changes():
        for number in range(urls):
            world.admit(f"http://a/{number}")
    return world


def looked_up(world, monkeypatch):
    """Fingerprints that are asked of the disk from now on."""
    asked = []
    get = world.environment.get

    def noting(family, key):
        if family is Family.SEEN:
            asked.append(key)
        return get(family, key)

    monkeypatch.setattr(world.environment, "get", noting)
    return asked


def test_what_is_new_is_hardly_ever_looked_up_and_what_is_known_is_found(tmp_path, monkeypatch):
    world = filled(tmp_path, 2_000)
    asked = looked_up(world, monkeypatch)
    assert all(world.admit(f"http://b/{number}") for number in range(500))
    assert len(asked) < 5, "16 bits of memory and more for each URL: 0.1% look as if they were there"
    assert not any(world.admit(f"http://{host}/{number}") for host in "ab" for number in range(500))
    world.close()


class Session:
    """One folder under any events, beside the set of what was ever committed."""

    def __init__(self, path):
        self.path = path
        self.state = FILTERED
        self.world = world_in(path)
        self.admitted = set()
        self.checkpoint = None

    def open(self):
        self.world = world_in(self.path, self.state)

    def admit(self, number):
        url = f"http://{number % 3}/{number}"
        assert self.world.admit(url) == (url not in self.admitted), url
        self.admitted.add(url)

    def lose(self, number):
        class KillError(Exception):
            pass

        with pytest.raises(KillError), self.world.frontier.changes():
            self.world.admit(f"http://{number % 3}/{number}")
            raise KillError
        self.kill(number)

    def kill(self, _):
        self.world.close()
        self.open()

    def end(self, _):
        close_in_order(self.world)
        self.open()

    def without_filter(self, number):
        close_in_order(self.world)
        self.state = SMALL
        self.open()
        self.admit(number)
        self.world.close()
        self.state = FILTERED
        self.open()

    def keep(self, number):
        if self.checkpoint is None:
            self.checkpoint = self.path / f"checkpoint-{number}", set(self.admitted)
            self.world.environment.checkpoint(self.checkpoint[0])

    def go_back(self, number):
        if self.checkpoint is None:
            return
        (self.end if number % 2 else self.kill)(number)
        self.world.frontier.seen.save()
        self.world.close()
        shutil.rmtree(self.path / "state")
        state, self.admitted = self.checkpoint
        state.rename(self.path / "state")
        self.checkpoint = None
        self.open()


STEPS = ["admit", "admit", "admit", "lose", "kill", "end", "without_filter", "keep", "go_back"]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 12)), max_size=25))
def test_a_filter_changes_no_answer(tmp_path_factory, steps):
    session = Session(tmp_path_factory.mktemp("filter"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seen_filter, "READ_AT_ONCE", 2)
        for step, number in steps:
            getattr(session, step)(number)
        for number in range(13):
            session.admit(number)
        session.world.close()


def test_after_an_orderly_end_it_is_there_at_once_and_its_file_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(seen_filter, "READ_AT_ONCE", 2)
    close_in_order(filled(tmp_path, 1))
    world = world_in(tmp_path)
    for number in range(1, 50):
        world.admit(f"http://a/{number}")
    close_in_order(world)
    [file] = bloom_file.files(tmp_path, seen_filter.TABLE)
    world = world_in(tmp_path)
    assert not file.exists(), "or a kill would leave it to a later session, in which it lacks URLs"
    asked = looked_up(world, monkeypatch)
    assert world.admit("http://b/")
    assert not asked
    world.close()


def test_a_session_without_a_filter_leaves_no_file_for_another_past(tmp_path):
    world = filled(tmp_path, 1)
    world.environment.checkpoint(tmp_path / "checkpoint")
    world.admit("http://a/first past")
    close_in_order(world)
    shutil.rmtree(tmp_path / "state")
    (tmp_path / "checkpoint").rename(tmp_path / "state")
    world = world_in(tmp_path, SMALL)
    assert world.admit("http://a/second past"), "with the arrival number at which the filter was saved"
    close_in_order(world)
    world = world_in(tmp_path)
    assert not world.admit("http://a/second past")
    world.close()


def test_after_a_kill_it_is_made_anew_a_piece_with_each_commit(tmp_path, monkeypatch):
    filled(tmp_path, 50).close()
    monkeypatch.setattr(seen_filter, "READ_AT_ONCE", 10)
    world = world_in(tmp_path)
    asked = looked_up(world, monkeypatch)
    for number in range(20):
        assert world.admit(f"http://b/{number}")
    # 10 entries at the start, then 10 with each commit, of those that came meanwhile some twice.
    assert 4 <= len(asked) <= 6
    world.close()


@pytest.mark.parametrize("damage", ["a bit", "cut", "another moment", "another size"])
def test_a_file_that_does_not_fit_is_passed_over(tmp_path, damage):
    dice = random.Random(1)
    close_in_order(filled(tmp_path, 50))
    [file] = bloom_file.files(tmp_path, seen_filter.TABLE)
    content = bytearray(file.read_bytes())
    state = FILTERED
    if damage == "a bit":
        content[dice.randrange(len(content))] ^= 1
    elif damage == "cut":
        del content[100:]
    elif damage == "another size":
        state = msgspec.structs.replace(FILTERED, seen_filter=20_000)
    else:
        world = world_in(tmp_path)
        world.admit("http://a/later")
        world.close()
    file.write_bytes(content)
    world = world_in(tmp_path, state)
    for url in (f"http://a/{number}" for number in range(50)):
        assert not world.admit(url)
    assert world.admit("http://a/later") == (damage != "another moment")
    world.close()


def test_an_unfinished_filter_is_not_saved(tmp_path, monkeypatch):
    filled(tmp_path, 50).close()
    monkeypatch.setattr(seen_filter, "READ_AT_ONCE", 10)
    close_in_order(world_in(tmp_path))
    assert not bloom_file.files(tmp_path, seen_filter.TABLE)


def test_a_disk_that_refuses_the_file_stops_nothing(tmp_path, monkeypatch):
    world = filled(tmp_path, 50)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bloom_file, "save", full)
    close_in_order(world)
    world = world_in(tmp_path)
    assert not world.admit("http://a/49")
    world.close()


def test_a_crawl_goes_over_to_the_bloom_table_and_leaves_the_filter_behind(tmp_path):
    close_in_order(filled(tmp_path, 50))
    world = FrontierWorld(tmp_path / "state", state=FILTERED, visited="bloom")
    assert not world.admit("http://a/49")
    assert world.admit("http://a/50")
    world.close()


def test_more_urls_than_it_has_room_for_cost_look_ups_only(tmp_path):
    world = FrontierWorld(tmp_path / "state", state=msgspec.structs.replace(SMALL, seen_filter=1))
    assert all(world.admit(f"http://a/{number}") for number in range(100))
    assert not any(world.admit(f"http://a/{number}") for number in range(100))
    world.close()


@pytest.mark.parametrize("size", [1 << 50, 1 << 62])
def test_one_that_no_memory_holds_is_a_wrong_setting_and_not_the_end_of_the_process(tmp_path, size):
    with pytest.raises(ConfigError, match=r"state\.seen_filter"):
        world_in(tmp_path, msgspec.structs.replace(SMALL, seen_filter=size))


def test_it_says_nothing_of_the_fingerprint_that_it_was_not_given(tmp_path):
    world = filled(tmp_path, 10)
    one = SeenFilter(world.environment, 1_000)
    assert not any(one.rules_out(key) for key, _ in world.environment.scan(Family.SEEN))
    assert one.rules_out(world.fingerprint("http://a/new"))
    world.close()
