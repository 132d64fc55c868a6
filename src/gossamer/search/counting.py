"""Counted what answers in several crawls: a page that several have counts once."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from gossamer.search.query.asked import Asked
from gossamer.search.text.reader import FACETS, Found, Reader
from gossamer.search.text.schema import Stored, facets_of

__all__ = ["Answered", "Counted", "counted"]

COUNTED = 5_000
"""Answers of all crawls together that are counted one by one, some 10 ms a thousand; of more the sum is estimated."""
SAMPLE = 300
"""Answers of a crawl by which it is told how many of its pages others have, too."""
_VALUES = 100
"""Of each facet and crawl; few are shown, but they may be others in each crawl."""


class Answered(msgspec.Struct, frozen=True):
    """What one index answers.

    Attributes:
        folder: of the crawl, of which several indexes may be parts; these share no page.
        count: documents that answer.
        found: the best of them.
    """

    folder: str
    reader: Reader
    count: int
    found: Sequence[Found]


class Counted(msgspec.Struct, frozen=True):
    """How many documents answer; and of each value of each facet, if that was asked for.

    Attributes:
        estimated: they are roughly so many.
    """

    total: int
    facets: dict[str, dict[str, int]] = {}
    estimated: bool = False


def counted(answers: Sequence[Answered], asked: Asked, *, some: bool, facets: bool) -> Counted:
    """Count them: exactly if one crawl answers, or if they are few.

    Raises:
        StorageError: an index is damaged.
    """
    answers = [one for one in answers if one.count]
    total = sum(one.count for one in answers)
    several = len({one.folder for one in answers}) > 1
    if several and total <= COUNTED:
        pages = {
            found.document.url: found.document
            for one in answers
            for found in _found(one, asked, one.count, some=some)
        }
        return Counted(len(pages), _facets(pages.values()) if facets else {})
    shares = _shares(answers, asked, some=some) if several else [1.0] * len(answers)
    sums: dict[str, dict[str, float]] = {name: {} for name in FACETS}
    if facets:
        for one, share in zip(answers, shares, strict=True):
            _add(sums, one.reader.facets(asked, _VALUES, some=some), share)
    return Counted(
        round(sum(one.count * share for one, share in zip(answers, shares, strict=True))),
        {name: {value: round(n) for value, n in each.items() if n >= 0.5} for name, each in sums.items()},
        several,
    )


def _found(one: Answered, asked: Asked, most: int, *, some: bool) -> Sequence[Found]:
    if len(one.found) >= min(most, one.count):
        return one.found
    return one.reader.find(asked, most, some=some)[1]


def _shares(answers: Sequence[Answered], asked: Asked, *, some: bool) -> list[float]:
    """Of the answers of each, the part that no crawl before it has."""
    shares = []
    for place, one in enumerate(answers):
        before = [other.reader for other in answers[:place] if other.folder != one.folder]
        sample = [found.document.url for found in _found(one, asked, SAMPLE, some=some)]
        new = sum(not any(reader.has(url) for reader in before) for url in sample)
        shares.append(new / len(sample) if sample else 1.0)
    return shares


def _facets(documents: Iterable[Stored]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {name: {} for name in FACETS}
    for document in documents:
        for name, value in facets_of(document).items():
            counts[name][value] = counts[name].get(value, 0) + 1
    return counts


def _add(sums: dict[str, dict[str, float]], more: Mapping[str, Mapping[str, int]], share: float) -> None:
    for name, counts in more.items():
        for value, count in counts.items():
            sums[name][value] = sums[name].get(value, 0.0) + share * count
