"""The report: its figures agree with an independent count, its page is whole and harmless."""

import asyncio
import base64
import hashlib
import json
import re
import statistics
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_site import small_site
from whole_crawl import Crawled, crawl

import gossamer
from gossamer.config.config import CrawlConfig
from gossamer.inspect.crawl_log import VisitLine
from gossamer.inspect.freshness import CrawlFreshness, PredictedBin, SiteFreshness
from gossamer.inspect.gone import GonePage, LeftHost
from gossamer.inspect.hosts import host_item
from gossamer.inspect.inspection import inspect
from gossamer.inspect.traps import BranchLine
from gossamer.model.outcome import Fault, Rule
from gossamer.model.reasons.codes import CutCode, EndCode, HoldCode
from gossamer.model.reasons.ends import FINISHED
from gossamer.model.reasons.reason import Reason, because
from gossamer.model.reasons.reason import text as told
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.report import Figures, report_body, report_page, write_report
from gossamer.report import languages as language_census
from gossamer.report.census.gather import CrawlDelays, gather, log_census
from gossamer.report.census.host_visits import PRECISION, HostWatch
from gossamer.report.census.log import LogCensus
from gossamer.report.census.tallies import Frequent, Largest, Spread
from gossamer.report.census.timeline import ERRORS, INTERVALS, OK, PAGES, TimeSums
from gossamer.report.figures import (
    FailureLine,
    Gone,
    Histogram,
    Hosts,
    Timeline,
    Traps,
)
from gossamer.report.languages import language_of
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.environment import Family
from gossamer.state.records import HostRecord, decode_page
from gossamer.words.amounts import LANGUAGES
from gossamer.words.catalogue import words
from gossamer.words.visible import visible

HOSTILE = (
    "</title></td><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=x \x1b[31m\u202egnp.exe"
)
DELAY, FACTOR = 0.02, 1.0
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "header",
        "nav",
        "a",
        "section",
        "div",
        "span",
    ),
    *(
        "h1",
        "h2",
        "h3",
        "p",
        "br",
        "bdi",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "dl",
        "dt",
        "dd",
        "footer",
    ),
    *(SVG + name for name in ("svg", "title", "desc", "g", "rect", "text", "line", "polygon", "polyline")),
}
ATTRIBUTES = {
    *(
        "lang",
        "charset",
        "http-equiv",
        "content",
        "name",
        "class",
        "id",
        "href",
        "aria-labelledby",
        "aria-label",
    ),
    *(
        "scope",
        "data-head",
        "role",
        "viewBox",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "x2",
        "y1",
        "y2",
        "rx",
        "points",
    ),
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    world = WorldSpec.friendly(
        hosts=8,
        pages=80,
        page_bytes=2_000,
        robots=("absent", "allow", "rules"),
        misbehaviours=("redirect-chain", "throttle-seconds", "dns-cname", "empty-body"),
    )
    with SimulatedWeb(world) as web:
        folder = tmp_path_factory.mktemp("report") / "crawl"
        return crawl(web, folder, politeness__min_delay=DELAY, politeness__factor=FACTOR, engine__workers=8)


@pytest.fixture(scope="module")
def figures(crawled: Crawled) -> Figures:
    with inspect(crawled.folder.path) as inspection:
        return gather(inspection)


def checked(page: str) -> ET.Element:
    """The page, after a check that it holds nothing but what reports are made of."""
    root = ET.fromstring(page)
    for element in root.iter():
        assert element.tag in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES, element.attrib
        assert element.attrib.get("href", "#").startswith("#")
    return root


def is_page(line: dict) -> bool:
    return line.get("status") == 200 and line["became"] == "done" and line["kind"] != "robots"


# What an independent count of the log, of the state, says.


@pytest.mark.slow
def test_sums_agree_with_the_log(crawled: Crawled, figures: Figures) -> None:
    lines, log = crawled.lines, figures.log
    assert figures.ended == crawled.reason == FINISHED
    assert figures.sums.pages == sum(map(is_page, lines)) > 50
    assert log.visits == len(lines) == figures.sums.visits
    assert (log.first, log.last) == (lines[0]["at"], lines[-1]["at"])
    assert log.endings == Counter(line["became"] for line in lines)
    assert log.damaged == 0
    depth = Counter(line["depth"] for line in lines if is_page(line))
    assert log.depth == [depth[number] for number in range(max(depth) + 1)]
    assert log.kinds == Counter(line["kind"] for line in lines if is_page(line))
    types = Counter(line["type"] for line in lines if is_page(line))
    assert {amount.name: amount.pages for amount in log.types} == types
    assert {name: pages for name, pages in types.items() if name} == figures.sums.media_types
    for amount in log.types:
        sizes = [line["size"] for line in lines if is_page(line) and line["type"] == amount.name]
        assert amount.bytes == sum(sizes)


@pytest.mark.slow
def test_the_timeline_holds_every_visit_once(crawled: Crawled, figures: Figures) -> None:
    time = figures.log.timeline
    classes = {"2": "ok", "3": "moved", "4": "client_errors", "5": "server_errors"}
    expected: dict[str, Counter[int]] = defaultdict(Counter)
    for line in crawled.lines:
        place = int((line["at"] - time.start) / time.width)
        status = str(line.get("status", ""))
        expected[classes[status[0]] if status else "refused" if "refused" in line else "failed"][place] += 1
        expected["pages"][place] += is_page(line)
        expected["bytes"][place] += line.get("size", 0)
        expected["duplicates"][place] += "twin" in line
    for name in set(Timeline.__struct_fields__) - {"start", "width", "errors"}:
        assert getattr(time, name) == [expected[name][place] for place in range(len(time.pages))], name
    assert sum(time.bytes) >= figures.sums.bytes  # robots files count here


def test_failures_agree_with_the_log(crawled: Crawled, figures: Figures) -> None:
    kinds: Counter[str] = Counter()
    for line in crawled.lines:
        if "refused" in line:
            kinds[f"refused: {line['refused']}"] += 1
        elif "fault" in line:
            kinds[line["fault"]] += 1
        elif line["status"] >= (500 if line["kind"] == "robots" else 400):
            kinds[f"status {line['status']}"] += 1
    assert {line.kind: line.visits for line in figures.log.failures} == kinds
    assert len(kinds) > 2
    urls = {line["url"] for line in crawled.lines}
    assert all(line.url in urls for line in figures.log.failures)


def test_sizes_times_and_duplicates_agree_with_the_log(crawled: Crawled, figures: Figures) -> None:
    log = figures.log
    answered = [line for line in crawled.lines if "status" in line]
    sizes = [line["size"] for line in answered if line["kind"] != "robots"]
    assert log.sizes.zero == sizes.count(0)
    for edge, count in zip(log.sizes.edges, log.sizes.counts, strict=True):
        assert count == sum(edge <= size < 2 * edge for size in sizes)
    assert log.sizes.quantiles.largest == max(sizes) == log.largest[0].size
    assert log.sizes.quantiles.median == pytest.approx(statistics.median_low(sizes), rel=0.06)
    seconds = sorted(line["seconds"] for line in answered)
    assert log.seconds.quantiles.largest == seconds[-1] == log.slowest[0].seconds
    twins = [line for line in crawled.lines if "twin" in line]
    assert log.duplicates.visits == len(twins) == figures.sums.duplicates > 0
    assert log.duplicates.bytes == sum(line["size"] for line in twins)
    most = Counter(line["twin"] for line in twins)
    assert all(most[line.url] == line.copies for line in log.duplicates.most)


def test_politeness_agrees_with_the_log(crawled: Crawled, figures: Figures) -> None:
    hosts: dict[str, list[dict]] = defaultdict(list)
    for line in crawled.lines:
        if "refused" not in line:
            hosts[line["url"].split("/")[2].partition(":")[0]].append(line)
    gaps: dict[str, list[float]] = {}
    slack: dict[str, float] = {}
    for name, lines in hosts.items():
        for one, other in pairwise(lines):
            if "seconds" in other:
                ends = one["started"] + one["seconds"] if {"started", "seconds"} <= set(one) else one["at"]
                gap = other.get("started", other["at"] - other["seconds"]) - ends
                owed = max(DELAY, min(FACTOR * one.get("seconds", 0), 30))
                gaps.setdefault(name, []).append(gap)
                slack[name] = min(slack.get(name, 1e9), gap - owed)
    kept = figures.log.politeness
    assert kept.hosts == len(gaps)
    assert kept.gaps == sum(map(len, gaps.values()))
    assert kept.unmeasured == 0
    assert kept.short == 0
    assert min(slack.values()) >= -PRECISION
    assert sum(kept.smallest.counts) + kept.smallest.zero == len(gaps)
    worst = sorted(slack.values())[: len(kept.closest)]
    assert [slack[host.name] for host in kept.closest] == pytest.approx(worst)
    assert [host.gap - host.wanted for host in kept.closest] == pytest.approx(worst)


def test_hosts_and_languages_agree_with_the_state(crawled: Crawled, figures: Figures) -> None:
    pages = Counter(line["url"].split("/")[2].partition(":")[0] for line in crawled.lines if is_page(line))
    assert {host.name: host.pages for host in figures.hosts.most_pages if host.pages}.items() <= pages.items()
    assert figures.hosts.most_pages[0].pages == max(pages.values())
    assert sum(figures.hosts.by_state.values()) == figures.sums.hosts
    assert sum(figures.hosts.pages.counts) == len(pages)
    assert sum(figures.hosts.robots.values()) > 0
    mean: dict[str, list[float]] = defaultdict(list)
    for line in crawled.lines:
        if "seconds" in line:
            mean[line["url"].split("/")[2].partition(":")[0]].append(line["seconds"])
    slowest = figures.log.slowest_hosts[0]
    few = {name for name, times in mean.items() if len(times) < 3}
    assert slowest.mean_seconds == pytest.approx(
        max(statistics.mean(mean[name]) for name in mean.keys() - few)
    )
    with inspect(crawled.folder.path) as inspection:
        records = [decode_page(data) for _, data in inspection.environment.scan(Family.PAGES)]
    html = [
        language_of(record.language)
        for record in records
        if record.media_type == "text/html" and record.state == "done" and record.visits[-1].status == 200
    ]
    languages = figures.languages
    assert languages.pages == languages.read == len(html)
    assert languages.unknown == html.count("")
    assert {amount.name: amount.pages for amount in languages.most}.items() <= Counter(html).items()


def test_languages_of_a_large_crawl_are_estimated(
    crawled: Crawled, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_census, "ALL_READ", 0)
    with inspect(crawled.folder.path) as inspection:
        guessed = gather(inspection).languages
    assert guessed.read > 1_000
    assert guessed.pages == pytest.approx(figures.languages.pages, rel=0.1)
    counted = {amount.name: amount.pages for amount in figures.languages.most}
    common = figures.languages.most[0].name
    assert guessed.most[0].name == common
    assert guessed.most[0].pages == pytest.approx(counted[common], rel=0.25)


def test_a_census_goes_on_where_it_ended(crawled: Crawled, figures: Figures, tmp_path: Path) -> None:
    text = crawled.folder.log.read_bytes()
    log = tmp_path / "crawl.log"
    settings = PolitenessConfig(min_delay=DELAY, factor=FACTOR)
    census = LogCensus(log, "host", lambda name: settings)
    census.read()
    assert census.figures().visits == 0, "there is no log yet"
    for end in (1_000, 1_001, 30_000, len(text)):
        log.write_bytes(text[:end])
        census.read()
        assert census.figures().visits == text[:end].count(b"\n")
    whole = census.figures()
    assert whole == msgspec.structs.replace(figures.log, largest=whole.largest, slowest=whole.slowest), (
        "nothing depends on when it was read"
    )
    log.write_bytes(text[:5_000].rpartition(b"\n")[0] + b"\n")
    census.read()
    assert census.figures().visits == text[:5_000].count(b"\n"), "a log that was cut is read anew"


def test_damaged_lines_are_counted_and_passed(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    good = b'{"at": 1.5, "url": "http://a.example/", "status": 200, "size": 3, "seconds": 0.1}\n'
    log.write_bytes(good + b'{"at": "no"}\n\xff\xfe\n' + good + b'{"at": 3, "url": "nonsense"}\n{"at": 2')
    census = LogCensus(log, "site", lambda name: PolitenessConfig())
    census.read()
    assert (census.figures().visits, census.figures().damaged) == (3, 2)


# Counting in bounded memory.


def visit(at: float, host: str, seconds: float = 0.1, **more: Any) -> tuple[str, VisitLine]:
    return host, VisitLine(at, f"http://{host}/", seconds=seconds, **{"status": 200, **more})


def test_gaps_that_are_too_short_are_told() -> None:
    watch = HostWatch(lambda name: PolitenessConfig(min_delay=1.0, factor=5.0))
    for line in (
        visit(10, "a.example"),
        visit(11.2, "a.example"),  # 1.1 s after the end of the first
        visit(20, "b.example", 2.0),
        visit(26, "b.example", 0.5),  # 5.5 s, but 10 were due
        visit(30, "c.example"),
        visit(30.1, "c.example", refused="robots", status=0),  # was not made
        visit(31.5, "c.example"),
        visit(40, "d.example", -1, fault="timeout", status=0),
        visit(40.5, "d.example", -1, fault="timeout", status=0),  # nobody knows when it began
        visit(50, "e.example", started=45.0, seconds=1.0),  # settled late
        visit(50.9, "e.example", started=50.7, seconds=0.2),  # 4.7 s after the end, less than 5
    ):
        watch.add(*line)
    kept = watch.sums().politeness
    assert (kept.hosts, kept.gaps, kept.short, kept.short_hosts) == (4, 4, 2, 2)
    assert [host.name for host in kept.closest] == ["b.example", "e.example", "a.example", "c.example"]
    assert kept.closest[0].gap == pytest.approx(5.5)
    assert kept.closest[0].wanted == 10
    assert [host.name for host in watch.sums().most_errors] == ["d.example"]


def test_a_gap_after_a_robots_file_is_none_between_pages() -> None:
    watch = HostWatch(lambda name: PolitenessConfig())
    watch.add(*visit(10, "a.example", kind="robots"))
    watch.add(*visit(11.5, "a.example"))
    assert watch.page_gap("a.example") is None
    watch.add(*visit(14.6, "a.example"))
    assert watch.page_gap("a.example") == pytest.approx(3)


def test_crawl_delays_that_were_not_kept_are_told(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    visits = [
        {"at": at, "url": f"http://{host}/", "status": 200, "seconds": 0} for host in "ab" for at in (1, 4, 9)
    ]
    log.write_text("".join(json.dumps(visit) + "\n" for visit in visits))
    census = LogCensus(log, "host", lambda name: PolitenessConfig())
    census.read()
    delays = CrawlDelays(census)
    for name, delay in (("a", 5.0), ("b", 3.0), ("c", 9.0)):
        delays.add(HostRecord(name, crawl_delay=delay))
    kept = delays.entered(census.figures()).politeness
    assert kept.below_crawl_delay == 1
    assert [(host.name, host.gap, host.wanted) for host in kept.hurried] == [("a", 3.0, 5.0)]


def test_hosts_beyond_the_bound_are_put_away_not_lost() -> None:
    watch = HostWatch(lambda name: PolitenessConfig(), kept=10)
    for round_ in range(2):
        for number in range(30):
            for again in range(3):
                watch.add(
                    *visit(1000 * round_ + 10 * number + 2 * again, f"h{number}.example", 0.01 * number)
                )
    sums = watch.sums()
    assert sums.politeness.gaps == 2 * 30 * 2
    assert sums.politeness.unmeasured == 50
    assert sums.politeness.unmeasured_above == pytest.approx(96)
    assert [host.name for host in sums.slowest[:3]] == ["h29.example", "h28.example", "h27.example"]


@given(st.lists(st.floats(0, 1e5), max_size=200))
def test_time_sums_lose_nothing(moments: list[float]) -> None:
    sums = TimeSums()
    for moment in moments:
        row = sums.at(1e9 + moment)
        row[PAGES] += 1
        row[OK] += 1
    timeline = sums.timeline()
    assert sum(timeline.pages) == len(moments)
    assert len(timeline.pages) <= INTERVALS
    assert len(timeline.pages) == len(timeline.errors)
    if moments and moments == sorted(moments):
        places = Counter(int((1e9 + moment - timeline.start) / timeline.width) for moment in moments)
        assert timeline.pages == [places[place] for place in range(len(timeline.pages))]
    assert ERRORS == 9


@given(st.lists(st.floats(1e-9, 1e12) | st.just(0.0), max_size=100))
def test_spreads_count_all_and_know_quantiles(values: list[float]) -> None:
    spread = Spread(0.001)
    for value in values:
        spread.add(value)
    figures = spread.histogram()
    assert sum(figures.counts) + figures.zero == len(values)
    for edge, count in zip(figures.edges, figures.counts, strict=True):
        surely = sum(edge * (1 + 1e-9) <= value < 2 * edge * (1 - 1e-9) for value in values)
        perhaps = sum(edge * (1 - 1e-9) <= value < 2 * edge * (1 + 1e-9) for value in values)
        assert surely <= count <= perhaps
    if values:
        assert figures.quantiles.largest == max(values)
        assert figures.quantiles.median == pytest.approx(statistics.median_low(values), rel=0.06)


@given(st.lists(st.integers(0, 30), max_size=300), st.integers(1, 20))
def test_frequent_names_are_bounded_from_below(names: list[int], width: int) -> None:
    frequent = Frequent(width)
    for name in names:
        frequent.add(str(name))
    true = Counter(map(str, names))
    kept = dict(frequent.most(100))
    for name, count in true.items():
        assert count - len(names) // width - 1 <= kept.get(name, 0) <= count


@given(st.lists(st.floats(-5, 5)), st.integers(1, 9))
def test_the_largest_are_kept(ranks: list[float], most: int) -> None:
    largest: Largest[int] = Largest(most)
    for place, rank in enumerate(ranks):
        largest.offer(rank, place)
    expected = sorted(range(len(ranks)), key=lambda place: -ranks[place])[:most]
    assert list(largest) == list(largest.copy()) == expected


# The page.


def test_the_page_is_whole_in_both_languages(crawled: Crawled, figures: Figures, tmp_path: Path) -> None:
    for language in LANGUAGES:
        target = tmp_path / f"{language}.html"
        write_report(figures, target, language)
        page = target.read_text(encoding="utf-8")
        root = checked(page)
        anchors = {element.attrib["id"] for element in root.iter() if "id" in element.attrib}
        links = [element.attrib["href"].removeprefix("#") for element in root.iter("a")]
        assert len(links) == 12
        assert set(links) <= anchors
        assert len(list(root.iter(SVG + "svg"))) > 25
        text = "".join(root.itertext())
        assert figures.hosts.most_pages[0].name in text
        assert f"{figures.sums.pages:,}" in text
    assert "目录" in page


def test_a_crawl_of_one_host_is_told_where_nothing_can_be_compared(tmp_path: Path) -> None:
    with small_site(lambda path: None if path else "<p>One page</p>") as seed:
        asyncio.run(_crawl(seed, tmp_path / "crawl"))
    with inspect(tmp_path / "crawl") as inspection:
        page = report_page(gather(inspection))
    root = checked(page)
    headings = {heading.text for heading in root.iter("h3")}
    told = {name.text for name in root.iter("dt")}
    hosts = {words("en")(f"report.{key}") for key in ("hosts_by_state", "most_pages", "slowest_hosts")}
    assert hosts <= told
    assert not hosts & headings
    assert words("en")("report.no_data") not in page  # no chart without a value
    anchors = {link.get("href") for link in root.iter("a")}
    assert anchors == {f"#{section.get('id')}" for section in root.iter("section")}
    assert "#time" not in anchors


def test_the_policy_allows_the_style_sheet_only(figures: Figures) -> None:
    page = report_page(figures)
    root = checked(page)
    style = next(root.iter("style")).text or ""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = [meta.attrib["content"] for meta in root.iter("meta") if "http-equiv" in meta.attrib]
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert not re.search(r"url\(|@import|https?:|//", style)
    assert "<style" not in report_body(figures), "a console brings its own"


def test_every_class_is_in_the_style_sheet(figures: Figures) -> None:
    page = report_page(figures)
    kinds = {kind for names in re.findall(r'class="([^"]*)"', page) for kind in names.split()}
    unknown = {kind for kind in kinds if f".{kind}" not in page.partition("</style>")[0]}
    assert unknown <= {"time", "bars", "columns", "shares", "name"}


async def _crawl(seed: str, folder: Path) -> None:
    async for _ in gossamer.crawl(seed, folder=folder, min_delay=0):
        pass


def test_hostile_pages_cannot_steer_the_report(tmp_path: Path) -> None:
    paths = {"": HOSTILE, "a%22%3E%3Cscript%3Ealert(1)%3C/script%3E": "x", "b'onload=x": "y"}

    def page(path: str) -> str | None:
        if path not in paths:
            return None
        links = "".join(f'<a href="/{other}">l</a>' for other in [*paths, "gone\u202e<script>"])
        title = paths[path].replace("<", "&lt;")
        return f"<html lang='en'><title>{title}</title><p>{path}</p>{links}</html>"

    with small_site(page) as site:
        asyncio.run(_crawl(site, tmp_path / "c"))
    with inspect(tmp_path / "c") as inspection:
        figures = gather(inspection)
    assert figures.log.largest[0].title or figures.log.largest[1].title
    assert any("alert(1)" in line.title for line in figures.log.largest)
    for language in LANGUAGES:
        page_text = report_page(figures, language)
        assert "\\u202egnp.exe" in "".join(checked(page_text).itertext())
        assert "<script" not in page_text
        assert not {"\u202e", "\x1b"} & set(page_text)


def strategy_for(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type of the figures."""
    simple: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(max_size=40) | st.sampled_from([HOSTILE, "\ud800", "text/html", "aside"]),
        int: st.integers(0, 2**60),
        float: st.floats(-1e9, 1e15),
        bool: st.booleans(),
    }
    if kind in simple:
        return simple[kind]
    if kind is Reason:
        return st.builds(because, st.sampled_from(EndCode), st.integers(0, 9)) | st.builds(told, simple[str])
    if kind is Timeline:
        return st.integers(0, 20).flatmap(_timelines)
    if kind is Histogram:
        return st.integers(0, 40).flatmap(_histograms)
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return st.one_of(*(st.none() if each is type(None) else strategy_for(each) for each in inner))
    if origin is Literal:
        return st.sampled_from(inner)
    if origin is list:
        return st.lists(strategy_for(inner[0]), max_size=3)
    if origin is tuple:
        return st.tuples(*map(strategy_for, inner))
    if origin is dict:
        return st.dictionaries(strategy_for(str), strategy_for(inner[1]), max_size=3)
    fields = {name: strategy_for(hint) for name, hint in get_type_hints(kind).items()}
    return st.builds(kind, **fields)


def _timelines(count: int) -> st.SearchStrategy[Timeline]:
    column = st.lists(st.integers(0, 10**12), min_size=count, max_size=count)
    names = [name for name in Timeline.__struct_fields__ if name not in ("start", "width")]
    return st.builds(Timeline, st.floats(0, 4e9), st.floats(0.125, 1e6), **dict.fromkeys(names, column))


def _histograms(count: int) -> st.SearchStrategy[Histogram]:
    counts = st.lists(st.integers(0, 10**12), min_size=count, max_size=count)
    edges = st.just([0.001 * 2.0**number for number in range(count)])
    return st.builds(Histogram, edges, counts, st.integers(0, 9))


@pytest.mark.slow
@settings(max_examples=12, suppress_health_check=list(HealthCheck), deadline=None)
@given(strategy_for(Figures), st.sampled_from(list(LANGUAGES)))
def test_any_figures_make_a_harmless_page(figures: Figures, language: Any) -> None:
    page = report_page(figures, language)
    checked(page)
    assert "<script" not in page
    page.encode()
    assert visible(page.replace("\n", "")) == page.replace("\n", "")


# Words.


def test_every_fault_and_rule_has_its_words() -> None:
    t = words("zh")
    names = [*(fault.value for fault in Fault), *(f"refused: {rule.value}" for rule in Rule), "status 404"]
    assert [name for name in names if not re.search(r"[\u4e00-\u9fffR]", t.failure(name))] == []
    assert [t.tongue("de"), t.tongue("xx")] == ["德语 (de)", "xx"]


def test_what_the_crawl_has_written_down_is_said_as_its_reader_wants(figures: Figures) -> None:
    replace = msgspec.structs.replace
    parked = HostRecord("a.test", visits=1, queued=1, parked=Reason(HoldCode.OPERATOR))
    figures = replace(
        figures,
        ended=because(EndCode.MAX_PAGES, 5),
        hosts=Hosts(parked=[host_item(parked, 0, CrawlConfig())]),
        log=replace(
            figures.log, failures=[FailureLine("status 404", 1, "http://a.test/x", Reason(CutCode.LENGTH))]
        ),
        traps=Traps(worst=[BranchLine("a.test", "/x/", "aside", 1, 1, 1, 0, 1, 0.0, 0.0, 0.1)]),
    )
    written = (
        ("max_pages 5", "已达页面上限 5"),
        ("by the operator", "由操作员决定"),
        ("cut by length", "正文被截断（长度）"),  # noqa: RUF001
    )
    english = report_body(figures)
    chinese = report_body(figures, "zh")
    for text, said in written:
        assert text in english and text not in chinese
        assert said in chinese
    assert ("status 404" in english, "status 404" in chinese, "状态码 404" in chinese) == (True, False, True)


def test_the_figures_are_for_programs_too(figures: Figures) -> None:
    text = msgspec.json.encode(figures)
    assert msgspec.json.decode(text, type=Figures) == figures
    assert json.loads(text)["sums"]["pages"] == figures.sums.pages


def test_a_census_is_kept_for_the_next_report(crawled: Crawled, figures: Figures) -> None:
    with inspect(crawled.folder.path) as inspection:
        census = log_census(inspection)
        assert gather(inspection, census).log == gather(inspection, census).log == figures.log


def test_how_fresh_it_is_has_its_chapter_where_something_is_visited_again(figures: Figures) -> None:
    assert not figures.freshness.known
    assert 'id="freshness"' not in report_body(figures)
    bins = [
        PredictedBin(
            n / 10,
            (n + 1) / 10,
            100.0 * (n < 4),
            *((n / 10 + 0.05, n / 10 + 0.02) if n < 4 else (None, None)),
        )
        for n in range(10)
    ]
    sites = [SiteFreshness(HOSTILE, 900, 0.123, 0.2, 3), SiteFreshness("b.test", 60, 0.31, 0.2, 0)]
    fresh = CrawlFreshness(
        960, 0.134, 0.2, 3, sampled=500, complete=False, visits=400, useful=68, unmodified=120, saved=5 << 20,
        delay=7_200.0, brier=0.09, bins=bins, sites=sites,
    )  # fmt: skip
    for language, words_ in (("en", "About 13% of 960 pages"), ("zh", "13%")):
        gone = Gone(
            [LeftHost(HOSTILE, "name", 40, 0.0), LeftHost("old.test", "pages", 9, 1_790_000_000.0)],
            [
                GonePage(f"http://a.test/{HOSTILE}", 1_790_000_000.0, "http://a.test/", 3),
                GonePage("http://a.test/2", 0.0, "", None),
            ],
        )
        page = report_body(msgspec.structs.replace(figures, freshness=fresh, gone=gone), language)
        chapter = page[page.index('id="freshness"') : page.index('id="duplicates"')]
        assert all(word in chapter for word in (words_, "5 MiB", "2 h" if language == "en" else "2 小时"))
        assert "<script" not in chapter
        assert "2026-09-21 14:13:20" in chapter and "old.test" in chapter
        assert chapter.count("<svg") == 4
