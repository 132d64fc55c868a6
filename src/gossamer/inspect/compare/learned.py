"""What of a site differs at each visit, learned from the captures that an archive holds."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from gossamer.inspect.archive.lookup import Indexed, read_back
from gossamer.inspect.compare.text import READ, Reading, pieces_in
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.errors import StorageError, UnreadableError
from gossamer.model.url import Url
from gossamer.policy.change.slots import Placed, Slots
from gossamer.policy.change.volatile import Volatile
from gossamer.state.environment import Family
from gossamer.state.records import decode_host

__all__ = ["CAPTURES", "Learned", "known_of", "learned_from", "learned_together"]

CAPTURES = 8
"""Of a page that are read to learn from: those made nearest to the ones that are compared."""


def learned_from(
    inspection: Inspection,
    captures: Sequence[Indexed],
    compared: tuple[Indexed, Indexed],
    reading: Reading = READ,
) -> Volatile:
    """As the crawl has learned it by visiting again; else from captures of one page, the pair that is compared left
    out: what it shows is to be told, not learned.

    Args:
        inspection: of the crawl.
        captures: the earliest first.
        compared: two of them.
        reading: how captures are read.
    """
    url = Url.from_serialised(compared[1].url)
    volatile = known_of(inspection, url) if url is not None else Volatile()
    if volatile:
        return volatile
    others = [one for one in captures if one.media_type or one in compared]
    last = max(others.index(one) if one in others else 0 for one in compared)
    first = max(0, min(last - CAPTURES + 2, len(others) - CAPTURES))
    texts: dict[Indexed, list[str]] = {}
    for pair in pairwise(others[first : first + CAPTURES]):
        if set(pair) == set(compared) or pair[0].digest == pair[1].digest:
            continue
        before, after = (_read(inspection, one, texts, reading) for one in pair)
        volatile.learn(before, after)
    return volatile


def _read(
    inspection: Inspection, one: Indexed, texts: dict[Indexed, list[str]], reading: Reading
) -> list[str]:
    """Nothing of what cannot be read: then nothing is learned of it."""
    if one not in texts:
        try:
            texts[one] = pieces_in(inspection, read_back(inspection, one), reading)
        except (StorageError, UnreadableError):
            texts[one] = []
    return texts[one]


def known_of(inspection: Inspection, url: Url) -> Volatile:
    """What the crawl has learned of the site of a URL; empty if it did not visit again."""
    for crawl in inspection.together:
        prints = fingerprints_of(crawl.environment)
        if prints is None:
            continue
        host = UrlPlaces(crawl.environment, prints, crawl.config).host(url)
        data = crawl.environment.get(Family.HOSTS, host)
        if data is not None and (packed := decode_host(data).volatile):
            return Volatile.unpack(packed)
    return Volatile()


class Learned(NamedTuple):
    """What differs at each visit of a site: figures and boxes, and slots of its templates."""

    volatile: Volatile
    slots: Slots = Slots()

    def of(self, *captures: Placed) -> Volatile:
        """What of a page does, by captures of it."""
        return self.volatile.beside(self.slots.within(*captures))


def learned_together(pairs: Sequence[tuple[Placed, Placed]], volatile: Volatile) -> Learned:
    """`volatile`, with what is learned from one pair of captures of each of several pages of a site, those too that
    did not change.

    A page of which nothing stayed is another one now and teaches nothing. What became the same on all of them is a
    change of the site, not a thing that differs at each visit.
    """
    pairs = [(one, other) for one, other in pairs if not set(one.pieces).isdisjoint(other.pieces)]
    seen = set[int]()
    for before, after in (
        *pairs,
        *pairs,
    ):  # the second time what stays is counted on those pages, too, that came first
        volatile.learn(before.pieces, after.pieces, seen)
    return Learned(volatile, Slots.learned(pairs))
