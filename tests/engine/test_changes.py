"""Whether another payload says something else: what is compared, what is read back, what is learned of the site."""

import asyncio
import os

import pytest
from engine_world import SITE, fetched, link, page, parsed, visit
from msgspec.structs import replace

from gossamer.engine.page_text import page_pieces
from gossamer.engine.settlement import changed as changed_module
from gossamer.engine.settlement.changed import Changes
from gossamer.engine.visiting.visit import Compared
from gossamer.fetch.config import FetchConfig
from gossamer.model.exchange import Headers
from gossamer.model.outcome import Failed, Fault
from gossamer.policy.change.volatile import Volatile
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import UNREAD, unpack

URL = f"{SITE}/x"
FIRST = b"<title>A page</title><script>1</script><p>It says this."
MARKUP = b"<title>A page</title><script>2</script><p>It says this."
NEWS = b"<title>A page</title><script>1</script><p>Something else stands here."
HTML = {"content_type": "text/html"}


class Compare:
    """A page in the archive as it was, and how visits after that compare with it."""

    def __init__(self, world, content=FIRST, **fields):
        self.world = world
        world.settle(visit(world.lease(URL), fetched(URL, body=content, **(fields or HTML))))
        self.changes = Changes(world.path / "archive", world.frontier, world.memory, FetchConfig())
        self.fingerprint = world.identity.fingerprint(parsed(URL))
        self.known = world.record(URL)
        self.lease = world.lease(URL, again=True)

    def look(self, outcome, read=None):
        return asyncio.run(
            self.changes.look(visit(self.lease, outcome, read), lambda _: self.fingerprint)
        ).compared

    def __call__(self, content, **fields):
        return self.look(fetched(URL, body=content, **(fields or HTML)))

    def put(self, text=None, **fields):
        """What is known of the page now, and of its text."""
        record = replace(self.known, **fields)
        if text is not None:
            record = replace(record, history=replace(unpack(record.history), text=text).pack())
        with self.world.frontier.changes() as batch:
            self.world.memory.put(self.fingerprint, record, batch)


@pytest.fixture
def compare_of(world_of):
    return lambda *args, **fields: Compare(
        world_of(revisit=RevisitConfig(enabled=True, visits=100)), *args, **fields
    )


def test_markup_is_no_change_and_another_text_is_one(compare_of):
    compare = compare_of()
    same = compare(MARKUP)
    assert (same.changed, same.volatile) == (False, Volatile().pack())
    other = compare(NEWS)
    assert other.changed
    assert other.text != same.text
    compare.put(same.text)
    assert compare(MARKUP) == Compared(False, same.text), "by its fingerprint, and nothing is read back"


def test_what_is_not_compared(compare_of):
    compare = compare_of()
    assert compare(FIRST) is None, "the same payload"
    assert compare.look(Failed(Fault.TIMEOUT)) is None
    assert compare(NEWS, status=404) is None
    assert compare(NEWS, status=301, location="/") is None
    assert compare(b"") is None
    listed = page(URL, replace(link(f"{SITE}/a"), lastmod=1.0))
    assert compare.look(fetched(URL, body=NEWS, **HTML), listed) is None
    assert compare.look(fetched(URL, body=NEWS, **HTML), page(URL, link(f"{SITE}/a"))).changed
    compare.put(history=b"")
    assert compare(NEWS) is None, "it does not come again"


def test_where_no_text_can_be_had_another_payload_is_a_change(compare_of, monkeypatch):
    compare = compare_of()
    assert compare(b"\x89PNG\r\n\x1a\n" + bytes(9), content_type="image/png") == Compared(True, UNREAD)
    assert compare(MARKUP, content_encoding="br") == Compared(True, UNREAD)
    monkeypatch.setattr(changed_module, "LONGEST", len(MARKUP))
    assert compare(MARKUP).changed is False
    monkeypatch.setattr(changed_module, "LONGEST", len(MARKUP) - 1)
    assert compare(MARKUP) == Compared(True, UNREAD)


def test_where_the_last_capture_cannot_be_had_another_text_is_a_change(compare_of, monkeypatch):
    compare = compare_of()
    for place in (
        None,
        replace(compare.known.place, file="gone.warc.gz"),
        replace(compare.known.place, offset=1),
    ):
        compare.put(place=place)
        found = compare(MARKUP)
        assert (found.changed, found.volatile) == (True, None)
        assert found.text != UNREAD
    compare.put()
    assert compare(MARKUP).changed is False
    longer = compare_of(FIRST + b"<!--" + b"x" * 100 + b"-->")
    monkeypatch.setattr(changed_module, "LONGEST", len(MARKUP) + 50)
    assert longer(MARKUP).changed is True, "it is too long to be read back"


def test_a_reference_is_no_text(compare_of):
    compare = compare_of()
    world = compare.world
    # The same payload under another address is archived as a reference to the first.
    world.settle(visit(world.lease(f"{SITE}/y"), fetched(f"{SITE}/y", body=FIRST, **HTML)))
    compare.put(place=world.record(f"{SITE}/y").place)
    assert compare(MARKUP).changed is True


def test_a_site_is_learned_from_and_then_only_now_and_then(compare_of):
    compare = compare_of()
    text = compare(MARKUP).text
    compare.put(text)
    read_back = []
    for number in range(40):
        found = compare(FIRST + b"<p>And there is news of day %d." % number)
        assert found.changed
        read_back.append(found.volatile is not None)
    assert read_back[:2] == [True, True], "three of the first"
    assert 1 <= sum(read_back[2:]) <= 3, "a tenth"


@pytest.mark.parametrize("status", [200, 304])
def test_a_reading_is_no_counter_where_the_server_said_between_that_nothing_had_changed(compare_of, status):
    before = FIRST + b"<p>The river stands at 999 centimetres."
    compare = compare_of(before)
    compare.put(compare(before + b"<script>2</script>").text)
    compare.put(visits=(*compare.known.visits, replace(compare.known.visits[-1], status=status)))
    seen = [
        compare(FIRST + b"<p>The river stands at %d centimetres." % (level * 37 % 91)).changed
        for level in range(10)
    ]
    assert all(seen) is (status == 304)


def test_while_something_else_is_ignored_on_the_site_the_last_capture_decides(compare_of):
    compare = compare_of()
    compare.put(compare(MARKUP).text)
    for number in range(5):
        compare(b"<title>A page</title><p>It says %d other words." % number)
    compare.put(compare(MARKUP).text[:3] + b"\x07")
    assert compare(b"<title>A page</title><p>It says more.").volatile is not None


def test_what_is_known_of_a_host_is_had_from_its_record(compare_of, monkeypatch):
    known = Volatile()
    for word in ("one", "two", "three"):
        known.learn(["top", "saying of the day", "end"], ["top", f"{word} is said here", "end"])
    assert known
    compare = compare_of(b"<p>top<p>saying of the day<p>end")
    world = compare.world
    with world.frontier.changes():
        world.frontier.hosts.change(*world.frontier.host_key(parsed(URL))).volatile = known.pack()
    compare.put(bytes((0, 0, 0, known.generation)))
    found = compare(b"<p>top<p>quite another one<p>end")
    assert found.volatile is None, "it was learned from before"
    compare.put(found.text)
    assert compare(b"<p>top<p>it says so<p>end") == Compared(False, found.text)
    monkeypatch.setattr(changed_module, "SITES", 1)
    for url in (f"http://other.example/{number}" for number in range(2)):
        world.settle(visit(world.lease(url), fetched(url, body=FIRST, **HTML)))
        other = visit(world.lease(url, again=True), fetched(url, body=MARKUP, **HTML))
        asyncio.run(compare.changes.look(other, world.identity.fingerprint))
    # What another agent has learned meanwhile holds when the host comes into memory again.
    with world.frontier.changes():
        world.frontier.hosts.change(*world.frontier.host_key(parsed(URL))).volatile = b""
    assert compare(b"<p>top<p>it says so<p>end").text != found.text


# The text of documents …

TEXT = os.linesep.join(["first line", "second line"]).encode()


@pytest.mark.parametrize(
    ("content", "declared", "pieces"),
    [
        (b"", "text/html", []),
        (b"<p>one<p>two", "text/html", ["one", "two"]),
        (b"<?xml version='1.0'?><a><item>one</item><item>two</item></a>", "application/xml", ["one", "two"]),
        (
            b"<?xml version='1.0'?><a><item>one</item><item>two</item></a>",
            "application/atom+xml",
            ["one", "two"],
        ),
        (TEXT, "text/plain", ["first line", "second line"]),
        (TEXT, "application/javascript", ["first line", "second line"]),
        (b'{"a":"x","b":"y"}', "application/json", ['{"a":"x",', '"b":"y" }']),
        (b'{"a":"x","b":"y"}', "application/ld+json", ['{"a":"x",', '"b":"y" }']),
        (b"\x89PNG\r\n\x1a\n", "image/png", None),
        (bytes(range(256)), "application/octet-stream", None),
    ],
)
def test_the_text_of_a_document(content, declared, pieces):
    found = page_pieces(content, Headers([("Content-Type", declared)]), "site.example")
    if found is None or "json" not in declared:
        assert found == pieces
    else:
        assert [piece.strip("{} ") for piece in found] == [piece.strip("{} ") for piece in pieces]
