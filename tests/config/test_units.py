"""Durations and sizes in words."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.config.units import (
    parse_duration,
    parse_size,
    print_duration,
    print_size,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10s", 10),
        ("10", 10),
        ("250 ms", 0.25),
        ("5 min", 300),
        ("5m", 300),
        ("1h", 3600),
        ("1h30min", 5400),
        (" 1 h 30 min ", 5400),
        ("1.5h", 5400),
        ("2 days", 172_800),
        ("1W", 604_800),
        ("1e3s", 1000),
        ("0s", 0),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "s",
        "10 parsecs",
        "-5s",
        "1h30",
        "30 1h",
        "5,5s",
        "1..5s",
        "0x10s",
        "nan",
        "1e999s",
        "9" * 200,
    ],
)
def test_no_durations(text):
    with pytest.raises(ValueError, match=r"is not a duration|too long"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64MiB", 64 << 20),
        ("1 GB", 10**9),
        ("1.5 KiB", 1536),
        ("500kB", 500_000),
        ("500KB", 500_000),
        ("7", 7),
        ("7B", 7),
        ("2tib", 2 << 40),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size
    assert isinstance(parse_size(text), int)


@pytest.mark.parametrize("text", ["", "MiB", "10 K", "10 M", "1.5B", "0.0001kB", "-1MB", "64 MiBs"])
def test_no_sizes(text):
    with pytest.raises(ValueError, match=r"is not a (size|whole number)"):
        parse_size(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (0.1, "100ms"),
        (1.5, "1.5s"),
        (30.0, "30s"),
        (90.0, "90s"),
        (300.0, "5min"),
        (5400.0, "90min"),
        (7200.0, "2h"),
        (86_400.0, "1d"),
        (2_592_000.0, "30d"),
    ],
)
def test_printed_durations(seconds, text):
    assert print_duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0B"),
        (100, "100B"),
        (65_536, "64KiB"),
        (512_000, "500KiB"),
        (10**6, "1MB"),
        (64 << 20, "64MiB"),
        (1001, "1001B"),
    ],
)
def test_printed_sizes(size, text):
    assert print_size(size) == text


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(1.7976931348623157e308)
@example(0.1 + 0.2)
def test_printed_durations_read_back_exactly(seconds):
    assert parse_duration(print_duration(seconds)) == seconds


@given(st.integers(0, 1 << 70))
def test_printed_sizes_read_back_exactly(size):
    assert parse_size(print_size(size)) == size


@given(st.text(max_size=120))
def test_any_text_is_a_number_or_a_value_error(text):
    for parse in (parse_duration, parse_size):
        try:
            number = parse(text)
        except ValueError:
            continue
        assert number >= 0
        assert math.isfinite(number)
