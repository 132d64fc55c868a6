"""The daemon: many crawls, each in a process of its own, under one set of limits."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from pathlib import Path
from typing import Any

from gossamer.assembly.folder import CrawlFolder
from gossamer.control.socket.protocol import NotRunning
from gossamer.control.views.views import VIEWS
from gossamer.daemon.allocation.claims import claim_problems
from gossamer.daemon.allocation.grants import AllocationView, Grants
from gossamer.daemon.asking import Asking
from gossamer.daemon.clusters.shown import CLUSTER, Clusters
from gossamer.daemon.config import ServiceConfig, ServiceFolder
from gossamer.daemon.context import DaemonContext, crawl_config
from gossamer.daemon.database import Database
from gossamer.daemon.errors import ServiceError, telling
from gossamer.daemon.jobs import folders
from gossamer.daemon.jobs.changes import change_settings
from gossamer.daemon.jobs.confinement import change_problems
from gossamer.daemon.jobs.copies import copy_and_start
from gossamer.daemon.jobs.job import Job, JobState, Wanted
from gossamer.daemon.jobs.proposal import Source, load_claim
from gossamer.daemon.jobs.registry import Registry
from gossamer.daemon.jobs.roster import Roster
from gossamer.daemon.jobs.schedule import Schedule, next_start, schedule_problems
from gossamer.daemon.jobs.supervisor import Supervisor, find_running
from gossamer.daemon.limits import Limits
from gossamer.daemon.pings.pings import Pings
from gossamer.daemon.reading.process import Readers
from gossamer.daemon.reading.replays import Replays
from gossamer.daemon.reading.studies import Studies
from gossamer.daemon.searching.searchers import Searchers
from gossamer.daemon.single import Single
from gossamer.daemon.store import Store
from gossamer.daemon.views import Event, JobView, possible
from gossamer.model.errors import StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because

MOST_LISTED = 1_000
_ORDERS = ("pause", "unpause", "stop")
"""Methods of a crawl that are the daemon's, too: it would undo what went past it."""
_NOT_FOR_ASKING = ("limits",)
"""What a crawl takes from its daemon only."""
_CHANGE_NOTHING = frozenset({*VIEWS, "preview_scope"})


class Daemon:
    """Jobs and what may be done with them; for one event loop.

    Every method raises `ServiceError` if what is asked for cannot be done, and has then changed nothing.
    `who` is noted in the audit.

    Attributes:
        path: its folder.
        config: its settings.
        store: what it remembers; `store.database` also holds the tables of others.
        clusters: that it shows; they run without it.
        pings: what others tell of pages that have changed.
        readers: read what jobs have archived, and answer questions in SQL.
        studies: audits of jobs, and what they differ in.
        replays: show archived pages as they looked.
        searchers: find pages by what they say.
    """

    def __init__(
        self, folder: ServiceFolder, config: ServiceConfig, single: Single, database: Database
    ) -> None:
        """Put the parts together; `open` is for everybody else.

        Raises:
            StorageError: the database is damaged.
        """
        self.path = folder.path
        self.config = config
        self.store = Store(database)
        self._folder = folder
        self._single = single
        self._limits = Limits(config.limits, folder, self.store)
        roster = self._roster = Roster(self.store)
        self._grants = Grants(self._limits.now(), find_running(roster), self._on_served)
        roster.waits = self._grants.why
        self._asking = Asking()
        self.readers = Readers(config.sql.seconds, config.sql.at_once)
        self.studies = Studies(self.readers)
        self.replays = Replays()
        self.searchers = Searchers()
        self._around = DaemonContext(folder, config, roster, self._grants, self._asking)
        self._supervisor = Supervisor(self._around, lambda: self._limits.now()["disk"], self._start_anew)
        self.pings = Pings(self._around, database)
        self._registry = Registry(self._around, self._supervisor)
        self.clusters = Clusters(config.cluster_paths, folder.jobs, self.note)
        self._background: set[asyncio.Task[None]] = set()

    @classmethod
    def prepare(cls, path: Path, config: ServiceConfig) -> "Daemon":
        """A daemon that owns its folder and does nothing yet.

        Raises:
            ConfigError: another daemon works there, it cannot be written, or clusters cannot be told apart.
            StorageError: its database is damaged.
        """
        folder = ServiceFolder(path.resolve())
        folder.create()
        with contextlib.ExitStack() as on_failure:
            single = Single(folder.path)
            on_failure.callback(single.release)
            database = on_failure.enter_context(contextlib.closing(Database(folder.database)))
            daemon = cls(folder, config, single, database)
            on_failure.pop_all()
        return daemon

    async def begin(self) -> None:
        """Take up the work: what runs is adopted, what has died is resumed."""
        await asyncio.to_thread(folders.clear, self._folder.tmp)
        await self._registry.find_unknown()
        self._supervisor.start()
        self.pings.start()

    @classmethod
    async def open(cls, path: Path, config: ServiceConfig) -> "Daemon":
        """A daemon that has been prepared and begun."""
        daemon = cls.prepare(path, config)
        try:
            await daemon.begin()
        except BaseException:
            await daemon.close()
            raise
        return daemon

    async def close(self) -> None:
        """Put the work down; the crawls go on."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.pings.close()
        await self._supervisor.close()
        await self._asking.close()
        await self.clusters.close()
        await self.studies.end()
        await self.replays.end()
        await self.searchers.close()
        with contextlib.suppress(StorageError):
            self.store.catch_up()
        self.store.database.close()
        self._single.release()

    # Looking

    def jobs(self) -> list[JobView]:
        """All, by name; from memory."""
        return [self._roster.view(name) for name in self._roster.names()]

    def job(self, name: str) -> JobView:
        """One of the jobs, as it is shown."""
        return self._roster.view(name)

    def folder(self, name: str) -> Path:
        """Where a job's crawl lies."""
        return self._roster.get(name).path

    def folders(self, name: str = "") -> dict[str, Path]:
        """Where the crawl of a job lies, or those of all, the newest first; by name."""
        jobs = [self._roster.get(one) for one in ([name] if name else self._roster.names())]
        return {job.name: job.path for job in sorted(jobs, key=lambda job: -job.created)}

    async def searched(self) -> dict[str, Path]:
        """Where all lies that is searched together: clusters, as `cluster:NAME`, and the crawls of jobs."""
        clusters = await self.clusters.folders()
        return {f"{CLUSTER}{name}": path for name, path in clusters.items()} | self.folders()

    async def searched_cluster(self, name: str) -> dict[str, Path]:
        """The same of one cluster."""
        return {f"{CLUSTER}{name}": await self.clusters.folder(name)}

    async def figures(self, name: str) -> dict[str, Any]:
        """A crawl's `status`, at most a second old, whoever asks."""
        found: dict[str, Any] = await self._asking.status(self._roster.get(name).path)
        return found

    def configuration(self, name: str) -> str:
        """The settings with which a job goes on, as TOML; secrets are never in it."""
        try:
            return CrawlFolder(self._roster.get(name).path).config.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ServiceError("internal", f"the settings cannot be read ({error})") from None

    def allocation(self) -> AllocationView:
        """Who holds what, and who waits for what."""
        return self._grants.view()

    def audit(self, cursor: str | None = None, limit: int = 100, job: str = "") -> dict[str, Any]:
        """Who did what, the newest first: `{"items": [AuditLine], "cursor": ..., "total": None}`."""
        if cursor and not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 19):
            raise ServiceError("invalid", "cursor: is none that was handed out")
        limit = max(1, min(limit, MOST_LISTED))
        lines = self.store.audit(int(cursor) if cursor else None, limit, job)
        more = str(lines[-1].id) if len(lines) == limit else None
        return {"items": lines, "cursor": more, "total": None}

    def note(self, who: str, action: str, job: str = "", details: str = "") -> None:
        """Add a line to the audit."""
        self.store.note(who, action, job, details)

    def events(self) -> AsyncIterator[Event]:
        """Everything that changes from now on; who is slow misses the oldest."""
        return self._roster.events()

    # Making and removing

    async def validate(
        self, name: str, source: Source, claim: Mapping[str, Any] | None = None
    ) -> tuple[Reason | str, ...]:
        """All that stands against a new job; nothing if it can be made. A name may be left out."""
        return await self._registry.problems(name, source, claim)

    async def create(
        self,
        name: str,
        source: Source,
        *,
        who: str,
        claim: Mapping[str, Any] | None = None,
        seeds: str | None = None,
    ) -> JobView:
        """Make a job, which does not start by itself.

        Args:
            name: empty: by its first seed, `crawl-example.org`, with a number if there is such a job.
            source: its settings: TOML, or the same as a tree; keys may be dotted paths.
            claim: the most it will ever hold, by resource; what is not named has its default.
            seeds: more seeds, one a line.
        """
        job = await self._registry.create(name, source, claim, seeds)
        return self._noted(who, "create", job.name)

    async def adopt(self, name: str, path: str, *, who: str) -> JobView:
        """Take in a crawl that was made by hand, running or not, below one of `config.roots`."""
        await self._registry.adopt(name, Path(path))
        return self._noted(who, "adopt", name, path)

    async def clone(self, name: str, new: str, *, who: str) -> JobView:
        """Make a job with the settings, claim and seeds of another, in an empty folder.

        Args:
            new: empty: the same name with a number.
        """
        copy = await self._registry.clone(name, new)
        return self._noted(who, "clone", copy.name, f"of {name}")

    async def delete(self, name: str, *, confirm: str, who: str) -> None:
        """Remove a job that does not run, with its folder; an adopted folder is only forgotten.

        Args:
            confirm: the name once more.
        """
        self._roster.get(name)
        if confirm != name:
            raise ServiceError("invalid", "confirm: must be the name of the job, for its folder is removed")
        folder = self.folder(name)
        await self._registry.delete(name)
        await self.studies.end(folder)
        await self.replays.end(folder)
        self.store.note(who, "delete", name)
        self._in_background(asyncio.to_thread(folders.clear, self._folder.tmp))

    # Orders

    async def start(self, name: str, *, who: str) -> JobView:
        """Let a job run, as soon as what it needs is free."""
        job = self._allowed(name, "start")
        with telling():
            problems = claim_problems(job.claim, await crawl_config(job), self._grants.limits)
        if problems:
            raise ServiceError("conflict", problems[0], problems)
        self._roster.change(name, crashes=0, retry_at=None)
        return self._want(name, "run", who, "start")

    async def pause(self, name: str, *, who: str) -> JobView:
        """Let no visit go out; connections and bandwidth are given back."""
        self._allowed(name, "pause")
        return self._want(name, "pause", who, "pause")

    async def unpause(self, name: str, *, who: str) -> JobView:
        """Let a paused job go on, as soon as what it needs is free."""
        self._allowed(name, "unpause")
        return self._want(name, "run", who, "unpause")

    async def stop(self, name: str, *, who: str, now: bool = False) -> JobView:
        """End a job's process well; `now`: without waiting for visits that are under way."""
        self._allowed(name, "stop")
        self._roster.change(name, at_once=now, reason=None)
        return self._want(name, "stop", who, "stop now" if now else "stop")

    async def checkpoint(self, name: str, *, who: str) -> JobView:
        """Have the crawl take a checkpoint; returns when that is done."""
        self._allowed(name, "checkpoint")
        await self._asking.any(self._roster.get(name).path, "checkpoint", {}, who)
        return self._noted(who, "checkpoint", name)

    async def withdraw(self, name: str, *, who: str) -> JobView:
        """Forget a change that waits for what it needs; a job that waits to begin is stopped."""
        job = self._allowed(name, "withdraw")
        if job.process is None:
            return self._want(name, "stop", who, "withdraw")
        if job.pending is not None:
            self._roster.change(name, pending=None)
            self._grants.withdraw(name)
        self._roster.tell_allocation()
        return self._noted(who, "withdraw", name)

    async def schedule(self, name: str, schedule: Schedule | None, *, who: str) -> JobView:
        """Let a job run by the clock, or no longer."""
        self._roster.get(name)
        if schedule is not None and (problems := schedule_problems(schedule)):
            raise ServiceError("invalid", problems[0], problems)
        next_run = next_start(schedule, time.time()) if schedule is not None else None
        self._roster.change(name, schedule=schedule, next_run=next_run)
        self._supervisor.wake(name)
        words = "none" if schedule is None else f"{schedule.cron or 'never'}, quiet {list(schedule.quiet)}"
        return self._noted(who, "schedule", name, words)

    async def set_claim(self, name: str, claim: Mapping[str, Any], *, who: str) -> JobView:
        """Change the most that a job may ever hold; what is not named stays."""
        job = self._roster.get(name)
        with telling():
            config = await crawl_config(job)
            wanted = load_claim(claim, job.claim, config, self._registry.frame)
            problems = claim_problems(wanted, config, self._grants.limits)
        if problems:
            raise ServiceError("invalid", problems[0], problems)
        if name in self._grants:
            self._grants.change_claim(name, wanted)
        self._roster.change(name, claim=wanted)
        self._roster.tell_allocation()
        self._supervisor.wake(name)
        return self._noted(who, "claim", name, str(wanted.amounts()))

    async def set_limits(self, limits: Mapping[str, Any], *, who: str) -> AllocationView:
        """Change how much there is; what is not named stays, 0 goes back to the settings.

        A limit falls as far as is safe at once, and the rest as things are given back.
        """
        with telling():
            changed = self._limits.change(limits)
        for name, total in changed.items():
            if name != "disk":
                self._grants.set_limit(name, total)
        self._supervisor.share_disk()
        for name in self._roster.names():
            self._supervisor.wake(name)
        self._roster.tell_allocation()
        self.store.note(who, "limits", "", str(dict(limits)))
        return self._grants.view()

    async def study(self, name: str, *, who: str, other: str = "", outside: bool = False) -> None:
        """Begin to audit a job, or to compare it with another; `outside` as `Studies.audit` has it."""
        folder = self.folder(name)
        if other:
            await self.studies.compare(folder, self.folder(other), other)
            self.store.note(who, "compare", name, f"with {other}")
        else:
            await self.studies.audit(folder, outside=outside)
            self.store.note(who, "audit", name, "with links outside" if outside else "")

    # Asking crawls

    async def ask(self, name: str, method: str, params: Mapping[str, Any] | None = None, *, who: str) -> Any:
        """Any method of a crawl: views whether it runs or not, operations if it runs.

        `set` asks the allocator for what it needs; the answer `{"waits": ...}` says that the change will be
        made when that is granted. Of a job that does not run, `set` changes any setting.
        """
        job = self._roster.get(name)
        given = dict(params or {})
        if method in _NOT_FOR_ASKING:
            raise ServiceError("not_found", f"there is no method {method!r}")
        if method in _ORDERS:
            return await self._order(name, method, given, who)
        if method == "status":
            return await self.figures(name)
        if method != "set":
            result = await self._asking.any(job.path, method, given, who)
            self._note_asked(who, method, name, given)
            return result
        changes = given.get("changes")
        if not isinstance(changes, dict) or set(given) != {"changes"}:
            raise ServiceError("invalid", "changes: a table of settings by their paths is needed")
        if job.process is None:
            with telling():
                made = await change_settings(job, changes, who, self._registry.frame)
            self._asking.forget(job.path)
            self._note_asked(who, method, name, changes)
            return made
        if problems := change_problems(changes, self._registry.frame.roots):
            raise ServiceError("invalid", problems[0], problems)
        try:
            result = await self._supervisor.reconciler(name).change(changes, who)
        except NotRunning:
            raise ServiceError("conflict", Reason(ProblemCode.NO_ANSWER)) from None
        waits = isinstance(result, dict) and "waits" in result
        self._note_asked(who, method, name, changes, " (waits for what it needs)" if waits else "")
        return result

    async def _order(self, name: str, method: str, params: dict[str, Any], who: str) -> dict[str, str]:
        now = params.pop("now", False) if method == "stop" else False
        if params or not isinstance(now, bool):
            raise ServiceError("invalid", f"{method} takes no such parameters")
        if method == "stop":
            await self.stop(name, who=who, now=now)
        elif method == "pause":
            await self.pause(name, who=who)
        else:
            await self.unpause(name, who=who)
        return {"state": self._roster.get(name).state.value}

    # Within

    def _allowed(self, name: str, order: str) -> Job:
        job = self._roster.get(name)
        if order not in possible(job, waits=self._grants.waits(name)):
            raise ServiceError(
                "conflict", because(ProblemCode.NO_SENSE, name, Reason(f"state.{job.state}"), order)
            )
        return job

    def _want(self, name: str, wanted: Wanted, who: str, action: str) -> JobView:
        state = self._roster.get(name).state
        if wanted == "run" and state not in (JobState.RUNNING, JobState.PAUSED):
            state = JobState.QUEUED
        self._roster.change(name, wanted=wanted, by=who, state=state)
        self._supervisor.wake(name)
        return self._noted(who, action, name)

    def _note_asked(self, who: str, method: str, name: str, given: Mapping[str, Any], more: str = "") -> None:
        """Put what was done to a crawl into the audit, too: its own log goes with its folder."""
        if method not in _CHANGE_NOTHING and not given.get("dry_run"):
            self.store.note(who, method, name, f"{dict(given) or ''}{more}")

    def _noted(self, who: str, action: str, name: str, details: str = "") -> JobView:
        self.store.note(who, action, name, details)
        return self._roster.view(name)

    def _on_served(self, name: str) -> None:
        """The allocator has given a job what it waited for."""
        self._supervisor.wake(name)
        self._roster.tell_allocation()

    def _start_anew(self, name: str) -> None:
        self._in_background(copy_and_start(self, self._roster, name))

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
