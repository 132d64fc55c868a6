"""Daemons in a folder of a test, jobs on a simulated web, and what must be true of them."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from patience import PATIENCE

from gossamer.config.settings import load
from gossamer.daemon.config import ServiceConfig
from gossamer.daemon.daemon import Daemon
from gossamer.daemon.jobs.process import mark_of
from gossamer.daemon.views import JobView
from gossamer.simweb import SimulatedWeb, WorldSpec

WHO = "tester"

SMALL = WorldSpec(hosts=3, pages=12, page_bytes=2_000, cross_links=0.3)
LONG = {"politeness__min_delay": "10min", "engine__give_up_after": "2h"}
"""So that a crawl of it does not end while it is looked at, however slow the machine."""


def service_config(**sections: Any) -> ServiceConfig:
    """Quick settings for tests; keyword arguments replace settings of sections."""
    tree: dict[str, Any] = {
        "limits": {"memory": "4GiB", "disk": "4GiB", "files": 20_000},
        "claim": {"disk": "64MiB"},
        "watch": {"every": 0.1, "disk_every": 0.5, "stop_patience": 20},
        "restart": {"first_wait": 0.1, "longest_wait": 1.0},
    }
    for name, settings in sections.items():
        tree[name] = {**tree.get(name, {}), **settings} if isinstance(settings, dict) else settings
    return load(ServiceConfig, tree)


def job_settings(web: SimulatedWeb | None, **settings: Any) -> dict[str, Any]:
    """Of a job, on the simulated web if there is one, by dotted paths."""
    of_web = {"seeds": list(web.seeds), "dns.nameservers": [web.nameserver]} if web else {}
    return {
        **of_web,
        "scope.mode": "any",
        "politeness.min_delay": "30ms",
        "fetch.allow_private": True,
        "dns.hosts_file": False,
        "engine.workers": 4,
        "engine.give_up_after": "1s",
        "engine.guess_sitemap": False,
        "engine.checkpoint_every": "1s",
        "engine.min_free_disk": "1MiB",
        "retry.url_waits": ["200ms", "400ms", "800ms"],
        "retry.host_first": "300ms",
        "robots.hold_first": "300ms",
        "state.block_cache": "4MiB",
        "state.write_buffers": "4MiB",
        **{name.replace("__", "."): value for name, value in settings.items()},
    }


@contextlib.asynccontextmanager
async def open_daemon(path: Path, **sections: Any) -> AsyncIterator[Daemon]:
    """A daemon whose jobs are killed when the test leaves it, unless it was closed before."""
    daemon = await Daemon.open(path, service_config(**sections))
    try:
        yield daemon
    finally:
        await daemon.close()


@contextlib.contextmanager
def no_survivors(path: Path) -> Iterator[None]:
    """Kill whatever processes of jobs are left in a daemon's folder at the end."""
    try:
        yield
    finally:
        for pid in crawlers(path):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            while mark_of(pid) is not None:
                time.sleep(0.01)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def crawlers(path: Path) -> list[int]:
    """Processes that crawl into jobs of a daemon's folder."""
    jobs = os.fsencode(str((path / "jobs").resolve()) + "/")
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"resume" in words and any(word.startswith(jobs) for word in words):
                    found.append(int(entry.name))
    return found


async def until(
    condition: Callable[[], Any], patience: float = PATIENCE, daemon: Daemon | None = None
) -> Any:
    """Wait for something to be true."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if isinstance(value, Awaitable):
            value = await value
        if value:
            return value
        assert time.monotonic() < deadline, (
            (daemon.jobs(), daemon.audit()) if daemon else "it never came to be"
        )
        await asyncio.sleep(0.05)


async def reach(daemon: Daemon, name: str, *states: str, patience: float = PATIENCE) -> JobView:
    """Wait for a job to be in one of some states."""
    deadline = time.monotonic() + patience
    while (view := daemon.job(name)).state not in states:
        words = f"{name} is {view.state} ({view.reason}), not {states}: {daemon.audit()}"
        assert time.monotonic() < deadline, words
        await asyncio.sleep(0.05)
    return view


async def answering(daemon: Daemon, name: str) -> None:
    """Wait until a job's crawl has begun to crawl."""

    async def visits() -> bool:
        if daemon.job(name).pid is None:
            return False
        return bool((await daemon.figures(name))["state"] == "running")

    await until(visits)


def report(daemon_folder: Path, name: str) -> dict[str, Any]:
    """Of a job's last end."""
    found: dict[str, Any] = json.loads((daemon_folder / "jobs" / name / "report.json").read_bytes())
    return found


async def begun(daemon: Daemon, web: SimulatedWeb, name: str = "first", **settings: Any) -> None:
    """Make a job that takes long, and wait until it crawls."""
    claim = {"connections": settings.pop("claim", 8)}
    await daemon.create(name, job_settings(web, **{**LONG, **settings}), who=WHO, claim=claim)
    await daemon.start(name, who=WHO)
    await answering(daemon, name)
    await reach(daemon, name, "running")
