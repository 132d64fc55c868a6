"""The name server (RFC 1035): answers for the world's names over UDP and TCP, and for no others."""

import asyncio
import struct
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from gossamer.simweb.servers import messages
from gossamer.simweb.servers.messages import Asked
from gossamer.simweb.servers.visits import Ledger
from gossamer.simweb.world.atlas import FORBIDDEN_ADDRESS
from gossamer.simweb.world.dice import fingerprint
from gossamer.simweb.world.resource import Naming, Speech
from gossamer.simweb.world.world import World

_KINDS = {messages.A: "A", messages.AAAA: "AAAA"}
_CODES = {
    Speech.NXDOMAIN: messages.NXDOMAIN,
    Speech.SERVFAIL: messages.SERVFAIL,
    Speech.REFUSED: messages.REFUSED,
}
_NAMELESS = frozenset({*_CODES, Speech.SILENT, Speech.GARBAGE, Speech.LOOP})
_CROWD = 4_000  # addresses; what fits into the longest message
_DICE = 1 << 64


class Said(NamedTuple):
    """What the name server says.

    Attributes:
        message: the answer.
        delay: seconds to wait before it.
        lie: a datagram that somebody else slips in right before it.
    """

    message: bytes
    delay: float = 0.0
    lie: bytes = b""


class NameService:
    """Answers questions in wire format; knows how often it was asked where that matters."""

    def __init__(self, world: World, ledger: Ledger | None, control: Path | None = None) -> None:
        """`control` is a file that may come and go; the `Speech` in it then goes for every name."""
        self._world = world
        self._ledger = ledger
        self._control = control
        self._asked: Counter[str] = Counter()
        self._questions = 0
        self._first = 0.0

    def answer(self, query: bytes, transport: str) -> Said | None:
        """The answer, or `None` for silence."""
        if len(query) < 12 or query[2] & 0x80:
            return None
        try:
            asked = messages.read_question(query)
        except (IndexError, struct.error, UnicodeDecodeError):
            return Said(messages.answer(Asked("", 0, query, 12), messages.FORMAT_ERROR))
        said = self._say(asked, transport)
        if self._ledger is not None:
            kind = _KINDS.get(asked.kind, str(asked.kind))
            self._ledger.ask(asked.name, kind, transport, answered=said is not None)
        return said

    def _say(self, asked: Asked, transport: str) -> Said | None:
        spec = self._world.spec
        number, self._questions = self._questions, self._questions + 1
        naming = self._world.naming(asked.name)
        speech = self._common_speech()
        if speech is Speech.ANSWER and naming is not None:
            speech = naming.speech
        elif naming is None and speech not in _NAMELESS:
            speech = Speech.NXDOMAIN
        if speech is Speech.SILENT or self._is_lost(asked, naming, number):
            return None
        naming = naming or Naming()
        if naming.wander:
            naming = replace(naming, addresses=(naming.addresses[number % len(naming.addresses)],))
        message, lie = _speak(naming, asked, speech, transport)
        return Said(message, spec.name_delay + (naming.delay if naming is not None else 0.0), lie)

    def _common_speech(self) -> Speech:
        """How every name is treated now; `ANSWER`: as its host's case says."""
        spec = self._world.spec
        now = time.monotonic()
        self._first = self._first or now
        if spec.name_outage:
            start, length = spec.name_outage
            if start <= now - self._first < start + length:
                return Speech.SILENT
        if self._control is not None:
            with suppress(OSError):
                return Speech(self._control.read_text())
        return Speech(spec.name_speech)

    def _is_lost(self, asked: Asked, naming: Naming | None, number: int) -> bool:
        spec = self._world.spec
        if spec.name_loss and fingerprint(spec.seed, "loss", number) < spec.name_loss * _DICE:
            return True
        if naming is None or not naming.lost:
            return False
        key = f"{asked.name} {asked.kind}"
        self._asked[key] += 1
        return self._asked[key] <= naming.lost


def _speak(naming: Naming, asked: Asked, speech: Speech, transport: str) -> tuple[bytes, bytes]:
    """The answer, and the lie before it if there is one."""
    if speech in _CODES:
        return messages.answer(asked, _CODES[speech]), b""
    if speech is Speech.GARBAGE:
        return asked.message[:2] + b"\x81\x80\0\1\xff\xff\0\0\0\0" + b"\xc0\x0c" * 20, b""
    truncated = messages.answer(asked, messages.TRUNCATED)
    if speech is Speech.TRUNCATED and transport == "udp":
        return truncated, b""
    whole = messages.answer(asked, 0, _records(naming, asked, speech))
    if transport == "udp" and len(whole) > messages.room(asked):
        return truncated, b""
    return whole, _lie(naming, asked, speech)


def _records(naming: Naming, asked: Asked, speech: Speech) -> Iterator[bytes]:
    owner, ttl = asked.name, naming.ttl
    if speech is Speech.LOOP:
        other = f"other.{owner}"
        yield messages.alias_record(asked, owner, ttl, other)
        yield messages.alias_record(asked, other, ttl, owner)
        return
    if speech is Speech.STRANGERS:
        for stranger in (f"stranger.{owner}", "sim.test", "h0.sim.test", "h1.sim.test"):
            if stranger != owner:
                yield messages.address_record(asked, stranger, ttl, FORBIDDEN_ADDRESS)
    for alias in naming.aliases:
        yield messages.alias_record(asked, owner, ttl, alias)
        owner = alias
    for address in naming.addresses:
        yield messages.address_record(asked, owner, ttl, address)
    if speech is Speech.CROWD:
        for n in range(_CROWD):
            yield messages.address_record(asked, owner, ttl, f"127.0.{202 + n // 250}.{n % 250}")


def _lie(naming: Naming, asked: Asked, speech: Speech) -> bytes:
    """What one sends who cannot see the question and guesses it (RFC 5452)."""
    forged = messages.answer(
        asked, 0, [messages.address_record(asked, asked.name, naming.ttl, FORBIDDEN_ADDRESS)]
    )
    if speech is Speech.WRONG_ID:
        return bytes((forged[0] ^ 1,)) + forged[1:]
    if speech is Speech.WRONG_QUESTION:
        return forged[:13] + bytes((forged[13] ^ 1,)) + forged[14:]  # another letter
    return b""


class UdpNames(asyncio.DatagramProtocol):
    """Answers questions that come in datagrams."""

    def __init__(self, service: NameService) -> None:
        self._service = service
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answers."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer, at once or later."""
        said = self._service.answer(data, "udp")
        if said is None:
            return
        if said.delay:
            asyncio.get_running_loop().call_later(said.delay, self._send, said, addr)
        else:
            self._send(said, addr)

    def _send(self, said: Said, addr: tuple[str, int]) -> None:
        if self._transport.is_closing():
            return
        if said.lie:
            self._transport.sendto(said.lie, addr)
        self._transport.sendto(said.message, addr)


class TcpNames(asyncio.Protocol):
    """Questions with two bytes of length before each."""

    def __init__(self, service: NameService, connections: set["TcpNames"]) -> None:
        self._service = service
        self._connections = connections
        self._received = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for the answers."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Answer the questions that are whole."""
        self._received += data
        while len(self._received) >= 2:
            end = 2 + int.from_bytes(self._received[:2], "big")
            if len(self._received) < end:
                return
            query, self._received = self._received[2:end], self._received[end:]
            said = self._service.answer(query, "tcp")
            if said is not None:
                asyncio.get_running_loop().call_later(said.delay, self._send, said.message)

    def _send(self, message: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(struct.pack("!H", len(message)) + message)

    def connection_lost(self, _: Exception | None) -> None:
        """Forget a connection that is gone."""
        self._connections.discard(self)

    def abort(self) -> None:
        """Give up the connection at once."""
        self._transport.abort()
