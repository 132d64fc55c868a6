"""Search: pages found by what they say, in one job's crawl, in a cluster's, or in all, and pages like them."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.searching.questions import FACETS, AlikePages, FoundPages, Suggestion
from gossamer.model.reasons.reason import Reason
from gossamer.search.query.parser import LENGTH
from gossamer.web.console.jobs.reading import made_by, shown_lines
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get, post
from gossamer.words.catalogue import Words

HITS = 10
LAST_PAGE = 90
MOST_ALIKE = 100
TITLES = 5


class FacetLink(NamedTuple):
    """A value of a facet: what it is called, how many pages have it, and where only those are shown."""

    label: str
    pages: int
    address: str


class Chosen(NamedTuple):
    """A value of a facet that was chosen, and where the answer is without it."""

    name: str
    value: str
    label: str
    address: str


async def search_job(context: RequestContext, job: str) -> Response:
    """Search the pages of one job."""
    view = context.daemon.job(job)
    told = await _search(context, f"/jobs/{job}", context.daemon.folders(job))
    return context.job_page(view, "search", told.pop("status"), **told, follows=_follows(context, job))


async def search_all(context: RequestContext) -> Response:
    """Search the pages of all jobs and clusters together."""
    told = await _search(context, "", await context.daemon.searched())
    return context.page("search.html", told.pop("status"), section="search", **told)


async def search_cluster(context: RequestContext, cluster: str) -> Response:
    """Search the pages of one cluster."""
    folders = await context.daemon.searched_cluster(cluster)
    told = await _search(context, f"/clusters/{cluster}", folders)
    [folder] = folders.values()
    return context.page(
        "search.html", told.pop("status"), section="clusters", cluster=cluster, folder=folder, **told
    )


async def alike_job(context: RequestContext, job: str) -> Response:
    """The pages of a job that resemble one."""
    view = context.daemon.job(job)
    return context.job_page(view, "alike", **await _alike(context, context.daemon.folders(job)))


async def alike_all(context: RequestContext) -> Response:
    """The pages of all jobs and clusters that resemble one."""
    return context.page(
        "alike.html", section="search", **await _alike(context, await context.daemon.searched())
    )


async def alike_cluster(context: RequestContext, cluster: str) -> Response:
    """The pages of a cluster that resemble one."""
    folders = await context.daemon.searched_cluster(cluster)
    return context.page("alike.html", section="clusters", cluster=cluster, **await _alike(context, folders))


async def page_cluster(context: RequestContext, cluster: str) -> Response:
    """The text of one page that a cluster has archived."""
    url, read = context.asked("url", 20_000), None
    problem: Reason | str = ""
    [folder] = (await context.daemon.searched_cluster(cluster)).values()
    try:
        read = await context.daemon.readers.page(folder, url, "")
    except ServiceError as error:
        problem = error.why
    return context.page(
        "cluster_page.html",
        200 if read else 404,
        section="clusters",
        cluster=cluster,
        url=url,
        read=read,
        problem=problem,
        text=shown_lines(read.document.text) if read else "",
        made=made_by(read, context.words) if read else "",
    )


async def follow(context: RequestContext, job: str) -> Response:
    """Have the index made while the job runs, from its next start on."""
    await context.daemon.ask(job, "set", {"changes": {"search.follow": True}}, who=context.who)
    return context.go(f"/jobs/{job}/search", "search")


async def _search(context: RequestContext, above: str, folders: Mapping[str, Path]) -> dict[str, Any]:
    """What all pages of results show; with the status of the answer.

    Args:
        context: of the request.
        above: the address below which the search of these folders lies.
        folders: that are searched.
    """
    query, only = context.asked("q", LENGTH), {name: context.asked(name, 300) for name in FACETS}
    if not only["year"].isascii() or not only["year"].isdecimal() or len(only["year"]) != 4:
        only["year"] = ""
    number = _number(context.asked("page", 4))
    wanted = bool(query) or any(only.values())
    searchers = context.daemon.searchers
    found, titles, failure = FoundPages(), list[Suggestion](), None
    try:
        found = await searchers.pages(
            folders, query, limit=HITS if wanted else 0, offset=HITS * (number - 1), facets=wanted, only=only
        )
        if query and number == 1 and not found.pages and found.problem is None:
            titles = await searchers.titles(folders, query, TITLES)
    except ServiceError as error:
        failure = error.why
    return {
        "status": 400 if found.problem else 409 if failure else 200,
        "above": above,
        "q": query,
        "longest": LENGTH,
        "wanted": wanted,
        "found": found,
        "titles": titles,
        "failure": failure,
        "at": number,
        "last": LAST_PAGE,
        "first": HITS * (number - 1) + 1,
        "chosen": _chosen(context, only),
        "facets": _facets(context, found, only),
    }


def _number(text: str) -> int:
    """The page of results that was asked for, from 1 on."""
    return min(max(int(text), 1), LAST_PAGE) if text.isascii() and text.isdecimal() else 1


def _chosen(context: RequestContext, only: Mapping[str, str]) -> list[Chosen]:
    return [
        Chosen(name, value, _label(context.words, name, value), context.link(**{name: None, "page": None}))
        for name, value in only.items()
        if value
    ]


def _facets(
    context: RequestContext, found: FoundPages, only: Mapping[str, str]
) -> dict[str, list[FacetLink]]:
    """Values that would narrow the answer, by facet; those whose choice would change nothing are left out."""
    return {
        name: [
            FacetLink(
                _label(context.words, name, one.value),
                one.count,
                context.link(**{name: one.value, "page": None}),
            )
            for one in values
        ]
        for name, values in found.facets.items()
        if not only[name] and (len(values) > 1 or sum(one.count for one in values) < found.total)
    }


def _label(words: Words, name: str, value: str) -> str:
    match name:
        case "type":
            return words.said("search_kind", value)
        case "language":
            return words.tongue(value)
    return value


def _follows(context: RequestContext, job: str) -> bool:
    """Whether the job's index is made while it runs."""
    try:
        settings = tomllib.loads(context.daemon.configuration(job))
    except (ServiceError, tomllib.TOMLDecodeError):
        return False
    return settings.get("search", {}).get("follow") is True


async def _alike(context: RequestContext, folders: Mapping[str, Path]) -> dict[str, Any]:
    url = context.asked("url", 8_192)
    alike, problem = AlikePages(), None
    try:
        alike = await context.daemon.searchers.alike(folders, url, MOST_ALIKE)
    except ServiceError as error:
        problem = error.why
    return {"url": url, "alike": alike, "problem": problem}


PAGES = (
    get("/search", search_all),
    get("/search/like", alike_all),
    get("/clusters/{cluster}/page", page_cluster),
    get("/clusters/{cluster}/search", search_cluster),
    get("/clusters/{cluster}/search/like", alike_cluster),
    get("/jobs/{job}/search", search_job),
    get("/jobs/{job}/search/like", alike_job),
    post("/jobs/{job}/search/follow", follow),
)
