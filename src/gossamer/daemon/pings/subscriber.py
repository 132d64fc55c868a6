"""Asks hubs to tell us when feeds change, and hears them (W3C WebSub, the part of the subscriber).

What a hub sends is not read: that it was sent and signed makes the feed due, and the crawl visits it.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

import msgspec

from gossamer.daemon.pings.config import PingsConfig
from gossamer.daemon.pings.subscriptions import Subscription, Subscriptions
from gossamer.fetch.post import PostAnswer
from gossamer.model.errors import StorageError
from gossamer.model.url import Url

LOOK_SECONDS = 60.0
"""How often running jobs are asked which hubs their feeds name."""
FLUSH_SECONDS = 10.0
"""How often what hubs have told is handed on, each feed once."""
BETWEEN_POSTS = 1.0
"""Seconds between two requests of ours to one hub."""
HUBS_AT_ONCE = 4
"""Hubs that may keep us waiting at a time, each in a thread."""
MOST_BODY = 4 << 20
"""Bytes of a feed that a hub may send; what is longer cannot be proved, and is refused."""
_REDIRECTS = frozenset({307, 308})

Topics = dict[str, str]
"""Hubs by topic."""


class Around(msgspec.Struct, frozen=True):
    """What the subscriber needs of the daemon.

    Attributes:
        jobs: names of those that run.
        topics: what a job's feeds name; may raise anything that asking a crawl does.
        post: sends a form to an address, for a subscription.
        changed: tells a job that pages have changed.
    """

    jobs: Callable[[], list[str]]
    topics: Callable[[str], Awaitable[Topics | None]]
    post: Callable[[Subscription, Url, bytes], Awaitable[PostAnswer]]
    changed: Callable[[str, list[str]], Awaitable[None]]


class Subscriber:
    """Subscribes at the hubs of running jobs' feeds, renews, and takes what they send."""

    def __init__(self, config: PingsConfig, kept: Subscriptions, around: Around) -> None:
        self._config = config
        self._kept = kept
        self._around = around
        self._told: dict[str, None] = {}
        self.ignored = 0
        """Messages without a right signature."""

    async def run(self) -> None:
        """Look after subscriptions, for ever."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._every(LOOK_SECONDS, self.look))
            tasks.create_task(self._every(FLUSH_SECONDS, self.flush))

    async def _every(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            with contextlib.suppress(StorageError):  # the disk is full: later
                await work()
            await asyncio.sleep(seconds)

    async def look(self) -> None:
        """Find what there is to subscribe to, and ask the hubs that are due."""
        running: dict[str, Topics] = {}
        for job in self._around.jobs():
            topics = await self._around.topics(job)
            if topics is not None:
                running[job] = topics
                for topic, hub in topics.items():
                    self._kept.add(job, topic, hub, time.time())
        hubs: dict[str, list[Subscription]] = {}
        for one in self._kept.due(time.time()):
            if one.job in running and one.topic in running[one.job]:
                asked = Url.parse(one.hub)
                hubs.setdefault(asked.host if asked is not None else "", []).append(one)
            elif one.expires < time.time():
                self._kept.remove(one.token)  # its job does not run, or its feed names the hub no more
        turns = asyncio.Semaphore(HUBS_AT_ONCE)
        # Those that were asked in vain wait for the others.
        in_order = sorted(hubs.values(), key=lambda due: min(one.tries for one in due))
        await asyncio.gather(*(self._ask_hub(due, turns) for due in in_order))

    async def _ask_hub(self, due: list[Subscription], turns: asyncio.Semaphore) -> None:
        """Ask one hub for what is due, until it does not answer: what is left is due the next time."""
        async with turns:
            with contextlib.suppress(StorageError):  # the disk is full: later
                for number, one in enumerate(due):
                    if number:
                        await asyncio.sleep(BETWEEN_POSTS)
                    if not await self._ask(one):
                        break

    async def _ask(self, one: Subscription) -> bool:
        """Whether there was an answer, whatever it said."""
        # Written first: a hub may ask back before it has answered.
        self._kept.put(one.asked(time.time()))
        answer = await self._post(one)
        if not 200 <= answer.status < 300:
            now = self._kept.get(one.token)
            if now is not None and now.pending:
                note = f"{answer.status or 'no answer'}: {answer.detail}"[:200]
                self._kept.put(msgspec.structs.replace(now, pending=0, note=note))
        return answer.status > 0

    async def _post(self, one: Subscription) -> PostAnswer:
        form = {
            "hub.callback": f"{self._config.public_url.rstrip('/')}/websub/{one.token}",
            "hub.mode": "subscribe",
            "hub.topic": one.topic,
            "hub.lease_seconds": str(int(self._config.lease)),
        }
        if one.shares_secret:
            form["hub.secret"] = one.secret
        body = urlencode(form).encode()
        url = Url.parse(one.hub)
        if url is None:
            return PostAnswer(0, detail="the hub's address is none")
        answer = await self._around.post(one, url, body)
        if answer.status in _REDIRECTS and (target := Url.parse(answer.location, url.text)) is not None:
            if one.shares_secret and target.scheme != "https":
                return PostAnswer(0, detail="it leads from https to http, where the secret would be read")
            answer = await self._around.post(one, target, body)
        return answer

    # Heard from hubs …

    def verify(self, token: str, asked: Mapping[str, str]) -> str | None:
        """A hub asks back: the challenge if we meant it, else nothing."""
        one = self._kept.get(token)
        mode = asked.get("hub.mode", "")
        if one is None or asked.get("hub.topic") != one.topic:
            return None
        if mode == "denied":
            self._kept.put(one.denied(time.time(), asked.get("hub.reason", "")))
            return ""
        challenge = asked.get("hub.challenge", "")
        if not challenge or mode != "subscribe" or not one.pending:
            return None
        self._kept.put(one.agreed(time.time(), asked.get("hub.lease_seconds", "")))
        return challenge

    def subscription(self, token: str) -> Subscription | None:
        """The subscription that holds at a callback."""
        one = self._kept.get(token)
        return None if one is None or one.expires < time.time() else one

    def deliver(self, one: Subscription, signature: str, body: bytes) -> None:
        """A hub sends a feed. What does not come from it is ignored."""
        if one.comes_from_hub(signature, body):
            self._told[one.token] = None
        else:
            self.ignored += 1

    async def flush(self) -> None:
        """Hand on what was told since the last time."""
        told, self._told = self._told, {}
        by_job: dict[str, list[str]] = {}
        for token in told:
            one = self._kept.get(token)
            if one is not None:
                by_job.setdefault(one.job, []).append(one.topic)
        for job, topics in by_job.items():
            await self._around.changed(job, topics)

    def figures(self) -> dict[str, Any]:
        """How many there are, and how many hold now."""
        now = time.time()
        kept = self._kept.all()
        return {"subscriptions": len(kept), "hold": sum(each.expires > now for each in kept)}
