"""Chooses a visit's proxy among those of its place, and leaves out for a while those that cannot be used.

A site keeps its proxy, so that a session stays whole and nobody sees it wander: the choice is a rendezvous hash,
which moves only the sites of a proxy that is left out, and back when it is there again. What an origin answers is
never asked about here: a 429 or 403 changes no way.
"""

import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from urllib.parse import urlsplit

import msgspec

from gossamer.model.outcome import Failed, Fault
from gossamer.policy.urls.registrable import registrable_domain

PATIENCE = 3
"""Failures in a row after which a proxy is left out."""
FIRST_REST, LONGEST_REST = 30.0, 600.0
"""Seconds that it is left out for; doubled each time it fails when it is tried again."""
TRIAL = 10.0
"""Seconds for which one visit alone tries a proxy that was left out."""
SOON = 1.0
"""Seconds after which a visit is made again that its proxy has failed."""
_MOST_SHOWN = 100


class ProxySeen(msgspec.Struct, frozen=True):
    """A proxy as people may see it.

    Attributes:
        proxy: scheme, host and port, without user and password.
        failures: in a row.
        left_out: seconds until it is tried again; 0 if it is in use.
    """

    proxy: str
    failures: int = 0
    left_out: float = 0.0


class _Trouble(msgspec.Struct):
    """Failures of a proxy in a row; times are monotonic seconds."""

    failures: int = 0
    rest: float = 0.0
    since: float = 0.0
    until: float = 0.0


class Proxies:
    """Health of all proxies of a crawl; forgotten when it ends.

    Bounded by the settings: there is an entry for each list of proxies that a place names.

    Args:
        tell: called with one line when a proxy is left out that was in use.
        now: monotonic seconds.
    """

    def __init__(
        self, tell: Callable[[str], None] = lambda _: None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell = tell
        self._now = now
        self._lists: dict[tuple[str, ...], None] = {}
        self._troubles: dict[str, _Trouble] = {}

    def choose(self, listed: tuple[str, ...], host: str) -> str | Failed:
        """The proxy for visits of `host`, empty if none is listed; or how long to wait, as none can be used."""
        if not listed:
            return ""
        self._lists[listed] = None
        ready: Sequence[str] = listed
        if self._troubles:
            now = self._now()
            ready = [proxy for proxy in listed if self._until(proxy) <= now]
            if not ready:
                wait = max(SOON, min(map(self._until, listed)) - now)
                return Failed(Fault.PROXY_DOWN, ", ".join(map(shown, listed))[:200], wait=wait)
        chosen = ready[0] if len(ready) == 1 else max(ready, key=_weights(registrable_domain(host)))
        trouble = self._troubles.get(chosen)
        if trouble is not None and trouble.rest:
            trouble.until = self._now() + TRIAL  # others go on as before until it is known
        return chosen

    def stood(self, proxy: str) -> None:
        """A visit came through it."""
        if self._troubles:
            self._troubles.pop(proxy, None)

    def failed(self, proxy: str, began: float, failed: Failed) -> Failed:
        """Note that a visit that began at `began` found no way by it; the same with the time to wait."""
        trouble = self._troubles.setdefault(proxy, _Trouble())
        if began >= trouble.since:  # else it says what is known
            trouble.failures += 1
            if trouble.failures >= PATIENCE:
                if not trouble.rest:
                    self._tell(f"{shown(proxy)} is left out for a while: {failed.detail}")
                trouble.rest = min(2 * trouble.rest or FIRST_REST, LONGEST_REST)
                trouble.since = self._now()
                trouble.until = trouble.since + trouble.rest
        return msgspec.structs.replace(failed, detail=f"{shown(proxy)}: {failed.detail}", wait=SOON)

    def seen(self) -> list[ProxySeen]:
        """Those that were asked for so far, the ones in trouble first; at most 100."""
        now, known = self._now(), {proxy for listed in self._lists for proxy in listed}
        everyone = [
            ProxySeen(shown(proxy), trouble.failures, round(max(0.0, trouble.until - now), 1))
            for proxy in known
            for trouble in (self._troubles.get(proxy, _Trouble()),)
        ]
        return sorted(everyone, key=lambda one: (-one.left_out, -one.failures, one.proxy))[:_MOST_SHOWN]

    def _until(self, proxy: str) -> float:
        trouble = self._troubles.get(proxy)
        return 0.0 if trouble is None else trouble.until


def shown(proxy: str) -> str:
    """Scheme, host and port of a proxy: what may stand in logs."""
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _weights(site: str) -> Callable[[str], bytes]:
    return lambda proxy: blake2b(f"{site} {proxy}".encode(), digest_size=8).digest()
