"""Whoever says that pages have changed: what is heard of it, and what must be proved by a file on the host first."""

import asyncio
import gzip

import pytest
from engine_world import SITE, START, fetched, link, page, parsed, visit
from msgspec.structs import replace

from gossamer.engine.signals import announcements as announcements_module
from gossamer.engine.signals import key_files
from gossamer.engine.signals.announcements import Announcements, Heard
from gossamer.engine.signals.hubs import known_hubs
from gossamer.engine.signals.key_files import HOLDS, PATIENCE, REFUSED, KeyFiles, Proved, speaks_for
from gossamer.engine.signals.signals import Signals
from gossamer.engine.signals.sources import INDEXNOW, WEBSUB, feed, is_list, source_of
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Again, PageState
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import History, unpack
from gossamer.policy.revisit.trust import Source
from gossamer.state.records import PageRecord

NOW = START
KEY = "0123456789abcdef"
HELD = KEY.encode()
FILE = parsed(f"{SITE}/key.txt")
A, B, C = (parsed(f"{SITE}/{name}") for name in "abc")


def answered(outcome, url=FILE.text):
    candidate = Candidate(parsed(url))
    return visit(Lease(candidate, candidate.url.host, b"t"), outcome)


def shown(content=HELD, url=FILE.text, **fields):
    return answered(fetched(url, body=content, **fields), url)


# Questions …


def test_urls_are_held_until_the_file_was_visited_and_given_back_once():
    keys = KeyFiles()
    assert not keys.holds(KEY, FILE, NOW)
    assert keys.ask(KEY, FILE, [A, B], NOW, new=True) == (2, True)
    assert keys.ask(KEY, FILE, [B, C], NOW + 1, new=False) == (2, False)
    assert not keys.holds(KEY, FILE, NOW + 1)
    assert keys.visited(shown(url=f"{SITE}/other.txt"), NOW) is None
    assert keys.visited(shown(url="http://other.example/key.txt"), NOW) is None
    assert keys.visited(shown(), NOW + 2) == Proved([A, B, C], True)
    assert (keys.proved, keys.refused) == (1, 0)
    assert keys.visited(shown(b"other"), NOW + 3) is None, "it has its answer"
    assert keys.refused == 0
    until = NOW + 2 + HOLDS
    for key, file, now, holds in [
        (KEY, FILE, until - 1, True),
        (KEY, FILE, until, False),
        ("other", FILE, NOW + 3, False),
        (KEY, A, NOW + 3, False),
        (KEY, parsed("http://other.example/key.txt"), NOW + 3, False),
    ]:
        assert keys.holds(key, file, now) == holds


@pytest.mark.parametrize(
    ("after", "key", "file", "answer"),
    [
        (PATIENCE - 1, KEY, FILE, (1, False)),
        (PATIENCE - 1, "other", FILE, (0, False)),  # one question a host at a time
        (PATIENCE - 1, KEY, parsed(f"{SITE}/other.txt"), (0, False)),
        (PATIENCE, "other", FILE, (1, True)),  # the visit has not come
        (1, "other", parsed("http://other.example/key.txt"), (1, True)),
    ],
)
def test_one_key_of_a_host_is_in_question_at_a_time_and_for_a_while(after, key, file, answer):
    keys = KeyFiles()
    keys.ask(KEY, FILE, [A, B], NOW, new=False)
    assert keys.ask(key, file, [C], NOW + after, new=False) == answer
    if answer == (1, True) and file == FILE:
        assert keys.visited(shown(b"other"), NOW + after) == Proved([C], False), (
            "what was held before is gone"
        )


@pytest.mark.parametrize(
    ("after", "answer"), [(0, (0, False)), (REFUSED - 1, (0, False)), (REFUSED, (1, True))]
)
def test_a_host_that_does_not_show_the_key_is_not_asked_for_a_while(after, answer):
    keys = KeyFiles()
    keys.ask(KEY, FILE, [A, B], NOW - 10, new=False)
    assert keys.visited(shown(b"other"), NOW) is None
    assert (keys.proved, keys.refused) == (0, 1)
    assert not keys.holds(KEY, FILE, NOW)
    assert keys.ask(KEY, FILE, [C], NOW + after, new=False) == answer


@pytest.mark.parametrize(
    ("made", "shows"),
    [
        (shown(b"\xef\xbb\xbf " + HELD + b"\r\n"), True),
        (shown(HELD + b" "), True),
        (shown(HELD + b"x"), False),
        (shown(b"<p>" + HELD), False),
        (shown(status=203), False),
        (shown(status=404), False),
        (shown(HELD + b" " * (1_024 - len(KEY))), True),
        (shown(HELD + b" " * (1_025 - len(KEY))), False),
        (shown(gzip.compress(HELD, mtime=0), content_encoding="gzip"), True),
        (shown(gzip.compress(HELD, mtime=0)[:12], content_encoding="br"), False),
        (answered(Failed(Fault.TIMEOUT)), False),
    ],
)
def test_the_file_holds_the_key_and_nothing_else(made, shows):
    keys = KeyFiles()
    keys.ask(KEY, FILE, [A], NOW, new=False)
    assert keys.visited(made, NOW) == (Proved([A], False) if shows else None)
    assert (keys.proved, keys.refused) == (shows, not shows)


def test_what_waits_is_bounded(monkeypatch):
    monkeypatch.setattr(key_files, "MOST_HELD", 3)
    monkeypatch.setattr(key_files, "MOST_HOSTS", 2)
    keys = KeyFiles()
    others = [parsed(f"http://{name}.example/key.txt") for name in "xyz"]
    assert keys.ask(KEY, FILE, [A, B], NOW, new=False) == (2, True)
    assert keys.ask(KEY, others[0], [A, B], NOW, new=False) == (2, True)
    assert keys.ask(KEY, others[0], [A, B, C, FILE], NOW, new=False) == (3, False)
    assert keys.visited(shown(url=others[0].text), NOW) == Proved([A], False), "there was room for one"
    # That gave its place back; who was quiet longest is forgotten, and gives back its two.
    assert keys.ask(KEY, others[1], [A], NOW, new=False) == (1, True)
    assert keys.visited(shown(), NOW) is None
    assert keys.ask(KEY, others[1], [B, C], NOW, new=False) == (2, False)
    assert keys.visited(shown(url=others[1].text), NOW) == Proved([A, B, C], False)
    keys.ask(KEY, others[2], [A, B, C], NOW, new=False)
    keys.refuse(others[2], NOW)
    keys.ask(KEY, FILE, [A, B, C], NOW, new=False)
    assert keys.visited(shown(), NOW) == Proved([A, B, C], False), "what was refused gave its places back"


@pytest.mark.parametrize(
    ("file", "url", "speaks"),
    [
        (f"{SITE}/key.txt", f"{SITE}/a/b", True),
        (f"{SITE}/key.txt", "https://site.example/a", True),
        (f"{SITE}:8080/key.txt", f"{SITE}:8080/a", True),
        (f"{SITE}/key.txt", f"{SITE}:8080/a", False),
        (f"{SITE}/key.txt", "http://www.site.example/a", False),
        (f"{SITE}/a/key.txt", f"{SITE}/a/b", True),
        (f"{SITE}/a/key.txt", f"{SITE}/b", False),
        (f"{SITE}/a/key.txt", f"{SITE}/a", False),
        (f"{SITE}/key.txt?x=1", f"{SITE}/a", False),
        (f"{SITE}/key.txt", "ftp://site.example/a", False),
        ("ftp://site.example/key.txt", f"{SITE}/a", False),
    ],
)
def test_for_what_a_file_speaks(file, url, speaks):
    assert speaks_for(parsed(file), parsed(url)) == speaks


# Announcements …


@pytest.fixture
def world(world_of):
    """A site of which `/a` and `/b` are known, and come again."""
    world = world_of(revisit=RevisitConfig(enabled=True, visits=1e6), wall_speed=60.0)
    world.pass_time(3_600)
    for url in (A, B):
        known(world, url)
    world.heard = Announcements(world.frontier, world.identity, world.admission)
    world.date = world.frontier.again.wall.now()
    return world


def known(world, url):
    fingerprint = world.identity.fingerprint(url)
    history = History(int(START), int(START))
    key, name = world.frontier.host_key(url)
    with world.frontier.changes() as batch:
        world.frontier.admit(Candidate(url), fingerprint)
        again = Again(history.pack(), fingerprint)
        world.frontier.again.put(key, world.frontier.hosts.change(key, name), again, batch)
        world.memory.put(fingerprint, PageRecord(url.text, PageState.DONE, history=again.history), batch)


@pytest.mark.parametrize(
    ("by", "source"), [("ping", Source.PING), ("websub", WEBSUB), ("indexnow", INDEXNOW)]
)
def test_what_is_known_is_due_sooner_and_what_is_new_comes_in_if_it_is_wanted(world, by, source):
    texts = [A.text, f"{SITE}/new", "http://elsewhere.example/", "no url"]
    heard = world.heard.announce(texts, by, world.date)
    assert heard == Heard(due=1, unknown=2, wrong=1)
    assert [voice.source for voice in unpack(world.record(A.text).history).voices] == [source]
    assert world.heard.announce(texts, by, world.date) == Heard(known=1, unknown=2, wrong=1), "nothing new"
    queued = world.counters.queued
    heard = world.heard.announce(texts, by, world.date, new=True)
    assert heard == Heard(known=1, new=1, unknown=1, wrong=1)
    assert world.counters.queued == queued + 1
    assert heard + heard == Heard(known=2, new=2, unknown=2, wrong=2)
    assert world.heard.announce(["no url"], by, world.date) == Heard(wrong=1)


@pytest.mark.parametrize(
    ("texts", "location"),
    [
        ([A.text], "no url"),
        ([A.text, "http://elsewhere.example/"], FILE.text),
        ([A.text], f"{SITE}/x/key.txt"),
    ],
)
def test_who_does_not_speak_for_all_of_it_is_wrong_in_all_of_it(world, texts, location):
    assert world.heard.submit(texts, KEY, location, NOW) == Heard(wrong=len(texts))
    assert f"{SITE}/key.txt" not in world.queued()


def test_a_submission_is_held_until_its_file_was_visited_and_then_heard(world, monkeypatch):
    monkeypatch.setattr(announcements_module, "AT_ONCE", 1)
    texts = [A.text, B.text, f"{SITE}/new", "no url"]
    heard = world.heard.submit(texts, KEY, FILE.text, NOW)
    assert heard == Heard(held=2, unknown=1, wrong=1)
    assert world.queued().count(FILE.text) == 1
    assert world.heard.submit(texts[:1], KEY, FILE.text, NOW) == Heard(held=1)
    assert world.heard.submit(texts[:1], "other", FILE.text, NOW) == Heard(known=1)
    assert world.queued().count(FILE.text) == 1, "one visit"
    assert not world.heard.visited(shown(url=A.text), NOW)
    assert list(world.heard.hear_proved(world.date)) == []
    assert world.heard.visited(shown(), NOW)
    assert len(list(world.heard.hear_proved(world.date))) == 2
    assert all(unpack(world.record(url.text).history).heard for url in (A, B))
    assert list(world.heard.hear_proved(world.date)) == [], "once"
    # From now on it is heard at once.
    assert world.heard.submit([A.text, f"{SITE}/new"], KEY, FILE.text, NOW, new=True) == Heard(known=1, new=1)


def test_of_what_nobody_wants_nothing_is_asked(world):
    assert world.heard.submit([f"{SITE}/new"], KEY, FILE.text, NOW) == Heard(unknown=1)
    assert FILE.text not in world.queued()
    assert world.heard.submit([f"{SITE}/new"], KEY, FILE.text, NOW, new=True) == Heard(held=1)
    assert FILE.text in world.queued()
    assert world.heard.visited(shown(), NOW)
    list(world.heard.hear_proved(world.date))
    assert f"{SITE}/new" in world.queued()


def test_a_file_that_may_not_be_visited_proves_nothing(world):
    there = parsed("http://elsewhere.example/a")
    known(world, there)
    for held in (Heard(known=1), Heard(known=1)):
        assert world.heard.submit([there.text], KEY, "http://elsewhere.example/key.txt", NOW) == held
    assert world.heard.keys.refused == 1, "and is not asked for again soon"


# Who speaks …


def test_the_numbers_of_sources_stand_in_states_that_were_written_before():
    assert (INDEXNOW, WEBSUB) == (6, 7)
    numbers = {feed(f"http://h{number}.example/feed") for number in range(200)}
    assert numbers == set(range(8, 16))


def dated(*dates, kind=LinkKind.NAVIGATION):
    links = [replace(link(f"{SITE}/{number}", kind), lastmod=date) for number, date in enumerate(dates)]
    return page(f"{SITE}/feed", *links)


@pytest.mark.parametrize(
    ("read", "listed", "source"),
    [
        (dated(1.0), True, feed(f"{SITE}/feed")),
        (dated(0.0), False, None),
        (dated(), False, None),
        (dated(*[0.0] * 49, 1.0), True, feed(f"{SITE}/feed")),
        (dated(*[0.0] * 50, 1.0), False, None),
        (dated(*[0.0] * 50, 1.0, kind=LinkKind.SITEMAP), True, Source.SITEMAP),
        (dated(1.0, 2), True, feed(f"{SITE}/feed")),
        (dated(1.0, "yesterday"), False, None),
    ],
)
def test_what_is_a_list_and_whose(read, listed, source):
    assert is_list(read) == listed
    assert not listed or source_of(read) == source


# All of it together …


class Ears:
    """The signals of a world, and what they call."""

    def __init__(self, world, on=True):
        self.rested, self.times = [], 0
        self.signals = Signals(
            world.frontier, world.identity, world.admission, on=lambda: on, rest=self.rest, heard=self.heard
        )

    async def rest(self, seconds):
        self.rested.append(seconds)

    def heard(self):
        self.times += 1

    def hear(self):
        """What waits, if anything does; whether it did."""

        async def run():
            task = asyncio.create_task(self.signals.run())
            for _ in range(20):
                await asyncio.sleep(0)
            task.cancel()

        asyncio.run(run())


@pytest.mark.parametrize("on", [True, False])
def test_a_settled_visit_may_tell_of_others(world, on):
    ears = Ears(world, on)
    before = world.record(A.text)
    read = replace(dated(world.date - 60.0), topic=f"{SITE}/feed", hub="https://hub.example/")
    read = replace(read, links=(replace(read.links[0], url=B),))
    with world.frontier.changes() as batch:
        ears.signals.settled(answered(fetched()), before, batch)
    ears.hear()
    assert ears.times == 0, "it tells of nothing"
    with world.frontier.changes() as batch:
        ears.signals.settled(visit(answered(fetched()).lease, fetched(), read), before, batch)
    assert known_hubs(world.environment) == ({f"{SITE}/feed": "https://hub.example/"} if on else {})
    ears.hear()
    assert ears.times == on
    assert bool(ears.rested) == on
    assert bool(unpack(world.record(B.text).history).heard) == on
    ears.signals.announcements.keys.ask(KEY, FILE, [A], NOW, new=False)
    with world.frontier.changes() as batch:
        ears.signals.settled(shown(), None, batch)
    ears.hear()
    assert bool(unpack(world.record(A.text).history).heard) == on
    assert ears.times == 2 * on


def test_dates_are_late_by_the_last_visit_of_the_list(world):
    """What was new at its first reading is no news."""
    ears = Ears(world)
    old = replace(
        dated(world.date - 30 * 86_400.0), links=(replace(dated(START - 30 * 86_400.0).links[0], url=B),)
    )
    for before, heard in ((None, True), (world.record(A.text), False)):
        with world.frontier.changes() as batch:
            ears.signals.settled(visit(answered(fetched()).lease, fetched(), old), before, batch)
        waiting = list(ears.signals.lists._lists)
        assert [one.before > 0 for one in waiting] == [not heard]
        ears.hear()
