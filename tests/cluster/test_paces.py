"""What agents go by in visits again reaches all of them, by whatever way, and whoever is gone is forgotten."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.cluster.agent.between import Gossip, Inquiry, News, question_in
from gossamer.cluster.agent.paces import Paces
from gossamer.policy.revisit.agreement import Told

FAIR = 1_000.0


def told(level: float, pages: int = 10) -> Told:
    return Told(level, FAIR, pages)


class Leases:
    """Of `ShardLeases`, who there is, with how many shards."""

    def __init__(self, peers, shards=8):
        self.peers, self.shards = peers, shards

    def owned(self, name):
        return self.shards


class Cluster:
    """Agents whose messages are lost at will."""

    def __init__(self, agents: int, loses=lambda _one, _other: False) -> None:
        self.loses = loses
        self.peers = {f"a-{number}": 1 for number in range(1, agents + 1)}
        self.paces = {name: self.agent(name) for name in self.peers}

    def agent(self, name: str, incarnation: int = 1) -> Paces:
        async def consult(other: str, data: bytes) -> bytes:
            if self.loses(name, other) or other not in self.paces:
                raise ConnectionError(other)
            question = question_in(data)
            assert isinstance(question, Gossip)
            return self.paces[other].receive(question)

        return Paces(name, incarnation, Leases(self.peers), consult)

    def rounds(self, number: int) -> None:
        async def all_() -> None:
            for _ in range(number):
                for paces in self.paces.values():
                    await paces.round()

        asyncio.run(all_())

    def levels(self, name: str) -> list[float]:
        return sorted(each.level for each in self.paces[name].heard(told(-1.0))[1:])


@settings(max_examples=20)
@given(st.integers(2, 12), st.integers(0, 2**32))
def test_news_reaches_all_though_half_of_the_messages_are_lost(agents: int, seed: int):
    dice = random.Random(seed)
    cluster = Cluster(agents, lambda *_: dice.random() < 0.5)
    for number, paces in enumerate(cluster.paces.values()):
        paces.tell(told(float(number)))
    cluster.rounds(40)
    for number, name in enumerate(cluster.paces):
        assert cluster.levels(name) == [float(each) for each in range(agents) if each != number]


def test_two_that_cannot_reach_each_other_hear_by_a_third():
    cluster = Cluster(3, lambda *both: set(both) == {"a-1", "a-2"})
    for number, paces in enumerate(cluster.paces.values()):
        paces.tell(told(float(number)))
    cluster.rounds(8)
    assert cluster.levels("a-1") == [1.0, 2.0]


def test_who_is_silent_goes_by_what_we_do_so_that_nobody_takes_its_visits():
    cluster = Cluster(3)
    assert cluster.paces["a-1"].heard(told(5.0, 70)) == [Told(5.0, FAIR, 70, shards=8)] * 3


def test_how_many_shards_an_agent_has_is_seen_not_heard():
    cluster = Cluster(4)
    for name, paces in cluster.paces.items():
        paces.tell(Told(1.0, FAIR, 1 << 40, shards=1 << 30) if name == "a-4" else told(1.0))
    cluster.rounds(8)
    assert [each.pages for each in cluster.paces["a-1"].heard(told(1.0))] == [10, 10, 10, 40]
    assert {each.shards for each in cluster.paces["a-1"].heard(told(1.0))} == {8}


def test_who_is_gone_is_forgotten_and_a_new_process_counts_from_its_first_word():
    cluster = Cluster(3)
    for paces in cluster.paces.values():
        for level in (1.0, 2.0, 3.0):
            paces.tell(told(level))
    cluster.rounds(5)
    cluster.peers["a-2"] = 2
    cluster.paces["a-2"] = cluster.agent("a-2", 2)
    cluster.paces["a-2"].tell(told(9.0))
    del cluster.peers["a-3"], cluster.paces["a-3"]
    cluster.rounds(5)
    assert cluster.levels("a-1") == [9.0]
    assert cluster.levels("a-2") == [3.0]


@pytest.mark.parametrize(
    "news",
    [
        {"a-2": News(1, 9, Told(float("nan"), FAIR, 1))},
        {"a-2": News(1, 9, Told(1.0, FAIR, -5))},
        {"a-2": News(7, 1, told(8.0))},  # of an incarnation that there is not
        {"a-1": News(1, 99, told(8.0))},  # of ourselves
        {"a-9": News(1, 1, told(8.0))},  # of somebody whom there is not
        {"a-2": News(1, 1, told(8.0))},  # older than what is known
    ],
)
def test_what_cannot_be_true_or_is_old_is_not_heard(news):
    cluster = Cluster(2)
    one, two = cluster.paces.values()
    one.tell(told(1.0))
    two.tell(told(2.0))
    two.tell(told(3.0))
    cluster.rounds(2)
    one.receive(Gossip(news))
    assert cluster.levels("a-1") == [3.0]
    assert cluster.levels("a-2") == [1.0]


def test_an_answer_that_cannot_be_read_is_none():
    async def nonsense(_name: str, _data: bytes) -> bytes:
        return b"\xc1"

    paces = Paces("a-1", 1, Leases({"a-1": 1, "a-2": 1}), nonsense)
    asyncio.run(paces.round())  # nothing to tell yet
    paces.tell(told(1.0))
    asyncio.run(paces.round())
    assert [each.level for each in paces.heard(told(4.0))] == [4.0, 4.0]


def test_questions_about_content_are_told_from_gossip():
    from msgspec.msgpack import encode

    assert question_in(encode(Inquiry(asked=(b"x",)))) == Inquiry(asked=(b"x",))
    assert question_in(encode(Gossip({"a-1": News(1, 1, told(2.0))}))) == Gossip(
        {"a-1": News(1, 1, told(2.0))}
    )
