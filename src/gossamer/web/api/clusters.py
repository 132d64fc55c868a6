"""Routes of clusters: the ring, agents, moves, exchange and sums, and what operators may order."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.clusters.watch import ClusterState, ClusterView
from gossamer.daemon.daemon import Daemon
from gossamer.inspect.clusters.cluster_questions import Drain, Scale, Stop
from gossamer.web.api.jobs import Who
from gossamer.web.api.shapes import Cursor, Limit, Routes, Shapes, answer, page_after, sent

PATIENCE = 10.0
"""Seconds for the first answer of a cluster that nobody has looked at of late."""
_ONE = "/clusters/{cluster}"
Cluster = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", max_length=64, description="name of the cluster")
]


class ClusterLine(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster without its figures; see `ClusterView`."""

    name: str
    folder: str
    state: ClusterState
    problem: str
    seen: float | None


class ClusterPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the clusters, by name."""

    items: list[ClusterLine]
    cursor: str | None
    total: int


class ClusterRoutes:
    """Shows clusters; has them stop, grow, shrink, leave a machine."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._clusters = daemon.clusters
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes that concern clusters."""
        shapes = self._shapes
        routes = Routes("clusters", shapes, shapes.answers(ClusterView, "the cluster as last heard"))
        add = routes.add
        add("GET", "/clusters", self.clusters, "Clusters by name", responses=shapes.answers(ClusterPage))
        add("GET", _ONE, self.cluster, "One cluster: ring, agents, moves, exchange, sums")
        add("POST", f"{_ONE}/stop", self.stop_cluster, "Have all agents stop well")
        add("POST", f"{_ONE}/scale", self.scale_cluster, "More agents, or fewer", brings=Scale)
        add("POST", f"{_ONE}/drain", self.drain_cluster, "Move all off a machine", brings=Drain)
        return routes.router

    async def clusters(self, cursor: Cursor = None, limit: Limit = 100) -> Response:
        """As far as is known without asking them."""
        views = await self._clusters.list()
        items, following = page_after(views, cursor, limit)
        found = [
            ClusterLine(name=v.name, folder=v.folder, state=v.state, problem=v.problem, seen=v.seen)
            for v in items
        ]
        return answer(ClusterPage(items=found, cursor=following, total=len(views)))

    async def cluster(self, cluster: Cluster) -> Response:
        """Asked now if nobody has of late; without new figures if that takes longer than 10 s.

        Agents do not come in pages: the figures are of one moment and belong together.
        """
        return answer(await self._clusters.look(cluster, PATIENCE))

    async def stop_cluster(self, cluster: Cluster, who: Who) -> Response:
        """`gossamer cluster resume` goes on."""
        return answer(await self._clusters.order(cluster, Stop(), who=who.name))

    async def scale_cluster(self, cluster: Cluster, request: Request, who: Who) -> Response:
        """Hosts move over by themselves."""
        return answer(await self._clusters.order(cluster, await sent(request, Scale), who=who.name))

    async def drain_cluster(self, cluster: Cluster, request: Request, who: Who) -> Response:
        """Its agents end when others have what they had; an agent's name drains that one."""
        return answer(await self._clusters.order(cluster, await sent(request, Drain), who=who.name))
