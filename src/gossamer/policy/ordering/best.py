"""Best first: importance by back-links and by the text of the URL (K5)."""

import math
from math import isqrt
from typing import Annotated
from zlib import crc32

import msgspec
from msgspec import Meta

from gossamer.model.candidate import Candidate
from gossamer.model.reasons.codes import WorthCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.ordering.features import FEATURES, Feature, FeatureTable
from gossamer.policy.ordering.levels import STEPS, level_at, step_meaning
from gossamer.policy.urls.registrable import registrable_domain

BUCKETS = 16
"""Registrable domains are told apart so far; a farm in one domain fills one, and only by its logarithm."""

UNIT = 64
"""What counts as one link."""

SEEDS_LINK = 4096
"""Weight of a link of a seed, and what the links of a page come to that has one link and passes it on."""

MOST_WEIGHT = 1 << 40
"""A bucket is full; its logarithm would hardly grow."""

ZERO_STEP = 128
"""Where an importance of 0 stands, so that there is room below for unpromising URLs."""


class BestConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Importance is `x` times IB (back-links) plus `y` times IL (the URL's text)."""

    x: Annotated[
        float, Meta(ge=0, le=64, description="weight of back-links; 0: only the URL's text counts")
    ] = 1.0
    y: Annotated[float, Meta(ge=0, le=64, description="weight of the URL's text; 0: only links count")] = 1.0
    features: Annotated[
        list[Feature],
        Meta(max_length=1_000, description="what in a URL's text counts; replaces the whole table"),
    ] = msgspec.field(default_factory=lambda: list(FEATURES))


class Backlinks(msgspec.Struct, frozen=True, array_like=True):
    """Links on their way to a URL.

    Attributes:
        weights: bucket of the finder's registrable domain -> sum of weights, in parts of `UNIT`.
    """

    weights: dict[int, int]


class BestWorth(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a URL.

    Attributes:
        text: IL.
        weights: as `Backlinks.weights`, of all links so far.
    """

    text: float
    weights: dict[int, int]


class BestFirst:
    """I(P) = X*IB(P) + Y*IL(P); the most important first, then the shallow ones, then by arrival.

    IB is the sum over buckets of log2(1 + weight): the number of links counts by its logarithm, the number
    of domains that they come from in proportion (up to `BUCKETS`). A link weighs the square root of what its
    page has for each of its links, as it is known when the page is fetched; it is not corrected later. So
    what many pages link to speaks louder, a long list speaks softly, and a chain never gains: weights that
    grow by one a hop put what was found deep before what was found first.
    """

    name = "best"

    def __init__(self, config: BestConfig) -> None:
        self._config = config
        self._features = FeatureTable(config.features)

    def retune(self, config: BestConfig) -> None:
        """Go by other weights from now on; `reweighed` tells what that makes of a worth."""
        self._config = config
        self._features = FeatureTable(config.features)

    def reweighed(self, candidate: Candidate, worth: BestWorth) -> BestWorth:
        """A worth as it would be had these weights held from the beginning."""
        return BestWorth(self._features.value(candidate.url), worth.weights)

    meaning = staticmethod(step_meaning)

    @property
    def worth(self) -> type[BestWorth]:
        """What is kept of a URL."""
        return BestWorth

    def restore(self, state: bytes) -> None:
        """There is nothing beside the worths."""

    def state(self) -> bytes:
        """Nothing: this order keeps no sums."""
        return b""

    def level(self, candidate: Candidate) -> int:
        """By the URL's text alone."""
        return self.waiting_level(candidate, self.admitted(candidate, None))

    def admitted(self, candidate: Candidate, gift: Backlinks | None) -> BestWorth:
        """A new URL, with the link that made it known."""
        return BestWorth(self._features.value(candidate.url), gift.weights if gift is not None else {})

    def waiting_level(self, candidate: Candidate, worth: BestWorth) -> int:
        """By importance, `STEPS` levels for each unit of it."""
        importance = self._config.x * _by_links(worth) + self._config.y * worth.text
        return level_at(ZERO_STEP + math.floor(importance * STEPS), candidate)

    def spread(
        self,
        finder: Candidate,
        worth: BestWorth,
        targets: int,  # noqa: ARG002
        links: int,
    ) -> tuple[BestWorth, Backlinks]:
        """A link of this page; each target gets the same, however many there are."""
        bucket = crc32(registrable_domain(finder.url.host).encode()) % BUCKETS
        weight = SEEDS_LINK
        if finder.depth:
            known = max(UNIT, sum(worth.weights.values()))
            weight = max(1, isqrt(SEEDS_LINK * known // max(1, links)))
        return worth, Backlinks({bucket: weight})

    def closed(self, worth: BestWorth) -> BestWorth:
        """The worth as it is: closing changes nothing."""
        return worth

    def merge(self, one: Backlinks, other: Backlinks) -> Backlinks:
        """Two gifts to one URL as one."""
        return Backlinks(_sum(one.weights, other.weights))

    def give(self, worth: BestWorth, gift: Backlinks) -> BestWorth:
        """The worth when more links are known."""
        return BestWorth(worth.text, _sum(worth.weights, gift.weights))

    def lose(self, gift: Backlinks) -> None:
        """Nothing is owed to anybody."""

    def pack(self, gift: Backlinks) -> bytes:
        """The gift as it is stored: as it is."""
        return msgspec.msgpack.encode(gift)

    def unpack(self, data: bytes) -> Backlinks:
        """The gift as it was before `pack`."""
        return msgspec.msgpack.decode(data, type=Backlinks)

    def explain(self, candidate: Candidate, worth: BestWorth) -> dict[str, Reason | str]:  # noqa: ARG002
        """Both parts and their sum."""
        links = _by_links(worth)
        return {
            "importance": f"{self._config.x * links + self._config.y * worth.text:.2f}",
            "IB, by back-links": because(WorthCode.BUCKETS, links, len(worth.weights), BUCKETS),
            "IL, by the URL's text": f"{worth.text:.2f}",
        }


def _by_links(worth: BestWorth) -> float:
    return sum(math.log2(1 + weight / UNIT) for weight in worth.weights.values())


def _sum(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    weights = dict(one)
    for bucket, weight in other.items():
        weights[bucket] = min(weights.get(bucket, 0) + weight, MOST_WEIGHT)
    return weights
