"""What `status` answers: state, sums and rates of a crawl, running or stopped."""

from typing import Any

import msgspec

from gossamer.assembly.report import Summary
from gossamer.assembly.twins import TwinSites
from gossamer.control.socket.protocol import Nothing
from gossamer.control.speedometer import Rates
from gossamer.control.views.context import ViewContext
from gossamer.control.views.freshness_views import freshness
from gossamer.fetch.proxies import ProxySeen
from gossamer.inspect.freshness import FreshnessSums
from gossamer.inspect.lag import Lag
from gossamer.model.reasons.reason import Reason, sentence


class Workers(msgspec.Struct, frozen=True):
    """How many visits may go on at once, and how many do."""

    wanted: int = 0
    busy: int = 0


class LiveStatus(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl at a glance.

    Attributes:
        state: `running`, `pausing` (what is lent is being finished), `paused`, `stopping` or `stopped`.
        reason: why it is not running; `why` is the same as a value.
        started: wall time of the session's start; 0 if it is stopped.
        seconds: spent crawling, over all sessions; a pause is none.
        sums: as in `report.json`.
        hosts_by_state: of all hosts; an estimate if `hosts_estimated`.
        rates, rates_minute: over the last 10 s, and the last minute.
        limits: settings in force that bound the crawl, by their paths.
        ceilings: what `set` may not exceed; `None` for no ceiling.
        lent: URLs out with workers.
        held_by: what the crawl itself waits for, empty if nothing; `held_why` is the same as a value.
        memory_bytes, open_files: of the process; 0 if it is stopped.
        freshness: how fresh it is; `None` of a crawl that visits no page again.
        twins: names that show one site.
        followers: how far what is made of its archive is behind: tables, words, near-duplicates, the store.
        proxies: those that visits of this session go by, without user and password, the ones in trouble first.
    """

    folder: str
    state: str
    reason: str = ""
    why: Reason | None = None
    pid: int = 0
    started: float = 0.0
    seconds: float = 0.0
    workers: Workers = Workers()
    sums: Summary
    hosts_by_state: dict[str, int] = {}
    hosts_estimated: bool = False
    rates: Rates = Rates()
    rates_minute: Rates = Rates()
    limits: dict[str, Any] = {}
    ceilings: dict[str, int | None] = {}
    lent: int = 0
    held_by: str = ""
    held_why: Reason | None = None
    memory_bytes: int = 0
    open_files: int = 0
    freshness: FreshnessSums | None = None
    twins: list[TwinSites] = []
    followers: list[Lag] = []
    proxies: list[ProxySeen] = []


def followers(look: ViewContext, _: object = None) -> list[Lag]:
    """How far what is made of the archive is behind."""
    return look.kept("followers", lambda: look.inspection().followers())


def status(look: ViewContext, _: Nothing) -> LiveStatus:
    """A stopped crawl at a glance."""
    inspection = look.inspection()
    sums = inspection.sums()
    count = look.census.look()
    return LiveStatus(
        folder=str(look.folder.path),
        state="stopped",
        reason=sentence(inspection.ended),
        why=inspection.ended,
        seconds=sums.seconds,
        sums=sums,
        hosts_by_state=count.scaled(sums.hosts),
        hosts_estimated=not count.complete,
        freshness=freshness(look, Nothing()).sums,
        twins=inspection.twins(),
        followers=followers(look),
    )
