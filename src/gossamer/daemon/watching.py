"""The watches of a job: how they stand, and how they are changed.

What is watched are settings of the job's crawl, so they are changed as those are, whether it runs or not. What was
seen and told lies in the job's folder, written by the crawl's follower.
"""

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from gossamer.config.config import CrawlConfig
from gossamer.config.dotted import join_path
from gossamer.config.settings import load, parse_toml
from gossamer.config.watch_config import WatchConfig, name_of
from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.quantity import Seconds
from gossamer.policy.scope.address_pattern import literal
from gossamer.watch.outbox import order_test, retry_failed
from gossamer.watch.shown import ShownNotice, WatchView, feed_text, last_notices, watch_views
from gossamer.watch.store import beside
from gossamer.watch.watches import page_of, prove_watches, watches_of

__all__ = ["Act", "JobWatches", "NewWatch"]

T = TypeVar("T")
_SECONDS = 60.0
"""That the sending of a test may take."""


class NewWatch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A watch to be added: the fields of `[[watch]]`.

    Attributes:
        every: seconds after which its pages (`urls`, `match`) are visited again; 0 as the crawl does.
    """

    name: Annotated[str, Meta(max_length=200)] = ""
    urls: Annotated[tuple[Annotated[str, Meta(max_length=8_192)], ...], Meta(max_length=1_000)] = ()
    match: Annotated[str, Meta(max_length=2_000)] = ""
    query: Annotated[str, Meta(max_length=2_000)] = ""
    select: Annotated[str, Meta(max_length=2_000)] = ""
    ignore: Annotated[tuple[Annotated[str, Meta(max_length=2_000)], ...], Meta(max_length=50)] = ()
    when: Annotated[tuple[Annotated[str, Meta(max_length=2_000)], ...], Meta(max_length=50)] = ()
    notify: Annotated[tuple[Annotated[str, Meta(max_length=4_000)], ...], Meta(max_length=50)] = ()
    quiet: Annotated[str, Meta(max_length=100)] = ""
    every: Annotated[Seconds, Meta(le=1e9)] = 0.0


class Act(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to become of a watch."""

    name: str
    do: Literal["pause", "unpause", "remove"]


class JobWatches:
    """The watches of the daemon's jobs."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon

    async def views(self, job: str) -> list[WatchView]:
        """How they stand.

        Raises:
            ServiceError: there is no such job, or what is kept is damaged.
        """
        config = self._config(job)
        return await _in_thread(lambda: watch_views(self._daemon.folder(job), config))

    async def notices(self, job: str, watch: str, before: int, limit: int) -> list[ShownNotice]:
        """The last notices, the latest first.

        Raises:
            ServiceError: as `views`.
        """
        folder = self._daemon.folder(job)
        return await _in_thread(lambda: last_notices(folder, watch=watch, before=before, limit=limit))

    async def feed(self, job: str) -> str:
        """The last notices as Atom.

        Raises:
            ServiceError: as `views`.
        """
        folder = self._daemon.folder(job)
        return await _in_thread(lambda: feed_text(folder))

    async def add(self, job: str, new: NewWatch, *, who: str) -> Any:
        """Watch something more; its pages become seeds, if they are none.

        Raises:
            ServiceError: something is wrong with it, or the crawl says no.
        """
        fields = {
            name: value for name, value in msgspec.structs.asdict(new).items() if value and name != "every"
        }
        fields["urls"] = [page_of(url) for url in new.urls]
        config = self._config(job)
        changes: dict[str, Any] = {"watch": [*map(_table, config.watch), fields]}
        if new.every:
            changes["revisit.enabled"] = True
            for pattern in [*map(literal, fields["urls"]), *([new.match] if new.match else [])]:
                changes[join_path(["revisit", "every", pattern])] = new.every
        try:
            after = load(
                CrawlConfig, {"watch": changes["watch"], "notify": msgspec.to_builtins(config.notify)}
            )
            await asyncio.to_thread(prove_watches, after)  # which may load apprise
        except ConfigError as error:
            raise ServiceError("invalid", "", error.reasons) from None
        answer = await self._daemon.ask(job, "set", {"changes": changes}, who=who)
        if new.urls:
            with contextlib.suppress(ServiceError):  # a crawl that does not run takes them when it does
                await self._daemon.ask(job, "seeds", {"urls": fields["urls"]}, who=who)
        return answer

    async def act(self, job: str, act: Act, *, who: str) -> Any:
        """Pause, unpause or remove one.

        Raises:
            ServiceError: there is no such watch, or the crawl says no.
        """
        config = self._config(job)
        if act.name not in map(name_of, config.watch):
            raise ServiceError("not_found", f"there is no watch {act.name!r}")
        watches = []
        for watch in config.watch:
            if name_of(watch) != act.name:
                watches.append(_table(watch))
            elif act.do != "remove":
                watches.append({**_table(watch), "paused": act.do == "pause"})
        return await self._daemon.ask(job, "set", {"changes": {"watch": watches}}, who=who)

    async def test(self, job: str, *, who: str) -> int:
        """Send everybody a test; how many are told.

        Raises:
            ServiceError: what is kept is damaged.
        """
        config, folder = self._config(job), self._daemon.folder(job)

        def order() -> int:
            with beside(folder) as database:
                return order_test(database, watches_of(config), time.time())

        count = await _in_thread(order)
        self._daemon.note(who, "watch_test", job)
        await _send(folder)
        return count

    async def retry(self, job: str, *, who: str) -> int:
        """Send again what was given up; how many messages that are.

        Raises:
            ServiceError: what is kept is damaged.
        """
        folder = self._daemon.folder(job)

        def order() -> int:
            with beside(folder) as database:
                return retry_failed(database, time.time())

        count = await _in_thread(order)
        self._daemon.note(who, "watch_retry", job)
        await _send(folder)
        return count

    def _config(self, job: str) -> CrawlConfig:
        try:
            return load(CrawlConfig, parse_toml(self._daemon.configuration(job)))
        except ConfigError as error:
            raise ServiceError("internal", "", error.reasons) from None


def _table(watch: WatchConfig) -> dict[str, Any]:
    defaults = msgspec.to_builtins(WatchConfig())
    return {name: value for name, value in msgspec.to_builtins(watch).items() if value != defaults[name]}


async def _in_thread(work: Callable[[], T]) -> T:
    try:
        return await asyncio.to_thread(work)
    except ConfigError as error:
        raise ServiceError("conflict", str(error), error.reasons) from None
    except StorageError as error:
        raise ServiceError("internal", str(error)) from None


async def _send(folder: Path) -> None:
    """Have what is due sent, if no follower runs that does."""
    command = [sys.executable, "-m", "gossamer", "watch", str(folder), "--send", "--once", "--quiet"]
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:
        await asyncio.wait_for(process.wait(), _SECONDS)
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
