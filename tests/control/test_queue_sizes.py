"""Sizes of the queue by host, domain and level, counted and estimated."""

import random
from collections import Counter
from pathlib import Path

import pytest
from test_standings import Adding, Sum

from gossamer.assembly.plugins import ordering
from gossamer.inspect.inspection import inspect
from gossamer.inspect.queue import levels as queue_levels
from gossamer.inspect.queue import sizes as queue_sizes
from gossamer.inspect.status import Status, status_of
from gossamer.inspect.why import level_words
from gossamer.inspect.why.level_words import grade_words, ordering_of, split_grade
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.ordering.levels import FIRST_STEP, level_at
from gossamer.policy.ordering.ordering import GRADE_SHIFT, BreadthFirst, DepthFirst
from gossamer.policy.ordering.orders import OrderConfig
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints, ticket
from gossamer.state.records import COUNTERS, Counters, HostRecord, QueueRecord, encode

PRINTS = Fingerprints(b"k" * 16)
SMALL = StateConfig(block_cache=1 << 20, write_buffers=1 << 20)


class Written:
    """A crawl's state written by hand; `hosts` maps a name to the levels of its entries."""

    def __init__(self, folder: Path, hosts: dict[str, list[int]], *, order: str = "bfs", seen: bool = True):
        self.folder = folder
        folder.mkdir()
        (folder / "crawl.toml").write_text(f'seeds = ["http://a/"]\n[engine]\norder = "{order}"\n')
        environment = Environment.open(folder / "state", SMALL)
        batch = environment.batch()
        sequence = 0
        for name, levels in hosts.items():
            host = PRINTS.host(name)
            for level in levels:
                sequence += 1
                url, place = f"http://{name}/{sequence}", ticket(level, sequence)
                batch.put(
                    Family.QUEUE, host + place, encode(QueueRecord(url, LinkKind.NAVIGATION, 1, "L", ""))
                )
                if seen:
                    batch.put(Family.SEEN, host + PRINTS.url(url), place)
                if order == "adding":
                    batch.put(Family.STANDINGS, host + PRINTS.url(url), place + encode(Sum(1)))
            record = HostRecord(name, queued=len(levels), head=ticket(min(levels, default=0), 0))
            batch.put(Family.HOSTS, host, encode(record))
        sums = Counters(sequence=sequence, admitted=sequence, queued=sequence, hosts=len(hosts))
        batch.put(Family.META, COUNTERS, encode(sums))
        environment.commit(batch)
        environment.close()

    def status(self) -> Status:
        with inspect(self.folder) as inspection:
            return status_of(inspection, queues=True)


@pytest.fixture
def adding(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lambda name, config: Adding() if name == "adding" else ordering(name, config)  # noqa: E731
    monkeypatch.setattr(level_words, "ordering", found)


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the bounds were those of a crawl a hundredth as large."""
    monkeypatch.setattr(queue_sizes, "HOSTS_READ", 200)
    monkeypatch.setattr(queue_levels, "ALL_READ", 1_000)
    monkeypatch.setattr(queue_levels, "DRAWS", 400)


# Domains …


def test_a_small_crawl_is_counted(tmp_path):
    hosts = {"a.one.co.uk": [1] * 3, "b.one.co.uk": [2] * 4, "x.two.com": [1] * 5, "empty.com": []}
    sizes = Written(tmp_path / "c", hosts).status().domains
    assert (sizes.hosts, sizes.hosts_read, sizes.sure_from) == (3, 3, 1)
    assert [(d.name, d.queued, d.waiting, d.hosts, d.error) for d in sizes.domains] == [
        ("one.co.uk", 7, 0, 2, 0),
        ("two.com", 5, 0, 1, 0),
    ]


def test_many_hosts_are_estimated_within_the_stated_error(tmp_path, monkeypatch):
    small(monkeypatch)
    draw = random.Random(4)
    hosts = {f"h{number}.d{number % 9}.com": [1] * draw.randint(1, 6) for number in range(2_000)}
    hosts["large.org"] = [1] * 900
    truth = Counter()
    for name, levels in hosts.items():
        truth[name.split(".", 1)[1] if name != "large.org" else name] += len(levels)
    sizes = Written(tmp_path / "c", hosts).status().domains
    assert sizes.hosts == 2_001
    assert sizes.hosts_read <= 2 * queue_sizes.HOSTS_READ
    assert sizes.domains[0].name == "large.org" or sizes.domains[0].queued >= 800
    assert {line.name for line in sizes.domains} == set(truth)
    for line in sizes.domains:
        assert 0 < line.error < 250
        assert line.hosts is None
        assert abs(line.queued - truth[line.name]) <= 3 * line.error
    # All of it is in one sum or another.
    assert abs(sum(line.queued for line in sizes.domains) - sum(truth.values())) <= sizes.sure_from


# Levels …


def test_levels_are_told_in_depths(tmp_path):
    hosts = {"a.com": [0, 1, 2, 2], "b.com": [2, 2 | 2 << GRADE_SHIFT]}
    sizes = Written(tmp_path / "c", hosts).status().levels
    assert (sizes.order, sizes.urls, sizes.keys_read, sizes.unread) == ("bfs", 6, 6, 0)
    assert [(line.name, line.urls) for line in sizes.levels] == [
        ("robots files", 1),
        ("depth 0", 1),
        ("depth 1", 4),
    ]
    assert [(line.name, line.grade, line.urls) for line in sizes.grades] == [
        ("ordinary", 0, 5),
        ("beyond its domain's budget (round 2 of 15)", 2, 1),
    ]


def test_depth_first_counts_backwards(tmp_path):
    policy = DepthFirst()
    hosts = {"a.com": [policy.level(url) for url in _candidates(range(40))]}
    sizes = Written(tmp_path / "c", hosts, order="dfs").status().levels
    assert sizes.levels[0].name == "depth 39 to 36"
    assert sizes.levels[-1].name == "depth 3 to 0"
    assert len(sizes.levels) <= queue_levels.BANDS
    assert sum(line.urls for line in sizes.levels) == 40


def _candidates(depths):
    return [Candidate(Url.parse("http://a.com/"), depth=depth) for depth in depths]


def _mixed() -> dict[str, list[int]]:
    """Two long queues and many short ones; a quarter of all stands at level 1, a quarter at 2, half at 3."""
    draw = random.Random(7)
    hosts = {f"h{number}.com": [draw.choice((1, 2, 3, 3)) for _ in range(3)] for number in range(1_000)}
    for name in ("long.com", "longer.com"):
        hosts[name] = [draw.choice((1, 2, 3, 3)) for _ in range(4_000)]
    return hosts


@pytest.mark.usefixtures("adding")
@pytest.mark.parametrize("order", ["bfs", "adding"])
def test_a_long_queue_is_sampled(tmp_path, monkeypatch, order):
    small(monkeypatch)
    monkeypatch.setattr(queue_levels, "READ_PER_DRAW", 5)
    crawl = Written(tmp_path / "c", _mixed(), order=order, seen=order == "bfs")
    sizes = crawl.status().levels
    assert sizes.urls == 11_000
    assert sizes.keys_read < 1_500
    assert sizes.unread == 0
    shares = {line.first: line.urls / sizes.urls for line in sizes.levels}
    assert shares == pytest.approx({1: 0.25, 2: 0.25, 3: 0.5}, abs=0.08)
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)
    assert sizes.levels[0].name == ("depth 0" if order == "bfs" else "level 1")
    assert crawl.status().levels == sizes  # asked twice, it answers the same


def test_what_no_table_knows_is_said_to_be_unread(tmp_path, monkeypatch):
    small(monkeypatch)
    monkeypatch.setattr(queue_levels, "READ_PER_DRAW", 5)
    sizes = Written(tmp_path / "c", _mixed(), seen=False).status().levels
    assert 5_000 < sizes.unread < 8_000
    assert sizes.unread + sum(line.urls for line in sizes.levels) == pytest.approx(11_000, rel=0.01)


@pytest.mark.usefixtures("adding")
def test_many_levels_share_bands_about_evenly(tmp_path):
    levels = [level for level in range(100, 400) for _ in range(2)]
    sizes = Written(tmp_path / "c", {"a.com": levels}, order="adding").status().levels
    assert len(sizes.levels) == queue_levels.BANDS
    assert {line.urls for line in sizes.levels} == {50}
    assert sizes.levels[0].name == "level 100 to 124"


@pytest.mark.parametrize("order", ["opic", "best"])
def test_importance_is_told_in_steps_whatever_the_depth(tmp_path, order):
    levels = [level_at(step, url) for step in (FIRST_STEP, 300, 0) for url in _candidates(range(5))]
    sizes = Written(tmp_path / "c", {"a.com": levels}, order=order).status().levels
    assert [(line.name, line.urls) for line in sizes.levels] == [
        ("importance step 512", 5),
        ("importance step 300", 5),
        ("importance step 0", 5),
    ]


# Words …


def test_grades_in_words():
    assert grade_words(0) == ""
    assert grade_words(0x0F) == "beyond its domain's budget (round 15 of 15)"
    assert split_grade(0x0F << GRADE_SHIFT | 77) == (0x0F, 77)


def test_an_order_that_is_gone_is_no_obstacle(tmp_path):
    assert isinstance(ordering_of("bfs", OrderConfig()), BreadthFirst)
    assert ordering_of("no-such-order", OrderConfig()) is None
    sizes = Written(tmp_path / "c", {"a.com": [5, 5]}, order="gone").status().levels
    assert [line.name for line in sizes.levels] == ["level 5"]


def test_sizes_are_measured_only_when_asked_for(tmp_path):
    crawl = Written(tmp_path / "c", {"a.com": [1]})
    with inspect(crawl.folder) as inspection:
        status = status_of(inspection)
    assert (status.domains, status.levels) == (None, None)
    assert [(host.name, host.queued) for host in status.hosts] == [("a.com", 1)]


def test_the_largest_hosts_come_first_equal_ones_by_name(tmp_path):
    hosts = {f"h{number:04}.com": [1] * (5 if number == 700 else 1) for number in range(1_200)}
    status = Written(tmp_path / "c", hosts).status()
    assert [host.name for host in status.hosts[:3]] == ["h0700.com", "h0000.com", "h0001.com"]
    assert len(status.hosts) == 20
    assert status.hosts_by_state == {"ready": 1_200}
