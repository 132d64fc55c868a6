"""Figures of crawls as Prometheus reads them."""

from prometheus_text import check

from gossamer.control.prometheus import Exposition


def test_labels_from_the_network_cannot_forge_a_line():
    told = Exposition()
    status = {"sums": {"pages": 5, "statuses": {'2"00} 1\nforged 1\\': 3}, "faults": None}}
    told.crawls([({"job": "a"}, status)])
    check(told.text())
    assert 'gossamer_crawl_pages_total{job="a"} 5\n' in told.text()
    assert 'status="2\\"00} 1\\nforged 1\\\\"} 3\n' in told.text()


def test_large_figures_stay_whole():
    told = Exposition()
    told.metric("x", "counter", "X.", [({}, float(1 << 52) + 1)])
    assert told.text().endswith("x 4503599627370497\n")
