"""Shows how a crawl is going: a live table on a terminal, plain lines elsewhere."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gossamer.cli.terminal.printing import duration, safe, say, size
from gossamer.cli.terminal.trouble import Troubles
from gossamer.dns.statistics import NameStatistics
from gossamer.engine.crawl import Crawl
from gossamer.frontier.config import Census
from gossamer.frontier.queues.host_schedule import NEVER

if TYPE_CHECKING:
    from rich.table import Table

REFRESH_SECONDS = 0.5
PLAIN_SECONDS = 10.0
RATE_WINDOW = 20
MOST_NAMED = 4
REFUSED = "refused: "
STYLES = {
    "pages": "bold green",
    "failures": "red",
    "trouble": "yellow",
    "paused": "bold yellow",
    "stopping": "bold yellow",
}


class Progress:
    """Reads the sums of a running crawl at intervals; costs the crawl nothing in between."""

    def __init__(self, crawl: Crawl, troubles: Troubles, *, live: bool, reads: bool) -> None:
        """`reads`: documents are read beside the crawl, and waited for at its end."""
        self._crawl = crawl
        self._reads = reads
        self._troubles = troubles
        self._live = live
        self._points: deque[tuple[float, int, int]] = deque(maxlen=RATE_WINDOW)
        self._note_point()

    async def run(self) -> None:
        """Show how the crawl is going until cancelled."""
        if self._live:
            with contextlib.suppress(OSError):  # the terminal was closed
                await self._run_live()
            return
        while True:
            await asyncio.sleep(PLAIN_SECONDS)
            say("; ".join(f"{name} {value}" for name, value in self._figures()))

    async def _run_live(self) -> None:
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
            while True:
                live.update(self._table(), refresh=True)
                await asyncio.sleep(REFRESH_SECONDS)

    def _note_point(self) -> tuple[float, float]:
        """Pages and bytes a second over the last points."""
        counters = self._crawl.parts.ledger.counters
        now = time.monotonic()
        self._points.append((now, counters.pages, counters.bytes))
        then, pages, received = self._points[0]
        span = max(now - then, 0.2)
        return (counters.pages - pages) / span, (counters.bytes - received) / span

    def _figures(self) -> list[tuple[str, str]]:
        parts = self._crawl.parts
        counters = parts.ledger.counters
        rate, speed = self._note_point()
        hosts = parts.frontier.census()
        waiting = f", {counters.waiting:,} waiting for a time of their own" if counters.waiting else ""
        parked = f", {counters.hosts_parked:,} parked" if counters.hosts_parked else ""
        figures = [
            ("pages", f"{counters.pages:,} ({rate:.1f}/s)"),
            ("received", f"{size(counters.bytes)} ({size(speed)}/s)"),
            ("queued", f"{counters.queued - counters.aside:,}{waiting}"),
            ("hosts", f"{counters.hosts:,} ({hosts.lent} in visit, {hosts.resting} resting{parked})"),
            ("names", _names(parts.ledger.names, hosts.awaiting_names)),
            ("time", duration(parts.ledger.seconds)),
        ]
        if parts.pace.on:
            figures.append(("again", self._again()))
        faults, refused = _faults(counters.faults)
        figures += [("failures", faults)] if faults else []
        figures += [("refused", refused)] if refused else []
        left = _left(counters.queued, hosts, rate)
        if parts.dispatch.ended:
            figures.append(("stopping", _stopping(hosts.lent, reads=self._reads)))
        elif parts.dispatch.paused:
            figures.append(("paused", "nothing more is asked for; 'gossamer unpause' and the folder goes on"))
        elif left:
            figures.append(("left", left))
        if trouble := self._troubles.last():
            figures.append(("trouble", safe(trouble)))
        return figures

    def _again(self) -> str:
        """How visits again fare. The crawl goes on though nothing is due just now."""
        parts = self._crawl.parts
        sums, pages = parts.pace.record, parts.ledger.counters.enrolled
        said = f"{sums.visits:,} visits, {sums.changed:,} found a change; {pages:,} pages wait"
        now, due = parts.frontier.micros(), parts.frontier.next_due()
        if parts.frontier.lent or not now < due < NEVER or not parts.pace.waits:
            return said
        return f"{said}, next in at most {duration((due - now) / 1e6)}; Ctrl-C ends it"

    def _table(self) -> "Table":
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", justify="right")
        table.add_column(overflow="fold")
        for name, value in self._figures():
            table.add_row(name, Text(value, STYLES.get(name, "")))
        return table


def _names(names: NameStatistics, awaited: int) -> str:
    failed = sum(names.failures.values())
    return (
        f"{names.resolutions:,} resolved"
        + (f", {failed:,} of them failed" if failed else "")
        + (f", {awaited:,} awaited" if awaited else "")
    )


def _faults(counts: Mapping[str, int]) -> tuple[str, str]:
    """What failed most, and what we were not to visit by which rule."""
    most = sorted(counts.items(), key=lambda item: -item[1])
    refused = [(name.removeprefix(REFUSED), count) for name, count in most if name.startswith(REFUSED)]
    failed = [(name, count) for name, count in most if not name.startswith(REFUSED)]
    return _listed(failed), _listed(refused)


def _listed(counts: list[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts[:MOST_NAMED])


def _left(queued: int, hosts: Census, rate: float) -> str:
    """Time for what is queued now: no faster than at the present rate, nor than its largest host allows."""
    if not queued:
        return ""
    polite = hosts.largest_queue * hosts.largest_rest
    seconds = max(polite, queued / rate if rate else 0.0)
    if not seconds:
        return ""
    bound = ""
    if polite >= seconds:
        bound = f": {safe(hosts.largest_name)} rests {hosts.largest_rest:.1f} s after each visit"
    return f"at least {duration(seconds)}{bound}"


def _stopping(lent: int, *, reads: bool) -> str:
    if not lent:
        last = ", and reading the last documents; Ctrl-C leaves these to 'gossamer index'" if reads else ""
        return f"writing the index and a checkpoint{last}"
    return f"finishing {lent:,} visit{'' if lent == 1 else 's'}; Ctrl-C again stops at once"
