"""How well texts match a query: BM25 over a collection that grows while it is scored.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, 3.3 (the
formula) and 3.6 (several fields of a text: weighted frequencies are added before they saturate).
"""

import math
from collections.abc import Sequence

import msgspec

__all__ = ["Collection"]

SATURATION = 1.2
"""k1: the frequency at which a word of a text of average length has 1/2.2 of what it can have at most."""
LENGTH = 0.75
"""b: how much of a longer text's higher frequencies is put down to its length."""


class Collection(msgspec.Struct, array_like=True):
    """What was read so far, in counts.

    Attributes:
        documents: texts read.
        words: words of all of them.
        having: texts that have each word of the query.
    """

    documents: int = 0
    words: int = 0
    having: list[int] = []

    def add(self, length: int, counts: Sequence[float]) -> None:
        """Take in one more text of `length` words, with these frequencies of the words of the query."""
        self.documents += 1
        self.words += length
        self.having = [
            before + (count > 0)
            for before, count in zip(self.having or [0] * len(counts), counts, strict=True)
        ]

    def match(self, counts: Sequence[float], length: int | None = None) -> float:
        """From 0 (no word of the query is there) towards 1 (all are, often); grows with each count.

        The sum of BM25 divided by the most it can be, so that figures of different times compare: what
        counts is which words there are, not how rare all of them were.

        Args:
            counts: frequency of each word of the query, weighted by field.
            length: words of the text; `None` for a title, an address and the like, whose length says nothing.
        """
        most = got = 0.0
        size = 1.0
        if length is not None and self.words:
            size = 1 - LENGTH + LENGTH * length * self.documents / self.words
        for count, having in zip(counts, self.having or [0] * len(counts), strict=True):
            # Lucene's form: never negative, also for a word that most texts have.
            rarity = math.log1p((self.documents - having + 0.5) / (having + 0.5))
            most += rarity
            got += rarity * count / (count + SATURATION * size)
        return got / most if most else 0.0
