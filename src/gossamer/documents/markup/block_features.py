"""What is known of each block of a page before anybody decides about it: a table of numbers.

A row is a block, a column a feature; names and order are fixed (`names`), because a model was trained on
them. All of it is linear in the text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.documents.markup.blocks import HINTS, PLACES, TAGS, Block, Segments, normal_words

__all__ = ["Table", "features"]

Table = NDArray[np.float32]
Column = NDArray[np.float64]

_LEVELS = 4
_NEIGHBOURS = (-2, -1, 1, 2)
_WINDOWS = (4, 12)
_PRICE = re.compile(r"[$€£¥]\s?\d|\d\s?[€$£]")
_PRICED = "$€£¥"
_NEAR = 2
"""Characters of a price before its sign, or behind it, at most."""
_IMPRINT = ("©", "ights reserved", "ights Reserved", "ookie")
_STOPS = b".!?;,"
_ENDS = frozenset('.!?:"”。')
_TAG_NUMBER = {name: number for number, name in enumerate(TAGS)}


def features(segments: Segments, title: str, page: dict[str, float]) -> tuple[Table, list[str]]:
    """The table of a page with at least one block, and the names of its columns.

    Args:
        segments: of the page.
        title: of the page.
        page: what is known of the page as a whole, by name, always the same names.
    """
    blocks = segments.blocks
    columns: dict[str, Column] = {}
    words = np.array([block.words for block in blocks], float)
    linked = np.array([block.linked for block in blocks], float) / words
    _of_text(blocks, words, title, columns)
    columns["linked"] = linked
    _of_place(blocks, columns)
    _of_elements(blocks, segments, columns)
    _of_neighbours(words, linked, columns)
    size, total = len(blocks), max(segments.words, 1)
    of_page = {
        "page_words": np.log1p(segments.words),
        "page_linked": segments.linked / total,
        "page_prose": segments.prose / total,
        "page_blocks": np.log1p(size),
        "page_main": float(columns["in_main"].any()),
        "page_headings": float(sum(block.tag in ("h1", "h2", "h3") for block in blocks)),
        "page_article": float((columns["in_article"] * words).sum() / total),
        **page,
    }
    table = np.empty((size, len(columns) + len(of_page)), np.float32)
    for place, value in enumerate([*columns.values(), *of_page.values()]):
        table[:, place] = value
    return table, [*columns, *of_page]


def _of_text(blocks: list[Block], words: Column, title: str, columns: dict[str, Column]) -> None:
    texts = [block.text for block in blocks]
    listed = [normal_words(text) for text in texts]
    joined = [" ".join(each) for each in listed]
    times = Counter(joined)
    in_title = set(normal_words(title))
    page = _Joined(texts)
    columns["words"] = np.log1p(words)
    columns["letters"] = np.array([len(each) for each in joined], float) / words
    columns["punctuation"] = np.array([*map(_stops, texts)], float) / words
    columns["ends"] = np.array([text.rstrip()[-1:] in _ENDS for text in texts], float)
    columns["price"] = page.with_prices()
    columns["imprint"] = page.with_any(_IMPRINT)
    columns["repeated"] = np.array([min(times[each], 5) for each in joined], float)
    columns["in_title"] = np.array(
        [
            0.0 if in_title.isdisjoint(each) else len(in_title.intersection(each)) / len(set(each))
            for each in listed
        ]
    )


def _stops(text: str) -> int:
    encoded = text.encode("utf-8", "replace")
    return len(encoded) - len(encoded.translate(None, _STOPS))


class _Joined:
    """The texts of all blocks as one, in which rare marks are looked for at once and not in each."""

    def __init__(self, texts: list[str]) -> None:
        self._text = "\x00".join(texts)
        self._ends = np.cumsum([len(text) + 1 for text in texts])

    def with_any(self, marks: Sequence[str]) -> Column:
        """1 for each block that holds one of the marks."""
        return self._with([place for mark in marks for place in self._places(mark)])

    def with_prices(self) -> Column:
        """1 for each block that holds a price."""
        return self._with(
            [
                place
                for sign in _PRICED
                for place in self._places(sign)
                if _PRICE.search(self._text, max(place - _NEAR, 0), place + _NEAR + 1)
            ]
        )

    def _places(self, mark: str) -> Iterator[int]:
        place = self._text.find(mark)
        while place >= 0:
            yield place
            place = self._text.find(mark, place + 1)

    def _with(self, places: list[int]) -> Column:
        found = np.zeros(len(self._ends))
        found[np.searchsorted(self._ends, np.array(places, np.int64), "right")] = 1.0
        return found


def _of_place(blocks: list[Block], columns: dict[str, Column]) -> None:
    tags = np.array([_TAG_NUMBER.get(block.tag, -1) for block in blocks])
    of_tags = (np.arange(len(TAGS))[:, None] == tags).astype(float)
    columns |= {f"tag_{name}": of_tags[number] for number, name in enumerate(TAGS)}
    places = _bits([block.places for block in blocks], len(PLACES))
    columns |= {f"in_{name}": places[number] for number, name in enumerate(PLACES)}
    own = _bits([block.own for block in blocks], len(HINTS))
    around = _bits([block.around for block in blocks], len(HINTS))
    for number, name in enumerate(HINTS):
        columns[f"own_{name}"] = own[number]
        columns[f"around_{name}"] = around[number]
    columns["hidden"] = np.array([block.hidden for block in blocks], float)
    columns["depth"] = np.array([block.depth for block in blocks], float)


def _bits(numbers: list[int], count: int) -> NDArray[np.float64]:
    """A row for each of the lowest bits: 1 where it is set."""
    return (np.array(numbers) >> np.arange(count)[:, None] & 1).astype(float)


def _of_elements(blocks: list[Block], segments: Segments, columns: dict[str, Column]) -> None:
    """The elements around a block: how large they are, how much is links and prose, where they begin."""
    total = max(segments.words, 1)
    rows = [(e.words, e.linked, e.prose, e.before) for e in segments.elements]
    sizes = np.array([*rows, (segments.words, segments.linked, segments.prose, 0)], float)
    parents = np.array([*(element.parent for element in segments.elements), -1])
    at = np.array([block.element for block in blocks])
    for level in range(1, _LEVELS + 1):
        size = sizes[at, 0]
        columns[f"up{level}_words"] = np.log1p(size)
        columns[f"up{level}_share"] = size / total
        columns[f"up{level}_linked"] = sizes[at, 1] / np.maximum(size, 1)
        columns[f"up{level}_prose"] = sizes[at, 2] / np.maximum(size, 1)
        columns[f"up{level}_before"] = sizes[at, 3] / total
        at = np.where(at >= 0, parents[at], -1)


def _of_neighbours(words: Column, linked: Column, columns: dict[str, Column]) -> None:
    size = len(words)
    before = np.cumsum(words) - words
    total = max(words.sum(), 1)
    columns["place"] = before / total
    columns["before"] = np.log1p(before)
    columns["after"] = np.log1p(total - before)
    headings = np.nonzero(columns["tag_h1"])[0]
    first = headings[0] if len(headings) else -1
    columns["beyond_h1"] = np.sign(np.arange(size) - first).astype(float) if first >= 0 else np.zeros(size)
    columns["from_h1"] = np.log1p(np.abs(before - before[first])) if first >= 0 else np.full(size, -1.0)
    for away in _NEIGHBOURS:
        for name, values in (
            ("words", columns["words"]),
            ("linked", linked),
            ("p", columns["tag_p"]),
        ):
            columns[f"next{away}_{name}"] = _shifted(values, away)
    for width in _WINDOWS:
        for name, values in (("words", columns["words"]), ("linked", linked)):
            columns[f"window{width}_{name}"] = _windowed(values, words, width)


def _shifted(values: Column, away: int) -> Column:
    moved = np.zeros(len(values))
    if abs(away) < len(values):
        if away < 0:
            moved[-away:] = values[:away]
        else:
            moved[:-away] = values[away:]
    return moved


def _windowed(values: Column, words: Column, width: int) -> Column:
    """Means over blocks on both sides, weighted by their words."""
    places = np.arange(len(values))
    low, high = np.maximum(places - width, 0), np.minimum(places + width + 1, len(values))
    sums = np.concatenate([[0.0], np.cumsum(values * words)])
    weights = np.concatenate([[0.0], np.cumsum(words)])
    means: Column = (sums[high] - sums[low]) / np.maximum(weights[high] - weights[low], 1)
    return means
