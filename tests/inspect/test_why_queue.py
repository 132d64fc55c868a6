"""What `why` says of a waiting URL: its priority, the parts of it, its place. The crawl runs meanwhile."""

from pathlib import Path

import pytest
from frontier_world import FrontierWorld
from test_frontier import VISITED
from test_standings import Adding

from gossamer.assembly.plugins import ordering
from gossamer.frontier import standings
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.inspect.why import level_words
from gossamer.inspect.why import place as why_queue
from gossamer.inspect.why import story as why
from gossamer.inspect.why.story import Story, Storyteller
from gossamer.model.disposition import Blame, Done, PageState, Retry
from gossamer.model.reasons.reason import text
from gossamer.policy.ordering.ordering import GRADE_SHIFT, LAST_LEVEL, BreadthFirst, DepthFirst
from gossamer.state.environment import Family
from gossamer.state.keys import ticket
from gossamer.state.records import COUNTERS, SECRET, PageRecord, encode

UNSEEN = "is still in its memory"


class Crawl:
    """A folder in which a frontier is at work, without a network."""

    def __init__(self, folder: Path, policy=BreadthFirst, *, order: str = "bfs", settings: str = "", **given):
        self.folder = folder
        folder.mkdir()
        (folder / "crawl.toml").write_text(
            f'seeds = ["http://a/"]\n[engine]\norder = "{order}"\n[frontier]\n{settings}\n'
        )
        self.world = FrontierWorld(folder / "state", ordering=policy, buffer=3, **given)
        with self.world.frontier.changes() as batch:
            batch.put(Family.META, SECRET, b"k" * 16)

    def admit(self, url: str, depth: int = 0, **fields) -> None:
        assert self.world.admit(url, depth, **fields)

    def give(self, url: str, gift: int) -> None:
        self.world.frontier.ordering.way += gift
        assert not self.world.admit(url, gift=gift)

    def why(self, url: str) -> Story:
        with inspect(self.folder) as inspection:
            return Storyteller(inspection).tell(url)


def texts(story: Story, about: str) -> list[str]:
    return [fact.text for fact in story.facts if fact.about == about]


@pytest.fixture
def begin(tmp_path, monkeypatch):
    found = lambda name, config: Adding() if name == "adding" else ordering(name, config)  # noqa: E731
    monkeypatch.setattr(level_words, "ordering", found)
    crawls = []

    def begin(*given, **named) -> Crawl:
        crawls.append(Crawl(tmp_path / "c", *given, **named))
        return crawls[-1]

    yield begin
    for crawl in crawls:
        crawl.world.close()


# The place …


def test_breadth_first_tells_depth_and_place(begin):
    crawl = begin()
    crawl.admit("http://a/deep", 3, via="http://a/", hops="LLL")
    for number in range(4):
        crawl.admit(f"http://a/{number}", 1)
    story = crawl.why("http://a/deep")
    assert story.state == "queued"
    assert texts(story, "queue") == [
        "waits in its host's queue, 4 before it",
        "the first of its host's queue is http://a/0",
    ]
    assert texts(story, "priority") == [
        "depth 3, level 4 under the order bfs (the smaller level first); arrival 1 decides among equals"
    ]
    priority = story.priority
    assert (priority.level, priority.grade, priority.ahead, priority.more_ahead) == (4, 0, 4, False)
    assert (priority.first, priority.parts, priority.notes) == ("http://a/0", {}, [])
    assert texts(crawl.why("http://a/0"), "queue") == ["waits in its host's queue, the first of it"]


def test_depth_first_tells_depth(begin):
    crawl = begin(DepthFirst, order="dfs")
    crawl.admit("http://a/deep", 3)
    assert texts(crawl.why("http://a/deep"), "priority")[0].startswith("depth 3, level 65,532 under")


def test_counting_ends_somewhere(begin, monkeypatch):
    monkeypatch.setattr(why_queue, "COUNTED", 3)
    monkeypatch.setattr(why, "COUNTED", 3)
    crawl = begin()
    for number in range(6):
        crawl.admit(f"http://a/{number}")
    assert texts(crawl.why("http://a/3"), "queue")[0] == "waits in its host's queue, 3 before it"
    story = crawl.why("http://a/5")
    assert texts(story, "queue")[0] == "waits in its host's queue, more than 3 before it"
    assert (story.priority.ahead, story.priority.more_ahead) == (3, True)


def test_what_waits_for_a_time_of_its_own_keeps_its_priority(begin):
    crawl = begin()
    crawl.admit("http://a/0", 2)
    lease = crawl.world.frontier.lend()
    crawl.world.settle(lease, Retry(3.0, Blame.URL, text("not now")), VISITED)
    story = crawl.why("http://a/0")
    assert story.state == "waiting"
    assert "not now" in texts(story, "queue")[0]
    assert (story.priority.level, story.priority.ahead) == (3, None)


def test_a_grade_is_told_in_words(begin):
    class Graded(BreadthFirst):
        def level(self, candidate):
            return 1 << GRADE_SHIFT | super().level(candidate)

    crawl = begin(Graded)
    crawl.admit("http://a/0", 2)
    story = crawl.why("http://a/0")
    first, behind = texts(story, "priority")
    assert first.startswith("depth 2, level 3 ")
    assert behind == ("behind what is ordinary: beyond its domain's budget (round 1 of 15)")
    assert (story.priority.level, story.priority.grade) == (3, 1)


def test_a_url_at_another_place_than_the_tables_say_is_found_by_its_name(begin):
    crawl = begin()
    crawl.admit("http://a/0")
    host = crawl.world.fingerprint("http://a/0")[:8]
    [(key, entry)] = crawl.world.environment.scan(Family.QUEUE)
    with crawl.world.frontier.changes() as batch:
        batch.delete(Family.QUEUE, key)
        batch.put(Family.QUEUE, host + ticket(77, 1), entry)
    assert crawl.why("http://a/0").priority.level == 77


def test_with_a_bloom_table_it_is_found_by_its_name(begin):
    settings = 'visited = "bloom"\nbloom_urls = 1000\n'
    crawl = begin(settings=settings, visited="bloom", bloom_urls=1000)
    crawl.admit("http://a/0")
    crawl.admit("http://a/1")
    story = crawl.why("http://a/1")
    assert (story.state, story.priority.ahead, story.priority.level) == ("queued", 1, 1)
    assert crawl.why("http://a/2").state == "unknown"


# Worth …


def test_an_order_by_links_tells_worth_and_the_place_of_now(begin):
    crawl = begin(Adding, order="adding")
    for number in range(5):
        crawl.admit(f"http://a/{number}")
    crawl.give("http://a/4", 7)
    story = crawl.why("http://a/4")  # the gift is in memory
    assert (story.priority.parts, story.priority.ahead) == ({"coins": "100"}, 4)
    crawl.world.micros += standings.DRAIN_EVERY
    assert crawl.world.frontier.lend().candidate.url.text == "http://a/4"
    story = crawl.why("http://a/4")
    assert (story.priority.parts, story.priority.ahead) == ({"coins": "107"}, 0)
    level, coins, unseen = texts(story, "priority")
    assert level.startswith("level 893 under the order adding (the smaller level first); arrival 5 ")
    assert coins == "coins: 107"
    assert UNSEEN in unseen
    assert texts(crawl.why("http://a/0"), "queue")[1] == "the first of its host's queue is http://a/4"


@pytest.mark.parametrize("visited", ["exact", "bloom"])
def test_the_standing_knows_the_place_whatever_the_table(begin, monkeypatch, visited):
    monkeypatch.setattr(why_queue, "SCANNED", 0)  # so nothing is found by its name
    settings = f'visited = "{visited}"\nbloom_urls = 1000\n'
    crawl = begin(Adding, order="adding", settings=settings, visited=visited, bloom_urls=1000)
    crawl.admit("http://a/0")
    crawl.admit("http://a/1")
    crawl.give("http://a/1", 7)
    crawl.world.micros += standings.DRAIN_EVERY
    crawl.world.frontier.lend()
    assert crawl.why("http://a/1").priority.level == 893


def test_a_worth_that_fell_is_told_beside_the_place(begin):
    crawl = begin(Adding, order="adding")
    crawl.admit("http://a/0", gift=50)
    page = crawl.world.fingerprint("http://a/0")
    with crawl.world.frontier.changes() as batch:
        [(_, data)] = crawl.world.environment.scan(Family.STANDINGS)
        batch.put(Family.STANDINGS, page, data[:10] + encode(Adding().admitted(None, 20)))
    story = crawl.why("http://a/0")
    assert story.priority.level == 950
    assert any("would enter at level 980; it only moves" in text for text in texts(story, "priority"))


def test_a_page_that_is_fetched_still_tells_its_worth(begin):
    crawl = begin(Adding, order="adding")
    crawl.admit("http://a/0")
    lease = crawl.world.frontier.lend()
    with crawl.world.frontier.changes() as batch:
        crawl.world.frontier.settle(lease, Done(), VISITED)
        record = PageRecord("http://a/0", "done", number=1)
        batch.put(Family.PAGES, crawl.world.fingerprint("http://a/0"), encode(record))
    story = crawl.why("http://a/0")
    assert (story.state, story.priority) == ("done", None)
    assert texts(story, "worth") == ["coins: 100"]


def test_what_was_queued_under_another_order_says_so(begin):
    crawl = begin(BreadthFirst, order="adding")
    crawl.admit("http://a/0", 1)
    story = crawl.why("http://a/0")
    assert story.priority.parts == {}
    assert texts(story, "priority")[1] == (
        "the order adding knows nothing of its worth: it was queued under another order"
    )


def test_an_order_that_fails_or_is_gone_spoils_nothing_else(begin, monkeypatch):
    class Mute(Adding):
        def explain(self, candidate, worth):
            raise RuntimeError("no words")

    crawl = begin(Adding, order="adding")
    crawl.admit("http://a/0")
    monkeypatch.setattr(level_words, "ordering", lambda *_: Mute())
    story = crawl.why("http://a/0")
    assert (story.state, story.priority.level, story.priority.parts) == ("queued", 900, {})
    assert story.priority.notes[0] == "the order adding cannot explain itself: RuntimeError('no words')"
    monkeypatch.setattr(level_words, "ordering", ordering)
    story = crawl.why("http://a/0")
    assert story.priority.notes == ["the order adding is not installed here, so its parts are not known"]
    assert LAST_LEVEL > story.priority.level == 900


# Visited again …


def test_what_was_asked_for_again_is_named_so_in_why_and_in_the_sizes(begin):
    crawl = begin()
    for number in range(2):
        crawl.admit(f"http://a/{number}")
    crawl.world.settle(crawl.world.frontier.lend(), Done(), VISITED)
    page = crawl.world.fingerprint("http://a/0")
    record = PageRecord("http://a/0", PageState.DONE)
    with crawl.world.frontier.changes() as batch:
        batch.put(Family.PAGES, page, encode(record))
    assert crawl.world.frontier.refetch([page]).queued == 1
    with crawl.world.frontier.changes() as batch:
        crawl.world.save_counters(batch)
        batch.put(Family.META, COUNTERS, encode(crawl.world.counters))
    story = crawl.why("http://a/0")
    assert texts(story, "priority") == [
        "pages that come again, level 0 under the order bfs (the smaller level first); arrival 3 decides among equals"
    ]
    assert story.priority.arrival == 3
    with inspect(crawl.folder) as inspection:
        levels = status_of(inspection, queues=True).levels.levels
    assert [(line.name, line.urls) for line in levels] == [("pages that come again", 1), ("depth 0", 1)]
