"""What a watch sees of the visits in an archive, and what it tells of them."""

import contextlib

import pytest
from watched_archive import SITE, page, watch

from gossamer.model.errors import ConfigError
from gossamer.watch.following import Following, begin, settings_of
from gossamer.watch.seen import Reader, look
from gossamer.watch.shown import last_notices, watch_views
from gossamer.watch.store import FOLDER


@contextlib.contextmanager
def following(archive):
    follower = Following(archive.path, archive.clock, lambda *_: None)
    try:
        yield follower
    finally:
        follower.close()


def followed(archive):
    with following(archive) as follower:
        follower.catch_up()
    return told(archive)


def told(archive):
    """Kind and page of each notice, the first first."""
    return [
        (one.notice.kind, one.notice.url.rpartition("/")[2]) for one in reversed(last_notices(archive.path))
    ]


def signs(archive, number=0):
    notice = last_notices(archive.path)[number].notice
    return [f"{line.sign}{line.text}" for place in notice.places for line in place.lines]


def warmed(archive, *names, lines=("One", "Two", "Three")):
    """Pages seen often enough that their site is known to be quiet."""
    followed(archive)
    for _ in range(5):
        for name in names:
            archive.visit(name, page(*lines))
    return followed(archive)


def test_a_change_is_told_once_with_what_stands_around_it(archive):
    assert warmed(archive, "a") == []
    archive.visit("a", page("One", "Two and a half", "Three"))
    assert followed(archive) == [("changed", "a")]
    assert signs(archive) == [" A page", " One", "-Two", "+Two and a half", " Three"]
    archive.visit("a", page("One", "Two and a half", "Three"))
    assert followed(archive) == [("changed", "a")]
    (view,) = watch_views(archive.path, settings_of(archive.path))
    assert (view.pages, view.notices, view.pending, view.seen) == (1, 1, 0, archive.now)
    assert view.changed == archive.now - 60


def test_a_page_that_cannot_be_read_this_time_has_not_become_empty(archive, monkeypatch):
    monkeypatch.setattr(Reader, "read", lambda reader, document: look(document))
    archive.set(watch=watch(select="p.price"))
    followed(archive)
    archive.visit("a", page("One", '<p class="price">120'))
    assert followed(archive) == []
    archive.visit("a", page("One", '<p class="price">120', "Two"))
    with monkeypatch.context() as busy:
        busy.setattr(Reader, "read", lambda reader, document: None)
        assert followed(archive) == []
    archive.visit("a", page("One", '<p class="price">80', "Two"))
    assert followed(archive) == [("changed", "a")]
    assert signs(archive) == ["-120", "+80"]


def test_a_file_that_nobody_can_read_is_compared_as_a_whole(archive, monkeypatch):
    monkeypatch.setattr(Reader, "read", lambda reader, document: None)
    warmed(archive, "a")
    archive.visit("a", page("Two"))
    assert followed(archive) == [("changed", "a")]


def test_a_watch_that_was_noted_by_a_clock_that_was_ahead_tells_at_once(archive):
    began = archive.now
    archive.now += 400 * 86_400
    followed(archive)
    archive.now = began
    assert warmed(archive, "a") == []
    archive.visit("a", page("One"))
    assert followed(archive) == [("changed", "a")]


def test_pages_that_nobody_watches_are_nobodys_business(archive):
    warmed(archive, "a", "b")
    archive.visit("b", page("Something else"))
    assert followed(archive) == []


def test_a_clock_is_no_change_and_does_not_hide_one(archive):
    followed(archive)
    for number in range(8):
        archive.visit(
            "a", page("One", f"Rendered at 12:00:{number:02d}", f"{number * 7 + 100} visitors", "Three")
        )
    assert followed(archive) == []
    for minute in (1, 2):
        archive.visit(
            "a", page("One", f"Rendered at 12:{minute:02d}:59", f"{minute * 999} visitors", "Three is over")
        )
    assert followed(archive) == [("changed", "a")]
    assert [line for line in signs(archive) if line[0] != " "] == ["-Three", "+Three is over"]


def test_a_change_of_a_site_that_is_not_known_yet_is_told_by_the_next_visits(archive):
    followed(archive)
    archive.visit("a", page("One", "Two"))
    archive.visit("a", page("One", "Two, truly"))
    assert followed(archive) == []
    archive.visit("a", page("One", "Two, truly"))
    archive.visit("a", page("One", "Two, truly"))
    assert followed(archive) == [("changed", "a")]


def test_an_answer_without_news_is_a_visit(archive):
    warmed(archive, "a")
    archive.visit("a", status=304, unmodified=True)
    assert followed(archive) == []
    (view,) = watch_views(archive.path, settings_of(archive.path))
    assert view.seen == archive.now


@pytest.mark.parametrize(
    ("words", "before", "after", "again"),
    [
        ("contains In Stock", "sold out", "now in  stock", "in stock!"),
        ("lacks sold out", "sold out", "one left", "two left"),
        ("number < 100", "EUR 120.00", "EUR 99.90", "EUR 80"),
        ("number >= 1000", "12", "1,000", "2,000"),
    ],
)
def test_a_condition_is_told_when_it_begins_to_hold(archive, words, before, after, again):
    archive.set(watch=watch(select=".x", when=[words]))
    followed(archive)
    for number, text in enumerate((before, before, after, again, before, after)):
        archive.visit("a", page("One", f"Clock {number}", f"<b class=x>{text}</b>"))
    assert followed(archive) == [("condition", "a")] * 2
    notice = last_notices(archive.path)[0].notice
    assert notice.condition == words
    assert f"-{before}" in signs(archive)


def test_what_holds_from_the_beginning_does_not_begin(archive):
    archive.set(watch=watch(when=["contains one"]))
    followed(archive)
    archive.visit("a", page("One"))
    archive.visit("a", page("One"))
    assert followed(archive) == []


def test_without_a_number_nothing_passes_a_bound(archive):
    archive.set(watch=watch(select=".x", when=["number > 10"]))
    followed(archive)
    for text in ("5", "", "nothing here", "20"):
        archive.visit("a", page(f"<b class=x>{text}</b>"))
    assert followed(archive) == [("condition", "a")]
    assert last_notices(archive.path)[0].notice.number == 20


def test_only_the_part_that_was_chosen_counts_all_of_it(archive):
    archive.set(watch=watch(select="xpath://p[@class='x']"))
    followed(archive)
    for other, text in enumerate(("1 visitor", "2 visitors", "3 visitors")):
        archive.visit("a", f"<p>{other} things</p><p class=x>{text}</p>")
    assert followed(archive) == [("changed", "a")] * 2


@pytest.mark.parametrize("select", ["", "main"])
def test_what_is_to_be_ignored_is_not_looked_at(archive, select):
    archive.set(watch=watch(select=select, ignore=[".related", "aside p"]))
    followed(archive)

    def shop(price, related):
        text = f"<p>Tea</p><p>{price}</p><div class=related>{related}</div><aside><p>{related}</p></aside>"
        return f"<title>Shop</title><main>{text}</main>"

    for related in ("Coffee", "Milk", "Milk", "Cocoa", "Cake"):
        archive.visit("a", shop("EUR 120", related))
    assert followed(archive) == []
    for _ in range(2):
        archive.visit("a", shop("EUR 80", "Bread"))
    assert followed(archive) == [("changed", "a")]
    tea = "Tea " if select else ""
    assert [line for line in signs(archive) if line[0] != " "] == [f"-{tea}EUR 120", f"+{tea}EUR 80"]


def test_a_page_that_goes_is_told_when_it_is_gone_twice_and_when_it_is_back(archive):
    warmed(archive, "a")
    archive.visit("a", "no", status=404)
    assert followed(archive) == []
    archive.visit("a", "no", status=410)
    archive.visit("a", "no", status=404)
    assert followed(archive) == [("gone", "a")]
    archive.visit("a", page("One", "Two", "Three"))
    assert followed(archive)[1:] == [("back", "a")]


def test_an_error_page_is_no_change(archive):
    warmed(archive, "a")
    archive.visit("a", "Overloaded", status=503)
    archive.visit("a", page("One", "Two", "Three"))
    assert followed(archive) == []


def test_a_watched_page_is_what_it_leads_to(archive):
    followed(archive)
    for _ in range(5):
        archive.visit("a", status=301, headers=[("Location", "/there")])
        archive.visit("there", page("One"))
    archive.visit("there", page("Two"))
    assert followed(archive) == [("changed", "a")]


def test_what_a_watched_page_led_to_once_is_another_page(archive):
    followed(archive)
    for _ in range(5):
        archive.visit("a", status=302, headers=[("Location", "/on")])
        archive.visit("on", status=302, headers=[("Location", "/one")])
        archive.visit("one", page("One"))
    archive.visit("a", status=302, headers=[("Location", "/two")])
    archive.visit("two", page("Two"))
    assert followed(archive) == [("changed", "a")]
    for _ in range(3):  # each comes again by itself
        archive.visit("one", page("One"))
        archive.visit("two", page("Two"))
    assert followed(archive) == [("changed", "a")]
    archive.visit("two", page("Three"))
    assert followed(archive) == [("changed", "a")] * 2


def test_a_watched_page_that_leads_nowhere_any_more_is_itself(archive):
    followed(archive)
    for _ in range(5):
        archive.visit("a", status=302, headers=[("Location", "/one")])
        archive.visit("one", page("One"))
    archive.visit("a", page("One"))
    archive.visit("one", page("Two"))
    assert followed(archive) == []


def test_a_chain_of_redirects_is_followed_in_any_order_of_visits(archive):
    followed(archive)
    for _ in range(5):
        archive.visit("a", status=302, headers=[("Location", "/on")])
        archive.visit("on", status=302, headers=[("Location", "/one")])
        archive.visit("one", page("One"))
    archive.visit("a", status=302, headers=[("Location", "/on")])
    archive.visit("one", page("Two"))
    assert followed(archive) == [("changed", "a")]


def test_new_pages_of_a_pattern_are_told_once_it_has_settled(archive):
    archive.set(watch=[{"name": "w", "match": "/news/*", "settle": 1_000}])
    followed(archive)
    archive.visit("news/1", page("One"))
    archive.visit("other", page("One"))
    assert followed(archive) == []
    archive.now += 1_000
    archive.visit("news/2", page("Two"))
    archive.visit("other/2", page("Two"))
    assert followed(archive) == [("new", "2")]


@pytest.mark.slow
def test_pages_that_come_to_answer_a_query(archive):
    archive.set(watch=[{"name": "w", "query": "polite crawler", "settle": 100}])
    followed(archive)
    archive.visit("a", page("About a polite crawler of the web, and what it does."))
    archive.visit("b", page("About something else altogether, as pages are."))
    archive.now += 100
    archive.visit("b", page("About something else altogether, and about a crawler that is polite."))
    archive.visit("c", page("Nothing of it here, no word of any of them."))
    archive.visit("d", page("How polite must a crawler be? This page tells."))
    assert followed(archive) == [("answers", "b"), ("answers", "d")]


def test_a_watch_that_is_added_later_knows_how_its_pages_were(archive):
    warmed(archive, "a", "b")
    archive.set(watch=[*watch(), {"name": "v", "urls": [f"{SITE}/b"]}])
    assert followed(archive) == []
    archive.visit("a", page("One"))
    archive.visit("b", page("Three"))
    assert followed(archive) == [("changed", "a"), ("changed", "b")]


def test_what_happened_before_it_was_watched_is_not_told(archive):
    archive.set()
    lines = ["One", "Two", "Three"]
    for more in ("", "", "", "", "Four", "Five"):
        lines += [more] if more else []
        archive.visit("a", page(*lines))
    archive.set(watch=watch())
    archive.now += 1
    assert followed(archive) == []
    archive.visit("a", page(*lines, "Six"))
    assert followed(archive) == [("changed", "a")]
    assert [line for line in signs(archive) if line[0] != " "] == ["+Six"]


def changed_meanwhile(archive):
    for lines in [("One", "Two")] * 5 + [("One", "Two", "Three")]:
        archive.visit("a", page(*lines))
    archive.now += 7_200


def test_what_happened_before_anybody_followed_is_told_however_late_he_comes(archive):
    begin(archive.path, archive.now)
    changed_meanwhile(archive)
    assert followed(archive) == [("changed", "a")]


def test_a_watch_made_while_nobody_follows_counts_from_when_it_was_made(archive):
    archive.set(watch=[{"name": "other", "urls": [f"{SITE}/other"]}])
    followed(archive)
    archive.visit("a", page("One", "Two"))
    archive.now += 7_200
    archive.set(watch=watch())
    changed_meanwhile(archive)
    assert followed(archive) == [("changed", "a")]
    assert [line for line in signs(archive) if line[0] != " "] == ["+Three"]


def test_what_is_kept_nowhere_counts_from_when_the_crawl_went_on(archive):
    changed_meanwhile(archive)
    with following(archive) as follower:
        follower.read_settings(archive.now)
    assert followed(archive) == []


def test_who_cannot_keep_what_is_watched_stops_no_crawl(archive):
    followed(archive)
    (archive.path / FOLDER / "state.sqlite").write_bytes(b"damaged" * 1_000)
    begin(archive.path, archive.now)


def test_a_paused_watch_sees_and_does_not_tell(archive):
    warmed(archive, "a")
    archive.set(watch=watch(paused=True))
    archive.visit("a", page("One"))
    assert followed(archive) == []
    archive.set(watch=watch())
    archive.visit("a", page("One", "Two"))
    assert followed(archive) == [("changed", "a")]
    assert signs(archive) == [" A page", " One", "+Two"]


def test_a_watch_that_is_no_more_is_forgotten(archive):
    warmed(archive, "a")
    archive.set()
    followed(archive)
    archive.set(watch=watch())
    (view,) = watch_views(archive.path, settings_of(archive.path))
    assert view.pages == 0


def test_a_folder_that_is_deleted_is_made_again_and_tells_nothing_twice(archive):
    warmed(archive, "a")
    archive.visit("a", page("One"))
    assert followed(archive) == [("changed", "a")]
    for path in (archive.path / FOLDER).iterdir():
        path.unlink()
    archive.now += 1
    assert followed(archive) == []


def test_files_without_text_are_watched_by_their_content(archive):
    followed(archive)
    for body in (b"\0\1", b"\0\1", b"\0\1", b"\0\1", b"\0\2"):
        archive.visit("a", body, kind="application/octet-stream")
    assert followed(archive) == [("changed", "a")]


def test_one_follows_at_a_time(archive):
    with following(archive), pytest.raises(ConfigError, match="another process"):
        Following(archive.path)


@pytest.mark.slow
def test_hostile_pages_take_no_time(archive):
    archive.set(watch=watch(select="div"))
    followed(archive)
    archive.visit("a", "<div>" * 100_000)
    archive.visit("a", "<p" * 500_000)
    archive.visit("a", "<div>fine</div>")
    followed(archive)
    (view,) = watch_views(archive.path, settings_of(archive.path))
    assert view.seen == archive.now
