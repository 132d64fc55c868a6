"""Ends what holds up the event loop from within one call of a library."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator

LOOK_AFTER = 1.0
"""Seconds between two looks."""
MOST_SILENT = 5
"""Looks without a sign of life until the loop is stuck. They are counted: a machine may have slept."""


class StuckWatch:
    """A thread that asks the loop for a sign of life while there is something to watch.

    libssh2 reads on within one call as long as a server sends (lines of a banner, messages to ignore), so
    neither time limits nor signals get their turn, and all other visits wait.

    Args:
        cut: ends what may hold it up; called on the thread.
    """

    def __init__(self, cut: Callable[[], None]) -> None:
        self._cut = cut
        self._watched = 0
        self._over = threading.Event()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the running loop meanwhile."""
        if not self._watched:
            self._over = threading.Event()
            watch = (asyncio.get_running_loop(), self._over)
            threading.Thread(target=self._look, args=watch, name="stuck-watch", daemon=True).start()
        self._watched += 1
        try:
            yield
        finally:
            self._watched -= 1
            if not self._watched:
                self._over.set()

    def _look(self, loop: asyncio.AbstractEventLoop, over: threading.Event) -> None:
        alive, silent = threading.Event(), 0
        alive.set()
        while not over.wait(LOOK_AFTER):
            silent = 0 if alive.is_set() else silent + 1
            if not silent:
                alive.clear()
                with contextlib.suppress(RuntimeError):  # the loop has been closed
                    loop.call_soon_threadsafe(alive.set)
            elif silent >= MOST_SILENT:
                silent = 0
                self._cut()
