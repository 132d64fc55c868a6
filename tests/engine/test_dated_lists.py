"""Sitemaps and feeds with dates: what is believed of them, and what they cost."""

import asyncio
import time
from collections.abc import Callable, Sequence

import pytest

from gossamer.engine.signals import dated_lists
from gossamer.engine.signals.dated_lists import (
    LOOKED_THROUGH,
    MOST_WAITING,
    REMINDED,
    TOLD_AT_ONCE,
    DatedLists,
)
from gossamer.engine.signals.sources import feed
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.revisit.trust import DatesVerdict, Reading, Signal, Source

NOW = 1_795_000_000.0
DAY = 86_400.0


class Ear:
    """Remembers what it is told; of pages `/known...` it knows."""

    def __init__(self) -> None:
        self.heard: list[tuple[bytes, float, int]] = []
        self.reminded = 0
        self.batches: list[int] = []
        self.verdicts: list[tuple[str, int, DatesVerdict]] = []
        self.looked_up = 0

    def told(self, signals: Sequence[Signal]) -> int:
        assert [one.page for one in signals] == sorted(one.page for one in signals)
        self.batches.append(len(signals))
        self.heard += [(one.page, one.changed, one.source) for one in signals if one.changed]
        self.reminded += sum(not one.changed for one in signals)
        return len(signals)

    def dates_read(self, page: Url, source: int, reading: Reading) -> None:
        self.verdicts.append((page.host, source, reading.verdict))

    def knows(self, page: bytes) -> bool:
        self.looked_up += 1
        return b"/known" in page


def of(text: str) -> Url:
    url = Url.parse(text)
    assert url is not None
    return url


def links(dates: Sequence[float], name: str = "known", kind: LinkKind = LinkKind.SITEMAP) -> list[Link]:
    return [
        Link(of(f"http://h.example.org/{name}{number}"), kind, "urlset", lastmod=date)
        for number, date in enumerate(dates)
    ]


def hear(found: Sequence[Link], before: float = NOW - DAY, address: str = "http://h.example.org/s") -> Ear:
    ear = Ear()
    lists = DatedLists(ear, lambda url: url.text.encode(), asyncio.Event())
    lists.take(Page(of(address), links=tuple(found)), NOW, before)
    for _ in lists.everything():
        pass
    return ear


def test_pages_whose_dates_are_late_are_told_of_in_order_and_few_at_a_time() -> None:
    dates = [NOW - 100 * DAY + number for number in range(900)] + [NOW - number for number in range(250)]
    ear = hear(links(dates))
    assert len(ear.heard) == 250
    assert {source for _, _, source in ear.heard} == {Source.SITEMAP}
    assert max(ear.batches) == TOLD_AT_ONCE
    assert 0.5 * 900 / REMINDED < ear.reminded < 2 * 900 / REMINDED  # that it speaks of the others
    assert ear.verdicts == [("h.example.org", Source.SITEMAP, DatesVerdict.PLAUSIBLE)]


@pytest.mark.parametrize(
    ("late", "old", "pauses"),
    [
        (250, 0, 1 + 2 + 3),  # its site; so many signals made; told
        (
            0,
            3_000,
            1 + 3 + 3 + 1,
        ),  # its site; looked through; once more for reminders, of which some are told
        (100, 900, 1 + 1 + 1 + 1 + 1),
    ],
)
def test_it_pauses_after_so_many_and_not_for_each(
    late: int, old: int, pauses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dated_lists, "REMINDED", 10_000_000)  # none
    dates = [NOW - number for number in range(late)] + [NOW - 100 * DAY - number for number in range(old)]
    lists = DatedLists(Ear(), lambda url: url.text.encode(), asyncio.Event())
    lists.take(Page(of("http://h.example.org/s"), links=tuple(links(dates, "new"))), NOW, NOW - DAY)
    assert abs(len(list(lists.everything())) - pauses) <= (late == 0)


@pytest.mark.parametrize(("entries", "looked_up"), [(2, [0]), (3, [0, 3]), (7, [0, 3, 6])])
def test_it_pauses_each_time_that_it_has_looked_through_so_many(
    entries: int, looked_up: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dated_lists, "LOOKED_THROUGH", 3)
    ear = Ear()
    lists = DatedLists(ear, lambda url: url.text.encode(), asyncio.Event())
    lists.take(Page(of("http://h.example.org/s"), links=tuple(links([NOW] * entries))), NOW, NOW - DAY)
    pauses = [ear.looked_up for _ in lists.everything()]
    assert pauses[: len(looked_up)] == looked_up  # of few entries each is looked up
    assert set(pauses[len(looked_up) :]) <= {entries}


def test_a_list_made_a_while_before_it_was_read_is_heard_all_the_same() -> None:
    ear = hear(links([NOW - 2 * DAY]), before=NOW - DAY)
    assert [date for _, date, _ in ear.heard] == [NOW - 2 * DAY]


def test_what_has_no_date_says_nothing() -> None:
    ear = hear(links([0.0, 0.0]))
    assert (ear.heard, ear.verdicts) == ([], [])


@pytest.mark.parametrize(
    ("date", "verdict"),
    [
        (lambda number: NOW - 2 * DAY, DatesVerdict.EQUAL),
        (lambda number: NOW + 3 * DAY + number, DatesVerdict.FUTURE),
        (lambda number: NOW - number, DatesVerdict.MOVING),
    ],
)
def test_lies_are_not_heard(date: Callable[[int], float], verdict: DatesVerdict) -> None:
    ear = hear(links([date(number) for number in range(1_000)]))
    assert ear.heard == []
    assert [said for _, _, said in ear.verdicts] == [verdict]


def test_new_pages_may_all_be_late() -> None:
    """A feed lists what is new: it does not move the dates of what is known."""
    found = links([NOW - number for number in range(100)], "new", LinkKind.NAVIGATION)
    ear = hear(found, address="http://h.example.org/feed")
    assert len(ear.heard) == 100
    assert {source for _, _, source in ear.heard} == {feed("http://h.example.org/feed")}


def test_the_first_reading_proves_no_dates_to_move() -> None:
    ear = hear(links([NOW - number for number in range(100)]), before=0.0)
    assert len(ear.heard) == 100


def test_some_that_lie_in_the_future_are_left_out_alone() -> None:
    ear = hear(links([NOW + 2 * DAY, *[NOW - number * DAY for number in range(99)]]))
    assert {date > NOW for _, date, _ in ear.heard} == {False}
    assert len(ear.heard) == 8  # of today, and of the week before the last reading
    ear = hear(links([NOW + 3_600.0]))
    assert [date for _, date, _ in ear.heard] == [NOW]  # a clock of another zone


def test_nobody_speaks_of_the_sites_of_others() -> None:
    found = [
        Link(of(address), LinkKind.SITEMAP, "urlset", lastmod=NOW)
        for address in ("http://h.example.org/a", "http://www.example.org/b", "http://other.org/c")
    ]
    ear = hear(found)
    assert {key for key, _, _ in ear.heard} == {b"http://h.example.org/a", b"http://www.example.org/b"}
    assert {host for host, _, _ in ear.verdicts} == {"h.example.org", "www.example.org"}


def test_half_a_million_entries_with_one_date_cost_little_and_are_bounded() -> None:
    """As ten sitemaps of an index: looked through in pieces, nothing looked up but a sample."""
    ear = Ear()
    lists = DatedLists(ear, lambda url: url.text.encode(), asyncio.Event())
    one = tuple(links([NOW - 2 * DAY] * 50_000))
    began = time.process_time()
    pieces = 0
    for number in range(10):
        lists.take(Page(of(f"http://h.example.org/{number}.xml"), links=one), NOW, NOW - DAY)
        for _ in lists.everything():
            pieces += 1
    assert time.process_time() - began < 60  # a second or two
    assert pieces >= 10 * 50_000 / LOOKED_THROUGH
    assert ear.heard == []
    assert ear.looked_up < 10 * 300
    assert lists.lies == {DatesVerdict.EQUAL: 10}


def test_lists_that_wait_are_bounded_and_what_is_left_out_is_counted() -> None:
    lists = DatedLists(Ear(), lambda url: url.text.encode(), asyncio.Event())
    one = tuple(links([NOW] * 50_000))
    for number in range(MOST_WAITING // 50_000 + 3):
        lists.take(Page(of(f"http://h.example.org/{number}.xml"), links=one), NOW, 0.0)
    assert lists.dropped == 3
    for _ in lists.everything():
        pass
    lists.take(Page(of("http://h.example.org/s.xml"), links=one), NOW, 0.0)
    assert lists.dropped == 3
