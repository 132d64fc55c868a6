"""Rests, Retry-After, HTTP dates and settings for single hosts."""

import time
from email.utils import formatdate

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.visits.http_date import parse_http_date
from gossamer.policy.visits.politeness import (
    PolitenessConfig,
    parse_retry_after,
    rest_after,
)

NOW = 1_700_000_000.0
seconds = st.floats(min_value=0, max_value=1e6)


@pytest.mark.parametrize(
    ("elapsed", "crawl_delay", "rest"),
    [
        (0.01, None, 1.0),
        (0.5, None, 2.5),
        (100.0, None, 30.0),
        (0.01, 4.0, 4.0),
        (1.0, 4.0, 5.0),
        (100.0, 300.0, 300.0),
        (-3.0, None, 1.0),
        (0.01, 0.0, 1.0),
    ],
)
def test_rest_by_default(elapsed: float, crawl_delay: float | None, rest: float) -> None:
    assert rest_after(PolitenessConfig(), elapsed, crawl_delay) == rest


@given(seconds, seconds, seconds, seconds, st.none() | seconds)
def test_rest_is_the_formula(
    min_delay: float, factor: float, max_delay: float, elapsed: float, crawl_delay: float | None
) -> None:
    config = PolitenessConfig(min_delay=min_delay, factor=factor, max_delay=max_delay)
    rest = rest_after(config, elapsed, crawl_delay)
    asked = crawl_delay if crawl_delay is not None else 0.0
    if min_delay == 0:
        assert rest == asked
    else:
        assert rest == max(min_delay, asked, min(factor * elapsed, max_delay))


def test_no_minimum_switches_the_factor_off_but_not_the_crawl_delay() -> None:
    config = PolitenessConfig(min_delay=0)
    assert rest_after(config, 5.0, None) == 0
    assert rest_after(config, 5.0, 2.0) == 2


@pytest.mark.parametrize(
    "date",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 6 Nov 1994 08:49:37 GMT",
        "06 Nov 1994 08:49:37 UTC",
        " sun, 06 nov 1994 08:49:37 gmt ",
        "Sun, 06-Nov-1994 08:49:37 GMT",
    ],
)
def test_three_forms_of_dates(date: str) -> None:
    assert parse_http_date(date, NOW) == 784_111_777


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Xyz 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:99 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "1994-11-06T08:49:37Z",
        "Sun, 06 Nov 1994",
        "a" * 10_000,
        "Sun, 06 Nov 1994 08:49:37 PST",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    ],
)
def test_what_is_no_date(text: str) -> None:
    assert parse_http_date(text, NOW) is None


def test_a_leap_second_is_a_date() -> None:
    assert parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT", NOW) == 1_483_228_799


@pytest.mark.parametrize(("year", "meant"), [("94", 1994), ("23", 2023), ("73", 2073), ("74", 1974)])
def test_two_digit_years_lie_within_fifty_years(year: str, meant: int) -> None:
    found = parse_http_date(f"Monday, 01-Jan-{year} 00:00:00 GMT", NOW)
    assert found is not None
    assert time.gmtime(found).tm_year == meant


@given(st.integers(min_value=0, max_value=4_000_000_000))
def test_dates_of_the_standard_library_are_read(moment: int) -> None:
    assert parse_http_date(formatdate(moment, usegmt=True), NOW) == moment
    assert parse_http_date(time.asctime(time.gmtime(moment)), NOW) == moment


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("99999999999", 86_400.0),
        ("9" * 60, 86_400.0),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30.0),
        ("Tuesday, 14-Nov-23 22:13:50 GMT", 30.0),
        ("Tue Nov 14 22:13:50 2023", 30.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("Sun, 06 Nov 2094 08:49:37 GMT", 86_400.0),
    ],
)
def test_retry_after(value: str, wait: float) -> None:
    assert parse_retry_after(value, NOW) == wait


@pytest.mark.parametrize(
    "value", ["", "-1", "soon", "nan", "inf", "1e5", "1,5", "0x10", "٣", "12 seconds", "9" * 999]
)
def test_retry_after_that_is_neither_number_nor_date(value: str) -> None:
    assert parse_retry_after(value, NOW) is None


@given(st.text(max_size=70), st.floats(min_value=1, max_value=1e6))
def test_retry_after_never_leaves_its_bounds(value: str, longest: float) -> None:
    wait = parse_retry_after(value, NOW, longest)
    assert wait is None or 0 <= wait <= longest


@given(st.integers(min_value=-10_000, max_value=10_000))
def test_retry_after_date_is_the_time_until_then(ahead: int) -> None:
    assert parse_retry_after(formatdate(NOW + ahead, usegmt=True), NOW) == max(ahead, 0)


@pytest.mark.parametrize("bad", [{"min_delay": -1}, {"visits_per_host": 0}, {"factor": -0.5}, {"rest": 1}])
def test_bad_politeness_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bad, PolitenessConfig)
