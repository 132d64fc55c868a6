"""What is owed to receivers: put together to messages, delivered, tried again.

A message, its id and what it tells are kept before it is sent the first time. So a kill while it is sent has it sent
again, the same with the same id; a kill before loses nothing.
"""

import sqlite3
import uuid
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec

from gossamer.config.watch_config import NotifyConfig
from gossamer.policy.watching.retries import LONGEST_WAIT, Failure, next_attempt
from gossamer.watch.store import Store, notice_of
from gossamer.watch.watches import Watch
from gossamer.watch.wording import SHOWN, Message

__all__ = ["Outbox", "order_test", "retry_failed"]

AT_ONCE = 4
MOST = 500
"""Notices of one message."""
KEPT = 1_000
"""Notices of a watch that are kept once they are told."""

Tell = Callable[[Message, NotifyConfig], Failure | None]


class _Sending(msgspec.Struct, frozen=True):
    message: int
    receiver: str
    attempts: int
    result: "Future[Failure | None]"


class Outbox:
    """Delivers what a store owes. Not to be used by two threads."""

    def __init__(self, store: Store, crawl: str, tell: Tell) -> None:
        """Args:
        store: of the crawl's watches.
        crawl: its name, which messages bear.
        tell: tells one receiver, in a thread.
        """
        self._store = store
        self._crawl = crawl
        self._tell = tell
        self._threads = ThreadPoolExecutor(AT_ONCE, "notify")
        self._sending: list[_Sending] = []
        self._watches: dict[str, Watch] = {}
        self._receivers: Mapping[str, NotifyConfig] = {}

    def go_by(self, watches: list[Watch], receivers: Mapping[str, NotifyConfig]) -> None:
        """From now on these are watched, and these are told."""
        self._watches = {watch.name: watch for watch in watches}
        self._receivers = receivers

    def step(self, now: float, *, all_of_it: bool = False) -> None:
        """Put together what has been gathered, send what is due, take note of what became of the last ones.

        Args:
            now: seconds since 1970.
            all_of_it: do not wait for more to gather.

        Raises:
            StorageError: the disk refuses.
        """
        self._settle(now)
        self._gather(now, all_of_it=all_of_it)
        self._send(now)

    @property
    def busy(self) -> bool:
        """Whether something is being sent."""
        return bool(self._sending)

    def due_before(self, until: float) -> bool:
        """Whether something is to be sent, or sent again, before a time."""
        rows = self._store.database.execute(
            "select watch from message where state = 'pending' and due < ?", (until,)
        )
        return any(self._quiet_until(watch, until) is None for (watch,) in rows)

    def close(self, now: float) -> None:
        """Wait for what is being sent, 30 s or so, and take note of it."""
        self._threads.shutdown(wait=True)
        self._settle(now)

    def _quiet_until(self, watch: str, now: float) -> float | None:
        known = self._watches.get(watch)
        return known.quiet.until(now) if known is not None and known.quiet is not None else None

    def _gather(self, now: float, *, all_of_it: bool) -> None:
        groups = self._store.database.execute(
            "select owed.watch, receiver, min(noted) from owed join notice on notice.number = owed.notice"
            " where message is null group by owed.watch, receiver"
        ).fetchall()
        for watch, receiver, noted in groups:
            known = self._watches.get(watch)
            gather = known.config.gather if known is not None else 0.0
            # What was noted at a time to come was so before the clock was set back.
            gathers = not all_of_it and 0 <= now - noted < gather
            if gathers or self._quiet_until(watch, now) is not None:
                continue
            with self._store.commit() as database:
                row = database.execute(_MESSAGE, (uuid.uuid4().hex, watch, receiver, now, False, now))
                database.execute(
                    "update owed set message = ? where (notice, receiver) in (select notice, receiver from owed where"
                    " watch = ? and receiver = ? and message is null order by notice limit ?)",
                    (row.lastrowid, watch, receiver, MOST),
                )

    def _send(self, now: float) -> None:
        being_told = {sending.receiver for sending in self._sending}
        due = self._store.database.execute(
            # Nothing is put off for longer: what is due after that was put off before the clock was set back.
            "select number, watch, receiver, attempts, test from message where state = 'pending'"
            " and (due <= ? or due > ?) order by due, number",
            (now, now + 2 * LONGEST_WAIT),
        ).fetchall()
        for number, watch, receiver, attempts, test in due:
            if receiver in being_told or (not test and self._quiet_until(watch, now) is not None):
                continue
            if len(self._sending) >= AT_ONCE:
                return
            being_told.add(receiver)
            result: Future[Failure | None]
            known = self._receivers.get(receiver)
            if known is None:
                result = Future()
                result.set_result(
                    Failure("the settings name no such receiver any more, or its secret is not there")
                )
            else:
                result = self._threads.submit(self._tell, self._message(number), known)
            self._sending.append(_Sending(number, receiver, attempts + 1, result))

    def _message(self, number: int) -> Message:
        database = self._store.database
        row = database.execute(
            "select id, watch, receiver, made, test from message where number = ?", (number,)
        ).fetchone()
        (count,) = database.execute("select count(*) from owed where message = ?", (number,)).fetchone()
        bodies = database.execute(
            "select body from owed join notice on notice.number = owed.notice where message = ?"
            " order by notice.number limit ?",
            (number, SHOWN),
        )
        notices = tuple(notice_of(body) for (body,) in bodies)
        identity, watch, receiver, made, test = row
        return Message(
            id=identity, crawl=self._crawl, watch=watch, receiver=receiver, made=made, test=bool(test),
            notices=notices, count=count,
        )  # fmt: skip

    def _settle(self, now: float) -> None:
        for sending in [one for one in self._sending if one.result.done()]:
            error = sending.result.exception()
            failure = sending.result.result() if error is None else Failure(f"{type(error).__name__}")
            due = next_attempt(failure, sending.attempts, now) if failure is not None else None
            state = "sent" if failure is None else "failed" if due is None else "pending"
            with self._store.commit() as database:
                database.execute(
                    "update message set state = ?, attempts = ?, due = ?, problem = ?, ended = ? where number = ?",
                    (
                        state, sending.attempts, due or now, failure.words if failure is not None else "",
                        0.0 if state == "pending" else now, sending.message,
                    ),
                )  # fmt: skip
            self._sending.remove(sending)

    def prune(self) -> None:
        """Within a commit, forget old notices that everybody was told of."""
        database = self._store.database
        for (watch,) in database.execute("select distinct watch from notice").fetchall():
            row = database.execute(
                "select number from notice where watch = ? order by number desc limit 1 offset ?",
                (watch, KEPT),
            ).fetchone()
            if row is None:
                continue
            database.execute(
                "delete from notice where watch = ? and number <= ? and number not in (select notice from owed left"
                " join message on message.number = owed.message where state is not 'sent')",
                (watch, row[0]),
            )
        database.execute("delete from owed where notice not in (select number from notice)")
        database.execute(
            "delete from message where state = 'sent' and test = 0 and number not in (select message from owed where"
            " message is not null)"
        )


_MESSAGE = (
    "insert into message (id, watch, receiver, made, test, attempts, due, state, problem, ended)"
    " values (?, ?, ?, ?, ?, 0, ?, 'pending', '', 0)"
)


def order_test(database: sqlite3.Connection, watches: Iterable[Watch], now: float) -> int:
    """Within a transaction, have a test sent to all receivers; how many there are."""
    pairs = [(watch.name, receiver) for watch in watches for receiver in watch.receivers]
    for watch, receiver in pairs:
        database.execute(_MESSAGE, (uuid.uuid4().hex, watch, receiver, now, True, now))
    return len(pairs)


def retry_failed(database: sqlite3.Connection, now: float) -> int:
    """Within a transaction, have what was given up tried again; how many messages that are."""
    changed = database.execute(
        "update message set state = 'pending', attempts = 0, due = ?, ended = 0 where state = 'failed'",
        (now,),
    )
    return changed.rowcount
