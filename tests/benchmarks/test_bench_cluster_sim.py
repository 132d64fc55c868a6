"""`benchmarks.cluster_sim` against what can be computed by hand: one agent, no rests, no loss."""

import json
import math

import msgspec
import numpy as np
import pytest
from benchmarks.cluster_costs import Costs
from benchmarks.cluster_model import NOBODY, Plan, spread
from benchmarks.cluster_sim import Run, figures, larger, path

from benchmarks import cluster_sim

FREE = Costs(page_cpu_ms=1e-6, sent_links=((1, 0.0), (2, 0.0)))
"""Nothing costs anything: only rests count."""


def plan(**changes) -> Plan:
    return msgspec.structs.replace(Plan(agents=4, seconds=60.0, hosts=1_500, snapshot=20.0), **changes)


def ran(**changes) -> Run:
    run = Run(plan(**changes))
    run.run()
    return run


def test_one_agent_without_rests_fetches_what_its_processor_can():
    run = ran(agents=1, rest=0.0, response=0.0, hosts=3_000)
    assert run.model.pages.sum() == pytest.approx(60 * 1e3 / 1.2, abs=2)
    assert run.model.sent.sum() == 0


def test_without_costs_each_host_is_visited_once_a_rest():
    run = ran(agents=1, costs=FREE, hosts=500, exponent=0.0, rest=2.0, response=0.5, seconds=100.0)
    assert run.model.pages.sum() == 500 * 100 / 2.5


def test_a_host_takes_its_pages_times_rest_and_response():
    run = Run(plan(agents=1, costs=FREE, hosts=1, exponent=0.0, most_pages=10, endless=False))
    first = float(run.model.due[0])
    run.model.advance(first + 9 * 1.2 - 0.001)
    assert run.model.pages.sum() == 9
    run.model.advance(first + 9 * 1.2 + 0.001)
    assert run.model.pages.sum() == 10
    run.model.advance(100.0)
    assert run.model.pages.sum() == 10


def test_no_host_is_visited_within_its_rest():
    run = Run(plan(costs=FREE, hosts=50, exponent=0.0, rest=1.0, response=0.3))
    for step in range(1, 100):
        before = run.model.due.copy()
        run.model.advance(step * 0.5)
        later = run.model.due > before
        assert np.all(run.model.due[later] - before[later] >= 1.3 - 1e-9)


def test_links_between_agents_cost_what_they_cost():
    costs = Costs(sent_links=((1, 0.0), (4, 20.0)))
    run = ran(costs=costs, hosts=4_000, exponent=0.0, shards=1_024)
    page = costs.page_cpu_ms * 1e-3 + costs.exchange_us(4) * 1e-6
    assert run.model.pages.sum() == pytest.approx(4 * 60 / page, rel=0.03)
    assert run.model.sent.sum() == pytest.approx(run.model.pages.sum() * 10.0)
    assert run.model.received.sum() + run.model.waiting == pytest.approx(run.model.sent.sum())


def test_without_loss_nothing_moves_and_nothing_is_fetched_twice():
    run = ran()
    assert (run.moved, run.twice, run.links_again, run.arrivals) == (0, 0, 0.0, [])
    assert not (run.model.owner == NOBODY).any()


def test_a_lost_agent_costs_what_it_fetched_since_its_snapshot():
    calm, lost = ran(seconds=100.0), ran(seconds=100.0, fail=50.0, failures=1, known=1e5)
    rate = calm.model.pages[0] / 100
    costs, store = calm.plan.costs, calm.plan.store
    new = costs.links * (1 - costs.known) * costs.state_bytes + costs.page_state_bytes
    begin, before, covered = 5.0, 0.0, 0.0
    while (end := begin + rate * (begin - before) * (costs.stored_bytes + new * 1.2) / store) < 50:
        covered, before, begin = begin, begin, end + 20
    assert lost.twice == pytest.approx(rate * (50 - covered), rel=0.1)
    assert lost.moved == sum(count for _, count in lost.arrivals) - lost.moved_alive
    assert not (lost.model.owner == NOBODY).any()
    assert not (lost.model.owner == 0).any()
    assert lost.model.pages[0] < rate * 51


def test_a_takeover_takes_silence_reading_import_and_a_snapshot():
    costs = Costs(sent_links=((1, 0.0), (2, 0.0)))
    made = plan(agents=2, seconds=200.0, fail=30.0, failures=1, known=1e6, store=50e6, costs=costs)
    run = Run(made)
    run.run()
    pages = float(run.model.pages[0])
    urls = 1e6 + pages * costs.links * (1 - costs.known)
    state = urls * costs.state_bytes + pages * costs.page_state_bytes
    wanted = state * (1 + costs.snapshot_factor) / 50e6 + urls * costs.import_us * 1e-6
    assert len(run.arrivals) == 1
    moment, shards = run.arrivals[0]
    assert shards == (Run(made).model.owner == 0).sum()
    assert 19.0 + wanted <= moment <= 20.0 + wanted + 2 * made.slice


def test_only_what_a_lost_agent_had_moves_and_a_join_takes_its_part():
    result = figures(plan(agents=10, seconds=5.0, hosts=100, shards=1_024))
    assert result["moved_by_a_leave"] == pytest.approx(0.1, abs=0.02)
    assert result["moved_by_a_join"] == pytest.approx(1 / 11, abs=0.02)


def test_equal_seeds_give_equal_figures(capsys):
    line = ["--agents", "3", "--seconds", "8", "--known", "1e4", "--json"]
    texts = []
    for seed in ("1", "1", "2"):
        assert cluster_sim.main([*line, "--seed", seed]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]
    assert json.loads(texts[0])["runs"][0]["agents"] == 3


def test_fifteen_billion_pages_in_four_weeks_as_the_design_reckons():
    costs = Costs(page_cpu_ms=1.5, page_bytes=100_000, stored_bytes=20_000, sent_links=((1, 0.0),))
    wanted = path(msgspec.structs.replace(costs, links=33.4, state_bytes=16, page_state_bytes=0), 1)
    assert wanted["pages_per_s"] == round(15e9 / (28 * 86_400)) == 6_200
    assert wanted["cores"] == 9.3
    assert wanted["gbit_per_s"] == 4.96
    assert wanted["archive_tb"] == 300.0
    assert wanted["known_urls_g"] == pytest.approx(90, abs=0.5)
    assert wanted["state_tb"] == pytest.approx(1.44, abs=0.01)


def test_larger_pages_cost_more_by_their_bytes():
    costs = larger(Costs(page_cpu_ms=1.0, page_bytes=10_000, stored_bytes=2_000), 20_000)
    assert (costs.page_cpu_ms, costs.stored_bytes) == (pytest.approx(1.63), 4_000)


def test_sent_links_lie_on_lines_between_measurements():
    costs = Costs(links=100, sent_links=((1, 0.0), (2, 10.0), (10, 26.0)))
    assert [costs.sent(agents) for agents in (1, 2, 6, 10, 500)] == [0.0, 10.0, 18.0, 26.0, 26.0]


def test_spread():
    assert spread(np.array([1.0, 1.0, 4.0])) == 1.0
    assert spread(np.zeros(0)) == 0.0
    assert math.isclose(spread(np.array([2.0, 2.0])), 0.0)
