"""The value of a name: when it expires, its time to live, a check over the full name, its addresses, its aliases.

| bytes | |
|---|---|
| 4 | expiry, seconds since 1970 |
| 2 | time to live in minutes |
| 6 | keyed check over the full name |
| 4 or 16 | the one address, as an integer |

Of several addresses each has a byte in front that says how long it is, so that they keep their order; no
such row is 4 or 16 bytes long. Where aliases are kept even one address has that byte, and behind the addresses stand
a 0, which no length is, and the names with blanks between, one more blank if it would be 16 bytes. All numbers are
big-endian.
"""

import socket
import struct

import msgspec

CHECK_BYTES = 6
"""Of a thousand million names crafted to have another's key, one in 280,000 runs would see one believed."""
MAX_MINUTES = (1 << 16) - 1
MAX_ADDRESSES = 256
_LAST_SECOND = (1 << 32) - 1
_HEAD = struct.Struct(f">IH{CHECK_BYTES}s")
_V4, _V6 = 4, 16


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A value, unpacked.

    Attributes:
        expires: wall time in seconds from which the answer is old.
        minutes: time to live that it had, rounded down.
        check: `CHECK_BYTES` of a keyed hash of the full name.
        addresses: numeric, in the order to try.
        aliases: names that the CNAMEs led to; `None` where that was not kept.
    """

    expires: int
    minutes: int
    check: bytes
    addresses: tuple[str, ...]
    aliases: tuple[str, ...] | None = None

    @property
    def ttl(self) -> int:
        """Seconds; a time to live under a minute is not told from none."""
        return self.minutes * 60

    def credible(self, now: float) -> bool:
        """Whether the wall clock has not gone back to before the answer, whose age could not be told then."""
        return self.expires - now <= (self.minutes + 1) * 60


def pack_entry(
    now: float,
    ttl: float,
    check: bytes,
    addresses: tuple[str, ...],
    aliases: tuple[str, ...] | None = None,
) -> bytes | None:
    """The value of an answer given at wall time `now`; `None` if there is no address, or one is none.

    Expiry and time to live are rounded down: no answer lives longer than it may.
    """
    ttl = min(ttl, MAX_MINUTES * 60)
    head = _HEAD.pack(min(int(now + ttl), _LAST_SECOND), int(ttl // 60), check)
    try:
        packed = [_pack_address(address) for address in addresses[:MAX_ADDRESSES]]
    except OSError:
        return None
    if not packed:
        return None
    if len(packed) == 1 and aliases is None:
        return head + packed[0]
    row = b"".join(bytes((len(address),)) + address for address in packed)
    if aliases is not None:
        row += b"\0" + " ".join(aliases).encode()
        row += b" " if len(row) == _V6 else b""
    return head + row


def unpack_entry(value: bytes) -> Entry | None:
    """What the value says; `None` if it is not one of ours."""
    if len(value) < _HEAD.size + _V4:
        return None
    expires, minutes, check = _HEAD.unpack_from(value)
    addresses, aliases = _unpack_row(value[_HEAD.size :])
    return Entry(expires, minutes, check, addresses, aliases) if addresses else None


def expiry(value: bytes) -> int:
    """Only the expiry of a value; 0, long over, if it is not one of ours."""
    return int.from_bytes(value[:4], "big") if len(value) >= _HEAD.size else 0


def _pack_address(address: str) -> bytes:
    return socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)


def _unpack_row(packed: bytes) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Addresses, none if the row is not one of ours, and aliases."""
    if len(packed) == _V4:
        return (socket.inet_ntop(socket.AF_INET, packed),), None
    if len(packed) == _V6:
        return (socket.inet_ntop(socket.AF_INET6, packed),), None
    addresses: list[str] = []
    at = 0
    while at < len(packed):
        size = packed[at]
        if not size:
            return tuple(addresses), tuple(packed[at + 1 :].decode("ascii", "replace").split())
        address = packed[at + 1 : at + 1 + size]
        if size not in (_V4, _V6) or len(address) != size:
            return (), None
        addresses.append(socket.inet_ntop(socket.AF_INET if size == _V4 else socket.AF_INET6, address))
        at += 1 + size
    return tuple(addresses), None
