"""Bounds what each address may tell us."""

from collections import OrderedDict

_MOST = 10_000
"""Addresses that are remembered; whoever has been quiet longest is forgotten."""


class Allowance:
    """A number of requests each minute, which an address may also make at once."""

    def __init__(self, per_minute: int) -> None:
        self._rest = 60.0 / per_minute
        self._free_at: OrderedDict[str, float] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """Seconds until the address may ask again; 0: it may, and has."""
        free = max(self._free_at.get(address, now), now)
        if free - now > 60.0 - self._rest:
            return free - now - (60.0 - self._rest)
        self._free_at[address] = free + self._rest
        self._free_at.move_to_end(address)
        if len(self._free_at) > _MOST:
            self._free_at.popitem(last=False)
        return 0.0
