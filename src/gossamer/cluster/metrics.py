"""Figures of a cluster and of each of its agents, as Prometheus reads them, also over HTTP."""

from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gossamer.cluster.coordination.overview import AgentOverview, Overview
from gossamer.control.prometheus import MEDIA_TYPE, Exposition

# Name of the metric, kind, help, field of the overview.
_OF_CLUSTER = (
    ("epoch", "gauge", "Changes with owners, agents or moves.", "epoch"),
    ("agents_wanted", "gauge", "Agents there should be.", "wanted_agents"),
    ("shards", "gauge", "Shards in all.", "shards"),
    ("shards_owned", "gauge", "Shards that an agent owns.", "owned"),
    ("shards_moving", "gauge", "Shards on their way from one agent to another.", "moving"),
    ("shards_homeless", "gauge", "Shards without owner.", "homeless"),
    ("pages_total", "counter", "Pages stored by all agents.", "pages"),
    ("received_bytes_total", "counter", "Bytes of content received by all agents.", "bytes"),
)
_OF_AGENTS = (
    ("shards", "gauge", "Shards that an agent owns.", "shards"),
    ("shards_moving", "gauge", "Shards on their way to an agent or from it.", "moving"),
    ("sent_total", "counter", "Links ever put into an agent's outbox.", "sent"),
    ("received_total", "counter", "Links of others ever applied by an agent.", "received"),
    (
        "shards_behind",
        "gauge",
        "Shards whose owners have not applied all that an agent has for them.",
        "owed",
    ),
    ("outbox", "gauge", "Links kept until no loss of their receivers can undo them.", "outbox"),
    ("silent_seconds", "gauge", "Since an agent renewed its tenure.", "silent"),
    ("snapshot_age_seconds", "gauge", "Since an agent's latest snapshot.", "snapshot_age"),
)


def exposition(overview: Overview, statuses: Mapping[str, Any]) -> str:
    """All figures. `statuses`: what live agents' crawls answered to `status`; some may be missing."""
    told = Exposition()
    for name, kind, says, field in _OF_CLUSTER:
        told.metric(f"gossamer_cluster_{name}", kind, says, [({}, float(getattr(overview, field)))])
    told.metric(
        "gossamer_cluster_losses_total",
        "counter",
        "Snapshots of lost agents that could not be used.",
        [({}, float(len(overview.losses)))],
    )
    states = [({**_labels(agent), "state": agent.state}, 1.0) for agent in overview.agents]
    told.metric("gossamer_agent_state", "gauge", "1 for the state that an agent is in.", states)
    for name, kind, says, field in _OF_AGENTS:
        found = ((_labels(agent), getattr(agent, field)) for agent in overview.agents)
        samples = [(labels, float(value)) for labels, value in found if value is not None]
        told.metric(f"gossamer_agent_{name}", kind, says, samples)
    told.crawls(
        [(_labels(agent), statuses[agent.name]) for agent in overview.agents if agent.name in statuses]
    )
    return told.text()


def _labels(agent: AgentOverview) -> dict[str, str]:
    return {"agent": agent.name, "node": agent.node}


def server(host: str, port: int, told: Callable[[], str]) -> ThreadingHTTPServer:
    """Answers `GET /metrics` with what `told` says then; 503 while that fails with a `ConnectionError`.

    Raises:
        OSError: nobody can listen there.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = 10.0

        def do_GET(self) -> None:
            if self.path != "/metrics":
                self.send_error(404)
                return
            try:
                text = told().encode()
            except ConnectionError as error:
                self.send_error(503, explain=str(error))
                return
            self.send_response(200)
            self.send_header("Content-Type", MEDIA_TYPE)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Say nothing: that somebody scrapes is no news."""

    return ThreadingHTTPServer((host, port), Handler)
