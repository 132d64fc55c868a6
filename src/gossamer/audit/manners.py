"""Lets one request at a time go to each host, and the host rest after it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from gossamer.frontier.gates.shared_rests import Return, SharedRests
from gossamer.policy.visits.politeness import PolitenessConfig, rest_after

__all__ = ["HostTurn", "Manners"]

MOST_HOSTS = 10_000
"""Hosts that are remembered; those that have rested are forgotten first."""
CLOSED_AFTER = 2
"""Answers in a row by which a host asks for more patience than we have, before it is left alone."""


class HostTurn:
    """One request to a host: who makes it says how long it took, and what the host asks for."""

    def __init__(self) -> None:
        self.elapsed = 0.0
        self.asked_for = 0.0
        self.crawl_delay: float | None = None


class _Host:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.due = 0.0
        self.used = 0
        self.throttled = 0


class Manners:
    """The politeness of one audit.

    Args:
        politeness: of hosts that are the crawl's own, by `is_own`; of others with `outside_delay` at least.
        shared: table of rests that crawls of the machine share, if they do.
    """

    def __init__(
        self,
        politeness: PolitenessConfig,
        is_own: Callable[[str], bool],
        outside: PolitenessConfig,
        shared: SharedRests | None = None,
    ) -> None:
        self._own, self._outside = politeness, outside
        self._is_own = is_own
        self._shared = shared
        self._hosts: dict[str, _Host] = {}

    def is_closed(self, host: str) -> bool:
        """Whether the host has asked, again and again, to be left alone for long."""
        known = self._hosts.get(host)
        return known is not None and known.throttled >= CLOSED_AFTER

    def note_throttled(self, host: str, *, on: bool) -> None:
        """Whether the last answer of a host asked for more patience than we have."""
        known = self._hosts.get(host)
        if known is not None:
            known.throttled = known.throttled + 1 if on else 0

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[HostTurn]:
        """Wait until the host has rested and nobody asks it, then have it; it rests from the end on."""
        known = self._of(host)
        known.used += 1
        try:
            async with known.lock:
                await self._rested(host, known)
                turn = HostTurn()
                try:
                    yield turn
                finally:
                    rest = max(
                        rest_after(self._politeness(host), turn.elapsed, turn.crawl_delay), turn.asked_for
                    )
                    known.due = asyncio.get_running_loop().time() + rest
                    if self._shared is not None:
                        self._shared.give_back([Return(host, int(rest * 1e6), visited=True)])
        finally:
            known.used -= 1

    def _politeness(self, host: str) -> PolitenessConfig:
        return self._own if self._is_own(host) else self._outside

    async def _rested(self, host: str, known: _Host) -> None:
        now = asyncio.get_running_loop().time
        if known.due > now():
            await asyncio.sleep(known.due - now())
        if self._shared is None:
            return
        rest = int(rest_after(self._politeness(host), 0.0, None) * 1e6)
        # Another process gives no event; and who waits must listen for those who wait for us.
        while wait := self._shared.claim(host, rest, rest, 1):  # noqa: ASYNC110
            await asyncio.sleep(min(wait / 1e6, 1.0))

    def _of(self, host: str) -> _Host:
        known = self._hosts.get(host)
        if known is None:
            if len(self._hosts) >= MOST_HOSTS:
                now = asyncio.get_running_loop().time()
                self._hosts = {
                    name: one
                    for name, one in self._hosts.items()
                    if one.used or one.due > now or one.throttled
                }
            known = self._hosts[host] = _Host()
        return known
