"""How a program asks a cluster that runs: a line of JSON to `gossamer cluster answer`, a line back.

Ray is in one cluster per process, takes seconds to begin and 200 MB; so the daemon of `service` has a process
of that command for each cluster that is looked at, and speaks to it through these lines. The process answers
one question after the other and ends with its input. If there is nothing to be asked it ends at once, with
what is wrong on standard error.
"""

from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from gossamer.inspect.clusters.cluster_view import ClusterFigures

PLAN = "cluster.json"
"""File by which the folder of a cluster is known: what was asked for, and the secret."""
ADDRESS = "address"
"""File in the folder: where its Ray cluster was last reached; missing if nothing runs."""

Agents = Annotated[int, Meta(ge=1, le=10_000, description="how many agents there should be")]
Node = Annotated[str, Meta(min_length=1, max_length=255, description="name of a machine, or of an agent")]


class AskFigures(msgspec.Struct, frozen=True, tag="figures"):
    """Asks a cluster how it stands."""


class Stop(msgspec.Struct, frozen=True, tag="stop"):
    """Have all agents finish what they have begun, take a last snapshot, and end."""


class Scale(msgspec.Struct, frozen=True, tag="scale"):
    """Go on with this number of agents."""

    agents: Agents


class Drain(msgspec.Struct, frozen=True, tag="drain"):
    """Move everything off a machine, or off an agent."""

    node: Node


Order: TypeAlias = Stop | Scale | Drain
Question: TypeAlias = AskFigures | Stop | Scale | Drain


class ClusterAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was answered.

    Attributes:
        figures: if they were asked for.
        concerned: agents that an order moves; `None` where that is not counted.
        problem: why it could not be answered now; empty if it was.
    """

    figures: ClusterFigures | None = None
    concerned: int | None = None
    problem: str = ""
