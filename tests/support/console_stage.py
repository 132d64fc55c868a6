"""A daemon that is not there: jobs with made-up figures, to look at pages and test them by themselves.

Run as a program, it serves the console over them: `python tests/support/console_stage.py [--hostile]`.
"""

import argparse
import math
import time
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from gossamer.audit.result import Finding, Requests
from gossamer.audit.rules import RULES, Level, Rule
from gossamer.audit.store import Holder
from gossamer.control.views.host_views import HostBudget, HostDetail, HostPoliteness
from gossamer.daemon.allocation.allocator import Allocator
from gossamer.daemon.allocation.claims import UNITS, Claim
from gossamer.daemon.allocation.grants import AllocationView
from gossamer.daemon.clusters.watch import ClusterView
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.daemon.reading.orders import Progress, SqlAnswer, SqlColumn, SqlQuestion
from gossamer.daemon.reading.studies import AuditAsked, AuditShown, DifferencesAsked, DifferencesShown, Making
from gossamer.daemon.searching.questions import (
    AlikePage,
    AlikePages,
    FacetValue,
    FoundPage,
    FoundPages,
    Piece,
    Suggestion,
    Unusable,
)
from gossamer.daemon.views import JobView
from gossamer.inspect.archive.lookup import Indexed
from gossamer.inspect.archive.reread import LinkOut, ReadAgain, ReadText, Referrer, Referrers
from gossamer.inspect.clusters.cluster_view import (
    AgentCrawl,
    AgentOverview,
    ClusterFigures,
    ClusterLimits,
    MoveOverview,
    Overview,
)
from gossamer.inspect.compare.captures import Comparison
from gossamer.inspect.compare.crawls import Counts, Difference
from gossamer.inspect.compare.kept import KeptDifference
from gossamer.inspect.why.sentences import clause
from gossamer.inspect.why.story import fact
from gossamer.model.reasons.codes import HoldCode, ProblemCode, QueryCode, ScopeCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.change.passages import Passage, Row, Span
from gossamer.policy.linkcheck.verdicts import LinkVerdict
from gossamer.web.console import console_router
from gossamer.web.security.body import read_form
from gossamer.web.security.visitor import Role, Visitor, welcome

MIB = 1 << 20
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp\u0007\"'&"
"""What a page could be titled by somebody who wants to run something in the console."""
EXAMPLES = (
    "docs.example.org",
    "www.example.com",
    "wiki.example.net",
    "shop.example.com",
    "xn--bcher-kva.example",
)


def captured(odd: str) -> Indexed:
    """One capture."""
    url = f"https://docs.example.org/guide/{odd}"
    return Indexed(url, "2026-11-21T20:16:12Z", 200, f"text/html{odd}", "sha256:00", 9_210, "a.warc.gz", 120)


class StageReaders:
    """What processes would read, made up; a question that holds `wrong` has no answer."""

    def __init__(self, odd: str) -> None:
        self._odd = odd

    async def compare(
        self, folder: Path, url: str, since: str, until: str, *, everything: bool
    ) -> Comparison:
        odd = self._odd
        if "nothing" in url:
            raise ServiceError("not_found", f"there are no two captures of {url}")
        rows = [
            Row("same", new=[Span(f"Guide{odd}")]),
            Row("changed", [Span("It costs "), Span(f"5{odd}", True)], [Span("It costs "), Span(f"6{odd}", True)]),
            Row("removed", old=[Span(f"Old{odd}", True)], ignored=everything),
            Row("added", new=[Span(f"New{odd}", True)]),
        ]  # fmt: skip
        return Comparison(
            captured(odd), captured(odd), True, 0.02, 3, 4, not everything, [Passage(7, rows)], True
        )

    async def page(self, folder: Path, url: str, at: str) -> ReadAgain:
        odd = self._odd
        text = f"Guide{odd}\n\n\tThe first step.{odd}\n" * 20
        links = [
            LinkOut(f"https://docs.example.org/part-{n}{odd}", "navigation", n % 2 == 0, f"Part {n}{odd}",
                    ("done", "dropped", "")[n % 3], (200, 404, 0)[n % 3])
            for n in range(30)
        ]  # fmt: skip
        about = {"title": f"Guide{odd}", "published": f"2026-01-31{odd}"}
        return ReadAgain(
            capture=captured(odd),
            unmodified=False,
            redirect=f"https://docs.example.org/moved{odd}",
            type=f"text/html{odd}",
            charset="utf-8",
            head=f"HTTP/1.1 200 OK\nServer: nginx{odd}",
            size=41_233,
            truncated=True,
            document=ReadText(text, f"blocks 1{odd}", True, ("cut", odd), f"# Guide{odd}", about),
            fields={"price": f"9.99{odd}", f"name{odd}": odd},
            links=links,
            links_found=600,
            referrers=Referrers(7, 1.7e9, [Referrer(f"https://www.example.com/{odd}", "redirect", True)]),
            problems=[f"a plug-in failed{odd}"],
        )

    async def sql(self, folder: Path, asked: SqlQuestion) -> SqlAnswer:
        if "wrong" in asked.question:
            raise ServiceError("invalid", f"Parser Error: at{self._odd}\n\nLINE 1: wrong\n        ^")
        rows = [[f"type/{n}{self._odd}", n * 1_000] for n in range(12)]
        columns = [SqlColumn(f"type{self._odd}", "VARCHAR"), SqlColumn("pages", "BIGINT")]
        if "url" in asked.question:
            columns = [SqlColumn("url", "VARCHAR"), *columns]
            rows = [["https://docs.example.org/a?b=1&c=2", *row] for row in rows] + [[None, self._odd, None]]
        return SqlAnswer(columns, rows, True, 0.12, 1.7e9)


class StageSearchers:
    """What an index would tell, made up: job `fresh` has none, `wrong` is no query, `nothing` is found nowhere."""

    def __init__(self, odd: str) -> None:
        self._odd = odd

    async def pages(
        self,
        folders: dict[str, Path],
        query: str,
        *,
        limit: int,
        offset: int,
        facets: bool,
        only: dict[str, str],
    ) -> FoundPages:
        odd = self._odd
        jobs = [name for name in folders if name != "fresh"]
        around = FoundPages(
            jobs=jobs, without=[name for name in folders if name == "fresh"], documents=12_345
        )
        if "wrong" in query:
            return msgspec.structs.replace(around, problem=because(QueryCode.DATE, f"after:{odd}", 7))
        if not jobs or "nothing" in query:
            return around
        hits = [
            FoundPage(
                job=jobs[n % len(jobs)],
                also=tuple(jobs[: n % 2]),
                url=f"https://docs.example.org/part-{n}{odd}",
                title=(Piece(f"Part {n} of the "), Piece("guide", True), Piece(odd)) if n % 3 else (),
                snippet=(Piece(f"All about the {odd}"), Piece(f"guide{odd}", True), Piece(" and its parts.")),
                type=f"text/html{odd}",
                kind="html" if n % 2 else f"other{odd}",
                language=f"en{odd}" if n % 4 else "",
                dated=1.7e9 + n * 86_400,
                captured=1.78e9,
                size=41_233,
                score=12.0 - n,
                similar=n % 3,
            )
            for n in range(offset, offset + limit)
        ]
        values = {"site": "docs.example.org", "type": "pdf", "language": "zh", "year": "2026"}
        counted = {
            name: [FacetValue(value, 900), FacetValue(f"{value}{odd}", 40)] for name, value in values.items()
        }
        return msgspec.structs.replace(
            around,
            pages=hits,
            more=True,
            total=940,
            facets=counted if facets else {},
            behind=77,
            some=bool(odd),
            seconds=0.0042,
            unusable=[Unusable(jobs[0], f"its index is damaged{odd}")] if odd else [],
            left_out=3,
        )

    async def titles(self, folders: dict[str, Path], text: str, limit: int) -> list[Suggestion]:
        return [Suggestion(f"Guide {n}{self._odd}", f"https://docs.example.org/{n}") for n in range(limit)]

    async def alike(self, folders: dict[str, Path], url: str, limit: int) -> AlikePages:
        name, odd = next(iter(folders)), self._odd
        pages = [
            AlikePage(name, f"https://docs.example.org/copy-{n}{odd}", f"Copy {n}{odd}", 0.99 - n / 100)
            for n in range(min(limit, 12))
        ]
        return AlikePages(12, pages)


class StageStudies:
    """What an audit and a comparison would have found, made up; of job `fresh` nothing."""

    def __init__(self, odd: str) -> None:
        self._odd = odd

    async def audited(self, folder: Path, asked: AuditAsked) -> AuditShown:
        asked.only  # noqa: B018 - refuses a cursor that is none
        if folder.name == "fresh":
            return AuditShown(making=Making(problem=Reason(ProblemCode.NOT_BEGUN)))
        odd = self._odd
        holders = [Holder(f"https://docs.example.org/{n}{odd}", f"More{odd}") for n in range(8)]
        findings = [
            Finding(rule.value, RULES[rule].value, f"https://docs.example.org/{odd}",
                    {"status": 404, "code": "not-found", "title": f"Guide{odd}", "target": f"https://a.test/{odd}"},
                    holders)
            for rule in Rule
        ]  # fmt: skip
        return AuditShown(
            making=Making(running=True, progress=Progress("links", 1_234)),
            made=1.78e9,
            pages=4_321,
            requests=Requests(77, 5),
            problems=[f"archive a.warc.gz{odd}: cut"],
            verdicts={one.value: 3_210 for one in LinkVerdict},
            levels={one.value: 17 for one in Level},
            rules={rule.value: 3 for rule in Rule},
            findings=findings[: asked.limit],
            cursor="orphan:3",
        )

    async def differences(self, folder: Path, asked: DifferencesAsked) -> DifferencesShown:
        odd = self._odd
        rows = [Row("changed", [Span(f"5{odd}", True)], [Span(f"6{odd}", True)], True)]
        one = Difference(asked.kind, f"https://docs.example.org/{odd}", was=f"https://docs.example.org/was{odd}",
                         status=200, share=0.1, removed=3, added=4, passages=[Passage(7, rows)], cut=True)  # fmt: skip
        other = msgspec.structs.replace(one, note=f"no text{odd}", status=0)
        items = [KeptDifference(n * 700, (one, other)[n % 2]) for n in range(min(asked.limit, 12))]
        counts = Counts(same=3_000, ignored=20, changed=40, moved=12, new=7, gone=3)
        return DifferencesShown(making=Making(), made=1.78e9, counts=counts, items=items, cursor=8_400)

    def compared(self, folder: Path) -> list[str]:
        return [] if folder.name == "fresh" else ["archive-2026", "news"]


class StageReplays:
    """Opens nothing."""

    async def home(self, folder: Path) -> str:
        if folder.name == "fresh":
            raise ServiceError("conflict", "nothing has been crawled yet")
        return "http://list-abc.localhost:4711"


class StageDaemon:
    """Answers as the daemon does; remembers what was asked of it in `asked`."""

    def __init__(self, hostile: bool = False) -> None:
        self.asked: list[tuple[str, str, dict[str, Any], str]] = []
        self.odd = HOSTILE if hostile else ""
        self.readers = StageReaders(self.odd)
        self.searchers = StageSearchers(self.odd)
        self.studies = StageStudies(self.odd)
        self.replays = StageReplays()
        self.allocator = Allocator(
            {
                "connections": 200,
                "bandwidth": 40 * MIB,
                "memory": 3072 * MIB,
                "disk": 80 << 30,
                "files": 8192,
                "browser_pages": 0,
            }
        )
        self.clusters = StageClusters(self.odd)
        self.views = {view.name: view for view in self._make_jobs()}

    def _make_jobs(self) -> list[JobView]:
        jobs = []
        for number, (name, state, reason) in enumerate(
            (
                ("docs", JobState.RUNNING, ""),
                ("shops-weekly", JobState.PAUSED, "quiet hours until 18:00"),
                ("news", JobState.QUEUED, "waits for 64 connections"),
                ("archive-2026", JobState.FINISHED, "finished"),
                ("wiki-mirror", JobState.FAILED, "crashed 5 times without progress: disk full"),
                ("fresh", JobState.NEW, ""),
            )
        ):
            claim = Claim(
                connections=96,
                bandwidth=16 * MIB,
                memory=1024 * MIB,
                disk=20 << 30,
                files=2048,
                browser_pages=0,
            )
            waits = None
            if state in (JobState.RUNNING, JobState.PAUSED, JobState.QUEUED):
                self.allocator.join(name, claim.amounts())
                amounts = {"connections": 64, "bandwidth": 14 * MIB, "memory": 900 * MIB, "disk": 20 << 30}
                if not self.allocator.request(name, {**amounts, "files": 1500}):
                    waits = self.allocator.why(name)
            row = self.allocator.holdings()
            names = list(row.processes)
            held = (
                dict(zip(UNITS, map(int, row.allocated[names.index(name)]), strict=True))
                if name in names
                else {}
            )
            jobs.append(
                job_view_of(name, state, reason + self.odd, number, claim=claim, held=held, waits=waits)
            )
        return jobs

    def jobs(self) -> list[JobView]:
        return sorted(self.views.values(), key=lambda view: view.name)

    def job(self, name: str) -> JobView:
        if name not in self.views:
            raise ServiceError("not_found", because(ProblemCode.NO_JOB, name))
        return self.views[name]

    async def figures(self, name: str) -> dict[str, Any]:
        return await self.ask(name, "status", {}, who="")

    async def validate(self, name: str, source: Any, claim: Any = None) -> tuple[str, ...]:
        workers = source.get("engine", {}).get("workers", 1) if isinstance(source, dict) else 1
        problems = []
        if not isinstance(workers, int):
            problems.append(f"engine.workers: {workers!r} is not a whole number")
        if name.startswith("-"):
            problems.append("name: a hyphen cannot come first")
        return tuple(problems)

    async def create(
        self, name: str, source: Any, *, who: str, claim: Any = None, seeds: Any = None
    ) -> JobView:
        if problems := await self.validate(name, source):
            raise ServiceError("invalid", "nothing was created", problems)
        name = name or "crawl-example.org"
        self.asked.append((name, "create", source, who))
        self.views[name] = job_view_of(name, JobState.NEW, "", 9, claim=self.views["docs"].claim)
        return self.views[name]

    async def _act(self, name: str, act: str, who: str) -> JobView:
        self.asked.append((name, act, {}, who))
        return self.job(name)

    async def start(self, name: str, *, who: str) -> JobView:
        return await self._act(name, "start", who)

    async def pause(self, name: str, *, who: str) -> JobView:
        return await self._act(name, "pause", who)

    async def unpause(self, name: str, *, who: str) -> JobView:
        return await self._act(name, "unpause", who)

    async def stop(self, name: str, *, who: str, now: bool = False) -> JobView:
        return await self._act(name, "stop", who)

    async def checkpoint(self, name: str, *, who: str) -> JobView:
        return await self._act(name, "checkpoint", who)

    async def withdraw(self, name: str, *, who: str) -> JobView:
        return await self._act(name, "withdraw", who)

    async def clone(self, name: str, new: str, *, who: str) -> JobView:
        if new in self.views:
            raise ServiceError("conflict", f"there is a job {new!r} already")
        self.views[new] = msgspec.structs.replace(self.job(name), name=new)
        await self._act(name, f"clone {new}", who)
        return self.views[new]

    async def delete(self, name: str, *, confirm: str, who: str) -> None:
        await self._act(name, "delete", who)
        del self.views[name]

    async def schedule(self, name: str, schedule: Any, *, who: str) -> JobView:
        self.asked.append((name, "schedule", msgspec.to_builtins(schedule), who))
        return self.job(name)

    async def set_claim(self, name: str, claim: dict[str, int], *, who: str) -> JobView:
        self.asked.append((name, "set_claim", claim, who))
        if claim.get("connections", 0) > 200:
            raise ServiceError(
                "invalid", "the claim is too large", ("claim.connections: above the limit of 200",)
            )
        return self.job(name)

    def configuration(self, name: str) -> str:
        return 'seeds = ["https://docs.example.org/"]\n'

    async def set_limits(self, limits: dict[str, int], *, who: str) -> AllocationView:
        self.asked.append(("", "set_limits", limits, who))
        return self.allocation()

    def allocation(self) -> AllocationView:
        now = self.allocator.holdings()
        return AllocationView(
            resources=tuple(UNITS),
            units=tuple(UNITS.values()),
            totals=[int(n) for n in now.totals],
            targets=[int(n) for n in now.totals],
            available=[int(n) for n in now.available],
            processes=tuple(now.processes),
            maximum=[[int(n) for n in row] for row in now.maximum],
            allocated=[[int(n) for n in row] for row in now.allocated],
            needed=[[int(n) for n in row] for row in now.needed],
            safe_sequence=self.allocator.safe_sequence(),
            waiting=[wait for name in self.allocator.waiting() if (wait := self.allocator.why(name))],
            lowering=[],
        )

    def audit(self, cursor: str | None = None, limit: int = 100) -> dict[str, Any]:
        line = {"id": 1, "time": time.time() - 60, "who": "alice", "job": "docs", "action": "start"}
        return {"items": [{**line, "details": f"by hand {self.odd}"}], "cursor": None}

    async def ask(self, name: str, method: str, params: dict[str, Any], *, who: str) -> Any:
        self.asked.append((name, method, params, who))
        if self.job(name).state is JobState.NEW and method not in ("settings", "changes"):
            raise ServiceError("conflict", "the crawl has not begun")
        return getattr(self, f"_{method}", lambda _: {})(params)

    def _status(self, params: dict[str, Any]) -> dict[str, Any]:
        pages = int(time.time() * 37) % 4_000_000
        return {
            "state": "running",
            "reason": "",
            "started": time.time() - 86_400 * 2.4,
            "seconds": 86_400 * 2.4,
            "workers": {"wanted": 32, "busy": 29},
            "sums": {
                "pages": pages,
                "bytes": pages * 41_000,
                "visits": pages + 40_000,
                "failed_visits": 31_234,
                "known": 18_402_112,
                "queued": 9_310_442,
                "waiting": 8_211,
                "hosts": 131_072,
                "hosts_parked": 412,
            },
            "hosts_by_state": {
                "ready": 2100,
                "resting": 41_000,
                "waiting": 800,
                "parked": 412,
                "empty": 86_760,
            },
            "rates": {"pages_per_s": 37.42, "bytes_per_s": 1_534_220.0},
            "rates_minute": {"pages_per_s": 36.9, "bytes_per_s": 1_500_000.0},
            "held_by": "politeness: the next host falls due in 0.8 s" + self.odd,
            "twins": [
                {"why": ["twin.site", ["https://www.example.org", f"https://example.org{self.odd}", 37, 37]]}
            ],
            "proxies": [
                {"proxy": "http://192.0.2.7:3128" + self.odd, "failures": 4, "left_out": 47.0},
                {"proxy": "socks5h://192.0.2.8:1080", "failures": 0, "left_out": 0.0},
            ],
            "memory_bytes": 412 * MIB,
            "open_files": 213,
        }

    def _history(self, params: dict[str, Any]) -> dict[str, Any]:
        rows, pages, received, errors = [], 0.0, 0.0, 0.0
        now = time.time() // 10 * 10
        for step in range(160):
            at = now - (160 - step) * 600
            speed = 30 + 12 * math.sin(step / 9) + (step % 7)
            pages += speed * 600
            received += speed * 600 * (38_000 + 6000 * math.cos(step / 5))
            errors += 600 * (0.4 + (3 if 60 < step < 66 else 0))
            queued = 9_000_000 + step * 2000
            rows.append([at, pages, received, errors, queued, 8000, 41_000, 412, 32, 400 * MIB])
        columns = [
            "time",
            "pages",
            "bytes",
            "errors",
            "queued",
            "waiting",
            "resting",
            "parked",
            "workers",
            "memory",
        ]
        return {"columns": columns, "rows": rows}

    def _hosts(self, params: dict[str, Any]) -> dict[str, Any]:
        states = ("resting", "ready", "lent", "parked", "waiting", "empty")
        items = [
            {
                "name": (EXAMPLES[n % 5] if n < 5 else f"host-{n:04}.example.org") + self.odd,
                "state": states[n % 6],
                "seconds": 12.5 * (n % 4),
                "reason": ("politeness", "", "", "5 failures in a row", "retry", "")[n % 6] + self.odd,
                "queued": 90_000 // (n + 1),
                "waiting": n % 3,
                "pages": 31 * n * n,
                "bytes": 41_000 * 31 * n,
                "failures": (n % 6 == 3 and 5) or 0,
                "delay": 1.0 + n % 5,
                "next_at": None,
            }
            for n in range(100)
        ]
        return {"items": items, "cursor": "c2", "total": 1_000_000, "estimated": False}

    politeness = HostPoliteness(1.0, 60.0, 5.0, 1, 0.0, 1, "", ("cname",))
    budget = HostBudget(0, 0)

    def _host(self, params: dict[str, Any]) -> dict[str, Any]:
        """With all that the view has, or it is none."""
        host = {**self._hosts({})["items"][0], "name": params["name"], "blocked": False, "rest": 1.2}
        host |= {"politeness": self.politeness, "budget": self.budget, "parked": ""}
        host |= {"visits": 420, "crawl_delay": 2.0, "last_visit": time.time() - 3, "next_at": time.time() + 9}
        host |= {"branches": self._traps({})["items"], "robots": self._robots(params)["items"]}
        host |= {"servers": [["hold.server_cname", [f"edge.example.net{self.odd}"]]]}
        host |= {"first": [f"https://docs.example.org/next{self.odd}"], "failing_since": None}
        return msgspec.to_builtins(msgspec.convert(msgspec.to_builtins(host), HostDetail))

    def _queue(self, params: dict[str, Any]) -> dict[str, Any]:
        items = [
            {
                "url": f"https://{EXAMPLES[n % 5]}/guide/part-{n}/section-{n * 7}.html{self.odd}",
                "host": EXAMPLES[n % 5],
                "depth": 2 + n % 5,
                "level": n,
                "grade": 0,
                "kind": "navigation",
                "via": f"https://{EXAMPLES[n % 5]}/guide/{self.odd}" if n else "",
                "attempts": n % 2,
                "due": None,
                "reason": "",
            }
            for n in range(100)
        ]
        return {"items": items, "cursor": "next+page/=", "total": 9_310_442}

    def _queue_sizes(self, params: dict[str, Any]) -> dict[str, Any]:
        levels = [
            {
                "name": f"depth {n}",
                "first": n,
                "last": n,
                "urls": 4_000_000 >> n,
                "clauses": [{"key": "level.depth", "values": {"first": n}}],
            }
            for n in range(12)
        ]
        domains = [
            {"name": name + self.odd, "queued": 900_000 // (n + 1), "waiting": n, "hosts": 3, "error": 0}
            for n, name in enumerate(EXAMPLES)
        ]
        return {
            "by_depth": {str(n): int(3e6 / (1 + (n - 4) ** 2)) for n in range(14)},
            "by_level": {"levels": levels, "urls": 1, "keys_read": 1},
            "by_domain": {"domains": domains, "hosts": 5, "hosts_read": 5},
            "hosts": 1_204_331,
            "hosts_looked_at": 130_000,
            "estimated": True,
            "as_of": time.time(),
        }

    def _pages(self, params: dict[str, Any]) -> dict[str, Any]:
        items = [
            {
                "url": f"https://{EXAMPLES[n % 5]}/page/{n}{self.odd}",
                "state": "done",
                "status": (200, 200, 301, 404, None)[n % 5],
                "fault": "connect_timeout" if n % 5 == 4 else "",
                "mime": "text/html" + self.odd,
                "bytes": 41_233 * n,
                "time": time.time() - n,
                "title": f"Chapter {n}: the long and winding title of a page {self.odd}",
                "archive": None,
            }
            for n in range(100)
        ]
        return {"items": items, "cursor": "2", "total": None}

    def _log(self, params: dict[str, Any]) -> dict[str, Any]:
        items = []
        for n in range(100):
            line = {"at": time.time() - n / 7, "url": f"https://{EXAMPLES[n % 5]}/page/{n}?q=1&r=2{self.odd}"}
            line |= {
                "kind": "navigation",
                "depth": 3,
                "hops": "LLL",
                "via": "",
                "attempt": 1,
                "became": "done",
            }
            if n % 9 == 8:
                line |= {"fault": "timeout", "detail": f"no answer{self.odd}", "became": "retry"}
            else:
                line |= {"status": (200, 200, 404, 301, 503)[n % 5], "size": 41_233, "seconds": 0.213}
                line |= {"type": f"text/html{self.odd}"}
            items.append(line)
        return {"items": items, "cursor": "2", "total": None}

    def _codes(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            "statuses": {"200": 3_100_000, "404": 210_000, "301": 120_000, "503": 9000},
            "faults": {"refused: robots": 3, "timeout": 21_000, "connect": 8000, "name_not_found": 2234},
            "media_types": {
                "text/html": 2_900_000,
                "application/pdf": 90_000,
                f"image/png{self.odd}": 40_000,
                "": 12,
            },
            "sizes": [[1 << n, 2 << n, 1000 * (20 - abs(n - 15))] for n in range(8, 24)],
            "depths": {str(n): 1000 * (n + 1) for n in range(9)},
            "languages": {"en": 900_000, "de": 90_000, "zh": 30_000, "": 400},
            "visits": 3_400_000,
            "sampled": True,
        }

    def _names(self, params: dict[str, Any]) -> dict[str, Any]:
        sums = {"hits": 991_222, "misses": 12_231, "negative": 421, "resolutions": 12_231, "queries": 14_000}
        under = {domain: 7 for domain in [params.get("under", "")] if domain}
        latencies = [{"up_to": 0.001 * 2**n, "names": n * 100} for n in range(9)]
        return {
            "sums": sums,
            "failures": {"name_failed": 30},
            "latencies": [*latencies, {"up_to": None, "names": 0}],
            "longest": 4.2,
            "kept": {"names": 12, "by_tld": {"org": 9, "": 3}, "under": under},
            "slowest": {f"slow.example{self.odd}": 4.2},
            "failing": {f"failing.example{self.odd}": 3},
        }

    def _robots(self, params: dict[str, Any]) -> dict[str, Any]:
        rules = ["User-agent: *", f"Disallow: /private{self.odd}", "Crawl-delay: 2"]
        origin = {"origin": f"https://{params.get('host')}", "state": "rules", "until": time.time() + 4000}
        return {
            "items": [
                {
                    **origin,
                    "detail": self.odd,
                    "failures": 0,
                    "crawl_delay": 2.0,
                    "rules": rules,
                    "rules_in_all": len(rules),
                    "source": self.odd,
                    "sitemaps": [f"/s{self.odd}"],
                }
            ]
        }

    def _freshness(self, params: dict[str, Any]) -> dict[str, Any]:
        bins = [
            {"low": n / 10, "high": (n + 1) / 10, "visits": 900.0 - 90 * n, "predicted": n / 10 + 0.05,
             "seen": n / 10 + 0.03}
            for n in range(9)
        ]  # fmt: skip
        bins.append({"low": 0.9, "high": 1.0, "visits": 0.0, "predicted": None, "seen": None})
        sites = [
            {
                "host": f"docs.example.org{self.odd}",
                "pages": 3_000,
                "stale": 0.031,
                "by_weight": 0.02,
                "gone": 7,
            },
            {"host": "few.example.org", "pages": 3, "stale": None, "by_weight": None, "gone": 0},
        ]
        return {
            "pages": 3_003, "stale": 0.03, "by_weight": 0.021, "gone": 7, "sampled": 2_000, "complete": False,
            "visits": 4_860, "useful": 1_210, "unmodified": 2_900, "saved": 71_000_000, "delay": 43_000.0,
            "brier": 0.11, "bins": bins, "sites": sites,
        }  # fmt: skip

    def _left(self, params: dict[str, Any]) -> dict[str, Any]:
        hosts = [
            {"host": f"old.example.org{self.odd}", "lacks": "name", "pages": 40, "since": 1_700_000_000.0},
            {"host": "empty.example.org", "lacks": "pages", "pages": 9, "since": 0.0},
        ]
        return {"items": hosts, "total": 2}

    def _list(self, params: dict[str, Any]) -> dict[str, Any]:
        gone = {"gone": "2026-11-20T10:00:00Z", "status": 404, "referrers": 3, "soft": False}
        items = [
            {
                "url": f"https://docs.example.org/old/{self.odd}",
                "via": f"https://docs.example.org/{self.odd}",
                **gone,
            },
            {"url": "https://docs.example.org/seed", "via": "", **gone, "referrers": None, "soft": True},
        ]
        return {"items": items, "cursor": None, "total": None, "estimated": False}

    def _refetch(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"pages": 1, "unknown": [], "running": True, "dry_run": False}

    def _traps(self, params: dict[str, Any]) -> dict[str, Any]:
        trap = {"host": EXAMPLES[0], "branch": f"/calendar/{self.odd}", "state": "aside", "found": 90_000}
        trap |= {"waiting": 80_000, "visits": 600, "brought": 1, "dry": 500, "value": 0.002, "bred": 4.5}
        trap |= {"share": 0.4}
        return {"items": [trap], "cursor": None, "total": 1, "learning": True}

    def folders(self, name: str = "") -> dict[str, Path]:
        return {one: self.folder(one) for one in ([name] if name else self.views)}

    async def searched(self) -> dict[str, Path]:
        return self.folders()

    async def searched_cluster(self, name: str) -> dict[str, Path]:
        return {f"cluster:{name}": Path((await self.clusters.look(name, 0)).folder)}

    def folder(self, name: str) -> Path:
        return Path("/srv/gossamer/jobs") / self.job(name).name

    def _page(self, params: dict[str, Any]) -> dict[str, Any]:
        story = self._why(params)
        listed = {
            "url": story["url"], "state": "done", "status": 200, "reason": self.odd, "result": "",
            "via": f"https://docs.example.org/{self.odd}", "type": f"text/html{self.odd}", "bytes": 41_233,
            "time": "2026-11-21T20:16:12Z", "title": f"Guide {self.odd}", "language": f"en{self.odd}",
            "charset": f"utf-8{self.odd}", "depth": 3, "canonical": f"https://docs.example.org/g{self.odd}",
            "twin": f"https://docs.example.org/t{self.odd}", "links": 3, "referrers": 7,
            "visits": 12, "changes": 3, "changed": "2026-11-20T10:00:00Z", "gone": "2026-11-21T20:16:12Z", "due": "now",
        }  # fmt: skip
        about = {"description": f"All of it{self.odd}", "author": f"Somebody{self.odd}"}
        return {"url": story["url"], "state": "done", "listed": listed, "captures": 2, **about}

    def _captures(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"items": [msgspec.to_builtins(captured(self.odd))] * 2, "cursor": None, "total": 2}

    def _calendar(self, params: dict[str, Any]) -> dict[str, Any]:
        if " " in params["url"]:
            raise ServiceError("invalid", because(ProblemCode.NO_URL, params["url"]))
        return {
            "years": ["2025", "2026"],
            "year": "2026",
            "days": {"2026-02-28": 1, "2026-11-21": 500},
            "most": 500,
        }

    async def study(self, name: str, *, who: str, other: str = "", outside: bool = False) -> None:
        self.asked.append((name, "study", {"other": other, "outside": outside}, who))
        if name == "docs" and outside:
            raise ServiceError("conflict", Reason(ProblemCode.AUDIT_RUNNING))

    def _why(self, params: dict[str, Any]) -> dict[str, Any]:
        if " " in params["url"]:
            text = because(ProblemCode.NO_URL, params["url"])
            raise ServiceError("invalid", text)
        host = "docs.example.org"
        visit = {"address": f"192.0.2.7{self.odd}"}
        told = [
            fact("found", clause("found.link", kind="navigation", via=f"https://{host}/{self.odd}", depth=1)),
            fact("admission", clause("admission.number", number=4211, level=1)),
            fact(
                "visit",
                clause("visit.fault", when="2026-11-21 20:15:09 UTC", fault="timeout"),
                clause("visit.address", **visit),
                clause("visit.took", seconds=20.01),
                clause("visit.detail", detail=f"no answer{self.odd}"),
            ),
            fact(
                "visit",
                clause("visit.answer", when="2026-11-21 20:16:12 UTC", status=200, size=41_233),
                clause("visit.address", **visit),
                clause("visit.took", seconds=0.21),
            ),
            fact("outcome", clause("outcome.state", state="done")),
            fact(
                "page",
                clause("page.type", type="text/html", charset="utf-8", links=214),
                clause("page.title", title=f"Guide{self.odd}"),
            ),
            fact("scope", clause("scope.inside", detail=Reason(ScopeCode.ON_HOSTS))),
            fact("robots", clause("robots.allowed_by", line=f"Allow: /{self.odd}")),
            fact(
                "host",
                clause("host.state", host=host, state="resting"),
                clause("host.for", seconds=3.0),
                clause("host.reason", reason=Reason(HoldCode.POLITENESS)),
                clause("host.counts", queued=21, waiting=0, visits=412, failures=0),
                clause("host.rest", seconds=1.0),
            ),
        ]
        facts = [{"about": one.about, "text": one.text, "clauses": one.told} for one in told]
        return {
            "url": params["url"],
            "state": "done",
            "facts": msgspec.to_builtins(facts),
            "priority": None,
            "text": "",
        }

    def _forecast(self, params: dict[str, Any]) -> dict[str, Any]:
        binding = [
            {
                "host": name + self.odd,
                "queued": 90_000 // (n + 1),
                "delay": 1.0 + n,
                "seconds": 90_000.0 / (n + 1),
            }
            for n, name in enumerate(EXAMPLES)
        ]
        host = f'place."{EXAMPLES[0]}".politeness'
        changes = (
            {f"{host}.min_delay": 0.5},
            {f"{host}.visits_per_host": 2},
            {"politeness.min_delay": 0.5},
            {"engine.workers": 64},
            {"host_block": f"docs{self.odd}"},
            {"something.else": 1},
        )
        what_if = [{"change": one, "words": f"words{self.odd}", "seconds_left": 45_000.0} for one in changes]
        return {
            "seconds_left": 90_000.0,
            "bound_by": "politeness",
            "binding": binding,
            "what_if": what_if,
            "estimated": False,
        }

    def _settings(self, params: dict[str, Any]) -> dict[str, Any]:
        described = {
            "engine.workers": ("visits at once over all hosts", "", 32),
            "politeness.min_delay": ("Shortest rest of a host after each visit.", "s", 1.0),
            "fetch.max_speed": ("bytes a second in all; 0: no limit", "B", 0),
            "scope.mode": ("host: the seeds' hosts", "", "host"),
            "scope.exclude": (
                "Regular expressions; a URL in which one occurs is not in scope",
                "",
                ["/tmp/"],
            ),
            "scope.max_depth": ("Links followed from a seed at most", "", None),
            "budget.max_pages": ("Pages of the whole crawl", "", 0),
            "budget.max_time": ("Time of the whole crawl", "s", 0.0),
            "fetch.user_agent": (f"whole User-Agent{self.odd}", "", f"x{self.odd}"),
        }
        tree: dict[str, Any] = {}
        for path, (_, _, value) in described.items():
            section, _, name = path.partition(".")
            tree.setdefault(section, {})[name] = value
        live = [path for path in described if path != "fetch.user_agent"]
        return {
            "settings": {**tree, "place": {"docs.example.org": {"politeness": {"min_delay": 2.0}}}},
            "live": [*live, "place.NAME.politeness.min_delay"],
            "described": {
                path: {
                    "description": words,
                    "unit": unit,
                    "secret": False,
                    "default": value,
                    "live": path in live,
                }
                for path, (words, unit, value) in described.items()
            },
        }

    def _changes(self, params: dict[str, Any]) -> dict[str, Any]:
        change = {
            "id": 2,
            "when": time.time(),
            "who": "alice",
            "path": "engine.workers",
            "subject": "",
            "old": 16,
        }
        change |= {"new": 32, "together": 2, "undoes": 0, "undone": 0, "final": False}
        odd = {
            **change,
            "id": 1,
            "path": "rest",
            "subject": f"host{self.odd}",
            "who": f"bob{self.odd}",
            "undone": 3,
        }
        return {"items": [change, {**odd, "old": None, "new": f"{self.odd}"}], "cursor": None, "total": 2}

    def _set(self, params: dict[str, Any]) -> Any:
        workers = params["changes"].get("engine.workers", 1)
        if not isinstance(workers, int) or workers < 1:
            raise ServiceError(
                "invalid",
                "engine.workers: must be a whole number of at least 1",
                ("engine.workers: must be a whole number of at least 1", "nothing was changed"),
            )
        return []

    def _preview_scope(self, params: dict[str, Any]) -> dict[str, Any]:
        hosts = [{"name": name + self.odd, "going": 300 - n, "of": 4000} for n, name in enumerate(EXAMPLES)]
        sample = [
            {"url": f"https://{EXAMPLES[0]}/old/{n}{self.odd}", "rule": "exclude /old/"} for n in range(8)
        ]
        going = {
            "queued": 9_310_442,
            "judged": 200_000,
            "going": 1_200_000,
            "coming": None,
            "complete": False,
        }
        return {**going, "hosts": hosts, "sample": sample, "seconds": 0.8}


class StageClusters:
    """Clusters in each of their states; `asked` as the daemon's."""

    def __init__(self, odd: str) -> None:
        self.asked: list[tuple[str, Any, str]] = []
        figures = cluster_figures(odd)
        now = time.time()
        views = [
            cluster_view_of("big", "running", figures=figures, seen=now),
            cluster_view_of("dead", "silent", problem=f"its Ray cluster does not answer{odd}"),
            cluster_view_of("late", "silent", problem="nothing was answered", figures=figures, seen=now - 40),
            cluster_view_of("new", "asking"),
            cluster_view_of("done", "stopped"),
        ]
        self.views = {view.name: view for view in views}

    async def list(self) -> list[ClusterView]:
        return list(self.views.values())

    async def look(self, name: str, patience: float) -> ClusterView:
        if name not in self.views:
            raise ServiceError("not_found", f"there is no cluster {name!r}")
        return self.views[name]

    async def order(self, name: str, order: Any, *, who: str) -> ClusterView:
        self.asked.append((name, order, who))
        return await self.look(name, 0)


def cluster_view_of(name: str, state: Any, **more: Any) -> ClusterView:
    """A cluster as the daemon shows it."""
    return ClusterView(name=name, folder=f"/srv/gossamer/jobs/{name}", state=state, **more)


def cluster_figures(odd: str = "", count: int = 8, shards: int = 1024) -> ClusterFigures:
    """Of a cluster with agents in all states, as one was recorded; `odd` in all that is not ours."""
    states = ("live", "live", "live", "draining", "live", "joining", "lost", "gone")
    ring = [1 + shard * 7 % 5 if shard * 2654435761 % 97 > 4 else -6 for shard in range(shards)]
    ring[40:52] = [0] * 12
    agents = [
        AgentOverview(
            name=f"a-{n}",
            incarnation=1,
            node=f"crawl-{1 + n // 3}{odd}",
            weight=1.0,
            state=states[(n - 1) % len(states)],
            shards=ring.count(n),
            moving=ring.count(-n),
            silent=0.4 * n if n < 6 else None,
            idle=n == 5,
            pages=1_204_331 * n,
            bytes=41_000_000_000 * n,
            queued=900_000 // n,
            sent=22_000_000 + n,
            received=21_000_000 - n,
            owed=n % 3 * 12,
            outbox=n * 40_123,
            snapshot=400 if n < 7 else 0,
            snapshot_age=31.0 * n if n < 4 else None,
            problem=f"snapshot: the store does not answer{odd}" if n == 3 else "",
        )
        for n in range(1, count + 1)
    ]
    moves = [("a-4", "a-6", 17, "freezing"), ("", "a-6", 9, "importing"), ("a-7", "a-2", 0, "inheriting")]
    moving = sum(holder < 0 for holder in ring)
    overview = Overview(
        term=3,
        epoch=214,
        wanted_agents=6,
        agents=tuple(agents),
        moves=tuple(
            MoveOverview(number=n, source=one, target=other, shards=some, state=state, snapshot=n)
            for n, (one, other, some, state) in enumerate(moves, 1)
        ),
        shards=shards,
        owned=sum(holder > 0 for holder in ring),
        moving=moving,
        homeless=ring.count(0),
        pages=sum(agent.pages for agent in agents),
        bytes=sum(agent.bytes for agent in agents),
        queued=sum(agent.queued for agent in agents),
        wave=7,
        scope_hosts=40,
        elapsed=86_400 * 2.4,
        stop="",
        over=False,
        ring=tuple(ring),
        problem=odd,
    )
    crawls = {
        agent.name: AgentCrawl(
            pages_per_s=211.4, bytes_per_s=8_123_000.0, hosts=310_442, memory=812 * MIB, seconds_left=90_000.0
        )
        for agent in agents
        if agent.state in ("live", "draining") and agent.name != "a-3"
    }
    limits = ClusterLimits(max_pages=100_000_000)
    return ClusterFigures(
        overview=overview, crawls=crawls, limits=limits, seconds_left=90_000.0, bound_by="agent"
    )


def job_view_of(name: str, state: JobState, reason: str, number: int, **more: Any) -> JobView:
    """A job as the daemon shows it."""
    can: tuple[Any, ...] = {
        JobState.RUNNING: ("pause", "stop", "checkpoint", "clone", "schedule", "set_claim"),
        JobState.PAUSED: ("unpause", "stop", "checkpoint"),
        JobState.QUEUED: ("stop", "withdraw"),
    }.get(state, ("start", "delete", "clone"))
    alive = state in (JobState.RUNNING, JobState.PAUSED)
    ended = state in (JobState.FINISHED, JobState.FAILED)
    report = {
        "ended": "finished",
        "pages": 120_331,
        "queued": 0,
        "waiting": 2,
        "hosts": 412,
        "failed_visits": 99,
    }
    fields: dict[str, Any] = {
        "folder": f"/srv/gossamer/jobs/{name}",
        "adopted": False,
        "seeds": ("https://docs.example.org/", "https://www.example.com/"),
        "wanted": "run" if alive else "stop",
        "created": time.time() - 864_000,
        "started": time.time() - 86_400 if alive or ended else None,
        "ended": time.time() - 3600 if ended else None,
        "crashes": 5 if state is JobState.FAILED else 0,
        "retry_at": None,
        "held": {},
        "schedule": Schedule(cron="0 3 * * mon", quiet=("mon-fri 08:00-18:00",)) if number == 1 else None,
        "next_run": time.time() + 50_000 if number == 1 else None,
        "pending": None,
        "pid": 4242 + number if alive else None,
        "waits": None,
        "next_runs": [],
        "quiet_until": time.time() + 7200 if number == 1 else None,
        "memory": 412 * MIB if alive else 0,
        "files": 213 if alive else 0,
        "disk": 19 << 30,
        "report": report if ended else None,
        "can": can,
    }
    return JobView(name=name, state=state, reason=reason, **{**fields, **more})


class OpenGate:
    """Lets everybody in as one visitor; reads forms as the real gate does."""

    def __init__(self, app: ASGIApp, visitor: Visitor | None) -> None:
        self._app = app
        self._visitor = visitor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            state = scope.setdefault("state", {})
            welcome(state, self._visitor)
            if scope["method"] == "POST":
                read_form((await receive()).get("body", b""), state)
        await self._app(scope, receive, send)


def visitor(role: Role = Role.OPERATOR, by: Any = "session") -> Visitor:
    """Somebody who is logged in."""
    return Visitor(name="alice", role=role, csrf="made-up-token", by=by)


def stage(daemon: Any, somebody: Visitor | None) -> FastAPI:
    """An application with nothing but the console."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(OpenGate, visitor=somebody)
    app.include_router(console_router(daemon))
    return app


if __name__ == "__main__":
    import uvicorn

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8471)
    parser.add_argument("--hostile", action="store_true")
    arguments = parser.parse_args()
    uvicorn.run(stage(StageDaemon(arguments.hostile), visitor()), port=arguments.port, log_level="warning")
