"""The figures of a cluster for who looks on, and the lines by which they are asked for."""

from typing import Any

import msgspec
import pytest
from test_cluster_metrics import core

from gossamer.cluster.answering import answer_lines
from gossamer.cluster.coordination.figures import FORECAST_EVERY, Figures, figures_of
from gossamer.cluster.coordination.record import CoordinationConfig
from gossamer.inspect.clusters.cluster_questions import ClusterAnswer
from gossamer.inspect.clusters.cluster_view import ClusterLimits, Overview
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason

NO_LIMITS = ClusterLimits()


def status(pages_per_s: float = 5.0) -> dict[str, Any]:
    rates = {"pages_per_s": pages_per_s, "bytes_per_s": 1000.0}
    return {"rates": rates, "sums": {"hosts": 7}, "memory_bytes": 1 << 20}


def overview(**changes: Any) -> Overview:
    return msgspec.structs.replace(core().overview(3.0), **changes)


class Cluster:
    """Answers as `launch.Control` does; remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.away = False

    def overview(self) -> Overview:
        if self.away:
            raise ConnectionError("the coordinator is being started")
        return overview()

    def ask_agents(self, overview: Overview, method: str, params: Any, patience: float) -> dict[str, Any]:
        self.told.append(method)
        answers = {"status": status(), "forecast": {"seconds_left": 60.0}}
        return {agent.name: answers[method] if agent.name == "a-1" else None for agent in overview.agents}

    def stop(self, reason: str) -> None:
        self.told.append(("stop", reason))

    def scale_to(self, agents: int) -> None:
        self.told.append(("scale", agents))

    def drain(self, name: str) -> int:
        self.told.append(("drain", name))
        return 2


def test_the_ring_tells_who_has_each_shard_and_what_is_on_its_way():
    coordination = core()
    assert coordination.overview(3.0).ring == (0,) * 16
    coordination.tick(3.0)
    seen = coordination.overview(3.0)
    assert len(seen.ring) == seen.shards == 16
    assert sum(holder > 0 for holder in seen.ring) == seen.owned
    assert sum(holder < 0 for holder in seen.ring) == seen.moving > 0
    assert seen.ring.count(0) == seen.homeless
    by_target: dict[str, int] = {}
    for move in seen.moves:
        by_target[move.target] = by_target.get(move.target, 0) + move.shards
    assert {f"a-{-holder}": seen.ring.count(holder) for holder in seen.ring if holder < 0} == by_target


def test_figures_of_agents_that_answered():
    figures = figures_of(overview(), {"a-1": status(), "a-2": None}, {}, NO_LIMITS)
    assert list(figures.crawls) == ["a-1"]
    assert (figures.crawls["a-1"].hosts, figures.crawls["a-1"].memory) == (7, 1 << 20)
    assert (figures.pages_per_s, figures.bytes_per_s) == (5.0, 1000.0)
    assert (figures.seconds_left, figures.bound_by) == (None, "")


@pytest.mark.parametrize(
    ("limits", "left", "bound_by"),
    [
        (NO_LIMITS, 90.0, "agent"),
        (ClusterLimits(max_pages=1000), 50.0, "budget"),  # 500 left at 10 a second
        (ClusterLimits(max_pages=10_000), 90.0, "agent"),
        (ClusterLimits(max_bytes=40_000), 15.0, "budget"),  # 30,000 left at 2,000 a second
        (ClusterLimits(max_time=130.0), 30.0, "budget"),
        (ClusterLimits(max_pages=400), 0.0, "budget"),
    ],
)
def test_time_left_is_that_of_the_slowest_agent_or_of_a_limit(limits, left, bound_by):
    forecasts = {"a-1": {"seconds_left": 90.0}, "a-2": {"seconds_left": 20.0}}
    found = figures_of(
        overview(pages=500, bytes=10_000, elapsed=100.0),
        {"a-1": status(), "a-2": status()},
        forecasts,
        limits,
    )
    assert (found.seconds_left, found.bound_by) == (left, bound_by)


def test_forecasts_are_asked_for_seldom():
    cluster, now = Cluster(), 0.0
    figures = Figures(cluster, CoordinationConfig(max_pages=10), lambda: now)
    for _ in range(3):
        assert figures.now().crawls["a-1"].seconds_left == 60.0
    assert cluster.told == ["status", "forecast", "status", "status"]
    now = FORECAST_EVERY
    assert figures.now().limits.max_pages == 10
    assert cluster.told[-2:] == ["status", "forecast"]


def answers(cluster: Cluster, *questions: str) -> list[ClusterAnswer]:
    told: list[bytes] = []
    figures = Figures(cluster, CoordinationConfig(), lambda: 0.0)
    answer_lines(cluster, figures.now, questions, told.append)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in told)
    return [msgspec.json.decode(line, type=ClusterAnswer) for line in told]


def test_questions_are_answered_line_by_line():
    cluster = Cluster()
    figures, *done = answers(
        cluster,
        '{"type":"figures"}\n',
        '{"type":"stop"}\n',
        '{"type":"scale","agents":3}\n',
        '{"type":"drain","node":"node 1"}\n',
    )
    assert figures.figures is not None
    assert figures.figures.overview.shards == 16
    assert done == [ClusterAnswer(), ClusterAnswer(), ClusterAnswer(concerned=2)]
    assert cluster.told[2:] == [("stop", Reason(EndCode.INTERRUPTED)), ("scale", 3), ("drain", "node 1")]


def test_what_makes_no_sense_or_fails_is_told_and_the_next_line_read():
    cluster = Cluster()
    cluster.away = True
    away, *wrong = answers(
        cluster, '{"type":"figures"}\n', "nonsense\n", '{"type":"scale","agents":0}\n', '{"type":"explode"}\n'
    )
    assert away.problem == "the coordinator is being started"
    assert all(answer.problem for answer in wrong)
    assert cluster.told == []
