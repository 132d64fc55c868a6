"""Makes text, data and links of what was crawled."""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import msgspec

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import keep_private
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.printing import plural, safe, say, show_json
from gossamer.datasets.derived import FOLDER, state_of
from gossamer.datasets.deriving import Deriving, Progress
from gossamer.words.catalogue import words

INTERRUPTED = 130


def run_index(path: Path, processes: int | None, *, once: bool, json: bool, quiet: bool) -> None:
    """Bring the tables of documents up to date, in every folder of a cluster too.

    While the crawl runs it goes on with it, unless `once`. Interrupted, it keeps what it has; exit 130.

    Raises:
        ConfigError: no crawl lives in `path`, an extra is not installed, or another process does this.
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
    with looked_into(path) as inspection:
        parts = {name: part.folder.path for name, part in inspection.each.items()}
    shown = _Shown(quiet=quiet)
    for folder in parts.values():
        with looked_into(folder) as inspection:
            config = inspection.config.documents
            if processes is not None:
                config = msgspec.structs.replace(config, processes=processes)
            deriving = Deriving(folder, inspection, config)
        try:
            deriving.run(_goes_on(folder, once=once), interrupted, shown)
        finally:
            deriving.close()
        if stopped:
            break
    shown.end()
    states = {name: state_of(folder / FOLDER) for name, folder in parts.items()}
    done = [state for state in states.values() if state is not None]
    documents = sum(state.documents for state in done)
    marked: dict[str, int] = {}
    for state in done:
        for mark, count in state.marked.items():
            marked[mark] = marked.get(mark, 0) + count
    if json:
        show_json({"documents": documents, "marked": marked, "interrupted": bool(stopped)})
    elif not quiet:
        in_words = words("en").said
        said = "".join(
            f", {count:,} {safe(in_words('mark', mark))}" for mark, count in sorted(marked.items())
        )
        where = path / FOLDER if list(parts.values()) == [path] else f"{plural(len(parts), 'agent')}' folders"
        say(f"{plural(documents, 'document')} in {where}{said}")
        if stopped:
            say(f"interrupted; 'gossamer index {path}' goes on")
        else:
            say(f"'gossamer sql {path}' tells which tables and columns there are")
    if stopped:
        sys.exit(INTERRUPTED)


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
