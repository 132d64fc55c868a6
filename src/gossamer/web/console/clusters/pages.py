"""Clusters: which there are, how one of them stands, and what operators order."""

from typing import NamedTuple

from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.inspect.clusters.cluster_questions import Drain, Scale, Stop
from gossamer.inspect.clusters.cluster_view import AgentCrawl, AgentOverview, ClusterFigures
from gossamer.web.console.clusters.drawings import ring
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get, post

PATIENCE = 1.0
"""Seconds that a page waits for an answer; what comes later is shown when the page asks again."""
MOST_SHOWN = 100
_MOST_AGENTS = 10_000
_PRESENT = ("joining", "live", "draining", "leaving")


class AgentLine(NamedTuple):
    """An agent, and what its crawl says if it answers."""

    overview: AgentOverview
    crawl: AgentCrawl | None


async def clusters(context: RequestContext) -> Response:
    """All of them, as far as is known without asking."""
    views = await context.daemon.clusters.list()
    more = len(views) - MOST_SHOWN
    return context.page("clusters.html", section="clusters", views=views[:MOST_SHOWN], more=more)


async def cluster(context: RequestContext, cluster: str) -> Response:
    """One of them; at once, whether it answers or not."""
    view = await context.daemon.clusters.look(cluster, PATIENCE)
    figures = view.figures
    return context.page(
        "cluster.html",
        section="clusters",
        c=view,
        f=figures,
        present=sum(agent.state in _PRESENT for agent in figures.overview.agents) if figures else 0,
        ring=ring(figures.overview, context.words) if figures else None,
        agents=_agents(context, figures) if figures else None,
        most=MOST_SHOWN,
        nodes=sorted({agent.node for agent in figures.overview.agents if agent.state in _PRESENT})
        if figures
        else [],
    )


def _agents(context: RequestContext, figures: ClusterFigures) -> dict[str, object]:
    """A page of the agents: those that are there first, then those that were; each by its number."""
    agents = figures.overview.agents
    lines = sorted(
        agents, key=lambda agent: agent.state not in _PRESENT
    )  # by number within: sorting is stable
    after = context.asked("cursor", 64)
    begin = next((at for at, agent in enumerate(lines, 1) if agent.name == after), 0)
    page = lines[begin : begin + MOST_SHOWN]
    following = page[-1].name if begin + MOST_SHOWN < len(lines) else None
    items = [AgentLine(agent, figures.crawls.get(agent.name)) for agent in page]
    return {"items": items, "cursor": following, "total": len(lines)}


async def ask_to_stop(context: RequestContext, cluster: str) -> Response:
    """Nothing here can undo it."""
    view = await context.daemon.clusters.look(cluster, PATIENCE)
    return context.page("cluster_stop.html", section="clusters", c=view)


async def stop(context: RequestContext, cluster: str) -> Response:
    """Have all agents take a last snapshot and end."""
    await context.daemon.clusters.order(cluster, Stop(), who=context.who)
    return context.go(f"/clusters/{cluster}", "cluster_stop")


async def scale(context: RequestContext, cluster: str) -> Response:
    """Have more agents, or fewer."""
    typed = context.sent("agents")[:10]
    agents = int(typed) if typed.isascii() and typed.isdigit() else 0
    if not 1 <= agents <= _MOST_AGENTS:
        raise ServiceError("invalid", context.words("cluster.wrong_agents", most=f"{_MOST_AGENTS:,}"))
    await context.daemon.clusters.order(cluster, Scale(agents), who=context.who)
    return context.go(f"/clusters/{cluster}", "cluster_scale")


async def drain(context: RequestContext, cluster: str) -> Response:
    """Move everything off a machine, or an agent."""
    node = context.sent("node")[:255]
    if not node:
        raise ServiceError("invalid", context.words("cluster.wrong_node"))
    await context.daemon.clusters.order(cluster, Drain(node), who=context.who)
    return context.go(f"/clusters/{cluster}", "cluster_drain")


PAGES = (
    get("/clusters", clusters),
    get("/clusters/{cluster}", cluster),
    get("/clusters/{cluster}/stop", ask_to_stop),
    post("/clusters/{cluster}/stop", stop),
    post("/clusters/{cluster}/scale", scale),
    post("/clusters/{cluster}/drain", drain),
)
