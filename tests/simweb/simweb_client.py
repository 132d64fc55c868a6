"""A client that shows what stands on the wire, for the tests of the simulated web."""

import asyncio
import struct
from dataclasses import dataclass

from gossamer.simweb import Hosting

PATIENCE = 10.0


@dataclass(frozen=True)
class Heard:
    """What a server said on one connection, and its end: `closed`, `reset`, `waiting` or `enough`."""

    data: bytes
    end: str

    @property
    def head(self) -> bytes:
        """Up to the first empty line."""
        return self.data.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        """Behind the first empty line."""
        return self.data.partition(b"\r\n\r\n")[2]

    @property
    def status(self) -> int:
        """Of the first status line."""
        return int(self.data[9:12])

    def field(self, name: str) -> str:
        """First value of a field, empty if there is none."""
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return ""


def request(host: str, target: str, *fields: str, method: str = "GET") -> bytes:
    """A request head."""
    return "\r\n".join((f"{method} {target} HTTP/1.1", f"Host: {host}", *fields, "", "")).encode()


async def talk(
    port: int, sent: bytes, *, limit: int = 1 << 24, quiet: float = 0.15, address: str = "127.0.0.1"
) -> Heard:
    """Send and listen until the server ends, says nothing for `quiet` seconds, or has said `limit` bytes."""
    reader, writer = await asyncio.open_connection(address, port)
    heard = b""
    end = "enough"
    try:
        writer.write(sent)
        while len(heard) < limit:
            try:
                piece = await asyncio.wait_for(reader.read(1 << 20), quiet)
            except TimeoutError:
                end = "waiting"
                break
            if not piece:
                end = "closed"
                break
            heard += piece
    except ConnectionResetError:
        end = "reset"
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)
    return Heard(heard, end)


async def get(web: Hosting, host: str, target: str, *fields: str) -> Heard:
    """One request that asks to close afterwards."""
    return await talk(web.http_port, request(host, target, "Connection: close", *fields), quiet=PATIENCE)


def query(name: str, kind: int = 1, *, edns: int = 0) -> bytes:
    """A question in wire format."""
    labels = b"".join(bytes((len(part),)) + part.encode() for part in name.split(".")) + b"\0"
    extra = b"\0" + struct.pack("!HHIH", 41, edns, 0, 0) if edns else b""
    return (
        struct.pack("!HHHHHH", 0x1234, 0x0100, 1, 0, 0, bool(edns))
        + labels
        + struct.pack("!HH", kind, 1)
        + extra
    )
