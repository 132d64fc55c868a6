"""What lies in the folder of a cluster, read without asking whether the cluster runs."""

import os
import time
from pathlib import Path
from typing import Literal

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.inspect.clusters.cluster_questions import PLAN
from gossamer.inspect.clusters.cluster_view import AgentOverview, Overview
from gossamer.state.whole_files import write_whole

AGENTS = "GOSSAMER_AGENTS"
"""Environment variable of a machine: where its agents have their folders, instead of below the cluster's."""
LAST = "last.json"
"""File in the folder: how the cluster stood when it was last heard."""


class Last(msgspec.Struct, frozen=True):
    """How a cluster stood at wall time `at`; when it ended, if `overview.over`."""

    at: float
    overview: Overview


class Absent(msgspec.Struct, frozen=True):
    """An agent of whose crawl nothing can be read here; `text` says what to do."""

    agent: str
    pages: int
    text: str


def holds_cluster(folder: Path) -> bool:
    """Whether `folder` is that of a cluster, not of one crawl."""
    return (folder / PLAN).exists() and not CrawlFolder(folder).config.exists()


def keep_last(folder: Path, overview: Overview) -> None:
    """Keep how the cluster stands now, for the time when nobody answers for it any more.

    Raises:
        StorageError: the disk refuses.
    """
    write_whole(folder / LAST, msgspec.json.encode(Last(time.time(), overview)))


def last_of(folder: Path) -> Last | None:
    """How the cluster was last heard; `None` if nobody wrote it, or what was written cannot be read."""
    try:
        return msgspec.json.decode((folder / LAST).read_bytes(), type=Last)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def begin_again(folder: Path) -> None:
    """What was heard last is no end any more.

    Raises:
        StorageError: the disk refuses.
    """
    last = last_of(folder)
    if last is not None and last.overview.over:
        keep_last(folder, msgspec.structs.replace(last.overview, over=False, stop=""))


def agents_of(folder: Path) -> Path:
    """Where this machine's agents of the cluster in `folder` have their crawl folders."""
    place = os.environ.get(AGENTS)
    return Path(place) if place else folder / "agents"


def present_agents(folder: Path, last: Last | None) -> list[str]:
    """Names of agents whose crawl can be read here.

    What a lost agent had went to others, as its snapshot had it: to read its folder would count that twice.
    """
    lost = {agent.name for agent in last.overview.agents if agent.state == "lost"} if last else set[str]()
    places = agents_of(folder).glob("a-*")
    found = [path.name for path in places if path.name[2:].isdigit() and CrawlFolder(path).state.is_dir()]
    return sorted(set(found) - lost, key=lambda name: int(name[2:]))


def crawl_folders(folder: Path) -> list[Path]:
    """The folders of crawls in a folder: itself, or those of a cluster's agents on this machine. Opens no state."""
    if not holds_cluster(folder):
        return [folder]
    return [agents_of(folder) / name for name in present_agents(folder, last_of(folder))]


def absent_agents(folder: Path, present: list[str], last: Last | None) -> list[Absent]:
    """Agents whose folders should be here, but are not."""
    place = agents_of(folder)
    if last is not None:
        missing = [one for one in last.overview.agents if one.name not in present and one.state != "lost"]
        return [Absent(one.name, one.pages, _advice(one, place)) for one in missing]
    planned = _planned(folder)
    if planned <= len(present):
        return []
    text = (
        f"{planned} agents were planned, the folders of {len(present)} are in {place}. If others are on"
        f" another machine, ask there, or copy them to {place}"
    )
    return [Absent("", 0, text)]


def _advice(agent: AgentOverview, place: Path) -> str:
    return (
        f"{agent.name}: its folder {place / agent.name} is not here; it was on {agent.node}. What it did,"
        f" {agent.pages:,} pages, is left out: ask there, or copy its folder to {place}"
    )


class _Coordination(msgspec.Struct, frozen=True):
    agents: int = 1


class _Plan(msgspec.Struct, frozen=True):
    """As much of `cluster.orders.Plan` as is needed here."""

    coordination: _Coordination = _Coordination()


def _planned(folder: Path) -> int:
    try:
        return msgspec.json.decode((folder / PLAN).read_bytes(), type=_Plan).coordination.agents
    except (OSError, msgspec.MsgspecError):
        return 0


def standing(last: Last) -> Literal["ended", "broken off"]:
    """Of a cluster that does not run."""
    return "ended" if last.overview.over else "broken off"
