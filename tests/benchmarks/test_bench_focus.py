import pytest
from benchmarks.focus import measure


@pytest.mark.slow
def test_the_focused_order_harvests_more_than_breadth_first() -> None:
    result = measure(600, seed=2)
    rates = result["harvest_rate"]
    found = result["wanted_found"]
    assert isinstance(rates, dict)
    assert isinstance(found, dict)
    assert rates["focused"]["0.1"] > 1.4 * rates["bfs"]["0.1"]
    assert rates["focused"]["0.5"] > rates["bfs"]["0.5"]
    assert found["focused"]["0.5"] > 0.95
    assert all(rates["focused"][share] <= best for share, best in rates["best_possible"].items())
