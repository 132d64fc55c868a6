"""The ring of a cluster as a chart."""

from gossamer.inspect.clusters.cluster_view import Overview
from gossamer.report.charts import Frame, Share, for_screens, ring_chart
from gossamer.report.parts import Axes
from gossamer.web.console.drawings import Drawing, drawn
from gossamer.words.catalogue import Words

MOST_ARCS = 60
"""Agents with an arc of their own; the rest share one."""
WIDE = 640
_TONES = (0, 1, 4, 5, 6)
_MOVING, _NOBODY, _REST = 2, 3, 7
"""Tones that agents do not have."""


def ring(overview: Overview, t: Words) -> Drawing:
    """Shards by owner, as arcs; within, the owner of each shard in the order of the hosts' hash."""
    owners = [agent for agent in overview.agents if agent.shards]
    own = owners if len(owners) <= MOST_ARCS else owners[: MOST_ARCS - 1]
    parts = [Share(agent.name, agent.shards, _TONES[at % len(_TONES)]) for at, agent in enumerate(own)]
    place_of = {agent.name: at for at, agent in enumerate(own)}
    place_of |= {agent.name: len(parts) for agent in owners[len(own) :]}
    parts.append(Share(t("cluster.others"), sum(agent.shards for agent in owners[len(own) :]), _REST))
    moving, nobody = len(parts), len(parts) + 1
    parts.append(Share(t("cluster.moving"), overview.moving, _MOVING))
    parts.append(Share(t("cluster.homeless"), overview.homeless, _NOBODY))
    places = [moving if holder < 0 else place_of.get(f"a-{holder}", nobody) for holder in overview.ring]
    title = t("cluster.ring")
    middle = (t.number(overview.shards), t("cluster.shards"))

    def draw(width: int) -> str:
        frame = Frame(
            title=title, description=t("cluster.ring_told"), width=width, empty=t("cluster.nobody_yet")
        )
        return ring_chart(frame, parts, places, Axes(t).counts, middle)

    return Drawing(title, drawn(for_screens(draw, wide=WIDE)))
