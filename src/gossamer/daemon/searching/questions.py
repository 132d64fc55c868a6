"""What a searcher is asked, and what it answers: one line of JSON each."""

from pathlib import Path

import msgspec

from gossamer.daemon.reading.orders import Failure
from gossamer.inspect.clusters.cluster_folder import crawl_folders
from gossamer.search.searching import FACETS, FacetValue, Piece, ResultSums, Suggestion

__all__ = [
    "FACETS", "AlikePage", "AlikePages", "AnyQuestion", "AskAlike", "AskPages", "AskTitles", "FacetValue", "FoundPage",
    "FoundPages", "Heard", "Piece", "Question", "Suggestion", "Unusable", "has_index",
]  # fmt: skip

MOST_CRAWLS = 50
"""Crawls that are searched together: each costs every query some time."""


class Question(msgspec.Struct, frozen=True, kw_only=True, tag_field="ask"):
    """What is asked of some crawls.

    Attributes:
        folders: of the crawls, by the names of their jobs, and of clusters.
        seconds: after which the kernel ends the searcher.
    """

    folders: dict[str, str]
    seconds: float


def has_index(folder: Path, kind: str) -> bool:
    """Whether a crawl, or an agent of a cluster, has an index: `search` or `similar`."""
    return any((path / kind).is_dir() for path in crawl_folders(folder))


class AskPages(Question, frozen=True, kw_only=True, tag="pages"):
    """The pages that answer a query, as `FoundPages`; what the rest means: `Searching.search`."""

    query: str
    limit: int = 10
    offset: int = 0
    facets: bool = False
    only: dict[str, str] = {}


class AskTitles(Question, frozen=True, kw_only=True, tag="titles"):
    """Titles that go on as was typed, as a list of `Suggestion`."""

    text: str
    limit: int = 8


class AskAlike(Question, frozen=True, kw_only=True, tag="alike"):
    """The pages whose text is nearly that of a page, as `AlikePages`."""

    url: str
    limit: int


AnyQuestion = AskPages | AskTitles | AskAlike


class FoundPage(msgspec.Struct, frozen=True, kw_only=True):
    """One page that answers, as `Hit` of the search has it.

    Attributes:
        job: whose crawl has it.
        also: further jobs whose crawls have it.
        kind: what its media type is called among the facets.
    """

    job: str
    also: tuple[str, ...]
    url: str
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    type: str
    kind: str
    language: str
    dated: float
    captured: float
    size: int
    score: float
    similar: int


class Unusable(msgspec.Struct, frozen=True):
    """A job whose index cannot be asked, and why."""

    job: str
    problem: str


class FoundPages(ResultSums, frozen=True, kw_only=True):
    """What answers a query.

    Attributes:
        pages: best first.
        more: there are further ones behind them.
        jobs: that were searched.
        without: jobs that have no index yet.
        unusable: jobs whose index is damaged.
        left_out: jobs with an index that were not searched, because they are too many.
    """

    pages: list[FoundPage] = []
    more: bool = False
    jobs: list[str] = []
    without: list[str] = []
    unusable: list[Unusable] = []
    left_out: int = 0


class AlikePage(msgspec.Struct, frozen=True):
    """A page of a cluster; `resemblance` to the page of it that it resembles most, 0 to 1."""

    job: str
    url: str
    title: str
    resemblance: float


class AlikePages(msgspec.Struct, frozen=True):
    """Pages that resemble each other, one of which was asked about, in the order in which they were archived.

    Attributes:
        size: how many there are; 0 if the page resembles no other.
        pages: the first of them.
    """

    size: int = 0
    pages: list[AlikePage] = []


class Heard(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a searcher: one of these."""

    failure: Failure | None = None
    answer: msgspec.Raw = msgspec.Raw()
