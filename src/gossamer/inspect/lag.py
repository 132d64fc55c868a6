"""How far what is made of an archive beside the crawl is behind it: in pages, and in seconds.

Each follower keeps the place in the archive up to which it tells; the crawl's log has each visit with its time and its
place, in the order of the archive. So the first visit that a follower has not is found by halves, and what came since
is counted, or estimated where it is much.
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from gossamer.archive.committed import Committed, committed
from gossamer.archive.follower import START, kept_mark, standing
from gossamer.assembly.folder import CrawlFolder
from gossamer.inspect.crawl_log import forwards
from gossamer.model.link import LinkKind
from gossamer.state.environment import Environment

__all__ = ["FOLLOWERS", "Lag", "lag_behind", "lags"]

FOLLOWERS = {"tables": "documents", "words": "search", "near_duplicates": "similar", "store": "upload"}
"""What follows the archive, and the folder of the crawl in which each keeps its mark."""
_COUNTED = 20_000
"""Visits that are counted one by one, some 50 ms; of more the number is estimated from bytes of the log."""
_READ_ON = 64 << 10
"""Bytes of the log that are read line by line rather than halved once more."""
_ROBOTS = LinkKind.ROBOTS.value
_Place = tuple[int, int]


class Lag(msgspec.Struct, frozen=True):
    """How far one follower is behind.

    Attributes:
        what: of `FOLLOWERS`.
        pages: archived, and not in it yet; estimated if they are very many.
        seconds: since the first of them was archived, wall time; 0 if there are none.
    """

    what: str
    pages: int = 0
    seconds: float = 0.0


class _Visit(msgspec.Struct, frozen=True, gc=False):
    at: float
    kind: str = ""
    status: int = 0
    result: str = ""
    file: str = ""
    offset: int = 0

    @property
    def is_page(self) -> bool:
        """Whether it brought what a follower reads."""
        return self.kind != _ROBOTS and (200 <= self.status < 300 or bool(self.result))


def lags(crawls: Sequence[tuple[CrawlFolder, Environment]]) -> list[Lag]:
    """Of each follower that has begun in one of some crawls, which are one or the agents of a cluster: all their pages,
    and the seconds of the one that is furthest behind.

    Raises:
        StorageError: a state cannot be read.
    """
    return [
        _together(what, [lag_behind(folder, environment, what) for folder, environment in crawls])
        for what, name in FOLLOWERS.items()
        if any((folder.path / name).is_dir() for folder, _ in crawls)
    ]


def lag_behind(folder: CrawlFolder, environment: Environment, what: str) -> Lag:
    """How far one follower of one crawl is behind; by all there is if it has committed nothing, or its mark is damaged.

    Raises:
        StorageError: the state cannot be read.
    """
    archive = committed(environment)
    mark = kept_mark(folder.path / FOLLOWERS[what]) or START
    since = standing(mark, archive).place
    end = max(((file.serial, file.length) for file in archive.files), default=(0, 0))
    if since >= end:
        return Lag(what)
    return _counted(what, folder.log, _Order(archive), since)


def _together(what: str, each: list[Lag]) -> Lag:
    return Lag(what, sum(one.pages for one in each), max(one.seconds for one in each))


class _Order:
    """Puts lines of the log into the order of the archive."""

    def __init__(self, archive: Committed) -> None:
        self._serials: Mapping[str, int] = {file.name: file.serial for file in archive.files}
        self._lengths: Mapping[int, int] = {file.serial: file.length for file in archive.files}
        self._decode = msgspec.json.Decoder(_Visit).decode

    def placed(self, line: bytes) -> tuple[_Visit, _Place] | None:
        """A visit and its place; `None` without one, or of a record that is not committed."""
        try:
            visit = self._decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError):  # half a line, after a power failure
            return None
        serial = self._serials.get(visit.file)
        if serial is None or visit.offset >= self._lengths[serial]:
            return None
        return visit, (serial, visit.offset)


def _counted(what: str, log: Path, order: _Order, since: _Place) -> Lag:
    end = log.stat().st_size if log.exists() else 0
    begin = at = _first(log, end, order, since)
    pages, first = 0, 0.0
    for number, (at, line) in enumerate(forwards(log, begin)):
        if (found := order.placed(line)) is not None and found[1] >= since and found[0].is_page:
            pages += 1
            first = first or found[0].at
        if number >= _COUNTED:
            pages = round(pages * (end - begin) / (at - begin))
            break
    return Lag(what, pages, max(time.time() - first, 0.0) if pages else 0.0)


def _first(log: Path, end: int, order: _Order, since: _Place) -> int:
    """The beginning of a line of the log that stands before the first visit at `since` or behind it, and near it."""
    low, high = 0, end
    while high - low > _READ_ON:
        middle = (low + high) // 2
        behind = _behind_earlier(log, middle, high, order, since)
        low, high = (behind, high) if behind else (low, middle)
    return low


def _behind_earlier(log: Path, middle: int, high: int, order: _Order, since: _Place) -> int:
    """Where the first line from `middle` on that tells a place ends, if that is before `since`; else 0."""
    for behind, line in forwards(log, middle):
        if (found := order.placed(line)) is not None:
            return behind if found[1] < since else 0
        if behind >= high:
            break
    return 0
