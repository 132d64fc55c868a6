"""Shows how a crawl is going: a live table on a terminal, plain lines elsewhere."""

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from gossamer.cli.printing import duration, safe, say, size
from gossamer.engine.crawl import Crawl

if TYPE_CHECKING:
    from rich.table import Table

REFRESH_SECONDS = 0.5
PLAIN_SECONDS = 10.0
RATE_WINDOW = 20


class Progress:
    """Reads the sums of a running crawl at intervals; costs the crawl nothing in between."""

    def __init__(self, crawl: Crawl, *, live: bool) -> None:
        self._crawl = crawl
        self._live = live
        self._points: deque[tuple[float, int, int]] = deque(maxlen=RATE_WINDOW)

    async def run(self) -> None:
        """Show until cancelled."""
        if self._live:
            await self._run_live()
            return
        while True:
            await asyncio.sleep(PLAIN_SECONDS)
            say(", ".join(f"{name} {value}" for name, value in self._figures()))

    async def _run_live(self) -> None:
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), auto_refresh=False, transient=True) as live:
            while True:
                live.update(self._table(), refresh=True)
                await asyncio.sleep(REFRESH_SECONDS)

    def _figures(self) -> list[tuple[str, str]]:
        parts = self._crawl.parts
        counters = parts.ledger.counters
        now = time.monotonic()
        self._points.append((now, counters.pages, counters.bytes))
        first = self._points[0]
        span = now - first[0]
        rate = (counters.pages - first[1]) / span if span > 0.2 else 0.0
        speed = (counters.bytes - first[2]) / span if span > 0.2 else 0.0
        hosts = parts.frontier.census()
        figures = [
            ("pages", f"{counters.pages:,}"),
            ("pages/s", f"{rate:.1f}"),
            ("bytes", f"{size(counters.bytes)} ({size(speed)}/s)"),
            ("queued", f"{counters.queued:,}"),
            ("waiting", f"{counters.waiting:,}"),
            (
                "hosts",
                f"{counters.hosts:,} ({hosts.resting} resting, {hosts.lent} in visit, "
                f"{counters.hosts_parked} parked)",
            ),
            ("time", duration(counters.seconds)),
        ]
        if counters.faults:
            worst = sorted(counters.faults.items(), key=lambda item: -item[1])[:4]
            figures.append(("failures", ", ".join(f"{name} {count}" for name, count in worst)))
        left = _time_left(counters.queued, hosts.largest_queue, hosts.largest_rest, rate)
        if left is not None:
            bound = f", bound by {safe(hosts.largest_name)}" if hosts.largest_rest else ""
            figures.append(("left", f"at least {duration(left)} for what is queued{bound}"))
        return figures

    def _table(self) -> "Table":
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", justify="right")
        table.add_column()
        for name, value in self._figures():
            table.add_row(name, value)
        return table


def _time_left(queued: int, largest_queue: int, largest_rest: float, rate: float) -> float | None:
    """Seconds for what is queued now: no faster than at the present rate, nor than its largest host allows."""
    if not queued:
        return None
    polite = largest_queue * largest_rest
    return max(polite, queued / rate) if rate else (polite or None)
