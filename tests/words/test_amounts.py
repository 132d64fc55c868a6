"""Numbers, sizes, times and shares as people read them, in each language."""

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from gossamer.words.amounts import LANGUAGES, NOTHING, clock, machine_time, moment, percent
from gossamer.words.catalogue import Words, words


@pytest.mark.parametrize(
    ("said", "english", "chinese"),
    [
        (lambda words: words.number(1234567), "1,234,567", "1,234,567"),
        (lambda words: words.number(1.25), "1.25", "1.25"),
        (lambda words: words.short(123456), "123k", "12.3万"),
        (lambda words: words.size(0), "0 B", "0 B"),
        (lambda words: words.size(1023.99), "1.0 KiB", "1.0 KiB"),
        (lambda words: words.size(3.4 * 2**30), "3.4 GiB", "3.4 GiB"),
        (lambda words: words.duration(0.0123), "12.3 ms", "12.3 毫秒"),
        (lambda words: words.duration(59.9), "1 min 00 s", "1 分 00 秒"),
        (lambda words: words.duration(7500), "2 h 05 min", "2 小时 05 分"),
        (lambda words: words.duration(-2), "-2 s", "-2 秒"),
        (lambda words: words.duration(260_000), "3 d 0 h", "3 天 0 小时"),
        (lambda words: words.share(0, 0), "0%", "0%"),
        (lambda words: words.share(1, 3), "33%", "33%"),
        (lambda words: words("report.answers_lead", visits=1), "1 visit in the log", "日志中共有 1 次访问"),
        (lambda words: words("report.answers_lead", visits=1_200), "1,200 visits in", "日志中共有 1,200 次"),
        (lambda words: words.failure("{odd}"), "{odd}", "{odd}"),
        (lambda words: words.number(None), "\u2013", "\u2013"),
        (lambda words: words.duration(float("inf")), "\u2013", "\u2013"),
        (lambda words: words.speed(2048), "2 KiB/s", "2 KiB/秒"),
        (lambda words: words.ago(time.time() - 7_200), "2 h 00 min ago", "2 小时 00 分前"),
        (lambda words: words.ago(time.time() + 90_000), "in 25 h 00 min", "25 小时 00 分后"),
        (lambda words: words.ago(None), "\u2013", "\u2013"),
        (lambda words: words.failure("status 404"), "status 404", "状态码 404"),
        (lambda words: words.tongue("zh"), "Chinese (zh)", "中文 (zh)"),
        (lambda words: words.tongue("pt-BR"), "Portuguese (pt-BR)", "葡萄牙语 (pt-BR)"),
        (lambda words: words.tongue("xx-YY"), "xx-YY", "xx-YY"),
        (lambda words: words.rate(1.5), "1.5/s", "1.5/秒"),
    ],
)
def test_numbers_are_written_for_people(said: Any, english: str, chinese: str) -> None:
    assert said(Words("en")).startswith(english)
    assert said(Words("zh")).startswith(chinese)


@pytest.mark.parametrize(
    ("stamp", "day", "hour", "machine"),
    [
        (1_700_000_000.9, "2023-11-14 22:13:20", "22:13:20", "2023-11-14T22:13:20Z"),
        ("2026-11-21T21:15:09+01:00", "2026-11-21 20:15:09", "20:15:09", "2026-11-21T20:15:09Z"),
        (None, NOTHING, NOTHING, ""),
        (0.0, NOTHING, NOTHING, ""),
        ("", NOTHING, NOTHING, ""),
        ("yesterday", NOTHING, NOTHING, ""),
        (1e300, NOTHING, NOTHING, ""),
    ],
)
def test_moments(stamp: Any, day: str, hour: str, machine: str) -> None:
    assert (moment(stamp), clock(stamp), machine_time(stamp)) == (day, hour, machine)


@example(float("inf"), "en")
@example(float("nan"), "zh")
@given(some.floats(), some.sampled_from(list(LANGUAGES)))
def test_any_number_can_be_written(value: float, language: str) -> None:
    t = words(language)
    for write in (t.number, t.short, t.size, t.speed, t.rate, t.duration, t.ago, t.share, percent):
        assert write(value)
