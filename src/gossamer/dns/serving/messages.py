"""Questions of strangers and their answers, in wire format (RFC 1035 4, RFC 6891, RFC 2181).

Nothing is followed: a question has nothing before it that a pointer could lead to, and of the records behind
it only the length matters. So reading takes time that is linear in the message, whatever it holds.
"""

import struct
from collections.abc import Sequence
from enum import IntEnum
from ipaddress import ip_address

import msgspec

A, AAAA, _OPT = 1, 28, 41
IN = 1
HEADER_BYTES = 12
MAX_MESSAGE = 0xFFFF
PAYLOAD = 1_232
"""Bytes of the longest datagram: what IPv6 carries anywhere without fragments, less its headers."""
_LEAST_PAYLOAD = 512
_MAX_NAME = 255
_MAX_LABEL = 63
_ANSWER, _TRUNCATED, _DESIRED, _AVAILABLE = 0x8000, 0x0200, 0x0100, 0x0080
_OPCODE = 0x7800
_ASKED = b"\xc0\x0c"  # the name of the question, compressed
_SPELT = frozenset(range(0x21, 0x7F)) - frozenset(b".\\")
"""Bytes of a label that stand for themselves when it is written as text."""


class Code(IntEnum):
    """How an answer ends (RFC 1035 4.1.1, RFC 6891 6.1.3)."""

    NOERROR = 0
    FORMERR = 1
    SERVFAIL = 2
    NXDOMAIN = 3
    NOTIMP = 4
    REFUSED = 5
    BADVERS = 16


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A message as it was understood.

    Attributes:
        head: its first four bytes.
        code: how it has to be answered whatever the name is; `NOERROR`: that depends.
        question: name, type and class, byte by byte; empty if there is none to repeat.
        name: asked for, lower case, no final dot; empty where no text is spelt like it.
        kind: record type.
        room: bytes that fit into a datagram back.
        edns: whether the message speaks of EDNS, so that the answer must.
    """

    head: bytes
    code: Code
    question: bytes = b""
    name: str = ""
    kind: int = 0
    room: int = _LEAST_PAYLOAD
    edns: bool = False


def read_message(message: bytes) -> Asked | None:
    """What a message asks; `None` if it deserves silence: no header, or an answer (two would never end)."""
    if len(message) < HEADER_BYTES or message[2] & 0x80:
        return None
    head = message[:4]
    if _flags(head) & _OPCODE:
        return Asked(head, Code.NOTIMP)
    malformed = Asked(head, Code.FORMERR)
    questions, answers, authorities, further = struct.unpack_from("!4H", message, 4)
    if questions != 1 or answers or authorities:
        return malformed
    try:
        name, at = _read_name(message)
        kind, class_ = struct.unpack_from("!HH", message, at)
        options = _read_options(message, at + 4, further)
    except (IndexError, struct.error):
        return malformed
    if len(options) > 1:
        return malformed
    code = Code.NOERROR if class_ == IN else Code.REFUSED
    room = _LEAST_PAYLOAD
    for payload, version in options:
        code = Code.BADVERS if version else code
        room = min(max(payload, _LEAST_PAYLOAD), PAYLOAD)
    return Asked(head, code, message[HEADER_BYTES : at + 4], name, kind, room, bool(options))


def write_reply(
    asked: Asked, code: Code, limit: int, addresses: Sequence[str] = (), seconds: float = 0.0
) -> bytes:
    """The answer in at most `limit` bytes; one that would be longer says so, and is empty (RFC 2181 9).

    `addresses` are of the family that was asked for, and may be kept for `seconds`.
    """
    flags = _ANSWER | _AVAILABLE | _flags(asked.head) & (_OPCODE | _DESIRED) | code & 0xF
    packed = [ip_address(address).packed for address in addresses]
    records = b"".join(
        _ASKED + struct.pack("!HHIH", asked.kind, IN, int(seconds), len(each)) + each for each in packed
    )
    options = b""
    if asked.edns:  # the root's name, how much we take, and what of the code has no room in the header
        options = b"\0" + struct.pack("!HHBBHH", _OPT, PAYLOAD, code >> 4, 0, 0, 0)
    if HEADER_BYTES + len(asked.question) + len(records) + len(options) > limit:
        flags |= _TRUNCATED
        packed, records = [], b""
    counts = struct.pack("!5H", flags, bool(asked.question), len(packed), 0, bool(options))
    return asked.head[:2] + counts + asked.question + records + options


def _flags(head: bytes) -> int:
    return int.from_bytes(head[2:4], "big")


def _read_name(message: bytes) -> tuple[str, int]:
    """The question's name as text and where it ends. Raises IndexError if it is no whole plain name."""
    labels, at = [], HEADER_BYTES
    while length := message[at]:
        if length > _MAX_LABEL or at + length + 2 - HEADER_BYTES > _MAX_NAME:
            raise IndexError
        labels.append(message[at + 1 : at + 1 + length])
        at += 1 + length
    plain = all(map(_SPELT.issuperset, labels))
    return b".".join(labels).decode("ascii").lower() if plain else "", at + 1


def _read_options(message: bytes, at: int, records: int) -> list[tuple[int, int]]:
    """Payload and version of each OPT record among the last records; raises IndexError or struct.error."""
    found = []
    for _ in range(records):
        owner = at
        while length := message[at]:
            if length > _MAX_LABEL:  # a pointer, which ends the name; what it leads to does not matter
                at += 1
                break
            at += 1 + length
        kind, class_, ttl, size = struct.unpack_from("!HHIH", message, at + 1)
        if kind == _OPT:
            if message[owner]:
                raise IndexError
            found.append((class_, ttl >> 16 & 0xFF))
        at += 11 + size
        if at > len(message):
            raise IndexError
    return found
