"""Makes text, data, links and a search index of what was crawled."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import TypedDict

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.folder_lock import Busy, is_locked
from gossamer.assembly.private import keep_private
from gossamer.cli.exits import EXIT_INTERRUPTED
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show_json
from gossamer.datasets.derived import FOLDER, DamagedTables, discard, state_of
from gossamer.datasets.deriving import Deriving, Progress
from gossamer.model.command_line import command_line
from gossamer.search.extra import is_installed
from gossamer.search.following import Alongside, Following
from gossamer.words.catalogue import words

_TURN = 0.5
"""Seconds after which it is tried again whether another process has ended."""
_SWITCH = 0.5e-3
"""Seconds until a thread leaves Python to another: those that hand documents to processes have little to do, and the
processes wait for it."""


class How(msgspec.Struct, frozen=True):
    """What is made, and how long.

    Attributes:
        processes: documents read at a time, if not as the crawl's settings say.
        once: end when all is read, though the crawl runs.
        search: also what 'gossamer search' asks, if its extra is installed.
        wait: while another process does this.
    """

    processes: int | None = None
    once: bool = False
    search: bool = True
    wait: bool = False


def run_index(path: Path, how: How, *, json: bool, quiet: bool) -> None:
    """Bring the tables of documents and the search index up to date, in every folder of a cluster too.

    While the crawl runs it goes on with it, unless `once`. Interrupted, it keeps what it has; exit 130.

    Raises:
        Busy: another process does this.
        ConfigError: no crawl lives in `path`, or an extra is not installed.
        StorageError: the disk refuses.
    """
    keep_private()
    stopped: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        stopped.append(number)

    def interrupted() -> bool:
        return bool(stopped)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    sys.setswitchinterval(_SWITCH)
    with looked_into(path) as inspection:
        parts = {name: part.folder.path for name, part in inspection.each.items()}
    shown = _Shown(quiet=quiet)
    indexed = 0
    for folder in parts.values():
        try:
            indexed += _in_turn(folder, how, interrupted, shown)
        except DamagedTables as error:
            say(f"{safe(error.what)}; the tables are made anew from the archive")
            discard(folder / FOLDER)
            indexed += _in_turn(folder, how, interrupted, shown)
        if stopped:
            break
    shown.end()
    told = _told(parts.values())
    if json:
        show_json({**told, "indexed": indexed, "interrupted": bool(stopped)})
    elif not quiet:
        _say(path, _where(path, parts), told, indexed if how.search else None)
        if stopped:
            say(f"interrupted; '{command_line('index', path)}' goes on")
    if stopped:
        sys.exit(EXIT_INTERRUPTED)


class _Told(TypedDict):
    documents: int
    marked: dict[str, int]


def _told(folders: Iterable[Path]) -> _Told:
    """What the tables hold."""
    states = [state for folder in folders if (state := state_of(folder / FOLDER)) is not None]
    marked: dict[str, int] = {}
    for state in states:
        for mark, count in state.marked.items():
            marked[mark] = marked.get(mark, 0) + count
    return {"documents": sum(state.documents for state in states), "marked": marked}


def _say(path: Path, where: Path | str, told: _Told, indexed: int | None) -> None:
    in_words = words("en").said
    marks = "".join(
        f", {count:,} {safe(in_words('mark', mark))}" for mark, count in sorted(told["marked"].items())
    )
    say(f"{plural(told['documents'], 'document')} in {where}{marks}")
    say(f"'{command_line('sql', path)}' tells which tables and columns there are")
    if indexed:
        say(
            f"'{command_line('search', path, 'WORD...')}' finds {plural(indexed, 'document')} by what they say"
        )
    elif indexed is not None and not is_installed():
        say("to search them, too: pip install 'gossamer[search]'")


def _where(path: Path, parts: Mapping[str, Path]) -> Path | str:
    return path / FOLDER if list(parts.values()) == [path] else f"{plural(len(parts), 'agent')}' folders"


def _in_turn(folder: Path, how: How, interrupted: Callable[[], bool], shown: "_Shown") -> int:
    """As `_bring`, once no other process does it, if that is to be waited for.

    Nobody waits longer than whoever began him lives: a crawl that is killed again and again would leave as many behind,
    each of which waits for the first.
    """
    begun_by = os.getppid()
    while True:
        try:
            return _bring(folder, how, interrupted, shown)
        except Busy:
            if not how.wait:
                raise
        locked = True
        while locked:
            if interrupted() or os.getppid() != begun_by:
                return 0
            time.sleep(_TURN)
            locked = is_locked(folder / FOLDER)  # cheaper than opening the crawl, which takes 20 ms


def _bring(folder: Path, how: How, interrupted: Callable[[], bool], shown: "_Shown") -> int:
    """Bring one crawl's tables up to date, and what is made of them; how many documents can be searched."""
    with looked_into(folder) as inspection:
        config = inspection.config
        documents = config.documents
        if how.processes is not None:
            documents = msgspec.structs.replace(documents, processes=how.processes)
        deriving = Deriving(folder, inspection, documents)
    with contextlib.ExitStack() as stack:
        stack.callback(deriving.close)
        following = alongside = None
        if how.search and is_installed():
            following = Following(folder, config.search, say)
            stack.callback(following.close)
            alongside = Alongside(following, interrupted)
            stack.callback(alongside.close)

        def committed(progress: Progress) -> None:
            shown(progress)
            if alongside is not None:
                alongside.more()

        deriving.run(_goes_on(folder, once=how.once), interrupted, committed)
        if following is None or alongside is None:
            return 0
        alongside.finish()
        return following.documents


def _goes_on(folder: Path, *, once: bool) -> Callable[[], bool]:
    return lambda: not once and CrawlFolder(folder).in_use()


class _Shown:
    """A line that grows on a terminal; nothing elsewhere."""

    def __init__(self, *, quiet: bool) -> None:
        self._shows = sys.stderr.isatty() and not quiet
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        if self._shows and time.monotonic() - self._last > 0.2:
            self._last = time.monotonic()
            print(f"\r{progress.documents:,} documents read", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """The line is over."""
        if self._shows and self._last:
            print(file=sys.stderr)
