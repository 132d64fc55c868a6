"""Clusters that the daemon looks at, through a process that answers from recorded figures."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cluster_folders import cluster_folder, played  # noqa: F401
from service_world import open_daemon, until

from gossamer.config.settings import load
from gossamer.daemon import line_process
from gossamer.daemon.clusters import shown as clusters
from gossamer.daemon.clusters import watch as cluster_watch
from gossamer.daemon.clusters.shown import Clusters
from gossamer.daemon.clusters.watch import ClusterView
from gossamer.daemon.config import ServiceConfig
from gossamer.daemon.errors import ServiceError
from gossamer.inspect.clusters.cluster_questions import ADDRESS, Drain, Scale, Stop
from gossamer.model.errors import ConfigError

pytestmark = pytest.mark.usefixtures("played")
LONG = 60.0


@asynccontextmanager
async def looking(path: Path, **named: Path) -> AsyncIterator[Clusters]:
    """Clusters in a folder of jobs; nothing is left of them in the end."""
    found = Clusters(named, path, lambda *note: noted.append(note))
    noted: list[Any] = []
    found.noted = noted  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        await found.close()


async def reach(found: Clusters, name: str, good: Callable[[ClusterView], Any]) -> ClusterView:
    """Look until it is so."""
    view: ClusterView | None = None

    async def looked() -> Any:
        nonlocal view
        view = await found.look(name, LONG)
        return good(view)

    await until(looked)
    assert view is not None
    return view


def test_a_cluster_tells_its_figures_and_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cluster_folder(tmp_path / "big")

    async def run() -> None:
        async with looking(tmp_path) as found:
            [listed] = await found.list()
            assert (listed.name, listed.state, listed.figures) == ("big", "unseen", None)
            assert not (folder / "begun").exists(), "a list asks nobody"
            view = await found.look("big", LONG)
            assert (view.state, view.problem) == ("running", "")
            assert view.figures is not None
            assert view.figures.overview.agents[0].name == "a-1"
            await found.look("big", LONG)
            assert (folder / "begun").read_text() == ".", "one process for all who look"
            monkeypatch.setattr(cluster_watch, "IDLE", 0.0)
            await until(lambda: not found._watches["big"].asks)
            assert (await found.list())[0].figures is not None, "it is still known"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("refuses", "its Ray cluster does not answer"),
        ("nonsense", "makes no sense"),
        ("problem", "the coordinator is being started"),
    ],
)
def test_one_that_does_not_answer_is_said_so(tmp_path: Path, behaviour: str, words: str) -> None:
    folder = cluster_folder(tmp_path / "big", behaviour)

    async def run() -> None:
        async with looking(tmp_path) as found:
            view = await reach(found, "big", lambda view: view.state == "silent")
            assert words in view.problem
            assert "gossamer:" not in view.problem
            with pytest.raises(ServiceError, match="nothing was changed"):
                await found.order("big", Stop(), who="alice")
            assert found.noted == []  # type: ignore[attr-defined]
            (folder / "behaviour").write_text("well")
            await reach(found, "big", lambda view: view.state == "running")

    asyncio.run(run())


def test_one_that_hangs_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_watch, "BEGIN_SECONDS", 1.0)
    monkeypatch.setattr(line_process, "_LAST_SECONDS", 0.5)
    cluster_folder(tmp_path / "big", "hangs")

    async def run() -> None:
        async with looking(tmp_path) as found:
            view = await found.look("big", 0.01)
            assert (view.state, view.figures) == ("asking", None)
            view = await found.look("big", LONG)
            assert view.state == "silent"
            assert view.problem == "nothing was answered for 1 s"

    asyncio.run(run())


def test_no_process_is_left_however_slowly_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_process, "_LAST_SECONDS", 1.0)
    folder = cluster_folder(tmp_path / "big", "lingers")

    async def run() -> None:
        async with looking(tmp_path) as found:
            await found.look("big", LONG)
            monkeypatch.setattr(cluster_watch, "IDLE", 0.0)
            await until(lambda: found._watches["big"]._process is None)
        with pytest.raises(ProcessLookupError):
            os.kill(int((folder / "pid").read_text()), 0)

    asyncio.run(run())


def test_one_that_died_keeps_its_last_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cluster_folder(tmp_path / "big", "dies")

    async def run() -> None:
        async with looking(tmp_path) as found:
            first = await found.look("big", LONG)
            assert first.state == "running"
            (folder / "behaviour").write_text("refuses")
            view = await reach(found, "big", lambda view: view.state == "silent")
            assert view.figures is not None
            (folder / ADDRESS).unlink()
            view = await found.look("big", LONG)
            assert (view.state, view.problem) == ("stopped", "")
            assert view.seen is not None

    asyncio.run(run())


def test_what_does_not_run_is_not_asked(tmp_path: Path) -> None:
    folder = cluster_folder(tmp_path / "big", runs=False)

    async def run() -> None:
        async with looking(tmp_path, gone=tmp_path / "nowhere") as found:
            assert (await found.look("big", LONG)).state == "stopped"
            view = await found.look("gone", LONG)
            assert (view.state, view.problem) == ("stopped", "the folder holds no cluster's crawl")
            assert not (folder / "begun").exists()
            with pytest.raises(ServiceError, match="it does not run"):
                await found.order("big", Scale(3), who="alice")

    asyncio.run(run())


def test_orders_are_told_and_noted(tmp_path: Path) -> None:
    folder = cluster_folder(tmp_path / "big")

    async def run() -> None:
        async with looking(tmp_path) as found:
            await found.order("big", Stop(), who="alice")
            await found.order("big", Scale(3), who="bob")
            await found.order("big", Drain("full"), who="bob")
            with pytest.raises(ServiceError, match="no agent is on 'empty'"):
                await found.order("big", Drain("empty"), who="bob")
            assert found.noted[:3] == [  # type: ignore[attr-defined]
                ("alice", "stop cluster", "", "big"),
                ("bob", "scale cluster", "", "big 3"),
                ("bob", "drain cluster", "", "big full"),
            ]

    asyncio.run(run())
    heard = [msgspec.json.decode(line) for line in (folder / "heard").read_text().splitlines()]
    orders = [one for one in heard if one["type"] != "figures"]
    assert orders[:2] == [{"type": "stop"}, {"type": "scale", "agents": 3}]


def test_few_are_asked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "MOST_ASKED", 2)
    names = ["one", "two", "three"]
    for name in names:
        cluster_folder(tmp_path / name)

    async def run() -> None:
        async with looking(tmp_path) as found:
            for name in names:
                assert (await found.look(name, LONG)).state == "running"
            assert [name for name in names if found._watches[name].asks] == ["two", "three"]

    asyncio.run(run())


def test_only_what_lies_there_or_was_named_is_shown(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    cluster_folder(jobs / "big")
    outside = cluster_folder(tmp_path / "outside")
    (jobs / "link").symlink_to(outside)
    (jobs / "job").mkdir()
    cluster_folder(jobs / "sp ace")

    async def run() -> None:
        async with looking(jobs, named=cluster_folder(tmp_path / "named")) as found:
            assert [view.name for view in await found.list()] == ["big", "named"]
            for name in ("link", "job", "sp ace", "..", "../outside", "big/../big", "", "x" * 99, "a\0b"):
                with pytest.raises(ServiceError, match="there is no cluster"):
                    await found.look(name, LONG)

    asyncio.run(run())


def test_a_daemon_leaves_clusters_among_its_jobs_alone(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_daemon(tmp_path):
            pass
        folder = cluster_folder(tmp_path / "jobs" / "big", runs=False)
        async with open_daemon(tmp_path) as daemon:
            assert daemon.jobs() == []
            assert [view.name for view in await daemon.clusters.list()] == ["big"]
        assert sorted(path.name for path in folder.iterdir()) == ["answer.json", "behaviour", "cluster.json"]

    asyncio.run(run())


def test_named_clusters_have_names_of_their_own(tmp_path: Path) -> None:
    same = [str(tmp_path / "a" / "big"), str(tmp_path / "b" / "big")]
    config = load(ServiceConfig, {"clusters": [*same, str(tmp_path / "sp ace")]})
    with pytest.raises(ConfigError) as caught:
        _ = config.cluster_paths
    assert [len(caught.value.problems), "same name" in caught.value.problems[0]] == [2, True]
    assert "becomes part of an address" in caught.value.problems[1]
    once = load(ServiceConfig, {"clusters": [same[0], same[0]]}).cluster_paths
    assert once == {"big": Path(same[0]).resolve()}
    with pytest.raises(ConfigError, match="nobody's home"):
        load(ServiceConfig, {"clusters": ["~nobody-of-that-name/x"]})
