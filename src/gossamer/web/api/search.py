"""Routes that find pages by what they say, in one job's crawl, in a cluster's, or in all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
from fastapi import APIRouter
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.searching.questions import (
    FACETS,
    AlikePages,
    FacetValue,
    FoundPage,
    FoundPages,
    Suggestion,
    Unusable,
)
from gossamer.model.command_line import command_line
from gossamer.search.text.snippets import marked_places, plain
from gossamer.web.api.clusters import Cluster
from gossamer.web.api.jobs import Name
from gossamer.web.api.shapes import Routes, Shapes, answer, asked
from gossamer.words.amounts import machine_time

LONGEST_QUERY = 4096
Hits = Annotated[int, Meta(ge=1, le=100, description="hits, at most")]
Value = Annotated[str, Meta(max_length=300, description="a value of this facet that all hits have")]


class SearchParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is searched for; values of facets narrow it, beside what the query says."""

    query: Annotated[
        str,
        Meta(
            max_length=LONGEST_QUERY,
            description='as typed: words "a phrase" -without this OR that site:example.org type:pdf lang:de title:word'
            " url:word after:2026-01 before:2026-02-15 pre*; empty: all pages, the newest first",
        ),
    ] = ""
    limit: Hits = 10
    offset: Annotated[int, Meta(ge=0, le=900, description="hits that are left out before")] = 0
    facets: Annotated[
        bool, Meta(description="also count sites, types, languages, years of all that answer")
    ] = False
    site: Value = ""
    type: Value = ""
    language: Value = ""
    year: Annotated[str, Meta(pattern=r"^([1-9][0-9]{3})?$", description="in which all were published")] = ""

    @property
    def only(self) -> dict[str, str]:
        """The values of facets that were chosen."""
        return {name: value for name in FACETS if (value := getattr(self, name))}


class SuggestionParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was typed so far; its last word may be unfinished."""

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_QUERY)]
    limit: Annotated[int, Meta(ge=1, le=20)] = 8


class SimilarParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The page whose like is sought."""

    url: Annotated[str, Meta(min_length=1, max_length=8192)]
    limit: Hits = 10


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """One page that answers.

    Attributes:
        job: whose crawl has it; `cluster:NAME` if a cluster has.
        also: further jobs, and clusters, whose crawls have it.
        title, snippet: plain texts; the snippet is the passage that answers best.
        marked: (start, end) of what was asked for in the snippet, in characters.
        type: media type.
        language: BCP 47 tag; may be empty.
        date: when it was published, else modified, else captured: a day, UTC.
        captured: UTC.
        bytes: of its content.
        score: of hits of one answer the higher is the better.
        similar: further hits that are near-duplicates of it, and not shown; `similar` lists them.
    """

    job: str
    also: tuple[str, ...]
    url: str
    title: str
    snippet: str
    marked: list[tuple[int, int]]
    type: str
    language: str
    date: str
    captured: str
    bytes: int
    score: float
    similar: int


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What answers a query.

    Attributes:
        hits: best first.
        more: there are further ones behind them.
        total: pages that answer, near-duplicates counted each, a page that several jobs have once.
        estimated: `total` and `facets` are rough, because many pages of several jobs answer.
        documents: in the indexes that were searched.
        facets: of `site`, `type`, `language`, `year`: the most frequent values; empty if not asked for.
        behind: pages that were archived and are not in the index yet.
        behind_seconds: since the first of them was archived.
        some: no page has all the words; these have some.
        seconds: that it took.
        jobs: that were searched; clusters as `cluster:NAME`.
        without: jobs that have no index yet.
        unusable: jobs whose index is damaged.
        left_out: jobs with an index that were not searched, because they are too many.
    """

    hits: list[SearchHit]
    more: bool
    total: int
    estimated: bool
    documents: int
    facets: dict[str, list[FacetValue]]
    behind: int
    behind_seconds: float
    some: bool
    seconds: float
    jobs: list[str]
    without: list[str]
    unusable: list[Unusable]
    left_out: int


class SearchRoutes:
    """Finds pages; whoever may look at jobs may search them."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._daemon = daemon
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes of search, for one job, for one cluster, and for all."""
        routes = Routes("search", self._shapes, self._shapes.answers())
        search, titles, alike = SearchAnswer, list[Suggestion], AlikePages
        for path, where, route, params, gives in (
            ("/search", "Search the pages of all jobs and clusters", self.search, SearchParams, search),
            ("/jobs/{name}/search", "Search the pages of one job", self.search_job, SearchParams, search),
            ("/suggestions", "Titles of all jobs and clusters that go on so", self.suggestions,
             SuggestionParams, titles),
            ("/jobs/{name}/suggestions", "Titles of one job that go on so", self.suggestions_job,
             SuggestionParams, titles),
            ("/similar", "Pages of all jobs and clusters that resemble one", self.similar, SimilarParams, alike),
            ("/jobs/{name}/similar", "Pages of one job that resemble one", self.similar_job, SimilarParams, alike),
            ("/clusters/{cluster}/search", "Search the pages of one cluster", self.search_cluster,
             SearchParams, search),
            ("/clusters/{cluster}/suggestions", "Titles of one cluster that go on so", self.suggestions_cluster,
             SuggestionParams, titles),
            ("/clusters/{cluster}/similar", "Pages of one cluster that resemble one", self.similar_cluster,
             SimilarParams, alike),
        ):  # fmt: skip
            routes.add(
                "GET",
                path,
                route,
                where,
                responses=self._shapes.answers(gives),
                openapi_extra=self._shapes.query(params),
            )
        return routes.router

    async def search(self, request: Request) -> Response:
        """All clusters, and the newest jobs, up to 50 that have an index, are searched together.

        A page that several have is one hit.
        """
        return answer(_told(await self._pages(request, await self._daemon.searched())))

    async def search_job(self, name: Name, request: Request) -> Response:
        """A job without an index is a conflict: `gossamer index` makes it, or the setting `search.follow`."""
        return await self._of_one(request, self._daemon.folders(name))

    async def search_cluster(self, cluster: Cluster, request: Request) -> Response:
        """Of its agents on this machine. Without an index it is a conflict: `gossamer index` makes it."""
        return await self._of_one(request, await self._daemon.searched_cluster(cluster))

    async def _of_one(self, request: Request, folders: Mapping[str, Path]) -> Response:
        found = await self._pages(request, folders)
        if found.unusable:
            raise ServiceError("conflict", found.unusable[0].problem)
        if found.without:
            [folder] = folders.values()
            raise ServiceError(
                "conflict", f"it has no search index. '{command_line('index', folder)}' makes it"
            )
        return answer(_told(found))

    async def suggestions(self, request: Request) -> Response:
        """The last word that was typed may be unfinished."""
        return await self._titles(request, await self._daemon.searched())

    async def suggestions_cluster(self, cluster: Cluster, request: Request) -> Response:
        """The last word that was typed may be unfinished."""
        return await self._titles(request, await self._daemon.searched_cluster(cluster))

    async def suggestions_job(self, name: Name, request: Request) -> Response:
        """The last word that was typed may be unfinished."""
        return await self._titles(request, self._daemon.folders(name))

    async def similar(self, request: Request) -> Response:
        """The whole cluster of near-duplicates that the page is in, itself too."""
        return await self._alike(request, await self._daemon.searched())

    async def similar_cluster(self, cluster: Cluster, request: Request) -> Response:
        """The whole cluster of near-duplicates that the page is in, itself too."""
        return await self._alike(request, await self._daemon.searched_cluster(cluster))

    async def similar_job(self, name: Name, request: Request) -> Response:
        """The whole cluster of near-duplicates that the page is in, itself too."""
        return await self._alike(request, self._daemon.folders(name))

    async def _pages(self, request: Request, folders: Mapping[str, Path]) -> FoundPages:
        params = asked(request, SearchParams)
        found = await self._daemon.searchers.pages(
            folders,
            params.query,
            limit=params.limit,
            offset=params.offset,
            facets=params.facets,
            only=params.only,
        )
        if found.problem is not None:
            raise ServiceError("invalid", found.problem)
        return found

    async def _titles(self, request: Request, folders: Mapping[str, Path]) -> Response:
        params = asked(request, SuggestionParams)
        return answer(await self._daemon.searchers.titles(folders, params.text, params.limit))

    async def _alike(self, request: Request, folders: Mapping[str, Path]) -> Response:
        params = asked(request, SimilarParams)
        return answer(await self._daemon.searchers.alike(folders, params.url, params.limit))


def _told(found: FoundPages) -> SearchAnswer:
    same = {
        name: getattr(found, name)
        for name in SearchAnswer.__struct_fields__
        if name not in ("hits", "seconds")
    }
    return SearchAnswer(hits=[_hit(page) for page in found.pages], seconds=round(found.seconds, 4), **same)


def _hit(page: FoundPage) -> SearchHit:
    same = {name: getattr(page, name) for name in ("job", "also", "url", "type", "language", "similar")}
    return SearchHit(
        title=plain(page.title),
        snippet=plain(page.snippet),
        marked=marked_places(page.snippet),
        date=machine_time(page.dated)[:10],
        captured=machine_time(page.captured),
        bytes=page.size,
        score=round(page.score, 3),
        **same,
    )
