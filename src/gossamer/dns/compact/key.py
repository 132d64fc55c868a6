"""The key of a name: 76 bits, the top-level domain first (D2, D3).

| bits | |
|---|---|
| 12 | code of the last label, `ESCAPE` if the table does not know it |
| 32 | murmur3_32 of the registrable part: `example.co` of `www.example.co.uk` |
| 32 | murmur3_32 of the rest: `www`; with the last label behind it where that has no code |

Packed into ten bytes, big-endian, the last four bits 0. So byte order is the order of the numbers, all
names under a top-level domain are one range, and so are all names of one registrable domain. Names are
hashed: what lies in a range can be counted and its addresses read, but not its names.
"""

import mmh3
import msgspec

from gossamer.dns.compact.suffixes import Rules, installed_rules, public_suffix
from gossamer.dns.compact.table import ESCAPE, TldTable, tld_table

KEY_BITS = 76
KEY_BYTES = 10
_SPARE_BITS = 8 * KEY_BYTES - KEY_BITS
_TLD_SHIFT = 64 + _SPARE_BITS
_PART_SHIFT = 32 + _SPARE_BITS


class Parts(msgspec.Struct, frozen=True, gc=False):
    """A name in three: `uk`, `example.co`, `www`. Of a public suffix all but the last label is the part."""

    tld: str
    registrable: str
    rest: str


class KeyRange(msgspec.Struct, frozen=True, gc=False):
    """Keys from `low` to before `high`."""

    low: bytes
    high: bytes


class Keys:
    """Makes keys of names in lower-case ASCII without final dot."""

    def __init__(self, table: TldTable | None = None, rules: Rules | None = None) -> None:
        self.table = table or tld_table()
        self._codes = self.table.codes
        self._rules = rules or installed_rules()

    def parts(self, name: str) -> Parts:
        """The top-level domain, the domain and the rest of a name."""
        front, _, tld = name.rpartition(".")
        suffix = public_suffix(name, self._rules)
        before = len(name) - len(suffix) - 1
        if before < 0 or not front:
            return Parts(tld, front, "")
        dot = name.rfind(".", 0, before)
        return Parts(tld, front[dot + 1 :], front[: max(0, dot)])

    def key(self, name: str) -> bytes:
        """The name's key, `KEY_BYTES` long. Other names may have the same."""
        parts = self.parts(name)
        code = self._codes.get(parts.tld, ESCAPE)
        rest = parts.rest if code else f"{parts.rest}.{parts.tld}"
        number = (
            code << _TLD_SHIFT
            | mmh3.hash(parts.registrable, 0, False) << _PART_SHIFT
            | mmh3.hash(rest, 0, False) << _SPARE_BITS
        )
        return number.to_bytes(KEY_BYTES, "big")

    def range(self, domain: str) -> KeyRange:
        """Keys of all names under `domain`, itself included.

        Args:
            domain: empty for all names, a top-level domain, or a registrable domain. Of any other name
                there is only its own key. Under a top-level domain that has no code lie the names of all
                that have none; names under `example.unknown` lie with those under `example.unheard-of`.
        """
        if not domain:
            return _range(0, 1 << 8 * KEY_BYTES)
        parts = self.parts(domain)
        code = self._codes.get(parts.tld, ESCAPE)
        low = code << _TLD_SHIFT
        if not parts.registrable:
            return _range(low, 1 << _TLD_SHIFT)
        if parts.rest or public_suffix(domain, self._rules) == domain:
            key = self.key(domain)
            return _range(int.from_bytes(key, "big"), 1 << _SPARE_BITS)
        return _range(low | mmh3.hash(parts.registrable, 0, False) << _PART_SHIFT, 1 << _PART_SHIFT)

    def tld(self, key: bytes) -> str:
        """The top-level domain of a key; empty if it has no code."""
        code = key[0] << 4 | key[1] >> 4
        return self.table.names[code] if code < len(self.table.names) else ""


def _range(low: int, width: int) -> KeyRange:
    high = low + width
    # The last range of all ends behind the last key, where ten bytes do not reach.
    end = b"\xff" * (KEY_BYTES + 1) if high >> 8 * KEY_BYTES else high.to_bytes(KEY_BYTES, "big")
    return KeyRange(low.to_bytes(KEY_BYTES, "big"), end)
