"""Compares what a record of the archive shows of a watched page with what was seen before.

What changes at each visit whatever else does (clocks, counters, boxes that rotate) is learned site by site
(`policy.change.volatile`) and ignored. On a site that has such things, or was not seen in `WARM` pairs of visits yet, a
change is told once the next visit finds it still there: what is not learned yet is another then. What a selector finds
was chosen by hand, so nothing of it is ignored, and nothing waits; nor does a condition that begins to hold.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from gossamer.archive.follower import START, FollowedRecord
from gossamer.archive.stored_body import ArchivedBody
from gossamer.config.config import CrawlConfig
from gossamer.extract.fields.values import number as number_in
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.inspect.archive.captures import repeated
from gossamer.model.exchange import Headers
from gossamer.model.url import Url
from gossamer.policy.change.alignment import Hunk
from gossamer.policy.change.change import Change, changed
from gossamer.policy.change.volatile import Volatile
from gossamer.policy.revisit.gone import GONE_STATUSES
from gossamer.policy.watching.difference import difference
from gossamer.search.text.fleeting import FleetingIndex
from gossamer.watch.seen import Document, Reader, Seen
from gossamer.watch.store import Notice, SeenPage, Store
from gossamer.watch.watches import Watch

__all__ = ["Observer"]

WARM = 3
"""Pairs of visits from which on a site without noise is known as such."""
GONE_AFTER = 2
"""Visits in a row that must find a page gone."""
_DIFFERENCE_OF_FILE = "the file has changed"
_LED_TO = (
    "delete from moved where target in (with recursive led (target) as (select target from moved where source = ?"
    " and target <> ? union select moved.target from moved join led on moved.source = led.target)"
    " select target from led)"
)
"""Where a redirect led that leads elsewhere now, and where that led."""


class _Visit(NamedTuple):
    """A record of a watched page.

    Attributes:
        url: under which it is watched.
        at: seconds since 1970.
        serial, offset: of the record.
        seen: of its content; `None` for what it had at the visit before.
        digest: of its payload; empty for what it had at the visit before.
    """

    url: Url
    at: float
    serial: int
    offset: int
    status: int
    seen: Seen | None = None
    digest: str = ""


class _Why(NamedTuple):
    """What a notice says: the condition that began to hold, the number seen, the texts compared."""

    words: str = ""
    number: float | None = None
    told: tuple[list[str], list[str], Change] | None = None


_NO_MORE = _Why()


class Observer:
    """Takes records in their order."""

    def __init__(self, crawl: Path, store: Store, config: CrawlConfig) -> None:
        """Args:
        crawl: the folder.
        store: where it is kept.
        config: of the crawl.
        """
        self._crawl = crawl
        self._store = store
        self._fetch = config.fetch
        self._reader = Reader()
        self._index: FleetingIndex | None = None
        self._watches: list[Watch] = []
        self._pages: frozenset[str] = frozenset()
        self._begun: dict[str, float] = {}
        self._fresh: frozenset[str] = frozenset()
        self._all = False

    def close(self) -> None:
        """End the process that reads documents."""
        self._reader.close()

    def go_by(self, watches: list[Watch], since: float) -> None:
        """Watch this from the next record on; within a commit.

        What is watched no more is forgotten. What is new, or looked at otherwise, has the archive read from its
        beginning, so that it knows how its pages were before `since`; of that nothing is told.
        """
        store, database = self._store, self._store.database
        known = dict(database.execute("select name, looks_at from watch"))
        wanted = {watch.name: watch.looks_at for watch in watches}
        for name in [name for name in known if known[name] != wanted.get(name)]:
            database.execute("delete from page where watch = ?", (name,))
            database.execute("delete from watch where name = ?", (name,))
            del known[name]
        new = [watch for watch in watches if watch.name not in known]
        for watch in new:
            row = (watch.name, watch.looks_at, since, True)
            database.execute("insert into watch values (?, ?, ?, ?)", row)
        if new and store.mark.place > START.place:
            store.reached = max(store.mark, store.reached, key=lambda mark: mark.place)
            store.mark = START
        rows = database.execute("select name, begun, fresh from watch").fetchall()
        self._begun = {name: begun for name, begun, _ in rows}
        self._fresh = frozenset(name for name, _, fresh in rows if fresh)
        self._watches = watches
        self._pages = frozenset(page for watch in watches for page in watch.pages)
        self._all = any(watch.match is not None or watch.query is not None for watch in watches)

    def take(self, record: FollowedRecord, now: float) -> int:
        """Take one record, within a commit; how many notices follow from it.

        Raises:
            StorageError: the disk refuses.
        """
        watches = self._watches
        if self._fresh:
            if (record.serial, record.offset) < self._store.reached.place:
                watches = [watch for watch in watches if watch.name in self._fresh]
            else:
                self._store.database.execute("update watch set fresh = 0")
                self._fresh = frozenset()
        url = Url.from_serialised(record.url)
        if url is None or url.target == "/robots.txt" or not watches:
            return 0
        moved = self._store.database.execute("select url from moved where target = ?", (url.text,)).fetchone()
        if not self._all and moved is None and url.text not in self._pages:
            return 0
        if moved is not None:
            url = Url.from_serialised(moved[0]) or url
        watches = [watch for watch in watches if watch.query is not None or watch.is_of(url)]
        visit = self._visit(record, url, _seconds(record.date), watches) if watches else None
        if visit is None:
            return 0
        learned = self._learned(visit, watches)
        noted = sum(
            self._note(notice, watch, now) for watch in watches for notice in self._look(watch, visit)
        )
        if learned is not None:  # afterwards, so that no change is its own excuse
            self._store.keep_site(url.host, *learned)
        return noted

    def _note(self, notice: Notice, watch: Watch, now: float) -> int:
        begun = self._begun[watch.name]
        # A watch that begins in days to come was noted before the clock was set back.
        ahead = begun > now and watch.name not in self._fresh
        told = not watch.config.paused and (notice.at >= begun or ahead)
        if told:
            self._store.note(notice, watch.receivers, now)
        return told

    # What a record shows.

    def _visit(self, record: FollowedRecord, url: Url, at: float, watches: list[Watch]) -> _Visit | None:
        place = (record.serial, record.offset)
        status = record.status
        if 300 <= status < 400 and status != 304:
            self._moves(url, record)
            return None
        if 200 <= status < 300:
            self._store.database.execute(_LED_TO, (record.url, ""))
        if record.is_revisit:
            digest = record.fields.get("warc-payload-digest")
            if status == 304 or self._has(watches, url, digest):
                return _Visit(url, at, *place, 200 if status == 304 else status)
            exchange = repeated(self._crawl, record, keep=self._fetch.max_content + 1)
            if exchange is None:
                return None
            content, headers = exchange.body.read(), exchange.headers
        elif record.http_head and not 200 <= status < 300:
            return _Visit(url, at, *place, status)
        else:
            archived, headers = record.first(self._fetch.max_content + 1), record.headers
            if archived is None:
                return None
            content = archived
            digest = record.fields.get("warc-payload-digest")
        return self._read(_Visit(url, at, *place, status or 200, digest=digest), content, headers, watches)

    def _read(self, visit: _Visit, content: bytes, headers: Headers, watches: list[Watch]) -> _Visit | None:
        decoded = decode_content(ArchivedBody(content), headers, self._fetch)
        if not isinstance(decoded, Decoded):
            return None
        parts = dict.fromkeys(part for watch in watches if (part := watch.part) is not None)
        whole = any(watch.query is not None for watch in watches)
        document = Document(visit.url.text, headers.get("content-type"), decoded.content, tuple(parts), whole)
        seen = self._reader.read(document)
        if seen is None:
            if self._was_read(watches, visit.url):
                return None  # what could not be read this time, on a busy machine say, has not become empty
            seen = Seen()
        if seen.pieces is None:
            seen = msgspec.structs.replace(seen, pieces=[f"{_DIFFERENCE_OF_FILE}: {visit.digest}"])
        return visit._replace(seen=seen)

    def _was_read(self, watches: list[Watch], url: Url) -> bool:
        """Whether something was seen of a page that is more than that it is there."""
        known = [self._store.page(watch.name, url.text) for watch in watches]
        return any(page is not None and page.told and not _is_file(page.told) for page in known)

    def _has(self, watches: list[Watch], url: Url, digest: str) -> bool:
        """Whether all that watch a page saw this content last."""
        known = [self._store.page(watch.name, url.text) for watch in watches]
        return bool(digest) and all(page is not None and page.digest == digest for page in known)

    def _moves(self, url: Url, record: FollowedRecord) -> None:
        """A watched page is what it leads to now, and no more what it led to before."""
        target = Url.parse(record.headers.get("location"), record.url)
        database = self._store.database
        database.execute(_LED_TO, (record.url, "" if target is None else target.text))
        if target is not None and target.text != url.text and target.text not in self._pages:
            database.execute(
                "insert or replace into moved values (?, ?, ?)", (target.text, url.text, record.url)
            )

    def _learned(self, visit: _Visit, watches: list[Watch]) -> tuple[bytes, int] | None:
        """What is known of the site's noise once this visit and the last one are taken as a pair; `None` if they are
        none."""
        if visit.status >= 400:
            return None
        for watch in watches:
            page = self._store.page(watch.name, visit.url.text) if watch.selector is None else None
            if page is not None and page.status < 400:
                packed, pairs = self._store.site(visit.url.host)
                pieces = self._pieces(watch, visit, page)
                if visit.seen is not None and pieces and page.digest != visit.digest:
                    volatile = Volatile.unpack(packed)
                    volatile.learn(page.told if page.last is None else page.last, pieces)
                    packed = volatile.pack()
                return packed, pairs + 1
        return None

    # What follows.

    def _look(self, watch: Watch, visit: _Visit) -> Iterator[Notice]:
        page = self._store.page(watch.name, visit.url.text)
        if visit.status in GONE_STATUSES or visit.status >= 400:
            yield from self._without(watch, visit, page)
            return
        first = page is None
        page = page or SeenPage(watch.name, visit.url.text, visit.url.host, first=visit.at)
        was_gone, page.gone, page.status = page.gone >= GONE_AFTER, 0, visit.status
        page.visited = visit.at
        if visit.seen is not None:
            page.title, page.digest = visit.seen.title, visit.digest
        elif first:
            return  # a 304 of what was never seen
        notices = list(self._notices(watch, visit, page, first=first))
        if was_gone and not first:
            notices.insert(0, self._notice(watch, visit, page, "back"))
        if notices:
            page.changed = visit.at
        if watch.query is None or page.answers or not first:
            self._store.keep(page)
        yield from notices

    def _without(self, watch: Watch, visit: _Visit, page: SeenPage | None) -> Iterator[Notice]:
        """The page did not come. One that was never there is no page, but one that is watched by its address."""
        if page is None and visit.url.text not in watch.pages:
            return
        page = page or SeenPage(watch.name, visit.url.text, visit.url.host, first=visit.at, gone=GONE_AFTER)
        page.status, page.visited = visit.status, visit.at
        if visit.status in GONE_STATUSES:
            page.gone += 1
            if page.gone == GONE_AFTER and (watch.query is None or page.answers):
                page.changed = visit.at
                yield self._notice(watch, visit, page, "gone")
        self._store.keep(page)

    def _notices(self, watch: Watch, visit: _Visit, page: SeenPage, *, first: bool) -> Iterator[Notice]:
        if watch.query is not None and not watch.is_of(visit.url):
            yield from self._answers(watch, visit, page, first=first)
            return
        pieces = self._pieces(watch, visit, page)
        before = page.told
        if first:
            page.told, page.last = pieces, None
            self._begin_conditions(watch, page, pieces)
            if visit.url.text not in watch.pages and visit.at > self._begun[watch.name] + watch.config.settle:
                yield self._notice(watch, visit, page, "new")
            return
        packed, pairs = self._store.site(visit.url.host) if watch.selector is None else (b"", WARM)
        volatile = Volatile.unpack(packed)
        change = changed(before, pieces, volatile)
        if watch.conditions:
            for words, seen_number in self._began(watch, page, pieces):
                yield self._notice(
                    watch, visit, page, "condition", _Why(words, seen_number, (before, pieces, change))
                )
            page.told, page.last = pieces, None
            return
        if change and (pairs < WARM or volatile):
            last, page.last = page.last, pieces
            if last is None:
                return
            moving = changed(last, pieces, volatile)
            change = _standing(change, moving)
            if not change:
                return
            page.told, page.last = (last, pieces) if moving else (pieces, None)
        else:
            page.told, page.last = pieces, None
        if change:
            yield self._notice(watch, visit, page, "changed", _Why(told=(before, pieces, change)))

    def _pieces(self, watch: Watch, visit: _Visit, page: SeenPage) -> list[str]:
        """What the watch looks at, as it is now."""
        if visit.seen is None:
            return page.told if page.last is None else page.last
        if watch.part is None:
            return visit.seen.pieces or []
        return visit.seen.parts.get(watch.part.name, [])

    def _begin_conditions(self, watch: Watch, page: SeenPage, pieces: list[str]) -> None:
        for _ in self._began(watch, page, pieces):
            pass  # what holds at the first sight does not begin to

    def _began(self, watch: Watch, page: SeenPage, pieces: list[str]) -> Iterator[tuple[str, float | None]]:
        """The conditions that begin to hold, with the number that was seen."""
        text = "\n".join(pieces)
        found = number_in(text) if watch.selector is not None else None
        holds: dict[str, bool] = {}
        for condition in watch.conditions:
            before = page.holds.get(condition.words)
            now = condition.holds(text, found)
            if now is None:
                now = before if before is not None else False
            elif now and before is False:
                yield condition.words, found if condition.kind == "number" else None
            holds[condition.words] = now
        page.holds = holds

    def _answers(self, watch: Watch, visit: _Visit, page: SeenPage, *, first: bool) -> Iterator[Notice]:
        """A page that answers a query, and did not before."""
        if visit.seen is None:
            return
        if self._index is None:
            self._index = FleetingIndex()
        seen = visit.seen
        assert watch.query is not None
        self._index.put(
            {
                "url": visit.url.text, "time": datetime.fromtimestamp(visit.at).astimezone(), "serial": visit.serial,
                "offset": visit.offset, "type": seen.media_type, "title": seen.title, "language": seen.language,
                "published": seen.published, "modified": seen.modified, "description": seen.description,
                "text": seen.text, "markdown": "", "bytes": seen.size,
            }
        )  # fmt: skip
        answers, before = self._index.fits(watch.query), page.answers
        page.answers = answers
        was, page.told, page.last = page.told, seen.pieces or [], None
        if not answers or before:
            return
        if not first or visit.at > self._begun[watch.name] + watch.config.settle:
            told = None if first else (was, page.told, changed(was, page.told))
            yield self._notice(watch, visit, page, "answers", _Why(watch.config.query, told=told))

    def _notice(
        self,
        watch: Watch,
        visit: _Visit,
        page: SeenPage,
        kind: str,
        why: _Why = _NO_MORE,
    ) -> Notice:
        words, seen_number, told = why
        change = told[2] if told is not None else Change()
        what = (watch.name, page.url, kind, words, visit.at, visit.serial, visit.offset)
        return Notice(
            id=hashlib.blake2b(msgspec.json.encode(what), digest_size=10).hexdigest(),
            watch=watch.name,
            url=page.url,
            title=page.title,
            kind=kind,
            condition=words,
            at=visit.at,
            number=seen_number,
            places=difference(told[0], told[1], change.hunks) if told is not None else (),
            added=change.added,
            removed=change.removed,
        )


def _is_file(pieces: list[str]) -> bool:
    return pieces[0].startswith(f"{_DIFFERENCE_OF_FILE}: ")


def _standing(change: Change, moving: Change) -> Change:
    """The part of a change, since what was told, that stands where nothing has changed since the last visit."""

    def moves(hunk: Hunk) -> bool:
        return any(
            hunk.new_start <= other.new_end and other.new_start <= hunk.new_end for other in moving.hunks
        )

    hunks = tuple(hunk for hunk in change.hunks if not moves(hunk))
    return change if hunks == change.hunks else msgspec.structs.replace(change, hunks=hunks)


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0
