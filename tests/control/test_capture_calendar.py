"""When a page was captured: by years and days, and the captures of a time; bounded however many there are."""

import tracemalloc
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.archive.cdxj import index_entry
from gossamer.archive.placement import Placed
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.control.socket.protocol import LiveError
from gossamer.control.views.context import ViewContext
from gossamer.control.views.url_views import MOST_CAPTURES
from gossamer.control.views.views import answer_view
from gossamer.inspect.archive.calendar import MOST_A_DAY
from gossamer.model.url import Url
from gossamer.state.environment import Environment, Family

TEXT = "https://example.org/page"


def address(text: str = TEXT) -> Url:
    found = Url.parse(text)
    assert found is not None
    return found


@pytest.fixture
def look(tmp_path: Path) -> Iterator[ViewContext]:
    """A crawl of which there is nothing but its captures."""
    config = load(CrawlConfig, {"seeds": [TEXT]})
    folder = CrawlFolder(tmp_path)
    environment = Environment.open(folder.state, config.state)
    yield ViewContext(folder, environment, lambda: config)
    environment.close()


def captured(look: ViewContext, times: Iterable[datetime], url: Url) -> None:
    batch = look.environment.batch()
    for number, time in enumerate(times):
        placed = Placed("a.warc.gz", number * 100, 100, 1, "response", "", "", bytes(32))
        batch.put(Family.CAPTURES, *index_entry(url, time.timestamp(), placed, 200, "text/html"))
    look.environment.commit(batch)


def calendar(look: ViewContext, **asked: Any) -> Any:
    return answer_view(look, "calendar", {"url": TEXT, **asked})


def listed(look: ViewContext, **asked: Any) -> Any:
    return answer_view(look, "captures", {"url": TEXT, **asked})


MOMENTS = st.datetimes(datetime(1996, 1, 1), datetime(2035, 12, 31), timezones=st.just(UTC))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(MOMENTS, max_size=40))
def test_every_capture_stands_in_the_calendar_and_is_listed_under_its_day(
    tmp_path_factory: pytest.TempPathFactory, times: list[datetime]
) -> None:
    config = load(CrawlConfig, {"seeds": [TEXT]})
    folder = CrawlFolder(tmp_path_factory.mktemp("calendar"))
    environment = Environment.open(folder.state, config.state)
    look = ViewContext(folder, environment, lambda: config)
    try:
        captured(look, times, address())
        captured(look, [datetime(2020, 1, 1, tzinfo=UTC)], address(f"{TEXT}s"))  # another page
        found = calendar(look)
        years = sorted({str(time.year) for time in times})
        assert found["years"] == years
        assert found["year"] == (years[-1] if years else "")
        for year in years:
            days = calendar(look, year=year)["days"]
            wanted = sorted(time.strftime("%Y-%m-%d") for time in times if str(time.year) == year)
            assert [day for day, count in days.items() for _ in range(count)] == wanted
            for day, count in days.items():
                assert [one["time"][:10] for one in listed(look, during=day)["items"]] == [day] * count
    finally:
        environment.close()


def test_a_day_of_very_many_is_counted_and_listed_so_far(look: ViewContext) -> None:
    begin = datetime(2026, 11, 21, tzinfo=UTC)
    captured(look, (begin + timedelta(seconds=number) for number in range(MOST_CAPTURES + 50)), address())
    captured(look, [begin - timedelta(days=400)], address())
    found = calendar(look)
    assert (found["years"], found["days"], found["most"]) == (
        ["2025", "2026"],
        {"2026-11-21": MOST_A_DAY},
        MOST_A_DAY,
    )
    page = listed(look, limit=2)
    assert page["total"] == MOST_CAPTURES
    assert page["items"][0]["time"] == (begin + timedelta(seconds=MOST_CAPTURES + 49)).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )
    assert listed(look, during="2025")["total"] == 1, "a time leads to what the list leaves out"


@pytest.mark.parametrize("asked", [{"year": "20"}, {"year": "year"}])
def test_what_is_no_year_is_refused(look: ViewContext, asked: dict[str, str]) -> None:
    with pytest.raises(LiveError):
        calendar(look, **asked)
    with pytest.raises(LiveError):
        listed(look, during="2026-1")


@pytest.mark.slow
def test_a_million_captures_of_one_page_take_little_memory(look: ViewContext) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    for part in range(100):
        first = begin + timedelta(seconds=part * 280_000)
        captured(look, (first + timedelta(seconds=28 * number) for number in range(10_000)), address())
    tracemalloc.start()
    try:
        assert sum(calendar(look)["days"].values()) == 324 * MOST_A_DAY + 228
        assert listed(look, limit=20)["total"] == MOST_CAPTURES
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
