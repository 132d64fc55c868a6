"""Views of what waits: single URLs, how many where, and how long they will take."""

import time
from collections.abc import Iterator

import msgspec

from gossamer.config.effective import Effective
from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.context import ViewContext
from gossamer.control.views.paging import Cursor as CursorText
from gossamer.control.views.paging import Limit, Page, behind, cursor_of, key_of, take
from gossamer.inspect.forecast import Forecast, HostLoad, Situation, forecast
from gossamer.inspect.queue.count import QueueSizes
from gossamer.inspect.why.level_words import split_grade
from gossamer.model.link import LinkKind
from gossamer.model.quantity import Count
from gossamer.model.reasons.reason import Reason, sentence
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, HASH_BYTES, split_later, split_ticket, ticket
from gossamer.state.records import QueueRecord, decode_host, decode_queue

MOST_LOADS = 200
"""Hosts reckoned with in a forecast, those that take longest."""
QUEUE, LATER = "q", "w"
"""Parts of the list: what has its turn in its queue, then what waits for a time of its own."""


class Queue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which URLs; `host` is a name, `level` as the ordering gave it."""

    host: str = ""
    depth: Count | None = None
    level: Count | None = None
    kind: LinkKind | None = None
    cursor: CursorText | None = None
    limit: Limit = 100


class QueueItem(msgspec.Struct, frozen=True):
    """One URL that waits.

    Attributes:
        host: name of its queue.
        level: the ordering's; the smaller the earlier.
        grade: what was put above it; 0 for most.
        due: wall time, if it waits for one of its own; `None` also for what waits for the operator.
        reason: what it waits for; `why` is the same as a value.
    """

    url: str
    host: str
    depth: int
    level: int
    grade: int
    kind: str
    via: str
    attempts: int
    due: float | None = None
    reason: str = ""
    why: Reason | None = None


def queue(look: ViewContext, params: Queue) -> Page:
    """A page of URLs: by host, within a host in the order of their turns."""
    part, last = key_of(params.cursor, (QUEUE, LATER))
    host = look.fingerprints().host(params.host) if params.host else b""
    names = _Names(look)
    found: list[QueueItem] = []
    if part == QUEUE:
        found, last_key = take(_queued(look, params, host, last, names), params.limit)
        if last_key is not None:
            return Page(found, cursor_of(QUEUE, last_key), _total(look, params))
        last = b""
        if len(found) == params.limit:
            return Page(found, cursor_of(LATER, b""), _total(look, params))
    more, last_key = take(_waiting(look, params, host, last, names), params.limit - len(found))
    cursor = cursor_of(LATER, last_key) if last_key is not None else None
    return Page([*found, *more], cursor, _total(look, params))


def _total(look: ViewContext, params: Queue) -> int | None:
    if params.host or params.depth is not None or params.level is not None or params.kind is not None:
        return None
    counters = look.counters()
    return counters.queued + counters.waiting + counters.again


class _Names:
    """Names of host queues, by their hashes, for entries that come host by host."""

    def __init__(self, look: ViewContext) -> None:
        self._look = look
        self._key, self._name = b"", ""

    def of(self, key: bytes) -> str:
        if key != self._key:
            data = self._look.environment.get(Family.HOSTS, key)
            self._key, self._name = key, decode_host(data).name if data else ""
        return self._name


def _queued(
    look: ViewContext, params: Queue, host: bytes, last: bytes, names: _Names
) -> Iterator[tuple[bytes, QueueItem | None]]:
    start = behind(last)
    if host and not last:
        data = look.environment.get(Family.HOSTS, host)
        start = host + (decode_host(data).head if data else b"")
        if params.level is not None:
            start = max(start, host + ticket(params.level, 0))
    for key, value in look.environment.scan(Family.QUEUE, start, host):
        level = split_ticket(key[HASH_BYTES:])[0]
        grade, own = split_grade(level)
        if params.level is not None and own != params.level:
            yield key, None
            continue
        entry = decode_queue(value)
        wanted = _is_wanted(entry, params)
        yield key, _item(entry, names.of(key[:HASH_BYTES]), own, grade) if wanted else None


def _waiting(
    look: ViewContext, params: Queue, host: bytes, last: bytes, names: _Names
) -> Iterator[tuple[bytes, QueueItem | None]]:
    now = look.clock.micros()
    for key, value in look.environment.scan(Family.LATER, behind(last), host):
        entry = decode_queue(value)
        grade, own = split_grade(split_ticket(entry.ticket)[0])
        if not _is_wanted(entry, params) or params.level not in (None, own):
            yield key, None
            continue
        due, _ = split_later(key)
        at = None if due >= FOREVER else round(time.time() + (due - now) / 1e6, 1)
        item = _item(entry, names.of(key[:HASH_BYTES]), own, grade)
        yield key, msgspec.structs.replace(item, due=at, reason=sentence(entry.reason), why=entry.reason)


def _is_wanted(entry: QueueRecord, params: Queue) -> bool:
    return params.depth in (None, entry.depth) and params.kind in (None, entry.kind)


def _item(entry: QueueRecord, host: str, level: int, grade: int) -> QueueItem:
    return QueueItem(entry.url, host, entry.depth, level, grade, entry.kind, entry.via, entry.attempts)


def queue_sizes(look: ViewContext, _: Nothing) -> QueueSizes:
    """How much is queued where; of many hosts some are looked at with each question, and stand for all."""
    return look.queue_census.look().sizes()


def time_left(look: ViewContext, _: Nothing) -> Forecast:
    """The forecast, by the rate of late if the crawl runs, else by that over all its time."""
    config, counters, now = look.config, look.counters(), look.clock.micros()
    effective = Effective(config)
    count = look.census.look()
    loads = [
        HostLoad.of(record, effective.politeness(record.name), now)
        for record in count.largest("seconds")[:MOST_LOADS]
    ]
    rate, busy = look.pulse()
    if rate <= 0 and counters.seconds > 0:
        rate = counters.visits / counters.seconds
    left = config.budget.max_pages
    situation = Situation(
        loads=loads,
        queued=max(0, counters.queued - counters.aside - count.left_alone),
        rate=rate,
        workers=config.engine.workers,
        all_busy=busy,
        pages_left=max(0, left - counters.pages) if left else None,
    )
    return forecast(situation, estimated=not count.complete)
