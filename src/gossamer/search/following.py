"""Brings what is made of the tables of documents up to date with them: the index, and near-duplicates.

One for `gossamer index`, by hand or beside a crawl: after each commit of the tables it takes what is new.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from gossamer.config.search_config import SearchConfig
from gossamer.search.similar.following import SimilarFollower
from gossamer.search.text.store import TextIndex


class Following:
    """What follows the tables of one crawl."""

    def __init__(
        self, crawl: Path, config: SearchConfig, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Open all of it for writing.

        Args:
            crawl: folder of the crawl, of one agent.
            config: of the crawl.
            tell: told, in a sentence, if something is made anew, and why.

        Raises:
            ConfigError: the extra is not installed, or another process does this.
            StorageError: the disk refuses.
        """
        self._text = TextIndex(crawl, config, tell)
        self._similar: SimilarFollower | None = None
        if config.similar:
            try:
                self._similar = SimilarFollower(crawl, tell)
            except BaseException:
                self._text.close()
                raise

    def catch_up(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Take what the tables have by now, or until `stop` says so.

        Raises:
            DamagedTables: a file of the tables cannot be read.
            StorageError: the disk refuses, or the crawl's state cannot be read. What was committed stays.
        """
        self._text.catch_up(stop)
        if self._similar is not None:
            self._similar.catch_up(stop)

    @property
    def documents(self) -> int:
        """How many are in the index."""
        return self._text.documents

    def close(self) -> None:
        """Wait until what is being written is on disk, and free the folder for another process."""
        self._text.close()
        if self._similar is not None:
            self._similar.close()


class Alongside:
    """Catches up in a thread of its own, so that documents are read meanwhile. One caller at a time.

    Who is behind takes all that came since in one go, which costs less a document.
    """

    def __init__(self, following: Following, stop: Callable[[], bool]) -> None:
        """`following`: is used by nobody else until this is closed; `stop`: keep what there is, and end."""
        self._following = following
        self._stop = stop
        self._ends = False
        self._thread = ThreadPoolExecutor(1, "following")
        self._turns: list[Future[None]] = []

    def more(self) -> None:
        """The tables have more. Does not wait.

        Raises:
            DamagedTables, StorageError: as `Following.catch_up`, of an earlier turn.
        """
        while self._turns and self._turns[0].done():
            self._turns.pop(0).result()
        if len(self._turns) < 2:  # one that has not begun yet will see what is new
            self._turns.append(self._thread.submit(self._following.catch_up, self._stopped))

    def finish(self) -> None:
        """Wait until it has what the tables have.

        Raises:
            DamagedTables, StorageError: as `Following.catch_up`.
        """
        self.more()
        while self._turns:
            self._turns.pop(0).result()

    def close(self) -> None:
        """End; what was not caught up with is left for the next time."""
        self._ends = True
        self._thread.shutdown(cancel_futures=True)

    def _stopped(self) -> bool:
        return self._ends or self._stop()
