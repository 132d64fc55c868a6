"""A small name server on loopback, UDP and TCP, whose answers a test writes itself (RFC 1035 4)."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

A, CNAME, SOA, AAAA = 1, 5, 6, 28
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP, REFUSED = 0, 1, 2, 3, 4, 5


class Query(NamedTuple):
    """One question as it came in."""

    id: int
    name: str
    kind: int
    transport: str
    question: bytes  # as in the packet, for the copy in the answer
    peer: tuple[str, int] | None  # over UDP


class Record(NamedTuple):
    owner: str
    kind: int
    ttl: int
    data: bytes


Answers = Callable[[Query], bytes | list[bytes] | None]


def packed(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label) + b"\0"


def a(owner: str, *addresses: str, ttl: int = 300) -> list[Record]:
    return [Record(owner, A, ttl, socket.inet_pton(socket.AF_INET, address)) for address in addresses]


def aaaa(owner: str, *addresses: str, ttl: int = 300) -> list[Record]:
    return [Record(owner, AAAA, ttl, socket.inet_pton(socket.AF_INET6, address)) for address in addresses]


def cname(owner: str, target: str, ttl: int = 300) -> list[Record]:
    return [Record(owner, CNAME, ttl, packed(target))]


def respond(
    query: Query,
    records: Sequence[Record] = (),
    *,
    rcode: int = NOERROR,
    truncated: bool = False,
    number: int | None = None,
) -> bytes:
    flags = 0x8180 | (0x0200 if truncated else 0) | rcode
    head = struct.pack("!6H", query.id if number is None else number, flags, 1, len(records), 0, 0)
    # The question's own name is compressed, so that 4,000 records fit into 64 KiB.
    body = b"".join(
        (b"\xc0\x0c" if record.owner == query.name else packed(record.owner))
        + struct.pack("!HHIH", record.kind, 1, record.ttl, len(record.data))
        + record.data
        for record in records
    )
    return head + query.question + body


def zone(records: dict[str, list[Record]]) -> Answers:
    """An honest server: the records of the name's kind, with any CNAMEs; otherwise no data or NXDOMAIN."""

    def answer(query: Query) -> bytes:
        if query.name not in records:
            return respond(query, rcode=NXDOMAIN)
        return respond(query, [r for r in records[query.name] if r.kind in (query.kind, CNAME)])

    return answer


class LoopbackNames:
    """The server: counts what it is asked and answers as it is told."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.queries: list[Query] = []
        self.address = ""
        self.udp: asyncio.DatagramTransport | None = None
        self.closed = asyncio.Event()

    def send(self, query: Query, answer: bytes) -> None:
        """Answer a question over UDP at a time of the test's choosing."""
        assert self.udp is not None
        self.udp.sendto(answer, query.peer)

    def asked(self, name: str, kind: int = A) -> int:
        return sum(query.name == name and query.kind == kind for query in self.queries)

    def reply(self, packet: bytes, transport: str, peer: tuple[str, int] | None = None) -> list[bytes]:
        position = 12
        labels = []
        while packet[position]:
            labels.append(packet[position + 1 : position + 1 + packet[position]].decode())
            position += packet[position] + 1
        kind = struct.unpack_from("!H", packet, position + 1)[0]
        question = packet[12 : position + 5]
        number = struct.unpack_from("!H", packet)[0]
        query = Query(number, ".".join(labels).lower(), kind, transport, question, peer)
        self.queries.append(query)
        answer = self.answers(query)
        return [] if answer is None else [answer] if isinstance(answer, bytes) else answer


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, server: LoopbackNames) -> None:
        self.server = server

    def connection_made(self, transport: asyncio.DatagramTransport) -> None:  # type: ignore[override]
        self.server.udp = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.server.closed.set()

    def datagram_received(self, packet: bytes, peer: tuple[str, int]) -> None:
        for answer in self.server.reply(packet, "udp", peer):
            self.server.udp.sendto(answer, peer)


async def _bound(
    serve: Callable, server: LoopbackNames, host: str
) -> tuple[asyncio.Server, asyncio.DatagramTransport, int]:
    """Both sockets with one port. The kernel chooses it for TCP; for UDP another process may have it."""
    loop = asyncio.get_running_loop()
    for attempt in range(20):
        stream = await asyncio.start_server(serve, host, 0)
        port = stream.sockets[0].getsockname()[1]
        try:
            datagrams, _ = await loop.create_datagram_endpoint(lambda: _Udp(server), local_addr=(host, port))
        except OSError:
            # Left open it would keep uvloop from closing, for ever.
            stream.close()
            await stream.wait_closed()
            if attempt == 19:
                raise
        else:
            return stream, datagrams, port
    raise AssertionError("unreachable")


@contextlib.asynccontextmanager
async def loopback_names(answers: Answers, host: str = "127.0.0.1") -> AsyncIterator[LoopbackNames]:
    server = LoopbackNames(answers)
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                length = struct.unpack("!H", await reader.readexactly(2))[0]
                for answer in server.reply(await reader.readexactly(length), "tcp"):
                    writer.write(struct.pack("!H", len(answer)) + answer)
        writer.close()

    stream, datagrams, port = await _bound(serve, server, host)
    server.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        yield server
    finally:
        datagrams.close()
        stream.close()
        for writer in writers:
            writer.close()
        await stream.wait_closed()
        await server.closed.wait()
