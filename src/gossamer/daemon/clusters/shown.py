"""The clusters that the daemon shows: it neither starts nor keeps them, it looks at them."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path

from gossamer.daemon.clusters.watch import ClusterView, ClusterWatch
from gossamer.daemon.config import CLUSTER_NAME
from gossamer.daemon.errors import ServiceError
from gossamer.inspect.clusters.cluster_questions import PLAN, Drain, Order, Scale, Stop

MOST_ASKED = 4
"""Clusters looked at at once; each is a process of some 200 MB."""
CLUSTER = "cluster:"
"""Before the name of a cluster, where it stands among names of jobs."""
_LIST_SECONDS = 2.0

Note = Callable[[str, str, str, str], None]
"""(who, action, job, details) into the audit."""


class Clusters:
    """Those named by the settings, and those directly below the folder of jobs.

    No request names a path: what is shown was put there, or named, by who runs the daemon.
    """

    def __init__(self, named: dict[str, Path], jobs: Path, note: Note) -> None:
        self._named = named
        self._jobs = jobs
        self._note = note
        self._watches: dict[str, ClusterWatch] = {}
        self.some = bool(named)
        """Whether there are any, as of the last list."""

    async def list(self) -> list[ClusterView]:
        """All, by name, with what is known of them: nobody is asked for that."""
        found = await asyncio.to_thread(self._found)
        for gone in self._watches.keys() - found.keys():
            await self._watches.pop(gone).close()
        watches = [self._watch(name, found[name]) for name in sorted(found)]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LIST_SECONDS):
                await asyncio.gather(*(watch.inspect() for watch in watches))
        self.some = bool(found)
        return [watch.view() for watch in watches]

    async def folders(self) -> dict[str, Path]:
        """Where each of them lies, by name."""
        return dict(sorted((await asyncio.to_thread(self._found)).items()))

    async def folder(self, name: str) -> Path:
        """Where one of them lies.

        Raises:
            ServiceError: there is none of that name.
        """
        return (await self._get(name)).folder

    async def look(self, name: str, patience: float) -> ClusterView:
        """One of them, asked now if nobody has of late.

        Args:
            name: as in `list`.
            patience: seconds to wait for an answer; without one the view says so.

        Raises:
            ServiceError: there is none of that name.
        """
        watch = await self._get(name)
        if not watch.asks:
            await self._make_room(watch)
        return await watch.look(patience)

    async def order(self, name: str, order: Order, *, who: str) -> ClusterView:
        """Have all agents stop, or another number of them, or none on a machine.

        Raises:
            ServiceError: it does not run, or does not answer; no agent is where one should be moved from.
        """
        watch = await self._get(name)
        if not watch.asks:
            await self._make_room(watch)
        answer = await watch.order(order)
        match order:
            case Stop():
                self._note(who, "stop cluster", "", name)
            case Scale():
                self._note(who, "scale cluster", "", f"{name} {order.agents}")
            case Drain():
                self._note(who, "drain cluster", "", f"{name} {order.node}")
        if isinstance(order, Drain) and not answer.concerned:
            raise ServiceError("invalid", f"node: no agent is on {order.node!r}, nor is called so")
        return watch.view()

    async def close(self) -> None:
        """Let go of all clusters that were looked at."""
        await asyncio.gather(*(watch.close() for watch in self._watches.values()))

    async def _get(self, name: str) -> ClusterWatch:
        found = await asyncio.to_thread(self._find, name)
        if found is None:
            raise ServiceError("not_found", f"there is no cluster {name[:80]!r}")
        return self._watch(name, found)

    def _watch(self, name: str, folder: Path) -> ClusterWatch:
        watch = self._watches.get(name)
        if watch is None:
            watch = self._watches[name] = ClusterWatch(name, folder)
        return watch

    async def _make_room(self, wanted: ClusterWatch) -> None:
        """Let go of whom nobody has looked at for longest."""
        asking = [watch for watch in self._watches.values() if watch.asks and watch is not wanted]
        for watch in sorted(asking, key=lambda watch: -watch.looked)[MOST_ASKED - 1 :]:
            await watch.close()

    def _find(self, name: str) -> Path | None:
        if name in self._named:
            return self._named[name]
        path = self._jobs / name
        return path if CLUSTER_NAME.fullmatch(name) and is_cluster(path) else None

    def _found(self) -> dict[str, Path]:
        below = {path.name: path for path in self._jobs.iterdir() if CLUSTER_NAME.fullmatch(path.name)}
        return {name: path for name, path in below.items() if is_cluster(path)} | self._named


def is_cluster(path: Path) -> bool:
    """Whether a folder, not a link to one, is that of a cluster."""
    return not path.is_symlink() and (path / PLAN).is_file()
