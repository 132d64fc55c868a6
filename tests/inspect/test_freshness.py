"""How fresh a crawl is, counted over its state; a large one by a sample."""

import random
import time
from pathlib import Path

import msgspec
import pytest
from revisited_state import HOUR, RevisitedState

from gossamer.inspect.due_times import DueTimes
from gossamer.inspect.freshness import CrawlFreshness, freshness
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller
from gossamer.policy.revisit.activity import Activity
from gossamer.policy.revisit.freshness import Freshness
from gossamer.policy.revisit.gone import Presence
from gossamer.state.environment import Family
from gossamer.state.records import decode_page


def look(state: RevisitedState, **options: int) -> CrawlFreshness:
    state.close()
    with inspect(state.folder) as inspection:
        return freshness([inspection.environment], **options)


def test_a_crawl_that_visits_nothing_again_has_no_share(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    state.page("a.test", 0, history=False)
    told = look(state)
    assert told.stale is told.by_weight is told.delay is told.brier is None
    assert (told.pages, told.gone, told.sampled, told.visits, told.sites) == (0, 0, 0, 0, [])
    assert told.useful_share is None


def test_each_page_of_a_small_crawl_counts_and_what_is_gone_apart(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    for number in range(30):
        state.page("slow.test", number, same=20, age=HOUR)
        state.page("fast.test", number, changed=20, same=5, age=2_000 * HOUR)
    for number in range(30, 35):
        state.page("fast.test", number, presence=Presence.GONE)
    state.page("fast.test", 99, history=False)
    told = look(state)
    assert (told.pages, told.gone, told.sampled, told.complete) == (60, 5, 65, True)
    sites = {site.host: site for site in told.sites}
    fast, slow = sites["fast.test"], sites["slow.test"]
    assert (fast.pages, fast.gone, slow.pages, slow.gone) == (30, 5, 30, 0)
    assert fast.stale is not None and slow.stale is not None and told.stale is not None
    assert fast.stale > 0.8 > 0.1 > slow.stale
    assert told.stale == pytest.approx((fast.stale + slow.stale) / 2)
    assert told.sites[0].host == "fast.test"


def test_heavy_pages_count_by_their_weight(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    state.page("a.test", 1, same=20, age=HOUR, weight=1.0)
    state.page("a.test", 2, changed=20, same=5, age=2_000 * HOUR, weight=4.0)
    told = look(state)
    assert told.stale is not None and told.by_weight is not None
    assert told.by_weight > told.stale + 0.2


@pytest.mark.parametrize("ahead", [-5 * 24 * HOUR, 5 * 24 * HOUR])
def test_all_is_told_by_the_clock_of_the_crawl_that_histories_go_by(tmp_path: Path, ahead: float):
    def told(ahead: float) -> tuple[object, ...]:
        state = RevisitedState(tmp_path / f"c{ahead:g}", ahead)
        with (state.folder / "crawl.toml").open("a") as settings:
            settings.write("[revisit]\nenabled = true\n")
        state.page("a.test", 1, same=20, age=48 * HOUR)
        state.close()
        with inspect(state.folder) as inspection:
            due = DueTimes(inspection.environment, inspection.config)
            [(key, page)] = [
                (key, decode_page(data)) for key, data in inspection.environment.scan(Family.PAGES)
            ]
            facts = Storyteller(inspection).tell(page.url).facts
            [seen] = [one for fact in facts for one in fact.told if getattr(one, "key", "") == "again.seen"]
            stale, at = inspection.freshness().stale, due(key, page)
        assert stale is not None and at is not None
        return round(stale, 3), round(at / HOUR), round(float(seen.values["ago"]) / HOUR, 1)

    assert told(ahead) == told(0.0)


def test_where_a_site_changes_more_than_usual_pages_are_due_sooner_and_it_is_said(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    with (state.folder / "crawl.toml").open("a") as settings:
        settings.write("[revisit]\nenabled = true\n")
    state.figures(Freshness(activity_power=1.0), level=15.0, fair=90 * 24 * HOUR)
    active = Activity(found=12.0)
    histories = {name: state.page(name, 1, same=20) for name in ("a.test", "b.test")}
    state.host("a.test", activity=active.pack())
    state.close()
    with inspect(state.folder) as inspection:
        due = DueTimes(inspection.environment, inspection.config)
        waits, said = {}, {}
        for key, data in inspection.environment.scan(Family.PAGES):
            page = decode_page(data)
            name = page.url.split("/")[2]
            at = due(key, page)
            assert at is not None
            waits[name] = at - histories[name].last
            facts = Storyteller(inspection).tell(page.url).facts
            said[name] = [
                dict(one.values) for f in facts for one in f.told if getattr(one, "key", "") == "again.active"
            ]
    assert active.factor(1) == 4
    assert waits["b.test"] > 24 * HOUR
    assert waits["a.test"] == pytest.approx(waits["b.test"] / 4)
    assert said == {"a.test": [{"times": 4.0}], "b.test": []}


def test_a_sample_is_near_the_whole_and_always_the_same(tmp_path: Path):
    state, draw = RevisitedState(tmp_path / "c"), random.Random(7)
    for host, pages in (("large.test", 3_000), ("middle.test", 600), *((f"{n}.test", 3) for n in range(200))):
        often = draw.random()
        for number in range(pages):
            state.page(
                host, number, changed=3 * (draw.random() < often), same=2, age=draw.random() * 900 * HOUR
            )
    state.close()
    with inspect(state.folder) as inspection:
        whole, part, again = (freshness([inspection.environment], most) for most in (20_000, 800, 800))
    assert whole.complete and whole.sampled == whole.pages == 4_200
    assert not part.complete and part.sampled == pytest.approx(800, abs=5)
    assert part.pages == pytest.approx(4_200, rel=0.02)
    assert part.stale == pytest.approx(whole.stale, abs=0.03)
    assert again.stale == pytest.approx(part.stale, abs=1e-4)
    assert {site.host: site.pages for site in part.sites}["large.test"] == pytest.approx(3_000, rel=0.02)
    # Of a site of which one page was looked at nothing is told.
    assert all(site.stale is None for site in part.sites if site.pages < 10)


def test_what_visits_have_shown_is_told(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    history = state.page("a.test", 1, changed=3, same=3, age=100 * HOUR)
    figures, now = Freshness(), time.time()
    for each in range(40):
        figures.note(history, now, changed=each % 2 == 0)
    state.figures(figures, visits=40, changed=20, not_modified=1, saved=4_000)
    told = look(state)
    assert (told.visits, told.useful, told.unmodified, told.saved) == (40, 20, 1, 4_000)
    assert told.useful_share == 0.5
    assert told.delay == pytest.approx(figures.mean_delay) and told.brier == pytest.approx(
        figures.brier_score
    )
    assert sum(each.visits for each in told.bins) == 40
    assert [each.low for each in told.bins] == pytest.approx([n / 10 for n in range(10)])
    full = max(told.bins, key=lambda each: each.visits)
    assert full.predicted is not None and full.seen is not None and full.low <= full.predicted <= full.high
    empty = next(each for each in told.bins if not each.visits)
    assert empty.predicted is empty.seen is None


def test_it_is_json(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    state.page("a.test", 1, same=1)
    assert msgspec.json.decode(msgspec.json.encode(look(state)))["pages"] == 1
