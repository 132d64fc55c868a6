"""Brings what is made of the tables of documents up to date with them: the index, and near-duplicates.

One for `gossamer index`, by hand or beside a crawl: after each commit of the tables it takes what is new.
"""

from collections.abc import Callable
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
