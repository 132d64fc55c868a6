"""Bounds what connections may cost that say nothing: the head of a request must come, whole, in good time.

A connection without a whole head is worth least, so it is the first to go when there are too many: whoever
opens hundreds and waits only closes his own, and everybody else is answered, he too.
"""

import asyncio
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""From the opening of a connection, or the first byte of a further request, to the end of the head."""
MOST_OF_AN_ADDRESS = 128


class Waiting:
    """The connections of one server that have not brought a whole head yet, the oldest first.

    Args:
        most: connections in all.
        trusted: addresses of proxies, behind which there are many clients.
    """

    def __init__(self, most: int, trusted: tuple[str, ...] = ()) -> None:
        self._most = most
        self._trusted = trusted
        self._headless: dict[PatientProtocol, None] = {}
        self._of_address: Counter[str] = Counter()
        self._open = 0

    def opened(self, connection: "PatientProtocol") -> bool:
        """A connection is there; whether it may stay. Another may have to go for it."""
        address = connection.address
        self._open += 1
        self._of_address[address] += 1
        self._headless[connection] = None
        crowded = self._of_address[address] > MOST_OF_AN_ADDRESS and address not in self._trusted
        if not crowded and self._open <= self._most:
            return True
        oldest = next(each for each in self._headless if not crowded or each.address == address)
        oldest.drop()
        return oldest is not connection

    def closed(self, connection: "PatientProtocol") -> None:
        """Note that a connection is gone."""
        self._open -= 1
        self._headless.pop(connection, None)
        self._of_address[connection.address] -= 1
        if not self._of_address[connection.address]:
            del self._of_address[connection.address]

    def began(self, connection: "PatientProtocol") -> None:
        """Note that it began another request."""
        self._headless[connection] = None

    def complete(self, connection: "PatientProtocol") -> None:
        """Note that its request's head is whole."""
        self._headless.pop(connection, None)


class PatientProtocol(H11Protocol):
    """uvicorn's connection, whose patience with heads has an end."""

    waiting: Waiting
    address = ""
    _timer: asyncio.TimerHandle | None = None
    _dropped = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit a connection, or refuse it where there are too many."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if self.waiting.opened(self):
            self._timer = self.loop.call_later(HEAD_SECONDS, self.drop)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, and see whether the head is whole."""
        if self._dropped:
            return
        idle = self.conn.their_state is h11.IDLE
        if idle and self._timer is None:
            self.waiting.began(self)
            self._timer = self.loop.call_later(HEAD_SECONDS, self.drop)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()
            self.waiting.complete(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection and its clock."""
        self._stop()
        if not self._dropped:
            self.waiting.closed(self)
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close it at once; what comes of it still is not read.

        It counts no more from now on, though the loop is told later: many may come in one turn of it.
        """
        self._dropped = True
        self._stop()
        self.waiting.closed(self)
        self.connections.discard(self)
        self.transport.abort()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def patient_protocol(most: int, trusted: tuple[str, ...] = ()) -> type[H11Protocol]:
    """The class of a server's connections (uvicorn's setting `http`); as `Waiting`."""
    members: dict[str, Any] = {"waiting": Waiting(most, trusted)}
    return type("Connection", (PatientProtocol,), members)
