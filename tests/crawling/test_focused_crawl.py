"""A focused crawl from the command's configuration to its report, and the orders that learn from links."""

import json

import msgspec
import pytest
from whole_crawl import crawl

from gossamer.frontier.standings import ORDER, split_standing
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.model.errors import ConfigError
from gossamer.policy.ordering.opic import Ledger, OpicWorth
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.environment import Family

SPEC = WorldSpec(hosts=6, pages=150, cross_links=0.2, redirects=0.1, copies=0.1, missing=0.05)


@pytest.mark.slow
def test_the_harvest_stands_in_report_and_status(tmp_path):
    with SimulatedWeb(SPEC) as web:
        crawl(web, tmp_path / "crawl", engine__order="focused", order__focus__query="river stone")
    told = json.loads((tmp_path / "crawl" / "report.json").read_text())["order"]
    assert told["name"] == "focused"
    assert told["documents"] > 100
    assert 0 <= told["harvest_rate"] == round(told["harvested"] / told["documents"], 4)
    with inspect(tmp_path / "crawl") as inspection:
        assert status_of(inspection).sums.order == told


def test_a_focus_without_words_is_one_clear_error(tmp_path):
    with SimulatedWeb(SPEC) as web, pytest.raises(ConfigError, match=r"order\.focus\.query: names no word"):
        crawl(web, tmp_path / "crawl", engine__order="focused")


@pytest.mark.slow
def test_credit_is_conserved_by_a_whole_crawl(tmp_path):
    with SimulatedWeb(SPEC) as web:
        crawled = crawl(web, tmp_path / "crawl", engine__order="opic")
    assert str(crawled.reason) == "finished"
    with inspect(tmp_path / "crawl") as inspection:
        state = inspection.environment
        ledger = msgspec.msgpack.decode(state.get(Family.META, ORDER), type=Ledger)
        decode = msgspec.msgpack.Decoder(OpicWorth).decode
        accounts = [split_standing(data, decode)[1] for _, data in state.scan(Family.STANDINGS)]
    held = sum(worth.credit + worth.held + (ledger.dividend - worth.seen) % 2**64 for worth in accounts)
    assert len(accounts) == ledger.known > 100
    assert held + ledger.bank + ledger.moving == ledger.total
    assert ledger.clock > 0.5
