"""Pages that lead to new ones are visited sooner than others that change as often; lists too long to settle at once."""

import asyncio
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from live_world import PACED, running_with
from small_site import Answer, Site

from gossamer.engine.settlement.long_pages import LINKS_AT_ONCE

pytestmark = pytest.mark.slow

DAY = 86_400.0
SPEED = 3 * DAY
ORDINARY = 20
NEW_A_DAY = 4
AGAIN = 150
"""Visits that are enough to tell habits apart: on a busy machine days pass without them."""


def days_since(origin: float) -> float:
    """By a clock that goes three days a second."""
    return (time.time() - origin) * SPEED / DAY


def visited_again(site: Site) -> int:
    """How many visits were not the first of a page."""
    paths = [path for _, path in site.asked]
    return len(paths) - len(set(paths))


def settings(*seeds: str, **more: object) -> dict[str, object]:
    return PACED | {
        "seeds": list(seeds),
        "scope.mode": "host",
        "politeness.min_delay": 0.002,
        "revisit.enabled": True,
        **more,
    }


def test_hubs_weigh_what_they_bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = time.time()
    monkeypatch.setenv("GOSSAMER_CLOCK", f"{SPEED}@{origin}")

    def answer(_host: str, path: str, _asked: Counter[tuple[str, str]]) -> Answer:
        html, day = {"Content-Type": "text/html"}, int(days_since(origin))
        if path == "/":
            names = ["hub", "diary", *map(str, range(ORDINARY))]
            return 200, html, "".join(f'<a href="/{name}">x</a>' for name in names)
        if path == "/hub":
            new = range(day * NEW_A_DAY, (day + 1) * NEW_A_DAY)
            return 200, html, "".join(f'<a href="/new/{number}">{number}</a>' for number in new)
        return 200, html, f"<p>{path} on day {day}" if path == "/diary" else f"<p>{path}"

    async def run() -> None:
        with Site(answer) as site:
            few = settings(site.address, **{"revisit.visits": 5.0, "revisit.share": 0.5})
            async with running_with(tmp_path / "c", few) as live:
                await live.until(lambda _: days_since(origin) > 45 and visited_again(site) > AGAIN)
            visits = Counter(path for _, path in site.asked)
        # Both change daily, so only what the hub brings can tell them apart; it gets some four times as many.
        assert visits["/hub"] > 1.5 * visits["/diary"] > 0, visits

    asyncio.run(run())


def test_a_long_sitemap_is_heard_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though its links are followed a few at a time; and it is visited again, though only robots.txt leads to it."""
    origin = time.time()
    monkeypatch.setenv("GOSSAMER_CLOCK", f"{SPEED}@{origin}")
    entries = LINKS_AT_ONCE + 500

    def answer(host: str, path: str, _asked: Counter[tuple[str, str]]) -> Answer:
        day = days_since(origin)
        text, xml = {"Content-Type": "text/plain"}, {"Content-Type": "application/xml"}
        if path == "/robots.txt":
            return 200, text, f"User-agent: *\nDisallow: /no/\nSitemap: http://{host}/long.xml\n"
        if path == "/long.xml":
            # All but the last are forbidden, so that it takes no time; the last changes on the fifth day.
            moved = datetime.fromtimestamp(origin + (5 * DAY if day > 5 else -DAY), UTC).isoformat()
            listed = [f"<url><loc>http://{host}/no/{n}</loc></url>" for n in range(entries)]
            listed.append(f"<url><loc>http://{host}/last</loc><lastmod>{moved}</lastmod></url>")
            return 200, xml, f"<urlset>{''.join(listed)}</urlset>"
        return 200, {"Content-Type": "text/html"}, f"<p>{path}"

    async def run() -> None:
        with Site(answer) as site:
            more = {"engine.sitemaps": True, "revisit.visits": 3.0, "engine.record_rejected": False}
            async with running_with(tmp_path / "c", settings(site.address, **more)) as live:
                await live.until(
                    lambda _: sum(path == "/last" for _, path in site.asked) >= 2 and days_since(origin) > 5,
                )
                await live.until(lambda _: sum(path == "/long.xml" for _, path in site.asked) >= 2)

    asyncio.run(run())
