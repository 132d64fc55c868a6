"""Compares two crawls as streams, in the order of their indexes: what is new, gone, changed, and what has moved.

Memory is bounded: of each page the last capture counts, hosts are taken one after the other, and who moved is found by
sorting the texts of what is new or gone on disk.
"""

import heapq
from collections.abc import Generator, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from gossamer.inspect.archive.big_sort import BigSort, LineFile, read_lines
from gossamer.inspect.archive.lookup import Indexed, indexed, read_back
from gossamer.inspect.compare.captures import bounded
from gossamer.inspect.compare.learned import Learned, known_of, learned_together
from gossamer.inspect.compare.text import READ, Reading, placed_in
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError, UnreadableError
from gossamer.model.url import Url
from gossamer.policy.change.change import changed, fingerprint
from gossamer.policy.change.passages import Passage, passages_of
from gossamer.policy.change.slots import Placed
from gossamer.policy.change.volatile import Volatile
from gossamer.state.environment import Family

__all__ = ["LEARNED_FROM", "Counts", "Difference", "How", "Kind", "differences"]

Kind = Literal["changed", "new", "gone", "moved"]
LEARNED_FROM = 24
"""Pages of a host from whose changes is learned what differs at each visit, and as many that did not change."""
_HELD = 8 << 20
"""Characters of their texts that are held."""
_SORTED = 8 << 20
_FEWEST_PIECES = 3
"""Of a text that is known again at another address; of less the bytes must be equal."""

_Texts = tuple[Placed, Placed]


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a page between two crawls.

    Attributes:
        kind: `changed`, `new`, `gone` or `moved`.
        url: where it is, or was.
        was: where it was before it moved.
        status: now; 0 if the second crawl never asked for it.
        share: of its words that differ, 0 to 1.
        removed, added: words.
        note: why its text cannot be told, if its bytes differ.
        passages: of a page that has changed, what differs with its context, if that was asked for.
        cut: there were more than `MOST_ROWS` rows of them.
    """

    kind: Kind
    url: str
    was: str = ""
    status: int = 0
    share: float = 0.0
    removed: int = 0
    added: int = 0
    note: str = ""
    passages: Sequence[Passage] = ()
    cut: bool = False


class How(NamedTuple):
    """How crawls are compared: how captures are read, whether what differs at each visit counts, too, and how many rows
    around what differs are wanted; `None`: no passages are."""

    reading: Reading = READ
    everything: bool = False
    context: int | None = None


class Counts(msgspec.Struct):
    """How many pages of each kind; `same`: in both, `ignored` of them but for what differs at each visit."""

    same: int = 0
    ignored: int = 0
    changed: int = 0
    moved: int = 0
    new: int = 0
    gone: int = 0


def differences(
    before: Inspection,
    after: Inspection,
    scratch: Path,
    counts: Counts,
    how: How,
) -> Iterator[Difference]:
    """What changed, host by host, and then what moved, is new or gone, by address.

    Args:
        before, after: two crawls.
        scratch: a folder for what is sorted.
        counts: counts along.
        how: they are compared.

    Raises:
        StorageError: an archive is damaged, or the disk is full.
    """
    reader = _Reader(before, after, how)
    texts = BigSort(scratch, "texts", _SORTED)
    for _, group in groupby(_both(before, after), key=lambda one: one[0].partition(b")")[0]):
        apart = BigSort(scratch, "apart", _SORTED)
        learned = yield from _of_host(reader, group, apart, scratch / "waiting", counts)
        for line in apart:
            texts.add(reader.by_text(msgspec.json.decode(line, type=_Apart), learned))
    found = BigSort(scratch, "found", _SORTED)
    for one in _moved(texts, counts):
        found.add(one.url.encode("utf-8", "surrogateescape") + b"\t" + msgspec.json.encode(one))
    for line in found:
        yield msgspec.json.decode(line.rpartition(b"\t")[2], type=Difference)


def _of_host(
    reader: "_Reader",
    group: Iterator[tuple[bytes, Indexed | None, Indexed | None]],
    apart: BigSort,
    waiting: Path,
    counts: Counts,
) -> Generator[Difference, None, Learned]:
    """The changed pages of one host; what is new or gone goes to `apart`, until it is known what of the host differs
    at each visit, which is returned. Those whose bytes differ go to the file `waiting` until then."""
    differing, steady = _Sample(), _Sample()
    with LineFile(waiting) as lines:
        for _, first, last in group:
            old, new = _page(first), _page(last)
            if old is not None and new is not None:
                if old.digest == new.digest:
                    counts.same += 1
                    steady.add((old, new))
                else:
                    lines.write(msgspec.json.encode((old, new)))
                    differing.add((old, new))
            elif old is not None:
                apart.add(msgspec.json.encode(_Apart(old, True, last.status if last else 0)))
            elif new is not None:
                apart.add(msgspec.json.encode(_Apart(new, False, new.status)))
    learned = Learned(Volatile())
    if differing.pairs and not reader.how.everything:
        learned = _learned(reader, differing, steady)
    for line in read_lines(waiting):
        pair = msgspec.json.decode(line, type=tuple[Indexed, Indexed])
        both = reader.texts(pair)
        if isinstance(both, str):
            counts.changed += 1
            yield Difference("changed", pair[1].url, status=pair[1].status, note=both)
            continue
        before, after = (one.pieces for one in both)
        volatile = learned.of(*both)
        change = changed(before, after, volatile)
        if not change:
            counts.same += 1
            counts.ignored += bool(changed(before, after))
            continue
        counts.changed += 1
        passages: Sequence[Passage] = []
        cut = False
        if reader.how.context is not None:
            passages, cut = bounded(passages_of(before, after, change, volatile, reader.how.context))
        yield Difference(
            "changed",
            pair[1].url,
            status=pair[1].status,
            share=round(change.share, 4),
            removed=change.removed,
            added=change.added,
            passages=passages,
            cut=cut,
        )
    return learned


class _Sample:
    """Pages of a host, as many as are learned from, those with the least digests: any of them, each content once,
    for the first by address are often one page under many."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], tuple[Indexed, Indexed]] = {}

    def add(self, pair: tuple[Indexed, Indexed]) -> None:
        """Take a page of both crawls, perhaps in the place of another."""
        self._held[pair[1].digest, pair[0].digest] = pair
        if len(self._held) > LEARNED_FROM:
            del self._held[max(self._held)]

    @property
    def pairs(self) -> list[tuple[Indexed, Indexed]]:
        return [self._held[key] for key in sorted(self._held)]


def _learned(reader: "_Reader", differing: _Sample, steady: _Sample) -> Learned:
    """From texts of pages that differ, at least one, and of pages that do not: these say what stays."""
    texts: list[_Texts] = []
    left = _HELD
    for pair in (*differing.pairs, *steady.pairs):
        both = reader.texts(pair)
        if isinstance(both, str):
            continue
        texts.append(both)
        left -= sum(len(piece) for side in both for piece in side.pieces)
        if left < 0:
            break
    url = Url.from_serialised(differing.pairs[0][1].url)
    return learned_together(texts, known_of(reader.after, url) if url is not None else Volatile())


class _Apart(msgspec.Struct, frozen=True):
    """A page that only one of the crawls has, and its status in the second."""

    page: Indexed
    gone: bool
    status: int


class _Reader:
    """Reads texts of both crawls."""

    def __init__(self, before: Inspection, after: Inspection, how: How) -> None:
        self.before, self.after, self.how = before, after, how

    def texts(self, pair: tuple[Indexed, Indexed]) -> _Texts | str:
        """Of both captures, or why they cannot be told."""
        try:
            return self._placed(self.before, pair[0]), self._placed(self.after, pair[1])
        except (UnreadableError, StorageError) as error:
            return str(error)

    def by_text(self, apart: _Apart, learned: Learned) -> bytes:
        """A line of one that is new or gone, to be sorted by what it says beside what differs at each visit."""
        one = apart.page
        mark = one.digest
        try:
            placed = self._placed(self.before if apart.gone else self.after, one)
        except (UnreadableError, StorageError):
            placed = Placed([])
        if len(placed.pieces) >= _FEWEST_PIECES:
            mark = f"{fingerprint(placed.pieces, learned.of(placed)):016x}"
        side, url = b"0" if apart.gone else b"1", one.url.encode("utf-8", "surrogateescape")
        return b"%b\t%b\t%d\t%b" % (mark.encode(), side, apart.status, url)

    def _placed(self, inspection: Inspection, one: Indexed) -> Placed:
        return placed_in(inspection, read_back(inspection, one), self.how.reading)


def _moved(texts: BigSort, counts: Counts) -> Iterator[Difference]:
    """What is new or gone; of equal texts as many moved as there are of both."""
    for _, group in groupby((line.split(b"\t", 3) for line in texts), key=lambda line: line[0]):
        waiting: list[str] = []
        for _, side, status, url in group:
            address = url.decode("utf-8", "surrogateescape")
            if side == b"0":
                if len(waiting) < LEARNED_FROM:
                    waiting.append(f"{status.decode()}\t{address}")
                else:
                    counts.gone += 1
                    yield Difference("gone", address, status=int(status))
            elif waiting:
                counts.moved += 1
                yield Difference("moved", address, was=waiting.pop(0).partition("\t")[2], status=int(status))
            else:
                counts.new += 1
                yield Difference("new", address, status=int(status))
        for left in waiting:
            code, _, address = left.partition("\t")
            counts.gone += 1
            yield Difference("gone", address, status=int(code))


def _page(one: Indexed | None) -> Indexed | None:
    """Nothing if there was no page."""
    return one if one is not None and (one.status == 0 or 200 <= one.status < 300) else None


def _both(before: Inspection, after: Inspection) -> Iterator[tuple[bytes, Indexed | None, Indexed | None]]:
    """The last captures of each address in both crawls, in the order of their keys."""
    old, new = _latest(before), _latest(after)
    one, other = next(old, None), next(new, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            yield one[0], one[1], None
            one = next(old, None)
        elif one is None or other[0] < one[0]:
            yield other[0], None, other[1]
            other = next(new, None)
        else:
            yield one[0], one[1], other[1]
            one, other = next(old, None), next(new, None)


def _latest(inspection: Inspection) -> Iterator[tuple[bytes, Indexed]]:
    """Of each address its last capture that tells whether it is there."""
    streams = [crawl.environment.scan(Family.CAPTURES) for crawl in inspection.together]
    lines = heapq.merge(*streams) if len(streams) > 1 else streams[0]
    for key, group in groupby(lines, key=lambda item: item[0].partition(b" ")[0]):
        last: tuple[bytes, bytes] | None = None
        for place, data in group:
            if b'"status":"304"' not in data:
                last = place, data
        if last is not None:
            yield key, indexed(*last)
