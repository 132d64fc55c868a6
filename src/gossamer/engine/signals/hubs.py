"""Remembers which hubs would tell of changes of which pages (W3C WebSub), for whoever subscribes."""

from hashlib import blake2b

import msgspec

from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.urls.registrable import registrable_domain
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import decode, encode

HUBS = b"hub:"
"""Keys in `meta` begin with it, and end with a hash of the topic: what a page says costs its own entry and no other."""
MOST = 1_000
"""Topics that are remembered; of more, those met first."""
LONGEST = 2_000
"""Characters of an address."""


class Hub(msgspec.Struct, frozen=True):
    """Who tells of changes of a page.

    Attributes:
        topic: address of the page, as the hub knows it.
        hub: address at which one subscribes.
    """

    topic: str
    hub: str


def known_hubs(environment: Environment) -> dict[str, str]:
    """Hubs by topic, as kept."""
    kept = (decode(data, Hub) for _, data in environment.scan(Family.META, prefix=HUBS))
    return {hub.topic: hub.hub for hub in kept}


class HubTable:
    """The hubs that pages of the crawl have named."""

    def __init__(self, environment: Environment) -> None:
        self._hubs = known_hubs(environment)

    def met(self, page: Page, batch: Batch) -> None:
        """Remember what a page says, within `batch`."""
        if not page.hub or self._hubs.get(page.topic) == page.hub:
            return
        topic = Url.parse(page.topic)
        if topic is None or registrable_domain(topic.host) != registrable_domain(page.url.host):
            return  # anybody could have hubs of their own speak of the pages of others
        if max(len(page.hub), len(page.topic)) > LONGEST:
            return
        if len(self._hubs) < MOST or page.topic in self._hubs:
            self._hubs[page.topic] = page.hub
            key = HUBS + blake2b(page.topic.encode(), digest_size=8).digest()
            batch.put(Family.META, key, encode(Hub(page.topic, page.hub)))
