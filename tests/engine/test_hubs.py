"""Hubs that pages name are remembered: each by itself, a bounded number, of their own domain only."""

import pytest

from gossamer.engine.signals import hubs
from gossamer.engine.signals.hubs import HubTable, known_hubs
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.state.environment import Environment, StateConfig


@pytest.fixture
def environment(tmp_path):
    opened = Environment.open(tmp_path / "state", StateConfig())
    yield opened
    opened.close()


def page(number, hub="https://hub.test/", host="h.test"):
    topic = f"http://{host}/{number}"
    return Page(Url.parse(f"http://h.test/{number}"), topic=topic, hub=hub)


def met(environment, *pages):
    """What they say is committed; the bytes that it took."""
    table, batch = HubTable(environment), environment.batch()
    for each in pages:
        table.met(each, batch)
    size = batch.raw.size_in_bytes()
    environment.commit(batch)
    return size


def test_they_are_read_again_and_another_hub_takes_the_place_of_the_first(environment):
    met(environment, page(1), page(2), page(3, host="elsewhere.test"))
    met(environment, page(1, "https://other.test/"))
    assert known_hubs(environment) == {
        "http://h.test/1": "https://other.test/",
        "http://h.test/2": "https://hub.test/",
    }


def test_a_page_that_names_another_hub_each_time_costs_no_more_than_that(environment, monkeypatch):
    monkeypatch.setattr(hubs, "MOST", 100)
    met(environment, *(page(number, "https://hub.test/" + "x" * 1_900) for number in range(200)))
    assert len(known_hubs(environment)) == 100
    assert met(environment, *(page(1, f"https://hub.test/{number}") for number in range(64))) < 64 * 200
