"""One name server, asked through c-ares on the sockets of the event loop."""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec
import pycares

Listener = Callable[[pycares.DNSResult | None, int | None], None]
"""Takes a result, or `None` with a status of `pycares.errno`."""

MAX_QUESTIONS = 1_000
"""Questions put through one c-ares channel: bounds its cache (about 2 KB a name) to some megabytes."""

MAX_MEASURED = 3
"""Answers after which a channel takes no more questions.

c-ares measures how fast its server is, and with `MAX_MEASURED` good answers gives up every later question
of the channel after five times the mean, which is 250 ms where most answers come from the server's cache.
Names that their own name servers keep waiting would be lost. Nothing can switch that off.
"""

PATIENCE = 5.0
"""Seconds for which an answer is listened to, at least, and for which a question takes up room.

c-ares would not wait longer, whatever it is told: it drops the questions of a channel that are older when
it looks, which it does after reading what has come in. So longer patience takes a channel of its own.
"""

_TICK = 1.0


class Query(msgspec.Struct, eq=False):
    """A question that may have to wait for its turn.

    Attributes:
        name: asked for.
        kind: record type.
        departs: called when it goes out; whether it is still wanted.
        heard: takes what came of it.
        alone: put it through a channel that no other question shares.
        patience: seconds to listen for the answer; beyond `PATIENCE` on a channel of its own.
        open: whether it takes up room at the server; `NameServer` says.
    """

    name: str
    kind: int
    departs: Callable[[], bool]
    heard: Listener
    alone: bool = False
    patience: float = PATIENCE
    open: bool = False


class Traffic(msgspec.Struct, frozen=True):
    """Who hears of what goes to and fro between us and the name servers.

    Attributes:
        sent: called for each query sent, repetitions included; over TCP, where c-ares does not tell of
            queries, for each connection.
        freed: called when a server may be asked more.
    """

    sent: Callable[[], None]
    freed: Callable[[], None]


class NameServer:
    """Puts questions to one name server; each is answered exactly once, by a callback from the event loop.

    Invariant: at most `limit` queries are open, which is until they are answered, given up (`release`), or
    `PATIENCE` is over; the others stand in line.

    c-ares keeps answers in a cache of its own, which pycares 5.2 can neither switch off nor empty at a
    known moment (`reinit` empties it from another thread). So a channel that has heard a question once
    is replaced before the question is put again, after `MAX_MEASURED` answers, and after `MAX_QUESTIONS`
    in any case; it is closed when its last question is answered or given up. A new channel costs 45 us
    and a socket, and draws a new source port (RFC 5452 9.2).
    """

    def __init__(
        self,
        target: str,
        limit: int,
        traffic: Traffic,
        loop: asyncio.AbstractEventLoop,
        trouble: Callable[[], str] = str,
    ) -> None:
        """`target` is written as c-ares does: `ADDRESS:PORT`, or `[ADDRESS]:PORT` for IPv6.

        `trouble` knows better than c-ares why there was no answer; empty: nothing is known.
        """
        self.trouble = trouble
        self.address = _numeric_part(target)
        self._target = target
        self._limit = limit
        self._traffic = traffic
        self._loop = loop
        self._open = 0
        self._line: deque[Query] = deque()
        self._current: _Channel | None = None
        self._leaving: set[_Channel] = set()
        self._retired = False

    def __repr__(self) -> str:
        return f"<NameServer {self._target}, {self._open} queries open, {len(self._line)} in line>"

    @property
    def room(self) -> int:
        """How many more queries would go out at once."""
        return 0 if self._line else self._limit - self._open

    def ask(self, query: Query) -> bool:
        """Put a question now, or when its turn comes; whether it was now."""
        if self._line or self._open >= self._limit:
            self._line.append(query)
            return False
        self._send(query)
        return True

    def release(self, query: Query) -> None:
        """Its answer is no longer counted on, though it is still heard should it come."""
        if query.open:
            query.open = False
            self._open -= 1
            while self._line and self._open < self._limit:
                self._send(self._line.popleft())
            self._traffic.freed()

    def retire(self) -> None:
        """Keep no channel beyond its last answer from now on; questions may still be put."""
        self._retired = True
        if self._current is not None:
            self._leave(self._current)
            self._current = None

    def close(self) -> None:
        """Close every channel. Open questions are not answered any more."""
        for channel in [*self._leaving, *([self._current] if self._current else [])]:
            channel.close()
        self._line.clear()
        self._leaving.clear()
        self._current = None

    def _send(self, query: Query) -> None:
        if not query.departs():
            return
        query.open = True
        self._open += 1
        self._traffic.sent()
        heard = partial(self._heard, query)
        patient = query.patience > PATIENCE
        if query.alone or patient or self._retired:
            channel = self._new_channel(query.patience)
            channel.ask(query.name, query.kind, heard)
            self._leave(channel)
            if patient:
                self._loop.call_later(PATIENCE, self.release, query)
            return
        channel = self._current or self._new_channel(PATIENCE)
        if channel.is_spent(query.name, query.kind):
            self._leave(channel)
            channel = self._new_channel(PATIENCE)
        self._current = channel
        channel.ask(query.name, query.kind, heard)

    def _heard(self, query: Query, result: pycares.DNSResult | None, status: int | None) -> None:
        query.heard(result, status)
        self.release(query)

    def _new_channel(self, patience: float) -> "_Channel":
        return _Channel(self._target, self._loop, self._traffic.sent, patience)

    def _leave(self, channel: "_Channel") -> None:
        self._leaving.add(channel)
        channel.leave(lambda: self._leaving.discard(channel))


class _Channel:
    """A c-ares channel that lives on the event loop.

    Everything runs on the loop's thread, except that pycares destroys channels on a thread of its own;
    what c-ares calls then finds `_closed` set.
    """

    def __init__(
        self, target: str, loop: asyncio.AbstractEventLoop, repeated: Callable[[], None], patience: float
    ) -> None:
        """`repeated` is called when c-ares turns to TCP, to repeat what was truncated.

        `patience` beyond `PATIENCE` holds only on a channel with a single question.
        """
        self._loop = loop
        self._repeated = repeated
        self._first_tick = patience if patience > PATIENCE else _TICK
        self._answers = 0
        self._asked: set[tuple[str, int]] = set()
        self._pending = 0
        self._sockets: dict[int, tuple[bool, bool]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._left: Callable[[], None] | None = None
        self._closed = False
        # EDNS must be named once flags are. NOCHECKRESP hands SERVFAIL and its kin to us: c-ares would
        # repeat the question at once. One try: attempts and waits are ours too (`question.py`).
        self._cares = pycares.Channel(
            flags=pycares.ARES_FLAG_EDNS | pycares.ARES_FLAG_NOCHECKRESP,
            timeout=PATIENCE,
            tries=1,
            servers=[target],
            sock_state_cb=self._watch,
        )

    def is_spent(self, name: str, question: int) -> bool:
        """Whether c-ares would give this question up early, might answer it from its cache, or is full."""
        return (
            self._answers >= MAX_MEASURED
            or (name, question) in self._asked
            or len(self._asked) >= MAX_QUESTIONS
        )

    def ask(self, name: str, question: int, heard: Listener) -> None:
        """Put a question; `heard` is called by the loop, never from within."""
        self._asked.add((name, question))
        self._pending += 1
        open_question: list[Listener] = [heard]

        def answered(result: pycares.DNSResult | None, status: int | None) -> None:
            # An exception in here would only be printed, and c-ares must not be re-entered: to the loop.
            # pycares may call back and raise for the same question, so it is taken once.
            self._answers += 1
            if open_question and not self._closed:
                self._loop.call_soon(self._deliver, open_question.pop(), result, status)

        try:
            self._cares.query(name, question, callback=answered)
        except pycares.AresError as error:
            answered(None, error.args[0])
        if self._timer is None:
            self._timer = self._loop.call_later(self._first_tick, self._tick)

    def leave(self, left: Callable[[], None]) -> None:
        """Close as soon as no question is open, then call `left`."""
        self._left = left
        self._close_if_done()

    def close(self) -> None:
        """Close now. Open questions are not answered any more."""
        if self._closed:
            return
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for descriptor in self._sockets:
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        self._sockets.clear()
        self._cares.cancel()
        self._cares.close()
        del self._cares  # it calls us by `_watch`: whoever is closed leaves no cycle for the collector

    def _deliver(self, heard: Listener, result: pycares.DNSResult | None, status: int | None) -> None:
        if self._closed:
            return
        self._pending -= 1
        heard(result, status)
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._left is not None and self._pending == 0 and not self._closed:
            left, self._left = self._left, None
            self.close()
            left()

    def _tick(self) -> None:
        """Let c-ares notice the questions whose patience has run out."""
        self._cares.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
        self._timer = self._loop.call_later(_TICK, self._tick) if self._pending else None

    def _watch(self, descriptor: int, readable: bool, writable: bool) -> None:
        """Called by c-ares when it wants to hear of a socket, or no more."""
        if self._closed:
            return
        was_readable, was_writable = self._sockets.pop(descriptor, (False, False))
        if readable and not was_readable:
            self._loop.add_reader(descriptor, self._cares.process_read_fd, descriptor)
        elif was_readable and not readable:
            self._loop.remove_reader(descriptor)
        if writable and not was_writable:
            self._loop.add_writer(descriptor, self._cares.process_write_fd, descriptor)
        elif was_writable and not writable:
            self._loop.remove_writer(descriptor)
        if readable or writable:
            self._sockets[descriptor] = (bool(readable), bool(writable))
            if not (was_readable or was_writable) and _is_stream(descriptor):
                self._repeated()


def _numeric_part(target: str) -> str:
    """The address in `192.0.2.1:53`, `[2001:db8::1]:53` or `[fe80::1]:53%eth0`."""
    if target.startswith("["):
        return target[1:].partition("]")[0]
    return target.partition(":")[0]


def _is_stream(descriptor: int) -> bool:
    """Whether it is TCP; takes no further descriptor and raises nothing, as it runs inside c-ares."""
    try:
        view = socket.socket(fileno=descriptor)
    except OSError:
        return False
    try:
        return view.type == socket.SOCK_STREAM
    finally:
        view.detach()
