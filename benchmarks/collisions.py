"""Names made to have another name's key: murmur3_32 has no key, so its last block can be solved for."""

import struct
from itertools import count, product

import mmh3

ALPHABET = b"abcdefghijklmnopqrstuvwxyz0123456789"
_MASK = 0xFFFF_FFFF
_C1, _C2, _ADDED = 0xCC9E2D51, 0x1B873593, 0xE6546B64


def _left(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _MASK


def _inverse(number: int) -> int:
    return pow(number, -1, 1 << 32)


_C1_BACK, _C2_BACK, _FIVE_BACK = _inverse(_C1), _inverse(_C2), _inverse(5)
_MIX1_BACK, _MIX2_BACK = _inverse(0x85EBCA6B), _inverse(0xC2B2AE35)


def _state(blocks: bytes) -> int:
    """murmur3_32's state after whole blocks."""
    state = 0
    for (block,) in struct.iter_unpack("<I", blocks):
        state ^= _left(block * _C1 & _MASK, 15) * _C2 & _MASK
        state = (_left(state, 13) * 5 + _ADDED) & _MASK
    return state


def _before_end(target: int, length: int) -> int:
    """What the state must be, with the last block mixed in, for `length` bytes to have the hash `target`."""
    state = target ^ target >> 16
    state = state * _MIX2_BACK & _MASK
    state ^= state >> 13 ^ state >> 26
    state = state * _MIX1_BACK & _MASK
    state ^= state >> 16
    state ^= length
    return _left((state - _ADDED) * _FIVE_BACK & _MASK, 19)


def colliding_label(target: int, serial: int) -> str:
    """A label of twelve letters and digits whose murmur3_32 is `target`; another for each serial."""
    wanted = _before_end(target, 12)
    allowed = frozenset(ALPHABET)
    for number in count():
        head = bytes(_digits(serial * 1_000_003 + number))
        mixed = (wanted ^ _state(head)) & _MASK
        block = _left(mixed * _C2_BACK & _MASK, 17) * _C1_BACK & _MASK
        last = block.to_bytes(4, "little")
        if allowed.issuperset(last):
            label = (head + last).decode("ascii")
            assert mmh3.hash(label, 0, False) == target
            return label
    raise AssertionError("counting does not end")


def _digits(number: int) -> list[int]:
    places = []
    for _ in range(8):
        number, digit = divmod(number, len(ALPHABET))
        places.append(ALPHABET[digit])
    return places


def crafted(victim: str, number: int) -> list[str]:
    """`number` other names with the key of `victim`, which looks like `www.bank.com`.

    Made labels stand for its first, for its second, or for both.
    """
    rest, registrable, tld = victim.split(".")
    half = max(1, int(number**0.5))
    rests = [rest, *(colliding_label(mmh3.hash(rest, 0, False), serial) for serial in range(half))]
    domains = [
        registrable,
        *(colliding_label(mmh3.hash(registrable, 0, False), serial + half) for serial in range(half)),
    ]
    return [f"{rest}.{domain}.{tld}" for rest, domain in product(rests, domains)][1 : number + 1]
