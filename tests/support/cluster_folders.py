"""Folders of clusters that do not run, and what answers for them."""

import sys
from pathlib import Path

import msgspec
import pytest
from console_stage import cluster_figures

from gossamer.daemon.clusters import watch as cluster_watch
from gossamer.inspect.clusters.cluster_questions import ADDRESS, PLAN, ClusterAnswer
from gossamer.inspect.clusters.cluster_view import ClusterFigures

SCRIPT = Path(__file__).with_name("cluster_script.py")


def cluster_folder(
    path: Path, behaviour: str = "well", figures: ClusterFigures | None = None, runs: bool = True
) -> Path:
    """One with recorded figures."""
    path.mkdir(parents=True, exist_ok=True)
    (path / PLAN).write_text("{}")
    if runs:
        (path / ADDRESS).write_text("127.0.0.1:1")
    (path / "behaviour").write_text(behaviour)
    answer = ClusterAnswer(figures=figures or cluster_figures())
    (path / "answer.json").write_bytes(msgspec.json.encode(answer))
    return path


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script answers for every cluster, and nobody waits long."""
    monkeypatch.setattr(
        cluster_watch, "command_for", lambda folder: [sys.executable, str(SCRIPT), str(folder)]
    )
    monkeypatch.setattr(cluster_watch, "EVERY", 0.1)
    monkeypatch.setattr(cluster_watch, "_FIRST_WAIT", 0.1)
