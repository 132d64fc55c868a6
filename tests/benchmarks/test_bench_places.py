"""The benchmark of places, small: it runs, and a crawl without places calls nothing of theirs."""

from benchmarks.places import calls_a_page, figures


def test_figures_are_there_and_each_kind_is_measured():
    told = figures(places=50, urls=20, pages=0, seed=3)
    assert set(told["mixed"]) == {"build_s", "first_us", "us", "matches"}
    assert len(told["alone"]) == 10


def test_a_crawl_without_places_pays_nothing_for_them():
    assert calls_a_page(5, {})["of_places"] == 0
