"""What `benchmarks.cluster_costs` measures is what agents do."""

import pytest
from benchmarks.cluster_costs import Costs, foreign_records, measure_batches, measure_sent, measure_snapshots

from benchmarks import cluster_costs


def test_foreign_records_are_of_others_and_none_twice():
    records = foreign_records(60, 3)
    assert len({record.url for record in records}) == len(records) > 100
    homes = {record.via.split("/")[2] for record in records}
    assert not homes & {record.url.split("/")[2] for record in records}


def test_a_batch_is_smaller_than_what_it_holds(monkeypatch):
    monkeypatch.setattr(cluster_costs, "BATCH", 100)
    measured = measure_batches(60)
    assert measured["links"] >= 100
    assert 10 < measured["link_bytes"] < measured["outbox_bytes"] / 2
    assert measured["send_us"] > 0 and measured["receive_us"] > 0


def test_more_agents_send_more_but_no_more_than_there_is(monkeypatch):
    monkeypatch.setattr(cluster_costs, "AGENTS", (2, 4, 8))
    shares = dict(measure_sent(80)["sent_links"])
    assert 0 < shares[2] < shares[4] < shares[8] < 100


def test_costs_without_exchange_are_those_of_one_agent():
    assert Costs().exchange_us(1) == 0
    assert Costs().exchange_us(2) == pytest.approx(
        Costs().sent(2) * (Costs().sender_us() + Costs().receiver_us())
    )


@pytest.mark.slow
def test_snapshots_carry_at_least_what_is_new():
    measured = measure_snapshots(15_000)
    assert measured["snapshot_factor"] >= 1.0
    assert measured["import_us"] > 0
