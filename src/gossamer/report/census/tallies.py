"""Counts in bounded memory, over streams of any length."""

import heapq
import math
from collections.abc import Iterator
from typing import Generic, TypeVar

from gossamer.report.figures import Histogram, Quantiles

T = TypeVar("T")

_PER_OCTAVE = 8
"""Buckets for a doubling: quantiles are off by some 5% at most."""


class Spread:
    """A histogram of amounts above 0 with edges at powers of two times `unit`; some 60 buckets for a decade.

    Memory grows with the range of amounts only.
    """

    def __init__(self, unit: float) -> None:
        self._unit = unit
        self._buckets: dict[int, int] = {}
        self._zero = 0
        self.largest = 0.0

    def add(self, amount: float) -> None:
        """Count an amount; negative ones as 0."""
        if amount <= 0:
            self._zero += 1
            return
        bucket = math.floor(math.log2(amount / self._unit) * _PER_OCTAVE)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        if amount > self.largest:
            self.largest = amount

    def copy(self) -> "Spread":
        """One that can be counted on with."""
        other = Spread(self._unit)
        other._buckets, other._zero, other.largest = dict(self._buckets), self._zero, self.largest
        return other

    def histogram(self) -> Histogram:
        """What was counted; an edge for each octave between the smallest and the largest amount."""
        quantiles = Quantiles(self._quantile(0.5), self._quantile(0.9), self._quantile(0.99), self.largest)
        if not self._buckets:
            return Histogram(zero=self._zero, quantiles=quantiles)
        octaves: dict[int, int] = {}
        for bucket, number in self._buckets.items():
            octave = bucket // _PER_OCTAVE
            octaves[octave] = octaves.get(octave, 0) + number
        span = range(min(octaves), max(octaves) + 1)
        edges = [self._unit * 2.0**octave for octave in span]
        return Histogram(edges, [octaves.get(octave, 0) for octave in span], self._zero, quantiles)

    def _quantile(self, share: float) -> float:
        wanted = share * (self._zero + sum(self._buckets.values()))
        passed = self._zero
        if passed >= wanted:
            return 0.0
        for bucket in sorted(self._buckets):
            passed += self._buckets[bucket]
            if passed >= wanted:
                return min(self.largest, self._unit * math.exp2((bucket + 0.5) / _PER_OCTAVE))
        return self.largest


class Largest(Generic[T]):
    """The `most` things of the highest rank; of equal ones those that came first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[float, int, T]] = []
        self._offered = 0
        self.least = -math.inf
        """What has no higher rank need not be offered."""

    def offer(self, rank: float, thing: T) -> None:
        """Take note of a thing."""
        self._offered += 1
        entry = (rank, -self._offered, thing)
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        elif rank > self.least:
            heapq.heapreplace(self._heap, entry)
        else:
            return
        if len(self._heap) == self._most:
            self.least = self._heap[0][0]

    def copy(self) -> "Largest[T]":
        """One that can be offered more."""
        other: Largest[T] = Largest(self._most)
        other._heap, other.least, other._offered = list(self._heap), self.least, self._offered
        return other

    def __iter__(self) -> Iterator[T]:
        """The highest rank first."""
        return (thing for _, _, thing in sorted(self._heap, reverse=True))


class Frequent:
    """The most frequent names of a stream, by lossy counting (Manku and Motwani 2002).

    Counts are too low by at most one for every `width` names that came. Some thousands of names are kept.
    """

    def __init__(self, width: int = 1_000) -> None:
        self._width = width
        self._counts: dict[str, tuple[int, int]] = {}  # (counted, what may be missing)
        self._came = 0

    def add(self, name: str) -> None:
        """Count a name once more."""
        counted, missing = self._counts.get(name, (0, self._came // self._width))
        self._counts[name] = (counted + 1, missing)
        self._came += 1
        if self._came % self._width == 0:
            passed = self._came // self._width
            self._counts = {
                name: entry for name, entry in self._counts.items() if entry[0] + entry[1] > passed
            }

    def most(self, number: int) -> list[tuple[str, int]]:
        """(name, how often at least), the most frequent first."""
        rows = ((name, counted) for name, (counted, _) in self._counts.items())
        return heapq.nsmallest(number, rows, key=lambda row: (-row[1], row[0]))


def add_bounded(counts: dict[str, int], name: str, most: int, other: str = "other") -> str:
    """Count `name`, as `other` if so many names are told apart already; the name it was counted under."""
    if name not in counts and len(counts) >= most:
        name = other
    counts[name] = counts.get(name, 0) + 1
    return name
