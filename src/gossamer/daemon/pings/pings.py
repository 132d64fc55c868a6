"""Hands what strangers tell on to the crawls of running jobs, which know what to make of it."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any

import msgspec

from gossamer.config.secret_values import resolve_secrets
from gossamer.control.socket.protocol import LONGEST_REQUEST, NotRunning
from gossamer.daemon.context import DaemonContext, crawl_config
from gossamer.daemon.database import Database
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.daemon.pings.allowance import Allowance
from gossamer.daemon.pings.indexnow import MOST_URLS, Submission
from gossamer.daemon.pings.subscriber import Around, Subscriber, Topics
from gossamer.daemon.pings.subscriptions import Subscription, Subscriptions
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.post import FORM, PostAnswer, post_by
from gossamer.fetch.proxies import Proxies
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url

_LOG = logging.getLogger(__name__)
_MOST_AT_ONCE = LONGEST_REQUEST - (64 << 10)
"""Bytes of one request to a crawl that URLs may take."""
MOST_WAITING = 100
"""Submissions that wait to be handed on."""


class Pings:
    """What the daemon does by itself for pings, where its settings want them.

    Attributes:
        allowance: what each address may still tell.
        subscriber: at hubs; `None` if there is to be none.
    """

    def __init__(self, around: DaemonContext, database: Database) -> None:
        """Raises:
        StorageError: the database is damaged.
        """
        self._around = around
        config = around.config.pings
        self.allowance = Allowance(config.per_minute)
        self._waiting: asyncio.Queue[Submission] = asyncio.Queue(MOST_WAITING)
        room = Around(self._running, self._topics, self._post, self._feeds_changed)
        self.subscriber = Subscriber(config, Subscriptions(database), room) if config.websub else None
        self._proxies = Proxies()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to hand on, and to subscribe."""
        if self._around.config.pings.indexnow:
            self._begin(self._hand_on())
        if self.subscriber is not None:
            self._begin(self.subscriber.run())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(_complain)
        self._tasks.append(task)

    async def close(self) -> None:
        """Let go of it; what hubs promised is kept."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def submit(self, submission: Submission) -> bool:
        """Take what somebody has submitted by IndexNow; no if too much waits already."""
        try:
            self._waiting.put_nowait(submission)
        except asyncio.QueueFull:
            return False
        return True

    async def _hand_on(self) -> None:
        while True:
            one = await self._waiting.get()
            params: dict[str, Any] = {
                "urls": one.urls,
                "by": "indexnow",
                "key": one.key,
                "key_location": one.location,
            }
            params["new"] = self._around.config.pings.new
            for job in self._running():
                await self._tell(job, params)

    def _running(self) -> list[str]:
        roster = self._around.roster
        return [name for name in roster.names() if roster.get(name).state is JobState.RUNNING]

    async def _tell(self, job: str, params: dict[str, Any]) -> None:
        """Tell a crawl of pages, as many at a time as it takes."""
        urls, size = list(params["urls"]), 0
        at_once: list[str] = []
        while urls or at_once:
            if urls and size + 6 * len(urls[-1]) < _MOST_AT_ONCE and len(at_once) < MOST_URLS:
                size += 6 * len(urls[-1])  # as JSON may write them at most
                at_once.append(urls.pop())
                continue
            await self._ask(job, "changed", {**params, "urls": at_once})
            at_once, size = [], 0

    async def _ask(self, job: str, method: str, params: dict[str, Any]) -> Any:
        """What its crawl says; nothing if it is gone, or does not visit pages again."""
        with contextlib.suppress(ServiceError, NotRunning):
            return await self._around.asking.running(
                self._around.roster.get(job).path, method, params, "pings"
            )
        return None

    async def _topics(self, job: str) -> Topics | None:
        found = await self._ask(job, "hubs", {})
        return None if found is None else {each["topic"]: each["hub"] for each in found["items"]}

    async def _feeds_changed(self, job: str, topics: list[str]) -> None:
        await self._tell(job, {"urls": topics, "by": "websub"})

    async def _post(self, one: Subscription, url: Url, body: bytes) -> PostAnswer:
        """A page may name any hub. So one within our own network is asked only about pages of its own host, and
        only if the job may visit that."""
        try:
            config = resolve_secrets((await crawl_config(self._around.roster.get(one.job))).fetch)
        except (ConfigError, ServiceError) as error:
            return PostAnswer(0, detail=str(error)[:200])
        closed = (*config.closed_networks, *self._around.config.security.forbidden_networks)
        topic = Url.parse(one.topic)
        own = topic is not None and topic.host == url.host
        config = msgspec.structs.replace(
            config, closed_networks=closed, allow_private=config.allow_private and own
        )
        form = {"Content-Type": FORM}
        return await asyncio.to_thread(
            post_by, self._proxies, url.text, body, form, config, AddressGuard(config)
        )


def _complain(task: asyncio.Task[None]) -> None:
    """It goes on until it is cancelled; anything else is our bug."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("pings are not heard any more, until the daemon is started again", exc_info=error)
