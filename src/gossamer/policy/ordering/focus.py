"""Orders a focused crawl: links that promise pages about the words of a query come first (K18).

What a link promises is judged by its text, its address and the page it stands on. A page off the subject
passes on a part of what it was promised itself, so that the way to a relevant region may lead through a few
others (shark search: Hersovici et al., The Shark-Search Algorithm, 1998).
"""

import math
from collections.abc import Callable
from urllib.parse import unquote

import msgspec

from gossamer.model.candidate import Candidate
from gossamer.model.link import Link
from gossamer.model.page import Page
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.ordering.bm25 import Collection
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL, is_robots
from gossamer.policy.ordering.words import Query

__all__ = ["FIELD", "Focused", "Promise"]

FIELD = "focus"
"""Name in `Page.fields` of a list: words of the page's visible text, then how often each word of the query is
among them."""


class Promise(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the best mention of a URL promises, in thousandths: the whole, then its parts."""

    score: int = 0
    anchor: int = 0
    url: int = 0
    page: int = 0


class Progress(msgspec.Struct, array_like=True):
    """What the policy knows beside the promises."""

    query: tuple[str, ...]
    collection: Collection
    harvested: int = 0
    relevance: float = 0.0


WHOLE = 1_000
STEPS = 3
"""Levels to a doubling of the promise."""
NO_PROMISE = 2 + math.ceil(STEPS * math.log2(WHOLE))
"""Level of a URL that promises nothing and is a seed; others of the kind stand below by their depth."""
DEEPEST = 65_535
LONGEST_ADDRESS = 2_000
"""Characters of an address that are read for words."""


class Focused:
    """The order of a focused crawl; a `MentionOrdering`."""

    name = "focused"
    worth = Promise

    def __init__(self, config: FocusConfig) -> None:
        """Raises:
        ConfigError: the query holds no word.
        """
        self._config = config
        self._query = Query(config.query)
        self._progress = self._start()

    def retune(self, config: FocusConfig) -> None:
        """Go by other weights from now on, with the same query; see `reweighed`."""
        self._config = config

    def reweighed(self, candidate: Candidate, worth: Promise) -> Promise:  # noqa: ARG002 (others need it)
        """A promise as it would be had these weights held from the beginning; a seed's stays whole."""
        if worth.anchor == worth.url == 0 and worth.page == WHOLE:
            return worth
        config = self._config
        total = config.anchor_weight + config.url_weight + config.page_weight
        score = worth.anchor * config.anchor_weight + worth.url * config.url_weight
        score = (score + worth.page * config.page_weight) / total / WHOLE
        return Promise(_thousandths(score), worth.anchor, worth.url, worth.page)

    def _start(self) -> Progress:
        words = self._query.words
        return Progress(words, Collection(having=[0] * len(words)))

    # What survives a restart …

    def restore(self, state: bytes) -> None:
        """Go on from `state`; if it is of another query, counting begins anew."""
        known = msgspec.msgpack.decode(state, type=Progress) if state else None
        self._progress = known if known and known.query == self._query.words else self._start()

    def state(self) -> bytes:
        """Counts of documents and words, some 60 bytes for a short query."""
        return msgspec.msgpack.encode(self._progress)

    def figures(self) -> dict[str, float]:
        """For report and status: documents read, those that were relevant, and their share.

        Names: `documents`, `harvested`, `harvest_rate`, `mean_relevance` (the last two from 0 to 1).
        """
        progress = self._progress
        documents = progress.collection.documents
        return {
            "documents": documents,
            "harvested": progress.harvested,
            "harvest_rate": round(progress.harvested / documents, 4) if documents else 0.0,
            "mean_relevance": round(progress.relevance / documents, 4) if documents else 0.0,
        }

    # Places …

    def level(self, candidate: Candidate) -> int:
        """Of what has no promise."""
        return ROBOTS_LEVEL if is_robots(candidate) else self.waiting_level(candidate, Promise())

    def waiting_level(self, candidate: Candidate, worth: Promise) -> int:
        """The greater the promise the smaller, three levels to a doubling; without one by depth."""
        if worth.score <= 0:
            return NO_PROMISE + min(candidate.depth, DEEPEST)
        return 1 + round(STEPS * math.log2(WHOLE / min(worth.score, WHOLE)))

    # Promises …

    def admitted(self, candidate: Candidate, gift: Promise | None) -> Promise:
        """A seed is on the subject, or nobody would have named it."""
        if gift is not None:
            return gift
        return Promise() if candidate.via else Promise(WHOLE, page=WHOLE)

    def appraise(
        self,
        finder: Candidate,  # noqa: ARG002 (the port wants it)
        worth: Promise,
        page: Page,
    ) -> Callable[[Link], Promise]:
        """Count a page that was read, and say what each of its links promises."""
        config, collection = self._config, self._progress.collection
        relevance = self._read(page)
        inherited = max(relevance, config.passed_on * worth.score / WHOLE)
        weights = (config.anchor_weight, config.url_weight, config.page_weight)
        total = sum(weights)
        count = self._query.count

        def promise(link: Link) -> Promise:
            anchor = collection.match(count(link.text)[1]) if link.text else 0.0
            address = collection.match(count(_words_of(link.url))[1])
            score = (weights[0] * anchor + weights[1] * address + weights[2] * inherited) / total
            return Promise(_thousandths(score), *map(_thousandths, (anchor, address, inherited)))

        return promise

    def relevance(self, page: Page) -> float:
        """How much a page is about the query, from 0 towards 1, measured by the pages read so far."""
        counts, length = self._page(page)
        return self._progress.collection.match(counts, length)

    def _read(self, page: Page) -> float:
        """The page's relevance; it counts as a document from now on if its text was read for words."""
        progress = self._progress
        counts, length = self._page(page)
        if length is None:
            return progress.collection.match(counts)
        progress.collection.add(length, counts)
        relevance = progress.collection.match(counts, length)
        progress.relevance += relevance
        progress.harvested += relevance >= self._config.threshold
        return relevance

    def _page(self, page: Page) -> tuple[list[float], int | None]:
        """Frequencies of the words of the query, by the weights of the fields; words of the text."""
        counts = [0.0] * len(self._query.words)
        length = None
        read = page.fields.get(FIELD)
        if isinstance(read, list) and len(read) == 1 + len(counts):
            length, counts = read[0], read[1:]
        config = self._config
        for text, weight in (page.title, config.title_weight), (page.description, config.description_weight):
            if text:
                more = self._query.count(text)[1]
                counts = [one + weight * other for one, other in zip(counts, more, strict=True)]
        return counts, length

    # Gifts …

    def spread(self, finder: Candidate, worth: Promise, targets: int, links: int) -> tuple[Promise, Promise]:  # noqa: ARG002
        """Where nothing was read, as with a redirect, the page's own promise goes on."""
        return worth, worth

    def closed(self, worth: Promise) -> Promise:
        """The worth as it is; it stays, for `why`."""
        return worth

    def merge(self, one: Promise, other: Promise) -> Promise:
        """The better mention counts: a thousand poor ones are no good one."""
        return one if one.score >= other.score else other

    def give(self, worth: Promise, gift: Promise) -> Promise:
        """The worth with a gift, as `merge` has it."""
        return self.merge(worth, gift)

    def lose(self, gift: Promise) -> None:
        """Nothing was taken from anybody."""

    def pack(self, gift: Promise) -> bytes:
        """The gift as it is stored: as it is."""
        return msgspec.msgpack.encode(gift)

    def unpack(self, data: bytes) -> Promise:
        """The gift as it was before `pack`."""
        return msgspec.msgpack.decode(data, type=Promise)

    def explain(self, candidate: Candidate, worth: Promise) -> dict[str, Reason | str]:  # noqa: ARG002
        """The promise and its parts."""
        parts = {"promise": worth.score, "link text": worth.anchor, "address": worth.url, "page": worth.page}
        return {name: f"{part / WHOLE:.3f}" for name, part in parts.items()}


def _thousandths(part: float) -> int:
    return round(WHOLE * part)


def _words_of(url: Url) -> str:
    """Host, path and query as text, escapes replaced."""
    text = (url.host + url.target)[:LONGEST_ADDRESS]
    return unquote(text) if "%" in text else text
