"""Adds seeds to a running crawl, by request or from a file that is watched (K18)."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gossamer.assembly.build import Built
from gossamer.assembly.seeds import parse_seed
from gossamer.control.changes.applier import SettingsApplier
from gossamer.model.errors import StorageError
from gossamer.model.events import ProblemFound
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.state.environment import Family
from gossamer.state.records import decode, encode
from gossamer.state.whole_files import write_pieces

WATCHED = b"seeds-watched"
"""Key in `meta`: how far the watched file was read."""
AT_ONCE = 200
"""Seeds admitted without a pause, some 30 us each."""
LINES_AT_ONCE = 1_000
LONGEST_LINE = 64 << 10
PIECE = 1 << 20


class Place(msgspec.Struct, frozen=True, array_like=True):
    """How far a file was read; of another file of the same name nothing was."""

    path: str
    inode: int
    offset: int


class Seeding:
    """Takes seeds into the crawl that runs, and into the folder's own list, so that `resume` has them."""

    def __init__(self, built: Built, applier: SettingsApplier) -> None:
        self._list = built.folder.seeds
        self._built = built
        self._crawl = built.crawl
        self._applier = applier

    def keep(self, texts: Iterable[str]) -> None:
        """Add lines to the folder's list; they are on the disk when this returns.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            with self._list.open("a", encoding="utf-8") as out:
                out.writelines(f"{text}\n" for text in texts)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise StorageError(
                f"{self._list}: cannot be written ({error.strerror}). Free some space."
            ) from None

    def drop(self, texts: frozenset[str]) -> None:
        """Take lines out of the folder's list, each as often as it stands there.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            with self._list.open(encoding="utf-8") as lines:
                write_pieces(self._list, (line.encode() for line in lines if line.strip() not in texts))
        except OSError as error:
            raise StorageError(f"{self._list}: cannot be read ({error.strerror})") from None

    async def admit(self, urls: list[Url]) -> int:
        """Queue seeds, and let their places belong to the scope; how many were new."""
        parts = self._crawl.parts
        widened = []
        for url in urls:
            if not self._built.effective.config.fetch.allow_private:
                self._built.guard.allow_host(url.host)
            if parts.admission.add_seed(url):
                widened.append(parts.frontier.host_key(url)[0])
        new = 0
        for start in range(0, len(urls), AT_ONCE):
            new += self._crawl.seed(urls[start : start + AT_ONCE])
            parts.dispatch.pump()
            await asyncio.sleep(0)
        if widened:
            # What was turned away of their places may come in now.
            everywhere = self._built.effective.config.scope.mode == "domain"
            self._applier.reclaim.begin(None if everywhere else widened)
            self._applier.background.call()
        return new


class SeedFile:
    """The lines of a watched file, each given out once."""

    def __init__(self, folder: Path, built: Built) -> None:
        self._folder = folder
        self._built = built
        data = built.environment.get(Family.META, WATCHED)
        self._place = decode(data, Place) if data else Place("", 0, 0)
        self._skipping = False

    def lines(self, path: str) -> tuple[list[str], Place]:
        """Some lines that have come since, and where they end; to be called in a thread.

        A file that has become shorter, or another one of the same name, is read from its beginning.

        Raises:
            OSError: it cannot be read.
        """
        place = self._place
        with (self._folder / path).open("rb") as file:
            known = os.fstat(file.fileno())
            if (place.path, place.inode) != (path, known.st_ino) or known.st_size < place.offset:
                place = Place(path, known.st_ino, 0)
            file.seek(place.offset)
            piece = file.read(PIECE)
        found: list[str] = []
        begin = 0
        while len(found) < LINES_AT_ONCE and (end := piece.find(b"\n", begin)) >= 0:
            line, begin = piece[begin:end], end + 1
            text = "" if self._skipping else line.decode("utf-8", "replace").strip().removeprefix("\ufeff")
            self._skipping = False
            if text and not text.startswith("#"):
                found.append(text)
        if not begin and len(piece) >= LONGEST_LINE:  # no line of this length is an address
            begin = len(piece)
            self._skipping = True
        return found, Place(path, place.inode, place.offset + begin)

    def moved(self, place: Place) -> None:
        """The lines up to `place` are in the crawl."""
        if place != self._place:
            self._place = place
            with self._built.crawl.parts.frontier.changes() as batch:
                batch.put(Family.META, WATCHED, encode(place))


def sorted_out(texts: Iterable[str]) -> tuple[list[Url], list[Reason]]:
    """(seeds, what is wrong with those that are none)."""
    seeds = [parse_seed(text) for text in texts]
    urls = [seed for seed in seeds if isinstance(seed, Url)]
    return list(dict.fromkeys(urls)), [seed for seed in seeds if isinstance(seed, Reason)]


def complain(built: Built, path: str, problem: Reason | str) -> None:
    """Tell of a watched file, or of a line of it."""
    built.crawl.parts.observers.tell(ProblemFound(f"seeds_watch {path}", str(problem)))
