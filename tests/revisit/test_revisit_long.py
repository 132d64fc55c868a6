"""Visits again under kills, over many rounds, and of pages and lists that are far too large."""

import json
import os
import random
import time
from pathlib import Path

import archived
import pytest
from changing_web import ChangingWeb, Reply, at, honest, missing, page
from revisit_crawls import EVERY

from gossamer.simweb import SimulatedWeb, WorldSpec

FAKETIME = Path("/usr/lib", f"{os.uname().machine}-linux-gnu", "faketime", "libfaketimeMT.so.1")
pytestmark = pytest.mark.slow


def moving(request):
    """Twelve pages; each changes by a clock of its own, some seconds a version."""
    if request.target == "/robots.txt":
        return missing()
    if request.target == "/":
        return honest(body=lambda _: page("Front.", [f"/{n}" for n in range(12)]))(request)
    number = int(request.target[1:])
    turn = int(time.monotonic() / (0.7 + 0.6 * number))
    return honest(version=lambda _: turn, body=lambda n: page(f"Page {number}, version {n}."))(request)


def kept_as_served(web, folder):
    """What the archive lacks of what was served, and what it has twice, by URL."""
    records = [r for r in archived.records(folder) if r.tells]
    problems = []
    for address, host in ((a, h) for h, a in web.addresses.items()):
        urls = {s.request.target for s in web.log if s.request.host == address}
        for target in urls - {"/robots.txt"}:
            url = web.url(host, target)
            kept = sorted((r for r in records if r.url == url), key=lambda r: r.at)
            bodies = [r.payload for r in kept if r.kind == "response" and r.status == 200]
            if len(bodies) != len(set(bodies)):
                problems.append(f"{url}: a version twice")
            served = {s.body for s in web.of(host, target) if s.status == 200}
            if not set(bodies) <= served:
                problems.append(f"{url}: a version that never was")
            if len(kept) > len(web.of(host, target)):
                problems.append(f"{url}: {len(kept)} records of {len(web.of(host, target))} visits")
            dates = [r.date for r in kept]
            if len(dates) != len(set(dates)):
                problems.append(f"{url}: two records of one time")
    return problems


def test_twenty_kills_at_any_moment(crawl_of):
    """Each version that a committed visit saw is there once; a kill costs what was under way."""
    dice = random.Random(19)
    crawl = crawl_of(
        {
            EVERY: "1s",
            "engine.checkpoint_every": "2s",
            "archive.max_file_size": "32KiB",
            "engine.workers": 8,
        }
    )
    kills = 0
    with ChangingWeb({f"site{n}": moving for n in range(4)}) as web:
        process = crawl.begin_crawl(*(web.url(f"site{n}") for n in range(4)))
        web.until(lambda: len(web.log) > 30)
        while kills < 20:
            before = len(web.log)
            assert web.until(lambda seen=before: len(web.log) > seen + 3)
            time.sleep(dice.uniform(0, 2.5))
            assert process.poll() is None, crawl.end(process).err
            crawl.kill(process)
            kills += 1
            process = crawl.begin_resume()
        before = len(web.log)
        web.until(lambda: len(web.log) > before + 60)
        assert crawl.stop(process).status == 130
        assert kept_as_served(web, crawl.folder) == []
        records = [r for r in archived.records(crawl.folder) if r.tells and not r.url.endswith("robots.txt")]
        asked = [s for s in web.log if s.request.target != "/robots.txt"]
        # A kill loses at most what was lent to each of the four hosts and what waited for its group.
        assert len(asked) - len(records) <= 2 * 4 * (kills + 1), (len(asked), len(records))
    assert archived.wrong(crawl.folder) == []
    crawl.check()


def test_from_ten_bytes_to_fifty_million(crawl_of):
    big = (b"<p>All work and no play makes a long page." * 1_250_000)[:50_000_000]

    def grows(request):
        return honest(
            version=lambda r: min(r.number, 3),
            body=lambda n: {1: b"<p>ten</p>", 2: page("Small."), 3: big}[n],
        )(request)

    crawl = crawl_of({EVERY: "1s"})
    with ChangingWeb({"site": at("/", grows)}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site")) >= 5 or process.poll() is not None)
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert crawl.stop(process).status == 130
    peak = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024
    assert peak < 500, f"{peak} MiB"
    versions = [
        r for r in archived.records(crawl.folder) if r.kind == "response" and r.url == web.url("site")
    ]
    assert [len(r.payload) for r in versions] == [10, len(page("Small.")), 50_000_000]
    assert archived.wrong(crawl.folder) == []


def test_a_server_that_says_304_to_everything_is_seen_through(crawl_of):
    """It has another page than it says: sooner or later it is asked without condition."""

    def liar(request):
        if request.conditional:
            return Reply(304, [("ETag", '"v1"')])
        return Reply(200, [("ETag", '"v1"')], page(f"The page of visit {request.number}."))

    crawl = crawl_of({EVERY: "1s"})
    with ChangingWeb({"site": at("/", liar)}) as web:
        process = crawl.begin_crawl(web.url("site"))
        found = web.until(lambda: [s.status for s in web.of("site")].count(200) >= 2)
        assert crawl.stop(process).status == 130
    assert found, [s.status for s in web.of("site")]
    responses = [
        r for r in archived.records(crawl.folder) if r.kind == "response" and r.url == web.url("site")
    ]
    assert len(responses) >= 2
    assert archived.wrong(crawl.folder) == []


def test_a_large_sitemap_with_one_date(crawl_of):
    """50,000 entries of one date, which moves at each reading: neither believed nor dear."""

    def site(request):
        if request.target == "/robots.txt":
            body = f"User-agent: *\nSitemap: http://{request.host}:{web.port}/sitemap.xml\n"
            return Reply(200, body=body.encode(), kind="text/plain")
        if request.target == "/sitemap.xml":
            date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            entries = "".join(
                f"<url><loc>http://{request.host}:{web.port}/p/{n}</loc><lastmod>{date}</lastmod></url>"
                for n in range(50_000)
            )
            head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            return Reply(200, body=f"{head}{entries}</urlset>".encode(), kind="application/xml")
        return honest(body=lambda _: page(request.target))(request)

    crawl = crawl_of({'revisit.every."/sitemap.xml"': "3s", "politeness.min_delay": "10ms"})
    with ChangingWeb({"site": site}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site", "/sitemap.xml")) >= 3 or process.poll() is not None)
        before = len(web.log)
        assert web.until(lambda: len(web.log) > before + 100), "it does not go on beside its list"
        usage = Path(f"/proc/{process.pid}/status").read_text()
        assert crawl.stop(process).status == 130
    peak = int(next(line.split()[1] for line in usage.splitlines() if line.startswith("VmHWM"))) / 1024
    assert peak < 400, f"{peak} MiB"
    pages = [s.request.target for s in web.log if s.request.target.startswith("/p/")]
    # A list that says of all that they are new is no reason to leave what was never visited.
    assert len(set(pages)) > 0.9 * len(pages)


def test_it_costs_nothing_where_it_is_off(crawl_of, tmp_path):
    """The same web with and without: the state of a crawl without is not larger, and no request is conditional."""
    sizes = {}
    spec = WorldSpec(seed=3, hosts=3, pages=300, exponent=0.3, page_bytes=2_000, robots=("absent",))
    with SimulatedWeb(spec) as web:
        for again in (False, True):
            crawl = crawl_of(
                {"scope.mode": "any", "dns.nameservers": [web.nameserver], "engine.give_up_after": "1s"},
                name=f"revisit-{again}",
                revisit=again,
            )
            options = ("--max-time", "15s") if again else ()
            ended = crawl.end(crawl.begin_crawl(*web.seeds, options=options))
            assert ended.status == 0, ended.err
            sizes[again] = sum(p.stat().st_size for p in (crawl.folder / "state").rglob("*.sst"))
    assert sizes[False] <= sizes[True] * 1.05, sizes


@pytest.mark.parametrize("jump", [86_400, -86_400])
def test_the_wall_clock_jumps_a_day(crawl_of, tmp_path, jump):
    """Intervals go on as they are: no storm after a jump ahead, no silence after one back."""
    if not FAKETIME.exists():
        pytest.skip("libfaketime is not installed (Debian: apt-get install faketime)")
    offset = tmp_path / "offset"
    offset.write_text("+0s\n")
    crawl = crawl_of(
        {EVERY: "1s", "robots.max_age": "1d"},
        env={
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(offset),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        },
    )
    with ChangingWeb({"site": at("/", honest(version=lambda r: (r.number + 1) // 2))}) as web:
        process = crawl.begin_crawl(web.url("site"))
        assert web.until(lambda: len(web.of("site")) >= 3)
        partial = tmp_path / "offset.partial"
        partial.write_text(f"{jump:+d}s\n")
        partial.replace(offset)
        moment, count = time.monotonic(), len(web.of("site"))
        assert web.until(lambda: len(web.of("site")) >= count + 4), "it waits for the clock"
        assert time.monotonic() - moment > 2.5, "a storm"
        assert crawl.stop(process).status == 130
    records = [r for r in archived.records(crawl.folder) if r.tells and r.url == web.url("site")]
    assert len(web.of("site")) - 1 <= len(records) <= len(web.of("site"))
    crawl.check()


def test_noise_is_bounded(crawl_of):
    """Half of the pages have a clock: they do not take the visits of those that change truly."""

    def site(request):
        if request.target == "/robots.txt":
            return missing()
        if request.target == "/":
            return honest(
                body=lambda _: page(
                    "Front.", [f"/{kind}/{n}" for kind in ("clock", "still") for n in range(20)]
                )
            )(request)
        if request.target.startswith("/clock/"):
            footer = f"<footer>It is {time.time()}, visitor {request.number}</footer></article>".encode()
            return Reply(200, (), page(request.target).replace(b"</article>", footer))
        return honest(body=lambda _: page(request.target))(request)

    crawl = crawl_of({"politeness.min_delay": "20ms", "revisit.visits": 1_000_000})
    with ChangingWeb({"site": site}) as web:
        process = crawl.begin_crawl(web.url("site"))
        web.until(lambda: len(web.log) > 600)
        assert crawl.stop(process).status == 130
    counts = {
        kind: sum(s.request.target.startswith(f"/{kind}/") for s in web.log) for kind in ("clock", "still")
    }
    assert counts["still"] > 100, counts
    assert 1 / 4 < counts["clock"] / counts["still"] < 4, counts


def test_many_rounds_need_no_more_memory(crawl_of):
    crawl = crawl_of({EVERY: "1s", "engine.workers": 16})
    peaks = []
    with ChangingWeb({f"site{n}": moving for n in range(8)}) as web:
        process = crawl.begin_crawl(*(web.url(f"site{n}") for n in range(8)))
        for round_ in (1, 2, 3, 4):
            assert web.until(lambda goal=round_ * 1_500: len(web.log) > goal or process.poll() is not None)
            usage = Path(f"/proc/{process.pid}/status").read_text()
            peaks.append(
                int(next(line.split()[1] for line in usage.splitlines() if line.startswith("VmRSS"))) / 1024
            )
        assert crawl.stop(process).status == 130
    assert peaks[-1] - peaks[1] < 15, peaks
    told = json.loads(crawl.run("status", str(crawl.folder), "--json").out)
    assert told["sums"]["known"] < 300, told
    assert archived.wrong(crawl.folder) == []
