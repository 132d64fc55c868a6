"""Answers questions about the search indexes of crawls: `python -m gossamer.daemon.searching.searcher`.

It reads them on its standard input, and ends by itself when none comes for a while, or when it has grown large: then
the next question finds a new one.
"""

import contextlib
import resource
import select
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gossamer.assembly.private import keep_private
from gossamer.daemon.reading.orders import Failure
from gossamer.daemon.searching.questions import (
    MOST_CRAWLS,
    AlikePage,
    AlikePages,
    AnyQuestion,
    AskAlike,
    AskPages,
    AskTitles,
    FoundPage,
    FoundPages,
    Heard,
    Unusable,
    has_index,
)
from gossamer.inspect.clusters.cluster_folder import crawl_folders
from gossamer.model.errors import GossamerError, StorageError
from gossamer.search.searching import DEEPEST, Hit, ResultSums, Searching, Suggestion
from gossamer.search.similar.alike import Alike
from gossamer.search.similar.state import FOLDER as SIMILAR
from gossamer.search.similar.state import State, state_of
from gossamer.search.text.kept import FOLDER as SEARCH
from gossamer.search.text.kinds import names_of

IDLE = 60.0
"""Seconds without a question."""
MEMORY = 1 << 30
"""Bytes that it may have of its own; the index is read from the disk's cache, and counts for nobody."""
LARGE = 400 << 20
"""Bytes from which on it ends after an answer."""
KEPT = 4
"""Sets of crawls whose indexes are kept open."""
AGAIN = 5.0
"""Seconds after which it is tried again to open an index that could not be."""


class _Indexes:
    """The indexes of some crawls, open."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self.opened = time.monotonic()
        self.unusable: list[Unusable] = []
        self.searching: Searching | None = None
        usable = list(folders)
        try:
            self.searching = _opened(folders, usable)
        except GossamerError:
            usable = [name for name in folders if self._can_be_used(folders, name)]
            self.searching = _opened(folders, usable)
        without = {str(path) for path in self.searching.without} if self.searching else set()
        self.names = [name for name in usable if folders[name] not in without]
        self.whole = len(self.names) == len(folders)
        self.job_of = {folders[name]: name for name in self.names}

    def _can_be_used(self, folders: Mapping[str, str], name: str) -> bool:
        try:
            if (searching := _opened(folders, [name])) is not None:
                searching.close()
        except GossamerError as error:
            self.unusable.append(Unusable(name, str(error)))
            return False
        return True

    def close(self) -> None:
        """Close their files; they are asked no more."""
        if self.searching is not None:
            self.searching.close()


class Desk:
    """Where one question after the other is answered."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[tuple[str, str], ...], _Indexes] = OrderedDict()
        self._alike: tuple[dict[Path, State | None], Alike] | None = None

    def close(self) -> None:
        """Close all that is open; nothing is asked any more."""
        while self._open:
            self._open.popitem()[1].close()

    def answer(self, question: AnyQuestion) -> Heard:
        """What is known; a failure if that cannot be told."""
        try:
            return Heard(answer=msgspec.Raw(msgspec.json.encode(self._answer(question))))
        except StorageError as error:
            return Heard(Failure("internal", str(error)))
        except GossamerError as error:
            return Heard(Failure("conflict", str(error)))

    def _answer(self, question: AnyQuestion) -> FoundPages | AlikePages | list[Suggestion]:
        match question:
            case AskAlike():
                return self._pages_alike(question)
            case AskTitles():
                indexes = self._indexes(_with_index(question.folders, SEARCH)[:MOST_CRAWLS], question.folders)
                if indexes.searching is None:
                    return []
                return indexes.searching.suggest(question.text, limit=question.limit)
            case AskPages():
                return self._pages(question)

    def _pages(self, question: AskPages) -> FoundPages:
        there = _with_index(question.folders, SEARCH)
        indexes = self._indexes(there[:MOST_CRAWLS], question.folders)
        searched = {*indexes.names, *(one.job for one in indexes.unusable)}
        around = FoundPages(
            jobs=indexes.names,
            without=[name for name in question.folders if name not in {*there[MOST_CRAWLS:], *searched}],
            unusable=indexes.unusable,
            left_out=len(there[MOST_CRAWLS:]),
        )
        if indexes.searching is None:
            return around
        results = indexes.searching.search(
            question.query,
            limit=min(question.limit + 1, max(DEEPEST - question.offset, 1)),
            offset=question.offset,
            facets=question.facets,
            only=question.only,
        )
        return msgspec.structs.replace(
            around,
            pages=[_page(hit, indexes.job_of) for hit in results.hits[: question.limit]],
            more=len(results.hits) > question.limit,
            **{name: getattr(results, name) for name in ResultSums.__struct_fields__},
        )

    def _indexes(self, names: list[str], folders: Mapping[str, str]) -> _Indexes:
        """Those of some crawls, opened if they are not; what could not be used is tried again."""
        key = tuple((name, folders[name]) for name in names)
        found = self._open.get(key)
        if found is not None and not found.whole and time.monotonic() - found.opened > AGAIN:
            found.close()
            found = None
        if found is None:
            found = self._open[key] = _Indexes(dict(key))
        self._open.move_to_end(key)
        while len(self._open) > KEPT:
            self._open.popitem(last=False)[1].close()
        return found

    def _pages_alike(self, question: AskAlike) -> AlikePages:
        names = _with_index(question.folders, SIMILAR)[:MOST_CRAWLS]
        job_of = {path: name for name in names for path in crawl_folders(Path(question.folders[name]))}
        states = {path: state_of(path / SIMILAR) for path in job_of}
        if self._alike is None or self._alike[0] != states:
            self._alike = states, Alike(list(job_of))
        found = self._alike[1].clusters(question.url, question.limit)
        pages: dict[str, AlikePage] = {}
        for path, cluster in found:
            for one in cluster.pages:
                pages.setdefault(one.url, AlikePage(job_of[path], one.url, one.title, one.resemblance))
        size = sum(cluster.size for _, cluster in found)
        if size == sum(len(cluster.pages) for _, cluster in found):
            size = len(pages)  # of several crawls' clusters all is known, so that a page counts once
        return AlikePages(size, [*pages.values()][: question.limit])


def _opened(folders: Mapping[str, str], names: list[str]) -> Searching | None:
    return Searching([Path(folders[name]) for name in names]) if names else None


def _with_index(folders: Mapping[str, str], kind: str) -> list[str]:
    """Names of the crawls that have a folder of a kind: cheaper than to open all of them."""
    return [name for name, path in folders.items() if has_index(Path(path), kind)]


def _page(hit: Hit, job_of: Mapping[str, str]) -> FoundPage:
    same: dict[str, Any] = {
        name: getattr(hit, name)
        for name in FoundPage.__struct_fields__
        if name not in ("job", "also", "kind")
    }
    return FoundPage(
        job=job_of[hit.crawl],
        also=tuple(dict.fromkeys(job_of[folder] for folder in hit.also)),
        kind=names_of(hit.type)[0],
        **same,
    )


def own_memory() -> int:
    """Bytes of this process that stand in no file."""
    with contextlib.suppress(OSError, ValueError):
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("RssAnon:")[2].split()[0]) << 10
    return 0


def answer_lines(next_line: Callable[[], bytes], tell: Callable[[bytes], None]) -> None:
    """Answer each question with one line, until there are no more or so much was gathered that it is better to begin
    anew.

    Args:
        next_line: a question as JSON; empty: there are no more.
        tell: takes an answer as JSON, with a line end.
    """
    with contextlib.closing(Desk()) as desk:
        while line := next_line():
            question = msgspec.json.decode(line, type=AnyQuestion)
            signal.setitimer(signal.ITIMER_REAL, question.seconds)
            heard = desk.answer(question)
            signal.setitimer(signal.ITIMER_REAL, 0)
            tell(msgspec.json.encode(heard) + b"\n")
            if own_memory() > LARGE:
                return


def _next_line() -> bytes:
    ready, _, _ = select.select([sys.stdin], [], [], IDLE)
    return sys.stdin.buffer.readline() if ready else b""


def _tell(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _confine() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    memory = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    keep_private()


if __name__ == "__main__":
    _confine()
    answer_lines(_next_line, _tell)
