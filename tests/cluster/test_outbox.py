"""What is owed is told in order and whole, be it in memory or on disk only."""

import random
from contextlib import contextmanager

import pytest

from gossamer.cluster.agent import outbox as rooms
from gossamer.cluster.agent.outbox import Counts, Outbox
from gossamer.cluster.agent.router import Router
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.state.environment import Environment, StateConfig

SHARDS = (3, 4, 700)


class Sender:
    """An outbox with the batches of a frontier around it."""

    def __init__(self, path):
        self.path = path
        self.open()

    def open(self):
        self.environment = Environment.open(self.path, StateConfig())
        self.batch = None
        self.counts = Counts(self.environment, 1)
        self.outbox = Outbox(self.environment, self.changes, self.counts)

    def again(self):
        self.environment.close()
        self.open()

    @contextmanager
    def changes(self):
        if self.batch is not None:
            yield self.batch
            return
        self.batch = self.environment.batch()
        try:
            yield self.batch
            self.environment.commit(self.batch)
        finally:
            self.batch = None

    def owed(self, shard, most=1_000):
        self.outbox.shards_owed()
        return [(entry.sequence, entry.data) for entry in self.outbox.owed(shard, 1 << 20, most)]


@pytest.fixture
def sender(tmp_path):
    sender = Sender(tmp_path / "state")
    yield sender
    sender.environment.close()


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [0, 1, 7, 1_000])
@pytest.mark.parametrize("seed", range(4))
def test_each_message_is_told_in_order_until_it_is_applied(monkeypatch, sender, fresh, seed):
    monkeypatch.setattr(rooms, "FRESH", fresh)
    dice = random.Random(seed)
    put = {shard: [] for shard in SHARDS}
    applied = dict.fromkeys(SHARDS, 0)  # as the owner has it
    for number in range(400):
        act, shard = dice.random(), dice.choice(SHARDS)
        if act < 0.5:
            data = b"%d" % number
            put[shard].append((sender.counts.next, data))
            sender.outbox.put(shard, data)
        elif act < 0.85 and shard in sender.outbox.shards_owed():
            told = sender.owed(shard, dice.choice((1, 3, 1_000)))
            new = [one for one in told if one[0] > applied[shard]]
            left = [one for one in put[shard] if one[0] > applied[shard]]
            assert new == left[: len(new)]
            assert told
            applied[shard] = max(applied[shard], told[-1][0])
            covered = applied[shard] if dice.random() < 0.5 else 0
            sender.outbox.answered(shard, applied[shard], covered)
        elif act < 0.9:
            sender.outbox.forget_answers(shard)
        elif act < 0.96:
            sender.outbox.trim()
        else:
            sender.again()
    for shard in SHARDS:
        while shard in sender.outbox.shards_owed():
            told = sender.owed(shard)
            applied[shard] = max(applied[shard], told[-1][0])
            sender.outbox.answered(shard, applied[shard], applied[shard])
        assert not put[shard] or applied[shard] == put[shard][-1][0]
    while sender.outbox.waiting:
        sender.outbox.trim()
    sender.again()
    assert sender.outbox.waiting == 0


def test_a_new_owner_that_has_nothing_is_told_all_that_is_not_covered(sender):
    for data in (b"a", b"b", b"c"):
        sender.outbox.put(3, data)
    sender.outbox.answered(3, 2, 1)
    sender.outbox.trim()
    sender.outbox.forget_answers(3)
    assert sender.owed(3) == [(2, b"b")], "one, until it says where to go on"
    sender.outbox.answered(3, 1, 1)
    assert sender.owed(3) == [(2, b"b"), (3, b"c")]


def test_memory_holds_no_more_than_it_may(monkeypatch, sender):
    monkeypatch.setattr(rooms, "FRESH", 10)
    for number in range(1_000):
        sender.outbox.put(SHARDS[number % 3], b"x")
    assert sum(map(len, sender.outbox._fresh.values())) <= 10
    assert sender.outbox.waiting == 1_000
    sender.outbox.answered(3, 1, 0)
    assert len(sender.owed(3)) == 333, "the rest is read from disk"


def test_what_was_not_committed_is_not_told(sender):
    sender.outbox.put(3, b"kept")
    with pytest.raises(OSError, match="disk is full"), sender.changes():
        sender.outbox.put(3, b"never found")
        raise OSError("the disk is full")
    sender.outbox.answered(3, 0, 0)
    assert sender.owed(3) == [(1, b"kept")]


def test_whoever_sends_hears_of_what_is_owed_anew(sender):
    with sender.changes():
        sender.outbox.put(3, b"a link")
    assert sender.outbox.news.is_set()
    sender.outbox.news.clear()
    sender.outbox.answered(3, applied=1, covered=0)
    assert not sender.outbox.shards_owed()
    assert not sender.outbox.news.is_set()
    sender.outbox.forget_answers(3)
    assert sender.outbox.shards_owed() == [3]
    assert sender.outbox.news.is_set()


def test_a_link_sent_lately_is_sent_again_once_links_were_lost():
    sent: list[int] = []

    class Sent:
        def put(self, shard: int, data: bytes) -> None:
            sent.append(shard)

    router = Router(4, lambda _: False, Sent(), object(), lambda: 0)  # type: ignore[arg-type]
    link = Candidate(Url.parse("http://a.test/1"), kind=LinkKind.NAVIGATION)
    for _ in range(2):
        assert router.takes(b"k" * 16, link, None)
    assert len(sent) == 1
    router.forget()
    assert router.takes(b"k" * 16, link, None)
    assert len(sent) == 2
