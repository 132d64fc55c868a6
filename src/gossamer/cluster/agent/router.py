"""Sends what belongs to another agent to its outbox instead of the frontier."""

from collections.abc import Callable
from typing import Any

import msgspec

from gossamer.cluster.agent.messages import Message, RobotsNews, decode, encode
from gossamer.cluster.agent.outbox import Outbox
from gossamer.cluster.ranges import shard_of
from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.frontier.robots_table import RobotsEntry, robots_entry
from gossamer.frontier.seen.fingerprint_cache import FingerprintCache
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.ports import OrderingPolicy, TravellingOrdering
from gossamer.state.keys import FOREVER
from gossamer.state.records import QueueRecord

SENT = 1 << 18
"""Links to others remembered, 8 bytes each: the navigation of a site need not be sent with every page."""


class Router:
    """`engine.admission.other_agents.OtherAgents` by shards: takes what is not ours, brings in what others found.

    A link that was sent lately is not sent again, unless it brings a gift, or is a redirect to its own
    canonical form.
    """

    def __init__(
        self,
        bits: int,
        owns: Callable[[bytes], bool],
        outbox: Outbox,
        ordering: OrderingPolicy,
        now: Callable[[], int],
    ) -> None:
        """`bits`: of the host's hash that name its shard; `now`: the crawl clock, microseconds."""
        self._bits = bits
        self._owns = owns
        self._outbox = outbox
        self._gifts = ordering if isinstance(ordering, TravellingOrdering) else None
        self._now = now
        self._sent = FingerprintCache(SENT)

    def takes(self, key: bytes, candidate: Candidate, gift: Any) -> bool:
        """Whether the host is another's; then the candidate is owed to it."""
        if self._owns(key):
            return False
        if candidate.kind is LinkKind.SEED:
            return True  # its owner has the same seeds
        packed = b""
        if gift is not None and self._gifts is not None:
            packed = self._gifts.pack(gift)
        elif candidate.kind is not LinkKind.ROBOTS and not candidate.forced:
            if key in self._sent:
                return True
            self._sent.add(key)
        self._outbox.put(shard_of(key, self._bits), encode(Message(QueueRecord.of(candidate), packed)))
        return True

    def forget(self) -> None:
        """Links were lost where they were sent to: send them again where they are found again."""
        self._sent = FingerprintCache(SENT)

    def takes_robots(self, host: bytes, origin: str, entry: RobotsEntry) -> bool:
        """Whether the origin is another's; then what its robots file says is owed to it."""
        if self._owns(host):
            return False
        record = entry.record
        until = record.until if record.until >= FOREVER else record.until - self._now()
        news = RobotsNews(origin, msgspec.structs.replace(record, until=until))
        self._outbox.put(shard_of(host, self._bits), encode(Message(robots=news)))
        return True

    def bring_in(self, data: bytes, admission: Admission, robots: RobotsFiles) -> None:
        """Let a message of another agent have its effect, within the open batch."""
        message = decode(data)
        if message.link is not None:
            gift = self._gifts.unpack(message.gift) if message.gift and self._gifts is not None else None
            admission.receive(message.link.candidate(), gift)
        if message.robots is not None:
            self._learn(message.robots, robots)

    def _learn(self, news: RobotsNews, robots: RobotsFiles) -> None:
        url = Url.from_serialised(news.origin + "/")
        if url is None:
            return
        record = news.record
        until = record.until if record.until >= FOREVER else record.until + self._now()
        entry = robots_entry(msgspec.structs.replace(record, until=until))
        # The shard may have gone to another since the message was sent.
        if not self.takes_robots(robots.host_of(url), news.origin, entry):
            robots.keep(news.origin, url, entry)
