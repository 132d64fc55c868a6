"""What everybody who cares for a job works with."""

import asyncio
from pathlib import Path

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.daemon.allocation.grants import Grants
from gossamer.daemon.asking import Asking
from gossamer.daemon.config import ServiceConfig, ServiceFolder
from gossamer.daemon.jobs.job import Job
from gossamer.daemon.jobs.roster import Roster

WHO = "daemon"
"""Who does what nobody asked for, in the audit."""


class DaemonContext(msgspec.Struct, frozen=True):
    """The daemon's parts.

    Attributes:
        folder: paths.
        config: settings.
        roster: the jobs.
        grants: who holds what.
        asking: how crawls are asked.
    """

    folder: ServiceFolder
    config: ServiceConfig
    roster: Roster
    grants: Grants
    asking: Asking

    def errors_of(self, name: str) -> Path:
        """Where the process of a job writes its standard error."""
        return self.folder.jobs / f"{name}.err"


async def crawl_config(job: Job) -> CrawlConfig:
    """The settings with which a job's crawl goes on.

    Raises:
        ConfigError: its file is gone or damaged.
    """
    path = CrawlFolder(Path(job.folder)).config
    return await asyncio.to_thread(lambda: load(CrawlConfig, read_toml(path)))
