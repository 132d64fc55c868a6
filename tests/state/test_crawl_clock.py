"""The crawl clock: not moved by jumps of the wall clock, never going back."""

import time

import pytest

from gossamer.state import clock
from gossamer.state.clock import CrawlClock, WallClock
from gossamer.state.records import ClockRecord


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_jump_while_running_is_not_noticed(monkeypatch, jump):
    running = CrawlClock()
    before = running.now()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert abs(running.now() - before) < 60


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_jump_between_two_sessions_on_one_boot_is_not_noticed(monkeypatch, jump):
    first = CrawlClock()
    kept = first.record()
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + jump)
    assert abs(CrawlClock(kept).now() - kept.crawl) < 60


def test_after_a_reboot_the_wall_clock_counts_but_never_backwards():
    ahead = ClockRecord(time.time() + 5_000, "another boot", 1.0)
    assert CrawlClock(ahead).now() >= ahead.crawl
    behind = ClockRecord(time.time() - 5_000, "another boot", 1.0)
    assert abs(CrawlClock(behind).now() - time.time()) < 60


def test_without_a_boot_id_the_wall_clock_counts(monkeypatch):
    monkeypatch.setattr(clock, "boot_id", lambda: "")
    kept = ClockRecord(time.time() - 100, "", 0.0)
    assert abs(CrawlClock(kept).now() - time.time()) < 60


def test_visits_again_go_by_the_crawl_clock_and_dates_of_servers_are_brought_to_it(monkeypatch):
    now = 1_800_000_000.0
    mine = WallClock(ticks=lambda: now)
    monkeypatch.setattr(time, "time", lambda: now - 86_400)  # the wall clock was put back by a day
    assert mine.now() == now
    assert mine.of_date(now - 86_400 - 60) == now - 60
    assert mine.date_of(now - 60) == now - 86_400 - 60
    fast = WallClock(10.0, now - 5, lambda: now)
    assert (fast.now(), fast.of_date(7.0)) == (now + 45, 7.0)
