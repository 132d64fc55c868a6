"""Draws URLs evenly from a state too large to be read: hosts by their size, of each some by their hash."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES

T = TypeVar("T")


class Draws:
    """Draws systematically from things that come one after the other, in proportion to their sizes.

    Args:
        step: size for which one draw stands.
    """

    def __init__(self, step: float) -> None:
        self._step = step
        self._passed = step / 2

    def of(self, size: float) -> int:
        """How many draws fall to the next thing."""
        self._passed += size
        draws, self._passed = divmod(self._passed, self._step)
        return int(draws)


def by_hash(
    environment: Environment,
    family: Family,
    host: bytes,
    draws: int,
    wanted: Callable[[bytes], T | None],
    tries: int,
) -> Iterator[T]:
    """What `wanted` makes of some values of a host, evenly over the hashes of their URLs.

    Args:
        family: of which keys are a host's hash and a URL's.
        wanted: gives `None` for a value that does not count.
        tries: values looked at for one that does.
    """
    for number in range(draws):
        start = int((number + 0.5) / draws * 2**64).to_bytes(HASH_BYTES, "big")
        for tried, (_, value) in enumerate(environment.scan(family, host + start, host), 1):
            if (found := wanted(value)) is not None:
                yield found
            if found is not None or tried == tries:
                break
