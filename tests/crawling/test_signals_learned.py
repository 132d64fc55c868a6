"""Who tells the truth is believed, and who lies is not: two sites alike but for the dates in their sitemaps."""

import asyncio
import math
import random
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from live_world import PACED, running_with
from small_site import Answer, Site

from gossamer.assembly.folder import CrawlFolder
from gossamer.policy.revisit.trust import Source, Trust, trust_of
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import decode_host

pytestmark = pytest.mark.slow

DAY = 86_400.0
SPEED = DAY
"""A day passes in a second: the twelve visits of a day are made in time on a busy machine, too, or all come late."""
PAGES, BUSY = 30, 10
EVERY = 4 * DAY
"""Between two changes of a busy page; the others never change."""
WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "ivory", "jetty", "kelp"]


def _news(count: int, page: int) -> str:
    """What a page says after so many changes: something more each time, for numbers alone would be a clock."""
    said = (" ".join(random.Random(f"{page} {one}").choices(WORDS, k=9)) for one in range(count))
    return "".join(f"<p>The page {page} tells of {one}" for one in said)


class Changing:
    """A site whose pages change by a clock that goes faster, with a sitemap."""

    def __init__(self, origin: float, *, lies: bool) -> None:
        self._origin = origin
        self._lies = lies
        self.seen: dict[int, list[tuple[float, float]]] = {}
        """Visits of busy pages: when, and when the version that they saw was made."""

    def now(self) -> float:
        return self._origin + (time.time() - self._origin) * SPEED

    def changed(self, page: int, now: float) -> float:
        """When a page has changed last."""
        if page >= BUSY:
            return self._origin
        offset = self._origin + EVERY * page / BUSY
        return max(self._origin, offset + math.floor((now - offset) / EVERY) * EVERY)

    def __call__(self, host: str, path: str, _asked: Counter[tuple[str, str]]) -> Answer:
        now = self.now()
        if path == "/sitemap.xml":
            entries = "".join(
                f"<url><loc>http://{host}/{page}</loc><lastmod>{self._date(page, now)}</lastmod></url>"
                for page in range(PAGES)
            )
            return 200, {"Content-Type": "application/xml"}, f"<urlset>{entries}</urlset>"
        if path[1:].isdigit():
            page = int(path[1:])
            made = self.changed(page, now)
            if page < BUSY:
                self.seen.setdefault(page, []).append((now, made))
            count = int((made - self._origin) / EVERY + 1.5)
            return 200, {"Content-Type": "text/html"}, f"<h1>The page {page}</h1>{_news(count, page)}"
        if path == "/":
            return 200, {"Content-Type": "text/html"}, "<p>Nothing leads from here"
        return 404, {"Content-Type": "text/plain"}, "no"

    def _date(self, page: int, now: float) -> str:
        made = now - page if self._lies else self.changed(page, now)
        return datetime.fromtimestamp(made, UTC).isoformat()

    def delay(self, until: float) -> float:
        """Days, on the mean, from a change of a busy page until a visit sees it."""
        delays = []
        for page in range(BUSY):
            moment = self._origin + EVERY * page / BUSY + EVERY
            while moment < until:
                noticed = next((at for at, _ in self.seen.get(page, []) if at >= moment), until)
                delays.append((noticed - moment) / DAY)
                moment += EVERY
        return sum(delays) / len(delays)


def trust(folder: Path, name: str) -> Trust:
    """What the crawl has learned of a host's sitemap."""
    with_state = Environment.open(CrawlFolder(folder).state, StateConfig())
    try:
        hosts = [decode_host(data) for _, data in with_state.scan(Family.HOSTS)]
    finally:
        with_state.close()
    [host] = [host for host in hosts if host.name == name]
    return trust_of(host.trusts, Source.SITEMAP)


def test_trust_is_learned_and_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = time.time()
    monkeypatch.setenv("GOSSAMER_CLOCK", f"{SPEED}@{origin}")
    honest, liar = Changing(origin, lies=False), Changing(origin, lies=True)

    stories: list[str] = []

    async def run() -> None:
        with Site(honest) as one, Site(liar, "127.0.0.2") as other:
            settings = PACED | {
                "seeds": [one.address, other.address],
                "scope.mode": "host",
                "politeness.min_delay": 0.005,
                "engine.guess_sitemap": True,
                "revisit.enabled": True,
                "revisit.visits": 12.0,
            }
            async with running_with(tmp_path / "c", settings) as live:
                await live.until(lambda status: status["sums"]["visits"] >= 350)
                urls = f"{one.address}1", f"{other.address}sitemap.xml"
                stories.extend([(await live.ask("why", url=url))["text"] for url in urls])

    asyncio.run(run())
    until = honest.now()
    true, false = trust(tmp_path / "c", "127.0.0.1"), trust(tmp_path / "c", "127.0.0.2")
    assert (true.lies, false.told) == (0, 0.0)
    assert true.right > true.wrong
    assert true.told > 0.3
    assert false.lies > 0
    assert "of the changes are told of" in stories[0]
    assert "dates are not believed" in stories[1]
    assert honest.delay(until) < 0.8 * liar.delay(until)
