"""What is made of jobs beside their crawls, takes minutes and is kept in their folders: audits, and what jobs differ
in. One is made at a time, by a process of its own that ends with the daemon; what is kept is read in threads."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.assembly.folder import CrawlFolder
from gossamer.audit.audit import FOLDER
from gossamer.audit.outputs.as_csv import as_csv
from gossamer.audit.outputs.as_json import as_json
from gossamer.audit.outputs.as_sarif import as_sarif
from gossamer.audit.result import AuditResult, Finding, Only, Requests, kept_audit
from gossamer.audit.rules import RULES, Level, Rule
from gossamer.daemon.errors import ServiceError, telling
from gossamer.daemon.reading.orders import AuditOrder, DifferencesOrder, Progress
from gossamer.daemon.reading.process import READ_MEMORY, Readers
from gossamer.inspect.clusters.whole import inspect_whole
from gossamer.inspect.compare.crawls import Counts, Kind
from gossamer.inspect.compare.kept import KeptDifference, kept_differences, others
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.reasons.reason import text as told_text
from gossamer.policy.linkcheck.verdicts import LinkVerdict
from gossamer.words.catalogue import words

MAKE_SECONDS = 12 * 3600.0
ASK_SECONDS = 6 * 3600.0
"""In which an audit asks for links outside; what is left then is unknown."""


class Making(msgspec.Struct, frozen=True):
    """How it stands with what is made.

    Attributes:
        running: it is being made, or waits for another.
        progress: how far it is.
        problem: why it could not be made the last time.
    """

    running: bool = False
    progress: Progress | None = None
    problem: Reason | None = None


class AuditAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which findings of an audit are wanted: of one rule, of links with a verdict; of how many."""

    rule: Rule | None = None
    verdict: LinkVerdict | None = None
    cursor: Annotated[str, Meta(pattern=r"^([a-z0-9-]{1,40}:[0-9]{1,12})?$")] = ""
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100

    @property
    def only(self) -> Only:
        """This filter as the audit takes it.

        Raises:
            ServiceError: the cursor is none.
        """
        begin, _, passed = self.cursor.partition(":")
        if begin and begin not in set(Rule):
            raise ServiceError("invalid", because(ProblemCode.CURSOR, self.cursor))
        return Only(self.rule or "", self.verdict or "", begin, int(passed or 0))


class AuditShown(msgspec.Struct, frozen=True, kw_only=True):
    """The last audit of a job.

    Attributes:
        making: of the next one.
        made: when it came to its end, wall time; `None`: there was none.
        pages: that were read.
        requests: that were made for it.
        problems: of the archive.
        verdicts, levels, rules: how many links and findings there are of each.
        findings: those asked for, the gravest first.
        cursor: goes on where they end; `None` at the end.
    """

    making: Making
    made: float | None = None
    pages: int = 0
    requests: Requests = Requests(0, 0)
    problems: list[str] = []
    verdicts: dict[str, int] = {}
    levels: dict[str, int] = {}
    rules: dict[str, int] = {}
    findings: list[Finding] = []
    cursor: str | None = None


class DifferencesAsked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which differences from which job are wanted: of a kind, of how many; `text`: with what differs in their texts."""

    other: Annotated[
        str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$", description="the job that it is compared with")
    ]
    kind: Kind = "changed"
    cursor: Annotated[int, Meta(ge=0, le=1 << 60, description="where to begin: `at` of a difference")] = 0
    limit: Annotated[int, Meta(ge=1, le=1_000)] = 100
    text: bool = False


class DifferencesShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a job differs in from another.

    Attributes:
        making: of the next comparison.
        made: when they were compared, wall time; `None`: they were not.
        counts: of pages of each kind.
        items: those asked for.
        cursor: goes on where they end; `None` at the end.
    """

    making: Making
    made: float | None = None
    counts: Counts = msgspec.field(default_factory=Counts)
    items: list[KeptDifference] = []
    cursor: int | None = None


_Key = tuple[Path, str]
"""Folder, and the name of the other job; none for an audit."""


class Studies:
    """Has them made, and reads what was kept."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._turn = asyncio.Semaphore(1)
        self._tasks: dict[_Key, asyncio.Task[None]] = {}
        self._making: dict[_Key, Making] = {}

    async def audit(self, folder: Path, *, outside: bool) -> None:
        """Begin to audit a crawl.

        Args:
            folder: of the crawl.
            outside: ask for links that it did not visit; not while it runs, for a host is asked by one at a time.

        Raises:
            ServiceError: that cannot be, or one is being made.
        """
        await _prove(folder)
        if outside and CrawlFolder(folder).in_use():
            raise ServiceError("conflict", Reason(ProblemCode.AUDIT_RUNNING))
        order = AuditOrder(str(folder), MAKE_SECONDS, READ_MEMORY, outside, ASK_SECONDS)
        self._begin((folder, ""), order)

    async def compare(self, folder: Path, other: Path, name: str) -> None:
        """Begin to compare a crawl with an earlier one.

        Args:
            folder: of the later crawl.
            other: of the earlier one.
            name: of that, under which the result is kept.

        Raises:
            ServiceError: that cannot be, or it is being done.
        """
        if folder == other:
            raise ServiceError("invalid", Reason(ProblemCode.SAME_JOB))
        await _prove(other)
        await _prove(folder)
        order = DifferencesOrder(str(folder), MAKE_SECONDS, READ_MEMORY, str(other), name)
        self._begin((folder, name), order)

    def _begin(self, key: _Key, order: AuditOrder | DifferencesOrder) -> None:
        if key in self._tasks:
            raise ServiceError("conflict", Reason(ProblemCode.BEING_MADE))
        self._making[key] = Making(running=True)
        task = self._tasks[key] = asyncio.create_task(self._make(key, order))
        task.add_done_callback(lambda _: self._tasks.pop(key, None))

    async def _make(self, key: _Key, order: AuditOrder | DifferencesOrder) -> None:
        def tell(progress: Progress) -> None:
            self._making[key] = Making(running=True, progress=progress)

        try:
            async with self._turn:
                await self._readers.make(order, tell)
        except ServiceError as error:
            why = error.why
            self._making[key] = Making(problem=told_text(why) if isinstance(why, str) else why)
        else:
            del self._making[key]

    async def end(self, folder: Path | None = None) -> None:
        """Make nothing more of a crawl, or of any."""
        ending = [task for key, task in self._tasks.items() if folder in (None, key[0])]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        for key in [key for key in self._making if folder in (None, key[0])]:
            del self._making[key]

    async def audited(self, folder: Path, asked: AuditAsked) -> AuditShown:
        """What the last audit has found.

        Raises:
            ServiceError: the cursor is none, or it cannot be read.
        """
        making = self._making.get((folder, ""), Making())
        only = asked.only
        return await asyncio.to_thread(_read_audit, folder, making, only, asked.limit)

    async def differences(self, folder: Path, asked: DifferencesAsked) -> DifferencesShown:
        """What a crawl differs in from another.

        Raises:
            ServiceError: the cursor is none, or it cannot be read.
        """
        making = self._making.get((folder, asked.other), Making())
        with telling():
            kept = await asyncio.to_thread(
                kept_differences, folder, asked.other, asked.kind, asked.cursor, asked.limit, text=asked.text
            )
        if kept is None:
            return DifferencesShown(making=making)
        return DifferencesShown(
            making=making, made=kept.made, counts=kept.counts, items=kept.items, cursor=kept.cursor
        )

    def compared(self, folder: Path) -> list[str]:
        """Names of the jobs that a crawl was compared with, or is."""
        return sorted({*others(folder), *(name for path, name in self._making if path == folder and name)})


async def _prove(folder: Path) -> None:
    """See that there is a crawl that can be looked into."""

    def look() -> None:
        with inspect_whole(folder):
            pass

    with telling():
        await asyncio.to_thread(look)


def _read_audit(folder: Path, making: Making, only: Only, limit: int) -> AuditShown:
    with telling(), kept_audit(folder / FOLDER) as result:
        if result is None:
            return AuditShown(making=making)
        found, onwards = result.page(only, limit)
        rules = result.rules
        levels = {
            level.value: sum(n for rule, n in rules.items() if RULES[Rule(rule)] is level) for level in Level
        }
        return AuditShown(
            making=making,
            made=result.at,
            pages=result.pages,
            requests=result.requests,
            problems=result.problems,
            verdicts=result.verdicts,
            levels=levels,
            rules=rules,
            findings=found,
            cursor=f"{onwards.begin}:{onwards.passed}" if onwards is not None else None,
        )


FORMS: dict[str, tuple[str, Callable[[AuditResult], Iterator[bytes]]]] = {
    "json": ("application/json", as_json),
    "csv": (
        "text/csv; charset=utf-8",
        lambda result: (line.encode("utf-8", "replace") for line in as_csv(result)),
    ),
    "sarif": ("application/sarif+json", lambda result: as_sarif(result, words("en"))),
}
"""Of files with all that an audit has found: media type, and what writes them."""


def audit_file(folder: Path, form: str) -> Iterator[bytes]:
    """Pieces of a file with all that the last audit has found, in one of `FORMS`; for a thread.

    Raises:
        ServiceError: there was none, or it cannot be read; at the first piece.
    """
    with telling(), kept_audit(folder / FOLDER) as result:
        if result is None:
            raise ServiceError("not_found", Reason(ProblemCode.NO_AUDIT))
        yield from FORMS[form][1](result)
