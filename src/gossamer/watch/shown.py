"""What is known of a crawl's watches, for people and programs, while they are followed or not. Changes nothing."""

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.watch_config import WatchConfig, name_of
from gossamer.watch.feed import ENTRIES, feed_of
from gossamer.watch.receivers import key_of
from gossamer.watch.store import FILE, FOLDER, Notice, as_storage, connect, notice_of

__all__ = ["Failed", "ShownNotice", "WatchView", "feed_text", "last_notices", "summed", "watch_views"]


class Failed(msgspec.Struct, frozen=True):
    """A message that did not arrive.

    Attributes:
        receiver: whom it was for.
        state: `pending`: it is tried again at `due`; `failed`: it was given up.
        problem: of the last attempt.
        attempts: made.
        due: seconds since 1970.
        notices: that it tells.
        test: it was a test.
    """

    receiver: str
    state: str
    problem: str
    attempts: int
    due: float
    notices: int
    test: bool


class WatchView(msgspec.Struct, frozen=True, kw_only=True):
    """One watch.

    Attributes:
        name, urls, match, query, select, when, quiet, paused: as set.
        receivers: who is told, without secrets.
        pages: seen so far.
        gone: of them, that are gone now.
        seen: when one was visited last, seconds since 1970; 0 for never.
        changed: when one had changed last.
        notices: kept.
        pending: notices that are still owed to somebody, each receiver counted.
        failed: of them, that were given up.
        undelivered: the messages that did not arrive, the last first, at most 20.
    """

    name: str
    urls: tuple[str, ...]
    match: str
    query: str
    select: str
    when: tuple[str, ...]
    quiet: str
    paused: bool
    receivers: tuple[str, ...]
    pages: int = 0
    gone: int = 0
    seen: float = 0.0
    changed: float = 0.0
    notices: int = 0
    pending: int = 0
    failed: int = 0
    undelivered: tuple[Failed, ...] = ()


class ShownNotice(msgspec.Struct, frozen=True):
    """A notice, with `number` to page by, and to how many it is still owed."""

    number: int
    notice: Notice
    owed: int


@contextlib.contextmanager
def _opened(crawl: Path) -> Iterator[sqlite3.Connection | None]:
    path = crawl / FOLDER / FILE
    if not path.is_file():
        yield None
        return
    with as_storage(path):
        try:
            database = connect(path, writes=False)
            database.execute("select count(*) from watch")
        except sqlite3.OperationalError:  # being made, or on a disk where nothing may be written
            yield None
            return
        with contextlib.closing(database):
            database.execute("begin")
            yield database


def watch_views(crawl: Path, config: CrawlConfig) -> list[WatchView]:
    """All watches of a crawl, in their order.

    Raises:
        StorageError: what is kept of them is damaged.
    """
    with _opened(crawl) as database:
        return [_view(one, database) for one in config.watch]


def summed(views: Iterable[WatchView]) -> list[WatchView]:
    """Of the same watches in several crawls, as a cluster's agents are, one each."""
    found: dict[str, WatchView] = {}
    for view in views:
        known = found.get(view.name)
        found[view.name] = view if known is None else _sum(known, view)
    return list(found.values())


def _sum(one: WatchView, other: WatchView) -> WatchView:
    return msgspec.structs.replace(
        one,
        pages=one.pages + other.pages,
        gone=one.gone + other.gone,
        seen=max(one.seen, other.seen),
        changed=max(one.changed, other.changed),
        notices=one.notices + other.notices,
        pending=one.pending + other.pending,
        failed=one.failed + other.failed,
        undelivered=one.undelivered + other.undelivered,
    )


def _view(config: WatchConfig, database: sqlite3.Connection | None) -> WatchView:
    name = name_of(config)
    view = WatchView(
        name=name, urls=config.urls, match=config.match, query=config.query, select=config.select, when=config.when,
        quiet=config.quiet, paused=config.paused, receivers=tuple(map(key_of, config.notify)),
    )  # fmt: skip
    if database is None:
        return view
    pages, gone, seen, changed = database.execute(
        "select count(*), coalesce(sum(gone >= 2), 0), coalesce(max(visited), 0), coalesce(max(changed), 0) from page"
        " where watch = ?",
        (name,),
    ).fetchone()
    (notices,) = database.execute("select count(*) from notice where watch = ?", (name,)).fetchone()
    pending, failed = database.execute(
        "select coalesce(sum(state is null or state = 'pending'), 0), coalesce(sum(state = 'failed'), 0) from owed"
        " left join message on message.number = owed.message where owed.watch = ?",
        (name,),
    ).fetchone()
    rows = database.execute(
        "select receiver, state, problem, attempts, due, test, (select count(*) from owed where message ="
        " message.number) from message where watch = ? and (state = 'failed' or (state = 'pending' and attempts > 0))"
        " order by number desc limit 20",
        (name,),
    )
    undelivered = tuple(
        Failed(receiver, state, problem, attempts, due, count, bool(test))
        for receiver, state, problem, attempts, due, test, count in rows
    )
    return msgspec.structs.replace(
        view, pages=pages, gone=gone, seen=seen, changed=changed, notices=notices, pending=pending, failed=failed,
        undelivered=undelivered,
    )  # fmt: skip


def last_notices(crawl: Path, *, watch: str = "", before: int = 0, limit: int = 100) -> list[ShownNotice]:
    """Notices, the latest first.

    Args:
        crawl: its folder.
        watch: of this one only.
        before: only those with a smaller number, if it is not 0.
        limit: at most.

    Raises:
        StorageError: what is kept of them is damaged.
    """
    with _opened(crawl) as database:
        if database is None:
            return []
        rows = database.execute(
            "select number, body, (select count(*) from owed left join message on message.number = owed.message where"
            " owed.notice = notice.number and state is not 'sent') from notice where (? = '' or watch = ?) and"
            " (? = 0 or number < ?) order by number desc limit ?",
            (watch, watch, before, before, limit),
        )
        return [ShownNotice(number, notice_of(body), owed) for number, body, owed in rows]


def feed_text(crawl: Path) -> str:
    """The feed of a crawl.

    Raises:
        StorageError: what is kept of them is damaged.
    """
    with _opened(crawl) as database:
        row = (
            database.execute("select value from meta where name = 'archive'").fetchone() if database else None
        )
    notices = [one.notice for one in last_notices(crawl, limit=ENTRIES)]
    return feed_of(crawl.absolute().name, row[0].decode() if row else "", notices)
