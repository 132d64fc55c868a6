"""What is read on the event loop, what in a thread, what with pauses; and what a page says, for branches."""

import asyncio
import gzip
import random
import threading

import pytest
from engine_world import SITE, exchange, link, page

from gossamer.engine.config import EngineConfig
from gossamer.engine.in_thread import in_thread
from gossamer.engine.observe import Observers
from gossamer.engine.plugin_watch import PluginWatch
from gossamer.engine.visiting import reading as reading_module
from gossamer.engine.visiting.reading import (
    LONG_CODED,
    LONG_ROBOTS,
    MANY_LINKS,
    MOST_LINKS,
    SHORT,
    Reading,
    _most_links,
    _said,
    has_many_links,
    robots_text,
)
from gossamer.extract.config import ExtractConfig
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.config import FetchConfig
from gossamer.model.events import ProblemFound
from gossamer.model.exchange import Truncation
from gossamer.model.link import Link, LinkKind
from gossamer.model.raised import Raised
from gossamer.policy.robots.access import RobotsConfig
from gossamer.state.records import Counters

HTML = {"content_type": "text/html"}


class Watched(Reading):
    """Tells in which thread each body was read, and whether with pauses."""

    def __init__(self, **told):
        config = ExtractConfig(**told)
        reader = Reader(config, "gossamer", builtin_extractors(config))
        super().__init__(reader, FetchConfig(), config, RobotsConfig(), "gossamer")
        self.reads = []

    def _read(self, exchange, decoded, **told):
        self.reads.append(
            (threading.current_thread() is threading.main_thread(), reading_module.PAUSE.get() is not None)
        )
        return super()._read(exchange, decoded, **told)


def where(content, *, body=None, **fields):
    reading = Watched(offload_above=1 << 20)
    made = exchange(body=content if body is None else body, **{**HTML, **fields})
    read, _ = asyncio.run(reading.page(made))
    assert read is not None
    (found,) = reading.reads
    return found


LOOP, THREAD, PAUSES = (True, False), (False, False), (False, True)
LINKS = b"<a href=/%d>"


def of_links(number, size=0):
    content = b"".join(b"<a href=/%d>\n" % each for each in range(number))
    return content.ljust(size, b" ")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"<p>short", LOOP),
        (of_links(1_000, SHORT), LOOP),
        (of_links(1_900, SHORT + 1), LOOP),
        (of_links(MOST_LINKS + 1, SHORT + 1), PAUSES),
        (b"<p>" + b"=" * (MOST_LINKS + 1) + b" " * SHORT, THREAD),
        (b"x" * (1 << 20), LOOP),
        (b"x" * ((1 << 20) + 1), THREAD),
        (of_links(MANY_LINKS + 1, (1 << 20) + 1), PAUSES),
        (b"\x1f\x8b" + bytes(100), LOOP),
        (b"\x1f\x8b" + bytes(LONG_CODED), THREAD),
    ],
    ids=range(10),
)
def test_where_a_body_is_read(content, place):
    assert where(content) == place


@pytest.mark.parametrize(("times", "place"), [(2, LOOP), (70, THREAD)])
def test_what_is_coded_is_judged_by_what_it_holds(times, place):
    content = random.Random(1).randbytes(8_000).hex().encode() * times
    coded = gzip.compress(content)
    assert len(coded) < LONG_CODED and (len(content) > 1 << 20) is (times == 70)
    assert where(content, body=coded, content_encoding="gzip") == place


def test_a_long_body_in_a_coding_is_read_in_a_thread():
    content = random.Random(1).randbytes(LONG_CODED + 100)
    assert where(content, body=gzip.compress(content), content_encoding="gzip") == THREAD
    assert where(content) == LOOP


def test_as_few_long_pages_at_once_as_leaves_threads_for_others():
    reading = Watched(offload_above=10)
    assert reading._long_pages._value == reading_module.LONG_PAGES == 3
    content = of_links(MANY_LINKS + 1)

    async def work():
        await asyncio.gather(*(reading.page(exchange(body=content, **HTML)) for _ in range(5)))

    asyncio.run(work())
    assert reading.reads == [PAUSES] * 5 and reading._long_pages._value == 3


@pytest.mark.parametrize(
    ("content", "many"),
    [
        (of_links(MANY_LINKS), False),
        (of_links(MANY_LINKS + 1), True),
        (b"<img src=x>" * (MANY_LINKS + 1), True),
        (b"<LOC" * (MANY_LINKS + 1), False),
        (b"<loc" * (MANY_LINKS + 1), True),
        (b"<link>" * (MANY_LINKS + 1), True),
    ],
)
def test_pages_with_many_links(content, many):
    assert has_many_links(content) is many


@pytest.mark.parametrize(
    ("content", "kind", "most"),
    [
        (b"=(@,&", "text/html", 5),
        (b"<l<l\n", "text/html", 0),
        (b"<l<l\n", "application/xml", 2),
        (b"a\nb\n", "text/plain", 2),
        (b"x" * 1_000 + b"<\n", "text/plain", 1),
        (b"x" * 999 + b"<\n", "text/plain", 0),
        (b"&" * 6_001, "text/html", 0),
        (b"&" * 6_000, "text/html", 6_000),
        (b"&" * 6_000 + b"=", "text/html", 1),
        (b"srcdoc" + b"&" * 6_001, "text/html", 6_001),
        (b"SRCDOC" + b"&" * 6_001, "text/html", 6_001),
    ],
)
def test_signs_of_links(content, kind, most):
    assert _most_links(content, kind) == most


@pytest.mark.parametrize(
    ("status", "body", "fields", "read"),
    [
        (200, b"x", {}, True),
        (299, b"x", {}, True),
        (300, b"x", {}, False),
        (199, b"x", {}, False),
        (200, b"", {}, False),
        (200, b"", {"link": "</x>; rel=next"}, True),
        (404, b"x", {}, False),
    ],
)
def test_what_is_read_at_all(status, body, fields, read):
    found, said = asyncio.run(Watched().page(exchange(status=status, body=body, **HTML, **fields)))
    assert (found is not None) is read
    assert said is None or not body


@pytest.mark.parametrize(("longest", "said"), [(0, False), (9, False), (10, True), (11, True)])
def test_what_a_page_says_is_known_if_it_is_wanted(longest, said):
    _, found = asyncio.run(Watched().page(exchange(body=b"<p>a b c d", **HTML), longest_text=longest))
    assert (found is not None) is said


def test_what_does_not_decode_is_a_page_without_anything():
    found, said = asyncio.run(
        Watched().page(exchange(body=b"no zstd", content_encoding="zstd", **HTML), longest_text=99)
    )
    assert (len(found.problems), found.links, said) == (1, (), None)


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("text/html", True), ("text/calendar", True), ("application/json", True),
        ("application/ld+json", True), ("application/xhtml+xml", True), ("application/jsonx", False),
        ("image/svg+xml", False),
        ("image/png", False),
        ("application/zip", False), ("", False),
    ],
)  # fmt: skip
def test_of_what_is_no_text_every_byte_counts(media_type, text):
    found = _said(page(media_type=media_type), b"Some words of a page, more than a few")
    assert (found.size, bool(found.pieces)) == ((0, True) if text else (37, False))


def test_pictures_count_by_their_names():
    shown = [Link(link(f"/p/{number}.png").url, LinkKind.REQUISITE, "img@src") for number in range(70)]
    others = [
        Link(link("/style.css").url, LinkKind.REQUISITE, "link@href"),
        Link(link("/a.png").url, LinkKind.NAVIGATION, "img@src"),
    ]
    assert len(_said(page(f"{SITE}/", *others, *shown), b"x").shown) == 64
    assert len(_said(page(f"{SITE}/", *shown[:3]), b"x").shown) == 3


# Robots files …


@pytest.mark.parametrize(
    ("content", "coding", "truncated", "text"),
    [
        (b"User-agent: *", "", None, b"User-agent: *"),
        (b"User-agent: *", "gzip", None, b"User-agent: *"),
        (b"\x00\x01", "br", None, None),
        (gzip.compress(b"User-agent: *", mtime=0), "gzip", None, b"User-agent: *"),
        (gzip.compress(b"User-agent: *" * 900, mtime=0)[:-12], "gzip", None, None),
        (
            gzip.compress(b"User-agent: *" * 900, mtime=0)[:-12],
            "gzip",
            Truncation.LENGTH,
            "as far as it came",
        ),
    ],
)
def test_the_text_of_a_robots_file(content, coding, truncated, text):
    made = exchange(body=content, truncated=truncated, **({"content_encoding": coding} if coding else {}))
    found = robots_text(made, FetchConfig(), 512_000)
    if isinstance(text, str):
        assert found and found.startswith(b"User-agent")
    else:
        assert found == text


def test_as_much_of_a_robots_file_as_is_asked_for():
    assert len(robots_text(exchange(body=b"x" * 99), FetchConfig(), 50)) == 51


@pytest.mark.parametrize(("size", "in_loop"), [(LONG_ROBOTS, True), (LONG_ROBOTS + 1, False)])
def test_long_robots_files_are_read_in_a_thread(size, in_loop, monkeypatch):
    threads = []

    class Robots(Watched):
        def _rules(self, content):
            threads.append(threading.current_thread() is threading.main_thread())
            return super()._rules(content)

    text = b"User-agent: *\nDisallow: /x\n".ljust(size, b"#")
    found = asyncio.run(Robots().robots(exchange(body=text)))
    assert not found.allows("/x")[0] and threads == [in_loop]


# Small parts …


def test_who_is_cancelled_waits_for_its_thread():
    began, go, done = threading.Event(), threading.Event(), []

    def work():
        began.set()
        go.wait()
        done.append(1)
        raise ValueError("nobody is left to hear of it")

    async def run():
        task = asyncio.ensure_future(in_thread(work))
        await asyncio.to_thread(began.wait)
        task.cancel()
        await asyncio.sleep(0)
        assert not task.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert done == [1]
        assert await in_thread(lambda left, right: left - right, 5, right=3) == 2

    asyncio.run(run())


def test_an_observer_that_raises_is_removed_and_told_of():
    heard, rest = [], []

    def broken(event):
        heard.append(event)
        raise RuntimeError("broken")

    observers = Observers([broken])
    observers.add(rest.append)
    observers.tell("one")
    observers.tell("two")
    assert heard == ["one"]
    assert [event for event in rest if isinstance(event, str)] == ["one", "two"]
    (problem,) = [event for event in rest if isinstance(event, ProblemFound)]
    assert problem.plugin


def test_failures_are_counted_and_the_first_of_each_is_told():
    counters, heard = Counters(), []
    watch = PluginWatch(counters, Observers([heard.append]))
    for who in ("a", "a", "b"):
        watch.hear(Raised(who, "x"))
    assert counters.raised == {"a": 2, "b": 1}
    assert [(event.where, event.plugin) for event in heard] == [("a", True), ("b", True)]


def test_defaults_that_the_documentation_states():
    config = EngineConfig()
    assert (config.workers, config.order, config.queue_key, config.give_up_after, config.limit_grace) == (
        32, "bfs", "host", 90.0, 10.0,
    )  # fmt: skip
    assert (config.sitemaps, config.guess_sitemap, config.record_rejected) == (True, True, True)
    assert (config.skip_duplicates, config.skip_canonical, config.every_attempt) == (False, False, False)
    assert (config.checkpoint_every, config.keep_checkpoints, config.min_free_disk) == (600.0, 2, 128 << 20)
