"""What is known of the pages, as files in a crawl's folder that are committed together.

`similar/` holds numbered parts, each about pages that follow each other, and `mark.json`: which parts count, and up to
which place of the archive they tell. A part is one file: sorted postings (bands, URLs, fingerprints), then a record for
each page, then the pairs of near-duplicates. Parts are never changed; small ones are merged into larger ones, so that
there are few, and a page is written about as often as the logarithm of their number. What the mark does not
name was never committed. Pages are numbered as they come, so the same tables make the same index, whatever was killed.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from gossamer.archive.follower import KEPT, KEPT_ANEW, Mark
from gossamer.assembly.folder_lock import lock_folder
from gossamer.search.similar.postings import Pages, Postings, latest, merged
from gossamer.search.similar.shingles import SKETCH
from gossamer.search.similar.state import Part, State, state_of
from gossamer.state.whole_files import replacing, write_whole

__all__ = ["PAGE", "PAIR", "DamagedError", "Fresh", "Known", "Store", "opened"]

PAGE = np.dtype(
    [("serial", "<u4"), ("offset", "<u8"), ("url", "<u8"), ("size", "<u4"), ("sketch", "u1", (SKETCH,))]
)
"""Of one page: place in the archive, key of its URL, different shingles, sketch."""
PAIR = np.dtype([("page", "<u4"), ("other", "<u4"), ("resemblance", "<f4")])
"""A page, an earlier one, and how much they resemble each other."""
_SORTED = ("bands", "urls", "fingerprints")
_COPIED = 1 << 16
_TRIES = 5


class DamagedError(Exception):
    """A part is not what was committed; the index is to be made anew."""


class Fresh(msgspec.Struct, frozen=True):
    """What a part is made of: postings sorted, `pages` of `PAGE` and `pairs` of `PAIR`."""

    bands: Postings
    urls: Postings
    fingerprints: Postings
    pages: NDArray[Any]
    pairs: NDArray[Any]


class Known(msgspec.Struct, frozen=True):
    """The index as it stands, to be looked things up in; each list is in the order of the pages."""

    bands: list[Postings]
    urls: list[Postings]
    fingerprints: list[Postings]
    pages: list[NDArray[Any]]
    pairs: list[NDArray[Any]]

    def with_fresh(self, fresh: Fresh) -> "Known":
        """This and what comes next."""
        return Known(
            [*self.bands, fresh.bands],
            [*self.urls, fresh.urls],
            [*self.fingerprints, fresh.fingerprints],
            [*self.pages, fresh.pages],
            [*self.pairs, fresh.pairs],
        )

    @property
    def count(self) -> int:
        """How many pages there are."""
        return sum(len(pages) for pages in self.pages)

    def records(self, pages: Pages) -> NDArray[Any]:
        """The records of these pages.

        Raises:
            DamagedError: there is no such page.
        """
        found = np.zeros(len(pages), PAGE)
        first = left = 0
        for part in self.pages:
            here = np.flatnonzero((pages >= first) & (pages < first + len(part)))
            found[here] = part[pages[here] - first]
            left += len(here)
            first += len(part)
        if left != len(pages):
            raise DamagedError(f"a page beyond the {first:,} that there are")
        return found

    def standing(self, pages: Pages, before: Pages) -> Pages:
        """For each page the newest capture of its URL before a page: what stands for the URL there."""
        urls = self.records(pages)["url"]
        keys = (urls >> np.uint64(32)).astype(np.uint32)
        found = pages.copy()
        for asked, others in latest(self.urls, keys, before):
            same = self.records(others)["url"] == urls[asked]
            np.maximum.at(found, asked[same], others[same])
        return found


def opened(folder: Path) -> tuple[State, Known] | None:
    """The index of a folder as it is committed now, for reading; `None` if there is none.

    Raises:
        DamagedError: a part is missing or cut.
    """
    for _ in range(_TRIES):
        state = state_of(folder)
        if state is None:
            return None
        try:
            return state, _known(folder, state)
        except DamagedError:
            if state == state_of(folder):  # otherwise it was merged away meanwhile
                raise
    raise DamagedError(f"{folder}: it is being merged all the time")


def _path(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06d}.bin"


def _known(folder: Path, state: State) -> Known:
    known = Known([], [], [], [], [])
    for part in state.parts:
        known = known.with_fresh(_mapped(folder, part))
    return known


def _mapped(folder: Path, part: Part) -> Fresh:
    """A part, its pages of the file read when they are needed."""
    path = _path(folder, part.number)
    try:
        if path.stat().st_size != sum(part.sizes):
            raise DamagedError(f"{path}: is not as long as it was committed")
        whole = np.memmap(path, np.uint8, "r") if sum(part.sizes) else np.zeros(0, np.uint8)
    except OSError as error:
        raise DamagedError(f"{path}: cannot be read ({error.strerror})") from error
    pieces: list[NDArray[Any]] = []
    at = 0
    kinds = (*[np.dtype("<u8")] * 3, PAGE, PAIR)
    for size, kind in zip(part.sizes, kinds, strict=True):
        pieces.append(np.asarray(whole[at : at + size]).view(kind))
        at += size
    return Fresh(*pieces)


class Store:
    """Writes the index. One process at a time."""

    def __init__(self, folder: Path, made_of: str) -> None:
        """Open the folder, made if it is not there; what no commit names or is damaged goes, and what was made of
        other tables does with `publish`; `remade` says why.

        Raises:
            Busy: another process writes here.
            ConfigError: the folder is somebody else's.
            StorageError: the disk refuses.
        """
        self._folder = folder
        self._lock = lock_folder(folder, "makes this index")
        self.remade = ""
        """Why it is made anew; empty if it is not."""
        self._last: State | None = None
        """What readers have while all is made anew."""
        held = state_of(folder)
        if held is None and (folder / KEPT).exists():
            self.remade = f"{folder / KEPT}: is damaged, or of another version"
        elif held is not None and held.made_of != made_of and held.pages:
            self._last, held = held, state_of(folder, KEPT_ANEW)
            if held is None or held.made_of != made_of:
                self.remade = f"{folder}: the tables of documents are others now"
        if held is not None and not self.remade:
            self.remade = _damage(folder, held)
        if held is None or self.remade or held.made_of != made_of:
            following = max(state.next if state is not None else 0 for state in (held, self._last))
            held = State(made_of=made_of, next=following)
        self.state = held
        self.known = _known(folder, held)
        if self.remade:
            self._keep(held)  # else the parts that go would be missed, once more
        self._clear()

    def close(self) -> None:
        """Let other processes write here."""
        os.close(self._lock)

    def start_over(self) -> None:
        """Drop everything.

        Raises:
            StorageError: the disk refuses.
        """
        self._keep(State(made_of=self.state.made_of, next=self.state.next))
        self._clear()

    def commit(self, fresh: Fresh | None, mark: Mark) -> None:
        """Add pages, and the place in the archive up to which they tell.

        Raises:
            StorageError: the disk refuses; nothing was added.
        """
        parts = self.state.parts
        if fresh is not None and len(fresh.pages):
            first = self.known.count
            parts = (*parts, self._write(self.state.next, [fresh], first, first + len(fresh.pages)))
        self._keep(
            msgspec.structs.replace(
                self.state, mark=mark, parts=parts, next=self.state.next + (parts != self.state.parts)
            )
        )
        self._merge()

    def publish(self) -> None:
        """All that the tables tell is in: if it was made anew, let it take the place of what was there.

        Raises:
            StorageError: the disk refuses.
        """
        if self._last is not None:
            self._last = None
            self._keep(self.state)
            self._clear()

    def rewind(self, mark: Mark) -> None:
        """Drop the pages of records from `mark` on: the archive has others there now.

        Raises:
            StorageError: the disk refuses.
        """
        serial, offset = mark.place
        parts: list[Part] = []
        first, following = 0, self.state.next
        for at, (part, pages) in enumerate(zip(self.state.parts, self.known.pages, strict=True)):
            before = (pages["serial"] < serial) | ((pages["serial"] == serial) & (pages["offset"] < offset))
            count = int(before.sum())
            if count == len(pages):
                parts.append(part)
            elif count:
                parts.append(self._write(following, [_fresh(self.known, at)], first, first + count))
                following += 1
            first += len(pages)
        self._keep(msgspec.structs.replace(self.state, mark=mark, parts=tuple(parts), next=following))
        self._clear()

    def _merge(self) -> None:
        """Make one of the parts at the end that are not much larger than what follows them."""
        parts = self.state.parts
        start, follow = len(parts) - 1, parts[-1].pages if parts else 0
        while start > 0 and parts[start - 1].pages <= 2 * follow:
            start -= 1
            follow += parts[start].pages
        if len(parts) - start < 2:
            return
        some = [_fresh(self.known, at) for at in range(start, len(parts))]
        whole = self._write(self.state.next, some, self.known.count - follow, self.known.count)
        self._keep(
            msgspec.structs.replace(self.state, parts=(*parts[:start], whole), next=self.state.next + 1)
        )
        self._clear()

    def _write(self, number: int, parts: Sequence[Fresh], first: int, below: int) -> Part:
        """Write one part out of several: the pages from `first` on under `below`.

        Raises:
            StorageError: the disk refuses.
        """
        digest = xxhash.xxh3_64()
        counts = []
        with replacing(_path(self._folder, number)) as out:
            for pieces in _kinds(parts, first, below):
                count = 0
                for piece in pieces:
                    data = np.ascontiguousarray(piece).tobytes()
                    digest.update(data)
                    out.write(data)
                    count += len(piece)
                counts.append(count)
        bands, urls, prints, pages, pairs = counts
        return Part(number, bands, urls, prints, pages, pairs, digest.hexdigest())

    def _keep(self, state: State) -> None:
        """Commit.

        Raises:
            StorageError: the disk refuses.
        """
        write_whole(self._folder / (KEPT if self._last is None else KEPT_ANEW), msgspec.json.encode(state))
        self.state = state
        self.known = _known(self._folder, state)

    def _clear(self) -> None:
        """Remove what no commit names; whoever reads it has it open, or looks at the mark again."""
        states = [self.state] if self._last is None else [self.state, self._last]
        named = {_path(self._folder, part.number) for state in states for part in state.parts}
        for path in self._folder.iterdir():
            gone = path.name == KEPT_ANEW and self._last is None
            if gone or path.suffix == ".partial" or (path.suffix == ".bin" and path not in named):
                with contextlib.suppress(OSError):
                    path.unlink()


def _fresh(known: Known, at: int) -> Fresh:
    return Fresh(known.bands[at], known.urls[at], known.fingerprints[at], known.pages[at], known.pairs[at])


def _kinds(parts: Sequence[Fresh], first: int, below: int) -> Iterator[Iterator[NDArray[Any]]]:
    """What a part holds, kind by kind, in pieces that fit into memory."""
    for kind in _SORTED:
        yield merged([getattr(part, kind) for part in parts], below, capped=kind != "urls")
    yield _in_pieces([part.pages for part in parts], below - first)
    yield (pairs[pairs["page"] < below] for pairs in _in_pieces([part.pairs for part in parts]))


def _in_pieces(arrays: Iterable[NDArray[Any]], most: int = 2**63) -> Iterator[NDArray[Any]]:
    for array in arrays:
        length = min(len(array), most)
        most -= length
        for at in range(0, length, _COPIED):
            yield array[at : min(at + _COPIED, length)]


def _damage(folder: Path, state: State) -> str:
    """What is wrong with the files of a commit; empty if nothing is."""
    for part in state.parts:
        path = _path(folder, part.number)
        try:
            _mapped(folder, part)
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, xxhash.xxh3_64)
        except (DamagedError, OSError) as error:
            return str(error)
        if digest.hexdigest() != part.checksum:
            return f"{path}: is not what was written"
    return ""
