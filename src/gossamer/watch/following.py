"""Follows the archive of a crawl, keeps what its watches see, and tells who is to be told.

Settings are read again when they change, so a watch can be added or paused while the crawl runs.
"""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from gossamer.archive.follower import START, FollowedRecord, Follower, Rewound, Unreadable
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.inspect.archive.following import follow
from gossamer.model.errors import ConfigError, StorageError
from gossamer.watch.channels import tell
from gossamer.watch.feed import write_feed
from gossamer.watch.observing import Observer
from gossamer.watch.outbox import Outbox, Tell
from gossamer.watch.receivers import receivers_of
from gossamer.watch.shown import feed_text
from gossamer.watch.store import FOLDER, Store
from gossamer.watch.watches import watches_of

__all__ = ["Following", "begin", "settings_of"]

RECORDS = 64
"""Of one commit, at most."""
SECONDS = 1.0
PAUSE = 0.5
PATIENCE = 60.0
"""Seconds that messages which did not arrive are tried again once all is read; what is due later stays."""
_PRUNE_EVERY = 200

Item = FollowedRecord | Rewound | Unreadable


def settings_of(crawl: Path) -> CrawlConfig:
    """The settings of a crawl as its folder has them.

    Raises:
        ConfigError: there are none, or they are damaged.
    """
    config = CrawlFolder(crawl).config
    if not config.exists():
        raise ConfigError(f"{crawl}: holds no crawl. Give the folder of one (the --dir of 'gossamer crawl').")
    return load(CrawlConfig, read_toml(config))


def begin(crawl: Path, session: float) -> None:
    """Have watches that are new in the settings count, whenever those who follow may come.

    Who cannot is told of by whoever follows.

    Args:
        crawl: the folder.
        session: seconds since 1970 when the process that crawls was started; what is kept nowhere is new since then.
    """
    with contextlib.suppress(ConfigError, StorageError), contextlib.closing(Following(crawl)) as following:
        following.read_settings(session)


class Following:
    """Follows the archive of one crawl for its watches, and has notices delivered."""

    def __init__(
        self, crawl: Path, clock: Callable[[], float] = time.time, tell_by: Tell | None = None
    ) -> None:
        """Args:
        crawl: its folder.
        clock: seconds since 1970.
        tell_by: tells one receiver, in a thread; if not given, as the settings say.

        Raises:
            ConfigError: another process does this, or the settings are damaged.
            StorageError: the disk refuses, or what is kept is damaged.
        """
        self._crawl = crawl
        self._clock = clock
        config = settings_of(crawl)
        self._store = Store(crawl)
        self._observer = Observer(crawl, self._store, config)
        name = crawl.absolute().name
        self._outbox = Outbox(self._store, name, tell_by or partial(tell, config=config.fetch))
        self._settings: tuple[int, int] | None = None
        self._follower: Follower | None = None
        self._noted = 0
        self.notices = 0
        """Of this session."""

    def close(self) -> None:
        """Wait for what is being sent, and let others follow."""
        try:
            self._outbox.close(self._clock())
        finally:
            self._observer.close()
            self._store.close()

    def run(self, goes_on: Callable[[], bool], stop: Callable[[], bool]) -> None:
        """Follow until all is read and told, and `goes_on` says that no more will come; or `stop` says so.

        Raises:
            StorageError: the disk refuses. What was committed stays.
        """
        patience: float | None = None
        self._write_feed()
        while not stop():
            more = goes_on()
            came = self.catch_up(stop)
            now = self._clock()
            if more or came:
                patience = None
            elif patience is None:
                patience = now + PATIENCE
            self._outbox.step(now, all_of_it=not more)
            if patience is not None and not self._outbox.busy and not self._outbox.due_before(patience):
                return
            if not came:
                _wait(PAUSE if more else PAUSE / 5, stop)

    def catch_up(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Take what the archive has by now; whether something came.

        Raises:
            StorageError: the disk refuses.
        """
        self.read_settings()
        came, noted = False, self.notices
        follower = self._followed()
        try:
            items = follower.read()
            while not stop() and (item := next(items, None)) is not None:
                came = True
                self._take(itertools.chain((item,), items), stop)
        except ConfigError:
            return came  # the state is not there yet, or being exchanged
        if self.notices != noted:
            self._write_feed()
        return came

    def step(self, *, all_of_it: bool = False) -> bool:
        """Send what is due; whether something is being sent.

        Raises:
            StorageError: the disk refuses.
        """
        self._outbox.step(self._clock(), all_of_it=all_of_it)
        return self._outbox.busy

    def _take(self, items: Iterator[Item], stop: Callable[[], bool]) -> None:
        """Some records, in one commit."""
        began = time.monotonic()
        now = self._clock()
        with self._store.commit():
            noted = 0
            for number, item in enumerate(items, 1):
                match item:
                    case FollowedRecord():
                        noted += self._observer.take(item, now)
                        self._store.mark = item.finish()
                    case Rewound(to=mark):
                        self._store.mark = mark
                        self._store.reached = min(mark, self._store.reached, key=lambda one: one.place)
                    case Unreadable(after=mark):
                        self._store.mark = mark
                if number >= RECORDS or time.monotonic() - began > SECONDS or stop():
                    break
            self._noted += noted
            if self._noted >= _PRUNE_EVERY:
                self._outbox.prune()
                self._noted = 0
        self.notices += noted

    def _followed(self) -> Follower:
        """From the mark on; from the beginning, if it is another archive that stands there now."""
        if self._follower is None:
            self._follower = follow(self._crawl, self._store.mark)
            try:
                name = self._follower.archive.encode()
            except ConfigError:
                return self._follower
            if name and name != self._store.get("archive"):
                with self._store.commit():
                    if self._store.get("archive"):
                        self._store.mark = self._store.reached = START
                        self._follower = follow(self._crawl)
                    self._store.put("archive", name)
        return self._follower

    def read_settings(self, session: float | None = None) -> None:
        """Go by the settings, if they are others than before. Those that cannot be read do not count.

        What is new in them is watched since they were written, however much later they are read. Where nothing is kept
        at all they may be old, and the folder was deleted: then it is since `session` at the earliest, or now.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            found = CrawlFolder(self._crawl).config.stat()
            version = (found.st_mtime_ns, found.st_ino)
            if version == self._settings:
                return
            config = settings_of(self._crawl)
            watches = watches_of(config)
        except (OSError, ConfigError):
            return
        with self._store.commit():
            mark = self._store.mark
            now = self._clock()
            earliest = (now if session is None else session) if self._store.is_new else 0.0
            self._observer.go_by(watches, min(now, max(earliest, found.st_mtime)))
            if self._store.mark != mark:
                self._follower = None
        self._settings, self._store.is_new = version, False
        self._outbox.go_by(watches, receivers_of(config))

    def _write_feed(self) -> None:
        write_feed(self._crawl / FOLDER, feed_text(self._crawl))


def _wait(seconds: float, stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not stop():
        time.sleep(min(0.05, seconds))
