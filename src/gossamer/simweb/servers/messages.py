"""Messages between a name server and its clients, in wire format (RFC 1035 4)."""

import ipaddress
import struct
from collections.abc import Iterable
from typing import NamedTuple

A, CNAME, AAAA, _OPT = 1, 5, 28, 41
FORMAT_ERROR, SERVFAIL, NXDOMAIN, REFUSED = 1, 2, 3, 5
TRUNCATED = 0x0200
_MESSAGE = 0xFFFF
_ASKED = b"\xc0\x0c"  # the name of the question, compressed


class Asked(NamedTuple):
    """A question, and the message that it came in.

    Attributes:
        name: asked for, lower case.
        kind: record type.
        message: the whole of it.
        end: where in it the question ends.
    """

    name: str
    kind: int
    message: bytes
    end: int


def read_question(message: bytes) -> Asked:
    """Its only question. Raises IndexError, struct.error or UnicodeDecodeError if there is none."""
    if message[4:6] != b"\0\1":
        raise IndexError("exactly one question is answered")
    labels, at = [], 12
    while length := message[at]:
        if length > 63:
            raise IndexError("a question is not compressed")
        labels.append(message[at + 1 : at + 1 + length].decode("ascii").lower())
        at += 1 + length
    (kind,) = struct.unpack_from("!H", message, at + 1)
    return Asked(".".join(labels), kind, message, at + 5)


def room(asked: Asked) -> int:
    """Bytes that fit into a datagram: 512, or what EDNS says (RFC 6891), which crawlers' queries put last."""
    message, end = asked.message, asked.end
    if message[10:12] != b"\0\0" and message[end : end + 3] == b"\0" + struct.pack("!H", _OPT):
        return max(512, int.from_bytes(message[end + 3 : end + 5], "big"))
    return 512


def answer(asked: Asked, flags: int = 0, records: Iterable[bytes] = ()) -> bytes:
    """An authoritative answer that repeats the question byte by byte; of the records, those that fit in."""
    question = asked.message[12 : asked.end]
    fitting: list[bytes] = []
    size = 12 + len(question)
    for record in filter(None, records):
        size += len(record)
        if size > _MESSAGE:
            break
        fitting.append(record)
    desired = 0x8480 | (asked.message[2] & 1) << 8 | flags
    head = struct.pack("!HHHHH", desired, bool(question), len(fitting), 0, 0)
    return asked.message[:2] + head + question + b"".join(fitting)


def address_record(asked: Asked, owner: str, ttl: int, address: str) -> bytes:
    """An address, or nothing if it is of another kind than asked for."""
    parsed = ipaddress.ip_address(address)
    if asked.kind != (A if parsed.version == 4 else AAAA):
        return b""
    return _record(asked, owner, asked.kind, ttl, parsed.packed)


def alias_record(asked: Asked, owner: str, ttl: int, alias: str) -> bytes:
    """A CNAME record in wire format."""
    return _record(asked, owner, CNAME, ttl, _name(alias))


def _record(asked: Asked, owner: str, kind: int, ttl: int, data: bytes) -> bytes:
    name = _ASKED if owner == asked.name else _name(owner)
    return name + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


def _name(name: str) -> bytes:
    return b"".join(bytes((len(label),)) + label.encode("ascii") for label in name.split(".")) + b"\0"
