"""Finds the pages that contain or resemble a given text, with the passages.

Candidates share a fingerprint or a band with it; what is said about each is read off the two texts.
"""

from collections.abc import Iterator

import msgspec
import numpy as np

from gossamer.search.similar.indexing import THRESHOLD
from gossamer.search.similar.postings import sought
from gossamer.search.similar.shingles import (
    SHINGLE,
    contained,
    fingerprints,
    once_each,
    resemblance,
    shingles,
    signature,
)
from gossamer.search.similar.store import Known
from gossamer.search.similar.texts import Tables
from gossamer.search.similar.words import CutText, Hashes, Offsets, origins, words

__all__ = ["PASSAGE", "Copied", "Given", "Passage", "copies_of"]

PASSAGE = 40
"""Words in a row that make a page one that contains a passage, if nothing else is asked for."""
_LOOKED_AT = 200
"""Pages of one crawl whose texts are compared with the given one, most shared fingerprints first."""
_LISTED = 50
"""Passages of a page, the longest first."""
_GAP = 8
"""Words that may differ within a passage, in one place."""
_OCCURRENCES = 8
"""Places of a repeated shingle at which a passage is tried."""


class Passage(msgspec.Struct, frozen=True):
    """Words that two texts have in common, but for small gaps.

    Attributes:
        words: how many they have in common.
        start, end: offsets in the given text, characters.
        page_start, page_end: in the page's.
        text: as it stands in the page.
    """

    words: int
    start: int
    end: int
    page_start: int
    page_end: int
    text: str


class Copied(msgspec.Struct, frozen=True):
    """A page that contains or resembles the given text.

    Attributes:
        url, title: of the page.
        serial, offset: of its capture in the archive.
        resemblance: Jaccard coefficient of the shingles of both, 0 to 1.
        containment: which part of the given text's shingles is in the page, 0 to 1.
        passages: the longest first.
    """

    url: str
    title: str
    serial: int
    offset: int
    resemblance: float
    containment: float
    passages: tuple[Passage, ...]


class Given:
    """A text that is looked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words(text)
        self.shingles = shingles(self.words.hashes)
        self.set = once_each(self.shingles)


def copies_of(
    given: Given, known: Known, tables: Tables, *, least: int = PASSAGE, itself: str = ""
) -> list[Copied]:
    """The pages of a crawl that contain or resemble a text, the most contained first.

    Args:
        given: what is looked for.
        known: the index of the crawl.
        tables: where its texts stand.
        least: words that a passage has at least.
        itself: URL of the text, which is left out.

    Raises:
        DamagedError: the index or the tables cannot be read.
    """
    found = []
    places = list(_candidates(given, known))
    for (serial, offset), row in tables.rows(places, ["url", "title", "text"]):
        if row["url"] == itself:
            continue
        page = Given(row["text"] or "")
        alike = resemblance(given.set, page.set)
        passages = _passages(given, page, least)
        if passages or alike >= THRESHOLD:
            found.append(
                Copied(
                    row["url"],
                    row["title"] or "",
                    serial,
                    offset,
                    round(alike, 4),
                    round(contained(given.set, page.set), 4),
                    tuple(passages),
                )
            )
    return sorted(found, key=lambda one: (-one.containment, -one.resemblance, one.url))


def _candidates(given: Given, known: Known) -> Iterator[tuple[int, int]]:
    """Places of the captures that stand and share something with the text."""
    shared: dict[int, int] = {}
    count = known.count
    for segments, keys in (
        (known.fingerprints, fingerprints(given.shingles)),
        (known.bands, signature(given.set).bands),
    ):
        _, pages = sought(segments, keys, np.full(len(keys), count))
        for page, times in zip(*np.unique(pages, return_counts=True), strict=True):
            shared[int(page)] = shared.get(int(page), 0) + int(times)
    if not shared:
        return
    some = np.array(list(shared), np.int64)
    standing = known.standing(some, np.full(len(some), count))
    best: dict[int, int] = {}
    for page, stands in zip(some, standing, strict=True):
        best[int(stands)] = max(best.get(int(stands), 0), shared[int(page)])
    chosen = sorted(best, key=lambda page: (-best[page], page))[:_LOOKED_AT]
    for record in known.records(np.array(chosen, np.int64)):
        yield int(record["serial"]), int(record["offset"])


def _passages(given: Given, page: Given, least: int) -> list[Passage]:
    """The passages of at least so many words, the longest first, at most `_LISTED`."""
    spans = sorted(
        (span for span in _joined(_runs(given.words.hashes, given.shingles, page)) if span[2] >= least),
        key=lambda span: (-span[2], span[0]),
    )[:_LISTED]
    if not spans:
        return []
    here, there = origins(given.text), origins(page.text)
    found = []
    for start, at, common, end, until in spans:
        begin, stop = _place(given.words, start, end, here)
        page_begin, page_stop = _place(page.words, at, until, there)
        found.append(Passage(common, begin, stop, page_begin, page_stop, page.text[page_begin:page_stop]))
    return found


def _place(cut: CutText, first: int, end: int, back: Offsets) -> tuple[int, int]:
    """Offsets of the words from `first` to `end` in the text they were cut from."""
    start, last, stop = np.minimum(
        [cut.starts[first], cut.ends[end - 1] - 1, cut.ends[end - 1]], len(back) - 1
    )
    return int(back[start]), max(int(back[last]) + 1, int(back[stop]))


def _runs(hashes: Hashes, wanted: Hashes, page: Given) -> Iterator[tuple[int, int, int]]:
    """(first word, first word in the page, words) of runs that both have; each word of the text in one at most."""
    there = page.words.hashes
    if min(len(hashes), len(there)) < SHINGLE:
        return
    order = np.argsort(page.shingles, kind="stable")
    ordered = page.shingles[order]
    left = np.searchsorted(ordered, wanted)
    right = np.searchsorted(ordered, wanted, "right")
    starts = np.flatnonzero(right > left)
    at = 0
    for start in starts:
        if start < at:
            continue
        occurrences = order[left[start] : min(right[start], left[start] + _OCCURRENCES)]
        length, place = max((_common(hashes, there, int(start), int(one)), -int(one)) for one in occurrences)
        yield int(start), -place, length
        at = int(start) + length - SHINGLE + 1


def _common(one: Hashes, other: Hashes, start: int, at: int) -> int:
    """How many words in a row both have from there on."""
    most, length, step = min(len(one) - start, len(other) - at), 0, 64
    while length < most:
        width = min(step, most - length)
        differ = one[start + length : start + length + width] != other[at + length : at + length + width]
        if differ.any():
            return length + int(differ.argmax())
        length += width
        step *= 2
    return length


def _joined(runs: Iterator[tuple[int, int, int]]) -> Iterator[tuple[int, int, int, int, int]]:
    """(first word, in the page, words in common, end, end in the page) of runs with small gaps between."""
    held: tuple[int, int, int, int, int] | None = None
    for start, at, length in runs:
        if held is not None:
            gap, other = start - held[3], at - held[4]
            if -SHINGLE < gap <= _GAP and -SHINGLE < other <= _GAP:
                again = max(-gap, -other, 0)
                held = (held[0], held[1], held[2] + length - again, start + length, at + length)
                continue
            yield held
        held = (start, at, length, start + length, at + length)
    if held is not None:
        yield held
