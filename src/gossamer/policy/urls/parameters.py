"""Finds out which parameters of a site's URLs do not matter, leaving out one at a time (W16).

A sample is a page and the same page asked for without one parameter. If the two are alike every time, the
parameter is *irrelevant* (a session id, the page that one came from); if they differ, it is *relevant*; if
nothing is there without it, it is *required*. Nothing is changed by that: what is irrelevant is proposed to
the operator, who may put it into `canonical.drop_parameters`.
"""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.url import Url
from gossamer.policy.branches.novelty import likeness

MOST_TRIED = 12
"""Parameters of a URL that are looked at."""


class ParameterConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How parameters are tested that may not matter. Each sample costs a visit."""

    test: Annotated[
        bool,
        Meta(
            description="Ask for some pages without one of their parameters, to learn which do not matter;"
            " off, only pages that are fetched anyway are compared."
        ),
    ] = False
    apply: Annotated[
        bool,
        Meta(
            description="Leave out of new links what was found not to matter on their host; off, it is"
            " only proposed ('gossamer traps')."
        ),
    ] = False
    samples: Annotated[
        Annotated[int, Meta(ge=3)],
        Meta(description="Pages, alike without the parameter, after which it counts as irrelevant."),
    ] = 5
    alike: Annotated[
        Annotated[float, Meta(gt=0.5, le=1.0)],
        Meta(description="Share of their texts that two pages have in common to count as the same."),
    ] = 0.95


class Relevance(StrEnum):
    """What a parameter does to a page."""

    UNKNOWN = "unknown"
    IRRELEVANT = "irrelevant"
    RELEVANT = "relevant"
    REQUIRED = "required"


class DropTest(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The samples of one parameter on one host. The caller keeps it.

    Attributes:
        name: of the parameter; of one in the path with its semicolon, `;jsessionid`.
        alike, different, lost: samples in which the page was the same without it, another, or not there.
        values: a mark of each value sampled; one and the same value proves little.
        example: the last URL sampled.
    """

    name: str
    alike: int = 0
    different: int = 0
    lost: int = 0
    values: tuple[int, ...] = ()
    example: str = ""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """What came back for a URL.

    Attributes:
        status: final, after redirects.
        digest: of the content, 0 if there was none.
        pieces: of its text (`policy.branches.novelty`).
    """

    status: int
    digest: int = 0
    pieces: tuple[int, ...] = ()


class HostTests(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The tests of one host; `name` is that of its queue."""

    name: str
    tests: tuple[DropTest, ...] = ()


def parameters(url: Url) -> list[tuple[str, str]]:
    """(name, value) of the parameters of a URL, those inside the path with a semicolon; no name twice."""
    path, _, query = url.target.partition("?")
    found: dict[str, str] = {}
    if ";" in path:
        for piece in path.split(";")[1 : MOST_TRIED + 1]:
            name, equals, value = piece.partition("=")
            if equals and "/" not in name:
                found.setdefault(f";{name}", value.partition("/")[0])
    for piece in query.split("&", MOST_TRIED)[:MOST_TRIED] if query else ():
        name, _, value = piece.partition("=")
        if name:
            found.setdefault(name, value)
    return list(found.items())


def without(url: Url, name: str) -> Url | None:
    """The URL without a parameter, wherever it stands; `None` if it has none of that name."""
    path, mark, query = url.target.partition("?")
    if name.startswith(";"):
        path = "/".join(_without_matrix(segment, name[1:]) for segment in path.split("/"))
        target = f"{path}{mark}{query}"
    else:
        pieces = query.split("&")
        kept = [piece for piece in pieces if piece.partition("=")[0] != name]
        if len(kept) == len(pieces):
            return None
        target = f"{path}?{'&'.join(kept)}" if kept else path
    return None if target == url.target else Url.from_serialised(url.origin + target)


def _without_matrix(segment: str, name: str) -> str:
    first, *rest = segment.split(";")
    return ";".join([first, *(piece for piece in rest if piece.partition("=")[0] != name)])


def wants_sample(test: DropTest, value_mark: int, config: ParameterConfig) -> bool:
    """Whether another sample would tell something: none is needed once the matter is settled."""
    if conclude(test, config) is not Relevance.UNKNOWN:
        return False
    return value_mark not in test.values or test.alike + test.lost + test.different < config.samples - 1


def learn_sample(
    test: DropTest, example: str, value_mark: int, pages: tuple[Seen, Seen], config: ParameterConfig
) -> DropTest:
    """The test after a sample.

    Args:
        test: before.
        example: URL with the parameter.
        value_mark: a hash of its value.
        pages: with the parameter and without it. A page that is not there with it teaches nothing.
        config: says what is alike.
    """
    whole, dropped = pages
    if whole.status != 200 or dropped.status >= 500 or dropped.status in (0, 429):
        return test
    values = test.values if value_mark in test.values else (*test.values, value_mark)[-config.samples :]
    alike, different, lost = test.alike, test.different, test.lost
    if dropped.status != 200:
        lost += 1
    elif _same(whole, dropped, config):
        alike += 1
    else:
        different += 1
    return DropTest(test.name, alike, different, lost, values, example)


def _same(whole: Seen, dropped: Seen, config: ParameterConfig) -> bool:
    if whole.digest and whole.digest == dropped.digest:
        return True
    return likeness(whole.pieces, dropped.pieces) >= config.alike


def conclude(test: DropTest, config: ParameterConfig) -> Relevance:
    """What the samples say. One difference is enough: pages are lost by what is wrongly called irrelevant."""
    if test.lost >= 2 and test.lost > test.different:
        return Relevance.REQUIRED
    if test.different:
        return Relevance.RELEVANT
    if test.lost == 0 and test.alike >= config.samples and len(test.values) >= 2:
        return Relevance.IRRELEVANT
    return Relevance.UNKNOWN
