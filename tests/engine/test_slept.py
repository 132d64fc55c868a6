"""News is heard though the machine has slept, or its clock was set: the crawl clock is not that of others then."""

import time
from types import SimpleNamespace

import pytest
from frontier_world import FrontierWorld

from gossamer.engine.signals.signals import Signals
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Again, Done, PageState
from gossamer.model.link import Link, LinkKind
from gossamer.model.outcome import Failed, Fault
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import History, unpack
from gossamer.policy.revisit.rates import Spread
from gossamer.state.clock import WallClock
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, decode_page, encode

DAY = 86_400.0
URL = Url.parse("http://a/1")
LIST = Url.parse("http://a/sitemap.xml")


class World(FrontierWorld):
    """One page, visited an hour ago."""

    def __init__(self, path, ahead):
        super().__init__(path)
        again = self.frontier.again
        again.wall = WallClock(ticks=lambda: time.time() + ahead)
        again.pace.on, again.pace.rate, again.pace.fair = True, 1 / DAY, 4 * DAY
        self.ago = int(again.wall.now()) - 3_600
        self.identity = SimpleNamespace(fingerprint=lambda url: self.fingerprint(url.text))
        self.admit(URL.text)
        self.lease = self.frontier.lend()
        place = classes.classify(Spread().believe(History(0, 0)))
        self.record = PageRecord(
            URL.text, PageState.DONE, history=History(self.ago, self.ago, place=place).pack()
        )
        with self.frontier.changes() as batch:
            batch.put(Family.PAGES, self.fingerprint(URL.text), encode(self.record))
            again_ = Again(self.record.history, self.fingerprint(URL.text))
            self.frontier.settle(self.lease, Done(again=again_), Tally(host_failed=False))
        self.signals = Signals(
            self.frontier, self.identity, None, on=lambda: True, rest=lambda _: None, heard=lambda: None
        )

    @property
    def history(self):
        return unpack(decode_page(self.environment.get(Family.PAGES, self.fingerprint(URL.text))).history)


@pytest.fixture(params=[-10 * DAY, 0.0, 10 * DAY], ids=["slept", "right", "put back"])
def world(tmp_path, request):
    opened = World(tmp_path / "state", request.param)
    yield opened
    opened.close()


def test_who_says_that_it_has_changed_now(world):
    world.signals.announcements.announce([URL.text], "ping", world.signals.now())
    assert 0.9 < world.history.heard < 1.1


def test_lists_are_read_by_the_clock_of_those_who_date_them(world):
    link = Link(URL, LinkKind.SITEMAP, "loc", lastmod=time.time() - 60)
    page = Page(LIST, links=(link,))
    with world.frontier.changes() as batch:
        world.signals.settled(Visit(world.lease, Failed(Fault.RESET), page), world.record, batch)
    for _ in world.signals.lists.everything():
        pass
    assert 0.9 < world.history.heard < 1.1
