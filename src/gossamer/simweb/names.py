"""The name server (RFC 1035): answers for the world's names over UDP and TCP, and for no others."""

import asyncio
import ipaddress
import struct
from collections import Counter
from collections.abc import Iterator
from typing import cast

from gossamer.simweb.resource import Naming, Speech
from gossamer.simweb.visits import Ledger
from gossamer.simweb.world import World

_A, _CNAME, _AAAA, _OPT = 1, 5, 28, 41
_KINDS = {_A: "A", _AAAA: "AAAA"}
_FORMAT_ERROR, _SERVFAIL, _NXDOMAIN, _REFUSED = 1, 2, 3, 5
_TRUNCATED = 0x0200


class NameService:
    """Answers questions in wire format; knows how often it was asked where that matters."""

    def __init__(self, world: World, ledger: Ledger | None) -> None:
        self._world = world
        self._ledger = ledger
        self._asked: Counter[str] = Counter()

    def answer(self, query: bytes, transport: str) -> tuple[bytes, float] | None:
        """The answer with the seconds to wait before it, or `None` for silence."""
        if len(query) < 12 or query[2] & 0x80:
            return None
        try:
            name, kind, end = _question(query)
        except (IndexError, struct.error, UnicodeDecodeError):
            return _message(query, 12, _FORMAT_ERROR), 0.0
        if self._ledger is not None:
            self._ledger.ask(name, _KINDS.get(kind, str(kind)), transport)
        naming = self._world.naming(name)
        if naming is None:
            return _message(query, end, _NXDOMAIN), 0.0
        if naming.lost and self._turn(f"{name} {kind}") < naming.lost:
            return None
        answer = self._speak(naming, query, (name, kind, end), transport)
        return None if answer is None else (answer, naming.delay)

    def _speak(
        self, naming: Naming, query: bytes, question: tuple[str, int, int], transport: str
    ) -> bytes | None:
        name, kind, end = question
        match naming.speech:
            case Speech.SILENT:
                return None
            case Speech.NXDOMAIN:
                return _message(query, end, _NXDOMAIN)
            case Speech.SERVFAIL:
                return _message(query, end, _SERVFAIL)
            case Speech.REFUSED:
                return _message(query, end, _REFUSED)
            case Speech.GARBAGE:
                return query[:2] + b"\x81\x80\0\1\xff\xff\0\0\0\0" + b"\xc0\x0c" * 20
        if naming.speech is Speech.TRUNCATED and transport == "udp":
            return _message(query, end, _TRUNCATED)
        whole = _message(query, end, 0, tuple(_records(name, kind, naming)))
        if transport == "udp" and len(whole) > _room(query, end):
            return _message(query, end, _TRUNCATED)
        return whole

    def _turn(self, key: str) -> int:
        turn = self._asked[key]
        self._asked[key] += 1
        return turn


class UdpNames(asyncio.DatagramProtocol):
    """Questions in datagrams."""

    def __init__(self, service: NameService) -> None:
        self._service = service
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer, at once or later."""
        answer = self._service.answer(data, "udp")
        if answer is None:
            return
        written, delay = answer
        if delay:
            asyncio.get_running_loop().call_later(delay, self._send, written, addr)
        else:
            self._send(written, addr)

    def _send(self, data: bytes, addr: tuple[str, int]) -> None:
        if not self._transport.is_closing():
            self._transport.sendto(data, addr)


class TcpNames(asyncio.Protocol):
    """Questions with two bytes of length before each."""

    def __init__(self, service: NameService, connections: set["TcpNames"]) -> None:
        self._service = service
        self._connections = connections
        self._received = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        """Answer whole questions."""
        self._received += data
        while len(self._received) >= 2:
            end = 2 + int.from_bytes(self._received[:2], "big")
            if len(self._received) < end:
                return
            query, self._received = self._received[2:end], self._received[end:]
            answer = self._service.answer(query, "tcp")
            if answer is not None:
                self._transport.write(struct.pack("!H", len(answer[0])) + answer[0])

    def connection_lost(self, _: Exception | None) -> None:
        """Forget the connection."""
        self._connections.discard(self)

    def abort(self) -> None:
        """Give up the connection."""
        self._transport.abort()


def _question(query: bytes) -> tuple[str, int, int]:
    """Name in lower case, type, and where the question ends; IndexError or struct.error if there is none."""
    if query[4:6] != b"\0\1":
        raise IndexError("exactly one question is answered")
    labels, at = [], 12
    while length := query[at]:
        if length > 63:
            raise IndexError("a question is not compressed")
        labels.append(query[at + 1 : at + 1 + length].decode("ascii").lower())
        at += 1 + length
    (kind,) = struct.unpack_from("!H", query, at + 1)
    return ".".join(labels), kind, at + 5


def _room(query: bytes, end: int) -> int:
    """Bytes that fit into a datagram: 512, or what EDNS says (RFC 6891), which crawlers' queries put last."""
    if query[10:12] != b"\0\0" and query[end : end + 3] == b"\0" + struct.pack("!H", _OPT):
        return max(512, int.from_bytes(query[end + 3 : end + 5], "big"))
    return 512


def _message(query: bytes, end: int, flags: int, records: tuple[bytes, ...] = ()) -> bytes:
    """An authoritative answer to `query`, whose question ends at `end` and is repeated byte by byte."""
    asked = query[4:6] if end > 12 else b"\0\0"
    counts = asked + struct.pack("!HHH", len(records), 0, 0)
    desired = 0x8480 | (query[2] & 1) << 8 | flags
    return query[:2] + struct.pack("!H", desired) + counts + query[12:end] + b"".join(records)


def _records(name: str, kind: int, naming: Naming) -> Iterator[bytes]:
    owner = name
    for alias in naming.aliases:
        yield _record(owner, _CNAME, naming.ttl, _name(alias))
        owner = alias
    for text in naming.addresses:
        address = ipaddress.ip_address(text)
        if kind == (_A if address.version == 4 else _AAAA):
            yield _record(owner, kind, naming.ttl, address.packed)


def _record(owner: str, kind: int, ttl: int, data: bytes) -> bytes:
    return _name(owner) + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


def _name(name: str) -> bytes:
    return b"".join(bytes((len(label),)) + label.encode("ascii") for label in name.split(".")) + b"\0"
