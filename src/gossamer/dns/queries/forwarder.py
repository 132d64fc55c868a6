"""A name server that is asked over HTTPS (RFC 8484), as c-ares sees it: one on loopback that asks on."""

import asyncio
import contextlib
import socket
from typing import Protocol

from gossamer.model.name import Carried

_HEAD = 12
"""Bytes of a DNS message before its question (RFC 1035 4.1.1)."""
_LONGEST = 65_507
"""Of a packet on loopback, which an answer must fit into."""
_TRUNCATED = 0x02
_IS_ANSWER = 0x80
_SERVFAIL = 2


class Carrier(Protocol):
    """Brings DNS messages to name servers over HTTPS."""

    async def carry(self, url: str, message: bytes) -> Carried:
        """The answer to a message, or why there is none."""

    def close(self) -> None:
        """Close every connection; what is under way has no answer."""


class Forwarder:
    """Takes c-ares' packets, has them carried, and sends back what comes: a failure where nothing does.

    So all that is known of patience, of attempts and of reading hostile answers holds for such servers, too.
    c-ares hears this socket alone. Others on the machine could ask it as they could ask the server itself;
    what comes beyond `most` questions at once is lost, as with any server that has too much to do.

    Attributes:
        target: where c-ares finds it.
        trouble: why the last question had no answer; empty if it had one.
    """

    def __init__(self, url: str, most: int, carrier: Carrier, loop: asyncio.AbstractEventLoop) -> None:
        self._url = url
        self._most = most
        self._carrier = carrier
        self._loop = loop
        self._carrying: set[asyncio.Task[None]] = set()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.trouble = ""
        loop.add_reader(self._socket.fileno(), self._hear)

    def close(self) -> None:
        """Take and send no more."""
        self._loop.remove_reader(self._socket.fileno())
        self._socket.close()
        for task in self._carrying:
            task.cancel()

    def _hear(self) -> None:
        with contextlib.suppress(OSError):
            message, sender = self._socket.recvfrom(_LONGEST)
            if len(message) > _HEAD and len(self._carrying) < self._most:
                task = self._loop.create_task(self._forward(message, sender))
                self._carrying.add(task)
                task.add_done_callback(self._carrying.discard)

    async def _forward(self, message: bytes, sender: tuple[str, int]) -> None:
        # The number of a message is its connection's business there: always 0, so that equal questions look equal.
        carried = await self._carrier.carry(self._url, bytes(2) + message[2:])
        self.trouble = carried.trouble
        if not self.trouble and not _HEAD < len(carried.message) <= _LONGEST:
            self.trouble = "HTTPS: no DNS message"
        with contextlib.suppress(OSError):
            answer = _failure(message) if self.trouble else _complete(carried.message)
            self._socket.sendto(message[:2] + answer[2:], sender)


def _failure(message: bytes) -> bytes:
    return bytes((*message[:2], message[2] | _IS_ANSWER, _SERVFAIL)) + message[4:]


def _complete(message: bytes) -> bytes:
    """The same, never called truncated: there is no other way to ask this server."""
    return bytes((*message[:2], message[2] & ~_TRUNCATED)) + message[3:]
