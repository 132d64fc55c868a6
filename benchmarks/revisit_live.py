"""Does the crawler do on the road what its policy of visiting again does in a simulation?

`python -m benchmarks.revisit_live [--histories DIR] [--pages N] [--kills N] [--speed N] [--quick] [--json]`.

A web on loopback replays how pages change: at random, and with `--histories` as documents did. The crawler visits it
with `--revisit`; the clock by which pages come again is fast (`GOSSAMER_CLOCK`), and it is killed at random moments and
resumed. Then its archive is compared with what the servers know: no version stands in it twice, no visit is lost but
what was under way at a kill, each 304 refers to the version that was there. What was stale, of what the archive knows,
is compared with `gossamer.policy.revisit` driven by `benchmarks.revisit_road` over the same changes with the same
visits a day and the same outages.
"""

import argparse
import asyncio
import bisect
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from fastwarc.warc import ArchiveIterator, WarcRecordType

from benchmarks.measure import hear_interrupts
from benchmarks.revisit_road import Road
from benchmarks.revisit_worlds import World, histories, poisson

BEGIN = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
"""Of simulations."""
DAY = 7_200.0
"""Seconds of the fast clock in which pages change as in a day of their world."""
DAYS = 300.0
BUDGET = 10.0
"""Days in which the visits would reach each page once."""
UNDER_WAY = 16
"""Visits whose answers were later may have been settled when the crawl is killed, and one not: pages of other hosts, of
its group. By number, for on a busy machine what was under way may be seconds old."""
WITHIN = 2.0
"""Points by which live and simulated may differ."""


class Visit(msgspec.Struct, frozen=True):
    """One answer of the web. `at`: ours, monotonic; `day`: of the world."""

    page: int
    version: int
    status: int
    asked: str
    at: float
    day: float


class Web:
    """Pages whose versions follow from the time; site n is 127.0.8.n+1."""

    def __init__(self, world: World, speed: float, signals: bool) -> None:
        self.world, self.speed, self._signals = world, speed, signals
        self.visits: list[Visit] = []
        self.readings: list[tuple[float, int]] = []
        """Day and site of each request for a sitemap."""
        self._changes: list[list[float]] = [[] for _ in range(world.size)]
        for page, day in zip(world.pages.tolist(), world.times.tolist(), strict=True):
            self._changes[page].append(day)
        self._begun: float | None = None
        self._ready, self._loop = threading.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def url(self, page: int) -> str:
        return f"http://127.0.8.{int(self.world.sites[page]) + 1}:{self.port}/{page}"

    def begin(self, clock: float) -> None:
        """From now on pages change; it is day 0, and the crawler's clock says `clock`."""
        self._begun, self._clock = time.monotonic(), clock

    def day_of(self, moment: float) -> float:
        """The day of the world at a monotonic time of ours."""
        return 0.0 if self._begun is None else max(0.0, moment - self._begun) * self.speed / DAY

    def version(self, page: int, day: float) -> int:
        return bisect.bisect_right(self._changes[page], day)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop, self.port = asyncio.Event(), 0
        servers = []
        for site in sorted(set(self.world.sites.tolist())):
            server = await asyncio.start_server(self._talk, f"127.0.8.{site + 1}", self.port)
            self.port = server.sockets[0].getsockname()[1]
            servers.append(server)
        self._ready.set()
        await self._stop.wait()
        for server in servers:
            server.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(self._answer((await reader.readuntil(b"\r\n\r\n")).decode("latin-1")))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.close()

    def _answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        target = first.split(" ")[1].removeprefix("/")
        if not target.isdigit():
            return self._beside(target, lines)
        fields = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        asked = fields.get("if-none-match", "")
        page, now = int(target), time.monotonic()
        day = self.day_of(now)
        version = self.version(page, day)
        tag = f'"{page}-{version}"'
        status = 304 if asked == tag else 200
        self.visits.append(Visit(page, version, status, asked, now, day))
        if status == 304:
            return f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode()
        body = text(page, version)
        return (
            f"HTTP/1.1 200 OK\r\nETag: {tag}\r\nContent-Type: text/html; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        ).encode() + body

    def _beside(self, target: str, lines: list[str]) -> bytes:
        """The robots file and the sitemap of a site, where it has them."""
        host = next(line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:"))
        site = int(host.partition(":")[0].rpartition(".")[2]) - 1
        if self._signals and target == "robots.txt":
            return _whole(f"Sitemap: http://{host}/sitemap.xml\n".encode(), "text/plain")
        if not self._signals or target != "sitemap.xml":
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        day = self.day_of(time.monotonic())
        self.readings.append((day, site))
        entries = []
        for page in np.flatnonzero(self.world.sites == site).tolist():
            version = self.version(page, day)
            clock = self._clock + self._changes[page][version - 1] * DAY if version else BEGIN - 1e6
            date = datetime.fromtimestamp(clock, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            entries.append(f"<url><loc>{self.url(page)}</loc><lastmod>{date}</lastmod></url>")
        head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        return _whole(f"{head}{''.join(entries)}</urlset>".encode(), "application/xml")


def _whole(body: bytes, kind: str) -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def text(page: int, version: int) -> bytes:
    """The body of a version: its words are others, not only its number."""
    dice = random.Random(f"{page}/{version}")
    words = " ".join("".join(dice.choices("abcdefghijklmnop", k=6)) for _ in range(60))
    return (
        f"<!doctype html><title>{page}</title><article><h1>Page {page}</h1><p>{words}.</p></article>"
        f"<!-- {page}/{version} -->"
    ).encode()


class Crawler:
    """The crawl's processes, one after the other, on a clock that runs `speed` times as fast as ours."""

    def __init__(self, web: Web, folder: Path, visits: float) -> None:
        self.web, self.folder = web, folder
        self._origin = time.time()
        self.errors: list[str] = []
        seeds, config = folder.with_suffix(".txt"), folder.with_suffix(".toml")
        seeds.write_text("".join(f"{web.url(page)}\n" for page in range(web.world.size)))
        settings = {
            "revisit.visits": max(1, round(visits)),
            "fetch.allow_private": True,
            "politeness.min_delay": "0s",
            "engine.guess_sitemap": False,
            "engine.checkpoint_every": "20s",
            "engine.min_free_disk": "1MiB",
        }
        config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
        self._first = [
            "crawl",
            "--seeds",
            str(seeds),
            "--config",
            str(config),
            "--dir",
            str(folder),
            "--revisit",
        ]

    def clock(self) -> float:
        """What its fast clock says now, seconds since 1970."""
        return self._origin + (time.time() - self._origin) * self.web.speed

    def start(self) -> None:
        begun = (self.folder / "crawl.toml").exists()
        arguments = ["resume", str(self.folder), "--revisit"] if begun else self._first
        self._said = self.folder.with_suffix(f".{time.monotonic_ns()}.err")
        with self._said.open("w") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "gossamer", *arguments, "--quiet"],
                env={**os.environ, "GOSSAMER_CLOCK": f"{self.web.speed:g}@{self._origin:.6f}"},
                stdout=subprocess.DEVNULL,
                stderr=said,
            )

    def end(self, how: signal.Signals) -> None:
        """Kill it, or ask it to stop, and wait."""
        ended = self._process.poll()
        if ended is None:
            self._process.send_signal(how)
            ended = self._process.wait(120)
        if ended not in (-how, 130):
            self.errors.append(f"exit {ended}: {self._said.read_text()[-2_000:]}")


class Capture(msgspec.Struct, frozen=True):
    """What a record says: which version it holds, or refers to. `clock`: WARC-Date."""

    page: int
    version: int
    kind: str
    status: int
    clock: float
    digest: str


def captures(folder: Path) -> tuple[list[Capture], list[str]]:
    """All in order of their times, and what is wrong with them."""
    found: list[Capture] = []
    problems: list[str] = []
    originals: dict[tuple[str, str], tuple[int, str]] = {}
    later: list[tuple[int, int, float, str, tuple[str, str]]] = []
    for path in sorted((folder / "archive").glob("*.warc.gz*")):
        with path.open("rb") as stream:
            kinds = WarcRecordType.response | WarcRecordType.revisit
            for record in ArchiveIterator(stream, record_types=kinds, parse_http=True):
                said = record.headers
                url, date = said["WARC-Target-URI"], said["WARC-Date"]
                name = url.rpartition("/")[2]
                if not name.isdigit():
                    continue
                clock = datetime.fromisoformat(date).timestamp()
                digest = said.get("WARC-Payload-Digest", "")
                status = record.http_headers.status_code if record.http_headers else 0
                if record.record_type == WarcRecordType.revisit:
                    refers = said.get("WARC-Refers-To-Target-URI", ""), said.get("WARC-Refers-To-Date", "")
                    later.append((int(name), status, clock, digest, refers))
                    continue
                body = record.reader.read()
                marked = body.rpartition(b"<!-- ")[2].removesuffix(b" -->").split(b"/")
                if status != 200 or len(marked) != 2:
                    problems.append(f"{url} {date}: status {status}, {body[:80]!r}")
                    continue
                originals[url, date] = int(marked[1]), digest
                found.append(Capture(int(name), int(marked[1]), "response", status, clock, digest))
    for page, status, clock, digest, refers in later:
        if refers not in originals:
            problems.append(f"page {page}: refers to {refers}, which is no response")
            continue
        version, original = originals[refers]
        if digest != original:
            problems.append(f"page {page}: digest {digest} of a revisit of {original}")
        found.append(Capture(page, version, "revisit", status, clock, digest))
    return sorted(found, key=lambda capture: capture.clock), problems


def compared(web: Web, found: list[Capture], days: "Days", kills: list[float]) -> dict[str, object]:
    """The archive against what the servers know."""
    twice = [
        (page, version)
        for (page, version), number in Counter(
            (c.page, c.version) for c in found if c.kind == "response"
        ).items()
        if number > 1
    ]
    kept: dict[int, list[Capture]] = defaultdict(list)
    for capture in found:
        kept[capture.page].append(capture)
    missing, wrong_304, wrong_version, unasked = [], [], [], 0
    settled: list[float] = []
    by_page: dict[int, list[Visit]] = defaultdict(list)
    for visit in web.visits:
        by_page[visit.page].append(visit)
    for page, visits in by_page.items():
        # Both are in order of time: what has no record is left out of the first until they fit.
        records = iter(kept[page])
        record = next(records, None)
        for number, visit in enumerate(visits):
            following = visits[number + 1].day if number + 1 < len(visits) else float("inf")
            mine = record is not None and days.of(record.clock) < min(following, visit.day + days.slack)
            if mine and record is not None:
                if record.version != visit.version:
                    (wrong_304 if visit.status == 304 else wrong_version).append(
                        (page, visit.day, record.version)
                    )
                if (record.status == 304) != (visit.status == 304):
                    wrong_304.append((page, visit.day, record.status))
                settled.append(visit.at)
                record = next(records, None)
            else:
                missing.append(visit)
            if number and not visit.asked:
                unasked += 1
        if record is not None:
            wrong_version.append((page, "more records than visits", record.version))
    settled.sort()
    after = {visit: _settled_after(visit, settled, kills) for visit in missing}
    lost = [
        (*msgspec.structs.astuple(visit), number) for visit, number in after.items() if number > UNDER_WAY
    ]
    return {
        "visits": len(web.visits),
        "captures": len(found),
        "not_modified": sum(visit.status == 304 for visit in web.visits),
        "unconditional_again": unasked,
        "versions_twice": len(twice),
        "visits_lost": len(lost),
        "visits_at_a_kill": len(missing) - len(lost),
        "settled_after_one_of_these": max(
            (number for number in after.values() if number <= UNDER_WAY), default=0
        ),
        "wrong_304": len(wrong_304),
        "wrong_versions": len(wrong_version),
        "samples": [
            *map(str, twice[:3]),
            *map(str, lost[:3]),
            *map(str, wrong_304[:3]),
            *map(str, wrong_version[:3]),
        ],
    }


def _settled_after(visit: Visit, settled: list[float], kills: list[float]) -> float:
    """Visits with records that were answered after one without, and before the next kill; infinite if none follows."""
    kill = min((kill for kill in kills if kill >= visit.at), default=math.inf)
    if kill == math.inf:
        return math.inf
    return bisect.bisect_left(settled, kill) - bisect.bisect_right(settled, visit.at)


class Days:
    """Days of the world by the wall clock, and how much later than the server's a record's may be."""

    def __init__(self, web: Web) -> None:
        self._clock, self._day = time.time(), web.day_of(time.monotonic())
        self._speed = web.speed
        self.slack = 0.2 * web.speed / DAY

    def of(self, clock: float) -> float:
        return self._day + (clock - self._clock) * self._speed / DAY


def stale_share(world: World, seen: list[tuple[int, float, float]], days: float) -> float:
    """Percent of pages and days in which a newer version was there than the one that was known.

    `seen`: page, day of the visit, and the day until which it was true what the visit saw.
    """
    stale = 0.0
    ends: dict[int, tuple[float, float]] = {
        page: (0.0, float(world.first_change(np.array([page]), 0.0)[0])) for page in range(world.size)
    }
    for page, day, until in seen:
        _, changed = ends[page]
        stale += max(0.0, min(day, days) - changed)
        ends[page] = day, until
    stale += sum(max(0.0, days - changed) for _, changed in ends.values())
    return 100 * stale / (world.size * days)


def of_archive(web: Web, found: list[Capture], days: Days, end: float) -> float:
    """What was stale by the captures alone."""
    changes: list[list[float]] = [[] for _ in range(web.world.size)]
    for page, day in zip(web.world.pages.tolist(), web.world.times.tolist(), strict=True):
        changes[page].append(day)
    seen = []
    for capture in found:
        day = max(0.0, days.of(capture.clock))
        after = changes[capture.page]
        # The change that made it old; versions are numbered from 0.
        until = after[capture.version] if capture.version < len(after) else float("inf")
        seen.append((capture.page, day, until))
    return stale_share(web.world, seen, end)


def simulated(
    world: World,
    end: float,
    rate: float,
    outages: list[tuple[float, float]],
    readings: list[tuple[float, int]] | None = None,
) -> float:
    """What would be stale under the policy alone.

    Args:
        rate: visits a day of the world.
        outages: first and last day of each.
        readings: days on which sites told of what had changed since they were asked last, if they do.
    """
    listed = [bool(readings)] * world.size
    road = Road(world.sites.tolist(), [1.0] * world.size, listed, rate / DAY, int(BEGIN))
    told, asked = iter([*(readings or []), (math.inf, 0)]), [0.0] * (int(world.sites.max()) + 1)
    reading, site = next(told)
    seen: list[tuple[int, float, float]] = []
    last = np.zeros(world.size)
    step = 1 / 120  # a minute of the fast clock
    for day in np.arange(step, end, step):
        now = BEGIN + day * DAY
        down = any(a <= day < b for a, b in outages)
        if not down:
            road.earn(step * DAY)
        while reading <= day:
            pages = np.flatnonzero(world.sites == site)
            for page in pages[world.first_change(pages, asked[site]) < reading].tolist():
                road.hear(page, now)
            asked[site] = reading
            reading, site = next(told)
        if not down:
            pages = np.array(road.lend(now), dtype=np.int64)
            if len(pages):
                changed = world.first_change(pages, last[pages]) < day
                last[pages] = day
                until = world.first_change(pages, float(day))
                seen += zip(pages.tolist(), [float(day)] * len(pages), until.tolist(), strict=True)
                for page, new in zip(pages.tolist(), changed.tolist(), strict=True):
                    road.settle(page, now, changed=bool(new))
        road.correct(now)
    return stale_share(world, seen, end)


def oldest_first(world: World, end: float, rate: float) -> float:
    """The same with one page after the other, all day."""
    seen, page, gap = [], 0, 1 / rate
    for day in np.arange(gap, end, gap):
        until = float(world.first_change(np.array([page]), float(day))[0])
        seen.append((page, float(day), until))
        page = (page + 1) % world.size
    return stale_share(world, seen, end)


def run(world: World, kills: int, speed: float, signals: bool, keep: Path | None) -> dict[str, object]:
    """One world, live and simulated."""
    place = Path(tempfile.mkdtemp(prefix="gossamer-revisit-live-"))
    folder = place / world.name
    web = Web(world, speed, signals)
    rate = world.size / BUDGET
    crawler = Crawler(web, folder, rate * 86_400 / DAY)
    dice = random.Random(world.name)
    killed: list[float] = []
    outages: list[tuple[float, float]] = []
    try:
        crawler.start()
        patience = time.monotonic() + 120
        while len({visit.page for visit in web.visits}) < world.size:
            if time.monotonic() > patience:
                crawler.end(signal.SIGKILL)
                raise SystemExit(f"{world.name}: not all pages were visited once: {crawler.errors}")
            time.sleep(0.05)
        time.sleep(1.0)
        web.begin(crawler.clock())
        begun, seconds = time.monotonic(), world.days * DAY / speed
        moments = sorted(begun + dice.uniform(0.02, 0.97) * seconds for _ in range(kills))
        for moment in moments:
            # Not before the last one has come back.
            count = len(web.visits)
            patience = time.monotonic() + 30
            while killed and len(web.visits) == count and time.monotonic() < patience:
                time.sleep(0.02)
            time.sleep(max(0.0, moment - time.monotonic()))
            crawler.end(signal.SIGKILL)
            killed.append(time.monotonic())
            count = len(web.visits)
            crawler.start()
            patience = time.monotonic() + 30
            while len(web.visits) == count and time.monotonic() < patience:
                time.sleep(0.01)
            outages.append((web.day_of(killed[-1]), web.day_of(time.monotonic())))
        time.sleep(max(0.0, begun + seconds - time.monotonic()))
        end = web.day_of(time.monotonic())
        days = Days(web)
        stopped = time.monotonic()
        crawler.end(signal.SIGINT)
        checked = subprocess.run(
            [sys.executable, "-m", "gossamer", "check", str(folder)],
            check=False,
            capture_output=True,
        )
        found, problems = captures(folder)
        made = sum(visit.day > 0 for visit in web.visits)
        readings = [(day, site) for day, site in web.readings if day > 0] if signals else None
        live, policy = of_archive(web, found, days, end), simulated(world, end, rate, outages, readings)
        truth = compared(web, found, days, [*killed, stopped])
        result = {
            "pages": world.size,
            "days": round(end, 1),
            "kills": len(killed),
            "days_of_outage": round(sum(b - a for a, b in outages), 2),
            "visits_a_day": round(made / end, 2),
            "visits_a_day_allowed": rate,
            **truth,
            "problems": problems[:5] + crawler.errors[:3],
            "check": checked.returncode,
            "stale": round(live, 2),
            "stale_simulated": round(policy, 2),
            "stale_simulated_at_the_visits_made": round(
                simulated(world, end, made / end, outages, readings), 2
            ),
            "sitemaps_read": len(web.readings),
            "stale_oldest_first": round(oldest_first(world, end, rate), 2),
        }
        right = not any(
            truth[name] for name in ("versions_twice", "visits_lost", "wrong_304", "wrong_versions")
        )
        result["ok"] = (
            right
            and not problems
            and not crawler.errors
            and not checked.returncode
            and live - policy <= WITHIN
        )
        return result
    finally:
        web.close()
        if keep is not None:
            shutil.copytree(place, keep, dirs_exist_ok=True)
        shutil.rmtree(place, ignore_errors=True)


def cut(world: World, pages: int, days: float) -> World:
    """A world of its first pages and days, with few sites."""
    inside = (world.pages < pages) & (world.times < days)
    sites = np.unique(world.sites[:pages], return_inverse=True)[1] % 50
    return World(world.name, sites, days, world.pages[inside], world.times[inside])


def main() -> None:
    hear_interrupts()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--histories", type=Path, help="folder of *.json.gz: {path: [seconds since 1970, ...]}"
    )
    parser.add_argument("--only", default="", help="worlds whose name begins so")
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--days", type=float, default=DAYS, help="of each world")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--speed", type=float, default=7_200.0, help="of the fast clock")
    parser.add_argument("--signals", action="store_true", help="sites have sitemaps that tell the truth")
    parser.add_argument("--keep", type=Path, help="leave the crawls here")
    parser.add_argument("--quick", action="store_true", help="60 pages, 60 days, 4 kills, one world")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    if told.quick:
        told.pages, told.days, told.kills, told.histories = 60, 60.0, 4, None
    worlds = [poisson(1, told.pages, sites=8)]
    if told.histories:
        files = sorted(told.histories.glob("*.json.gz"))
        worlds += [next(iter(histories(path, told.pages))) for path in files]
    results: dict[str, Any] = {}
    for world in worlds:
        if not world.name.startswith(told.only):
            continue
        results[world.name] = run(
            cut(world, min(told.pages, world.size), told.days),
            told.kills,
            told.speed,
            told.signals,
            told.keep,
        )
        if not told.json:
            print(world.name, json.dumps(results[world.name], indent=1), flush=True)
    if told.json:
        print(json.dumps({"ok": all(each["ok"] for each in results.values()), "worlds": results}, indent=1))
    sys.exit(0 if all(each["ok"] for each in results.values()) else 1)


if __name__ == "__main__":
    main()
