"""The sizes of a queue, a bounded number of hosts at a look."""

from pathlib import Path

import pytest
from test_queue_sizes import Written

from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.context import ViewContext, view_context
from gossamer.control.views.paging import CHECKED_EVERY
from gossamer.control.views.queue_views import queue_sizes
from gossamer.control.views.sweep import Sweep
from gossamer.inspect.queue import levels as queue_levels
from gossamer.inspect.queue.count import QueueCount, QueueSizes

HOSTS = 600


def sweep(look: ViewContext) -> Sweep[QueueCount]:
    return Sweep(look.environment, lambda: QueueCount(look.environment, look.config, look.counters()))


def look_on(census: Sweep[QueueCount]) -> QueueSizes:
    """As far as one look goes that has no time."""
    return census.look(0.0).sizes()


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    hosts = {f"h{n}.d{n % 3}.test": [2, 2, 3] if n % 2 else [2] for n in range(HOSTS)}
    return Written(tmp_path / "crawl", hosts).folder


def test_a_look_is_bounded_and_the_last_one_has_all(crawl: Path) -> None:
    with view_context(crawl) as look:
        census = sweep(look)
        found = [look_on(census)]
        while found[-1].estimated:
            found.append(look_on(census))
        assert found[0].hosts_looked_at < CHECKED_EVERY < HOSTS
        assert len(found) > HOSTS // CHECKED_EVERY
        assert all(0 < before.hosts_looked_at < HOSTS for before in found[:-1])
        whole = found[-1]
        assert (whole.hosts_looked_at, whole.hosts, whole.by_domain.hosts) == (HOSTS, HOSTS, HOSTS)
        assert {line.name: line.queued for line in whole.by_domain.domains} == dict.fromkeys(
            ("d0.test", "d1.test", "d2.test"), 400
        )
        assert all(line.error == 0 for line in whole.by_domain.domains)
        assert look_on(census) is whole, "it holds for a while"
        census._fresh_until = 0.0
        assert look_on(census) is whole, "and while the next walk is under way"


def test_what_was_seen_stands_for_the_rest(crawl: Path) -> None:
    with view_context(crawl) as look:
        first = look_on(sweep(look))
        assert first.estimated and first.hosts == HOSTS
        assert sum(first.by_depth.values()) == 1_200, "a short queue is read as a whole"
        by_domain = first.by_domain
        assert by_domain.hosts == pytest.approx(HOSTS, abs=3)
        for line in by_domain.domains:
            assert line.hosts is None
            assert abs(line.queued - 400) <= 4 * line.error, line


def test_levels_of_a_long_queue_are_scaled_and_not_counted_twice(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_levels, "ALL_READ", 100)
    with view_context(crawl) as look:
        census = sweep(look)
        sizes = look_on(census)
        while sizes.estimated:
            assert sum(line.urls for line in sizes.by_level.levels) == pytest.approx(1_200, rel=0.25)
            assert sum(sizes.by_depth.values()) == pytest.approx(1_200, rel=0.25)
            sizes = look_on(census)
        assert sum(line.urls for line in sizes.by_level.levels) == pytest.approx(1_200, rel=0.02)


def test_the_view_says_how_much_it_has_seen(crawl: Path) -> None:
    with view_context(crawl) as look:
        sizes = queue_sizes(look, Nothing())
        assert not sizes.estimated and sizes.as_of > 1e9
        assert queue_sizes(look, Nothing()) is sizes, "kept for a while"
