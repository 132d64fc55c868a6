"""What a job has archived: one page with all that is known of it, and questions in SQL about all of them."""

import asyncio
import re
from typing import Any, NamedTuple

from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.reading.orders import SqlAnswer, SqlQuestion
from gossamer.daemon.searching.questions import AlikePages
from gossamer.datasets.tables import OF_THE_CRAWL, TABLES
from gossamer.inspect.archive.reread import ReadAgain
from gossamer.inspect.compare.captures import Comparison
from gossamer.model.reasons.reason import Reason
from gossamer.web.console import drawings
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get, post
from gossamer.words.amounts import NOTHING
from gossamer.words.catalogue import Words

ROWS = 500
"""Rows of an answer that a page shows."""
LONGEST_CELL = 500
COMPARED = 100
"""Captures, the latest, that can be chosen to be compared."""
ALIKE = 10
"""Near-duplicates that the page of one of them names."""
EXAMPLES = {
    "statuses": "select status, count(*) as pages\nfrom pages group by status order by pages desc",
    "types": "select type, sum(bytes) as bytes\nfrom pages where type is not null\n"
    "group by type order by bytes desc",
    "broken": "select url, status, via\nfrom pages where status >= 400 order by url",
    "slow": "select host, round(avg(seconds), 2) as seconds\nfrom visits where seconds is not null\n"
    "group by host order by seconds desc limit 20",
    "time": "select date_trunc('minute', time) as minute, count(*) as visits\n"
    "from visits group by minute order by minute",
    "twins": "select twin, count(*) as copies\nfrom pages where twin is not null\n"
    "group by twin order by copies desc",
    "near_duplicates": "select cluster, url, resemblance\nfrom near_duplicates order by size desc, cluster, time",
}
"""Questions to begin with, by the key of their words."""
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://\S+")


class Cell(NamedTuple):
    """One value of an answer as it is shown; `url` if it leads to a page."""

    text: str
    number: bool
    url: bool


class Explained(NamedTuple):
    """A table with its columns (name, kind, meaning), in the reader's language; `derived`: of documents."""

    name: str
    row: str
    derived: bool
    columns: list[tuple[str, str, str]]


async def page(context: RequestContext, job: str) -> Response:
    """One page: what is known, its captures, its text, head, fields, and links both ways."""
    url, at = context.asked("url", 20_000), context.asked("at", 40)
    if not url:
        return context.go(f"/jobs/{job}/pages")
    view, read, alike = context.daemon.job(job), None, AlikePages()
    problem: Reason | str = ""
    known: dict[str, Any] | None = None
    captures: dict[str, Any] = {"items": [], "cursor": None, "total": 0}
    try:
        known, captures = await asyncio.gather(
            context.ask(job, "page", url=url),
            context.ask(job, "captures", url=url, cursor=context.asked("cursor"), limit=20),
        )
        if captures["items"]:
            read, alike = await asyncio.gather(
                context.daemon.readers.page(context.daemon.folder(job), url, at),
                _alike(context, job, captures["items"][0]["url"]),
            )
    except ServiceError as error:
        if error.code == "internal" and known is None:
            raise
        problem = error.why
    return context.job_page(
        view,
        "page",
        404 if known is None else 200,
        known=known,
        captures=captures,
        read=read,
        alike=alike,
        text=shown_lines(read.document.text) if read else "",
        markdown=shown_lines(read.document.markdown) if read else "",
        made=made_by(read, context.words) if read else "",
        at=at,
        problem=problem,
        url=url,
        links_question=_links_to(read.capture.url if read else url),
    )


async def refetch(context: RequestContext, job: str) -> Response:
    """Visit one page again; at once if the crawl runs."""
    url = context.sent("url")
    told = await context.ask(job, "refetch", urls=[url])
    said = ("refetched" if told["running"] else "refetched_later") if told["pages"] else "refetched_none"
    return context.go(f"/jobs/{job}/page", said, url=url)


async def compare(context: RequestContext, job: str) -> Response:
    """Two captures of a page side by side."""
    url = context.asked("url", 20_000)
    since, until = context.asked("from", 40), context.asked("to", 40)
    everything = context.asked("all") == "1"
    if not url:
        return context.go(f"/jobs/{job}/pages")
    found: Comparison | None = None
    captures: dict[str, Any] = {"items": []}
    problem: Reason | str = ""
    status = 200
    try:
        captures = await context.ask(job, "captures", url=url, limit=COMPARED)
        found = await context.daemon.readers.compare(
            context.daemon.folder(job), url, since, until, everything=everything
        )
    except ServiceError as error:
        if error.code == "internal" and not captures["items"]:
            raise
        problem, status = error.why, 404 if error.code == "not_found" else 400
    times = [one["time"] for one in captures["items"] if not 300 <= one["status"] < 400]
    if found is not None:
        times = sorted({*times, found.before.time, found.after.time}, reverse=True)
    return context.job_page(
        context.daemon.job(job),
        "compare",
        status,
        url=url,
        found=found,
        times=times,
        everything=everything,
        problem=problem,
    )


def _links_to(url: str) -> str:
    """The question of which pages link to one."""
    quoted = url.replace("'", "''")
    return f"select url, text, time from links where target = '{quoted}' order by time"  # noqa: S608 (shown, not run)


async def _alike(context: RequestContext, job: str, url: str) -> AlikePages:
    """Pages like it; none where that cannot be told just now, for the rest of the page is worth showing."""
    try:
        return await context.daemon.searchers.alike(context.daemon.folders(job), url, ALIKE)
    except ServiceError:
        return AlikePages()


def made_by(read: ReadAgain, t: Words) -> str:
    """What the text that is shown was made by."""
    by = read.document.made_by
    return t("page.source") if by == "source" else t("page.made_by", by=by)


def shown_lines(text: str) -> str:
    """A text as it is shown."""
    return text.expandtabs(4)


async def sql(context: RequestContext, job: str) -> Response:
    """Where a question is written; examples fill it in."""
    return _sql_page(context, job, context.asked("question", 8_000) or next(iter(EXAMPLES.values())))


async def answer(context: RequestContext, job: str) -> Response:
    """The answer to a question, or what is wrong with it and where."""
    question = context.sent("question")
    if not question:
        return context.go(f"/jobs/{job}/sql")
    found: SqlAnswer | None = None
    problem: Reason | str = ""
    try:
        found = await context.daemon.readers.sql(context.daemon.folder(job), SqlQuestion(question, rows=ROWS))
    except ServiceError as error:
        problem = error.why
    return _sql_page(context, job, question, found, problem)


def _sql_page(
    context: RequestContext,
    job: str,
    question: str,
    found: SqlAnswer | None = None,
    problem: Reason | str = "",
) -> Response:
    t = context.words
    numbers = [drawings.kind_of(column) == "number" for column in found.columns] if found else []
    return context.job_page(
        context.daemon.job(job),
        "sql",
        400 if problem else 200,
        question=question,
        examples=EXAMPLES,
        tables=[_explained(table, t) for table in TABLES],
        answer=found,
        numbers=numbers,
        rows=[[_cell(*one) for one in zip(row, numbers, strict=True)] for row in found.rows] if found else [],
        chart=drawings.answer_chart(found, t) if found else "",
        problem=problem,
    )


def _explained(table: Any, t: Words) -> Explained:
    path = f"tables.{table.name}"
    columns = [
        (one.name, t.said("sql_kind", one.kind), t.meaning(f"{path}.{one.name}", one.meaning))
        for one in table.columns
    ]
    return Explained(table.name, t.meaning(f"{path}.a_row", table.row), table not in OF_THE_CRAWL, columns)


def _cell(value: object, number: bool) -> Cell:
    match value:
        case None:
            text = NOTHING
        case bool():
            text = str(value).lower()
        case int():
            text = f"{value:,}"
        case float():
            text = f"{value:,.6g}"
        case _:
            text = str(value)
    is_url = isinstance(value, str) and len(value) < 2_000 and _URL.fullmatch(value) is not None
    return Cell(text if is_url else text[:LONGEST_CELL], number, is_url)


PAGES = (
    get("/jobs/{job}/page", page),
    post("/jobs/{job}/page", refetch),
    get("/jobs/{job}/compare", compare),
    get("/jobs/{job}/sql", sql),
    post("/jobs/{job}/sql", answer),
)
