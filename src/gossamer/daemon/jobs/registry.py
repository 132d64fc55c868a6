"""Makes jobs, takes them in, and removes them."""

import asyncio
import os
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.daemon.allocation.claims import Claim, default_claim
from gossamer.daemon.clusters.shown import is_cluster
from gossamer.daemon.context import WHO, DaemonContext, crawl_config
from gossamer.daemon.errors import ServiceError, telling
from gossamer.daemon.jobs import folders
from gossamer.daemon.jobs.confinement import followed, is_within
from gossamer.daemon.jobs.job import NAME, Job, JobState, name_problems
from gossamer.daemon.jobs.process import crawler_of
from gossamer.daemon.jobs.proposal import NAME_LENGTH, Frame, Source, first_seeds, load_claim, propose
from gossamer.daemon.jobs.supervisor import Supervisor
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of

MOST_JOBS = 1_000
"""What one safety check is measured for (docs/decisions/0014)."""


class Registry:
    """Which jobs there are. One folder after the other is made or removed."""

    def __init__(self, around: DaemonContext, supervisor: Supervisor) -> None:
        self._around = around
        self._supervisor = supervisor
        self._turn = asyncio.Lock()

    @property
    def frame(self) -> Frame:
        """What every job must fit into."""
        around = self._around
        return Frame(
            roots=(around.folder.files, *around.config.root_paths),
            politeness=around.folder.politeness,
            cleared=(around.folder.jobs, around.folder.tmp),
            closed_networks=around.config.security.forbidden_networks,
            secrets=around.config.security.secrets,
            limits=around.grants.limits,
            defaults=around.config.claim,
        )

    async def problems(
        self, name: str, source: Source, claim: Mapping[str, Any] | None = None
    ) -> tuple[Reason | str, ...]:
        """All that stands against a new job."""
        problems = self._name_problems(name) if name else self._too_many()
        try:
            await asyncio.to_thread(propose, source, self.frame, claim)
        except ConfigError as error:
            problems += error.reasons
        return tuple(problems)

    async def create(
        self, name: str, source: Source, claim: Mapping[str, Any] | None, seeds: str | None
    ) -> Job:
        """Make a job; see `Daemon.create`."""
        async with self._turn:
            with telling():
                given = None
                if seeds is not None:
                    given = await asyncio.to_thread(folders.keep_seeds, self._around.folder.tmp, seeds)
                try:
                    return await self._create(name, source, claim, given)
                finally:
                    if given is not None:
                        given.unlink(missing_ok=True)

    async def _create(
        self, name: str, source: Source, claim: Mapping[str, Any] | None, given: Path | None
    ) -> Job:
        problems = self._name_problems(name) if name else self._too_many()
        try:
            proposal = await asyncio.to_thread(propose, source, self.frame, claim, given)
        except ConfigError as error:
            problems += error.reasons
        if problems:
            raise ConfigError(*problems)
        name = name or self._free_name(proposal.name)
        folder = self._around.folder.jobs / name
        await asyncio.to_thread(folders.make, folder, proposal.config)
        job = Job(
            name=name, folder=str(folder), claim=proposal.claim, seeds=proposal.seeds, created=time.time()
        )
        return self._add(job)

    async def adopt(self, name: str, path: Path) -> Job:
        """Take in a crawl that was made by hand; see `Daemon.adopt`."""
        async with self._turn:
            with telling():
                folder = await asyncio.to_thread(self._adoptable, name, path)
                return self._add(await self._found(name, folder, adopted=True))

    def _adoptable(self, name: str, path: Path) -> Path:
        """The folder of a crawl that may be adopted."""
        problems = self._name_problems(name)
        roots = self._around.config.root_paths
        folder = followed(path)
        if folder is None:
            problems.append(of("folder", because(ProblemCode.FOLDER_NOWHERE, str(path))))
        elif not is_within(folder, roots):
            allowed = ", ".join(map(str, roots)) or "there are none"
            problems.append(of("folder", because(ProblemCode.FOLDER_OUTSIDE, allowed)))
        elif folder in {job.path for job in self._jobs()}:
            problems.append(of("folder", Reason(ProblemCode.FOLDER_TAKEN)))
        elif not os.path.exists(CrawlFolder(folder).config):  # noqa: PTH110 - also of a name that is too long
            problems.append(of("folder", Reason(ProblemCode.FOLDER_EMPTY)))
        if problems or folder is None:
            raise ConfigError(*problems)
        return folder

    async def clone(self, name: str, new: str) -> Job:
        """Make a job with the settings, claim and seeds of another, in an empty folder."""
        async with self._turn:
            with telling():
                job = self._around.roster.get(name)
                new = new or self._free_name(name)
                if problems := self._name_problems(new):
                    raise ConfigError(*problems)
                folder = self._around.folder.jobs / new
                config = await asyncio.to_thread(folders.settings_of_copy, job.path)
                await asyncio.to_thread(folders.make, folder, config)
                copy = Job(
                    name=new, folder=str(folder), claim=job.claim, seeds=job.seeds, created=time.time()
                )
                return self._add(copy)

    async def delete(self, name: str) -> None:
        """Remove a job that does not run, with its folder if the daemon has made it."""
        async with self._turn:
            with telling():
                job = self._around.roster.get(name)
                if job.process is not None or job.wanted != "stop" or crawler_of(job.path) is not None:
                    raise ServiceError("conflict", because(ProblemCode.RUNS, name))
                await self._supervisor.remove(name)
                try:
                    if not job.adopted:
                        await asyncio.to_thread(folders.put_aside, job.path, self._around.folder.tmp)
                        self._around.errors_of(name).unlink(missing_ok=True)
                except BaseException:
                    self._supervisor.add(name)
                    raise
                self._around.roster.forget(name)
                self._around.asking.forget(job.path)
        self._supervisor.share_disk()

    async def find_unknown(self) -> None:
        """Take in crawls below `jobs/` that the database does not know: it was lost, or older."""
        known = {job.path for job in self._jobs()}
        for path in sorted(self._around.folder.jobs.iterdir()):
            if path in known or not path.is_dir() or path.is_symlink() or not NAME.fullmatch(path.name):
                continue
            if is_cluster(path):
                continue
            if not CrawlFolder(path).config.exists():  # a daemon was killed while it made this
                await asyncio.to_thread(folders.put_aside, path, self._around.folder.tmp)
                continue
            try:
                job = await self._found(path.name, path, adopted=False)
            except ConfigError:
                continue
            self._around.roster.put(job)
            self._around.roster.store.note(WHO, "found", job.name, str(path))

    def _jobs(self) -> list[Job]:
        return [self._around.roster.get(name) for name in self._around.roster.names()]

    def _name_problems(self, name: str) -> list[Reason | str]:
        problems: list[Reason | str] = list(name_problems(name))
        if not problems and self._is_taken(name):
            problems = [of("name", because(ProblemCode.NAME_TAKEN, name))]
        return problems + self._too_many()

    def _too_many(self) -> list[Reason | str]:
        full = len(self._around.roster.names()) >= MOST_JOBS
        return [f"name: there are {MOST_JOBS:,} jobs already: delete some"] if full else []

    def _is_taken(self, name: str) -> bool:
        # By a link that leads nowhere, too.
        return name in self._around.roster or os.path.lexists(self._around.folder.jobs / name)

    def _free_name(self, name: str) -> str:
        """This one, or the first of `name-2`, `name-3` that nobody has."""
        if not self._is_taken(name):
            return name
        ends = (f"-{number}" for number in count(2))
        return next(free for end in ends if not self._is_taken(free := name[: NAME_LENGTH - len(end)] + end))

    async def _found(self, name: str, folder: Path, *, adopted: bool) -> Job:
        """A job for a crawl that is there; whether it runs is seen by its reconciler."""
        around = self._around
        claim = Claim(connections=0, bandwidth=0, memory=0, disk=0, files=0)
        job = Job(
            name=name, folder=str(folder), adopted=adopted, claim=claim, state=JobState.STOPPED,
            created=time.time(),
        )  # fmt: skip
        config = await crawl_config(job)
        runs = crawler_of(folder) is not None
        default = default_claim(config, around.config.claim, around.grants.limits)
        return msgspec.structs.replace(
            job,
            claim=load_claim({}, default, config, self.frame, around.config.claim.memory_factor),
            seeds=await asyncio.to_thread(first_seeds, config, folder),
            wanted="run" if runs else "stop",
        )

    def _add(self, job: Job) -> Job:
        self._around.roster.put(job)
        self._supervisor.add(job.name)
        return job
