"""Keeps the states of a few stopped crawls open for those who look at them."""

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from gossamer.assembly.disks import prove_there
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.control.views.context import ViewContext, view_context
from gossamer.state.environment import Environment
from gossamer.state.scratch import Scratch

KEPT_SECONDS = 10.0
"""For which a state stays open after the last look: opening takes some 50 ms."""
OLDEST_SECONDS = 30.0
"""Nor does it get older than this: a crawl that runs, but does not answer, goes on."""


class _Open:
    """One open state, and who looks at it; a view context is not for two at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._turn = threading.Lock()
        self._look: ViewContext | None = None
        self.users = 0
        self.born = self.used = time.monotonic()

    @contextlib.contextmanager
    def look(self) -> Iterator[ViewContext]:
        with self._turn:
            if self._look is None:
                self._look = self._stack.enter_context(_state_of(self._folder))
            yield self._look

    def close(self) -> None:
        self._stack.close()

    def is_old(self, now: float) -> bool:
        return now - self.used > KEPT_SECONDS or now - self.born > OLDEST_SECONDS


class StateCache:
    """Open states by folder; for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[Path, _Open] = {}

    @contextlib.contextmanager
    def lend(self, folder: Path) -> Iterator[ViewContext]:
        """The state of a stopped crawl, for one look.

        Raises:
            ConfigError, StorageError: as `view_context`.
        """
        self.sweep()
        with self._lock:
            state = self._open.setdefault(folder, _Open(folder))
            state.users += 1
        try:
            with state.look() as look:
                yield look
        finally:
            with self._lock:
                state.users -= 1
                state.used = time.monotonic()
                last = not state.users and self._open.get(folder) is not state
            if last:
                state.close()

    def discard(self, folder: Path) -> None:
        """Close a state that is no longer what it was; the last who looks at it does, if somebody does."""
        with self._lock:
            state = self._open.pop(folder, None)
            unused = state is not None and not state.users
        if state is not None and unused:
            state.close()

    def sweep(self) -> None:
        """Close what nobody has looked at for a while."""
        now = time.monotonic()
        with self._lock:
            old = [folder for folder, state in self._open.items() if state.is_old(now)]
        for folder in old:
            self.discard(folder)

    def clear(self) -> None:
        """Close all states that are kept open."""
        for folder in list(self._open):
            self.discard(folder)


@contextlib.contextmanager
def _state_of(path: Path) -> Iterator[ViewContext]:
    """The state of a crawl; of one that has not begun, that of a crawl which has found nothing.

    Raises:
        ConfigError, StorageError: as `view_context`.
    """
    folder = CrawlFolder(path)
    prove_there(path)
    if folder.state.is_dir() or not folder.config.exists():
        with view_context(path) as look:
            yield look
        return
    config = load(CrawlConfig, read_toml(folder.config))
    with Scratch() as scratch:
        environment = Environment.open(Path(scratch) / "state", config.state)
        try:
            yield ViewContext(folder, environment, lambda: config)
        finally:
            environment.close()
