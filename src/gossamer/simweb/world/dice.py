"""Dice that fall the same way on every machine, Python version and run."""

from collections.abc import Sequence
from hashlib import blake2b, shake_128
from struct import unpack
from typing import TypeVar

_WORDS = 32  # dealt at a time
T = TypeVar("T")


def fingerprint(*key: int | str) -> int:
    """64 bits that depend on nothing but `key`."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "little")


class Dice:
    """Numbers cut from SHAKE-128 of any key.

    Python's own `random` promises equal numbers across versions for `random()` only and costs more
    to seed than a page needs; a generator written in Python takes 0.4 us a number, this 0.15.
    """

    __slots__ = ("_key", "_turn", "_words")

    def __init__(self, *key: int | str) -> None:
        self._key = repr(key)
        self._turn = 0
        self._words: list[int] = []

    def roll(self) -> int:
        """The next 64 bits of chance."""
        if not self._words:
            digest = shake_128(f"{self._turn}{self._key}".encode()).digest(8 * _WORDS)
            self._words.extend(unpack(f"<{_WORDS}Q", digest))
            self._turn += 1
        return self._words.pop()

    def below(self, limit: int) -> int:
        """A number from 0 to `limit - 1`."""
        return self.roll() % limit

    def chance(self, share: float) -> bool:
        """True in `share` (0 to 1) of all rolls."""
        return self.roll() < share * (1 << 64)

    def pick(self, choices: Sequence[T]) -> T:
        """One of `choices`, each as likely."""
        return choices[self.roll() % len(choices)]

    def near(self, mean: int) -> int:
        """A number from half of `mean` to one and a half of it; its mean is `mean`."""
        return mean - mean // 2 + self.roll() % (2 * (mean // 2) + 1)
