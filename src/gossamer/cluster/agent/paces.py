"""Tells the other agents what we go by in visits again, and hears what they do: by gossip, nobody in the middle.

Every few seconds an agent gives one of the others all that it has heard, and is given all that that one has (push and
pull, Demers et al. 1987), so news reaches everybody in a number of rounds that grows with the logarithm of theirs, also
where two cannot reach each other. Messages may be lost; what is known of an agent stays until it is none any more.
"""

import asyncio
import random
from collections.abc import Iterable, Sequence

import msgspec

from gossamer.cluster.agent.between import Gossip, News
from gossamer.cluster.agent.consulting import Consult, answer_of, encode
from gossamer.cluster.agent.shard_leases import ShardLeases
from gossamer.policy.revisit.agreement import Told, as_counted

ROUND_SECONDS = 10.0
ANSWER_SECONDS = 5.0


class Paces:
    """`engine.admission.other_agents.OtherAgentsPaces`, as far as the view of the cluster names agents.

    What an agent says of itself is numbered, from one incarnation to the next: the latest counts, whoever tells it.
    """

    def __init__(
        self,
        name: str,
        incarnation: int,
        leases_held: ShardLeases,
        consult: Consult,
        every: float = ROUND_SECONDS,
    ) -> None:
        """`every`: seconds between two rounds."""
        self._name = name
        self._incarnation = incarnation
        self._leases_held = leases_held
        self._consult = consult
        self._every = every
        self._number = 0
        self._news: dict[str, News] = {}
        self._dice = random.Random(name)  # noqa: S311 - whom to ask next is no secret

    # For the crawl …

    def tell(self, told: Told) -> None:
        """What we go by now; the others hear of it in the next rounds."""
        self._number += 1
        self._news[self._name] = News(self._incarnation, self._number, told)

    def heard(self, own: Told) -> Sequence[Told]:
        """What each agent has told last, as it counts, `own` first; of one that we have heard nothing of yet, `own`.

        So nobody takes the visits of those who are there, but silent. Who owns how many shards is seen in the map, not
        heard.
        """
        owned = self._leases_held.owned
        told = {self._name: own} | {name: self._of(name, own) for name in self._others}
        return as_counted(
            [msgspec.structs.replace(each, shards=max(1, owned(name))) for name, each in told.items()]
        )

    def _of(self, name: str, own: Told) -> Told:
        news = self._news.get(name)
        return own if news is None else news.told

    @property
    def _others(self) -> list[str]:
        return sorted(name for name in self._leases_held.peers if name != self._name)

    # With the others …

    async def run(self) -> None:
        """Tell and hear, until cancelled."""
        while True:
            await asyncio.sleep(self._every)
            await self.round()

    async def round(self) -> None:
        """Exchange all news with one of the others; if it cannot be reached, it will be another's turn."""
        others = self._others
        if not others or self._name not in self._news:
            return
        name = self._dice.choice(others)
        answer = await answer_of(self._consult, name, Gossip(self._known()), _decode, ANSWER_SECONDS)
        if answer is not None:
            self._hear(answer.news)

    def receive(self, gossip: Gossip) -> bytes:
        """Hear the news of another agent; packed ours."""
        self._hear(gossip.news)
        return encode(Gossip(self._known()))

    def _known(self) -> dict[str, News]:
        """What is known of those that there are."""
        there = self._leases_held.peers
        self._news = {name: news for name, news in self._news.items() if name in there or name == self._name}
        return self._news

    def _hear(self, news: dict[str, News]) -> None:
        there = self._leases_held.peers
        for name, each in _plausible(news):
            known = self._news.get(name)
            later = known is None or each.order > known.order
            if name != self._name and name in there and later and each.incarnation <= there[name]:
                self._news[name] = each


def _plausible(news: dict[str, News]) -> Iterable[tuple[str, News]]:
    return ((name, each) for name, each in news.items() if each.told.is_sane)


_decode = msgspec.msgpack.Decoder(Gossip).decode
