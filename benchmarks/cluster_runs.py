"""Crawls of the simulated web by one process or by a cluster on this machine, with what each process took."""

import contextlib
import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import measure
from benchmarks.cluster_timed import TIMES
from benchmarks.crawlers import Work, command, fetched
from benchmarks.webs import Web
from gossamer.simweb import SimulatedWeb, WorldSpec

SAMPLE_SECONDS = 0.05
THREADS_SECONDS = 0.5
SNAPSHOT_EVERY = "60s"
AGENT, COORDINATOR = "agent", "coordinator"
_TITLES = {
    "ray::AgentActor": AGENT,
    "ray::TimedAgent": AGENT,
    "ray::CoordinatorActor": COORDINATOR,
    "ray::TimedCoordinator": COORDINATOR,
    "ray::": "idle workers",
}
_PROGRAMS = {"gcs_server": "gcs_server", "raylet": "raylet"}
_MIB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")
_lines = msgspec.json.Decoder(dict[str, Any])


class Process(msgspec.Struct):
    """What is known of a process as of its last sample.

    Attributes:
        role: what it is; that of an agent or coordinator stays.
        cpu: seconds of user and system time.
        threads: names of its threads and what each took by its last sample; empty unless it is an agent.
        agent: name of the agent whose folder it was the first to have open.
        start: seconds it had taken when it opened that.
    """

    role: str = ""
    cpu: float = 0.0
    threads: dict[int, tuple[str, float]] = {}
    agent: str = ""
    start: float = 0.0


class Tree:
    """The processes below one, as they come and go."""

    def __init__(self, root: int, folder: Path) -> None:
        """`folder`: of the cluster."""
        self._root = root
        self._agents = str(folder / "agents") + "/"
        self.processes: dict[int, Process] = defaultdict(Process)
        self._closely = 0.0
        self._deep = False

    def sample(self) -> None:
        """Take note of all that run now; of threads now and then, as there are many."""
        now = time.monotonic()
        self._deep = now > self._closely + THREADS_SECONDS
        if self._deep:
            self._closely = now
        for pid in _below(self._root):
            with contextlib.suppress(OSError, ValueError, IndexError):
                self._look(pid, self.processes[pid])

    def _look(self, pid: int, process: Process) -> None:
        place = Path("/proc", str(pid))
        if process.role not in (AGENT, COORDINATOR):
            title = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if title:  # who is about to end has none
                process.role = "driver" if pid == self._root else _role(title)
        process.cpu = _cpu(place / "stat")
        if process.role == AGENT:
            if not process.agent:
                process.agent = self._agent_of(place)
                process.start = process.cpu if process.agent else 0.0
            if self._deep:
                self._look_at_threads(place, process)

    def _look_at_threads(self, place: Path, process: Process) -> None:
        for task in (place / "task").iterdir():
            with contextlib.suppress(OSError):
                process.threads[int(task.name)] = (task / "comm").read_text().strip(), _cpu(task / "stat")

    def _agent_of(self, place: Path) -> str:
        for handle in (place / "fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(handle.readlink())
                if target.startswith(self._agents):
                    name = target.removeprefix(self._agents).partition("/")[0]
                    if name.startswith("a-"):
                        return name
        return ""

    def agents(self) -> dict[str, int]:
        """Process by agent, of those that have an agent's folder open."""
        return {process.agent: pid for pid, process in self.processes.items() if process.agent}

    def cpu_by_role(self) -> dict[str, float]:
        """Seconds of all that ran, by role."""
        found: dict[str, float] = defaultdict(float)
        for process in self.processes.values():
            found[process.role] += process.cpu
        return dict(found)


def _role(title: str) -> str:
    for start, role in _TITLES.items():
        if title.startswith(start):
            return role
    program = Path(title.partition(" ")[0]).name
    if program in _PROGRAMS:
        return _PROGRAMS[program]
    if "default_worker" in title or "setup_worker" in title:
        return "idle workers"
    return "other Ray processes"


def _below(root: int) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        with contextlib.suppress(OSError):
            for task in Path("/proc", str(pid), "task").iterdir():
                with contextlib.suppress(OSError):
                    waiting += map(int, (task / "children").read_text().split())
    return found


def _cpu(stat: Path) -> float:
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def resident(pid: int) -> float:
    """MiB resident of one process; 0 if it is gone."""
    try:
        return int(Path("/proc", str(pid), "statm").read_text().split()[1]) * _PAGE / _MIB
    except (OSError, IndexError):
        return 0.0


class ClusterRun(msgspec.Struct, frozen=True):
    """One crawl by agents.

    Attributes:
        seconds: from start to end.
        cpu: seconds by role of process.
        start: seconds of the agents' processes until each had its crawl folder.
        threads: seconds of the agents' processes by name of thread.
        pages: answers of status 200 by agent, robots files left out.
        hosts: of these pages, by agent.
        captures: URLs of the collected index with status 200, robots files left out, as often as they stand.
        report: what `gossamer cluster crawl --json` printed.
        clocks: what each agent's process said of itself, if it was asked for.
    """

    seconds: float
    cpu: dict[str, float]
    start: float
    threads: dict[str, float]
    pages: dict[str, int]
    hosts: dict[str, int]
    captures: list[str]
    report: dict[str, Any]
    clocks: list[dict[str, Any]]


@contextlib.contextmanager
def served(spec: WorldSpec, core: int | None = None) -> Iterator[Web]:
    """A simulated web, every host a seed, that keeps its pages: it shares its cores with who visits it.

    `core`: the one that it may use, or any.
    """
    with SimulatedWeb(spec, log=False, answers=2 * spec.pages * spec.page_bytes) as web:
        if core is not None:
            os.sched_setaffinity(web.pid, {core})
        yield Web("simweb", web.seeds, web.nameserver, web.pid)


@contextlib.contextmanager
def _work(web: Web, workers: int) -> Iterator[Work]:
    folder = Path(tempfile.mkdtemp(prefix="gossamer-cluster-"))
    try:
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(web.start) + "\n", encoding="utf-8")
        yield Work(
            start=web.start, folder=folder, workers=workers, nameserver=web.nameserver, seeds_file=seeds
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def by_one_process(
    web: Web, workers: int, timeout: float, core: int | None = None
) -> tuple[measure.Usage, list[str]]:
    """`gossamer crawl` of all of it, on `core` or any; what it took, and the URLs of its pages."""
    with _work(web, workers) as work:
        usage = measure.run(command("gossamer", work), log=work.log, core=core, timeout=timeout)
        if usage.status:
            raise RuntimeError(f"gossamer ended with status {usage.status}\n{_end_of(work.log)}")
        return usage, [page.url for page in fetched("gossamer", work)]


def by_two_strangers(web: Web, workers: int, timeout: float, core: int | None = None) -> float:
    """CPU seconds a page of two crawls of it at once that know nothing of each other, on `core` or any.

    What this is above one such crawl is no cost of a cluster: they share the memory's bandwidth, and in turns
    on one core they find its caches cold.
    """
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        both = list(pool.map(by_one_process, [web] * 2, [workers] * 2, [timeout] * 2, [core] * 2))
    return sum(usage.cpu_seconds for usage, _ in both) / sum(len(urls) for _, urls in both)


def by_agents(
    web: Web,
    agents: int,
    workers: int,
    timeout: float,
    *,
    core: int | None = None,
    timed: bool = False,
    shared_digests: bool = False,
    watch: Callable[[Tree, Path], None] | None = None,
) -> ClusterRun:
    """`gossamer cluster crawl` of all of it.

    Args:
        web: whose hosts are all seeds.
        agents: how many.
        workers: visits at once of each agent.
        timeout: seconds after which something is wrong.
        core: on which all of them are, or any.
        timed: have the agents keep account of their parts, which costs them something.
        shared_digests: have them tell each other what content they met.
        watch: called after each sample, with the cluster's folder.
    """
    with _work(web, workers) as work:
        started = time.monotonic()
        answer = work.folder / "answer.json"
        process = _start(work, agents, answer, core, timed=timed, shared_digests=shared_digests)
        tree = Tree(process.pid, work.crawl_folder)
        try:
            while process.poll() is None:
                tree.sample()
                if watch is not None:
                    watch(tree, work.crawl_folder)
                if time.monotonic() > started + timeout:
                    raise TimeoutError(f"the cluster did not end in {timeout:.0f} s\n{_end_of(work.log)}")
                time.sleep(SAMPLE_SECONDS)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(60)
        if process.returncode:
            raise RuntimeError(f"the cluster ended with status {process.returncode}\n{_end_of(work.log)}")
        return _read(tree, work, time.monotonic() - started, answer.read_text())


def _start(
    work: Work, agents: int, answer: Path, core: int | None, *, timed: bool, shared_digests: bool
) -> subprocess.Popen[bytes]:
    line = command("gossamer", work)
    at = line.index("crawl")
    line[at : at + 1] = ["cluster", "crawl"]
    line += ["--agents", str(agents), "--cores", "0.5", "--snapshot-every", SNAPSHOT_EVERY, "--json"]
    line.append("--shared-digests" if shared_digests else "--own-digests")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if timed:
        line[line.index("gossamer")] = "benchmarks.cluster_timed"
        environment[TIMES] = str(work.folder)
        path = [str(Path(__file__).parents[1]), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})  # inherited by all that Ray starts
    try:
        with work.log.open("ab") as log, answer.open("wb") as out:
            return subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=log,
                env=environment,
                start_new_session=True,
                preexec_fn=measure.end_with_parent,  # noqa: PLW1509  no threads here
            )
    finally:
        os.sched_setaffinity(0, before)


def _read(tree: Tree, work: Work, seconds: float, answer: str) -> ClusterRun:
    folder = work.crawl_folder
    clocks = [json.loads(path.read_text()) for path in work.folder.glob("[0-9]*.json")]
    pages, hosts = {}, {}
    for place in sorted((folder / "agents").glob("a-*")):
        urls = pages_of(place / "crawl.log")
        pages[place.name] = len(urls)
        hosts[place.name] = len({url.split("/", 3)[2] for url in urls})
    threads: dict[str, float] = defaultdict(float)
    for process in tree.processes.values():
        for name, spent in process.threads.values():
            threads[name] += spent
    return ClusterRun(
        seconds=seconds,
        cpu=tree.cpu_by_role(),
        start=sum(process.start for process in tree.processes.values()),
        threads=dict(threads),
        pages=pages,
        hosts=hosts,
        captures=_captures(folder / "index.cdxj"),
        report=json.loads(answer),
        clocks=clocks,
    )


def pages_of(log: Path) -> list[str]:
    """URLs of a crawl log's answers of status 200, robots files left out."""
    if not log.exists():
        return []
    visits = map(_lines.decode, log.read_bytes().splitlines())
    return [visit["url"] for visit in visits if visit.get("status") == 200 and visit.get("kind") != "robots"]


def _captures(index: Path) -> list[str]:
    found = []
    for line in index.read_bytes().splitlines():
        entry = _lines.decode(line.split(b" ", 2)[2])
        if str(entry.get("status")) == "200" and not entry["url"].endswith("/robots.txt"):
            found.append(entry["url"])
    return found


def _end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-4000:] if log.exists() else ""
